//! A manifest → what a supervisor has to start. Pure.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::below;

/// A process that a pod's container becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProcessSpec {
    /// Its name, and that of its log.
    pub(crate) name: String,
    /// The program's name, without its folder.
    pub(crate) program: String,
    /// Its arguments, with paths below the root.
    pub(crate) arguments: Vec<String>,
    /// Its variables.
    pub(crate) variables: Vec<(String, String)>,
    /// Folders that are made if they are missing.
    pub(crate) make: Vec<PathBuf>,
    /// What must be there before it starts.
    pub(crate) need: Vec<PathBuf>,
}

#[derive(Debug, Deserialize)]
struct Pod {
    metadata: Metadata,
    spec: Spec,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    name: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    #[serde(default)]
    init_containers: Vec<serde_json::Value>,
    containers: Vec<Container>,
    #[serde(default)]
    volumes: Vec<Volume>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Container {
    name: String,
    #[serde(default)]
    command: Vec<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: Vec<Variable>,
    #[serde(default)]
    volume_mounts: Vec<Mount>,
}

#[derive(Debug, Deserialize)]
struct Variable {
    name: String,
    value: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Mount {
    name: String,
    mount_path: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Volume {
    name: String,
    host_path: Option<HostPath>,
}

#[derive(Debug, Deserialize)]
struct HostPath {
    path: String,
    #[serde(default, rename = "type")]
    kind: String,
}

/// Reads a manifest; an error says what of it only a kubelet can do.
pub(crate) fn read(manifest: &str, root: &Path) -> Result<Vec<ProcessSpec>, String> {
    let pod: Pod = serde_saphyr::from_str(manifest)
        .map_err(|error| format!("it is no pod that could be read: {error}"))?;
    if !pod.spec.init_containers.is_empty() {
        return Err("its init containers need a kubelet".into());
    }
    let volumes = pod.spec.volumes.iter();
    let volumes: BTreeMap<&str, &Volume> = volumes.map(|it| (it.name.as_str(), it)).collect();
    let alone = pod.spec.containers.len() == 1;
    let spec = |container: &Container| {
        let name = if alone {
            pod.metadata.name.clone()
        } else {
            format!("{}-{}", pod.metadata.name, container.name)
        };
        process(name, container, &volumes, root)
    };
    pod.spec.containers.iter().map(spec).collect()
}

fn process(
    name: String,
    container: &Container,
    volumes: &BTreeMap<&str, &Volume>,
    root: &Path,
) -> Result<ProcessSpec, String> {
    if name.is_empty() || name.starts_with('.') || name.contains('/') {
        return Err(format!("{name:?} cannot be the name of a log"));
    }
    let mut moved = Moved::default();
    let (mut make, mut need) = (Vec::new(), Vec::new());
    for mount in &container.volume_mounts {
        let volume = volumes.get(mount.name.as_str());
        let Some(host) = volume.and_then(|volume| volume.host_path.as_ref()) else {
            return Err(format!("its volume {} needs a kubelet", mount.name));
        };
        let real = below(root, &host.path);
        if host.kind == "DirectoryOrCreate" {
            make.push(real.clone());
        } else {
            need.push(real.clone());
        }
        moved.add(&mount.mount_path, &real.to_string_lossy());
    }
    let mut words = container.command.iter().chain(&container.args);
    let Some(program) = words.next() else {
        return Err("its command stands in its image, and there are no images here".into());
    };
    let variable = |it: &Variable| match &it.value {
        Some(value) => Ok((it.name.clone(), moved.word(value))),
        None => Err(format!("its variable {} needs a kubelet", it.name)),
    };
    Ok(ProcessSpec {
        name,
        program: program.rsplit('/').next().unwrap_or_default().to_owned(),
        arguments: words.map(|word| moved.word(word)).collect(),
        variables: container
            .env
            .iter()
            .map(variable)
            .collect::<Result<_, _>>()?,
        make,
        need,
    })
}

/// Paths inside a container, and where they lie on this computer.
#[derive(Debug, Default)]
struct Moved(Vec<(String, String)>);

impl Moved {
    fn add(&mut self, inside: &str, outside: &str) {
        self.0
            .push((inside.trim_end_matches('/').to_owned(), outside.to_owned()));
        // The innermost mount counts, as it does in a container.
        self.0
            .sort_by_key(|(inside, _)| std::cmp::Reverse(inside.len()));
    }

    /// Moves every path in an argument: a path, `--flag=path`, or several with commas between.
    fn word(&self, word: &str) -> String {
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) if flag.starts_with('-') => (format!("{flag}="), value),
            _ => (String::new(), word),
        };
        let moved: Vec<String> = value.split(',').map(|part| self.path(part)).collect();
        format!("{flag}{}", moved.join(","))
    }

