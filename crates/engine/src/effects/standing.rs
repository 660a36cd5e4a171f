//! Whether an effect is already so, still missing, or in conflict with what is there.

use bootlace_model::content::Content;
use bootlace_model::effect::{
    AlreadyRan, AppendFile, Effect, Fetch, MakeHardLink, MakeKey, MakeToken, SetAttributes,
    StartUnit, UnitName,
};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::ids::Digest;
use bootlace_model::node::{Attributes, Owner};
use bootlace_model::path::TargetPath;
use bootlace_model::token;

use super::certificates::{self, Wanted};
use super::content::Contents;
use super::units;
use super::writes::{Shape, Write, added_to_another};
use crate::folders::{Folders, LARGEST_FILE, OpenDir};
use crate::port::{Dir, Stat};
use crate::{claims, waiting};

/// Where an effect stands.
#[derive(Debug)]
pub(crate) enum Standing {
    /// Nothing needs to be done.
    AlreadySo,
    /// It has to be performed.
    Missing,
    /// Something is there that must not be overwritten unless it is our own.
    Conflict(Fault),
}

/// Looks at the world, changing nothing.
pub(crate) fn standing(folders: &Folders<'_>, effect: &Effect) -> Result<Standing, Fault> {
    let contents = Contents::new(folders);
    let so = |yes: bool| {
        if yes {
            Standing::AlreadySo
        } else {
            Standing::Missing
        }
    };
    Ok(match effect {
        Effect::PutFile(put) => match stat(folders, &put.path)? {
            None => Standing::Missing,
            Some((_, Stat::Directory { .. })) => in_the_way(&put.path, "a file"),
            Some((dir, stat)) => match contents.compose(&put.body)? {
                None => Standing::Missing,
                Some(content) => so(is_file(
                    dir.as_ref(),
                    &put.path,
                    &stat,
                    &content,
                    &put.attributes,
                )?),
            },
        },
        Effect::MakeDirectory(make) => match stat(folders, &make.path)? {
            None => Standing::Missing,
            Some((dir, Stat::Directory { mode, owner })) => {
                let owned = make.attributes.owner.is_none_or(|wanted| wanted == owner);
                so(mode == make.attributes.mode
                    && owned
                    && labels_fit(dir.as_ref(), &make.path, &make.attributes)?)
            }
            Some(_) => in_the_way(&make.path, "a folder"),
        },
        Effect::MakeLink(link) => match stat(folders, &link.path)? {
            Some((_, Stat::Directory { .. })) => in_the_way(&link.path, "a link"),
            Some((_, Stat::Link { target, owner })) => {
                so(target == link.target && link.owner.is_none_or(|wanted| wanted == owner))
            }
            _ => Standing::Missing,
        },
        Effect::SetAttributes(set) => attribute_standing(folders, set)?,
        Effect::AppendFile(append) => append_standing(folders, append)?,
        Effect::MakeHardLink(link) => name_standing(folders, link)?,
        Effect::DropPath(drop) => so(stat(folders, &drop.path)?.is_none()),
        Effect::MakeKey(make) => key_standing(&contents, make)?,
        Effect::MakeToken(make) => token_standing(&contents, make)?,
        Effect::IssueCertificate(issue) => {
            let wanted = Wanted {
                path: &issue.path,
                key: &issue.key,
                request: &issue.request,
                issuer: issue.issuer.as_ref(),
            };
            match certificates::problems(&contents, &wanted)? {
                None => Standing::Missing,
                Some(problems) if problems.is_empty() => Standing::AlreadySo,
                Some(problems) => Standing::Conflict(unfit(&issue.path, "certificate", problems)),
            }
        }
        Effect::SetUnit(set) => match units::writes(folders, set) {
            Ok(writes) => so(writes
                .iter()
                .map(|w| is_so(folders, w))
                .try_fold(true, and)?),
            // The unit's file may be written by an earlier effect of the same step.
            Err(fault) if fault.kind == FaultKind::Preflight => Standing::Missing,
            Err(fault) => return Err(fault),
        },
        Effect::Fetch(fetch) => match stat(folders, &fetch.path)? {
            None => Standing::Missing,
            Some((_, Stat::Directory { .. })) => in_the_way(&fetch.path, "a file"),
            Some((dir, stat)) => so(is_fetched(dir.as_ref(), fetch, &stat)?),
        },
        Effect::RunCommand(run) => match &run.already {
            AlreadyRan::When(claim) | AlreadyRan::While(claim) => {
                so(claims::evaluate(folders.host(), claim)?.holds)
            }
            AlreadyRan::Repeatable => Standing::Missing,
        },
        // Once started anew, or applied, the journal says so; the world cannot.
        Effect::StartUnit(StartUnit { anew: Some(_), .. }) | Effect::ApplyObjects(_) => {
            Standing::Missing
        }
        Effect::StartUnit(start) => so(running(folders, &start.unit)?),
        Effect::ImportImages(import) => so(loaded(folders, &import.images)?),
        Effect::Await(wait) => {
            let finding = claims::evaluate_within(folders.host(), &wait.claim, waiting::BRIEFLY)?;
            so(finding.holds)
        }
    })
}

