//! The links that make units start, or give them other names: looked at once for all units.

use std::collections::HashMap;
use std::sync::Arc;

use bootlace_model::effect::UnitName;
use bootlace_model::fault::Fault;
use bootlace_model::path::TargetPath;

use crate::folders::Folders;
use crate::port::Stat;

/// Links in the administrator's folder of units.
#[derive(Debug, Default)]
pub(crate) struct UnitLinks {
    /// By the unit that they are about.
    to: HashMap<String, Vec<TargetPath>>,
    /// How many names each folder of links holds.
    names: HashMap<TargetPath, usize>,
}

/// Looks for links, or returns what was found before.
///
/// There may be thousands of units, and each is asked about. What is only staged is not in place, so
/// it is right not to see it, and whoever looks after something was put into place looks anew.
pub(super) fn of(folders: &Folders<'_>) -> Result<Arc<UnitLinks>, Fault> {
    folders.unit_links(look)
}

impl UnitLinks {
    /// Lists the links that make a unit start or give it another name.
    pub(super) fn to(&self, unit: &UnitName) -> &[TargetPath] {
        self.to.get(unit.as_str()).map_or(&[], Vec::as_slice)
    }

    /// Lists the folders in which nothing is left without some links; systemctl removes them, too.
    pub(super) fn hollow_without(&self, gone: &[TargetPath]) -> Vec<TargetPath> {
        let mut hollow: Vec<TargetPath> = Vec::new();
        for folder in gone.iter().filter_map(TargetPath::parent) {
            let in_it = gone
                .iter()
                .filter(|link| link.parent().as_ref() == Some(&folder));
            if self.names.get(&folder) == Some(&in_it.count()) && !hollow.contains(&folder) {
                hollow.push(folder);
            }
        }
        hollow
    }

    fn add(&mut self, unit: &str, place: &TargetPath) {
        let links = self.to.entry(unit.to_owned()).or_default();
        links.push(place.clone());
    }
}

fn look(folders: &Folders<'_>) -> Result<UnitLinks, Fault> {
    let mut links = UnitLinks::default();
    let admin = super::path(super::ADMIN)?;
    let Some(dir) = folders.open(&admin)? else {
        return Ok(links);
    };
    for name in dir.list()? {
        let place = join(&admin, &name)?;
        match dir.stat(&name)? {
            Some(Stat::Link { target, .. }) => {
                let target = target.rsplit('/').next().unwrap_or_default();
                if target != name {
                    links.add(target, &place);
                }
            }
            Some(Stat::Directory { .. }) if is_link_folder(&name) => {
                look_into(folders, &place, &mut links)?;
            }
            _ => {}
        }
    }
    Ok(links)
}

/// Looks into a folder of links; a link is about its unit, and about the template of an instance.
fn look_into(
    folders: &Folders<'_>,
    folder: &TargetPath,
    links: &mut UnitLinks,
) -> Result<(), Fault> {
    let Some(dir) = folders.open(folder)? else {
        return Ok(());
    };
    let names = dir.list()?;
    links.names.insert(folder.clone(), names.len());
    for name in names {
        let Some(unit) = UnitName::parse(&name) else {
            continue;
        };
        if !matches!(dir.stat(&name)?, Some(Stat::Link { .. })) {
            continue;
        }
        let place = join(folder, &name)?;
        links.add(&name, &place);
        let template = unit.instance().map(|(template, _)| template);
        if let Some(template) = template.filter(|template| *template != unit) {
            links.add(template.as_str(), &place);
        }
    }
    Ok(())
}

fn join(folder: &TargetPath, name: &str) -> Result<TargetPath, Fault> {
    let place = folder.join(name);
    place.map_err(|bad| Fault::refused(bad.to_string()))
}

fn is_link_folder(name: &str) -> bool {
    [".wants", ".requires", ".upholds"]
        .iter()
        .any(|suffix| name.ends_with(suffix))
}
