//! Looking at places: where a path really lies once links are followed, and what is there.
//!
//! Links are followed as they will be on the target: an absolute one begins at its root, and `..`
//! ends there. What does not exist yet may be on the way, because it can still be made.

use std::collections::{HashMap, VecDeque};

use bootlace_model::fault::Fault;
use bootlace_model::ids::Digest;
use bootlace_model::node::Owner;
use bootlace_model::path::TargetPath;
use bootlace_model::survey::{Places, Seen, Survey};

use crate::folders::{Folders, LARGEST_FILE};
use crate::port::{Host, HostError, HostResult, Stat};

/// How many links may be on one way.
const MOST_LINKS: usize = 40;

/// Looks at places, changing nothing.
pub(crate) fn survey(host: &dyn Host, places: &Places) -> Result<Survey, Fault> {
    let mut surveyor = Surveyor::new(host);
    for path in &places.paths {
        surveyor.visit(path)?;
    }
    for path in &places.contents {
        surveyor.read(path)?;
    }
    for (path, target) in &places.links {
        surveyor.lead(path, target)?;
    }
    for (one, other) in &places.pairs {
        if surveyor.are_same(one, other)? {
            surveyor.found.same.push(one.clone());
        }
    }
    Ok(surveyor.found)
}

/// Whether the last part of a path is followed if it is a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Last {
    Followed,
    Itself,
}

/// Why a path leads nowhere.
#[derive(Debug)]
pub(crate) enum Lost {
    /// In words, for whoever wrote the path.
    Because(String),
    Fault(Fault),
}

impl From<HostError> for Lost {
    fn from(error: HostError) -> Self {
        Self::Fault(error.into())
    }
}

/// Remembers what it has looked at.
pub(crate) struct Surveyor<'a> {
    folders: Folders<'a>,
    seen: HashMap<TargetPath, Option<Seen>>,
    pub(crate) found: Survey,
}

impl<'a> Surveyor<'a> {
    pub(crate) fn new(host: &'a dyn Host) -> Self {
        Self {
            folders: Folders::new(host),
            seen: HashMap::new(),
            found: Survey {
                identity: host.identity(),
                moved: [].into(),
                nodes: [].into(),
                owners: [].into(),
                same: vec![],
                lost: [].into(),
            },
        }
    }

    /// Notes where a path really lies, and what is there and above it.
    pub(crate) fn visit(&mut self, path: &TargetPath) -> Result<Option<TargetPath>, Fault> {
        let real = match self.resolve(path, Last::Itself) {
            Ok(real) => real,
            Err(Lost::Because(why)) => {
                self.found.lost.insert(path.clone(), why);
                return Ok(None);
            }
            Err(Lost::Fault(fault)) => return Err(fault),
        };
        self.note(&real)?;
        if real != *path {
            self.found.moved.insert(path.clone(), real.clone());
        }
        Ok(Some(real))
    }

    /// Notes where a path really lies, be it a link itself; what leads nowhere lies where it is named.
    pub(crate) fn follow(&mut self, path: &TargetPath) -> Result<(), Fault> {
        match self.resolve(path, Last::Followed) {
            Ok(real) if real != *path => {
                self.found.moved.insert(path.clone(), real);
                Ok(())
            }
            Ok(_) | Err(Lost::Because(_)) => Ok(()),
            Err(Lost::Fault(fault)) => Err(fault),
        }
    }

    /// Notes what a file holds, if one is there.
    fn read(&mut self, path: &TargetPath) -> Result<(), Fault> {
        let Some(real) = self.visit(path)? else {
            return Ok(());
        };
        if let Some(Seen::File { digest, .. }) = self.found.nodes.get_mut(&real)
            && let Some(content) = self.folders.read(&real, LARGEST_FILE)?
        {
            *digest = Some(Digest::of(&content));
        }
        Ok(())
    }

    /// Notes who owns what a link will lead to.
    fn lead(&mut self, path: &TargetPath, target: &str) -> Result<(), Fault> {
        let Some(real) = self.visit(path)? else {
            return Ok(());
        };
        let from = match real.parent() {
            Some(above) if !target.starts_with('/') => above,
            _ => TargetPath::root(),
        };
        let parts = target.split('/').map(ToOwned::to_owned).collect();
        let led = match self.walk(from, parts, Last::Followed) {
            Ok(led) => led,
            // Whatever is wrong with where it leads, the link itself can be made.
            Err(Lost::Because(_)) => return Ok(()),
            Err(Lost::Fault(fault)) => return Err(fault),
        };
        if let Some(owner) = self.look(&led)?.as_ref().and_then(Seen::owner) {
            self.found.owners.insert(path.clone(), owner);
        }
        Ok(())
    }

    fn are_same(&mut self, one: &TargetPath, other: &TargetPath) -> Result<bool, Fault> {
        let (Some(one), Some(other)) = (self.visit(one)?, self.visit(other)?) else {
            return Ok(false);
        };
        let mut identities = Vec::new();
        for path in [one, other] {
            // What is named below a file is not there, and the file cannot be opened as its folder.
            if self.look(&path)?.is_none() {
                return Ok(false);
            }
            let dir = self.folders.holding(&path)?;
            let identity = dir.map(|dir| dir.identity(path.name())).transpose()?;
            identities.push(identity.flatten());
        }
        Ok(identities[0].is_some() && identities[0] == identities[1])
    }

