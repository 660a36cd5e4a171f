//! Where the links that enable a unit go.
//!
//! A unit file may come from someone else's Ignition config. systemd refuses a name in `[Install]`
//! that is not the name of a unit, so a link never leads elsewhere, nor becomes a drop-in.

use bootlace_model::effect::UnitName;
use bootlace_model::fault::Fault;
use bootlace_model::path::TargetPath;

use super::install::{Install, expand};
use super::{ADMIN, path};

/// What the folders are called that hold the links of a unit's dependencies.
const FOLDERS: [&str; 3] = ["wants", "requires", "upholds"];

/// Lists the links that an `[Install]` section asks for.
pub(super) fn links(
    install: &Install,
    unit: &UnitName,
    fragment: &TargetPath,
) -> Result<Vec<TargetPath>, Fault> {
    let name = match &install.default_instance {
        Some(instance) if unit.is_template() => install
            .instance_for(unit)
            .ok_or_else(|| invalid(fragment, "DefaultInstance", instance))?,
        _ => unit.clone(),
    };
    let mut links = Vec::new();
    let mut add = |place: String| -> Result<(), Fault> {
        let link = path(&place)?;
        if link != *fragment && !links.contains(&link) {
            links.push(link);
        }
        Ok(())
    };
    let keys = ["WantedBy", "RequiredBy", "UpheldBy"];
    let targets = [&install.wanted_by, &install.required_by, &install.upheld_by];
    for ((key, targets), folder) in keys.into_iter().zip(targets).zip(FOLDERS) {
        for target in targets {
            let target = expand(target, &name);
            let target = UnitName::parse(&target).ok_or_else(|| invalid(fragment, key, &target))?;
            add(format!("{ADMIN}/{target}.{folder}/{name}"))?;
        }
    }
    for alias in &install.alias {
        let alias = expand(alias, &name);
        if !may_be_alias(&alias, &name) {
            return Err(invalid(fragment, "Alias", &alias));
        }
        add(format!("{ADMIN}/{alias}"))?;
    }
    Ok(links)
}

/// Tells whether a unit may have this name besides: one of its own type, or a link by hand into the
/// folder of a unit that wants it.
fn may_be_alias(alias: &str, unit: &UnitName) -> bool {
    if let Some((folder, name)) = alias.split_once('/') {
        let wanting = folder
            .rsplit_once('.')
            .filter(|(_, kind)| FOLDERS.contains(kind));
        let is_folder = wanting.is_some_and(|(wanting, _)| UnitName::parse(wanting).is_some());
        return is_folder && name == unit.as_str();
    }
    let of_type = |name: &str| name.rsplit('.').next().map(ToOwned::to_owned);
    UnitName::parse(alias).is_some() && of_type(alias) == of_type(unit.as_str())
}

fn invalid(fragment: &TargetPath, key: &str, value: &str) -> Fault {
    Fault::bad_input(format!("{fragment} has an invalid {key}={value}"))
        .in_file(fragment.as_str())
        .because("systemd does not enable a unit with such a value in [Install].")
        .hint(format!(
            "correct it in the unit file, for example {key}={}",
            match key {
                "Alias" => "other.service",
                "DefaultInstance" => "main",
                _ => "multi-user.target",
            }
        ))
}

#[cfg(test)]
mod tests {
    use super::super::install::read_unit;
    use super::*;

    fn placed(unit: &str, install: &str) -> Result<Vec<String>, String> {
        let unit = UnitName::parse(unit).unwrap();
        let fragment = path(&format!("/usr/lib/systemd/system/{unit}")).unwrap();
        let install = read_unit(&format!("[Install]\n{install}\n"));
        let links = links(&install, &unit, &fragment).map_err(|fault| fault.message)?;
        let below = |link: &TargetPath| link.as_str().strip_prefix(ADMIN).unwrap().to_owned();
        Ok(links.iter().map(below).collect())
    }

    #[test]
    fn links_go_where_systemctl_puts_them() {
        for (unit, install, links) in [
            (
                "a.service",
                "WantedBy='b.target' \"c.target\"\nRequiredBy=%p.target",
                vec![
                    "/b.target.wants/a.service",
                    "/c.target.wants/a.service",
                    "/a.target.requires/a.service",
                ],
            ),
            (
                "a.service",
                "Alias=x.service b.target.wants/a.service",
                vec!["/x.service", "/b.target.wants/a.service"],
            ),
            ("x@.service", "Alias=y@.service", vec!["/y@.service"]),
            (
                "x@.service",
                "DefaultInstance=i\nWantedBy=b.target",
                vec!["/b.target.wants/x@i.service"],
            ),
        ] {
            assert_eq!(placed(unit, install).unwrap(), links, "{install}");
        }
    }

    #[test]
    fn what_systemd_refuses_to_link_is_refused() {
        for (unit, install) in [
            ("a.service", "WantedBy=foo"),
            ("a.service", "WantedBy=a/b.target"),
            ("a.service", "RequiredBy=../../../b.target"),
            ("a.service", "UpheldBy=%z.target"),
            ("a.service", "Alias=\"\""),
            ("a.service", "Alias=/"),
            ("a.service", "Alias=x"),
            ("a.service", "Alias=x.socket"),
            ("a.service", "Alias=../x.service"),
            ("a.service", "Alias=x.service.d/a.conf"),
            ("a.service", "Alias=x.target.wants/b.service"),
            ("x@.service", "DefaultInstance=../../foo\nWantedBy=b.target"),
        ] {
            let message = placed(unit, install).unwrap_err();
            assert!(message.contains("has an invalid"), "{install}: {message}");
        }
    }
}
