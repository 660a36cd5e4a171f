//! Five thousand small files, journalled and durable, beside the same files without a journal.

use std::os::fd::AsFd as _;
use std::path::Path;
use std::time::{Duration, Instant};

use bootlace_engine::{Engine, Observer, Options};
use bootlace_host::RealHost;
use bootlace_model::config::{Paths, Settings};
use bootlace_model::effect::{Body, Effect, Origin, PutFile};
use bootlace_model::event::Event;
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::fact::Facts;
use bootlace_model::node::Attributes;
use bootlace_model::path::TargetPath;
use bootlace_model::step::{About, Decision, PlanError, Sequence, Step, UndoPolicy};

use crate::row::{Bound, Peer, Row, millis};
use crate::{Outcome, rounds};

const FILES: usize = 5_000;
const ROUNDS: usize = 7;

/// A step that writes many files; how many is part of the cluster's name, for want of a flag.
struct ManyFiles;

static ABOUT: About = About {
    title: "Write many files",
    why: "To be measured.",
    reads: &[],
    writes: &["/many/"],
    command: "",
    undo: UndoPolicy::Inverse,
    failures: &[],
    built: true,
};

impl Step for ManyFiles {
    fn name(&self) -> &'static str {
        "many-files"
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn needs(&self) -> &'static [&'static str] {
        &[]
    }

    fn plan(&self, settings: &Settings, _: &Facts) -> Result<Decision, PlanError> {
        let count: usize = settings.cluster.name.parse().unwrap_or(0);
        let folder = TargetPath::new("/many")?;
        let put = |n: usize| {
            Ok(Effect::PutFile(PutFile {
                path: folder.join(&format!("file-{n}.conf"))?,
                body: Body::bytes(content(n)),
                attributes: Attributes::mode(0o644),
                origin: Origin::new("built-in", "bench"),
            }))
        };
        (0..count)
            .map(put)
            .collect::<Result<_, PlanError>>()
            .map(Decision::Do)
    }

    fn expects(&self, _: &Settings, _: &Facts) -> Vec<Expectation> {
        let path = TargetPath::new("/many");
        let claim = path.map(|path| Claim::Directory { path });
        claim
            .map(|claim| Expectation::now(claim, "Files were put there."))
            .into_iter()
            .collect()
    }
}

/// A sequence of that one step.
pub(crate) static MANY: Sequence = Sequence {
    name: "bench",
    about: "To be measured.",
    steps: &[&ManyFiles],
    failures: &[],
    replaced_later: &[],
};

/// An observer that looks away.
#[derive(Debug)]
pub(crate) struct Nobody;

impl Observer for Nobody {
    fn on(&self, _: &Event) {}
}

/// Seven hundred bytes that differ from file to file.
fn content(n: usize) -> Vec<u8> {
    let line = format!("setting-{n} = value of the setting number {n}\n");
    line.bytes().cycle().take(700).collect()
}

/// Returns the settings under which `count` files are written.
pub(crate) fn settings(count: usize) -> Result<Settings, Box<dyn std::error::Error>> {
    let assets = TargetPath::new("/opt/bootlace")?;
    let state = TargetPath::new("/var/lib/bootlace")?;
    let mut settings = Settings::defaults(Paths { assets, state });
    settings.cluster.name = count.to_string();
    Ok(settings)
}

/// Writes `count` files through the engine.
pub(crate) fn through_engine(
    root: &Path,
    count: usize,
) -> Result<Duration, Box<dyn std::error::Error>> {
    let host = RealHost::builder().root(root).build();
    let (settings, options) = (settings(count)?, Options::new("bench"));
    let engine = Engine {
        host: &host,
        sequence: &MANY,
        settings: &settings,
        observer: &Nobody,
        options: &options,
    };
    let begin = Instant::now();
    let report = engine.run()?;
    let took = begin.elapsed();
    if report.effects_done != count as u64 {
        return Err(format!("{} effects instead of {count}", report.effects_done).into());
    }
    Ok(took)
}

/// Writes the same files with temporary names, renames them, and syncs the filesystem once.
fn by_hand(root: &Path) -> std::io::Result<Duration> {
    let begin = Instant::now();
    let folder = root.join("many");
    std::fs::create_dir(&folder)?;
    for n in 0..FILES {
        let staged = folder.join(format!(".staged-{n}"));
        std::fs::write(&staged, content(n))?;
        std::fs::rename(staged, folder.join(format!("file-{n}.conf")))?;
    }
    rustix::fs::syncfs(std::fs::File::open(&folder)?.as_fd())?;
    Ok(begin.elapsed())
}

/// Measures both in turns, so that a busy moment hits both.
pub(crate) fn run() -> Outcome {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..rounds::count(ROUNDS)? {
        for who in rounds::order(round, 2) {
            let root = tempfile::tempdir()?;
            // Neither pays for what was left to be written before.
            rustix::fs::sync();
            if who == 0 {
                ours.push(millis(through_engine(root.path(), FILES)?));
            } else {
                theirs.push(millis(by_hand(root.path())?));
            }
        }
    }
    let by_hand = Peer::new(
        "by-hand",
        "temporary file and rename, one `syncfs`, no journal",
        &ours,
        &theirs,
    );
    let what = "5,000 files of 700 bytes, journalled and durable";
    let row = Row::new("put-files.files", what, "ms", &ours);
    Ok(vec![row.beside(by_hand.within(Bound::AtMost(1.1)))])
}
