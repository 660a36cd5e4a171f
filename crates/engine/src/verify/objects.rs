//! Are the objects that an API was given still there?

use std::collections::BTreeMap;
use std::time::Duration;

use bootlace_model::effect::{Given, GivenObject, ObjectId};
use bootlace_model::expect::Access;
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::ids::StepId;
use bootlace_model::path::TargetPath;
use bootlace_model::shell::line;
use bootlace_model::view::CheckView;

use super::silent::{NOT_ASKED, Silent};
use crate::access;
use crate::folders::Folders;
use crate::history::Deed;
use crate::port::{HasRequest, Host, HostError};

/// How long it may take to ask for all objects of a step.
const ALL_QUESTIONS: Duration = Duration::from_secs(30);

/// Returns what each step gave to an API last. An object that two steps gave is the later one's.
pub(super) fn given(deeds: &[Deed]) -> BTreeMap<StepId, Given> {
    // A step that was planned again may have other objects: only its newest act of a name counts.
    let mut newest: BTreeMap<(&StepId, &str), &Deed> = BTreeMap::new();
    for deed in deeds.iter().filter(|deed| deed.after.is_some()) {
        if deed.effect.given.is_some() {
            let name = deed.effect.target.rsplit_once(" (");
            let name = name.map_or(deed.effect.target.as_str(), |(name, _)| name);
            newest.insert((&deed.step, name), deed);
        }
    }
    let mut acts: Vec<&Deed> = newest.into_values().collect();
    acts.sort_by_key(|deed| deed.n);
    let mut owners: BTreeMap<&ObjectId, u64> = BTreeMap::new();
    for deed in &acts {
        for object in deed.effect.given.iter().flat_map(|given| &given.objects) {
            owners.insert(&object.id, deed.n);
        }
    }
    let mut given: BTreeMap<StepId, Given> = BTreeMap::new();
    for deed in &acts {
        let Some(all) = &deed.effect.given else {
            continue;
        };
        let own = all.objects.iter();
        let own = own.filter(|object| owners.get(&object.id) == Some(&deed.n));
        let entry = given.entry(deed.step.clone()).or_insert_with(|| Given {
            kubeconfig: all.kubeconfig.clone(),
            objects: vec![],
        });
        entry.objects.extend(own.cloned());
    }
    given
}

/// Asks for all objects of a step.
pub(super) fn checks(
    host: &dyn Host,
    step: &str,
    given: &Given,
    silent: &mut Silent,
) -> Result<Vec<CheckView>, Fault> {
    let answers = match ask(host, given, silent)? {
        Ok(answers) => answers,
        Err(found) => {
            return Ok(vec![CheckView {
                step: step.into(),
                what: format!("the API has the step's {} objects", given.objects.len()),
                ok: false,
                found,
                because: "Whether somebody deleted some of them cannot be said.".into(),
                unfinished: false,
            }]);
        }
    };
    let checks = given.objects.iter().zip(answers).map(|(object, ok)| {
        let because = if ok {
            String::new()
        } else {
            way_back(host, &given.kubeconfig, object)?
        };
        Ok(CheckView {
            step: step.into(),
            what: format!("the API has {}", object.id),
            ok,
            found: if ok { "it is there" } else { "it is gone" }.into(),
            because,
            unfinished: false,
        })
    });
    checks.collect()
}

/// Asks, or says why there is no answer.
fn ask(
    host: &dyn Host,
    given: &Given,
    silent: &mut Silent,
) -> Result<Result<Vec<bool>, String>, Fault> {
    let access = Access::Kubeconfig(given.kubeconfig.clone());
    if silent.accesses.contains(&access) {
        return Ok(Err(NOT_ASKED.into()));
    }
    let credentials = match access::credentials(host, &access) {
        Ok(credentials) => credentials,
        Err(fault) if fault.kind == FaultKind::VerifyFailed => return Ok(Err(fault.message)),
        Err(fault) => return Err(fault),
    };
    let began = host.steady();
    let answers = host.has_objects(&HasRequest {
        credentials: &credentials,
        objects: &given.objects,
        within: ALL_QUESTIONS,
    });
    match answers {
        Ok(answers) => Ok(Ok(answers)),
        Err(
            error @ (HostError::Unreachable { .. }
            | HostError::TimedOut { .. }
            | HostError::Untrusted { .. }),
        ) => {
            silent.note(host, &access, began);
            Ok(Err(error.to_string()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Tells how an object is put back by hand: also where nothing is planned again any more.
fn way_back(
    host: &dyn Host,
    kubeconfig: &TargetPath,
    object: &GivenObject,
) -> Result<String, Fault> {
    let source = &object.source;
    let is_there = match TargetPath::new(source) {
        Ok(path) => Folders::new(host).look(&path)?.exists(),
        Err(_) => false,
    };
    let deleted = "Somebody or something deleted it";
    if !is_there {
        return Ok(format!(
            "{deleted}; it came from {source}, which is not there any more."
        ));
    }
    let words = ["kubectl", "--kubeconfig", kubeconfig.as_str(), "apply"];
    let how = ["--server-side", "--field-manager=bootlace", "-f", source];
    let command = line(words.into_iter().chain(how));
    Ok(format!("{deleted}; `{command}` puts it back."))
}
