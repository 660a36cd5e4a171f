//! Effects in words and as the line a person would type.

use super::{AlreadyRan, Body, CommandUndo, Effect, Issuer, Part, UnitState, Via};
use crate::node::Attributes;
use crate::shell;
use crate::symptom::Symptom;

impl Effect {
    /// Tells in a few words what the effect does to its target.
    pub fn detail(&self) -> String {
        match self {
            Self::PutFile(put) => {
                let size = match &put.body {
                    Body::Literal(content) => format!("{} bytes", content.length()),
                    Body::Compose(_) => {
                        format!("content known after {}", put.body.source_names().join(", "))
                    }
                };
                format!(
                    "{size}, mode {}{}",
                    shell::mode(put.attributes.mode),
                    owner(&put.attributes)
                )
            }
            Self::MakeDirectory(make) => {
                format!(
                    "mode {}{}",
                    shell::mode(make.attributes.mode),
                    owner(&make.attributes)
                )
            }
            Self::MakeLink(link) => {
                let attributes = Attributes {
                    owner: link.owner,
                    ..Attributes::default()
                };
                format!("to {}{}", link.target, owner(&attributes))
            }
            Self::SetAttributes(set) => set.detail(),
            Self::AppendFile(append) => append.detail(),
            Self::MakeHardLink(link) => format!("another name of {}", link.existing),
            Self::DropPath(drop) => match &drop.forget {
                None => "kept for undo".into(),
                Some(why) => format!("not kept: {why}"),
            },
            Self::MakeKey(key) => format!(
                "{}, mode 0600, content known after it is made",
                key.algorithm
            ),
            Self::MakeToken(token) => format!(
                "valid for {} h, mode 0600, content known after it is made",
                token.valid_for.as_secs().div_ceil(3600)
            ),
            Self::IssueCertificate(issue) => {
                let by = Issuer::shown(issue.issuer.as_ref(), &issue.path);
                format!(
                    "{}, signed by {by}, {} days",
                    issue.request.subject,
                    issue.request.days()
                )
            }
            Self::SetUnit(set) => {
                let state = match set.state {
                    UnitState::Enabled => "enabled",
                    UnitState::Disabled => "disabled",
                    UnitState::Masked => "masked",
                };
                let via = match set.via {
                    Via::Links => "links",
                    Via::Preset => "a preset",
                };
                format!("{state}, by {via}")
            }
            Self::RunCommand(run) => {
                let again = match &run.already {
                    AlreadyRan::When(claim) => format!("not again once {}", claim.what()),
                    AlreadyRan::While(claim) => format!("not again while {}", claim.what()),
                    AlreadyRan::Repeatable => "may be run again".into(),
                };
                format!("within {} s, {again}", run.within.as_secs())
            }
            Self::Fetch(fetch) => format!("{} from {}", fetch.digest, fetch.url),
            Self::StartUnit(start) => match &start.anew {
                Some(why) => format!("restarted: {why}"),
                None => format!("started within {} s", start.within.as_secs()),
            },
            Self::ImportImages(import) => count(import.images.len(), "image"),
            Self::ApplyObjects(apply) => match apply.objects.len() {
                1 => "1 object".into(),
                several => format!("{several} objects, in the order that they need"),
            },
            Self::Await(wait) => {
                let signs: Vec<String> = wait.symptoms.iter().map(Symptom::what).collect();
                let unless = match signs.as_slice() {
                    [] => String::new(),
                    some => format!(", at once when {}", some.join(" or ")),
                };
                format!("given up after {} s{unless}", wait.within.as_secs())
            }
        }
    }

    /// Returns the line that a person would type to get the same.
    pub fn shell(&self) -> String {
        match self {
            Self::PutFile(put) => {
                let install = install_line(&put.attributes, put.path.as_str());
                match &put.body {
                    Body::Literal(content) => {
                        format!("{install} # {} bytes from stdin", content.length())
                    }
                    Body::Compose(parts) => format!("{} | {install}", compose_line(parts)),
                }
            }
            Self::MakeDirectory(make) => {
                let mode = shell::mode(make.attributes.mode);
                shell::line(["install", "-d", "-m", &mode, make.path.as_str()])
            }
            Self::MakeLink(link) => shell::line(["ln", "-sfn", &link.target, link.path.as_str()]),
            Self::SetAttributes(set) => set.shell(),
            Self::AppendFile(append) => append.shell(),
            Self::MakeHardLink(link) => {
                shell::line(["ln", "-PT", link.existing.as_str(), link.path.as_str()])
            }
            Self::DropPath(drop) => shell::line(["rm", "-rf", drop.path.as_str()]),
            Self::MakeKey(key) => format!(
                "(umask 077; openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out {})",
                shell::quote(key.path.as_str())
            ),
            Self::MakeToken(token) => token_line(token),
            Self::IssueCertificate(issue) => certificate_line(issue),
            Self::SetUnit(set) => {
                let unit = set.unit.as_str();
                match (set.via, set.state) {
                    (Via::Links, UnitState::Enabled) => shell::line(["systemctl", "enable", unit]),
                    (Via::Links, UnitState::Disabled) => {
                        shell::line(["systemctl", "disable", unit])
                    }
                    (_, UnitState::Masked) => shell::line(["systemctl", "mask", unit]),
                    (Via::Preset, state) => {
                        let verb = if state == UnitState::Enabled {
                            "enable"
                        } else {
                            "disable"
                        };
                        format!(
                            "echo {verb} {unit} >> /etc/systemd/system-preset/20-bootlace.preset"
                        )
                    }
                }
            }
            Self::RunCommand(run) => {
                let words = run.shown();
                let env = run
                    .env
                    .iter()
                    .map(|(name, value)| format!("{name}={} ", shell::quote(value)));
                let line = format!("{}{}", env.collect::<String>(), shell::line(words));
                match &run.directory {
                    Some(directory) => {
                        format!("(cd {} && {line})", shell::quote(directory.as_str()))
                    }
                    None => line,
                }
            }
            Self::Fetch(fetch) => {
                let url = shell::line(["curl", "-fL", "-o", fetch.path.as_str(), &fetch.url]);
                let sum = format!("{}  {}", fetch.digest.hex(), fetch.path);
                format!("{url} && echo {} | sha256sum -c", shell::quote(&sum))
            }
            Self::StartUnit(start) => {
                let verb = match &start.anew {
                    None => "start",
                    Some(_) => "restart",
                };
                let line = shell::line(["systemctl", verb, start.unit.as_str()]);
                format!("systemctl daemon-reload && {line}")
            }
            Self::ImportImages(import) => {
                let archive = import.archive.as_str();
                shell::line(["ctr", "--namespace", "k8s.io", "images", "import", archive])
            }
            Self::ApplyObjects(apply) => {
                let (access, manager) = (apply.kubeconfig.as_str(), "--field-manager=bootlace");
                let words = ["kubectl", "--kubeconfig", access, "apply", "--server-side"];
                let line = shell::line(words.into_iter().chain([manager, "-f", "-"]));
                let objects = count(apply.objects.len(), "object");
                format!("{line} # {objects} from stdin")
            }
            Self::Await(wait) => format!("until {}; do sleep 0.1; done", wait.claim.shell()),
        }
    }

