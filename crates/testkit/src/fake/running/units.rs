//! Units of the fake machine: known by their files, started by hand or at boot.

use std::collections::BTreeSet;
use std::time::Duration;

use bootlace_engine::port::{Command, HostError, HostResult, Output, UnitActivity};

use super::super::inode::Kind;
use super::super::program::{failed, printed};
use super::super::state::State;
use super::KUBELET;

/// Where unit files lie; the first wins.
const FOLDERS: [&str; 3] = [
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/lib/systemd/system",
];
/// The targets that a boot reaches.
const AT_BOOT: [&str; 5] = [
    "sysinit.target",
    "basic.target",
    "sockets.target",
    "timers.target",
    "multi-user.target",
];
/// How long it takes to start a unit.
const START: Duration = Duration::from_millis(5);
/// How long systemd waits before it restarts a unit that ended.
const RESTART: Duration = Duration::from_millis(200);

/// A unit that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Started {
    pub(super) since: jiff::Timestamp,
    /// Whether its process ended for good.
    pub(super) failed: bool,
    /// How often systemd restarted it while it failed.
    restarts: u32,
}

impl State {
    /// Tells what systemd would say of a unit.
    pub(crate) fn unit_activity(&self, unit: &str) -> UnitActivity {
        let mut found = UnitActivity {
            is_known: self.unit_file(unit).is_some(),
            result: "success".into(),
            ..UnitActivity::default()
        };
        let Some(started) = self.running.units.get(unit) else {
            return found;
        };
        if started.failed {
            found.has_failed = true;
            found.result = "exit-code".into();
        } else if self.running.unit_loops(unit).is_some() {
            let age = self.now.duration_since(started.since).unsigned_abs();
            let times = age.as_millis() / RESTART.as_millis();
            found.restarts = u32::try_from(times).unwrap_or(u32::MAX);
            found.result = "exit-code".into();
        } else {
            found.is_active = true;
            found.restarts = started.restarts;
        }
        found
    }

    /// Lets systemd remember how often it restarted units.
    pub(super) fn remember_restarts(&mut self) {
        let names: Vec<String> = self.running.units.keys().cloned().collect();
        for name in names {
            let restarts = self.unit_activity(&name).restarts;
            if let Some(started) = self.running.units.get_mut(&name) {
                started.restarts = restarts;
            }
        }
    }

    /// Returns since when a unit does its work; none if it does not.
    pub(crate) fn works_since(&self, unit: &str) -> Option<jiff::Timestamp> {
        let active = self.unit_activity(unit).is_active;
        let started = self.running.units.get(unit).filter(|_| active);
        started.map(|started| started.since)
    }

    /// Returns the last lines that a unit logged.
    pub(crate) fn unit_lines(&self, unit: &str) -> Vec<String> {
        let running = &self.running;
        let last = running
            .unit_fails(unit)
            .or_else(|| running.unit_loops(unit));
        let last = last.filter(|_| running.units.contains_key(unit));
        let first = running.units.get(unit).map(|_| format!("Started {unit}."));
        let about_images = match unit {
            KUBELET => self.images_not_pulled(),
            _ => vec![],
        };
        first.into_iter().chain(last).chain(about_images).collect()
    }

    /// Starts a unit with those that it requires or wants; `anew` begins it again.
    pub(crate) fn start(&mut self, unit: &str, anew: bool) -> HostResult<()> {
        let Some(text) = self.unit_file(unit) else {
            return Err(refused("start", unit, "the unit is not found or masked"));
        };
        for needed in needs(&text) {
            if self.unit_file(&needed).is_some() {
                self.start(&needed, false)?;
            }
        }
        self.pass_time(START);
        if ends_at_once(&text) {
            return Ok(());
        }
        let failed = self.running.unit_fails(unit).is_some();
        let works = self.running.units.get(unit).is_some_and(|it| !it.failed);
        if anew || failed || !works {
            let since = self.now;
            self.running.units.insert(
                unit.into(),
                Started {
                    since,
                    failed,
                    restarts: 0,
                },
            );
        }
        if failed {
            return Err(refused("start", unit, "its process ended with an error"));
        }
        self.leave(unit)
    }

    /// Stops a unit; what its process made stays.
    pub(crate) fn stop(&mut self, unit: &str) {
        self.running.units.remove(unit);
    }

