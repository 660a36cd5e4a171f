//! systemd units, set without a running systemd.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Origin;

/// The name of a unit, such as `kubelet.service` or `getty@tty1.service`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnitName(String);

impl UnitName {
    /// Accepts what systemd accepts as a unit's name.
    pub fn parse(text: &str) -> Option<Self> {
        const SUFFIXES: [&str; 11] = [
            "service",
            "socket",
            "target",
            "device",
            "mount",
            "automount",
            "swap",
            "timer",
            "path",
            "slice",
            "scope",
        ];
        let plain = |c: char| c.is_ascii_alphanumeric() || ":-_.\\@".contains(c);
        let (stem, suffix) = text.rsplit_once('.')?;
        let fits = !stem.is_empty() && text.len() <= 255 && text.chars().all(plain);
        (fits && !stem.starts_with(['.', '@']) && SUFFIXES.contains(&suffix))
            .then(|| Self(text.to_owned()))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the template and the instance of `name@instance.suffix`.
    pub fn instance(&self) -> Option<(Self, &str)> {
        let (stem, suffix) = self.0.rsplit_once('.')?;
        let (name, instance) = stem.split_once('@')?;
        (!instance.is_empty()).then(|| (Self(format!("{name}@.{suffix}")), instance))
    }

    /// Tells whether this is a template that needs an instance, `name@.suffix`.
    pub fn is_template(&self) -> bool {
        self.0
            .rsplit_once('.')
            .is_some_and(|(stem, _)| stem.ends_with('@'))
    }
}

impl fmt::Display for UnitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for UnitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

/// How a unit shall be at the next boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnitState {
    /// Started by what its `[Install]` section names.
    Enabled,
    /// Not started by itself.
    Disabled,
    /// Cannot be started at all.
    Masked,
}

/// By which means a unit's state is set offline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// By the links that its `[Install]` section asks for, as `systemctl --root` makes them.
    Links,
    /// By a line in `/etc/systemd/system-preset/20-bootlace.preset`, as Ignition does.
    Preset,
}

/// Enables, disables or masks a unit in a root whose systemd does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetUnit {
    /// Which.
    pub unit: UnitName,
    /// How it shall be.
    pub state: UnitState,
    /// By which means.
    pub via: Via,
    /// Which decision sets it.
    pub origin: Origin,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_names_are_those_of_systemd() {
        for good in [
            "kubelet.service",
            "getty@tty1.service",
            "a\\x2db.mount",
            "x@.socket",
        ] {
            assert!(UnitName::parse(good).is_some(), "{good}");
        }
        for bad in [
            "",
            "kubelet",
            ".service",
            "@a.service",
            "a/b.service",
            "a.conf",
            "a b.path",
        ] {
            assert!(UnitName::parse(bad).is_none(), "{bad}");
        }
        let unit = UnitName::parse("getty@tty1.service").unwrap();
        let (template, instance) = unit.instance().unwrap();
        assert_eq!((template.as_str(), instance), ("getty@.service", "tty1"));
        assert!(template.is_template() && template.instance().is_none());
    }
}
