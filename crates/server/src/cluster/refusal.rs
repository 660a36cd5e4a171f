//! What the API says when it does not do what it is asked.

use kube::runtime::watcher;

/// Returns what the API refused, and why; none if it did not get as far as that.
pub(super) fn refusal(error: &watcher::Error) -> Option<(u16, &str)> {
    let (watcher::Error::InitialListFailed(kube::Error::Api(status))
    | watcher::Error::WatchStartFailed(kube::Error::Api(status))
    | watcher::Error::WatchFailed(kube::Error::Api(status))
    | watcher::Error::WatchError(status)) = error
    else {
        return None;
    };
    Some((status.code, &status.message))
}

/// Says what is wrong, down to its cause, in one line.
pub(super) fn plain(error: &kube::Error) -> String {
    if let kube::Error::Api(status) = error {
        return status.message.clone();
    }
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text.replace(char::is_control, " ")
}
