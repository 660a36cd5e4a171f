//! Evaluating claims: is it so, and what was found?

mod cluster;

use std::time::Duration;

use bootlace_model::effect::{Body, UnitName};
use bootlace_model::expect::{ApiClaim, Claim};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::ids::Digest;
use bootlace_model::node::NodeState;
use bootlace_model::path::TargetPath;
use bootlace_model::secret::Secret;

use crate::access;
use crate::effects::{certificate_problems, composed};
use crate::folders::{Folders, LARGEST_FILE};
use crate::port::{Command, FetchRequest, Host, HostError};

/// What came of looking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Whether the claim holds.
    pub(crate) holds: bool,
    /// What was found, in words.
    pub(crate) found: String,
    /// Whether looking again cannot change it.
    pub(crate) hopeless: bool,
    /// Since when it has not held, by the clock of the API.
    pub(crate) since: Option<jiff::Timestamp>,
}

/// How long one question over HTTP may take.
const HTTP_TRY: Duration = Duration::from_secs(5);

fn link(folders: &Folders<'_>, path: &TargetPath, target: &str) -> Result<Finding, Fault> {
    let state = folders.look(path)?;
    let found = match &state {
        NodeState::Link { target, .. } => format!("it points to {target}"),
        other => format!("{} is there", other.noun()),
    };
    let holds = matches!(state, NodeState::Link { target: t, .. } if t == target);
    Ok(finding(holds, found))
}

fn succeeds(host: &dyn Host, argv: &[String], within: Duration) -> Result<Finding, Fault> {
    let command = Command {
        argv,
        env: vec![],
        directory: None,
        within,
        keep: 4096,
        input: None,
    };
    match host.run(&command) {
        Ok(output) => {
            let code = output.code;
            let words = code.map_or("a signal".into(), |code| format!("code {code}"));
            Ok(finding(code == Some(0), format!("it ended with {words}")))
        }
        // A program that hangs does not succeed; that is an answer, not a failure to ask.
        Err(HostError::TimedOut { .. }) => Ok(finding(false, "it did not end in time".into())),
        Err(error) => Err(error.into()),
    }
}

/// How many claims of several that do not hold are told.
const TOLD: usize = 3;

/// Looks whether all of several claims hold.
fn all(folders: &Folders<'_>, claims: &[Claim]) -> Result<Finding, Fault> {
    let mut broken = Vec::new();
    for claim in claims {
        let finding = evaluate_in(folders, claim)?;
        if !finding.holds {
            broken.push(format!("not {}: {}", claim.what(), finding.found));
        }
    }
    let holds = broken.is_empty();
    if broken.len() > TOLD {
        let more = broken.len() - TOLD;
        broken.truncate(TOLD);
        broken.push(format!("and {more} more"));
    }
    let found = if holds {
        "they are".to_owned()
    } else {
        broken.join("; ")
    };
    Ok(finding(holds, found))
}

/// Looks whether a claim holds; changes nothing.
pub(crate) fn evaluate(host: &dyn Host, claim: &Claim) -> Result<Finding, Fault> {
    evaluate_in(&Folders::new(host), claim)
}

/// Looks like [`evaluate`], and takes an API that does not answer within a time for a silent one.
pub(crate) fn evaluate_within(
    host: &dyn Host,
    claim: &Claim,
    within: Duration,
) -> Result<Finding, Fault> {
    match claim {
        Claim::Api(api) => api_answer(host, api, within),
        other => evaluate(host, other),
    }
}

