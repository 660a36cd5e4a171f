//! Lines of Ignition's preset, as Ignition writes them.
//!
//! Instances of one template share a line, `enable echo@.service bar foo`. Lines are sorted by the
//! unit's name and by whether it is enabled.

use std::collections::BTreeMap;

use bootlace_model::provision::Unit;
use bootlace_model::survey::UnitFileState;

/// The preset that Ignition writes.
pub(super) const PRESET: &str = "/etc/systemd/system-preset/20-ignition.preset";

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// The unit, or the template.
    name: String,
    /// Whether it is enabled.
    pub(super) enabled: bool,
    /// The instances, if it is a template.
    instances: Option<Vec<String>>,
    /// The first unit of the config that asks for it.
    pub(super) unit: &'a Unit,
}

impl Line<'_> {
    /// Returns it as it is written.
    pub(super) fn text(&self) -> String {
        let verb = if self.enabled { "enable" } else { "disable" };
        match &self.instances {
            None => format!("{verb} {}\n", self.name),
            Some(instances) => format!("{verb} {} {}\n", self.name, instances.join(" ")),
        }
    }
}

/// Works out the lines. A unit is disabled by a line only if it counts as enabled.
pub(super) fn lines<'a>(
    units: &'a [Unit],
    states: &BTreeMap<String, UnitFileState>,
) -> Vec<Line<'a>> {
    let mut lines: BTreeMap<String, Line<'a>> = BTreeMap::new();
    for unit in units {
        let Some(enabled) = unit.enabled else {
            continue;
        };
        let suffix = if enabled { "enabled" } else { "disabled" };
        let (name, instance) = split(&unit.name);
        let line = lines
            .entry(format!("{name}-{suffix}"))
            .or_insert_with(|| Line {
                name,
                enabled,
                instances: instance.is_some().then(Vec::new),
                unit,
            });
        if let Some(instances) = &mut line.instances {
            instances.extend(instance);
        }
    }
    let is_enabled = |line: &Line<'_>| {
        let asked = match &line.instances {
            None => Some(line.name.clone()),
            Some(_) => any_instance(&line.name),
        };
        let state = asked.and_then(|name| states.get(&name));
        state.is_some_and(|state| state.counts_as_enabled())
    };
    lines
        .into_values()
        .filter(|line| line.enabled || is_enabled(line))
        .collect()
}

/// Names the unit that systemctl takes a line with instances for, when Ignition asks about it.
///
/// Blanks cannot be in a name, so it escapes them, and as that has no ending it takes all of it for
/// an instance of a service.
pub(super) fn any_instance(name: &str) -> Option<String> {
    let (stem, _) = name.split_once('@')?;
    Some(format!("{stem}@\\x20.service"))
}

/// Splits an instance off its template.
fn split(name: &str) -> (String, Option<String>) {
    match (name.find('@'), name.rfind('.')) {
        (Some(at), Some(dot)) if at < dot => {
            let template = format!("{}{}", &name[..=at], &name[dot..]);
            (template, Some(name[at + 1..dot].to_owned()))
        }
        _ => (name.to_owned(), None),
    }
}

#[cfg(test)]
mod tests {
    use bootlace_model::effect::Origin;

    use super::*;

    fn unit(name: &str, enabled: bool) -> Unit {
        Unit {
            name: name.into(),
            contents: None,
            enabled: Some(enabled),
            mask: None,
            dropins: vec![],
            origin: Origin::new("ignition", "test"),
        }
    }

    fn text(units: &[Unit], states: &[(&str, UnitFileState)]) -> String {
        let states = states
            .iter()
            .map(|(name, state)| ((*name).to_owned(), *state));
        let lines = lines(units, &states.collect());
        lines.iter().map(Line::text).collect()
    }

    #[test]
    fn instances_share_a_line_and_lines_are_sorted() {
        let units = [
            unit("foo.service", true),
            unit("echo@bar.service", true),
            unit("bar.service", true),
            unit("echo@foo.service", true),
            unit("echo@.service", true),
        ];
        let expected = "enable bar.service\nenable echo@.service bar foo \nenable foo.service\n";
        assert_eq!(text(&units, &[]), expected);
    }

    #[test]
    fn only_what_counts_as_enabled_is_disabled() {
        let units = [
            unit("a.service", false),
            unit("b.service", false),
            unit("c.service", false),
            unit("d@x.service", false),
        ];
        let states = [
            ("a.service", UnitFileState::Enabled),
            ("b.service", UnitFileState::Disabled),
            ("c.service", UnitFileState::Static),
            ("d@x.service", UnitFileState::Enabled),
        ];
        assert_eq!(
            text(&units, &states),
            "disable a.service\ndisable c.service\n"
        );
        let states = [("d@\\x20.service", UnitFileState::Static)];
        assert_eq!(text(&units, &states), "disable d@.service x\n");
    }
}
