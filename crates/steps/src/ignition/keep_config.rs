//! `keep-config`: the config with all that it refers to, kept before anything is done by it.

use bootlace_model::config::{IgnitionSettings, Settings};
use bootlace_model::content::Content;
use bootlace_model::effect::{Body, Effect, Origin, PutFile};
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::fact::{Ask, Facts};
use bootlace_model::node::Attributes;
use bootlace_model::probe::Probe;
use bootlace_model::step::{About, Decision, PlanError, UndoPolicy};

use super::facts::{ACCOUNTS_BEFORE, IS_LIVE, KERNEL_ARGUMENTS};
use super::step::{IgnitionStep, checks_nothing};
use super::{accounts, config, passwd, wishes};

pub(super) const NAME: &str = "keep-config";

static ABOUT: About = About {
    title: "Keep the config with all that it refers to, and look who is who",
    why: "A config may name other configs and files of servers, and all of them were fetched, \
          decompressed, checked against their hashes and merged before this run began. The config and \
          all that was fetched for it are written down here, readable by its owner alone: a run that is \
          resumed next week must not depend on a server, and must not do something else because a server \
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
    command: "ignition-validate CONFIG && install -D -m 0600 CONFIG STATE/ignition/DIGEST/config.ign",
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
        ACCOUNTS_BEFORE.from(accounts::probe(wishes, None, passwd::places(settings))),
    ]
}

/// Lists what is kept: names below the folder of this config, and contents.
fn kept(config: &IgnitionSettings) -> Vec<(String, Content)> {
    let fetched = config.inputs.fetched.iter().enumerate();
    let fetched = fetched
        .map(|(number, fetched)| (IgnitionSettings::fetched(number), fetched.content.clone()));
    let own = [
        (IgnitionSettings::CONFIG, &config.inputs.config),
        (IgnitionSettings::INDEX, &config.index),
    ];
    let own = own.map(|(name, content)| (name.to_owned(), content.clone()));
    fetched.chain(own).collect()
}

fn plan(settings: &Settings, _: &Facts) -> Result<Decision, PlanError> {
    let config = config(settings)?;
    let folder = IgnitionSettings::place(&settings.paths.state, config.digest)?;
    let put = |(name, content): (String, Content)| {
        Ok(Effect::PutFile(PutFile {
            path: folder.join(&name)?,
            body: Body::Literal(content),
            attributes: Attributes::mode(0o600),
            origin: Origin::new("ignition", config.provision.source.clone()),
        }))
    };
    let effects = kept(config).into_iter().map(put);
    Ok(Decision::Do(effects.collect::<Result<_, PlanError>>()?))
}

fn expects(settings: &Settings, _: &Facts) -> Vec<Expectation> {
    let Some(config) = &settings.ignition else {
        return vec![];
    };
    let folder = IgnitionSettings::place(&settings.paths.state, config.digest);
    let because = "Resuming works from what is kept, and from nothing else.";
    let claim = |(name, content): (String, Content)| {
        let claim = Claim::File {
            path: folder.as_ref().ok()?.join(&name).ok()?,
            digest: Some(content.digest()),
            mode: Some(0o600),
        };
        Some(Expectation::now(claim, because))
    };
    kept(config).into_iter().filter_map(claim).collect()
}
