//! Who works: the rules of a lease that one of several operators holds.
//!
//! The operator runs twice for a while, as a pod of the bootstrap and as a deployment. Whoever holds
//! the lease works; the other one waits until it is given up or runs out.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;

/// The namespace of the lease and of everything else that the operator needs.
pub(crate) const NAMESPACE: &str = "bootlace-system";
/// The lease's name.
pub(crate) const NAME: &str = "version-operator";
/// How long a lease is good for after it was last renewed.
pub(crate) const DURATION: Duration = Duration::from_secs(4);
/// How often the holder renews it.
pub(crate) const RENEW_EVERY: Duration = Duration::from_secs(1);
/// How long the holder goes on without renewing; shorter than others wait, so that two never work.
pub(crate) const GIVE_UP_AFTER: Duration = Duration::from_secs(3);
/// How often others look whether it is free.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(400);

/// What to do about the lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nobody ever held it: make it.
    Make,
    /// It is free, or ran out: take it.
    Take,
    /// It is ours: renew it.
    Renew,
    /// Somebody else holds it.
    Wait,
}

/// Decides what to do about a lease that has looked the same for some time.
///
/// Clocks of machines differ, so the time written in the lease counts for nothing: it runs out when
/// *we* saw no change for its duration.
pub(crate) fn next(lease: Option<&Lease>, unchanged: Duration, me: &str) -> Next {
    let Some(lease) = lease else {
        return Next::Make;
    };
    match holder(lease) {
        "" => Next::Take,
        holder if holder == me => Next::Renew,
        _ if unchanged >= duration(lease) => Next::Take,
        _ => Next::Wait,
    }
}

/// Returns who holds a lease; empty if it is free.
pub(crate) fn holder(lease: &Lease) -> &str {
    let spec = lease.spec.as_ref();
    spec.and_then(|spec| spec.holder_identity.as_deref())
        .unwrap_or_default()
}

fn duration(lease: &Lease) -> Duration {
    let seconds = lease
        .spec
        .as_ref()
        .and_then(|spec| spec.lease_duration_seconds);
    let seconds = seconds.and_then(|seconds| u64::try_from(seconds).ok());
    seconds.map_or(DURATION, Duration::from_secs)
}

/// Returns the lease as it is written when we take or renew it.
pub(crate) fn held(previous: Option<&Lease>, me: &str, now: Timestamp) -> Lease {
    let mut lease = previous.cloned().unwrap_or_else(|| Lease {
        metadata: ObjectMeta {
            name: Some(NAME.into()),
            namespace: Some(NAMESPACE.into()),
            ..ObjectMeta::default()
        },
        spec: None,
    });
    let is_new = holder(&lease) != me;
    let spec = lease.spec.get_or_insert_with(LeaseSpec::default);
    if is_new {
        spec.acquire_time = Some(MicroTime(now));
        let transitions = spec.lease_transitions.unwrap_or(0);
        spec.lease_transitions = Some(transitions.saturating_add(i32::from(previous.is_some())));
    }
    spec.holder_identity = Some(me.to_owned());
    spec.lease_duration_seconds = i32::try_from(DURATION.as_secs()).ok();
    spec.renew_time = Some(MicroTime(now));
    lease
}

/// Returns the lease as it is written when we give it up: the next look of another one takes it.
pub(crate) fn given_up(held: &Lease, now: Timestamp) -> Lease {
    let mut lease = held.clone();
    let spec = lease.spec.get_or_insert_with(LeaseSpec::default);
    spec.holder_identity = Some(String::new());
    spec.lease_duration_seconds = Some(1);
    spec.renew_time = Some(MicroTime(now));
    lease
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn now() -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    #[test]
    fn a_lease_is_taken_when_it_is_free_or_ran_out() {
        let theirs = held(None, "them", now());
        let long = DURATION + Duration::from_millis(1);
        assert_eq!(next(None, Duration::ZERO, "me"), Next::Make);
        assert_eq!(next(Some(&theirs), Duration::ZERO, "me"), Next::Wait);
        assert_eq!(next(Some(&theirs), long, "me"), Next::Take);
        assert_eq!(next(Some(&theirs), Duration::ZERO, "them"), Next::Renew);
        let free = given_up(&theirs, now());
        assert_eq!(next(Some(&free), Duration::ZERO, "me"), Next::Take);
    }

    #[test]
    fn changes_of_hands_are_counted_and_renewals_are_not() {
        let first = held(None, "a", now());
        let renewed = held(Some(&first), "a", now());
        let second = held(Some(&given_up(&renewed, now())), "b", now());
        let count = |lease: &Lease| lease.spec.as_ref().unwrap().lease_transitions;
        assert_eq!(
            [count(&first), count(&renewed), count(&second)],
            [Some(0), Some(0), Some(1)]
        );
        assert_eq!(second.metadata.name.as_deref(), Some(NAME));
    }

    #[test]
    fn the_holder_gives_up_before_others_may_take_over() {
        assert!(GIVE_UP_AFTER + RENEW_EVERY <= DURATION);
    }

    proptest! {
        /// Two never hold it at once: while one has renewed within its time, the other waits.
        #[test]
        fn a_lease_that_is_renewed_is_never_taken(silence in 0..4000u64, me in "[a-c]", them in "[a-c]") {
            let lease = held(None, &them, now());
            let next = next(Some(&lease), Duration::from_millis(silence), &me);
            prop_assert_eq!(next, if me == them { Next::Renew } else { Next::Wait });
        }
    }
}
