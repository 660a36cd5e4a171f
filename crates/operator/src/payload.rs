//! The release's manifests as they are wanted in this cluster: parsed, filled in, sorted.

use bootlace_model::release::run_level;

use crate::manifest::{self, Broken, Manifest};
use crate::object::ObjectId;
use crate::order::{self, Level};
use crate::overrides::{self, Override};
use crate::placeholders::{self, Values};

/// A file of the release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    /// Its name.
    pub(crate) name: String,
    /// Its text, or why it cannot be read.
    pub(crate) text: Result<String, String>,
}

/// What shall be in the cluster.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Payload {
    /// By run level, lowest first.
    pub(crate) levels: Vec<Level>,
    /// Objects of the release that are left alone.
    pub(crate) left_alone: Vec<ObjectId>,
    /// Whether a manifest needs a value that is not known, and may still come.
    pub(crate) lacks_values: bool,
}

impl Payload {
    /// Counts the manifests, those that are broken among them.
    pub(crate) fn total(&self) -> usize {
        let of_level = |level: &Level| {
            let usable: usize = level.turns.iter().map(Vec::len).sum();
            usable + level.broken.len()
        };
        self.levels.iter().map(of_level).sum()
    }
}

/// Makes the payload of this cluster from the release's files.
pub(crate) fn payload(files: &[File], values: &Values, overrides: &[Override]) -> Payload {
    let (mut manifests, mut broken) = (vec![], vec![]);
    for file in files {
        match &file.text {
            Ok(text) => {
                let (of_file, broken_of_file) = manifest::read(&file.name, text);
                manifests.extend(of_file);
                broken.extend(broken_of_file);
            }
            Err(why) => broken.push(Broken {
                level: run_level(&file.name),
                what: file.name.clone(),
                why: why.clone(),
            }),
        }
    }
    let mut payload = Payload::default();
    let mut managed: Vec<Manifest> = vec![];
    for manifest in manifests {
        if overrides::is_left_alone(&manifest.id, overrides) {
            payload.left_alone.push(manifest.id);
            continue;
        }
        let twin = managed
            .iter()
            .find(|other| other.id.is_same_object(&manifest.id));
        if let Some(twin) = twin {
            let why = format!("the same object stands in {}", twin.origin);
            broken.push(unusable(&manifest, why));
            continue;
        }
        let mut manifest = manifest;
        let missing = placeholders::fill(&mut manifest.object, values);
        if missing.is_empty() {
            managed.push(manifest);
            continue;
        }
        payload.lacks_values |= missing.iter().any(|lack| lack.may_come);
        let why: Vec<String> = missing.into_iter().map(|lack| lack.why).collect();
        let why = why.join(", ");
        broken.push(unusable(&manifest, why));
    }
    payload.levels = order::levels(managed, broken);
    payload
}

fn unusable(manifest: &Manifest, why: String) -> Broken {
    Broken {
        level: manifest.level,
        what: manifest.to_string(),
        why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> File {
        File {
            name: name.into(),
            text: Ok(text.into()),
        }
    }

    fn config_map(name: &str, value: &str) -> String {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: a}}\ndata: {{v: {value}}}\n"
        )
    }

    #[test]
    fn values_are_filled_in_and_missing_ones_named() {
        let files = [
            file("0000_20_a_x.yaml", &config_map("good", "POD_CIDR")),
            file("0000_20_b_x.yaml", &config_map("bad", "CLUSTER_DNS")),
        ];
        let mut values = Values::default();
        values.cluster.insert("podCIDR".into(), "10.0.0.0/8".into());
        let payload = payload(&files, &values, &[]);
        assert_eq!((payload.total(), payload.lacks_values), (2, true));
        let level = &payload.levels[0];
        assert_eq!(level.turns[0][0].object["data"]["v"], "10.0.0.0/8");
        assert_eq!(
            level.broken[0].what,
            "0000_20_b_x.yaml, document 1, ConfigMap a/bad"
        );
        assert_eq!(
            level.broken[0].why,
            "the ConfigMap bootlace-system/cluster-config has no clusterDNS"
        );
    }

    #[test]
    fn what_is_overridden_is_left_out_and_not_even_looked_at() {
        let files = [file("0000_20_a_x.yaml", &config_map("mine", "CLUSTER_DNS"))];
        let entry = Override {
            kind: "ConfigMap".into(),
            namespace: "a".into(),
            name: "mine".into(),
            unmanaged: true,
            ..Override::default()
        };
        let payload = payload(&files, &Values::default(), &[entry]);
        assert_eq!((payload.total(), payload.left_alone.len()), (0, 1));
    }

    #[test]
    fn an_object_that_stands_twice_is_refused_the_second_time() {
        let files = [
            file("0000_10_a_x.yaml", &config_map("same", "1")),
            file("0000_20_b_x.yaml", &config_map("same", "2")),
        ];
        let payload = payload(&files, &Values::default(), &[]);
        assert_eq!(
            payload.levels[1].broken[0].why,
            "the same object stands in 0000_10_a_x.yaml, document 1"
        );
        assert_eq!(payload.levels[0].turns[0].len(), 1);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_a_problem_of_its_level() {
        let unreadable = File {
            name: "0000_30_x_y.yaml".into(),
            text: Err("it is not text in UTF-8".into()),
        };
        let payload = payload(&[unreadable], &Values::default(), &[]);
        assert_eq!(
            (payload.levels[0].number, payload.levels[0].broken.len()),
            (30, 1)
        );
    }
}

#[cfg(test)]
mod shipped;
