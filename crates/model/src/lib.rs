//! The nouns of bootlace: what every other crate speaks about.
//!
//! Nothing here does I/O or waits. Parsing takes text, planning takes facts, and everything that
//! would touch the world is a value that the engine interprets.
//!
//! | module | what it names |
//! |---|---|
//! | [`ids`], [`path`], [`secret`] | newtypes that keep strings apart |
//! | [`fault`] | what went wrong, where, why it matters, what to type next |
//! | [`probe`], [`effect`], [`expect`], [`fact`] | the vocabulary of a step |
//! | [`check`], [`symptom`] | what must be so before a step begins, and what ends a wait early |
//! | [`failure`] | failures that are known, by their codes |
//! | [`supervised`] | what a supervisor of plain processes writes down |
//! | [`step`] | a step, a sequence, a choice of steps |
//! | [`node`] | what is at a path: before an effect and after it |
//! | [`record`], [`replay`] | the journal's lines, and the state they fold into |
//! | [`event`] | what people are shown while a run is under way |
//! | [`view`] | the shapes of `-o json` |
//! | [`content`] | bytes that are known by their digest, in memory only when they are wanted |
//! | [`provision`], [`survey`] | what an Ignition config asks for, and what is there before |
//! | [`pki`] | keys and certificates as a plan |
//! | [`token`] | what machines prove with that they may ask for a config |
//! | [`release`] | in which order the manifests of a release are applied |
//! | [`config`] | fragments → merged → validated settings |

pub mod check;
pub mod config;
pub mod content;
pub mod effect;
pub mod event;
pub mod expect;
pub mod fact;
pub mod failure;
pub mod fault;
pub mod ids;
pub mod node;
pub mod path;
pub mod pki;
pub mod probe;
pub mod provision;
pub mod record;
pub mod release;
pub mod replay;
pub mod secret;
pub mod shell;
pub mod step;
pub mod supervised;
pub mod survey;
pub mod symptom;
pub mod token;
pub mod view;
