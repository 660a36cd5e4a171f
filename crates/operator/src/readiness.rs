//! Whether an object does what it is there for, as its status tells.

use serde_json::Value;

use crate::object::ObjectId;

/// How far an object is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// It does its work, or has none.
    Ready,
    /// It will do so; what is missing, in a few words.
    Waiting(String),
}

/// Reads from an object of the API whether it is ready.
pub(crate) fn readiness(id: &ObjectId, object: &Value) -> Readiness {
    let problem = check_of(id).and_then(|check| check(object));
    problem.map_or(Readiness::Ready, Readiness::Waiting)
}

/// Returns what is missing, if something is.
type Check = fn(&Value) -> Option<String>;

fn check_of(id: &ObjectId) -> Option<Check> {
    match (&*id.group, &*id.kind) {
        ("apps", "Deployment") => Some(deployment),
        ("apps", "DaemonSet") => Some(daemon_set),
        ("apps", "StatefulSet") => Some(stateful_set),
        ("batch", "Job") => Some(job),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            Some(|crd| lacks(crd, "Established"))
        }
        ("apiregistration.k8s.io", "APIService") => Some(|service| lacks(service, "Available")),
        _ => None,
    }
}

fn deployment(object: &Value) -> Option<String> {
    let wanted = number(object, "/spec/replicas").unwrap_or(1);
    unseen(object)
        .or_else(|| stuck(object))
        .or_else(|| fewer(object, "/status/updatedReplicas", wanted, "updated"))
        .or_else(|| fewer(object, "/status/availableReplicas", wanted, "available"))
        .or_else(|| lacks(object, "Available"))
}

/// A rollout that passed its own deadline says why, and that is better than a number.
fn stuck(object: &Value) -> Option<String> {
    let progressing = condition(object, "Progressing")?;
    let is_false = progressing.get("status").and_then(Value::as_str) == Some("False");
    is_false.then(|| condition_text(progressing))
}

fn daemon_set(object: &Value) -> Option<String> {
    let wanted = number(object, "/status/desiredNumberScheduled").unwrap_or(0);
    unseen(object)
        .or_else(|| fewer(object, "/status/updatedNumberScheduled", wanted, "updated"))
        .or_else(|| fewer(object, "/status/numberAvailable", wanted, "available"))
}

fn stateful_set(object: &Value) -> Option<String> {
    let wanted = number(object, "/spec/replicas").unwrap_or(1);
    unseen(object)
        .or_else(|| fewer(object, "/status/updatedReplicas", wanted, "updated"))
        .or_else(|| fewer(object, "/status/readyReplicas", wanted, "ready"))
}

fn job(object: &Value) -> Option<String> {
    if let Some(failed) = condition(object, "Failed").filter(|failed| is_true(failed)) {
        return Some(format!("it failed: {}", condition_text(failed)));
    }
    lacks(object, "Complete")
}

/// Until its controller has seen a change, the status still speaks of the time before it.
fn unseen(object: &Value) -> Option<String> {
    let generation = number(object, "/metadata/generation").unwrap_or(0);
    let observed = number(object, "/status/observedGeneration").unwrap_or(0);
    (observed < generation).then(|| "its controller has not seen it yet".into())
}

fn fewer(object: &Value, at: &str, wanted: i64, word: &str) -> Option<String> {
    let found = number(object, at).unwrap_or(0);
    (found < wanted).then(|| format!("{found} of {wanted} {word}"))
}

fn lacks(object: &Value, name: &str) -> Option<String> {
    match condition(object, name) {
        Some(condition) if is_true(condition) => None,
        Some(condition) => Some(format!("not {name}: {}", condition_text(condition))),
        None => Some(format!("not {name} yet")),
    }
}

fn condition<'v>(object: &'v Value, name: &str) -> Option<&'v Value> {
    let conditions = object.pointer("/status/conditions")?.as_array()?;
    let is_named = |condition: &&Value| condition.get("type").and_then(Value::as_str) == Some(name);
    conditions.iter().find(is_named)
}

fn is_true(condition: &Value) -> bool {
    condition.get("status").and_then(Value::as_str) == Some("True")
}

