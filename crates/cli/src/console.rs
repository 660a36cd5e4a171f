//! Where output goes: data to stdout, everything else to stderr.

use std::cell::Cell;
use std::io::{ErrorKind, Write as _};
use std::sync::Arc;

use bootlace_model::fault::Fault;
use bootlace_model::view::ErrorView;
use bootlace_report::progress::{Detail, Mode, Options, Progress};
use bootlace_report::style::{ColorChoice, Style};
use serde::Serialize;

use crate::args::{self, Color, Globals, Output};
use crate::environment;
use crate::rooted::Rooted;

/// Both streams, and how people want them.
#[derive(Debug)]
pub(crate) struct Console {
    output: Output,
    detail: Detail,
    stdout: Style,
    stderr: Style,
    progress: Options,
    closed: Cell<bool>,
    /// Where paths on the target lie on this computer.
    pub(crate) rooted: Arc<Rooted>,
}

impl Console {
    /// Looks at the streams and at the flags.
    pub(crate) fn new(globals: &Globals) -> Self {
        let color = color_choice(globals.color);
        let (out, err) = (environment::of_stdout(), environment::of_stderr());
        let detail = match (globals.quiet, globals.verbose) {
            (true, _) => Detail::Quiet,
            (_, true) => Detail::Verbose,
            _ => Detail::Normal,
        };
        let stderr = Style::choose(color, &err);
        let mode = match globals.progress {
            args::Progress::Json => Mode::Json,
            args::Progress::Auto if err.is_capable_terminal() => Mode::Live,
            args::Progress::Auto | args::Progress::Plain => Mode::Plain,
        };
        // A line that is redrawn must not be wider than the terminal, however narrow that is.
        let columns = err.columns.unwrap_or(stderr.width).min(stderr.width);
        let style = match mode {
            Mode::Live => Style {
                width: columns,
                ..stderr
            },
            Mode::Plain | Mode::Json => stderr,
        };
        Self {
            output: globals.output,
            detail,
            stdout: Style::choose(color, &out),
            stderr,
            progress: Options {
                mode,
                detail,
                style,
            },
            closed: Cell::new(false),
            rooted: Arc::default(),
        }
    }

    /// Returns the notation of data.
    pub(crate) fn output(&self) -> Output {
        self.output
    }

    /// Returns how stdout looks.
    pub(crate) fn stdout(&self) -> &Style {
        &self.stdout
    }

    /// Returns how stderr looks.
    pub(crate) fn stderr(&self) -> &Style {
        &self.stderr
    }

    /// Tells whether evidence is wanted.
    pub(crate) fn is_verbose(&self) -> bool {
        self.detail == Detail::Verbose
    }

    /// Tells whether only failures are wanted.
    pub(crate) fn is_quiet(&self) -> bool {
        self.detail == Detail::Quiet
    }

    /// Begins the display of something that takes time.
    pub(crate) fn progress(&self) -> Progress {
        Progress::on_stderr(self.progress, Arc::new(environment::now))
    }

    /// Prints a view in the notation that was asked for.
    pub(crate) fn show<T: Serialize>(
        &self,
        view: &T,
        text: impl FnOnce(&Style) -> String,
    ) -> Result<(), Fault> {
        let text = match self.output {
            Output::Text => self.rooted.text(&text(&self.stdout)),
            Output::Json => bootlace_report::output::json(view)?,
            Output::Yaml => bootlace_report::output::yaml(view)?,
        };
        self.write(&text)
    }

    /// Prints data.
    ///
    /// A reader that went away, as in `bootlace log | head`, is no fault: the rest is not written.
    pub(crate) fn write(&self, text: &str) -> Result<(), Fault> {
        if self.closed.get() {
            return Ok(());
        }
        let mut stdout = std::io::stdout().lock();
        let written = stdout.write_all(text.as_bytes());
        match written.and_then(|()| stdout.flush()) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.closed.set(true);
                Ok(())
            }
            Err(error) => {
                self.closed.set(true);
                Err(Fault::internal(format!("cannot write to stdout: {error}")))
            }
        }
    }

    /// Says something that is not data, unless only failures are wanted or a program listens.
    pub(crate) fn say(&self, text: &str) {
        if !self.is_quiet() && self.progress.mode != Mode::Json {
            print_stderr(&self.rooted.text(text));
        }
    }

    /// Says what went wrong.
    pub(crate) fn fault(&self, fault: &Fault) {
        let fault = self.rooted.fault(fault);
        print_stderr(&fault_text(&fault, self.output, &self.stderr));
    }
}

/// Words a fault in the notation of data.
pub(crate) fn fault_text(fault: &Fault, output: Output, style: &Style) -> String {
    let text = || bootlace_report::fault::text(fault, style);
    let view = ErrorView::from(fault);
    match output {
        Output::Text => text(),
        Output::Json => bootlace_report::output::json_line(&view).unwrap_or_else(|_| text()),
        Output::Yaml => bootlace_report::output::yaml(&view).unwrap_or_else(|_| text()),
    }
}

/// Translates the flag.
pub(crate) fn color_choice(color: Color) -> ColorChoice {
    match color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    }
}

/// Writes to stderr; if nobody can read it there is nobody to tell.
pub(crate) fn print_stderr(text: &str) {
    let mut stderr = std::io::stderr().lock();
    drop(stderr.write_all(text.as_bytes()));
}
