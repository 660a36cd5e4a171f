//! `enable-units`: presets for the next boot, and on a machine that runs what they mean now.

use std::collections::BTreeMap;
use std::time::Duration;

use bootlace_model::config::Settings;
use bootlace_model::content::Content;
use bootlace_model::effect::{
    AlreadyRan, AppendFile, Body, CommandUndo, Effect, Origin, PutFile, RunCommand, SetUnit,
    StartUnit, UnitName, UnitState, Via,
};
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::fact::Facts;
use bootlace_model::node::Attributes;
use bootlace_model::path::TargetPath;
use bootlace_model::provision::{Provision, Unit};
use bootlace_model::step::{About, Decision, PlanError, UndoPolicy};
use bootlace_model::survey::{Seen, Survey, UnitFileState};

use super::facts::{IS_LIVE, UNIT_FILES, UNIT_PLACES};
use super::findings::Findings;
use super::presets::{self, PRESET};
use super::step::{IgnitionStep, checks_nothing, yields_nothing};
use super::tree::Tree;
use super::{record, wishes, write_units};

const NAME: &str = "enable-units";

/// How long a unit may take to start.
const START: Duration = Duration::from_mins(5);
/// How long systemd may take to read its files again.
const RELOAD: Duration = Duration::from_mins(1);

static ABOUT: About = About {
    title: "Enable and disable units, for the next boot and for now",
    why: "Ignition enables units by a preset, because on a machine that never ran systemd reads \
          presets once, at its first boot, and makes the links that a unit's [Install] section asks \
          for. The same lines are written here, sorted, and instances of a template in one line. A \
          unit that shall be disabled loses its links at once, because a preset takes none away. On a \
          machine that runs nobody reads presets any more, so there the links are made now and the \
          units are started. What only another image has is left alone: a line about a unit that is \
          not there does no harm.",
    reads: &["systemd.units of the config"],
    writes: &["/etc/systemd/system-preset/", "/etc/systemd/system/"],
    command: "\
echo enable UNIT >> /etc/systemd/system-preset/20-ignition.preset
systemctl --root DIR disable UNIT
systemctl enable --now UNIT   # on a machine that runs",
    undo: UndoPolicy::Inverse,
    failures: &["I-07"],
    built: true,
};

pub(super) const STEP: IgnitionStep = IgnitionStep {
    name: NAME,
    about: &ABOUT,
    needs: &[write_units::NAME],
    uses: &[
        "ignition.unit-files",
        "ignition.unit-places",
        "ignition.is-live",
    ],
    yields: yields_nothing,
    checks: checks_nothing,
    plan,
    expects,
};

fn plan(settings: &Settings, facts: &Facts) -> Result<Decision, PlanError> {
    let wishes = wishes(settings);
    let (states, survey) = (facts.get(&UNIT_FILES)?, facts.get(&UNIT_PLACES)?);
    let lines = presets::lines(&wishes.units, &states);
    let mut effects = Vec::new();
    for line in lines.iter().filter(|line| !line.enabled) {
        let disable = |unit| set(unit, UnitState::Disabled, &line.unit.origin);
        effects.extend(UnitName::parse(&line.unit.name).map(disable));
    }
    if let Some(first) = lines.first() {
        let text: String = lines.iter().map(presets::Line::text).collect();
        effects.push(preset(settings, &survey, text, &first.unit.origin)?);
    }
    if facts.get(&IS_LIVE)? {
        effects.extend(live(wishes, &states));
    }
    Ok(Decision::Do(effects))
}

fn set(unit: UnitName, state: UnitState, origin: &Origin) -> Effect {
    Effect::SetUnit(SetUnit {
        unit,
        state,
        via: Via::Links,
        origin: origin.clone(),
    })
}

