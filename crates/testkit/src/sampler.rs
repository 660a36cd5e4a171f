//! A sequence that ships with nothing: it uses every effect, probe and claim of the model.
//!
//! | step | needs | what it tries |
//! |---|---|---|
//! | `lay-out` | | files, folders, links; replaces what is there; asks every kind of probe |
//! | `make-keys` | `lay-out` | keys, an authority, a certificate, a token, composed files |
//! | `put-units` | `lay-out` | unit files for the next step |
//! | `set-units` | `put-units` | enables by links and presets, disables, masks |
//! | `initialise` | `lay-out` | commands that may and may not be repeated, and how each is undone |
//! | `download` | `lay-out` | a download with troubles; yields facts |
//! | `load-images` | `lay-out` | starts a unit that runs already, loads images of which one is there |
//! | `start` | `load-images`, `make-keys` | checks; units with every kind of product, static pods, waits |
//! | `apply` | `start` | objects of an API, waits for what becomes of them |
//! | `remove-old` | `lay-out` | removes a file, a link, a tree; ends an expectation |
//! | `never` | `lay-out` | is skipped |
//! | `report` | all | uses facts, waits for a program and a URL, lists files |

mod files;
mod live;
mod machine;
mod parts;
mod world;

use bootlace_model::step::Sequence;
pub use world::{ANSWER_URL, HEALTH_URL, world};

