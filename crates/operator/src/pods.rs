//! Why the pods of a workload do not start, as far as they know.

use serde_json::Value;

use crate::retry::shortened;

/// Reasons that every container has for a moment.
const USUAL: [&str; 2] = ["ContainerCreating", "PodInitializing"];

/// Returns the selector of a workload's pods, as the API takes it.
pub(crate) fn selector(workload: &Value) -> Option<String> {
    let labels = workload
        .pointer("/spec/selector/matchLabels")?
        .as_object()?;
    let labels = labels.iter();
    let pairs = labels.filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)));
    let selector = pairs.collect::<Vec<_>>().join(",");
    (!selector.is_empty()).then_some(selector)
}

/// Returns what keeps a container of these pods from running, if one says so.
pub(crate) fn trouble(pods: &Value) -> Option<String> {
    let pods = pods.get("items")?.as_array()?;
    pods.iter().find_map(|pod| {
        let name = pod.pointer("/metadata/name")?.as_str()?;
        let statuses = ["initContainerStatuses", "containerStatuses"].into_iter();
        let statuses = statuses.filter_map(|kind| pod.get("status")?.get(kind)?.as_array());
        let why = statuses.flatten().find_map(of_container)?;
        Some(format!("pod {name}, {why}"))
    })
}

fn of_container(status: &Value) -> Option<String> {
    let name = text(status, "/name");
    let reason = text(status, "/state/waiting/reason");
    if reason.is_empty() || USUAL.contains(&reason) {
        return None;
    }
    let exit = status.pointer("/lastState/terminated/exitCode");
    let exit = exit.map(|code| format!(" (it ended with code {code})"));
    let exit = exit.unwrap_or_default();
    // The last words of the program tell more than those of the kubelet about it.
    let words = [
        text(status, "/lastState/terminated/message"),
        text(status, "/state/waiting/message"),
    ];
    let words = words
        .into_iter()
        .filter_map(|words| words.trim().lines().last());
    let words = words
        .map(|words| format!(": {}", shortened(words, 300)))
        .next();
    Some(format!(
        "container {name}: {reason}{exit}{}",
        words.unwrap_or_default()
    ))
}

fn text<'v>(value: &'v Value, at: &str) -> &'v str {
    value
        .pointer(at)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pods(statuses: &Value) -> Value {
        json!({"items": [{"metadata": {"name": "web-1"}, "status": {"containerStatuses": statuses}}]})
    }

    #[test]
    fn a_missing_image_is_named() {
        let waiting = json!([{"name": "web", "state": {"waiting": {"reason": "ImagePullBackOff",
            "message": "Back-off pulling image \"registry.example/web\""}}}]);
        assert_eq!(
            trouble(&pods(&waiting)).unwrap(),
            "pod web-1, container web: ImagePullBackOff: Back-off pulling image \"registry.example/web\""
        );
    }

    #[test]
    fn a_program_that_ends_is_told_with_its_last_words() {
        let crashing = json!([{"name": "a", "state": {"running": {}}}, {"name": "web",
            "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}},
            "lastState": {"terminated": {"exitCode": 1, "message": "starting\nport 80 is taken\n"}}}]);
        assert_eq!(
            trouble(&pods(&crashing)).unwrap(),
            "pod web-1, container web: CrashLoopBackOff (it ended with code 1): port 80 is taken"
        );
    }

    #[test]
    fn what_is_only_starting_is_no_trouble() {
        let starting =
            json!([{"name": "web", "state": {"waiting": {"reason": "ContainerCreating"}}}]);
        assert_eq!(trouble(&pods(&starting)), None);
        assert_eq!(trouble(&json!({"items": []})), None);
        assert_eq!(
            trouble(&json!({"items": [{"metadata": {"name": "x"}}]})),
            None
        );
    }

    #[test]
    fn pods_are_found_by_all_labels_of_their_workload() {
        let workload =
            json!({"spec": {"selector": {"matchLabels": {"app": "web", "tier": "front"}}}});
        assert_eq!(selector(&workload).as_deref(), Some("app=web,tier=front"));
        assert_eq!(
            selector(&json!({"spec": {"selector": {"matchLabels": {}}}})),
            None
        );
    }
}
