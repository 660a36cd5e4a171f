//! `bootlace ignition apply`: a config, applied as a whole or not at all.

use bootlace_model::fault::Fault;
use bootlace_model::record::Outcome;

use crate::args::{Apply, Given, OnRun, Output, Steps};
use crate::commands::run;
use crate::environment;
use crate::error::Ending;
use crate::ignition_file;
use crate::observer::Watcher;
use crate::session::Session;
use crate::wire;

pub(crate) fn apply(session: &mut Session, args: &Apply) -> Result<Ending, Fault> {
    let on = OnRun {
        steps: Steps {
            sequence: "ignition".into(),
            from: None,
            to: None,
            only: None,
        },
        run: None,
    };
    let mut work = session.by_config(&on)?;
    work.options.jobs = environment::default_jobs();
    wire::stop_on_signals(&work.host)?;
    let given = Given {
        ignition: Some(args.file.clone()),
    };
    ignition_file::settle(session, &mut work, &given)?;
    let watcher = Watcher::new(&session.console, &work.host, work.sequence);
    let engine = work.engine(&watcher);
    // What cannot be applied is told before anything is touched, the state folder included.
    let plan = engine.plan_changes()?;
    if session.console.output() == Output::Text
        && let Some(summary) = ignition_file::summary(&work, Some(&plan))
    {
        let console = &session.console;
        console.say(&bootlace_report::ignition::summary(
            &summary,
            console.stderr(),
        ));
    }
    drop(plan);
    work.host.ensure()?;
    let result = engine.run_or_take_back();
    watcher.finish();
    let report = result?;
    run::tell(session, &engine, Some(&report))?;
    match report.outcome {
        Outcome::Interrupted => Err(run::stopped(&report, false)),
        Outcome::Succeeded | Outcome::Failed | Outcome::Undone => Ok(Ending::Done),
    }
}