fn condition_text(condition: &Value) -> String {
    let text = |field| {
        condition
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    match (text("reason"), text("message")) {
        (reason, "") => reason.to_owned(),
        ("", message) => message.to_owned(),
        (reason, message) => format!("{reason}, {message}"),
    }
}

fn number(object: &Value, at: &str) -> Option<i64> {
    object.pointer(at)?.as_i64()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id(api_version: &str, kind: &str) -> ObjectId {
        let object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}});
        ObjectId::of(&object).unwrap()
    }

    fn waiting(api_version: &str, kind: &str, object: &Value) -> Option<String> {
        match readiness(&id(api_version, kind), object) {
            Readiness::Ready => None,
            Readiness::Waiting(why) => Some(why),
        }
    }

    /// Sets one field of an object, the way from ready to not ready.
    fn with(object: &Value, at: &str, value: Value) -> Value {
        let mut object = object.clone();
        *object.pointer_mut(at).unwrap() = value;
        object
    }

    #[test]
    fn a_deployment_is_ready_when_its_newest_pods_are_available() {
        let ready = json!({"metadata": {"generation": 2}, "spec": {"replicas": 2}, "status": {
            "observedGeneration": 2, "updatedReplicas": 2, "availableReplicas": 2,
            "conditions": [{"type": "Progressing", "status": "True"},
                {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"}]}});
        let why = |object: &Value| waiting("apps/v1", "Deployment", object);
        assert_eq!(why(&ready), None);
        for (at, value, expected) in [
            (
                "/metadata/generation",
                json!(3),
                "its controller has not seen it yet",
            ),
            ("/status/updatedReplicas", json!(1), "1 of 2 updated"),
            ("/status/availableReplicas", json!(0), "0 of 2 available"),
            (
                "/status/conditions/1/status",
                json!("False"),
                "not Available: MinimumReplicasAvailable",
            ),
        ] {
            assert_eq!(why(&with(&ready, at, value)).as_deref(), Some(expected));
        }
        let mut stuck = with(&ready, "/status/conditions/0/status", json!("False"));
        stuck["status"]["conditions"][0]["reason"] = json!("ProgressDeadlineExceeded");
        assert_eq!(why(&stuck).as_deref(), Some("ProgressDeadlineExceeded"));
        assert!(why(&json!({"metadata": {"generation": 1}})).is_some());
    }

    #[test]
    fn a_daemon_set_is_ready_when_it_is_rolled_out_to_every_node_there_is() {
        let ready = json!({"metadata": {"generation": 1}, "status": {"observedGeneration": 1,
            "desiredNumberScheduled": 3, "updatedNumberScheduled": 3, "numberAvailable": 3}});
        let why = |object: &Value| waiting("apps/v1", "DaemonSet", object);
        assert_eq!(why(&ready), None);
        let old = with(&ready, "/status/updatedNumberScheduled", json!(2));
        assert_eq!(why(&old).as_deref(), Some("2 of 3 updated"));
        let starting = with(&ready, "/status/numberAvailable", json!(0));
        assert_eq!(why(&starting).as_deref(), Some("0 of 3 available"));
        let no_nodes = json!({"metadata": {"generation": 1}, "status": {"observedGeneration": 1,
            "desiredNumberScheduled": 0}});
        assert_eq!(why(&no_nodes), None);
    }

    #[test]
    fn a_kind_is_ready_when_it_is_established() {
        let why = |object: &Value| {
            waiting(
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                object,
            )
        };
        assert_eq!(why(&json!({})).as_deref(), Some("not Established yet"));
        let crd = json!({"status": {"conditions": [{"type": "Established", "status": "True"}]}});
        assert_eq!(why(&crd), None);
    }

    #[test]
    fn a_job_that_failed_says_so() {
        let failed = json!({"status": {"conditions": [
            {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]}});
        let why = waiting("batch/v1", "Job", &failed);
        assert_eq!(why.as_deref(), Some("it failed: BackoffLimitExceeded"));
        let done = json!({"status": {"conditions": [{"type": "Complete", "status": "True"}]}});
        assert_eq!(waiting("batch/v1", "Job", &done), None);
    }

    #[test]
    fn most_kinds_are_ready_as_soon_as_they_are_there() {
        assert_eq!(waiting("v1", "ConfigMap", &json!({})), None);
        assert_eq!(waiting("example.com/v1", "Deployment", &json!({})), None);
    }
}
