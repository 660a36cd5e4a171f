//! Answering probes, read-only.

use std::collections::BTreeMap;

use bootlace_model::content::Content;
use bootlace_model::effect::{Body, Effect};
use bootlace_model::fact::{Ask, Facts};
use bootlace_model::fault::Fault;
use bootlace_model::ids::StepId;
use bootlace_model::node::Attributes;
use bootlace_model::path::TargetPath;
use bootlace_model::probe::{Answer, FileTree, Probe, TreeFile};

use crate::folders::{Folders, LARGEST_FILE};
use crate::port::{Command, Host, Stat};

/// Asks all of a list.
pub fn ask(host: &dyn Host, asks: &[Ask]) -> Result<Facts, Fault> {
    let mut facts = Facts::default();
    for ask in asks {
        facts.set(ask.fact, answer(host, &ask.probe)?);
    }
    Ok(facts)
}

/// Answers a probe from the world as it is.
pub fn answer(host: &dyn Host, probe: &Probe) -> Result<Answer, Fault> {
    let folders = Folders::new(host);
    Ok(match probe {
        Probe::Node(path) => Answer::Node(folders.look(path)?),
        Probe::ReadFile { path, limit } => Answer::Content(folders.read(path, *limit)?),
        Probe::ReadTree { path, limit } => Answer::Tree(tree(&folders, path, *limit)?),
        Probe::ReadJson { path, pointer } => match folders.read(path, LARGEST_FILE)? {
            None => Answer::Json(serde_json::Value::Null),
            Some(content) => json(path, &content, pointer)?,
        },
        Probe::Ask { argv, within } => {
            let command = Command {
                argv,
                env: vec![],
                directory: None,
                within: *within,
                keep: 64 << 10,
                input: None,
            };
            let output = host.run(&command)?;
            let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
            Answer::Output {
                code: output.code,
                stdout,
            }
        }
        Probe::HostName => Answer::Json(host.host_name()?.into()),
        Probe::Survey(places) => worded(&crate::survey::survey(host, places)?)?,
        Probe::Accounts {
            users,
            groups,
            in_homes,
            beside,
        } => {
            let in_homes = in_homes.as_deref();
            let found = crate::accounts::accounts(host, users, groups, in_homes, beside)?;
            worded(&found)?
        }
        Probe::UnitFiles(units) => {
            let mut states = BTreeMap::new();
            for unit in units {
                states.insert(unit, crate::effects::unit_file_state(&folders, unit)?);
            }
            worded(&states)?
        }
        Probe::Now => Answer::Json(host.now().to_string().into()),
        Probe::IsLive => Answer::Json(host.is_live().into()),
        Probe::Known(value) => Answer::Json(value.clone()),
    })
}

/// Puts an answer with words of its own into the journal's form.
fn worded(answer: &impl serde::Serialize) -> Result<Answer, Fault> {
    let value = serde_json::to_value(answer);
    let value = value.map_err(|error| Fault::internal(format!("an answer has no form: {error}")));
    Ok(Answer::Json(value?))
}

fn json(path: &TargetPath, content: &[u8], pointer: &str) -> Result<Answer, Fault> {
    let value: serde_json::Value = serde_json::from_slice(content).map_err(|error| {
        Fault::bad_input(format!("{path} is not JSON: {error}")).in_file(path.as_str())
    })?;
    Ok(Answer::Json(
        value.pointer(pointer).cloned().unwrap_or_default(),
    ))
}

fn tree(folders: &Folders<'_>, root: &TargetPath, limit: u64) -> Result<FileTree, Fault> {
    let mut found = FileTree::default();
    let mut left = limit;
    let mut open = vec![root.clone()];
    while let Some(path) = open.pop() {
        let Some(dir) = folders.open(&path)? else {
            continue;
        };
        found.exists = true;
        for name in dir.list()? {
            let path = path
                .join(&name)
                .map_err(|bad| Fault::refused(bad.to_string()))?;
            let relative = path.below(root).unwrap_or_default().to_owned();
            match dir.stat(&name)? {
                Some(Stat::File { mode, .. }) => {
                    let content = dir.read(&name, left)?;
                    left -= content.len() as u64;
                    found.files.push(TreeFile {
                        relative,
                        content,
                        is_private: Attributes::mode(mode).is_private(),
                    });
                }
                Some(Stat::Directory { .. }) => open.push(path),
                Some(Stat::Link { target, .. }) => {
                    found.odd.push((relative, format!("a link to {target}")));
                }
                Some(Stat::Special { kind, .. }) => found.odd.push((relative, kind.noun().into())),
                Some(Stat::Other(what)) => found.odd.push((relative, what)),
                None => {}
            }
        }
    }
    found.files.sort_by(|a, b| a.relative.cmp(&b.relative));
    found.odd.sort();
    Ok(found)
}

