//! `bootlace pki rotate-encryption-key`: replaces the key that encrypts Secrets in etcd.
//!
//! What is next is decided in `steps`, by the file and the cluster as they are; here it is done. Nothing
//! else is remembered, so a call that was cut off is finished by the next one.

mod cluster;
mod file;

use std::time::Duration;

use bootlace_engine::port::{Host, Lock};
use bootlace_host::RealHost;
use bootlace_model::config::Settings;
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::ids::Digest;
use bootlace_model::path::TargetPath;
use bootlace_model::view::KeyRotationView;
use bootlace_steps::key_rotation::{
    self, Action, EncryptionConfig, Places, Situation, StoredKeys, is_in_progress, is_one_machine,
};
use clap::Args;

use self::cluster::Cluster;
use self::file::EncryptionFile;
use crate::console::Console;
use crate::error::Ending;
use crate::wire;

/// How long the API server may take to use a changed file, at which it looks once a minute.
const RELOADS_WITHIN: Duration = Duration::from_mins(5);
/// The longest that the API server works on a request: its default for `--request-timeout`.
const LONGEST_REQUEST: Duration = Duration::from_mins(1);
/// How often the API server is asked whether it uses the file.
const LOOK_AGAIN: Duration = Duration::from_secs(2);
/// How often all objects are rewritten before it is given up.
const MOST_REWRITES: u32 = 3;
/// The lock of the state folder, which runs take too.
const LOCK: &str = "lock";
/// How an interrupted rotation goes on.
const GO_ON: &str =
    "`bootlace pki rotate-encryption-key` continues from here; every Secret stays readable";

/// `pki rotate-encryption-key`.
#[derive(Debug, Args)]
pub(crate) struct RotateEncryptionKey {
    /// Show what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Rotates the key, or shows what that would do.
pub(super) fn rotate(
    console: &Console,
    host: &RealHost,
    settings: &Settings,
    args: &RotateEncryptionKey,
) -> Result<Ending, Fault> {
    let places = Places::of(settings);
    let file = EncryptionFile::new(host, &places.config);
    file.read()?;
    is_handed_over(host, &places)?;
    wire::stop_on_signals(host)?;
    let lock = if args.dry_run {
        None
    } else {
        let lock = take_lock(host, &settings.paths.state)?;
        file.remove_leftover()?;
        // What a call before this one renamed may not be durable yet, and keys depend on it.
        file.sync()?;
        Some(lock)
    };
    // Read only now: another rotation may have changed it before the lock was taken.
    let (config, _) = file.read()?;
    let cluster = Cluster::open(host, &places)?;
    is_one_machine(cluster.api_servers()?, cluster.etcd_members()?)?;
    let mut rotation = Rotation::begin(console, host, file, cluster, &config)?;
    let result = if args.dry_run {
        rotation.describe(&config)
    } else {
        rotation.run()
    };
    drop(lock);
    result.map_err(|fault| match fault.kind {
        FaultKind::Stopped => fault.hint(GO_ON),
        _ => fault,
    })?;
    let view = rotation.view;
    console.show(&view, |style| {
        bootlace_report::pki::rotation_text(&view, style)
    })?;
    Ok(Ending::Done)
}

/// Refuses a machine whose bootstrap is not complete: it would write the file again.
fn is_handed_over(host: &dyn Host, places: &Places) -> Result<(), Fault> {
    for path in &places.bootstrap_only {
        let folder = path.parent().unwrap_or_else(TargetPath::root);
        let stat = match host.open_dir(&folder)? {
            Some(dir) => dir.stat(path.name())?,
            None => None,
        };
        if stat.is_some() {
            return Err(Fault::new(
                FaultKind::Preflight,
                format!("the cluster is not handed over yet: {path} still exists"),
            )
            .in_file(path.as_str())
            .because("Until then a run may write the first key into the encryption config again.")
            .hint("`bootlace status cluster` tells how far the run has come")
            .hint("`bootlace resume cluster` completes it"));
        }
    }
    Ok(())
}

/// Keeps runs and other rotations away.
fn take_lock(host: &dyn Host, state: &TargetPath) -> Result<Box<dyn Lock>, Fault> {
    let dir = host.open_dir(state)?.ok_or_else(|| {
        Fault::new(FaultKind::Preflight, format!("{state} does not exist"))
            .because("It keeps a run and a rotation from working on the machine at the same time.")
            .hint("name the state folder of this machine's run with --state")
    })?;
    Ok(host.lock(dir.as_ref(), LOCK)?)
}

/// A rotation that is under way.
struct Rotation<'a> {
    console: &'a Console,
    host: &'a dyn Host,
    file: EncryptionFile<'a>,
    cluster: Cluster<'a>,
    stored: StoredKeys,
    is_begun: bool,
    rewrites: u32,
    view: KeyRotationView,
}

impl<'a> Rotation<'a> {
    fn begin(
        console: &'a Console,
        host: &'a dyn Host,
        file: EncryptionFile<'a>,
        cluster: Cluster<'a>,
        config: &EncryptionConfig,
    ) -> Result<Self, Fault> {
        let (_, digest) = file.read()?;
        let is_begun = is_in_progress(config, cluster.uses(digest)?);
        let view = KeyRotationView {
            file: file.path().to_string(),
            dry_run: false,
            resumed: is_begun,
            key: config.active_key().to_owned(),
            removed: vec![],
            resources: config.resources().to_vec(),
            rewritten: 0,
        };
        Ok(Self {
            console,
            host,
            stored: cluster.stored_keys()?,
            file,
            cluster,
            is_begun,
            rewrites: 0,
            view,
        })
    }

