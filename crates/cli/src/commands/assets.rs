//! `bootlace assets`: what an installer makes beforehand, for this machine and for those that join.

use std::path::{Path, PathBuf};

use bootlace_engine::port::{Host, Stat};
use bootlace_engine::{Engine, RunReport};
use bootlace_model::config::Settings;
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::fact::Facts;
use bootlace_model::fault::Fault;
use bootlace_model::path::TargetPath;
use bootlace_model::record::Outcome;
use bootlace_model::shell;
use bootlace_model::token;
use bootlace_model::view::{AssetView, AssetsView};
use bootlace_report::{count, next};
use bootlace_steps::pointer::{ROLES, SERVED};
use clap::{Args, Subcommand};
use jiff::Timestamp;

use super::run::{self, Verb};
use crate::args::{Given, OnRun, Output, Placed, Run, Steps};
use crate::error::Ending;
use crate::paths::Places;
use crate::session::Session;

/// The sequence that makes assets, and the step up to which it does.
const MAKES: (&str, &str) = ("cluster", "prepare-assets");
/// No token is as large as this.
const LARGEST_TOKEN: u64 = 4096;

/// `assets`.
#[derive(Debug, Subcommand)]
pub(crate) enum Assets {
    /// Make keys, certificates, kubeconfigs, tokens and pointer configs
    #[command(after_help = "\
Runs the sequence cluster up to prepare-assets, and goes on with an unfinished run.

Examples:
  bootlace assets create --config cluster.yaml --assets DIR --state DIR
  bootlace assets create -o json | jq -r '.files[].path'")]
    Create(Create),
}

/// `assets create`.
#[derive(Debug, Args)]
pub(crate) struct Create {
    /// Go on although the config or the tool changed, and make tokens anew that have expired
    #[arg(long)]
    replan: bool,
}

pub(crate) fn assets(session: &mut Session, args: &Assets) -> Result<Ending, Fault> {
    let Assets::Create(create) = args;
    let args = Run {
        on: OnRun {
            steps: Steps {
                sequence: MAKES.0.into(),
                from: None,
                to: Some(MAKES.1.into()),
                only: None,
            },
            run: None,
        },
        given: Given::default(),
        placed: Placed::default(),
        pause: false,
        attach: false,
        jobs: None,
        replan: create.replan,
        ignore_preflight_errors: vec![],
        insecure_unpinned_release: false,
        clean: false,
    };
    let places = Places::new(&session.globals)?;
    run::perform(session, &args, Verb::Run, |session, engine, report| {
        tell(session, &places, engine, report)
    })
}

/// Tells what is there and what to type next.
fn tell(
    session: &Session,
    places: &Places,
    engine: &Engine<'_>,
    report: Option<&RunReport>,
) -> Result<(), Fault> {
    let Some(report) = report.filter(|report| report.outcome == Outcome::Succeeded) else {
        return run::tell(session, engine, report);
    };
    let (host, settings) = (engine.host, engine.settings);
    let folder = places.source(&settings.paths.assets);
    let expires = expiry(host, settings)?;
    let view = AssetsView {
        run: report.run.to_string(),
        server: format!("https://{}", server(settings)),
        expires: expires.map(|expires| expires.to_string()),
        files: files(engine, &folder)?,
    };
    if session.console.output() != Output::Text {
        return session.console.show(&view, |_| String::new());
    }
    let made = if report.steps_done == 0 {
        "Made earlier"
    } else {
        "Made"
    };
    let files = count(view.files.len() as u64, "file");
    let tokens = match expires {
        None => "none, their time in the asset folder is over".into(),
        Some(expires) if expires <= host.now() => {
            let again = session.retype.line("assets create --replan");
            format!("expired {expires}; `{again}` makes new ones")
        }
        Some(expires) => format!("valid until {expires}"),
    };
    let text = format!(
        "{made}: {files} in {}\nTokens: {tokens}\nMachines ask: {}\n",
        folder.display(),
        view.server
    );
    let commands = commands(session, settings, &folder);
    session.console.say(&text);
    session
        .console
        .say(&next::text(&commands, session.console.stderr()));
    Ok(())
}

