//! The sample steps that write and remove files.

use std::time::Duration;

use bootlace_model::content::Content;
use bootlace_model::effect::{AppendFile, Body, Effect, MakeHardLink, SetAttributes, UnitName};
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::fact::{Ask, Fact, FileContent};
use bootlace_model::ids::Digest;
use bootlace_model::probe::{FileTree, Probe};
use bootlace_model::step::{About, Decision};
use bootlace_model::survey::Places;

use super::machine::{ANSWER, NOTE};
use super::parts::{SampleStep, about, at, attributes, drop_path, folder, link, origin, put};
use super::world::{GROWN, HEALTH_URL};

const OLD_CONFIG: Fact<FileContent> = Fact::new("sampler.old-config");
const INPUT_FILES: Fact<FileTree> = Fact::new("sampler.input-files");
const MACHINE: Fact<String> = Fact::new("sampler.machine");

const ABOUT_LAY_OUT: About = about("Lay files, folders and links out");
const ABOUT_REMOVE_OLD: About = about("Remove what is old");
const ABOUT_NEVER: About = about("Do nothing, for a reason");
const ABOUT_REPORT: About = about("Report what was found");

pub(super) const LAY_OUT: SampleStep = SampleStep {
    name: "lay-out",
    about: &ABOUT_LAY_OUT,
    needs: &[],
    uses: &[],
    checks: Vec::new,
    asks: || {
        let program = vec!["sampler-look".into()];
        vec![
            OLD_CONFIG.from(Probe::ReadFile {
                path: at("/inputs/old.conf"),
                limit: 1000,
            }),
            INPUT_FILES.from(Probe::ReadTree {
                path: at("/inputs/tree"),
                limit: 1000,
            }),
            MACHINE.from(Probe::HostName),
            Ask {
                fact: "sampler.node",
                probe: Probe::Node(at("/srv/existing")),
            },
            Ask {
                fact: "sampler.look",
                probe: Probe::Ask {
                    argv: program,
                    within: Duration::from_secs(5),
                },
            },
        ]
    },
    yields: || {
        let survey = Places {
            paths: vec![at("/etc/sampler.conf"), at("/srv/sampler/deep/er/file")],
            contents: vec![at("/etc/grown.txt")],
            links: vec![(at("/srv/sampler/link"), "../existing".into())],
            pairs: vec![(at("/srv/sampler/empty"), at("/srv/sampler/second/name"))],
        };
        let accounts = Probe::Accounts {
            users: vec!["sampler".into()],
            groups: vec!["sampler".into()],
            in_homes: Some("x".into()),
            beside: vec![at("/srv/sampler")],
        };
        let units = ["old.service", "never.service"];
        let units = units.iter().filter_map(|unit| UnitName::parse(unit));
        let ask = |fact, probe| Ask { fact, probe };
        vec![
            ask("sampler.survey", Probe::Survey(survey)),
            ask("sampler.accounts", accounts),
            ask("sampler.units", Probe::UnitFiles(units.collect())),
            ask("sampler.is-live", Probe::IsLive),
            ask("sampler.now", Probe::Now),
            ask("sampler.known", Probe::Known(7.into())),
        ]
    },
    plan: |settings, facts| {
        let old = facts.get(&OLD_CONFIG)?.0.unwrap_or_default();
        let machine = facts.get(&MACHINE)?;
        let text = format!(
            "cluster = {}\nmachine = {machine}\n{}",
            settings.cluster.name,
            String::from_utf8_lossy(&old)
        );
        let mut effects = vec![
            folder("/srv/sampler", attributes(0o755, None, None)),
            folder(
                "/srv/sampler/private",
                attributes(0o700, Some(7), Some("private")),
            ),
            folder("/srv/existing", attributes(0o1770, Some(8), Some("new"))),
            put(
                "/etc/sampler.conf",
                Body::text(text),
                attributes(0o644, None, Some("new")),
            ),
            put(
                "/srv/sampler/private/secret",
                Body::text("hush"),
                attributes(0o600, Some(7), None),
            ),
            put(
                "/srv/sampler/deep/er/file",
                Body::text("deep\n"),
                attributes(0o4755, None, None),
            ),
            put(
                "/srv/sampler/scaffold",
                Body::text("for a while\n"),
                attributes(0o644, None, None),
            ),
            put(
                "/srv/sampler/empty",
                Body::bytes(vec![]),
                attributes(0o640, None, None),
            ),
            put(
                "/etc/same",
                Body::text("same\n"),
                attributes(0o644, None, None),
            ),
            link("/etc/sampler.link", "sampler.conf"),
            Effect::SetAttributes(SetAttributes {
                path: at("/etc/kept.txt"),
                attributes: attributes(0o4711, Some(5), Some("set")),
                origin: origin(),
            }),
            Effect::AppendFile(AppendFile {
                path: at("/etc/grown.txt"),
                before: Digest::of(GROWN),
                content: Content::of(*b"and the end\n"),
                attributes: attributes(0o600, Some(6), None),
                origin: origin(),
            }),
            Effect::MakeHardLink(MakeHardLink {
                path: at("/srv/sampler/second/name"),
                existing: at("/srv/sampler/empty"),
                origin: origin(),
            }),
            link("/srv/sampler/new-link", "/nowhere/at/all"),
        ];
        for file in facts.get(&INPUT_FILES)?.files {
            let path = format!("/srv/sampler/copied/{}", file.relative);
            effects.push(put(
                &path,
                Body::bytes(file.content),
                attributes(0o644, None, None),
            ));
        }
        Ok(Decision::Do(effects))
    },
    expects: || {
        let file = |path: &str, mode| Claim::File {
            path: at(path),
            digest: None,
            mode: Some(mode),
        };
        vec![
            Expectation::now(file("/etc/sampler.conf", 0o644), "it is the config"),
            Expectation::now(
                Claim::Directory {
                    path: at("/srv/sampler/private"),
                },
                "it holds secrets",
            ),
            Expectation::now(
                Claim::Link {
                    path: at("/etc/sampler.link"),
                    target: "sampler.conf".into(),
                },
                "people look there",
            ),
            Expectation::now(file("/srv/sampler/scaffold", 0o644), "others stand on it")
                .until("remove-old"),
            Expectation::now(
                Claim::All {
                    what: "old files are changed in place".into(),
                    claims: vec![file("/etc/kept.txt", 0o4711), file("/etc/grown.txt", 0o600)],
                },
                "they are not ours alone",
            ),
        ]
    },
};

