//! What a user of a cluster would notice: its services answer, and the objects that something in
//! it maintains are there.

use crate::effect::ObjectId;
use crate::path::TargetPath;

use super::{Access, ApiClaim};

/// A service answers, asked over the network the way a program in the cluster asks it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceClaim {
    /// What holds if it answers, in words.
    pub what: String,
    /// How the API is asked for the service.
    pub access: Access,
    /// The path of the service. A service that does not exist is not asked.
    pub path: String,
    /// The field that holds its address.
    pub address_at: &'static str,
    /// From where it is asked.
    pub from: Vantage,
    /// What it is asked.
    pub question: Question,
}

/// From where a service is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vantage {
    /// From the network of the machine.
    Machine,
    /// From the network of a pod on the machine; not at all if none has a network of its own.
    Pod,
}

/// What a service is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// To prove over TLS, at a port, that an authority has certified it.
    Identity {
        /// The port.
        port: u16,
        /// The authority.
        authority: TargetPath,
    },
    /// For the address of a name, as a name server at port 53.
    Name(String),
}

impl ServiceClaim {
    /// Returns the line that a person would type to ask.
    pub(super) fn shell(&self) -> String {
        let field = self.address_at.replace('/', ".");
        let address = format!("$({} | jq -r .{field})", self.lookup().shell());
        match &self.question {
            Question::Identity { port, authority } => {
                format!("curl -sS -o /dev/null --cacert {authority} https://{address}:{port}/")
            }
            Question::Name(name) => format!("dig +short @{address} {name}"),
        }
    }

    /// Returns the question for the service itself.
    pub fn lookup(&self) -> ApiClaim {
        ApiClaim {
            what: self.what.clone(),
            access: self.access.clone(),
            path: self.path.clone(),
            post: None,
            fields: vec![],
        }
    }
}

/// An API has every object that an object of it lists, unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaintainedClaim {
    /// What holds if they are, in words.
    pub what: String,
    /// How the API is reached.
    pub access: Access,
    /// The path of the object that lists them.
    pub path: String,
    /// The field that lists them; absent until all of them were there once.
    pub list_at: &'static str,
    /// The field that tells how far that is.
    pub progress_at: &'static str,
}

impl MaintainedClaim {
    /// Returns the question for the object that lists them.
    pub fn question(&self) -> ApiClaim {
        ApiClaim {
            what: self.what.clone(),
            access: self.access.clone(),
            path: self.path.clone(),
            post: None,
            fields: vec![],
        }
    }
}

/// An object that something maintains, and what it was like when it was right.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Maintained {
    /// Which.
    #[serde(flatten)]
    pub id: ObjectId,
    /// What it was like.
    pub mark: String,
}

/// Returns a text that is another one as soon as somebody changes what an object is told to be.
///
/// Its status does not count. Kinds that count the changes of their objects are taken by their word;
/// of the others the whole object is hashed, but for what only the API itself writes.
pub fn mark(object: &serde_json::Value) -> String {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
    if let Some(generation) = object["metadata"]["generation"].as_u64() {
        return format!("{}/{generation}", text("uid"));
    }
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in ["managedFields", "resourceVersion"] {
            metadata.remove(field);
        }
    }
    crate::ids::Digest::of(object.to_string().as_bytes()).short()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::mark;

    fn changed(object: &Value, at: &str, value: Value) -> Value {
        let mut object = object.clone();
        *object.pointer_mut(at).unwrap() = value;
        object
    }

    #[test]
    fn what_changes_by_itself_leaves_the_mark_alone() {
        let service = json!({"metadata": {"uid": "u", "resourceVersion": "1", "managedFields": []},
            "spec": {"clusterIP": "10.96.0.10"}, "status": {}});
        let workload = json!({"metadata": {"uid": "u", "generation": 1, "resourceVersion": "1",
            "annotations": {}}, "spec": {"replicas": 1}, "status": {}});
        for (object, at, value) in [
            (&service, "/metadata/resourceVersion", json!("2")),
            (&service, "/metadata/managedFields", json!([1])),
            (&service, "/status", json!({"loadBalancer": {}})),
            (&workload, "/status", json!({"replicas": 1})),
            (&workload, "/metadata/annotations", json!({"revision": "1"})),
        ] {
            assert_eq!(mark(object), mark(&changed(object, at, value)), "{at}");
        }
        for (object, at, value) in [
            (&service, "/spec/clusterIP", json!("10.96.0.11")),
            (&service, "/metadata/uid", json!("v")),
            (&workload, "/metadata/generation", json!(2)),
            (&workload, "/metadata/uid", json!("v")),
        ] {
            assert_ne!(mark(object), mark(&changed(object, at, value)), "{at}");
        }
    }
}
