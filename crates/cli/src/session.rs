//! What one call of the program knows: its flags, its console, and the way to an engine.

use std::sync::Arc;

use bootlace_engine::{Engine, Observer, Options};
use bootlace_host::RealHost;
use bootlace_model::config::{self, Settings};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::ids::RunId;
use bootlace_model::step::Sequence;

use crate::args::{Globals, OnRun, Steps};
use crate::config_files::{self, ConfigFile};
use crate::console::Console;
use crate::environment;
use crate::ignition_file;
use crate::paths::Places;
use crate::retype::Retype;
use crate::rooted::Rooted;
use crate::wire;

/// One call of the program.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) globals: Globals,
    pub(crate) console: Console,
    pub(crate) retype: Retype,
}

/// Everything that an engine needs but its observer.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) host: RealHost,
    pub(crate) sequence: &'static Sequence,
    pub(crate) settings: Settings,
    pub(crate) options: Options,
}

impl Work {
    /// Puts the engine together.
    pub(crate) fn engine<'a>(&'a self, observer: &'a dyn Observer) -> Engine<'a> {
        Engine {
            host: &self.host,
            sequence: self.sequence,
            settings: &self.settings,
            observer,
            options: &self.options,
        }
    }
}

impl Session {
    /// Begins.
    pub(crate) fn new(globals: Globals) -> Self {
        let mut console = Console::new(&globals);
        // Flags that cannot be used are told of as soon as a command needs them.
        if let Ok(places) = Places::new(&globals) {
            console.rooted = Arc::new(Rooted::new(&places, environment::words()));
        }
        Self {
            console,
            retype: Retype::new(&globals),
            globals,
        }
    }

    /// Prepares work that depends on the config and reads what it names.
    pub(crate) fn by_config(&mut self, on: &OnRun) -> Result<Work, Fault> {
        let (sequence, options) = self.options(on)?;
        let places = Places::new(&self.globals)?;
        let settings = if ignition_file::is_about(sequence) {
            // It does what its own config says, whatever a cluster shall be like.
            Settings::defaults(places.paths.clone())
        } else {
            self.settings(&places)?
        };
        let inputs = places.inputs(&settings)?;
        let mut rooted = Rooted::new(&places, environment::words());
        for input in &inputs {
            rooted.keep(&input.source);
        }
        self.console.rooted = Arc::new(rooted);
        let host = wire::host(&places, &inputs);
        Ok(Work {
            host,
            sequence,
            settings,
            options,
        })
    }

    /// Prepares work that follows from the journal alone.
    ///
    /// The config is not read: one that is broken or gone must not keep anyone from looking at a
    /// run or from taking it back.
    pub(crate) fn by_journal(&mut self, on: &OnRun) -> Result<Work, Fault> {
        let (sequence, options) = self.options(on)?;
        let places = Places::new(&self.globals)?;
        Ok(Work {
            host: wire::host(&places, &[]),
            sequence,
            settings: Settings::defaults(places.paths),
            options,
        })
    }

    /// Reads the config into settings; without one the defaults hold.
    pub(crate) fn settings(&self, places: &Places) -> Result<Settings, Fault> {
        let files = self.config_files(places)?;
        let fragments: Vec<_> = files.iter().map(ConfigFile::fragment).collect();
        config::load(&fragments, places.paths.clone())
    }

    fn config_files(&self, places: &Places) -> Result<Vec<ConfigFile>, Fault> {
        if self.globals.config.is_empty() {
            config_files::read_default(&wire::host(places, &[]), &places.root)
        } else {
            config_files::read_named(&self.globals.config)
        }
    }

    fn options(&mut self, on: &OnRun) -> Result<(&'static Sequence, Options), Fault> {
        let Steps { sequence, .. } = &on.steps;
        let sequence = wire::sequence(sequence)?;
        let choice = on.steps.choice();
        self.retype.on(sequence, &choice);
        self.retype.on_run(on.run.as_deref());
        let mut options = Options::new(env!("CARGO_PKG_VERSION"));
        options.choice = choice;
        options.run = on.run.as_deref().map(run_id).transpose()?;
        Ok((sequence, options))
    }
}

fn run_id(text: &str) -> Result<RunId, Fault> {
    let fault = || {
        Fault::new(
            FaultKind::Usage,
            format!("{text:?} cannot be the id of a run"),
        )
        .hint("`bootlace runs` lists them")
    };
    RunId::parse(text).ok_or_else(fault)
}