fn evaluate_in(folders: &Folders<'_>, claim: &Claim) -> Result<Finding, Fault> {
    let host = folders.host();
    match claim {
        Claim::File { path, digest, mode } => file(folders, path, *digest, *mode),
        Claim::Directory { path } => {
            let state = folders.look(path)?;
            let holds = matches!(state, NodeState::Directory { .. });
            Ok(finding(holds, format!("{} is there", state.noun())))
        }
        Claim::Absent { path } => {
            let state = folders.look(path)?;
            Ok(finding(
                !state.exists(),
                format!("{} is there", state.noun()),
            ))
        }
        Claim::Link { path, target } => link(folders, path, target),
        Claim::Key { path } => key(folders, path),
        Claim::Holds { path, body, mode } => holds(folders, path, body, *mode),
        Claim::Certificate {
            path,
            key,
            request,
            issuer,
        } => {
            let problems = certificate_problems(folders, path, key, request, issuer.as_ref())?;
            Ok(match problems {
                None => finding(false, "nothing is there".into()),
                Some(problems) if problems.is_empty() => {
                    finding(true, "it fits and is valid".into())
                }
                Some(problems) => finding(false, problems.join("; ")),
            })
        }
        Claim::ListedFiles { index, below } => listed(folders, index, below),
        Claim::Unit { unit, state } => {
            let found = crate::effects::unit_state(folders, unit)?;
            let words = found.map_or("nothing says so".into(), |state| format!("it is {state:?}"));
            Ok(finding(found == Some(*state), words.to_lowercase()))
        }
        Claim::Account {
            is_group,
            name,
            exists,
        } => {
            let found = crate::accounts::is_listed(folders, *is_group, name)?;
            let words = if found {
                "it is listed"
            } else {
                "it is not listed"
            };
            Ok(finding(found == *exists, words.into()))
        }
        Claim::Succeeds { argv, within } => succeeds(host, argv, *within),
        Claim::Running { unit } => running(host, unit),
        Claim::All { claims, .. } => all(folders, claims),
        Claim::Images { images } => loaded(host, images),
        Claim::Service(service) => cluster::service(folders, service),
        Claim::Maintained(maintained) => cluster::maintained(host, maintained),
        Claim::Api(api) => api_answer(host, api, access::ONE_QUESTION),
        Claim::Listens { port, .. } => listens(host, *port),
        Claim::Answers {
            url,
            status,
            authorities,
        } => {
            let authorities = match authorities {
                None => None,
                Some(path) => folders.read(path, LARGEST_FILE)?,
            };
            let authorities = authorities.as_deref();
            let request = FetchRequest {
                url,
                authorities,
                trusts_system: false,
                headers: &[],
                limit: 1 << 20,
                within: HTTP_TRY,
            };
            match host.http_status(&request) {
                Ok(found) => Ok(finding(found == *status, format!("it answers {found}"))),
                Err(error @ (HostError::Fetch { .. } | HostError::TimedOut { .. })) => {
                    Ok(finding(false, error.to_string()))
                }
                Err(error) => Err(error.into()),
            }
        }
    }
}

fn finding(holds: bool, found: String) -> Finding {
    Finding {
        holds,
        found,
        hopeless: false,
        since: None,
    }
}

fn file(
    folders: &Folders<'_>,
    path: &TargetPath,
    digest: Option<Digest>,
    mode: Option<u32>,
) -> Result<Finding, Fault> {
    let state = folders.look(path)?;
    let NodeState::File {
        digest: found_digest,
        mode: found_mode,
        size,
        ..
    } = state
    else {
        return Ok(finding(false, format!("{} is there", state.noun())));
    };
    if digest.is_some_and(|wanted| wanted != found_digest) {
        return Ok(finding(
            false,
            format!("its content is {}", found_digest.short()),
        ));
    }
    let words = bootlace_model::shell::mode(found_mode);
    if mode.is_some_and(|wanted| wanted != found_mode) {
        return Ok(finding(false, format!("its mode is {words}")));
    }
    Ok(finding(
        true,
        format!("{size} bytes, mode {words}, {}", found_digest.short()),
    ))
}

fn holds(
    folders: &Folders<'_>,
    path: &TargetPath,
    body: &Body,
    mode: u32,
) -> Result<Finding, Fault> {
    let finding = file(folders, path, None, Some(mode))?;
    if !finding.holds {
        return Ok(finding);
    }
    let wanted = match composed(folders, body) {
        Ok(Some(wanted)) => wanted.read()?,
        Ok(None) => {
            let found = "a file that it follows from is missing".into();
            return Ok(self::finding(false, found));
        }
        // A token that is none follows from nothing; that is an answer.
        Err(fault) if fault.kind == FaultKind::BadInput => {
            return Ok(self::finding(false, fault.message));
        }
        Err(fault) => return Err(fault),
    };
    let content = folders.read(path, LARGEST_FILE)?.unwrap_or_default();
    let is_in = wanted.is_empty() || content.windows(wanted.len()).any(|part| part == &*wanted);
    Ok(if is_in {
        finding
    } else {
        self::finding(false, "it holds something else".into())
    })
}

