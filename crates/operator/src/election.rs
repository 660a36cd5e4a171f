//! Getting, keeping and giving up the lease.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::api::Api;
use crate::clock;
use crate::lease::{self, GIVE_UP_AFTER, LOOK_EVERY, NAME, NAMESPACE, Next, RENEW_EVERY};
use crate::log::Log;
use crate::retry::{Refusal, Remedy, back_off};

/// One of those who want the lease.
pub(crate) struct Candidate {
    api: Api,
    me: String,
    log: Log,
}

/// The lease while we hold it.
pub(crate) struct Held<'c> {
    candidate: &'c Candidate,
    lease: Mutex<Lease>,
    /// When the last request began that renewed it.
    renewed: std::sync::Mutex<Instant>,
}

impl Candidate {
    /// Stands for the lease under a name that nobody else has.
    pub(crate) fn new(api: Api, me: String, log: Log) -> Self {
        Self { api, me, log }
    }

    /// Waits until the lease is ours.
    pub(crate) async fn acquire(&self) -> Held<'_> {
        let mut seen: Option<(String, Instant)> = None;
        let mut failures = 0;
        loop {
            let began = Instant::now();
            match self.try_once(&mut seen).await {
                Ok(Some(lease)) => {
                    self.log.over("lease");
                    self.log.say(format!(
                        "working: {} holds the lease {NAMESPACE}/{NAME}",
                        self.me
                    ));
                    return Held {
                        candidate: self,
                        lease: Mutex::new(lease),
                        renewed: std::sync::Mutex::new(began),
                    };
                }
                Ok(None) => failures = 0,
                Err(refusal) => {
                    let why = &refusal.why;
                    self.log
                        .news("lease", format!("the lease cannot be had yet: {why}"));
                    failures += 1;
                }
            }
            // An API that is just starting is asked often: everything waits for this.
            let longest = Duration::from_secs(2);
            let wait = match failures {
                0 => LOOK_EVERY,
                1..20 => Duration::from_millis(200),
                failures => back_off(failures - 20, LOOK_EVERY, longest),
            };
            tokio::time::sleep(wait).await;
        }
    }

    /// Looks at the lease, and takes it if it may be taken.
    async fn try_once(
        &self,
        seen: &mut Option<(String, Instant)>,
    ) -> Result<Option<Lease>, Refusal> {
        let lease = self.look().await?;
        let version = lease
            .as_ref()
            .and_then(|lease| lease.metadata.resource_version.clone());
        let version = version.unwrap_or_default();
        let since = match seen {
            Some((known, since)) if *known == version => *since,
            _ => seen.insert((version, Instant::now())).1,
        };
        let next = lease::next(lease.as_ref(), since.elapsed(), &self.me);
        let wanted = lease::held(lease.as_ref(), &self.me, clock::now());
        let written = match next {
            Next::Make => self.api.create(&resource(), &wanted).await,
            Next::Take | Next::Renew => self.api.replace(&resource(), NAME, &wanted).await,
            Next::Wait => {
                let holder = lease.as_ref().map(lease::holder).unwrap_or_default();
                self.log.news(
                    "lease",
                    format!("waiting: {holder} holds the lease {NAMESPACE}/{NAME}"),
                );
                return Ok(None);
            }
        };
        match written {
            Ok(lease) => Ok(Some(lease)),
            // Somebody else was faster, or it was made in this moment.
            Err(refusal) if refusal.is_conflict() => Ok(None),
            Err(refusal) => Err(refusal),
        }
    }

    async fn look(&self) -> Result<Option<Lease>, Refusal> {
        match self.api.get(&resource(), NAME).await {
            Ok(lease) => Ok(Some(lease)),
            Err(refusal) if refusal.is_absent() => Ok(None),
            Err(refusal) => Err(refusal),
        }
    }
}

impl Held<'_> {
    /// Renews the lease until it is lost; returns why.
    pub(crate) async fn keep(&self) -> String {
        let mut wait = RENEW_EVERY;
        loop {
            tokio::time::sleep(wait.min(self.time_left())).await;
            let began = Instant::now();
            // Whatever happens, after this time somebody else may work.
            let renewal = tokio::time::timeout(self.time_left(), self.renew()).await;
            let why = match renewal {
                Ok(Ok(())) => {
                    *self
                        .renewed
                        .lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner) = began;
                    wait = RENEW_EVERY;
                    continue;
                }
                Ok(Err(Refusal {
                    remedy: Remedy::Change,
                    why,
                    ..
                })) => return why,
                Ok(Err(refusal)) => refusal.why,
                Err(_) => "the API server did not answer in time".into(),
            };
            if self.time_left().is_zero() {
                return why;
            }
            wait = LOOK_EVERY;
        }
    }

    fn time_left(&self) -> Duration {
        let renewed = *self
            .renewed
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        GIVE_UP_AFTER.saturating_sub(renewed.elapsed())
    }

    async fn renew(&self) -> Result<(), Refusal> {
        let Candidate { api, me, .. } = self.candidate;
        let mut lease = self.lease.lock().await;
        let wanted = lease::held(Some(&lease), me, clock::now());
        match api.replace(&resource(), NAME, &wanted).await {
            Ok(written) => {
                *lease = written;
                Ok(())
            }
            Err(refusal) if refusal.is_conflict() || refusal.is_absent() => {
                let found = self.candidate.look().await?;
                let holder = found.as_ref().map(lease::holder).unwrap_or_default();
                if holder != me {
                    return Err(Refusal::unsendable(format!(
                        "{holder:?} holds the lease now"
                    )));
                }
                // Ours, but changed: an answer of the API was lost, or somebody set a label.
                *lease = found.unwrap_or_default();
                Err(refusal)
            }
            Err(refusal) => Err(refusal),
        }
    }

    /// Gives the lease up, so that another one need not wait until it runs out.
    pub(crate) async fn give_up(&self) {
        let Candidate { api, me, log } = self.candidate;
        for _ in 0..3 {
            let mut lease = self.lease.lock().await;
            let wanted = lease::given_up(&lease, clock::now());
            match api.replace(&resource(), NAME, &wanted).await {
                Ok(_) => return log.say("gave up the lease"),
                Err(refusal) if refusal.is_conflict() => match self.candidate.look().await {
                    Ok(Some(found)) if lease::holder(&found) == me => *lease = found,
                    _ => return,
                },
                Err(refusal) => {
                    let why = refusal.why;
                    return log.say(format!(
                        "the lease runs out by itself: it cannot be given up: {why}"
                    ));
                }
            }
        }
    }
}

fn resource() -> String {
    format!("/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases")
}
