//! Units set offline: the same links that the real `systemctl --root` makes.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the test prepares folders and runs the real systemctl beside the product"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use bootlace_engine::{Engine, Observer, Options};
use bootlace_host::RealHost;
use bootlace_model::config::{Paths, Settings};
use bootlace_model::effect::{Effect, Origin, SetUnit, UnitName, UnitState, Via};
use bootlace_model::event::Event;
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::fact::Facts;
use bootlace_model::path::TargetPath;
use bootlace_model::step::{About, Decision, PlanError, Sequence, Step, UndoPolicy};

struct Nobody;

impl Observer for Nobody {
    fn on(&self, _: &Event) {}
}

/// Sets the units that the cluster's name lists, such as `enabled=a.service,masked=b.service`.
struct SetUnits;

static ABOUT: About = About {
    title: "Set units",
    why: "To be compared with systemctl.",
    reads: &[],
    writes: &["/etc/systemd/system/"],
    command: "systemctl enable …",
    undo: UndoPolicy::Inverse,
    failures: &[],
    built: true,
};

static SEQUENCE: Sequence = Sequence {
    name: "units",
    about: "Sets units.",
    steps: &[&SetUnits as &dyn Step],
    failures: &[],
    replaced_later: &[],
};

fn wishes(settings: &Settings) -> Vec<(UnitName, UnitState)> {
    let state = |word: &str| match word {
        "enable" => UnitState::Enabled,
        "disable" => UnitState::Disabled,
        _ => UnitState::Masked,
    };
    let pairs = settings
        .cluster
        .name
        .split(',')
        .filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(verb, unit)| (UnitName::parse(unit).unwrap(), state(verb)))
        .collect()
}

impl Step for SetUnits {
    fn name(&self) -> &'static str {
        "set-units"
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn needs(&self) -> &'static [&'static str] {
        &[]
    }

    fn plan(&self, settings: &Settings, _: &Facts) -> Result<Decision, PlanError> {
        let origin = Origin::new("built-in", "test");
        let set = |(unit, state)| {
            Effect::SetUnit(SetUnit {
                unit,
                state,
                via: Via::Links,
                origin: origin.clone(),
            })
        };
        Ok(Decision::Do(
            wishes(settings).into_iter().map(set).collect(),
        ))
    }

    fn expects(&self, settings: &Settings, _: &Facts) -> Vec<Expectation> {
        let set = wishes(settings)
            .into_iter()
            .filter(|(_, state)| *state != UnitState::Disabled);
        set.map(|(unit, state)| Expectation::now(Claim::Unit { unit, state }, "It was set."))
            .collect()
    }
}

const UNITS: [(&str, &str); 8] = [
    (
        "plain.service",
        "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n",
    ),
    (
        "many.service",
        "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target graphical.target\n\
         RequiredBy=basic.target\nAlias=nick.service other-%N.service\nAlso=plain.service dotted.socket\n",
    ),
    (
        "dotted.socket",
        "[Socket]\nListenStream=/run/x\n[Install]\nWantedBy=sockets.target\n",
    ),
    (
        "getty2@.service",
        "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=getty.target\nDefaultInstance=tty1\n",
    ),
    (
        "inst@.service",
        "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n",
    ),
    ("static.service", "[Service]\nExecStart=/bin/true\n"),
    (
        "loop-a.service",
        "[Service]\nExecStart=/bin/true\n[Install]\nAlso=loop-b.service\nWantedBy=a.target\n",
    ),
    (
        "loop-b.service",
        "[Service]\nExecStart=/bin/true\n[Install]\nAlso=loop-a.service\nWantedBy=b.target\n",
    ),
];

fn world() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("usr/lib/systemd/system");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::create_dir_all(root.path().join("etc/systemd/system")).unwrap();
    for (name, text) in UNITS {
        std::fs::write(folder.join(name), text).unwrap();
    }
    root
}

/// Lists all links below the administrator's folder, with what they point to.
fn links(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.join("etc/systemd/system")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if entry.file_type().unwrap().is_symlink() {
                let target = std::fs::read_link(&path).unwrap().display().to_string();
                let name = path.strip_prefix(root).unwrap().display().to_string();
                found.insert(name, target);
            } else if path.is_dir() {
                open.push(path);
            }
        }
    }
    found
}

fn by_systemctl(root: &Path, wishes: &str) {
    for (verb, unit) in wishes.split(',').filter_map(|pair| pair.split_once('=')) {
        let output = Command::new("systemctl")
            .arg("--root")
            .arg(root)
            .args([verb, unit])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "systemctl {verb} {unit}: {said}");
    }
}

fn by_us(root: &Path, wishes: &str) -> BTreeMap<String, String> {
    let before = links(root);
    let host = RealHost::builder().root(root).build();
    let assets = TargetPath::new("/opt/bootlace").unwrap();
    let state = TargetPath::new("/var/lib/bootlace").unwrap();
    let mut settings = Settings::defaults(Paths { assets, state });
    settings.cluster.name = wishes.into();
    let options = Options::new("test");
    let engine = Engine {
        host: &host,
        sequence: &SEQUENCE,
        settings: &settings,
        observer: &Nobody,
        options: &options,
    };
    engine.run().unwrap();
    let after = links(root);
    assert!(engine.verify().unwrap().ok);
    assert_eq!(engine.undo().unwrap().refused, vec![]);
    assert_eq!(links(root), before, "undo of {wishes}");
    after
}

#[test]
fn units_are_set_by_the_links_that_systemctl_makes() {
    for (prepared, wishes) in [
        ("", "enable=plain.service"),
        ("", "enable=many.service"),
        ("", "enable=getty2@.service"),
        ("", "enable=inst@one.service,enable=inst@two.service"),
        ("", "enable=loop-a.service"),
        ("", "mask=static.service"),
        ("", "mask=plain.service,enable=dotted.socket"),
        (
            "enable=plain.service,enable=many.service",
            "disable=many.service",
        ),
        (
            "enable=inst@one.service,enable=inst@two.service",
            "disable=inst@one.service",
        ),
        ("enable=plain.service", "enable=plain.service"),
        ("mask=plain.service", "mask=plain.service"),
    ] {
        let (theirs, ours) = (world(), world());
        by_systemctl(theirs.path(), prepared);
        by_systemctl(ours.path(), prepared);
        by_systemctl(theirs.path(), wishes);
        assert_eq!(
            by_us(ours.path(), wishes),
            links(theirs.path()),
            "{prepared} | {wishes}"
        );
    }
}
