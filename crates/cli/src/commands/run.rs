//! `bootlace run` and `bootlace resume`: do what the plan says.

use bootlace_engine::{Engine, RunReport};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::record::Outcome;
use bootlace_report::{count, duration, next, status};

use super::placement;
use crate::args::{Output, Run};
use crate::environment;
use crate::error::Ending;
use crate::ignition_file;
use crate::observer::Watcher;
use crate::session::Session;
use crate::wire;

pub(crate) fn run(session: &mut Session, args: &Run) -> Result<Ending, Fault> {
    perform(session, args, Verb::Run, tell)
}

pub(crate) fn resume(session: &mut Session, args: &Run) -> Result<Ending, Fault> {
    perform(session, args, Verb::Resume, tell)
}

/// Which of the two.
#[derive(Debug, Clone, Copy)]
pub(super) enum Verb {
    Run,
    Resume,
}

/// Performs the plan, and lets somebody tell what came of it; there is no report if it failed.
pub(super) fn perform(
    session: &mut Session,
    args: &Run,
    verb: Verb,
    tell: impl FnOnce(&Session, &Engine<'_>, Option<&RunReport>) -> Result<(), Fault>,
) -> Result<Ending, Fault> {
    let mut work = session.by_config(&args.on)?;
    work.options.pause = args.pause;
    work.settings.clean = args.clean;
    placement::settle(&mut work, &args.placed)?;
    ignition_file::settle(session, &mut work, &args.given)?;
    work.options
        .ignore
        .extend(args.ignore_preflight_errors.iter().cloned());
    if args.insecure_unpinned_release {
        let pinned = ["Release-Pinned", "Renderer-Pinned"];
        work.options.ignore.extend(pinned.map(ToOwned::to_owned));
        work.options.insecure.push("unpinned-release".into());
    }
    work.options.replan = args.replan;
    work.options.jobs = args
        .jobs
        .map_or_else(environment::default_jobs, usize::from);
    wire::stop_on_signals(&work.host)?;
    work.host.ensure()?;
    let watcher = Watcher::new(&session.console, &work.host, work.sequence);
    let engine = work.engine(&watcher);
    let work_on = || match verb {
        Verb::Run => engine.run(),
        Verb::Resume => engine.resume(),
    };
    let result = if args.attach || is_inside() {
        attach(&engine, work_on)
    } else {
        work_on()
    };
    watcher.finish();
    let told = tell(session, &engine, result.as_ref().ok());
    // What went wrong with the run matters more than what went wrong with telling about it.
    let report = result?;
    told?;
    match report.outcome {
        // The outer process says what to type.
        Outcome::Interrupted if is_inside() => Ok(Ending::Code(FaultKind::Stopped.exit_code())),
        Outcome::Interrupted => Err(stopped(&report, engine.is_past_return()?)),
        Outcome::Succeeded | Outcome::Failed | Outcome::Undone => Ok(Ending::Done),
    }
}

/// Follows the run that another process works on, if one does, else works on it here.
fn attach(
    engine: &Engine<'_>,
    work_on: impl Fn() -> Result<RunReport, Fault>,
) -> Result<RunReport, Fault> {
    loop {
        if let Some(report) = engine.follow()? {
            return Ok(report);
        }
        match work_on() {
            // Another process may have taken the lock since it was looked at.
            Err(fault) if fault.kind == FaultKind::Preflight && engine.holder()?.is_some() => {}
            ended => return ended,
        }
    }
}

/// Prints where the run stands, as data or as a summary for people.
pub(super) fn tell(
    session: &Session,
    engine: &Engine<'_>,
    report: Option<&RunReport>,
) -> Result<(), Fault> {
    let console = &session.console;
    if console.output() != Output::Text {
        return console.show(&engine.status()?, |_| String::new());
    }
    tell_people(session, engine, report)
}

/// Says what a run that succeeded has come to.
pub(super) fn tell_people(
    session: &Session,
    engine: &Engine<'_>,
    report: Option<&RunReport>,
) -> Result<(), Fault> {
    if let Some(report) = report.filter(|report| report.outcome == Outcome::Succeeded) {
        session.console.say(&summary(session, engine, report)?);
    }
    Ok(())
}

/// Set by `up` for the run inside its machine. That run attaches to one that an earlier `up` left
/// behind, and prints no hints: its commands could not be typed outside.
pub(crate) const INSIDE: &str = "BOOTLACE_INSIDE";

fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

fn summary(session: &Session, engine: &Engine<'_>, report: &RunReport) -> Result<String, Fault> {
    let style = session.console.stderr();
    let retype = &session.retype;
    let checks = (retype.line("verify"), "checks that everything still holds");
    let undo = if engine.is_past_return()? {
        (retype.line("reset"), "gives the machine back")
    } else {
        (retype.line("undo"), "takes it back")
    };
    let hints = if is_inside() {
        String::new()
    } else {
        next::text(&[checks, undo], style)
    };
    if report.steps_done == 0 {
        let text = format!("Nothing to do: run {} completed earlier.\n", report.run);
        return Ok(format!("{text}{hints}"));
    }
    let status_view = engine.status()?;
    let done = format!(
        "Done: {}, {} in {}.\n",
        count(report.steps_done, "step"),
        count(report.effects_done, "effect"),
        duration(report.millis)
    );
    let times = status::times(&status_view, style);
    Ok(format!("\n{done}{times}{hints}"))
}

pub(super) fn stopped(report: &RunReport, past_return: bool) -> Fault {
    let back = if past_return {
        "`bootlace reset` gives the machine back"
    } else {
        "`bootlace undo` takes back what was done so far"
    };
    let message = format!("the run {} was stopped and can be resumed", report.run);
    Fault::new(FaultKind::Stopped, message)
        .because("what was done is journalled, and nothing is half done")
        .hint("`bootlace resume` goes on from here")
        .hint(back)
}
