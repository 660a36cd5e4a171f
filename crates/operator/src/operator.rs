//! The operator as a whole: from its options to its end.

use std::path::PathBuf;
use std::time::Duration;

use bootlace_model::fault::{Fault, FaultKind};

use crate::api::{Access, Api};
use crate::election::{Candidate, Held};
use crate::kinds::Kinds;
use crate::log::Log;
use crate::stop::Stop;
use crate::{clock, health, lead, serving, signals};

/// What the operator is told when it starts.
#[derive(Debug, Clone)]
pub struct Options {
    /// How the API server is reached.
    pub access: Access,
    /// The folder that holds the release's manifests.
    pub release_manifests: PathBuf,
    /// How long until it looks again whether everything is as it should be.
    pub resync: Duration,
    /// The port of `/healthz` on 127.0.0.1; 0 is none.
    pub health_port: u16,
    /// Whether to end when everything is applied and ready.
    pub once: bool,
    /// With `once`, how long that may take.
    pub timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            access: Access::default(),
            release_manifests: "/release-manifests".into(),
            // What is deleted is promised to be restored within 30 s, a whole pass included.
            resync: Duration::from_secs(20),
            health_port: 0,
            once: false,
            timeout: Duration::from_mins(5),
        }
    }
}

/// What the parts of the work share.
pub(crate) struct Operator {
    pub(crate) api: Api,
    pub(crate) kinds: Kinds,
    pub(crate) options: Options,
    pub(crate) log: Log,
}

/// Runs the operator until it is stopped, by the handle or by a signal, or until it is done.
pub fn run(options: Options, log: Log, stop: &Stop) -> Result<(), Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Fault::internal(format!("the runtime cannot be started: {error}")))?;
    runtime.block_on(async {
        signals::listen(stop)?;
        health::serve(options.health_port, &log).await;
        let is_once = options.once;
        let operator = Operator {
            api: Api::new(&options.access).await?,
            kinds: Kinds::default(),
            options,
            log,
        };
        let deadline = tokio::time::Instant::now() + operator.options.timeout;
        tokio::select! {
            result = work(&operator, deadline, stop) => result,
            () = tokio::time::sleep_until(deadline), if is_once => Err(not_elected(&operator)),
        }
    })
}

/// How holding the lease ended.
enum Ending {
    Stopped,
    Lost(String),
    Finished(Result<(), Fault>),
}

async fn work(
    operator: &Operator,
    deadline: tokio::time::Instant,
    stop: &Stop,
) -> Result<(), Fault> {
    let candidate = Candidate::new(
        operator.api.clone(),
        clock::identity(),
        operator.log.clone(),
    );
    loop {
        let held: Held<'_> = tokio::select! {
            biased;
            () = stop.asked() => return stopped(operator),
            held = candidate.acquire() => held,
        };
        // Once there is a lease the work itself minds the deadline, and knows better what to say.
        let ending = tokio::select! {
            biased;
            () = stop.asked() => Ending::Stopped,
            why = held.keep() => Ending::Lost(why),
            result = lead::lead(operator, deadline) => Ending::Finished(result),
            never = serving::approve(operator), if !operator.options.once => match never {},
        };
        match ending {
            Ending::Stopped => {
                held.give_up().await;
                return stopped(operator);
            }
            Ending::Finished(result) => {
                held.give_up().await;
                return result;
            }
            Ending::Lost(why) => operator
                .log
                .say(format!("not working: the lease is lost: {why}")),
        }
    }
}

/// Stopping a service is its ordinary end; stopping something that shall end by itself is not.
fn stopped(operator: &Operator) -> Result<(), Fault> {
    if !operator.options.once {
        operator.log.say("stopped");
        return Ok(());
    }
    let message = "stopped before everything was applied and ready";
    Err(Fault::new(FaultKind::Stopped, message)
        .because("what was applied stays, and nothing is half applied")
        .hint("`bootlace version-operator --once` goes on from here"))
}

fn not_elected(operator: &Operator) -> Fault {
    let seconds = operator.options.timeout.as_secs();
    Fault::new(
        FaultKind::Deadline,
        format!("the work was not done within {seconds} s"),
    )
    .because("another operator holds the lease, or the API server does not answer")
    .hint("`kubectl get lease --namespace bootlace-system version-operator` shows who holds it")
    .hint("give it more time with `--timeout SECONDS`")
}
