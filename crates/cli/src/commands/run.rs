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
    let result = match verb {
        Verb::Run => engine.run(),
        Verb::Resume => engine.resume(),
    };
    watcher.finish();
    let told = tell(session, &engine, result.as_ref().ok());
    // What went wrong with the run matters more than what went wrong with telling about it.
    let report = result?;
    told?;
    match report.outcome {
        Outcome::Interrupted => Err(stopped(&report, engine.is_past_return()?)),
        Outcome::Succeeded | Outcome::Failed | Outcome::Undone => Ok(Ending::Done),
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
    match report {
        Some(report) if report.outcome == Outcome::Succeeded => {
            let summary = summary(session, engine, report)?;
            console.say(&summary);
        }
        _ => {}
    }
    Ok(())
}

/// Set by `up` for the run inside of its machine, whose hints nobody outside could follow.
pub(crate) const INSIDE: &str = "BOOTLACE_INSIDE";

fn summary(session: &Session, engine: &Engine<'_>, report: &RunReport) -> Result<String, Fault> {
    let style = session.console.stderr();
    let retype = &session.retype;
    let checks = (retype.line("verify"), "checks that everything still holds");
    let undo = if engine.is_past_return()? {
        (retype.line("reset"), "gives the machine back")
    } else {
        (retype.line("undo"), "takes it back")
    };
    let hints = match std::env::var_os(INSIDE) {
        Some(_) => String::new(),
        None => next::text(&[checks, undo], style),
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
