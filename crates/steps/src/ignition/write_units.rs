//! `write-units`: unit files, drop-ins and masks.

use std::collections::HashSet;

use bootlace_model::config::Settings;
use bootlace_model::effect::{
    Body, DropPath, Effect, MakeDirectory, MakeLink, Origin, PutFile, UnitName,
};
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::fact::{Ask, Facts};
use bootlace_model::ids::Digest;
use bootlace_model::node::Attributes;
use bootlace_model::path::TargetPath;
use bootlace_model::probe::Probe;
use bootlace_model::provision::{Provision, Unit};
use bootlace_model::step::{About, Decision, PlanError, UndoPolicy};
use bootlace_model::survey::{Places, Seen, Survey};

use super::facts::{UNIT_FILES, UNIT_PLACES};
use super::findings::Findings;
use super::step::{IgnitionStep, checks_nothing};
use super::tree::Tree;
use super::{presets, record, wishes, write_files};

pub(super) const NAME: &str = "write-units";

/// Where an administrator's units lie.
const FOLDER: &str = "/etc/systemd/system";
/// What a masked unit points to.
const NOWHERE: &str = "/dev/null";

static ABOUT: About = About {
    title: "Write unit files and drop-ins, set masks and take them away",
    why: "Units, and the drop-ins that change units of the image, go to /etc/systemd/system, where \
          they win over what the image brought. A unit or a drop-in without contents is only \
          spoken of: nothing is written for it. A drop-in whose contents are \"\" is an empty file, \
          which takes away one of the same name. Units come after files, because a file of the config may make the folder \
          that they lie in. A mask is a link to /dev/null in the unit's place; asking for none takes \
          only such a link away. When all of it is written it is noted which units count as enabled, \
          for the next step.",
    reads: &["systemd.units of the config"],
    writes: &["/etc/systemd/system/"],
    command: "\
install -D -m 0644 UNIT /etc/systemd/system/NAME
install -D -m 0644 DROPIN /etc/systemd/system/NAME.d/DROPIN
ln -sfn /dev/null /etc/systemd/system/MASKED",
    undo: UndoPolicy::Inverse,
    failures: &["I-06"],
    built: true,
};

pub(super) const STEP: IgnitionStep = IgnitionStep {
    name: NAME,
    about: &ABOUT,
    needs: &[write_files::NAME],
    uses: &["ignition.unit-places"],
    yields,
    checks: checks_nothing,
    plan,
    expects,
};

/// Lists what has to be known of the target before units are written.
pub(super) fn places(wishes: &Provision, state: &TargetPath) -> Places {
    let mut places = Places {
        contents: TargetPath::new(presets::PRESET).into_iter().collect(),
        ..Places::default()
    };
    if !wishes.units.is_empty() {
        places.paths.push(state.clone());
    }
    for unit in &wishes.units {
        places.paths.extend(unit_path(unit));
        let dropins = unit.dropins.iter();
        places
            .paths
            .extend(dropins.filter_map(|dropin| dropin_path(unit, &dropin.name)));
    }
    places
}

fn unit_path(unit: &Unit) -> Option<TargetPath> {
    TargetPath::new(&format!("{FOLDER}/{}", unit.name)).ok()
}

fn dropin_path(unit: &Unit, dropin: &str) -> Option<TargetPath> {
    TargetPath::new(&format!("{FOLDER}/{}.d/{dropin}", unit.name)).ok()
}

fn yields(settings: &Settings) -> Vec<Ask> {
    let units = wishes(settings).units.iter();
    let spoken_of = units.filter(|unit| unit.enabled.is_some());
    let mut known: HashSet<UnitName> = HashSet::new();
    let mut names: Vec<UnitName> = Vec::new();
    for unit in spoken_of {
        let any = presets::any_instance(&unit.name);
        let both = [Some(unit.name.clone()), any].into_iter().flatten();
        let both = both.filter_map(|name| UnitName::parse(&name));
        names.extend(both.filter(|name| known.insert(name.clone())));
    }
    vec![UNIT_FILES.from(Probe::UnitFiles(names))]
}

fn plan(settings: &Settings, facts: &Facts) -> Result<Decision, PlanError> {
    let survey = facts.get(&UNIT_PLACES)?;
    let mut work = Work {
        state: survey.real(&settings.paths.state),
        tree: Tree::new(&survey),
        survey: &survey,
        findings: Findings::default(),
        drops: vec![],
        effects: vec![],
    };
    for unit in &wishes(settings).units {
        work.unit(unit);
    }
    work.findings.refuse()?;
    let mut effects = work.drops;
    effects.append(&mut work.effects);
    Ok(Decision::Do(effects))
}

struct Work<'a> {
    /// Where the record of the run lies, by which everything is taken back.
    state: &'a TargetPath,
    tree: Tree<'a>,
    survey: &'a Survey,
    findings: Findings,
    drops: Vec<Effect>,
    effects: Vec<Effect>,
}

