//! systemd units without a running systemd: the links and presets that `systemctl --root` makes.

use std::io::ErrorKind;

use bootlace_model::content::Content;
use bootlace_model::effect::{SetUnit, UnitName, UnitState, Via};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::node::{Attributes, NodeState};
use bootlace_model::path::TargetPath;
use bootlace_model::survey::UnitFileState;

use super::writes::{Shape, Write};
use crate::folders::Folders;
use crate::port::{HostError, Stat};
use install::{Install, read_unit};
pub(crate) use links::UnitLinks;

mod install;
mod links;
mod placement;

/// Where an administrator's units and links lie.
const ADMIN: &str = "/etc/systemd/system";
/// The presets that this tool writes.
const PRESET: &str = "/etc/systemd/system-preset/20-bootlace.preset";
/// What a masked unit points to.
const NOWHERE: &str = "/dev/null";

/// Lists the links or the preset that put a unit into a state.
pub(super) fn writes(folders: &Folders<'_>, set: &SetUnit) -> Result<Vec<Write>, Fault> {
    match (set.via, set.state) {
        (_, UnitState::Masked) => mask(folders, &set.unit),
        (Via::Preset, state) => preset(folders, &set.unit, state),
        (Via::Links, UnitState::Disabled) => disable(folders, &set.unit),
        (Via::Links, UnitState::Enabled) => {
            let mut links = Vec::new();
            enable(folders, &set.unit, &mut links, &mut vec![])?;
            Ok(links)
        }
    }
}

/// Lists the links that enable a unit whose file has this text.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn links_of_text(
    unit: &UnitName,
    fragment: &TargetPath,
    text: &str,
) -> Result<Vec<TargetPath>, Fault> {
    placement::links(&read_unit(text), unit, fragment)
}

/// Tells how a unit is set; none if nothing says anything about it.
pub(crate) fn unit_state(
    folders: &Folders<'_>,
    unit: &UnitName,
) -> Result<Option<UnitState>, Fault> {
    if is_masked(folders, unit)? {
        return Ok(Some(UnitState::Masked));
    }
    if !links::of(folders)?.to(unit).is_empty() {
        return Ok(Some(UnitState::Enabled));
    }
    let preset = read_text(folders, &path(PRESET)?)?;
    let said = preset.lines().find_map(|line| {
        let (verb, name) = line.trim().split_once(' ')?;
        (name.trim() == unit.as_str()).then(|| verb.to_owned())
    });
    Ok(match said.as_deref() {
        Some("enable") => Some(UnitState::Enabled),
        Some("disable") => Some(UnitState::Disabled),
        _ => None,
    })
}

/// Tells how `systemctl --root DIR is-enabled` would find a unit.
pub(crate) fn unit_file_state(
    folders: &Folders<'_>,
    unit: &UnitName,
) -> Result<UnitFileState, Fault> {
    if !is_folder(folders, &path(ADMIN)?)? {
        // systemctl finds nothing there either, and says no more than that.
        return Ok(UnitFileState::Absent);
    }
    if is_masked(folders, unit)? {
        return Ok(UnitFileState::Masked);
    }
    let admin = path(&format!("{ADMIN}/{unit}"))?;
    if let NodeState::Link { target, .. } = folders.look(&admin)?
        && target.rsplit('/').next() != Some(unit.as_str())
    {
        // Another name of a unit cannot be enabled by itself.
        return Ok(UnitFileState::Static);
    }
    let install = match find(folders, unit) {
        Ok((_, install)) => install,
        Err(fault) if fault.kind == FaultKind::Preflight => return Ok(UnitFileState::Absent),
        Err(fault) => return Err(fault),
    };
    if !links::of(folders)?.to(unit).is_empty() {
        return Ok(UnitFileState::Enabled);
    }
    let wishes = [&install.wanted_by, &install.required_by, &install.upheld_by];
    let is_wished = wishes.iter().any(|wish| !wish.is_empty());
    let has_names = !install.alias.is_empty() && may_have_other_names(unit);
    Ok(if is_wished || has_names {
        UnitFileState::Disabled
    } else {
        UnitFileState::Static
    })
}