/// What earlier steps of a plan would have written by now.
///
/// With it a plan of many steps on an empty root shows what a run performs: a later step reads
/// what an earlier one would write, and is told so where that is known only after it ran.
#[derive(Debug, Default)]
pub(crate) struct Foreseen {
    files: BTreeMap<TargetPath, (StepId, Foresight)>,
    /// Folders of which nobody knows yet what a step will put there.
    open: Vec<(StepId, TargetPath)>,
}

/// What is known of a file that does not exist yet.
#[derive(Debug)]
struct Foresight {
    /// Its content, if it is known.
    content: Option<Content>,
    /// Whether nobody but its owner will be allowed to read it.
    is_private: bool,
}

impl Foreseen {
    /// Takes in what a step would do.
    pub(crate) fn expect(&mut self, step: &StepId, effects: &[&Effect]) {
        for effect in effects {
            if matches!(effect, Effect::MakeDirectory(_)) {
                continue;
            }
            let (content, is_private) = match effect {
                Effect::PutFile(put) => match &put.body {
                    Body::Literal(content) => (Some(content.clone()), put.attributes.is_private()),
                    Body::Compose(_) => (None, put.attributes.is_private()),
                },
                _ => (None, false),
            };
            if let Some(path) = effect.path() {
                let foresight = Foresight {
                    content,
                    is_private,
                };
                self.files.insert(path.clone(), (step.clone(), foresight));
            }
        }
    }

    /// Takes in that what a step will put into folders is not known yet.
    pub(crate) fn leave_open(&mut self, step: &StepId, folders: &[TargetPath]) {
        let open = folders.iter().map(|folder| (step.clone(), folder.clone()));
        self.open.extend(open);
    }

    /// Finds the step on which the answer about a path depends, if it is open.
    fn open_for(&self, probe: &Probe, asked: &TargetPath) -> Option<&StepId> {
        let whole = matches!(probe, Probe::ReadTree { .. });
        let concerns = |folder: &TargetPath| {
            asked.below(folder).is_some() || whole && folder.below(asked).is_some()
        };
        let mut open = self.open.iter();
        open.find(|(_, folder)| concerns(folder))
            .map(|(step, _)| step)
    }

    /// Answers a probe as if the earlier steps had run.
    pub(crate) fn answer(&self, host: &dyn Host, probe: &Probe) -> Result<Answer, Fault> {
        let Some(asked) = probe.path() else {
            return answer(host, probe);
        };
        if let Some(step) = self.open_for(probe, asked) {
            return Ok(Answer::KnownAfter(step.clone()));
        }
        let exact = self.files.get(asked);
        let exact = exact.map(|(step, foresight)| (step, &foresight.content));
        match (probe, exact) {
            (Probe::ReadFile { .. }, Some((_, Some(content)))) => {
                Ok(Answer::Content(Some(content.read()?.to_vec())))
            }
            (Probe::ReadJson { pointer, path }, Some((_, Some(content)))) => {
                json(path, &content.read()?, pointer)
            }
            (_, Some((step, _))) => Ok(Answer::KnownAfter(step.clone())),
            (Probe::ReadTree { path, .. }, None) => self.tree(host, probe, path),
            (_, None) => answer(host, probe),
        }
    }

    fn tree(&self, host: &dyn Host, probe: &Probe, root: &TargetPath) -> Result<Answer, Fault> {
        let Answer::Tree(mut tree) = answer(host, probe)? else {
            return Err(Fault::internal(
                "a tree was asked for and something else answered",
            ));
        };
        for (path, (step, foresight)) in &self.files {
            let Some(relative) = path.below(root).filter(|relative| !relative.is_empty()) else {
                continue;
            };
            let Some(content) = &foresight.content else {
                return Ok(Answer::KnownAfter(step.clone()));
            };
            tree.exists = true;
            tree.files.retain(|file| file.relative != relative);
            tree.files.push(TreeFile {
                relative: relative.to_owned(),
                content: content.read()?.to_vec(),
                is_private: foresight.is_private,
            });
        }
        tree.files.sort_by(|a, b| a.relative.cmp(&b.relative));
        Ok(Answer::Tree(tree))
    }
}
