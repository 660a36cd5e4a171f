//! What a user of a cluster would notice: services that answer, objects that are there.

use std::net::IpAddr;
use std::time::Duration;

use bootlace_model::effect::GivenObject;
use bootlace_model::expect::{
    ApiClaim, Maintained, MaintainedClaim, Question, ServiceClaim, Vantage, find,
};
use bootlace_model::fault::{Fault, FaultKind};
use serde_json::Value;

use super::{Finding, finding};
use crate::access;
use crate::folders::{Folders, LARGEST_FILE};
use crate::port::{Asked, HasRequest, Host, HostError, ServiceQuestion, ServiceRequest};

/// How long one question to a service may take.
const ONE_QUESTION: Duration = Duration::from_secs(2);
/// How long it may take to ask for all objects.
const ALL_OBJECTS: Duration = Duration::from_secs(30);

/// Looks for a service, and asks it.
pub(super) fn service(folders: &Folders<'_>, claim: &ServiceClaim) -> Result<Finding, Fault> {
    let host = folders.host();
    let service = match object(host, &claim.lookup())? {
        Ok(Some(service)) => service,
        Ok(None) => return Ok(finding(true, "not asked: there is no such service".into())),
        Err(found) => return Ok(at_once(found)),
    };
    let address = find(&service, claim.address_at).and_then(Value::as_str);
    let Some(address) = address.and_then(|text| text.parse::<IpAddr>().ok()) else {
        return Ok(finding(true, "not asked: it has no address".into()));
    };
    let authority;
    let question = match &claim.question {
        Question::Name(name) => ServiceQuestion::Name(name),
        Question::Identity {
            port,
            authority: path,
        } => match folders.read(path, LARGEST_FILE)? {
            Some(content) => {
                authority = content;
                let authority = &authority;
                ServiceQuestion::Identity {
                    port: *port,
                    authority,
                }
            }
            None => return Ok(finding(false, format!("{path} is missing"))),
        },
    };
    let asked = host.ask_service(&ServiceRequest {
        from: claim.from,
        address,
        question,
        within: ONE_QUESTION,
    })?;
    let from = match claim.from {
        Vantage::Machine => "this machine",
        Vantage::Pod => "a pod",
    };
    Ok(match asked {
        Asked::Answered(answer) => finding(true, answer),
        Asked::NoPod => finding(
            true,
            "not asked: no pod on this machine has a network of its own".into(),
        ),
        Asked::Failed(why) => finding(false, format!("asked at {address} from {from}: {why}")),
    })
}

/// Looks whether all objects that something maintains are there and unchanged.
pub(super) fn maintained(host: &dyn Host, claim: &MaintainedClaim) -> Result<Finding, Fault> {
    let keeper = match object(host, &claim.question())? {
        Ok(Some(keeper)) => keeper,
        Ok(None) => return Ok(finding(false, format!("{} does not exist", claim.path))),
        Err(found) => return Ok(at_once(found)),
    };
    let Some(list) = find(&keeper, claim.list_at) else {
        let progress = find(&keeper, claim.progress_at).and_then(Value::as_str);
        let progress = progress.unwrap_or("nothing was said about it");
        return Ok(finding(false, format!("not complete yet: {progress}")));
    };
    let list: Vec<Maintained> = serde_json::from_value(list.clone()).map_err(|error| {
        Fault::internal(format!(
            "{} of {} cannot be read: {error}",
            claim.list_at, claim.path
        ))
    })?;
    let credentials = access::credentials(host, &claim.access)?;
    let objects: Vec<GivenObject> = list.iter().map(given).collect();
    let marks = host.object_marks(&HasRequest {
        credentials: &credentials,
        objects: &objects,
        within: ALL_OBJECTS,
    });
    let marks = match marks {
        Ok(marks) => marks,
        Err(error) => return silence(error).map(at_once),
    };
    let (mut gone, mut changed) = (Vec::new(), Vec::new());
    for (object, mark) in list.iter().zip(marks) {
        match mark {
            None => gone.push(object.id.to_string()),
            Some(mark) if mark != object.mark => changed.push(object.id.to_string()),
            Some(_) => {}
        }
    }
    let named = [("gone", gone), ("changed", changed)].into_iter();
    let named = named.filter(|(_, names)| !names.is_empty());
    let named: Vec<String> = named
        .map(|(word, names)| format!("{word}: {}", names.join(", ")))
        .collect();
    Ok(if named.is_empty() {
        finding(true, format!("{} objects", list.len()))
    } else {
        // Not waited for: that they come back does not make it untrue that they were missing.
        at_once(named.join("; "))
    })
}

/// Does not hold, and is not looked at again.
fn at_once(found: String) -> Finding {
    Finding {
        hopeless: true,
        ..finding(false, found)
    }
}

fn given(object: &Maintained) -> GivenObject {
    GivenObject {
        id: object.id.clone(),
        source: String::new(),
    }
}

/// Asks for an object: it, that it does not exist, or in words why there is no answer.
fn object(host: &dyn Host, question: &ApiClaim) -> Result<Result<Option<Value>, String>, Fault> {
    let asked = match access::ask(host, question, access::ONE_QUESTION) {
        Ok(asked) => asked,
        Err(fault) if fault.kind == FaultKind::VerifyFailed => return Ok(Err(fault.message)),
        Err(fault) => return Err(fault),
    };
    match asked {
        Ok(answer) if answer.status == 200 => Ok(Ok(Some(answer.body))),
        Ok(answer) if answer.status == 404 => Ok(Ok(None)),
        Ok(answer) => Ok(Err(format!("the API answers {}", answer.status))),
        Err(error) => silence(error).map(Err),
    }
}

/// Takes it for an answer that an API does not answer.
fn silence(error: HostError) -> Result<String, Fault> {
    match error {
        HostError::Unreachable { .. }
        | HostError::TimedOut { .. }
        | HostError::Untrusted { .. } => Ok(error.to_string()),
        other => Err(other.into()),
    }
}
