//! What the sample steps are made of.

use std::collections::BTreeMap;

use bootlace_model::check::Check;
use bootlace_model::config::Settings;
use bootlace_model::effect::{
    Body, DropPath, Effect, MakeDirectory, MakeLink, Origin, PutFile, SetUnit, UnitName, UnitState,
    Via,
};
use bootlace_model::expect::Expectation;
use bootlace_model::fact::{Ask, Facts};
use bootlace_model::fault::Fault;
use bootlace_model::node::{Attributes, Owner, Xattrs};
use bootlace_model::path::TargetPath;
use bootlace_model::step::{About, Decision, PlanError, Step, UndoPolicy};

/// A step whose decisions are plain functions.
pub(super) struct SampleStep {
    pub(super) name: &'static str,
    pub(super) about: &'static About,
    pub(super) needs: &'static [&'static str],
    pub(super) uses: &'static [&'static str],
    pub(super) checks: fn() -> Vec<Check>,
    pub(super) asks: fn() -> Vec<Ask>,
    pub(super) yields: fn() -> Vec<Ask>,
    pub(super) plan: fn(&Settings, &Facts) -> Result<Decision, PlanError>,
    pub(super) expects: fn() -> Vec<Expectation>,
}

impl Step for SampleStep {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static About {
        self.about
    }

    fn needs(&self) -> &'static [&'static str] {
        self.needs
    }

    fn asks(&self, _: &Settings) -> Vec<Ask> {
        (self.asks)()
    }

    fn uses(&self) -> &'static [&'static str] {
        self.uses
    }

    fn checks(&self, _: &Settings) -> Vec<Check> {
        (self.checks)()
    }

    fn yields(&self, _: &Settings) -> Vec<Ask> {
        (self.yields)()
    }

    fn plan(&self, settings: &Settings, facts: &Facts) -> Result<Decision, PlanError> {
        (self.plan)(settings, facts)
    }

    fn expects(&self, _: &Settings, _: &Facts) -> Vec<Expectation> {
        (self.expects)()
    }
}

/// Tells about a sample step; the long texts are those of real steps.
pub(super) const fn about(title: &'static str) -> About {
    About {
        title,
        why: "Only tests run it. It stands for the steps that use the same effects.",
        reads: &[],
        writes: &[],
        command: "true",
        undo: UndoPolicy::Inverse,
        failures: &[],
        built: true,
    }
}

/// Names a path that stands in this crate's own text; a wrong one shows in every test.
pub(super) fn at(text: &str) -> TargetPath {
    TargetPath::new(text).unwrap_or_else(|_| TargetPath::root())
}

pub(super) fn origin() -> Origin {
    Origin::new("built-in", "sampler")
}

/// Gives a mode, an owner and a label.
pub(super) fn attributes(mode: u32, owner: Option<u32>, label: Option<&str>) -> Attributes {
    let label = label.map(|value| ("user.sampler".to_owned(), value.as_bytes().to_vec()));
    Attributes {
        mode,
        owner: owner.map(|id| Owner { uid: id, gid: id }),
        xattrs: Xattrs(BTreeMap::from_iter(label)),
    }
}

pub(super) fn put(path: &str, body: Body, attributes: Attributes) -> Effect {
    Effect::PutFile(PutFile {
        path: at(path),
        body,
        attributes,
        origin: origin(),
    })
}

pub(super) fn folder(path: &str, attributes: Attributes) -> Effect {
    Effect::MakeDirectory(MakeDirectory {
        path: at(path),
        attributes,
        origin: origin(),
    })
}

pub(super) fn link(path: &str, target: &str) -> Effect {
    Effect::MakeLink(MakeLink {
        path: at(path),
        target: target.into(),
        owner: None,
        origin: origin(),
    })
}

pub(super) fn drop_path(path: &str) -> Effect {
    Effect::DropPath(DropPath {
        path: at(path),
        forget: None,
        origin: origin(),
    })
}

pub(super) fn set_unit(unit: &str, state: UnitState, via: Via) -> Result<Effect, PlanError> {
    let unit = unit_name(unit)?;
    Ok(Effect::SetUnit(SetUnit {
        unit,
        state,
        via,
        origin: origin(),
    }))
}

pub(super) fn unit_name(text: &str) -> Result<UnitName, Fault> {
    UnitName::parse(text).ok_or_else(|| Fault::internal(format!("{text} is no unit's name")))
}