/// Tells whether a path is a folder or nothing; it may be a file, or a link that leads nowhere.
fn is_folder(folders: &Folders<'_>, path: &TargetPath) -> Result<bool, Fault> {
    match folders.open(path) {
        Ok(_) => Ok(true),
        Err(HostError::Escape { .. }) => Ok(false),
        Err(HostError::Io { error, .. }) if error.kind() == ErrorKind::NotADirectory => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Tells whether a unit of this type may have other names; systemd passes over those of the rest.
fn may_have_other_names(unit: &UnitName) -> bool {
    let types = ["service", "socket", "target", "device", "timer", "path"];
    let found = unit.as_str().rsplit('.').next();
    found.is_some_and(|found| types.contains(&found))
}

fn mask(folders: &Folders<'_>, unit: &UnitName) -> Result<Vec<Write>, Fault> {
    let link = path(&format!("{ADMIN}/{unit}"))?;
    if let Some(dir) = folders.holding(&link)?
        && matches!(
            dir.stat(link.name())?,
            Some(Stat::File { .. } | Stat::Directory { .. })
        )
    {
        return Err(Fault::refused(format!(
            "{unit} cannot be masked: {link} is a file of its own"
        ))
        .in_file(link.as_str())
        .hint(format!("remove {link}, or disable the unit instead")));
    }
    Ok(vec![Write {
        path: link,
        shape: Shape::Link {
            target: NOWHERE.into(),
            owner: None,
        },
    }])
}

fn preset(folders: &Folders<'_>, unit: &UnitName, state: UnitState) -> Result<Vec<Write>, Fault> {
    let verb = if state == UnitState::Enabled {
        "enable"
    } else {
        "disable"
    };
    let path = path(PRESET)?;
    let old = read_text(folders, &path)?;
    let about_it = |line: &str| line.split_whitespace().nth(1) == Some(unit.as_str());
    let others = old.lines().filter(|line| !about_it(line));
    let mut text: String = others
        .flat_map(|line| {
            [
                line, "
",
            ]
        })
        .collect();
    // systemd takes the first line that fits: an older line about the unit would win.
    let wanted = format!("{verb} {unit}");
    if old.lines().any(|line| line.trim() == wanted) {
        text = old;
    } else {
        text.extend([wanted.as_str(), "\n"]);
    }
    let content = Content::of(text.into_bytes());
    Ok(vec![Write {
        path,
        shape: Shape::File {
            content,
            attributes: Attributes::mode(0o644),
        },
    }])
}

fn enable(
    folders: &Folders<'_>,
    unit: &UnitName,
    links: &mut Vec<Write>,
    seen: &mut Vec<UnitName>,
) -> Result<(), Fault> {
    if seen.contains(unit) {
        return Ok(());
    }
    seen.push(unit.clone());
    if is_masked(folders, unit)? {
        return Err(
            Fault::refused(format!("{unit} cannot be enabled: it is masked")).hint(format!(
                "`systemctl unmask {unit}` first, if you masked it on purpose"
            )),
        );
    }
    let (fragment, install) = find(folders, unit)?;
    for path in placement::links(&install, unit, &fragment)? {
        if !links.iter().any(|known| known.path == path) {
            links.push(Write {
                path,
                shape: Shape::Link {
                    target: fragment.to_string(),
                    owner: None,
                },
            });
        }
    }
    let name = install.instance_for(unit).unwrap_or_else(|| unit.clone());
    for also in &install.also {
        let also = install::expand(also, &name);
        let unit = UnitName::parse(&also).ok_or_else(|| {
            Fault::bad_input(format!("{fragment} names no unit with Also={also}"))
        })?;
        enable(folders, &unit, links, seen)?;
    }
    Ok(())
}

/// Removes the links of a unit and of those that it brings along, as enabling made them.
fn disable(folders: &Folders<'_>, unit: &UnitName) -> Result<Vec<Write>, Fault> {
    let mut units = vec![unit.clone()];
    let mut next = 0;
    while let Some(unit) = units.get(next).cloned() {
        next += 1;
        let also = match find(folders, &unit) {
            Ok((_, install)) => install.also,
            // Links of a unit whose file is gone can still be removed.
            Err(fault) if fault.kind == FaultKind::Preflight => vec![],
            Err(fault) => return Err(fault),
        };
        for name in also {
            let known = UnitName::parse(&install::expand(&name, &unit));
            units.extend(known.filter(|known| !units.contains(known)));
        }
    }
    let links = links::of(folders)?;
    let mut gone: Vec<TargetPath> = Vec::new();
    for unit in units {
        for path in links.to(&unit) {
            if !gone.contains(path) {
                gone.push(path.clone());
            }
        }
    }
    let hollow = links.hollow_without(&gone);
    let write = |shape: fn() -> Shape| {
        move |path| Write {
            path,
            shape: shape(),
        }
    };
    let links = gone.into_iter().map(write(|| Shape::Nothing));
    let folders = hollow.into_iter().map(write(|| Shape::Hollow));
    Ok(links.chain(folders).collect())
}

fn is_masked(folders: &Folders<'_>, unit: &UnitName) -> Result<bool, Fault> {
    let link = path(&format!("{ADMIN}/{unit}"))?;
    let Some(dir) = folders.holding(&link)? else {
        return Ok(false);
    };
    Ok(matches!(dir.stat(link.name())?, Some(Stat::Link { target, .. }) if target == NOWHERE))
}

/// Finds a unit's file, or that of its template, and reads its `[Install]` section.
fn find(folders: &Folders<'_>, unit: &UnitName) -> Result<(TargetPath, Install), Fault> {
    const PLACES: [&str; 5] = [
        ADMIN,
        "/run/systemd/system",
        "/usr/local/lib/systemd/system",
        "/usr/lib/systemd/system",
        "/lib/systemd/system",
    ];
    let template = unit.instance().map(|(template, _)| template);
    for name in [Some(unit.clone()), template].into_iter().flatten() {
        for place in PLACES {
            let file = path(&format!("{place}/{name}"))?;
            let Some(dir) = folders.holding(&file)? else {
                continue;
            };
            if matches!(dir.stat(file.name())?, Some(Stat::File { .. })) {
                let text = read_text(folders, &file)?;
                return Ok((file, read_unit(&text)));
            }
        }
    }
    Err(Fault::new(
        FaultKind::Preflight,
        format!("there is no unit file for {unit}"),
    )
    .because("Which links enable a unit is written in its [Install] section.")
    .hint(format!(
        "put {unit} into {ADMIN}, or take the unit out of the config"
    )))
}

fn read_text(folders: &Folders<'_>, path: &TargetPath) -> Result<String, Fault> {
    let bytes = folders.read(path, 1 << 20)?.unwrap_or_default();
    String::from_utf8(bytes)
        .map_err(|_| Fault::bad_input(format!("{path} is not UTF-8")).in_file(path.as_str()))
}

fn path(text: &str) -> Result<TargetPath, Fault> {
    TargetPath::new(text).map_err(|bad| Fault::refused(bad.to_string()))
}