fn append_standing(folders: &Folders<'_>, append: &AppendFile) -> Result<Standing, Fault> {
    let path = &append.path;
    let Some((_, Stat::File { mode, owner, .. })) = stat(folders, path)? else {
        return Ok(in_the_way(path, "a file that is there"));
    };
    let content = folders.read(path, LARGEST_FILE)?.unwrap_or_default();
    let fits = has_attributes(mode, owner, &append.attributes);
    let begins = content.strip_suffix(&*append.content.read()?);
    Ok(match begins {
        Some(before) if fits && Digest::of(before) == append.before => Standing::AlreadySo,
        _ if Digest::of(&content) == append.before => Standing::Missing,
        _ => Standing::Conflict(added_to_another(path)),
    })
}

fn attribute_standing(folders: &Folders<'_>, set: &SetAttributes) -> Result<Standing, Fault> {
    let Some((dir, Stat::File { mode, owner, .. })) = stat(folders, &set.path)? else {
        return Ok(in_the_way(&set.path, "a file that is there"));
    };
    let fits = has_attributes(mode, owner, &set.attributes);
    if fits && labels_fit(dir.as_ref(), &set.path, &set.attributes)? {
        return Ok(Standing::AlreadySo);
    }
    Ok(Standing::Missing)
}

fn name_standing(folders: &Folders<'_>, link: &MakeHardLink) -> Result<Standing, Fault> {
    let Some((dir, _)) = stat(folders, &link.path)? else {
        return Ok(Standing::Missing);
    };
    let mine = dir.identity(link.path.name())?;
    let other = folders.holding(&link.existing)?;
    let other = other.map(|dir| dir.identity(link.existing.name()));
    if mine.is_some() && other.transpose()?.flatten() == mine {
        return Ok(Standing::AlreadySo);
    }
    Ok(in_the_way(&link.path, "another name of a file"))
}

fn has_attributes(mode: u32, owner: Owner, wanted: &Attributes) -> bool {
    mode == wanted.mode && wanted.owner.is_none_or(|wanted| wanted == owner)
}

fn running(folders: &Folders<'_>, unit: &UnitName) -> Result<bool, Fault> {
    // Nothing runs in a folder, and nobody there could be asked.
    let host = folders.host();
    Ok(host.is_live() && host.unit(unit)?.is_active)
}

fn loaded(folders: &Folders<'_>, images: &[String]) -> Result<bool, Fault> {
    let host = folders.host();
    if !host.is_live() {
        return Ok(false);
    }
    let there = host.images()?.unwrap_or_default();
    Ok(images.iter().all(|image| there.contains(image)))
}

fn and(so_far: bool, next: Result<bool, Fault>) -> Result<bool, Fault> {
    Ok(so_far && next?)
}

/// Tells whether a write would change nothing.
fn is_so(folders: &Folders<'_>, write: &Write) -> Result<bool, Fault> {
    let found = stat(folders, &write.path)?;
    Ok(match (&write.shape, found) {
        (Shape::Nothing, None) => true,
        (Shape::Link { target, .. }, Some((_, Stat::Link { target: found, .. }))) => {
            *target == found
        }
        (
            Shape::File {
                content,
                attributes,
            },
            Some((dir, stat)),
        ) => is_file(dir.as_ref(), &write.path, &stat, content, attributes)?,
        _ => false,
    })
}

fn is_file(
    dir: &dyn Dir,
    path: &TargetPath,
    stat: &Stat,
    content: &Content,
    attributes: &Attributes,
) -> Result<bool, Fault> {
    let Stat::File { size, mode, owner } = stat else {
        return Ok(false);
    };
    let fits = *size == content.length() && has_attributes(*mode, *owner, attributes);
    Ok(fits
        && dir.digest(path.name(), *size)?.0 == content.digest()
        && labels_fit(dir, path, attributes)?)
}