impl Work<'_> {
    fn unit(&mut self, unit: &Unit) {
        // A unit that is only spoken of may still lose its mask or its links there.
        if unit_path(unit).is_some_and(|path| !self.spares_record(&path, &unit.origin)) {
            return;
        }
        for dropin in &unit.dropins {
            if let Some(contents) = &dropin.contents {
                let path = dropin_path(unit, &dropin.name);
                self.put(path, &dropin.name, contents, &dropin.origin);
            }
        }
        let contents = unit.contents.as_deref().filter(|text| !text.is_empty());
        match (contents, unit.mask) {
            // The mask would take the file's place a moment later.
            (_, Some(true)) => self.mask(unit),
            (Some(contents), _) => {
                self.put(unit_path(unit), &unit.name, contents, &unit.origin);
            }
            (None, Some(false)) => self.unmask(unit),
            (None, None) => {}
        }
    }

    fn put(&mut self, path: Option<TargetPath>, name: &str, contents: &str, origin: &Origin) {
        let Some(real) = self.real(path, name, origin) else {
            return;
        };
        if let Some(Seen::Directory { .. }) = self.tree.get(&real) {
            let what = format!("{real} shall be a file, but a folder is there");
            let hint = format!("remove the folder, or leave {name} out of the config");
            return self.findings.add(origin, what, hint);
        }
        let owner = self.tree.given(&real).owner;
        let mode = 0o644;
        let seen = Seen::File {
            mode,
            owner,
            digest: None,
        };
        self.tree.set(&real, seen);
        self.effects.push(Effect::PutFile(PutFile {
            path: real,
            body: Body::text(contents),
            attributes: Attributes {
                owner: Some(owner),
                ..Attributes::mode(mode)
            },
            origin: origin.clone(),
        }));
    }

    fn mask(&mut self, unit: &Unit) {
        let Some(path) = self.real(unit_path(unit), &unit.name, &unit.origin) else {
            return;
        };
        if let Some(Seen::Directory { .. }) = self.tree.get(&path) {
            self.drops.push(removal(&path, &unit.origin));
        }
        self.effects.push(Effect::MakeLink(MakeLink {
            owner: Some(self.tree.given(&path).owner),
            path,
            target: NOWHERE.into(),
            origin: unit.origin.clone(),
        }));
    }

    fn unmask(&mut self, unit: &Unit) {
        let Some(path) = unit_path(unit) else { return };
        let real = self.survey.real(&path);
        if matches!(self.tree.get(real), Some(Seen::Link { target, .. }) if target == NOWHERE) {
            self.drops.push(removal(real, &unit.origin));
        }
    }

    /// Tells whether a path leads elsewhere than into the record of the run; if not, it is noted.
    fn spares_record(&mut self, path: &TargetPath, origin: &Origin) -> bool {
        let spares = !record::is_inside(self.state, self.survey.real(path));
        if !spares {
            let what = format!("{path} leads by a link to");
            record::refuse(&mut self.findings, origin, what, self.state);
        }
        spares
    }

    /// Finds out where a file goes, and makes folders on the way that get their group from above.
    fn real(
        &mut self,
        path: Option<TargetPath>,
        name: &str,
        origin: &Origin,
    ) -> Option<TargetPath> {
        let Some(path) = path else {
            let what = format!("{name:?} cannot be the name of a file");
            self.findings.add(origin, what, "correct the name");
            return None;
        };
        if let Some(why) = self.survey.lost.get(&path) {
            let what = format!("{path} cannot be reached: {why}");
            let hint = format!("look at the way with `namei -l {path}`, below the root");
            self.findings.add(origin, what, hint);
            return None;
        }
        if !self.spares_record(&path, origin) {
            return None;
        }
        let real = self.survey.real(&path).clone();
        match self.tree.make_parents(&real) {
            Ok(parents) => {
                for parent in parents.into_iter().filter(|parent| parent.inherits) {
                    self.effects.push(Effect::MakeDirectory(MakeDirectory {
                        path: parent.path,
                        attributes: Attributes {
                            owner: Some(parent.owner),
                            ..Attributes::mode(parent.mode)
                        },
                        origin: origin.clone(),
                    }));
                }
                Some(real)
            }
            Err(why) => {
                let what = format!("{path} cannot be made: {why}");
                let hint = "move what is in the way, or leave the unit out of the config";
                self.findings.add(origin, what, hint);
                None
            }
        }
    }
}

fn removal(path: &TargetPath, origin: &Origin) -> Effect {
    Effect::DropPath(DropPath {
        path: path.clone(),
        forget: None,
        origin: origin.clone(),
    })
}

fn expects(settings: &Settings, _: &Facts) -> Vec<Expectation> {
    let mut claims = Vec::new();
    for unit in &wishes(settings).units {
        for dropin in &unit.dropins {
            let path = dropin_path(unit, &dropin.name);
            claims.extend(written(path, dropin.contents.as_deref()));
        }
        if unit.mask == Some(true) {
            claims.extend(unit_path(unit).map(|path| Claim::Link {
                path,
                target: NOWHERE.into(),
            }));
        } else {
            let contents = unit.contents.as_deref().filter(|text| !text.is_empty());
            claims.extend(written(unit_path(unit), contents));
        }
    }
    if claims.is_empty() {
        return vec![];
    }
    let what = format!(
        "the config's units and drop-ins are there, {} in all",
        claims.len()
    );
    let because = "systemd would start something else, or nothing, at the next boot.";
    vec![Expectation::now(Claim::All { what, claims }, because)]
}

fn written(path: Option<TargetPath>, contents: Option<&str>) -> Option<Claim> {
    Some(Claim::File {
        path: path?,
        digest: Some(Digest::of(contents?.as_bytes())),
        mode: Some(0o644),
    })
}