    /// Follows the links on the way to a path.
    pub(crate) fn resolve(&mut self, path: &TargetPath, last: Last) -> Result<TargetPath, Lost> {
        let parts = path.parts().map(ToOwned::to_owned).collect();
        self.walk(TargetPath::root(), parts, last)
    }

    fn walk(
        &mut self,
        from: TargetPath,
        mut parts: VecDeque<String>,
        last: Last,
    ) -> Result<TargetPath, Lost> {
        let mut real = from;
        let mut links = 0;
        let mut strangers = Vec::new();
        let mut blocked: Option<String> = None;
        while let Some(part) = parts.pop_front() {
            match part.as_str() {
                "" | "." => continue,
                ".." => {
                    real = real.parent().unwrap_or_else(TargetPath::root);
                    continue;
                }
                _ => {}
            }
            let here = real
                .join(&part)
                .map_err(|bad| Lost::Because(bad.to_string()))?;
            let is_last = parts.iter().all(String::is_empty);
            if is_last && last == Last::Itself {
                self.must_be_of(&strangers, &real)?;
                return Ok(here);
            }
            if let Some(why) = blocked {
                return Err(Lost::Because(why));
            }
            match self.look(&here)? {
                Some(Seen::Link { target, owner }) => {
                    links += 1;
                    let owners = [Some(owner), self.owner_of(&real)?];
                    let uids = owners.into_iter().flatten().map(|owner| owner.uid);
                    let uids = uids.filter(|uid| *uid != 0 && *uid != self.found.identity.uid);
                    strangers.extend(uids.map(|uid| (uid, here.clone())));
                    if links > MOST_LINKS {
                        let why = format!("more than {MOST_LINKS} links are on the way at {here}");
                        return Err(Lost::Because(why));
                    }
                    if target.starts_with('/') {
                        real = TargetPath::root();
                    }
                    for part in target.rsplit('/') {
                        parts.push_front(part.to_owned());
                    }
                }
                None | Some(Seen::Directory { .. }) => real = here,
                Some(other) => {
                    // Something may be put in its place before what is named below it is made.
                    blocked = Some(format!("{here} is {}, not a folder", other.noun()));
                    real = here;
                }
            }
        }
        self.must_be_of(&strangers, &real)?;
        Ok(real)
    }

    /// Refuses where links of others lead, if it is not theirs: they could lead root anywhere.
    fn must_be_of(
        &mut self,
        strangers: &[(u32, TargetPath)],
        folder: &TargetPath,
    ) -> Result<(), Lost> {
        if strangers.is_empty() {
            return Ok(());
        }
        let owner = self.owner_of(folder)?.map(|owner| owner.uid);
        let foreign = strangers.iter().find(|(uid, _)| Some(*uid) != owner);
        foreign.map_or(Ok(()), |(uid, link)| {
            let why =
                format!("the link {link} of user {uid} leads to {folder}, which is not theirs");
            Err(Lost::Because(why))
        })
    }

    /// Tells who owns a folder, or if it does not exist yet, the one in which it is made.
    fn owner_of(&mut self, folder: &TargetPath) -> HostResult<Option<Owner>> {
        let mut next = Some(folder.clone());
        while let Some(path) = next.filter(|path| *path != TargetPath::root()) {
            if let Some(seen) = self.look(&path)? {
                return Ok(seen.owner());
            }
            next = path.parent();
        }
        Ok(None)
    }

    /// Notes what is at a place and above it.
    fn note(&mut self, real: &TargetPath) -> Result<(), Fault> {
        let mut next = Some(real.clone());
        while let Some(path) = next {
            if self.found.nodes.contains_key(&path) {
                break;
            }
            next = path.parent();
            if let Some(seen) = self.look(&path)? {
                self.found.nodes.insert(path, seen);
            }
        }
        Ok(())
    }

    /// Tells what is at a place by itself.
    pub(crate) fn look(&mut self, path: &TargetPath) -> HostResult<Option<Seen>> {
        if let Some(known) = self.seen.get(path) {
            return Ok(known.clone());
        }
        let seen = match self.folders.holding(path)? {
            None => None,
            Some(dir) => dir.stat(path.name())?.map(seen),
        };
        self.seen.insert(path.clone(), seen.clone());
        Ok(seen)
    }
}

fn seen(stat: Stat) -> Seen {
    match stat {
        Stat::File { mode, owner, .. } => Seen::File {
            mode,
            owner,
            digest: None,
        },
        Stat::Directory { mode, owner } => Seen::Directory { mode, owner },
        Stat::Link { target, owner } => Seen::Link { target, owner },
        Stat::Special { kind, owner, .. } => Seen::Special { kind, owner },
        Stat::Other(what) => Seen::Other { what },
    }
}
