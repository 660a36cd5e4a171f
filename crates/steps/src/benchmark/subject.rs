//! What a check looks at, and what it finds.

use bootlace_model::path::TargetPath;
use bootlace_model::shell;
use bootlace_model::survey::Seen;

use super::api_config;
use super::machine::{Machine, Program, SERVING_CERTIFICATE};
use super::pki::{FoundKind, PKI};
use super::rule::Rule;
use crate::assets::machine;
use crate::documents::ending;
use crate::machine_files::{MACHINE_FOLDERS, machine_files};

/// What a check looks at.
#[derive(Debug, Clone, Copy)]
pub(super) enum Subject {
    /// A flag of a program.
    Flag(Program, &'static str, Rule),
    /// Flags of a program that must be given together.
    Flags(Program, [&'static str; 2]),
    /// A setting of the kubelet: a pointer into its config, and the flag that wins over it.
    Kubelet(&'static str, &'static str, Rule),
    /// A setting of kube-proxy.
    Proxy(&'static str, Rule),
    /// Files that no one but those of a mode may use.
    Mode(Files, u32),
    /// Files that belong to root.
    OwnedByRoot(Files),
    /// A folder that belongs to the account that a program runs as, which is not root.
    OwnedByAccount(&'static str, Program),
    /// The paths of the API server that need no login.
    OpenPaths,
    /// What Secrets are encrypted with.
    Encryption,
    /// The name that the kubelet uses, which must be the one in its certificate.
    CertifiedName,
    /// When the images of the control plane are pulled, which must not be at every start.
    PullPolicies,
}

/// Which files.
#[derive(Debug, Clone, Copy)]
pub(super) enum Files {
    /// One file or folder.
    One(&'static str),
    /// All in the folder of keys and certificates, and the folder itself.
    Pki,
    /// Certificates and public keys.
    Certificates,
    /// Private keys.
    Keys,
}

/// What was found.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) holds: bool,
    pub(super) found: String,
    /// What to do, if that depends on what was found.
    remedy: Option<String>,
}

impl Finding {
    pub(super) fn new(holds: bool, found: impl Into<String>) -> Self {
        Self {
            holds,
            found: found.into(),
            remedy: None,
        }
    }
}

/// Who root is.
const ROOT: (u32, u32) = (0, 0);

impl Files {
    /// Lists the files that must be there, and what else is there of their kind.
    fn paths(self, on: &Machine) -> Vec<TargetPath> {
        let pki = || {
            let files = machine_files().map(|file| file.machine);
            files.filter(|path| path.starts_with(PKI))
        };
        let ends = |path: &&str, key: bool| (ending(path) == "key") == key;
        let known: Vec<&'static str> = match self {
            Self::One(path) => vec![path],
            Self::Keys => pki().filter(|path| ends(path, true)).collect(),
            Self::Certificates => pki().filter(|path| ends(path, false)).collect(),
            Self::Pki => {
                let folders = MACHINE_FOLDERS.iter().map(|(folder, _)| *folder);
                pki()
                    .chain(folders.filter(|it| it.starts_with(PKI)))
                    .collect()
            }
        };
        let mut paths: Vec<TargetPath> = known.into_iter().map(machine).collect();
        let is_meant = |is: FoundKind| match self {
            Self::One(_) => false,
            Self::Pki => true,
            Self::Keys => is == FoundKind::PrivateKey,
            Self::Certificates => is == FoundKind::Other,
        };
        for found in on.pki().iter().filter(|found| is_meant(found.is)) {
            if !paths.contains(&found.path) {
                paths.push(found.path.clone());
            }
        }
        paths
    }

    fn what(self) -> String {
        match self {
            Self::One(path) => format!("/{path}"),
            Self::Pki => format!("/{PKI}"),
            Self::Keys => format!("/{PKI}/*.key /{PKI}/etcd/*.key"),
            Self::Certificates => format!("/{PKI}/*.crt /{PKI}/etcd/*.crt"),
        }
    }

    /// Looks at each file. What is found is the first that does not fit, or what the first one is like.
    fn look(
        self,
        machine: &Machine,
        command: &str,
        fits: impl Fn(u32, (u32, u32)) -> bool,
        shown: impl Fn(u32, (u32, u32)) -> String,
    ) -> Finding {
        let (mut good, mut bad) = (vec![], vec![]);
        let (mut wrong, mut links) = (vec![], vec![]);
        for path in self.paths(machine) {
            let (mode, owner) = match machine.seen(&path) {
                None => {
                    bad.push(format!("{path} does not exist"));
                    continue;
                }
                Some(Seen::File { mode, owner, .. } | Seen::Directory { mode, owner }) => {
                    (*mode, (owner.uid, owner.gid))
                }
                Some(other) => {
                    bad.push(format!("{path} is {}, not a file", other.noun()));
                    links.push(path);
                    continue;
                }
            };
            let told = format!("{path}: {}", shown(mode, owner));
            if fits(mode, owner) {
                good.push(told);
            } else {
                bad.push(told);
                wrong.push(path);
            }
        }
        let words = |paths: &[TargetPath]| shell::line(paths.iter().map(TargetPath::as_str));
        let remedy = if !wrong.is_empty() {
            Some(format!("`{command} {}`", words(&wrong)))
        } else if !links.is_empty() {
            Some(format!(
                "put the file itself in the place of {}",
                words(&links)
            ))
        } else {
            None
        };
        let more = bad.len().saturating_sub(1);
        let mut found = bad.first().or(good.first()).cloned().unwrap_or_default();
        if more > 0 {
            found = format!("{found}, and {more} more");
        }
        Finding {
            holds: bad.is_empty() && !good.is_empty(),
            found,
            remedy,
        }
    }
}

impl Subject {
    /// Looks at a machine.
    pub(super) fn look(self, machine: &Machine) -> Finding {
        match self {
            Self::Flag(program, flag, rule) => {
                valued(&format!("--{flag}"), rule, machine.flag(program, flag))
            }
            Self::Flags(program, flags) => {
                let [one, other] = flags.map(|flag| {
                    valued(&format!("--{flag}"), Rule::Set, machine.flag(program, flag))
                });
                if one.holds { other } else { one }
            }
            Self::Kubelet(pointer, flag, rule) => {
                let value = machine.kubelet(pointer, flag);
                valued(
                    &dotted(pointer),
                    rule,
                    value.as_ref().map(Option::as_deref).map_err(Clone::clone),
                )
            }
            Self::Proxy(pointer, rule) => {
                let value = machine.proxy(pointer);
                valued(
                    &dotted(pointer),
                    rule,
                    value.as_ref().map(Option::as_deref).map_err(Clone::clone),
                )
            }
            Self::Mode(files, most) => files.look(
                machine,
                &format!("chmod {most:04o}"),
                |mode, _| mode & 0o7777 & !most == 0,
                |mode, _| format!("mode {:04o}", mode & 0o7777),
            ),
            Self::OwnedByRoot(files) => files.look(
                machine,
                "chown root:root",
                |_, owner| owner == ROOT,
                |_, (user, group)| format!("owner {user}:{group}"),
            ),
            Self::OwnedByAccount(folder, program) => {
                let account = machine.account(program);
                Files::One(folder).look(
                    machine,
                    "chown -R etcd:etcd",
                    |_, (user, _)| account == Some(user) && user != ROOT.0,
                    |_, (user, group)| format!("owner {user}:{group}"),
                )
            }
            Self::OpenPaths => api_config::open_paths(machine),
            Self::Encryption => api_config::encryption(machine),
            Self::CertifiedName => certified_name(machine),
            Self::PullPolicies => pull_policies(machine),
        }
    }

    /// Says what to do if it does not hold.
    pub(super) fn remedy(self, finding: &Finding) -> String {
        if let Some(remedy) = &finding.remedy {
            return remedy.clone();
        }
        match self {
            Self::Flag(program, flag, rule) => {
                let file = program.manifest();
                format!("in /{file}, {}", rule.remedy(&format!("--{flag}")))
            }
            Self::Flags(program, [one, other]) => {
                format!("in /{}, set --{one} and --{other}", program.manifest())
            }
            Self::Kubelet(pointer, ..) | Self::Proxy(pointer, ..) => {
                let (rule, place) = match self {
                    Self::Proxy(_, rule) => (rule, "the ConfigMap kube-system/kube-proxy"),
                    Self::Kubelet(_, _, rule) => (
                        rule,
                        "a file of /etc/kubernetes/kubelet.conf.d that ends with .conf",
                    ),
                    _ => (Rule::Set, ""),
                };
                format!("in {place}, {}", rule.remedy(&dotted(pointer)))
            }
            Self::Mode(files, most) => format!("`chmod {most:04o} {}`", files.what()),
            Self::OwnedByRoot(files) => format!("`chown -R root:root {}`", files.what()),
            Self::OwnedByAccount(folder, _) => format!("`chown -R etcd:etcd /{folder}`"),
            Self::OpenPaths => api_config::remedy_of_paths(),
            Self::Encryption => api_config::remedy_of_encryption(),
            Self::CertifiedName => format!(
                "in /etc/kubernetes/kubelet.env, set --hostname-override to the name in {SERVING_CERTIFICATE}"
            ),
            Self::PullPolicies => {
                "in each manifest of /etc/kubernetes/manifests, set imagePullPolicy to IfNotPresent"
                    .into()
            }
        }
    }
}

/// Writes a pointer as people do: `authentication.anonymous.enabled`.
fn dotted(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace('/', ".")
}

fn certified_name(machine: &Machine) -> Finding {
    let name = match machine.kubelet("/hostnameOverride", "hostname-override") {
        Ok(name) => name,
        Err(found) => return Finding::new(false, found),
    };
    let Some(certified) = machine.certified_name() else {
        return Finding::new(false, format!("no name of a node in {SERVING_CERTIFICATE}"));
    };
    let holds = name.as_deref() == Some(certified);
    let name = name.as_deref().unwrap_or("not set");
    let found = format!("hostnameOverride is {name}, the certificate is for {certified}");
    Finding::new(holds, found)
}

fn pull_policies(machine: &Machine) -> Finding {
    for program in Program::ALL {
        let policy = match machine.pull_policy(program) {
            Ok(policy) => policy,
            Err(found) => return Finding::new(false, found),
        };
        if !matches!(policy, Some("IfNotPresent" | "Never")) {
            let (policy, file) = (policy.unwrap_or("not set"), program.manifest());
            return Finding::new(false, format!("/{file}: imagePullPolicy is {policy}"));
        }
    }
    Finding::new(true, "imagePullPolicy is Always in no manifest")
}

fn valued(name: &str, rule: Rule, value: Result<Option<&str>, String>) -> Finding {
    match value {
        Err(found) => Finding::new(false, found),
        Ok(value) => Finding::new(
            rule.fits(value),
            match value {
                Some(value) => format!("{name} is {value}"),
                None => format!("{name} is not set"),
            },
        ),
    }
}