fn key(folders: &Folders<'_>, path: &TargetPath) -> Result<Finding, Fault> {
    let state = folders.look(path)?;
    let NodeState::File { mode, .. } = state else {
        return Ok(finding(false, format!("{} is there", state.noun())));
    };
    if mode & 0o077 != 0 {
        let mode = bootlace_model::shell::mode(mode);
        return Ok(finding(
            false,
            format!("others may read it: its mode is {mode}"),
        ));
    }
    let content = folders.read(path, 1 << 20)?.unwrap_or_default();
    Ok(match folders.host().public_key(&Secret::new(content)) {
        Ok(_) => finding(true, "it is a key of its owner alone".into()),
        Err(error) => finding(false, error.to_string()),
    })
}

fn listed(folders: &Folders<'_>, index: &TargetPath, below: &TargetPath) -> Result<Finding, Fault> {
    #[derive(serde::Deserialize)]
    struct Index {
        files: std::collections::BTreeMap<String, Digest>,
    }
    let Some(content) = folders.read(index, LARGEST_FILE)? else {
        return Ok(finding(false, format!("{index} is missing")));
    };
    let read: Index = match serde_json::from_slice(&content) {
        Ok(read) => read,
        Err(error) => return Ok(finding(false, format!("{index} cannot be read: {error}"))),
    };
    let mut wrong = Vec::new();
    for (relative, digest) in &read.files {
        let path = below
            .join(relative)
            .map_err(|bad| Fault::refused(bad.to_string()))?;
        match folders.look(&path)? {
            NodeState::File { digest: found, .. } if found == *digest => {}
            NodeState::File { .. } => wrong.push(format!("{path} was changed")),
            other => wrong.push(format!("{} is at {path}", other.noun())),
        }
    }
    Ok(match wrong.as_slice() {
        [] => finding(true, format!("{} files as listed", read.files.len())),
        some => finding(false, some.join("; ")),
    })
}

fn running(host: &dyn Host, unit: &UnitName) -> Result<Finding, Fault> {
    if !host.is_live() {
        return Ok(finding(false, "nothing runs in a folder".into()));
    }
    let is_active = host.unit(unit)?.is_active;
    let words = if is_active {
        "it is active"
    } else {
        "it is not active"
    };
    Ok(finding(is_active, words.into()))
}

fn listens(host: &dyn Host, port: u16) -> Result<Finding, Fault> {
    if !host.is_live() {
        return Ok(finding(false, "nothing runs in a folder".into()));
    }
    let holds = host.listens(port)?;
    let who = if holds { "something" } else { "nothing" };
    Ok(finding(holds, format!("{who} listens on TCP port {port}")))
}

fn loaded(host: &dyn Host, images: &[String]) -> Result<Finding, Fault> {
    let there = host.images()?.unwrap_or_default();
    let missing = images.iter().filter(|image| !there.contains(image));
    let missing: Vec<&str> = missing.map(String::as_str).collect();
    Ok(match missing.as_slice() {
        [] => finding(true, format!("{} of them are there", images.len())),
        some => finding(false, format!("not there: {}", some.join(", "))),
    })
}

fn api_answer(host: &dyn Host, api: &ApiClaim, within: Duration) -> Result<Finding, Fault> {
    let asked = match access::ask(host, api, within) {
        Ok(asked) => asked,
        // What proves who is asking may come, or come back, later.
        Err(fault) if fault.kind == FaultKind::VerifyFailed => {
            return Ok(finding(false, fault.message));
        }
        Err(fault) => return Err(fault),
    };
    let answer = match asked {
        Ok(answer) => answer,
        Err(error @ (HostError::Unreachable { .. } | HostError::TimedOut { .. })) => {
            return Ok(finding(false, error.to_string()));
        }
        Err(error @ HostError::Untrusted { .. }) => {
            let found = error.to_string();
            return Ok(Finding {
                holds: false,
                found,
                hopeless: true,
                since: None,
            });
        }
        Err(error) => return Err(error.into()),
    };
    if answer.status != 200 {
        let said = answer.body.get("message").unwrap_or(&answer.body);
        let said = said
            .as_str()
            .map_or_else(|| said.to_string(), ToOwned::to_owned);
        let said = said
            .lines()
            .find(|line| line.starts_with("[-]"))
            .unwrap_or(&said);
        return Ok(finding(
            false,
            format!("it answers {}: {said}", answer.status),
        ));
    }
    let fields = api.fields.iter();
    let problems = fields.clone().filter_map(|it| it.problem(&answer.body));
    let problems: Vec<String> = problems.collect();
    Ok(match problems.as_slice() {
        [] => finding(true, "it answers so".into()),
        some => Finding {
            since: fields.filter_map(|it| it.wrong_since(&answer.body)).max(),
            ..finding(false, some.join("; "))
        },
    })
}
