//! Plain processes that end, as their supervisor wrote it down.

use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::path::TargetPath;
use bootlace_model::supervised::{Supervised, SupervisedProcess};
use bootlace_model::symptom::KnownLine;

use super::{because_of, known_line, shown, with_last_words};
use crate::folders::{Folders, LARGEST_FILE};
use crate::port::Host;

/// Returns the first process that ended and will end again, as the fault that it is.
pub(super) fn fail(
    host: &dyn Host,
    state: &TargetPath,
    known: &[KnownLine],
) -> Result<Option<Fault>, Fault> {
    // Nothing is written down before the supervisor begins.
    let Some(content) = Folders::new(host).read(state, LARGEST_FILE)? else {
        return Ok(None);
    };
    let supervised: Supervised = serde_json::from_slice(&content).map_err(|error| {
        Fault::bad_input(format!("{state} cannot be read: {error}")).in_file(state.as_str())
    })?;
    Ok(supervised
        .processes
        .iter()
        .find_map(|process| cause(process, known)))
}

/// Tells why a process will not stay, if that is visible.
fn cause(process: &SupervisedProcess, known: &[KnownLine]) -> Option<Fault> {
    // One that runs again may have got over what ended it.
    let end = process.ended.as_ref().filter(|_| process.pid.is_none())?;
    let ended = format!("the process {} {end}", process.name);
    let said = &end.last_words;
    let never_began = end.code.is_none() && end.signal.is_none();
    let fault = match known_line(said, known) {
        Some((known, line)) => because_of(&ended, known, line),
        None if never_began => Fault::new(
            FaultKind::StepFailed,
            format!("{ended}: {}", said.join("; ")),
        ),
        // A first end for an unknown reason may heal by itself: what it needs may not be up yet.
        None if process.ends > 1 => {
            let again = format!("{ended}, {} times so far", process.ends);
            shown(
                Fault::new(FaultKind::StepFailed, with_last_words(&again, said)),
                said,
            )
        }
        None => return None,
    };
    Some(fault.hint(format!("its log is {} below the root", process.log)))
}

#[cfg(test)]
mod tests {
    use bootlace_model::supervised::ProcessEnd;

    use super::*;

    const KNOWN: &[KnownLine] = &[KnownLine {
        needle: "address already in use",
        code: "F-30",
        cause: "somebody else listens on its port",
        hint: "stop it",
    }];

    fn process(
        pid: Option<u32>,
        ends: u32,
        code: Option<i32>,
        words: &[&str],
    ) -> SupervisedProcess {
        SupervisedProcess {
            name: "etcd".into(),
            pid,
            ends,
            ended: (ends > 0).then(|| ProcessEnd {
                code,
                signal: None,
                at: jiff::Timestamp::UNIX_EPOCH,
                last_words: words.iter().map(ToString::to_string).collect(),
            }),
            log: "/var/log/bootlace/etcd.log".into(),
        }
    }

    #[test]
    fn a_process_that_stays_or_heals_is_no_symptom() {
        for fine in [
            process(Some(7), 0, None, &[]),
            process(Some(7), 5, Some(1), &["address already in use"]),
            process(None, 1, Some(1), &["it may be better next time"]),
            process(None, 0, None, &[]),
        ] {
            assert_eq!(cause(&fine, KNOWN), None, "{fine:?}");
        }
    }

    #[test]
    fn known_last_words_and_repeated_ends_are_told_at_once() {
        let taken = cause(
            &process(None, 1, Some(1), &["x", "address already in use"]),
            KNOWN,
        );
        let taken = taken.unwrap();
        assert!(
            taken
                .message
                .ends_with("somebody else listens on its port [F-30]")
        );
        assert_eq!(taken.details, ["address already in use"]);
        let again = cause(&process(None, 2, Some(3), &["first", "second"]), KNOWN).unwrap();
        assert_eq!(
            again.message,
            "the process etcd ended with 3, 2 times so far; last words: second"
        );
        let never = cause(&process(None, 1, None, &["etcd is not installed"]), KNOWN).unwrap();
        assert_eq!(
            never.message,
            "the process etcd could not be started: etcd is not installed"
        );
    }
}