    /// Starts what is enabled, as a boot does.
    pub(crate) fn boot(&mut self) {
        for unit in self.enabled() {
            // A unit that cannot be started does not keep a machine from booting.
            drop(self.start(&unit, false));
        }
        self.settle();
    }

    /// Lists the units that a boot starts.
    fn enabled(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for folder in FOLDERS {
            for target in AT_BOOT {
                for how in ["wants", "requires"] {
                    found.extend(self.names_in(&format!("{folder}/{target}.{how}")));
                }
            }
        }
        found
    }

    /// Returns the content of the file that defines a unit; none if there is none or it is masked.
    pub(crate) fn unit_file(&self, unit: &str) -> Option<String> {
        let template = unit.split_once('@').and_then(|(stem, rest)| {
            let (_, suffix) = rest.rsplit_once('.')?;
            Some(format!("{stem}@.{suffix}"))
        });
        for name in [Some(unit.to_owned()), template].into_iter().flatten() {
            for folder in FOLDERS {
                let Ok(Some(dir)) = self.disk.walk(folder) else {
                    continue;
                };
                let Ok(Some(ino)) = self.disk.lookup(dir, &name) else {
                    continue;
                };
                let masks = matches!(self.disk.inode(ino).map(|inode| &inode.kind),
                    Ok(Kind::Link(target)) if target == "/dev/null");
                return if masks {
                    None
                } else {
                    self.text(&format!("{folder}/{name}"))
                };
            }
        }
        None
    }

    /// Does what the program `systemctl` does, as far as steps need it.
    pub(crate) fn systemctl(&mut self, command: &Command<'_>) -> HostResult<Output> {
        let words: Vec<&str> = command.argv.iter().skip(1).map(String::as_str).collect();
        let words: Vec<&str> = words.into_iter().filter(|w| !w.starts_with('-')).collect();
        self.settle();
        match words.as_slice() {
            ["daemon-reload"] => Ok(printed("")),
            ["stop", units @ ..] => {
                let unknown = |unit: &&&str| {
                    self.unit_file(unit).is_none() && !self.running.units.contains_key(**unit)
                };
                if let Some(unit) = units.iter().find(unknown) {
                    return Ok(failed(5, format!("Unit {unit} not loaded.")));
                }
                for unit in units {
                    self.stop(unit);
                }
                Ok(printed(""))
            }
            [verb @ ("start" | "restart"), unit] => match self.start(unit, *verb == "restart") {
                Err(error @ HostError::Io { .. }) => Ok(failed(1, error.to_string())),
                other => other.map(|()| printed("")),
            },
            ["is-active", unit] if self.unit_activity(unit).is_active => Ok(printed("active")),
            ["is-active", _] => Ok(failed(3, "")),
            _ => Ok(failed(
                1,
                format!("Unknown command verb {}.", words.join(" ")),
            )),
        }
    }

    /// Reads a file as text; none if it is none.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let ino = self.disk.walk(path).ok()??;
        String::from_utf8(self.disk.data(ino).ok()?.to_vec()).ok()
    }

    /// Lists the names in a folder; none if there is none.
    pub(crate) fn names_in(&self, path: &str) -> Vec<String> {
        let Ok(Some(ino)) = self.disk.walk(path) else {
            return vec![];
        };
        let names = self.disk.names(ino);
        names.map_or(vec![], |names| {
            names.iter().map(|(name, _)| name.to_owned()).collect()
        })
    }
}

/// Says that a unit, an image or a product cannot be had so.
pub(crate) fn refused(act: &'static str, target: &str, why: &str) -> HostError {
    HostError::Io {
        act,
        target: target.to_owned(),
        error: std::io::Error::other(why.to_owned()),
    }
}

/// Lists the units that another one starts with itself.
fn needs(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.split_once('='));
    let needs = lines.filter(|(key, _)| ["Requires", "Wants", "BindsTo"].contains(&key.trim()));
    needs
        .flat_map(|(_, names)| names.split_whitespace().map(ToOwned::to_owned))
        .collect()
}

/// Tells whether a unit's process ends with success as soon as it is started.
fn ends_at_once(text: &str) -> bool {
    let stays = text
        .lines()
        .any(|line| line.trim() == "RemainAfterExit=yes");
    let starts = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("ExecStart="));
    !stays && starts.is_some_and(|line| line.trim().ends_with("/true"))
}