    fn path(&self, path: &str) -> String {
        for (inside, outside) in &self.0 {
            match path.strip_prefix(inside.as_str()) {
                Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                    return format!("{outside}{rest}");
                }
                _ => {}
            }
        }
        path.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POD: &str = r#"
apiVersion: v1
kind: Pod
metadata: {name: etcd, namespace: kube-system}
spec:
  containers:
  - name: etcd
    image: registry.example/etcd:v1
    command: [/usr/local/bin/etcd, --data-dir=/var/lib/etcd, "--cert-file=/pki/etcd/server.crt"]
    args: ["--listen-client-urls=https://127.0.0.1:2379,https://[::1]:2379", /pki/a, "--two=/pki/a,/var/lib/etcd/b", --other=/pkix/a]
    env: [{name: HOME, value: /var/lib/etcd}]
    volumeMounts:
    - {name: certs, mountPath: /pki/etcd, readOnly: true}
    - {name: all, mountPath: /pki}
    - {name: data, mountPath: /var/lib/etcd}
  volumes:
  - {name: certs, hostPath: {path: /etc/kubernetes/pki/etcd, type: Directory}}
  - {name: all, hostPath: {path: /etc/kubernetes/pki}}
  - {name: data, hostPath: {path: /var/lib/etcd, type: DirectoryOrCreate}}
"#;

    fn read_pod(text: &str) -> Result<Vec<ProcessSpec>, String> {
        read(text, Path::new("/r"))
    }

    #[test]
    fn mounted_paths_move_below_the_root_and_nothing_else_does() {
        let specs = read_pod(POD).unwrap();
        let [spec] = specs.as_slice() else {
            panic!("{specs:?}")
        };
        assert_eq!(
            (spec.name.as_str(), spec.program.as_str()),
            ("etcd", "etcd")
        );
        assert_eq!(
            spec.arguments,
            [
                "--data-dir=/r/var/lib/etcd",
                "--cert-file=/r/etc/kubernetes/pki/etcd/server.crt",
                "--listen-client-urls=https://127.0.0.1:2379,https://[::1]:2379",
                "/r/etc/kubernetes/pki/a",
                "--two=/r/etc/kubernetes/pki/a,/r/var/lib/etcd/b",
                "--other=/pkix/a",
            ]
        );
        assert_eq!(spec.variables, [("HOME".into(), "/r/var/lib/etcd".into())]);
        assert_eq!(spec.make, [Path::new("/r/var/lib/etcd")]);
        let need = ["/r/etc/kubernetes/pki/etcd", "/r/etc/kubernetes/pki"];
        assert_eq!(spec.need, need.map(Path::new));
    }

    #[test]
    fn several_containers_have_names_of_their_own() {
        let text = "metadata: {name: a}\nspec: {containers: [{name: b, command: [x]}, {name: c, command: [y]}]}";
        let specs = read_pod(text).unwrap();
        let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
        assert_eq!(names, ["a-b", "a-c"]);
    }

    #[test]
    fn what_only_a_kubelet_can_do_is_named() {
        for (spec, why) in [
            ("initContainers: [{}], containers: []", "init containers"),
            ("containers: [{name: c}]", "there are no images here"),
            (
                "containers: [{name: c, command: [x], env: [{name: IP}]}]",
                "its variable IP",
            ),
            (
                "containers: [{name: c, command: [x], volumeMounts: [{name: v, mountPath: /v}]}], volumes: [{name: v, emptyDir: {}}]",
                "its volume v",
            ),
        ] {
            let problem =
                read_pod(&format!("metadata: {{name: p}}\nspec: {{{spec}}}")).unwrap_err();
            assert!(problem.contains(why), "{problem}");
        }
        assert!(
            read_pod("metadata: {name: ../p}\nspec: {containers: [{name: c, command: [x]}]}")
                .is_err()
        );
        assert!(read_pod("kind: [").is_err());
    }
}
