//! `keep-config`: the config with all that it refers to, kept before anything is done by it.

use bootlace_model::config::{IgnitionSettings, Settings};
use bootlace_model::effect::{Body, Effect, Origin, PutFile};
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::fact::{Ask, Facts};
use bootlace_model::node::Attributes;
use bootlace_model::probe::Probe;
use bootlace_model::step::{About, Decision, PlanError, UndoPolicy};

use super::facts::{ACCOUNTS_BEFORE, IS_LIVE, KERNEL_ARGUMENTS};
use super::step::{IgnitionStep, checks_nothing};
use super::{accounts, config, wishes};

pub(super) const NAME: &str = "keep-config";

static ABOUT: About = About {
    title: "Keep the config with all that it refers to, and look who is who",
    why: "A config may name other configs and files of servers, and all of them were fetched, \
          decompressed, checked against their hashes and merged before this run began. What came of \
          it is written down here, by its digest, readable by its owner alone: a run that is resumed \
          next week must not depend on a server, and must not do something else because a server \
          answers something else. Disks, partitions, RAID, LUKS and filesystems are refused by name, \
          because they belong to a machine that does not run yet. Kernel arguments are noted as a \
          fact, for whoever can change them. The target's users and groups are looked up now, before \
          a program changes them.",
    reads: &[
        "the Ignition config and what it refers to",
        "/etc/passwd",
        "/etc/group",
    ],
    writes: &["/var/lib/bootlace/ignition/"],
    command: "ignition-validate CONFIG && install -D -m 0600 CONFIG STATE/ignition/DIGEST.json",
    undo: UndoPolicy::Inverse,
    failures: &["I-02", "I-04"],
    built: true,
};

pub(super) const STEP: IgnitionStep = IgnitionStep {
    name: NAME,
    about: &ABOUT,
    needs: &[],
    uses: &[],
    yields,
    checks: checks_nothing,
    plan,
    expects,
};

fn yields(settings: &Settings) -> Vec<Ask> {
    let wishes = wishes(settings);
    let arguments = serde_json::to_value(&wishes.kernel_arguments).unwrap_or_default();
    vec![
        KERNEL_ARGUMENTS.from(Probe::Known(arguments)),
        IS_LIVE.from(Probe::IsLive),
        ACCOUNTS_BEFORE.from(accounts::probe(wishes, None)),
    ]
}

fn plan(settings: &Settings, _: &Facts) -> Result<Decision, PlanError> {
    let config = config(settings)?;
    Ok(Decision::Do(vec![Effect::PutFile(PutFile {
        path: IgnitionSettings::place(&settings.paths.state, config.digest)?,
        body: Body::Literal(config.snapshot.clone()),
        attributes: Attributes::mode(0o600),
        origin: Origin::new("ignition", config.provision.source.clone()),
    })]))
}

fn expects(settings: &Settings) -> Vec<Expectation> {
    let Some(config) = &settings.ignition else {
        return vec![];
    };
    let place = IgnitionSettings::place(&settings.paths.state, config.digest);
    let claim = place.map(|path| Claim::File {
        path,
        digest: Some(config.digest),
        mode: Some(0o600),
    });
    let because = "Resuming works from what is kept, and from nothing else.";
    claim
        .into_iter()
        .map(|claim| Expectation::now(claim, because))
        .collect()
}
