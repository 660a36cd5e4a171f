//! Objects of an API that say of themselves that they cannot get any further.

use bootlace_model::expect::ApiClaim;
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::symptom::ObjectsComplain;
use serde_json::Value;

use super::Earlier;
use crate::access;
use crate::port::Host;

/// How much longer something may be so that was so before the wait began: what was changed meanwhile
/// may just be taking its place.
const PATIENCE_WITH_OLD: u32 = 6;

/// Objects tell their times in whole seconds.
const A_SECOND: jiff::SignedDuration = jiff::SignedDuration::from_secs(1);

/// Returns the first complaint that has lasted, as the fault that it is.
pub(super) fn find(
    host: &dyn Host,
    signs: &ObjectsComplain,
    earlier: &Earlier,
) -> Result<Option<Fault>, Fault> {
    let claim = ApiClaim {
        what: format!("no {} complains", signs.noun),
        access: signs.access.clone(),
        path: signs.path.into(),
        post: None,
        fields: vec![],
    };
    // An API that does not answer is what the wait itself is about.
    let answer = match access::ask(host, &claim, access::ONE_QUESTION) {
        Ok(Ok(answer)) if answer.status == 200 => answer,
        Ok(_) => return Ok(None),
        Err(fault) if fault.kind == FaultKind::VerifyFailed => return Ok(None),
        Err(fault) => return Err(fault),
    };
    let items = answer.body.get("items").and_then(Value::as_array);
    let now = host.now();
    let waited = host.steady().saturating_sub(earlier.began_steady);
    let mut complaints = items.into_iter().flatten().filter_map(|item| {
        let (since, message) = complaint(item, signs)?;
        let (from, patience) = if since + A_SECOND < earlier.began {
            (earlier.began, signs.lasting * PATIENCE_WITH_OLD)
        } else {
            (since, signs.lasting)
        };
        // A clock that was set forward makes a new complaint look old, but not the wait look long.
        let lasts =
            now.duration_since(from).unsigned_abs() >= patience && now > from && waited >= patience;
        lasts.then(|| fault(item, message, signs))
    });
    Ok(complaints.next())
}

/// Returns since when an object complains, and what it says, if there is no hope in it.
fn complaint<'v>(item: &'v Value, signs: &ObjectsComplain) -> Option<(jiff::Timestamp, &'v str)> {
    let conditions = item.get("status")?.get("conditions")?.as_array()?;
    let text = |condition: &'v Value, name: &str| condition.get(name).and_then(Value::as_str);
    let said = conditions.iter().find(|condition| {
        text(condition, "type") == Some(signs.condition)
            && text(condition, "status") == Some("False")
            && text(condition, "reason") == Some(signs.reason)
    })?;
    let message = text(said, "message").unwrap_or_default();
    if signs.hope.iter().any(|hope| message.contains(hope)) {
        return None;
    }
    let since = text(said, "lastTransitionTime")?.parse().ok()?;
    Some((since, message))
}

fn fault(item: &Value, message: &str, signs: &ObjectsComplain) -> Fault {
    let name = |key: &str| {
        let name = item.get("metadata").and_then(|metadata| metadata.get(key));
        name.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let (namespace, name, noun) = (name("namespace"), name("name"), signs.noun);
    let message = message.trim_end_matches(['.', ' ']);
    let words = format!(
        "the {noun} {namespace}/{name} is {}: {message}",
        signs.reason
    );
    Fault::new(FaultKind::StepFailed, words).hint(signs.hint)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bootlace_model::expect::Access;
    use bootlace_model::path::TargetPath;
    use serde_json::json;

    use super::*;

    fn signs() -> ObjectsComplain {
        ObjectsComplain {
            noun: "pod",
            access: Access::Kubeconfig(TargetPath::new("/k").unwrap()),
            path: "/api/v1/pods",
            condition: "PodScheduled",
            reason: "Unschedulable",
            hope: &["not-ready"],
            lasting: Duration::from_secs(10),
            hint: "do something",
        }
    }

    #[test]
    fn a_complaint_counts_unless_it_can_get_better() {
        let pod = |reason: &str, message: &str| {
            json!({"metadata": {"namespace": "n", "name": "p"}, "status": {"conditions": [
                {"type": "Other", "status": "False", "reason": "Unschedulable"},
                {"type": "PodScheduled", "status": "False", "reason": reason, "message": message,
                 "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})
        };
        let no_room = pod(
            "Unschedulable",
            "0/1 nodes are available: 1 Insufficient memory. ",
        );
        let (_, message) = complaint(&no_room, &signs()).unwrap();
        let said = fault(&no_room, message, &signs());
        assert_eq!(
            said.message,
            "the pod n/p is Unschedulable: 0/1 nodes are available: 1 Insufficient memory"
        );
        assert!(complaint(&pod("Unschedulable", "taint not-ready"), &signs()).is_none());
        assert!(complaint(&pod("SchedulingGated", "x"), &signs()).is_none());
        assert!(complaint(&json!({}), &signs()).is_none());
    }
}
