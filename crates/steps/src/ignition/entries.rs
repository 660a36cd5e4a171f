//! Folders, files and links of a config, worked off in Ignition's order.
//!
//! Shallow paths come before deep ones and hard links last. Where a path lies is decided before the
//! first entry is made, with the links that were there then.

use bootlace_model::effect::{
    AppendFile, Body, DropPath, Effect, MakeDirectory, MakeHardLink, MakeLink, PutFile,
    SetAttributes,
};
use bootlace_model::node::{Attributes, Owner};
use bootlace_model::path::TargetPath;
use bootlace_model::provision::{Directory, Entry, File, Holds, Link, Provision};
use bootlace_model::step::PlanError;
use bootlace_model::survey::{Accounts, Places, Seen, Survey};

use super::accounts::Names;
use super::findings::Findings;
use super::record;
use super::tree::{Tree, after_chown, folder_mode};

/// The mode of a new file if the config says nothing.
const FILE_MODE: u32 = 0o644;

/// The longest target, in bytes, that a link can have.
const LONGEST: usize = 4095;

/// Lists what has to be known of the target.
pub(super) fn places(wishes: &Provision, state: &TargetPath) -> Places {
    let mut places = Places::default();
    let path = |text: &str| TargetPath::new(text).ok();
    places.paths.extend(
        wishes
            .directories
            .iter()
            .filter_map(|it| path(&it.entry.path)),
    );
    for file in &wishes.files {
        let Some(path) = path(&file.entry.path) else {
            continue;
        };
        if matches!(file.holds, Holds::More(_)) {
            places.contents.push(path);
        } else {
            places.paths.push(path);
        }
    }
    for link in &wishes.links {
        let Some(path) = path(&link.entry.path) else {
            continue;
        };
        if !link.hard {
            places.links.push((path, link.target.clone()));
        } else if let Some(existing) = hard_target(&link.target) {
            places.pairs.push((path, existing));
        }
    }
    if places != Places::default() {
        places.paths.push(state.clone());
    }
    places
}

/// Reads what a hard link leads to; a relative path begins at the root.
fn hard_target(target: &str) -> Option<TargetPath> {
    TargetPath::new(&format!("/{}", cleaned(target))).ok()
}

/// Simplifies a path by its text alone.
fn cleaned(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if path.starts_with('/') || parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// Decides what is done for all entries.
pub(super) fn decide(
    wishes: &Provision,
    survey: &Survey,
    accounts: &Accounts,
    state: &TargetPath,
) -> Result<Vec<Effect>, PlanError> {
    let mut work = Work {
        state: survey.real(state),
        tree: Tree::new(survey),
        names: Names::new(wishes, accounts),
        findings: Findings::default(),
        drops: vec![],
        // There may be thousands, and a list that grows is in memory twice.
        effects: Vec::with_capacity(
            wishes.directories.len() + wishes.files.len() + wishes.links.len(),
        ),
    };
    for item in work.ordered(wishes) {
        work.item(&item);
    }
    work.findings.refuse()?;
    work.names.settle()?;
    let mut effects = work.effects;
    effects.splice(..0, work.drops);
    Ok(effects)
}

/// An entry and where it really lies.
struct Item<'a> {
    real: TargetPath,
    wish: Wish<'a>,
}

#[derive(Clone, Copy)]
enum Wish<'a> {
    Directory(&'a Directory),
    File(&'a File),
    Link(&'a Link),
}

impl<'a> Wish<'a> {
    fn entry(self) -> &'a Entry {
        match self {
            Self::Directory(it) => &it.entry,
            Self::File(it) => &it.entry,
            Self::Link(it) => &it.entry,
        }
    }

    fn is_hard(self) -> bool {
        matches!(self, Self::Link(link) if link.hard)
    }
}

struct Work<'a> {
    /// Where the record of the run lies, by which everything is taken back.
    state: &'a TargetPath,
    tree: Tree<'a>,
    names: Names<'a>,
    findings: Findings,
    drops: Vec<Effect>,
    effects: Vec<Effect>,
}