fn is_fetched(dir: &dyn Dir, fetch: &Fetch, stat: &Stat) -> Result<bool, Fault> {
    let (name, attributes) = (fetch.path.name(), &fetch.attributes);
    let Stat::File { size, mode, owner } = stat else {
        return Ok(false);
    };
    Ok(*size <= fetch.limit
        && has_attributes(*mode, *owner, attributes)
        && dir.digest(name, fetch.limit)?.0 == fetch.digest
        && labels_fit(dir, &fetch.path, attributes)?)
}

fn labels_fit(dir: &dyn Dir, path: &TargetPath, attributes: &Attributes) -> Result<bool, Fault> {
    if attributes.xattrs.is_empty() {
        return Ok(true);
    }
    let found = dir.xattrs(path.name())?;
    Ok(attributes
        .xattrs
        .0
        .iter()
        .all(|(name, value)| found.0.get(name) == Some(value)))
}

fn key_standing(contents: &Contents<'_>, make: &MakeKey) -> Result<Standing, Fault> {
    let mode = match stat(contents.folders, &make.path)? {
        None => return Ok(Standing::Missing),
        Some((_, Stat::File { mode, .. })) => mode,
        Some(_) => return Ok(in_the_way(&make.path, "a key")),
    };
    let open = open_to_others(&make.path, mode);
    let mut problems = vec![];
    if let Some(key) = contents.key(&make.path)?
        && let Err(error) = contents.folders.host().public_key(&key)
    {
        problems.push(error.to_string());
    }
    Ok(match open {
        _ if !problems.is_empty() => Standing::Conflict(unfit(&make.path, "key", problems)),
        Some(fault) => Standing::Conflict(fault),
        None => Standing::AlreadySo,
    })
}

/// Judges a token that is there: one that has expired is of no use, and made anew if it is ours.
fn token_standing(contents: &Contents<'_>, make: &MakeToken) -> Result<Standing, Fault> {
    let mode = match stat(contents.folders, &make.path)? {
        None => return Ok(Standing::Missing),
        Some((_, Stat::File { mode, .. })) => mode,
        Some(_) => return Ok(in_the_way(&make.path, "a token")),
    };
    let open = open_to_others(&make.path, mode);
    let mut problems = vec![];
    match token::expiry(&contents.must_read(&make.path)?) {
        Err(why) => problems.push(why.to_owned()),
        Ok(expires) if expires <= contents.folders.host().now() => {
            problems.push(format!("it expired: {expires}"));
        }
        Ok(_) => {}
    }
    Ok(match open {
        _ if !problems.is_empty() => Standing::Conflict(unfit(&make.path, "token", problems)),
        Some(fault) => Standing::Conflict(fault),
        None => Standing::AlreadySo,
    })
}

/// Says that others may read a secret, if they may. The secret itself may be a good one.
fn open_to_others(path: &TargetPath, mode: u32) -> Option<Fault> {
    let open_to_others = mode & 0o077;
    if open_to_others == 0 {
        return None;
    }
    let mode = bootlace_model::shell::mode(mode);
    let message = format!("others may read or change the secret {path}: its mode is {mode}");
    let chmod = bootlace_model::shell::line(["chmod", "600", path.as_str()]);
    Some(
        Fault::bad_input(message)
            .in_file(path.as_str())
            .because("A secret that others can read may be known to them already.")
            .hint(format!("`{chmod}` leaves it to its owner alone")),
    )
}

pub(super) fn unfit(path: &TargetPath, what: &str, problems: Vec<String>) -> Fault {
    let mut fault = Fault::bad_input(format!(
        "the {what} {path} cannot be used: {}",
        problems.join("; ")
    ))
    .in_file(path.as_str())
    .because("What is there is kept if it fits, and overwritten only if this run wrote it so.")
    .hint(format!(
        "put one there that fits, or move {path} away and a new one is made"
    ));
    fault.details = if problems.len() > 1 { problems } else { vec![] };
    fault
}

fn in_the_way(path: &TargetPath, wanted: &str) -> Standing {
    let message = format!("{path} shall be {wanted}, but something of another kind is there");
    let fault = Fault::new(FaultKind::Preflight, message)
        .in_file(path.as_str())
        .because("Replacing it could lose what is in it.")
        .hint(format!("look at it with `ls -ld {path}` and move it away"));
    Standing::Conflict(fault)
}

fn stat(folders: &Folders<'_>, path: &TargetPath) -> Result<Option<(OpenDir, Stat)>, Fault> {
    let Some(dir) = folders.holding(path)? else {
        return Ok(None);
    };
    Ok(dir.stat(path.name())?.map(|stat| (dir, stat)))
}