/// Writes the preset, or adds to the one that is there.
fn preset(
    settings: &Settings,
    survey: &Survey,
    text: String,
    origin: &Origin,
) -> Result<Effect, PlanError> {
    let path = TargetPath::new(PRESET)?;
    let mut findings = Findings::default();
    if let Some(why) = survey.lost.get(&path) {
        let what = format!("{path} cannot be reached: {why}");
        findings.add(origin, what, "move what is in the way");
    }
    let real = survey.real(&path).clone();
    let state = survey.real(&settings.paths.state);
    if record::is_inside(state, &real) {
        let what = format!("{path} leads by a link to");
        record::refuse(&mut findings, origin, what, state);
    }
    let mut tree = Tree::new(survey);
    let there = tree.get(&real);
    match (&there, tree.make_parents(&real)) {
        (None | Some(Seen::File { .. }), Ok(_)) => {}
        (None, Err(why)) => {
            let what = format!("{path}, by which units are enabled, cannot be made: {why}");
            findings.add(origin, what, "move what is in the way");
        }
        (Some(other), _) => {
            let what = format!(
                "{real}, by which units are enabled, shall be a file, but {} is there",
                other.noun()
            );
            findings.add(origin, what, format!("move {real} away"));
        }
    }
    findings.refuse()?;
    let origin = origin.clone();
    match there {
        Some(Seen::File {
            mode,
            owner,
            digest: Some(before),
        }) => Ok(Effect::AppendFile(AppendFile {
            path: real,
            before,
            content: Content::of(text.into_bytes()),
            attributes: Attributes {
                owner: Some(owner),
                ..Attributes::mode(mode)
            },
            origin,
        })),
        _ => Ok(Effect::PutFile(PutFile {
            path: real,
            body: Body::text(text),
            attributes: Attributes::mode(0o644),
            origin,
        })),
    }
}

/// Makes the config count now, on a machine that runs.
fn live(wishes: &Provision, states: &BTreeMap<String, UnitFileState>) -> Vec<Effect> {
    let mut effects = Vec::new();
    let units = &wishes.units;
    let Some(first) = units.first() else {
        return effects;
    };
    let wanted: Vec<(&Unit, UnitName)> = units
        .iter()
        .filter(|unit| unit.enabled == Some(true) && unit.mask != Some(true))
        .filter(|unit| is_there(states.get(&unit.name)))
        .filter_map(|unit| Some((unit, UnitName::parse(&unit.name)?)))
        .collect();
    for (unit, name) in &wanted {
        effects.push(set(name.clone(), UnitState::Enabled, &unit.origin));
    }
    effects.push(reload(&first.origin));
    for (unit, name) in wanted {
        // A template is no unit that could run.
        if !name.is_template() {
            effects.push(Effect::StartUnit(StartUnit {
                unit: name,
                within: START,
                anew: None,
                products: vec![],
                origin: unit.origin.clone(),
            }));
        }
    }
    effects
}

fn is_there(state: Option<&UnitFileState>) -> bool {
    matches!(
        state,
        Some(UnitFileState::Enabled | UnitFileState::Disabled | UnitFileState::Static)
    )
}

fn reload(origin: &Origin) -> Effect {
    let argv: Vec<String> = ["systemctl", "daemon-reload"].map(ToOwned::to_owned).into();
    Effect::RunCommand(RunCommand {
        name: "let systemd read its files again".into(),
        undo: CommandUndo::Run(argv.clone()),
        argv,
        env: BTreeMap::new(),
        directory: None,
        within: RELOAD,
        already: AlreadyRan::Repeatable,
        products: vec![],
        empties: vec![],
        edits: vec![],
        hidden: vec![],
        input: None,
        origin: origin.clone(),
    })
}

fn expects(settings: &Settings, _: &Facts) -> Vec<Expectation> {
    let mut units = wishes(settings).units.iter();
    if !units.any(|unit| unit.enabled == Some(true)) {
        return vec![];
    }
    let claim = TargetPath::new(PRESET).map(|path| Claim::File {
        path,
        digest: None,
        mode: None,
    });
    let because = "At its first boot systemd enables what the preset names, and nothing else.";
    claim
        .into_iter()
        .map(|claim| Expectation::now(claim, because))
        .collect()
}