impl<'a> Work<'a> {
    /// Finds out where entries really lie, and orders them.
    fn ordered(&mut self, wishes: &'a Provision) -> Vec<Item<'a>> {
        let directories = wishes.directories.iter().map(Wish::Directory);
        let files = wishes.files.iter().map(Wish::File);
        let links = wishes.links.iter().map(Wish::Link);
        let count = wishes.directories.len() + wishes.files.len() + wishes.links.len();
        let mut known: std::collections::HashMap<TargetPath, &str> = [].into();
        let mut items = Vec::with_capacity(count);
        for wish in directories.chain(files).chain(links) {
            let entry = wish.entry();
            let Some(real) = self.real(entry) else {
                continue;
            };
            self.spare_record(wish, &real);
            if let Some(other) = known.insert(real.clone(), &entry.path) {
                let what = format!(
                    "{} and {other} are the same place: links lead both to {real}",
                    entry.path
                );
                self.findings
                    .add(&entry.origin, what, "remove one of the two entries");
            }
            items.push(Item { real, wish });
        }
        items.sort_by_key(|item| (item.wish.is_hard(), depth(item)));
        items
    }

    /// Refuses an entry that would replace the record of the run, or write into it.
    fn spare_record(&mut self, wish: Wish<'_>, real: &TargetPath) {
        let entry = wish.entry();
        let keeps = matches!(wish, Wish::Directory(_)) && !entry.overwrite;
        let is_inside = real != self.state && record::is_inside(self.state, real);
        if is_inside || self.state.below(real).is_some() && !keeps {
            let what = format!("{} would replace", entry.path);
            record::refuse(&mut self.findings, &entry.origin, what, self.state);
        }
    }

    fn real(&mut self, entry: &Entry) -> Option<TargetPath> {
        let path = match TargetPath::new(&entry.path) {
            Ok(path) if path != TargetPath::root() => path,
            Ok(_) => {
                let hint = "name a path below it";
                self.findings
                    .add(&entry.origin, "the root itself cannot be an entry", hint);
                return None;
            }
            Err(bad) => {
                self.findings
                    .add(&entry.origin, bad.to_string(), "correct the path");
                return None;
            }
        };
        if let Some(why) = self.tree.survey.lost.get(&path) {
            let what = format!("{path} cannot be reached: {why}");
            let hint = format!("look at the way with `namei -l {path}`, below the root");
            self.findings.add(&entry.origin, what, hint);
            return None;
        }
        Some(self.tree.survey.real(&path).clone())
    }

    fn item(&mut self, item: &Item<'_>) {
        let entry = item.wish.entry();
        if entry.overwrite {
            self.clear(item);
        }
        let there = self.tree.get(&item.real);
        if there.is_none() && !self.parents(item) {
            return;
        }
        match item.wish {
            Wish::Directory(directory) => self.directory(&item.real, directory, there),
            Wish::File(file) => self.file(&item.real, file, there),
            Wish::Link(link) if link.hard => self.hard_link(&item.real, link, there.as_ref()),
            Wish::Link(link) => self.link(&item.real, link, there),
        }
    }

    /// Takes away what an entry overwrites.
    fn clear(&mut self, item: &Item<'_>) {
        let Some(there) = self.tree.get(&item.real) else {
            return;
        };
        // What earlier entries put there through a link goes as well, so it is not even made.
        let stays = |effect: &Effect| {
            let path = effect.path();
            path.is_none_or(|path| path.below(&item.real).is_none())
        };
        self.effects.retain(stays);
        // Removals come first of all, so the other link would have nothing left to lead to.
        let used = self.effects.iter().find_map(|effect| match effect {
            Effect::MakeHardLink(link) if link.existing.below(&item.real).is_some() => {
                Some(&link.path)
            }
            _ => None,
        });
        if let Some(other) = used {
            let what = format!(
                "{} overwrites what {other} shall be a hard link of",
                item.wish.entry().path
            );
            let hint = "take one of the two entries out";
            self.findings.add(&item.wish.entry().origin, what, hint);
        }
        // A file or a link takes the place of another at once; everything else has to go first.
        let at_once = match item.wish {
            Wish::Directory(_) => false,
            Wish::File(_) => true,
            Wish::Link(link) => !link.hard,
        };
        if let Seen::Other { what } = &there {
            let path = &item.wish.entry().path;
            let what = format!("{path} is {what}, which could not be put back");
            let hint = format!("move {path} away if it may go, or take the entry out");
            self.findings.add(&item.wish.entry().origin, what, hint);
        }
        let was_there = self.tree.survey.nodes.contains_key(&item.real);
        if was_there && (!at_once || matches!(there, Seen::Directory { .. })) {
            self.drops.push(Effect::DropPath(DropPath {
                path: item.real.clone(),
                forget: None,
                origin: item.wish.entry().origin.clone(),
            }));
        }
        self.tree.remove(&item.real);
    }

    /// Makes the folders on the way; false if something is in it.
    fn parents(&mut self, item: &Item<'_>) -> bool {
        let origin = &item.wish.entry().origin;
        match self.tree.make_parents(&item.real) {
            Ok(parents) => {
                // Plain ones are made on the way to what is in them.
                for parent in parents.into_iter().filter(|parent| parent.inherits) {
                    self.effects.push(Effect::MakeDirectory(MakeDirectory {
                        path: parent.path,
                        attributes: owned(parent.mode, parent.owner),
                        origin: origin.clone(),
                    }));
                }
                true
            }
            Err(why) => {
                let what = format!("{} cannot be made: {why}", item.wish.entry().path);
                let hint = "choose another path, or let an entry overwrite what is in the way";
                self.findings.add(origin, what, hint);
                false
            }
        }
    }

    fn directory(&mut self, real: &TargetPath, directory: &Directory, there: Option<Seen>) {
        let entry = &directory.entry;
        let (mode, anyway) = match there {
            None => {
                let given = self.tree.given(real);
                (folder_mode(given), given.owner)
            }
            Some(Seen::Directory { mode, owner }) => (mode, owner),
            Some(other) => return self.in_the_way(entry, &other, "a folder"),
        };
        let mode = directory.mode.unwrap_or(mode);
        let owner = self.names.owner(entry, anyway, &mut self.findings);
        self.tree.set(real, Seen::Directory { mode, owner });
        self.effects.push(Effect::MakeDirectory(MakeDirectory {
            path: real.clone(),
            attributes: owned(mode, owner),
            origin: entry.origin.clone(),
        }));
    }

    fn file(&mut self, real: &TargetPath, file: &File, there: Option<Seen>) {
        let entry = &file.entry;
        match there {
            None => self.new_file(real, file),
            Some(Seen::File { .. }) if matches!(file.holds, Holds::Whole(_)) => {
                let path = &entry.path;
                let what = format!("{path} is there already, and overwrite is not true");
                let hint = format!(
                    "set \"overwrite\": true to replace {path}, or leave out its contents to keep them"
                );
                self.findings.add(&entry.origin, what, hint);
            }
            Some(Seen::File {
                mode,
                owner,
                digest,
            }) => {
                let mode = file.mode.unwrap_or_else(|| after_chown(mode));
                let owner = self.names.owner(entry, owner, &mut self.findings);
                self.tree.set(
                    real,
                    Seen::File {
                        mode,
                        owner,
                        digest: None,
                    },
                );
                let (path, origin) = (real.clone(), entry.origin.clone());
                let attributes = owned(mode, owner);
                self.effects.push(match (digest, &file.holds) {
                    (Some(before), Holds::More(content)) => Effect::AppendFile(AppendFile {
                        path,
                        before,
                        content: content.clone(),
                        attributes,
                        origin,
                    }),
                    _ => Effect::SetAttributes(SetAttributes {
                        path,
                        attributes,
                        origin,
                    }),
                });
            }
            Some(other) => self.in_the_way(entry, &other, "a file"),
        }
    }

    fn new_file(&mut self, real: &TargetPath, file: &File) {
        let entry = &file.entry;
        let mode = file.mode.unwrap_or(FILE_MODE);
        let anyway = self.tree.given(real).owner;
        let owner = self.names.owner(entry, anyway, &mut self.findings);
        let seen = Seen::File {
            mode,
            owner,
            digest: None,
        };
        self.tree.set(real, seen);
        self.effects.push(Effect::PutFile(PutFile {
            path: real.clone(),
            body: match &file.holds {
                Holds::AsItIs => Body::bytes([]),
                Holds::Whole(content) | Holds::More(content) => Body::Literal(content.clone()),
            },
            attributes: owned(mode, owner),
            origin: entry.origin.clone(),
        }));
    }

    fn link(&mut self, real: &TargetPath, link: &Link, there: Option<Seen>) {
        let entry = &link.entry;
        match there {
            None => {}
            Some(Seen::Link { target, .. }) if cleaned(&target) == cleaned(&link.target) => return,
            Some(Seen::Link { target, .. }) => {
                let what = format!(
                    "{} points to {target} and not to {}, and overwrite is not true",
                    entry.path, link.target
                );
                let hint = "set \"overwrite\": true to replace it";
                return self.findings.add(&entry.origin, what, hint);
            }
            Some(other) => return self.in_the_way(entry, &other, "a link"),
        }
        if link.target.is_empty() || link.target.len() > LONGEST || link.target.contains('\0') {
            let what = format!(
                "{} cannot be a link: no link can lead to {}",
                entry.path,
                shown(&link.target)
            );
            let hint = "give it a target of one to 4095 bytes, without a NUL byte";
            return self.findings.add(&entry.origin, what, hint);
        }
        let anyway = self.led_to(real, link);
        let owner = self.names.owner(entry, anyway, &mut self.findings);
        let target = link.target.clone();
        let seen = Seen::Link {
            target: target.clone(),
            owner,
        };
        self.tree.set(real, seen);
        self.effects.push(Effect::MakeLink(MakeLink {
            path: real.clone(),
            target,
            owner: Some(owner),
            origin: entry.origin.clone(),
        }));
    }

    /// Tells who owns what a link leads to: that is who gets the link, if the config says nothing.
    fn led_to(&self, real: &TargetPath, link: &Link) -> Owner {
        let nobody = self.tree.survey.identity;
        if link.target.starts_with('/') {
            // Ignition looks for it outside of the target, where root owns what there is.
            return nobody;
        }
        let above = real.parent().unwrap_or_else(TargetPath::root);
        let by_text = cleaned(&format!("{above}/{}", link.target));
        let made = TargetPath::new(&by_text).ok();
        if let Some(path) = made.filter(|path| self.tree.is_changed(path)) {
            return match self.tree.get(&path) {
                Some(Seen::Link { .. }) | None => nobody,
                Some(other) => other.owner().unwrap_or(nobody),
            };
        }
        let asked = TargetPath::new(&link.entry.path).ok();
        let found = asked.and_then(|path| self.tree.survey.owners.get(&path).copied());
        found.unwrap_or(nobody)
    }

    fn hard_link(&mut self, real: &TargetPath, link: &Link, there: Option<&Seen>) {
        let entry = &link.entry;
        let asked = hard_target(&link.target);
        let existing = asked.map(|path| self.tree.survey.real(&path).clone());
        let target = existing.as_ref().and_then(|path| self.tree.get(path));
        let (Some(existing), Some(target)) = (existing, target) else {
            let what = format!(
                "{} cannot be a hard link: {} is absent",
                entry.path, link.target
            );
            let hint = "let an entry of the config make it, or take the link out";
            return self.findings.add(&entry.origin, what, hint);
        };
        if there.is_some() {
            if !self.is_same(entry, real, &existing) {
                let what = format!(
                    "{} is there already and is not {}, and overwrite is not true",
                    entry.path, link.target
                );
                let hint = "set \"overwrite\": true to replace it";
                self.findings.add(&entry.origin, what, hint);
            }
            return;
        }
        if matches!(target, Seen::Directory { .. }) {
            let what = format!(
                "{} cannot be a hard link: {} is a folder",
                entry.path, link.target
            );
            return self
                .findings
                .add(&entry.origin, what, "make it a symbolic link");
        }
        self.tree.set(real, target);
        self.effects.push(Effect::MakeHardLink(MakeHardLink {
            path: real.clone(),
            existing,
            origin: entry.origin.clone(),
        }));
    }

    /// Tells whether a hard link is there as it shall be: nobody has replaced either name since.
    fn is_same(&self, entry: &Entry, real: &TargetPath, existing: &TargetPath) -> bool {
        let asked = TargetPath::new(&entry.path).ok();
        let was = asked.is_some_and(|path| self.tree.survey.same.contains(&path));
        let replaced = |path: &TargetPath| {
            let puts = |effect: &Effect| {
                matches!(effect, Effect::PutFile(put) if put.path == *path)
                    || matches!(effect, Effect::AppendFile(append) if append.path == *path)
            };
            self.tree.is_changed(path) && self.effects.iter().any(puts)
        };
        real == existing || was && !replaced(real) && !replaced(existing)
    }

    fn in_the_way(&mut self, entry: &Entry, there: &Seen, wanted: &str) {
        let noun = there.noun();
        let what = format!(
            "{} shall be {wanted}, but {noun} is there, and overwrite is not true",
            entry.path
        );
        let hint = "set \"overwrite\": true to replace it with all that is in it";
        self.findings.add(&entry.origin, what, hint);
    }
}

/// Quotes the target of a link, but not all of one that is too long.
fn shown(target: &str) -> String {
    match target.char_indices().nth(60) {
        None => format!("{target:?}"),
        Some((end, _)) => format!("{:?}… of {} bytes", &target[..end], target.len()),
    }
}

fn depth(item: &Item<'_>) -> usize {
    if item.wish.is_hard() {
        0
    } else {
        item.real.parts().count()
    }
}

fn owned(mode: u32, owner: Owner) -> Attributes {
    Attributes {
        owner: Some(owner),
        ..Attributes::mode(mode)
    }
}
