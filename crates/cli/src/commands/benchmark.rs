//! `bootlace verify cluster --benchmark cis`: is this machine as hardened as it should be?

use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::step::PlanError;
use bootlace_steps::benchmark;

use crate::args::OnRun;
use crate::error::Ending;
use crate::paths::Places;
use crate::session::Session;
use crate::wire;

pub(crate) fn benchmark(session: &Session, args: &OnRun) -> Result<Ending, Fault> {
    let sequence = &args.steps.sequence;
    if sequence != "cluster" {
        let message = format!("there is no benchmark for the sequence {sequence}");
        return Err(Fault::new(FaultKind::Usage, message)
            .because("The CIS Kubernetes Benchmark judges the machines of a cluster.")
            .hint("`bootlace verify cluster --benchmark cis`"));
    }
    let places = Places::new(&session.globals)?;
    let host = wire::host(&places, &[]);
    let judged = benchmark::judge(|asks| bootlace_engine::ask(&host, asks));
    let view = judged.map_err(|error| match error {
        PlanError::Fault(fault) => *fault,
        PlanError::Fact(missing) => Fault::internal(missing.to_string()),
    })?;
    let console = &session.console;
    let verbose = console.is_verbose();
    console.show(&view, |style: &_| {
        bootlace_report::benchmark::text(&view, style, verbose)
    })?;
    Ok(if view.ok {
        Ending::Done
    } else {
        Ending::DoesNotHold
    })
}