pub(super) const REMOVE_OLD: SampleStep = SampleStep {
    name: "remove-old",
    about: &ABOUT_REMOVE_OLD,
    needs: &["lay-out"],
    uses: &[],
    checks: Vec::new,
    asks: Vec::new,
    yields: Vec::new,
    plan: |_, _| {
        Ok(Decision::Do(vec![
            drop_path("/srv/old"),
            drop_path("/etc/old.txt"),
            drop_path("/etc/old.link"),
            drop_path("/etc/was/never/there"),
            drop_path("/srv/sampler/scaffold"),
        ]))
    },
    expects: || {
        let absent = |path: &str| Claim::Absent { path: at(path) };
        vec![
            Expectation::now(absent("/srv/old"), "it is old"),
            Expectation::now(absent("/srv/sampler/scaffold"), "it was for a while"),
        ]
    },
};

pub(super) const NEVER: SampleStep = SampleStep {
    name: "never",
    about: &ABOUT_NEVER,
    needs: &["lay-out"],
    uses: &[],
    checks: Vec::new,
    asks: Vec::new,
    yields: Vec::new,
    plan: |_, _| {
        Ok(Decision::Skip {
            reason: "there is nothing to do".into(),
        })
    },
    expects: Vec::new,
};

const REPORTED: &str = "reported\n";

pub(super) const REPORT: SampleStep = SampleStep {
    name: "report",
    about: &ABOUT_REPORT,
    needs: &[
        "make-keys",
        "set-units",
        "initialise",
        "download",
        "remove-old",
        "never",
        "apply",
    ],
    uses: &["sampler.answer", "sampler.note"],
    checks: Vec::new,
    asks: Vec::new,
    yields: Vec::new,
    plan: |_, facts| {
        let (answer, note) = (facts.get(&ANSWER)?, facts.get(&NOTE)?);
        let index = serde_json::json!({"files": {
            "report.txt": Digest::of(REPORTED.as_bytes()),
            "answer.txt": Digest::of(answer.to_string().as_bytes()),
        }});
        Ok(Decision::Do(vec![
            put(
                "/srv/report/report.txt",
                Body::text(REPORTED),
                attributes(0o644, None, None),
            ),
            put(
                "/srv/report/answer.txt",
                Body::text(answer.to_string()),
                attributes(0o644, None, None),
            ),
            put(
                "/srv/report/note.txt",
                Body::text(note),
                attributes(0o644, None, None),
            ),
            put(
                "/srv/report/index.json",
                Body::text(index.to_string()),
                attributes(0o644, None, None),
            ),
        ]))
    },
    expects: || {
        let succeeds = Claim::Succeeds {
            argv: vec!["sampler-ready".into()],
            within: Duration::from_secs(1),
        };
        let answers = Claim::Answers {
            url: HEALTH_URL.into(),
            status: 200,
            authorities: None,
        };
        let listed = Claim::ListedFiles {
            index: at("/srv/report/index.json"),
            below: at("/srv/report"),
        };
        vec![
            Expectation::now(listed, "the report is whole"),
            Expectation::now(succeeds, "somebody reads it").within(Duration::from_secs(30)),
            Expectation::now(answers, "somebody serves it").within(Duration::from_secs(30)),
        ]
    },
};
