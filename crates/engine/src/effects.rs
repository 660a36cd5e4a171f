//! The interpreter: what an effect touches, whether it is already so, and how it is performed.
//!
//! Every effect but an act comes down to *writes*: this path shall be this file, folder, link,
//! or nothing. Replacing safely, keeping what was there and putting it back are written once, for
//! writes. An act (a program, a unit, images, objects, a wait) is performed by itself.

mod acts;
mod certificates;
mod command;
mod content;
mod group;
mod perform;
mod standing;
mod units;
mod writes;

pub(crate) use acts::{present, remove_product};
pub(crate) use certificates::certificate_problems;
pub(crate) use command::{remove_tree, remove_tree_but, run_program};
pub(crate) use content::composed;
pub(crate) use group::{Class, LARGEST_GROUP, LARGEST_GROUP_BYTES, class, weight};
pub(crate) use perform::{Intended, Staging, perform, staged_name, staged_prefix};
pub(crate) use standing::{Standing, standing};
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use units::links_of_text;
pub(crate) use units::{UnitLinks, unit_file_state, unit_state};
pub(crate) use writes::{Shape, Write, touches, tree_below};