/// Returns where machines ask.
fn server(settings: &Settings) -> bootlace_model::config::Endpoint {
    let cluster = &settings.cluster;
    cluster
        .machine_config_server
        .reached_at(&cluster.control_plane)
}

/// Lists what to type next, until a machine has its config.
fn commands(session: &Session, settings: &Settings, folder: &Path) -> [(String, &'static str); 3] {
    let at = |relative: &str| folder.join(relative).display().to_string();
    let listen = format!("0.0.0.0:{}", server(settings).port);
    let words = [
        ["--pools", &at(SERVED.pools)],
        ["--tokens", &at(SERVED.tokens)],
        ["--cert", &at(SERVED.certificate)],
        ["--key", &at(SERVED.key)],
        ["--listen", &listen],
    ];
    let serve = ["bootlace", "serve"].into_iter();
    let serve = shell::line(serve.chain(words.as_flattened().iter().copied()));
    let worker = ROLES.last().map_or("", |role| role.config);
    let render = "run cluster --to render-machine-config";
    [
        (session.retype.line(render), "renders what machines get"),
        (serve, "serves it"),
        (
            format!("cat {}", shell::quote(&at(worker))),
            "is what a new worker is given; it holds a token",
        ),
    ]
}

/// Returns when the first token expires; none if there is none.
fn expiry(host: &dyn Host, settings: &Settings) -> Result<Option<Timestamp>, Fault> {
    let mut first: Option<Timestamp> = None;
    for role in ROLES {
        let path = settings.paths.assets.join(role.token);
        let path = path.map_err(|bad| Fault::internal(bad.to_string()))?;
        let Some((dir, Stat::File { .. })) = look(host, &path)? else {
            continue;
        };
        // Only the time is taken out of it.
        if let Ok(expires) = token::expiry(&dir.read(path.name(), LARGEST_TOKEN)?) {
            first = Some(first.map_or(expires, |first| first.min(expires)));
        }
    }
    Ok(first)
}

/// Lists the files that the step makes and that are there.
fn files(engine: &Engine<'_>, folder: &Path) -> Result<Vec<AssetView>, Fault> {
    let (host, settings) = (engine.host, engine.settings);
    let steps = engine.sequence.steps.iter();
    let steps = steps.filter(|step| step.name() == MAKES.1);
    let expectations = steps.flat_map(|step| step.expects(settings, &Facts::default()));
    let mut files: Vec<AssetView> = Vec::new();
    for Expectation { claim, because, .. } in expectations {
        let Some(path) = claim.path() else { continue };
        let here = placed(path, settings, folder).display().to_string();
        let is_listed = files.iter().any(|file| file.path == here);
        let found = look(host, path)?;
        if is_listed || found.is_none() || matches!(claim, Claim::Absent { .. }) {
            continue;
        }
        let is_open = matches!(found, Some((_, Stat::File { mode, .. })) if mode & 0o077 != 0);
        let is_file = matches!(found, Some((_, Stat::File { .. })));
        files.push(AssetView {
            path: here,
            purpose: because.to_owned(),
            secret: is_file && !is_open,
        });
    }
    Ok(files)
}

/// Returns where a path of the asset folder lies on this computer.
fn placed(path: &TargetPath, settings: &Settings, folder: &Path) -> PathBuf {
    match path.below(&settings.paths.assets) {
        Some(relative) => folder.join(relative),
        None => PathBuf::from(path.as_str()),
    }
}

type Found = (Box<dyn bootlace_engine::port::Dir>, Stat);

/// Looks at a name in its folder.
fn look(host: &dyn Host, path: &TargetPath) -> Result<Option<Found>, Fault> {
    let folder = path.parent().unwrap_or_else(TargetPath::root);
    let Some(dir) = host.open_dir(&folder)? else {
        return Ok(None);
    };
    let stat = dir.stat(path.name())?;
    Ok(stat.map(|stat| (dir, stat)))
}
