//! Gives an API many objects, fast and in an order in which they can be accepted.
//!
//! Objects go in phases; within a phase some are under way at once. Each is tried again as long as
//! that can help: an API that has just begun refuses for seconds what it accepts then.

mod attempt;
mod definitions;
mod discovery;
mod order;
mod refusal;
mod there;

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use bootlace_engine::port::{Applied, HostResult};
use bootlace_model::effect::ApiObject;
use futures_util::{StreamExt as _, stream};

use super::api::Api;

use self::attempt::attempt;
use self::definitions::Definitions;
use self::discovery::Discovery;
use self::refusal::{Hope, Refusal};
pub(super) use self::there::there;

/// How many objects are under way at once.
const AT_ONCE: usize = 8;
/// The wait after the first failure; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(50);
/// The longest wait between two tries.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// How long somebody else's part is waited for, such as the roles that an API makes at its start.
const GRACE: Duration = Duration::from_secs(10);

/// Applies objects until all are there or time is up.
pub(super) async fn apply(
    api: &Api,
    objects: &[ApiObject],
    within: Duration,
) -> HostResult<Vec<Applied>> {
    let begun = Instant::now();
    let work = Work {
        api,
        discovery: Discovery::default(),
        definitions: Definitions::of(objects),
        // An impossible date means no deadline at all; years are as good.
        deadline: begun
            .checked_add(within)
            .unwrap_or(begun + LONGEST_WAIT * 100_000),
    };
    let mut results: Vec<Option<Applied>> = objects.iter().map(|_| None).collect();
    for phase in order::phases(objects) {
        let phase_work = Phase {
            work: &work,
            answered: OnceLock::new(),
        };
        let mut under_way = stream::iter(phase)
            .map(|index| {
                let turn = phase_work.until_applied(&objects[index]);
                async move { (index, turn.await) }
            })
            .buffer_unordered(AT_ONCE);
        while let Some((index, result)) = under_way.next().await {
            results[index] = Some(result?);
        }
    }
    Ok(results.into_iter().flatten().collect())
}

/// What all objects of a request share.
struct Work<'a> {
    api: &'a Api,
    discovery: Discovery,
    definitions: Definitions,
    deadline: Instant,
}

/// What the objects of a phase share.
struct Phase<'a> {
    work: &'a Work<'a>,
    /// When the API answered first in this phase.
    answered: OnceLock<Instant>,
}

impl Phase<'_> {
    /// Tries to apply an object until it is there, or hope is gone.
    async fn until_applied(&self, object: &ApiObject) -> HostResult<Applied> {
        let mut tries = 0;
        let mut is_accepted = false;
        let mut pause = Pause::default();
        let result = loop {
            if self.work.left().is_zero() {
                // Only those that were not even begun; the others end below.
                break Err("there was no time left to try".into());
            }
            tries += u32::from(!is_accepted);
            let refusal = match attempt(self.work, object, &mut is_accepted).await? {
                Ok(()) => break Ok(()),
                Err(refusal) => refusal,
            };
            let wait = pause.next();
            if Instant::now() + wait >= self.end_of(&refusal) {
                break Err(refusal.problem);
            }
            tokio::time::sleep(wait).await;
        };
        if result.is_err() {
            self.work.definitions.give_up(object);
        }
        Ok(Applied {
            id: object.id.clone(),
            problem: result.err(),
            tries,
        })
    }

    /// Tells until when it is worth to try again.
    fn end_of(&self, refusal: &Refusal) -> Instant {
        let now = Instant::now();
        if refusal.is_answer {
            self.answered.get_or_init(|| now);
        }
        match refusal.hope {
            Hope::None => now,
            Hope::Soon => {
                let since = self.answered.get().copied().unwrap_or(now);
                (since + GRACE).min(self.work.deadline)
            }
            Hope::Any => self.work.deadline,
        }
    }
}

impl Work<'_> {
    /// Returns how much time is left for all objects.
    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

/// Waits that grow.
struct Pause(Duration);

impl Default for Pause {
    fn default() -> Self {
        Self(FIRST_WAIT)
    }
}

impl Pause {
    fn next(&mut self) -> Duration {
        let wait = self.0;
        self.0 = (wait * 2).min(LONGEST_WAIT);
        wait
    }
}
