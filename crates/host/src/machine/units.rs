//! Units of the systemd that runs.

use std::time::{Duration, Instant};

use bootlace_engine::port::{HostResult, Machine as _, UnitActivity};
use bootlace_model::effect::UnitName;

use super::not_live;
use crate::RealHost;

/// How long systemd may take to answer a question.
const QUESTION: Duration = Duration::from_secs(10);
/// What is asked of a unit.
const PROPERTIES: &str = "LoadState,ActiveState,SubState,NRestarts,Result,ExecMainStatus";

/// Tells what systemd says of a unit.
pub(super) fn activity(host: &RealHost, unit: &UnitName) -> HostResult<UnitActivity> {
    if !host.is_live() {
        return Err(not_live("ask for", unit.as_str()));
    }
    let words = ["systemctl", "show", "-p", PROPERTIES, "--", unit.as_str()];
    Ok(read(&host.succeed(
        "ask for",
        unit.as_str(),
        &words,
        QUESTION,
    )?))
}

/// Reads changed unit files and starts a unit, or restarts it.
pub(super) fn start(
    host: &RealHost,
    unit: &UnitName,
    anew: bool,
    within: Duration,
) -> HostResult<()> {
    let act = if anew { "restart" } else { "start" };
    if !host.is_live() {
        return Err(not_live(act, unit.as_str()));
    }
    let begun = Instant::now();
    let systemctl = |words: &[&str]| {
        let words: Vec<&str> = ["systemctl"]
            .into_iter()
            .chain(words.iter().copied())
            .collect();
        let left = within.saturating_sub(begun.elapsed());
        host.succeed(act, unit.as_str(), &words, left)
    };
    systemctl(&["daemon-reload"])?;
    if activity(host, unit)?.has_failed {
        // Some versions refuse one that failed too often in a short time, though its cause is mended.
        systemctl(&["reset-failed", "--", unit.as_str()])?;
    }
    systemctl(&[act, "--", unit.as_str()])?;
    Ok(())
}

/// Returns the last lines that a unit logged; systemd's own about it, if it never said a word.
pub(super) fn log(host: &RealHost, unit: &UnitName, lines: usize) -> HostResult<Vec<String>> {
    if !host.is_live() {
        return Err(not_live("read the log of", unit.as_str()));
    }
    // A unit that ends again and again is talked about more than it says itself.
    let own = logged(host, unit, &format!("_SYSTEMD_UNIT={unit}"), lines)?;
    if own.is_empty() {
        return logged(host, unit, &format!("--unit={unit}"), lines);
    }
    Ok(own)
}

fn logged(host: &RealHost, unit: &UnitName, which: &str, lines: usize) -> HostResult<Vec<String>> {
    let lines = format!("--lines={lines}");
    let words = [
        "journalctl",
        which,
        &lines,
        "--output=cat",
        "--no-pager",
        "--quiet",
    ];
    let text = host.succeed("read the log of", unit.as_str(), &words, QUESTION)?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// Reads what `systemctl show` prints.
fn read(text: &str) -> UnitActivity {
    let value = |wanted: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once('='));
        lines
            .find(|(key, _)| *key == wanted)
            .map_or("", |(_, value)| value.trim())
    };
    let status = value("ExecMainStatus");
    UnitActivity {
        is_known: !matches!(value("LoadState"), "" | "not-found"),
        is_active: matches!(value("ActiveState"), "active" | "reloading"),
        has_failed: value("ActiveState") == "failed",
        // Only services count; other units are not restarted by systemd.
        restarts: value("NRestarts").parse().unwrap_or_default(),
        result: match (value("Result"), status) {
            (result, "" | "0") => result.to_owned(),
            (result, status) => format!("{result} {status}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_service_is_active() {
        let text = "Result=success\nNRestarts=0\nExecMainStatus=0\nLoadState=loaded\n\
                    ActiveState=active\nSubState=running\n";
        let expected = UnitActivity {
            is_known: true,
            is_active: true,
            has_failed: false,
            restarts: 0,
            result: "success".into(),
        };
        assert_eq!(read(text), expected);
    }

    #[test]
    fn one_that_is_restarted_again_and_again_has_not_failed_for_good() {
        let text = "Result=exit-code\nNRestarts=7\nExecMainStatus=1\nLoadState=loaded\n\
                    ActiveState=activating\nSubState=auto-restart\n";
        let found = read(text);
        assert!(!found.is_active && !found.has_failed && found.is_known);
        assert_eq!((found.restarts, found.result.as_str()), (7, "exit-code 1"));
        let failed = read(&text.replace("activating", "failed"));
        assert!(failed.has_failed);
    }

    #[test]
    fn an_unknown_unit_is_inactive() {
        let text = "LoadState=not-found\nActiveState=inactive\nSubState=dead\n";
        assert_eq!(read(text), UnitActivity::default());
    }
}
