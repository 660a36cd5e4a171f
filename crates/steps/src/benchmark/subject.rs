//! What a check looks at, and what it finds.

use bootlace_model::path::TargetPath;

use super::machine::{Machine, Program};
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
    /// A folder that belongs to an account of its own.
    OwnedByOther(&'static str),
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
}

/// The folder of keys and certificates.
const PKI: &str = "etc/kubernetes/pki";

/// Who root is.
const ROOT: (u32, u32) = (0, 0);

impl Files {
    fn paths(self) -> Vec<TargetPath> {
        let pki = || {
            let files = machine_files().map(|file| file.machine);
            files.filter(|path| path.starts_with(PKI))
        };
        let ends = |path: &&str, key: bool| (ending(path) == "key") == key;
        let paths: Vec<&'static str> = match self {
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
        paths.into_iter().map(machine).collect()
    }

    fn what(self) -> String {
        match self {
            Self::One(path) => format!("/{path}"),
            Self::Pki => format!("/{PKI}"),
            Self::Keys => format!("/{PKI}/*.key /{PKI}/etcd/*.key"),
            Self::Certificates => format!("/{PKI}/*.crt /{PKI}/etcd/*.crt"),
        }
    }

    /// Looks at each file; the first that does not fit is found, or what the first one is like.
    fn look(
        self,
        machine: &Machine,
        fits: impl Fn(u32, (u32, u32)) -> bool,
        shown: impl Fn(u32, (u32, u32)) -> String,
    ) -> Finding {
        let mut good = None;
        for path in self.paths() {
            let Some((mode, owner)) = machine.node(&path) else {
                let found = format!("{path} does not exist");
                return Finding {
                    holds: false,
                    found,
                };
            };
            let told = format!("{path}: {}", shown(mode, owner));
            if !fits(mode, owner) {
                return Finding {
                    holds: false,
                    found: told,
                };
            }
            good.get_or_insert(told);
        }
        let holds = good.is_some();
        let found = good.unwrap_or_default();
        Finding { holds, found }
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
                Finding {
                    holds: one.holds && other.holds,
                    found: if one.holds { other.found } else { one.found },
                }
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
                |mode, _| mode & 0o7777 & !most == 0,
                |mode, _| format!("mode {:04o}", mode & 0o7777),
            ),
            Self::OwnedByRoot(files) => files.look(
                machine,
                |_, owner| owner == ROOT,
                |_, (user, group)| format!("owner {user}:{group}"),
            ),
            Self::OwnedByOther(folder) => Files::One(folder).look(
                machine,
                |_, owner| owner != ROOT,
                |_, (user, group)| format!("owner {user}:{group}"),
            ),
        }
    }

    /// Says what to do if it does not hold.
    pub(super) fn remedy(self) -> String {
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
            Self::OwnedByOther(folder) => format!("`chown -R etcd:etcd /{folder}`"),
        }
    }
}

/// Writes a pointer as people do: `authentication.anonymous.enabled`.
fn dotted(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace('/', ".")
}

fn valued(name: &str, rule: Rule, value: Result<Option<&str>, String>) -> Finding {
    match value {
        Err(found) => Finding {
            holds: false,
            found,
        },
        Ok(value) => Finding {
            holds: rule.fits(value),
            found: match value {
                Some(value) => format!("{name} is {value}"),
                None => format!("{name} is not set"),
            },
        },
    }
}