    /// Does what is next until nothing is.
    fn run(&mut self) -> Result<(), Fault> {
        loop {
            let (config, digest) = self.file.read()?;
            match self.next(&config, self.cluster.uses(digest)?)? {
                Action::AddKey => self.add_key(&config, digest)?,
                Action::AwaitReload => self.await_reload(&config, digest)?,
                Action::Rewrite => self.rewrite(&config)?,
                Action::DropOldKeys => self.drop_old_keys(&config, digest)?,
                Action::Finish => return Ok(()),
            }
        }
    }

    fn next(&self, config: &EncryptionConfig, is_loaded: bool) -> Result<Action, Fault> {
        key_rotation::next(&Situation {
            config,
            is_loaded,
            stored: &self.stored,
            is_begun: self.is_begun,
            is_rewritten: self.rewrites > 0,
        })
    }

    /// Puts into the view what a run would do.
    fn describe(&mut self, config: &EncryptionConfig) -> Result<(), Fault> {
        // A state that a run refuses is refused here, too.
        self.next(config, true)?;
        self.view.dry_run = true;
        self.view.rewritten = self.stored.by_key().map(|(_, count)| count).sum();
        if self.is_begun {
            self.view.removed = config.old_keys().map(ToOwned::to_owned).collect();
            if self.view.removed.is_empty() {
                // Only the API server has yet to load the file.
                self.view.rewritten = 0;
            }
        } else {
            self.view.key = self.new_name(config);
            self.view.removed = config.key_names().map(ToOwned::to_owned).collect();
        }
        Ok(())
    }

    fn new_name(&self, config: &EncryptionConfig) -> String {
        let stored: Vec<&str> = self.stored.by_key().map(|(name, _)| name).collect();
        config.next_key_name(&stored)
    }

    fn add_key(&mut self, config: &EncryptionConfig, seen: Digest) -> Result<(), Fault> {
        let name = self.new_name(config);
        let bits = self.host.secret_bits()?;
        let changed = config.with_new_key(name.clone(), &bits);
        self.file.replace(seen, &changed.content())?;
        self.is_begun = true;
        self.rewrites = 0;
        self.say(&format!("Added {name} to {}.", self.file.path()));
        self.view.key = name;
        Ok(())
    }

    fn await_reload(&mut self, config: &EncryptionConfig, digest: Digest) -> Result<(), Fault> {
        let minutes = RELOADS_WITHIN.as_secs() / 60;
        self.say(&format!(
            "Waiting for the API server to load {}: usually 1m, at most {minutes}m",
            config.key_names().collect::<Vec<_>>().join(", ")
        ));
        let began = self.host.steady();
        while !self.cluster.uses(digest)? {
            if self.host.steady().saturating_sub(began) >= RELOADS_WITHIN {
                let message = format!(
                    "the API server has not loaded the current {} within {minutes} minutes",
                    self.file.path()
                );
                return Err(Fault::new(FaultKind::Deadline, message)
                    .because("Until it does, a rewritten Secret would still be encrypted with the old key.")
                    .hint("`kubectl --namespace kube-system logs --selector component=kube-apiserver` says why it refuses the file")
                    .hint("the API server needs --encryption-provider-config-automatic-reload=true")
                    .hint(GO_ON));
            }
            self.host.sleep(LOOK_AGAIN)?;
        }
        Ok(())
    }

    fn rewrite(&mut self, config: &EncryptionConfig) -> Result<(), Fault> {
        let key = config.active_key();
        if self.rewrites >= MOST_REWRITES {
            let left = self.stored.without(key);
            let message = format!(
                "still encrypted with an old key in etcd: {}",
                bootlace_report::count(left, "object")
            );
            let mut fault = Fault::new(FaultKind::StepFailed, message)
                .because("The old keys stay in the file until nothing needs them.")
                .hint("look for objects of kinds that the API does not serve any more")
                .hint(GO_ON);
            let others = self.stored.by_key().filter(|(name, _)| *name != key);
            fault.details = others
                .map(|(name, count)| format!("{count} with {name}"))
                .collect();
            return Err(fault);
        }
        if self.rewrites == 0 {
            self.let_requests_end()?;
        }
        for resource in config.resources() {
            let objects = self.cluster.objects(resource)?;
            let all = bootlace_report::count(objects.len() as u64, "object");
            self.say(&format!("Rewriting {all} ({resource}) with {key}."));
            self.view.rewritten += self.cluster.rewrite(&objects)?;
        }
        self.rewrites += 1;
        self.stored = self.cluster.stored_keys()?;
        Ok(())
    }

    /// Lets the requests end that the API server took up before it loaded the new key: what they write
    /// with the old one must be there to be seen before that key goes.
    fn let_requests_end(&self) -> Result<(), Fault> {
        let seconds = LONGEST_REQUEST.as_secs();
        self.say(&format!(
            "Waiting {seconds}s for requests that began with the old key"
        ));
        let began = self.host.steady();
        while self.host.steady().saturating_sub(began) < LONGEST_REQUEST {
            self.host.sleep(LOOK_AGAIN)?;
        }
        Ok(())
    }

    fn drop_old_keys(&mut self, config: &EncryptionConfig, seen: Digest) -> Result<(), Fault> {
        let old: Vec<String> = config.old_keys().map(ToOwned::to_owned).collect();
        let changed = config.without_old_keys();
        self.file.replace(seen, &changed.content())?;
        let names = old.join(", ");
        self.say(&format!("Nothing in etcd needs {names} any more: removed."));
        self.view.removed.extend(old);
        Ok(())
    }

    fn say(&self, text: &str) {
        self.console.say(&format!("{text}\n"));
    }
}