/// The sample sequence.
pub static SEQUENCE: Sequence = Sequence {
    name: "sampler",
    about: "Tries every effect, probe and claim; only tests run it.",
    steps: &[
        &files::LAY_OUT,
        &machine::MAKE_KEYS,
        &machine::PUT_UNITS,
        &machine::SET_UNITS,
        &machine::INITIALISE,
        &machine::DOWNLOAD,
        &live::LOAD_IMAGES,
        &live::START,
        &live::APPLY,
        &files::REMOVE_OLD,
        &files::NEVER,
        &files::REPORT,
    ],
    failures: &[],
    replaced_later: &[],
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use bootlace_model::check::Test;
    use bootlace_model::effect::{Effect, EffectKind, Product};
    use bootlace_model::expect::Claim;
    use bootlace_model::fact::Facts;
    use bootlace_model::probe::{Answer, FileTree, Probe};
    use bootlace_model::step::Decision;

    use super::*;
    use crate::env;

    fn facts() -> Facts {
        let mut facts = Facts::default();
        let content = |text: &str| Answer::Content(Some(text.as_bytes().to_vec()));
        facts.set("sampler.old-config", content("old = yes\n"));
        facts.set("sampler.input-files", Answer::Tree(FileTree::default()));
        facts.set("sampler.machine", Answer::Json("fake-0".into()));
        facts.set("sampler.answer", Answer::Json(42.into()));
        facts.set("sampler.note", Answer::Json("x".into()));
        facts
    }

    fn effects() -> Vec<Effect> {
        let settings = env::settings();
        let plans = SEQUENCE
            .steps
            .iter()
            .map(|step| step.plan(&settings, &facts()).unwrap());
        let effects = plans.flat_map(|decision| match decision {
            Decision::Do(effects)
            | Decision::DoPart { effects, .. }
            | Decision::DoFirst { effects, .. } => effects,
            Decision::Skip { .. } => vec![],
        });
        effects.collect()
    }

    #[test]
    fn every_kind_of_effect_is_tried() {
        use EffectKind::{
            AppendFile, ApplyObjects, Await, DropPath, Fetch, ImportImages, IssueCertificate,
            MakeDirectory, MakeHardLink, MakeKey, MakeLink, MakeToken, PutFile, RunCommand,
            SetAttributes, SetUnit, StartUnit,
        };
        let all = [
            PutFile,
            MakeDirectory,
            MakeLink,
            DropPath,
            MakeKey,
            IssueCertificate,
            SetUnit,
            RunCommand,
            Fetch,
            StartUnit,
            ImportImages,
            ApplyObjects,
            Await,
            SetAttributes,
            AppendFile,
            MakeHardLink,
            MakeToken,
        ];
        let found: Vec<EffectKind> = effects().iter().map(Effect::kind).collect();
        for kind in all {
            assert!(found.contains(&kind), "{kind:?}");
        }
    }

    #[test]
    fn every_kind_of_claim_and_probe_is_tried() {
        let settings = env::settings();
        let claims: BTreeSet<&str> = SEQUENCE
            .steps
            .iter()
            .flat_map(|step| step.expects(&settings, &Facts::default()))
            .map(|expectation| match expectation.claim {
                Claim::File { .. } => "file",
                Claim::Directory { .. } => "directory",
                Claim::Absent { .. } => "absent",
                Claim::Link { .. } => "link",
                Claim::Key { .. } => "key",
                Claim::Holds { .. } => "holds",
                Claim::Certificate { .. } => "certificate",
                Claim::ListedFiles { .. } => "listed files",
                Claim::Unit { .. } => "unit",
                Claim::Succeeds { .. } => "succeeds",
                Claim::Answers { .. } => "answers",
                Claim::Listens { .. } => "listens",
                Claim::Running { .. } => "running",
                Claim::Api(_) => "api",
                Claim::Service(_) => "service",
                Claim::Maintained(_) => "maintained",
                Claim::Images { .. } => "images",
                Claim::Account { .. } => "account",
                Claim::All { .. } => "all",
            })
            .collect();
        assert_eq!(claims.len(), 19, "{claims:?}");
        let asks = SEQUENCE.steps.iter().flat_map(|step| {
            step.asks(&settings)
                .into_iter()
                .chain(step.yields(&settings))
        });
        let probes: BTreeSet<&str> = asks
            .map(|ask| match ask.probe {
                Probe::Node(_) => "node",
                Probe::ReadFile { .. } => "file",
                Probe::ReadTree { .. } => "tree",
                Probe::ReadJson { .. } => "json",
                Probe::Ask { .. } => "program",
                Probe::HostName => "host name",
                Probe::Survey(_) => "survey",
                Probe::Accounts { .. } => "accounts",
                Probe::UnitFiles(_) => "unit files",
                Probe::IsLive => "is live",
                Probe::Now => "now",
                Probe::Known(_) => "known",
            })
            .collect();
        assert_eq!(probes.len(), 12, "{probes:?}");
    }

    #[test]
    fn every_kind_of_product_and_check_is_tried() {
        let products = effects();
        let products: BTreeSet<&str> = products
            .iter()
            .flat_map(Effect::products)
            .map(|product| match product {
                Product::Path(_) => "path",
                Product::Copy { .. } => "copy",
                Product::Pods => "pods",
                Product::Image(_) => "image",
                Product::Mounts(_) => "mounts",
                Product::Interface(_) => "interface",
                Product::PacketTable(_) => "packet table",
                Product::Routes(_) => "routes",
                Product::Cgroup(_) => "control group",
                Product::Container { .. } => "container",
                Product::StoredImage { .. } => "stored image",
            })
            .collect();
        assert_eq!(products.len(), 11, "{products:?}");
        let steps = SEQUENCE.steps.iter();
        let checks: BTreeSet<&str> = steps
            .flat_map(|step| step.checks(&env::settings()))
            .map(|check| match check.test {
                // A machine is one or the other; the sample steps need one that runs.
                Test::LiveRoot | Test::FolderRoot => "live root",
                Test::Root => "root",
                Test::PortFree(_) => "port",
                Test::Program { .. } => "program",
                Test::Runtime => "runtime",
                Test::Empty(_) => "empty",
                Test::Room { .. } => "room",
                Test::Clock { .. } => "clock",
                Test::NoSwap => "swap",
                Test::Cgroups(_) => "control groups",
                Test::NodeName(_) => "node name",
                Test::Route(_) => "route",
                Test::Pinned(_) => "pinned",
                Test::PinnedImage(_) => "pinned image",
            })
            .collect();
        assert_eq!(checks.len(), 14, "{checks:?}");
    }

    #[test]
    fn needs_and_facts_come_before_their_use() {
        let settings = env::settings();
        let mut done = BTreeSet::new();
        let mut known = BTreeSet::new();
        for step in SEQUENCE.steps {
            assert!(
                step.needs().iter().all(|need| done.contains(need)),
                "{}",
                step.name()
            );
            assert!(
                step.uses().iter().all(|fact| known.contains(fact)),
                "{}",
                step.name()
            );
            done.insert(step.name());
            known.extend(step.yields(&settings).iter().map(|ask| ask.fact));
        }
    }
}