    /// Tells why the effect cannot be taken back, if it cannot.
    pub fn no_inverse(&self) -> Option<&str> {
        match self {
            Self::DropPath(drop) => drop.forget.as_deref(),
            Self::RunCommand(run) => match &run.undo {
                CommandUndo::Never { why } => Some(why),
                CommandUndo::Run(_) | CommandUndo::Products => None,
            },
            _ => None,
        }
    }
}

fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        several => format!("{several} {noun}s"),
    }
}

pub(super) fn owner(attributes: &Attributes) -> String {
    let owner = attributes
        .owner
        .map(|owner| format!(", owner {}:{}", owner.uid, owner.gid));
    let labels = attributes.xattrs.0.keys().map(|name| format!(", {name}"));
    owner.into_iter().chain(labels).collect()
}

fn install_line(attributes: &Attributes, path: &str) -> String {
    let mode = shell::mode(attributes.mode);
    let mut words = vec!["install".to_owned(), "-D".into(), "-m".into(), mode];
    if let Some(owner) = attributes.owner {
        words.extend([
            "-o".into(),
            owner.uid.to_string(),
            "-g".into(),
            owner.gid.to_string(),
        ]);
    }
    words.extend(["/dev/stdin".into(), path.into()]);
    shell::line(words.iter().map(String::as_str))
}

fn compose_line(parts: &[Part]) -> String {
    let commands = parts.iter().map(|part| match part {
        Part::Text(text) => format!("printf %s {}", shell::quote(text)),
        Part::FileOf(path) => shell::line(["cat", path.as_str()]),
        Part::Base64Of(path) => shell::line(["base64", "-w0", path.as_str()]),
        Part::PublicKeyOf(path) => {
            shell::line(["openssl", "pkey", "-pubout", "-in", path.as_str()])
        }
        Part::HashOf(path) => {
            let sum = shell::line(["sha256sum", path.as_str()]);
            format!("{sum} | cut -c 1-64 | tr -d '\\n'")
        }
        Part::SymmetricKeyOf(path) => {
            let sum = shell::line(["openssl", "dgst", "-sha256", "-binary", path.as_str()]);
            format!("{sum} | base64 -w0")
        }
        Part::ExpiryOf(path) => {
            let time = r"s/^(....)(..)(..)T(..)(..)(..)Z.*/\1-\2-\3T\4:\5:\6Z/";
            shell::line(["sed", "-E", time, path.as_str()])
        }
    });
    format!("({})", commands.collect::<Vec<_>>().join("; "))
}

fn token_line(token: &super::MakeToken) -> String {
    let until = format!("+{} seconds", token.valid_for.as_secs());
    format!(
        "(umask 077; printf %s.%s \"$(date -u -d {} +%Y%m%dT%H%M%SZ)\" \"$(openssl rand -hex 32)\" > {})",
        shell::quote(&until),
        shell::quote(token.path.as_str())
    )
}

fn certificate_line(issue: &super::IssueCertificate) -> String {
    let request = &issue.request;
    let subject = request.subject.slashed();
    let days = request.days().to_string();
    let mut words = vec![
        "openssl",
        "req",
        "-x509",
        "-new",
        "-key",
        issue.key.as_str(),
    ];
    words.extend(["-subj", &subject, "-days", &days]);
    if let Some(issuer) = &issue.issuer {
        words.extend([
            "-CA",
            issuer.certificate.as_str(),
            "-CAkey",
            issuer.key.as_str(),
        ]);
    }
    let extensions = request.extensions();
    for extension in &extensions {
        words.extend(["-addext", extension]);
    }
    words.extend(["-out", issue.path.as_str()]);
    shell::line(words)
}
