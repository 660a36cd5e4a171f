//! Looking, before a step begins, whether it can. Changes nothing.

use bootlace_model::check::{Check, Test};
use bootlace_model::config::Cidr;
use bootlace_model::effect::UnitName;
use bootlace_model::event::Event;
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::path::TargetPath;
use bootlace_model::replay::RunState;
use bootlace_model::step::Step;

use crate::Engine;
use crate::folders::{Folders, LARGEST_FILE};
use crate::port::{Command, Host, HostError};

/// How long a program may take to tell its version.
const TELL_VERSION: std::time::Duration = std::time::Duration::from_secs(10);
/// The unit that starts the container runtime.
const RUNTIME: &str = "containerd.service";

impl Engine<'_> {
    /// Refuses to begin steps that cannot succeed here; names everything that is in the way.
    ///
    /// A step that has begun in this run is not looked at: what is there may be its own.
    pub(crate) fn preflight(&self, steps: &[usize], state: Option<&RunState>) -> Result<(), Fault> {
        self.refuse_unready(steps, state, |_| true)
    }

    /// Looks again, just before a step begins, at what may have changed since its run did.
    pub(crate) fn preflight_again(&self, step: usize, state: &RunState) -> Result<(), Fault> {
        // A program that fitted a moment ago still does, and asking it takes longer than all the rest.
        let may_change = |test: &Test| test.refuses() && !matches!(test, Test::Program { .. });
        self.refuse_unready(&[step], Some(state), may_change)
    }

    fn refuse_unready(
        &self,
        steps: &[usize],
        state: Option<&RunState>,
        counts: fn(&Test) -> bool,
    ) -> Result<(), Fault> {
        let mut problems: Vec<(Check, String)> = Vec::new();
        for position in steps {
            let step = self.sequence.steps[*position];
            let id = self.sequence.id(step.name());
            if state.is_some_and(|state| state.touched.contains(&id) || state.is_settled(&id)) {
                continue;
            }
            problems.extend(self.problems(step, counts)?);
        }
        problems.retain(|(check, problem)| {
            if !check.test.refuses() {
                let text = format!("[{}] {problem}: {}", check.name, check.hint);
                self.observer.on(&Event::Note { text });
            }
            check.test.refuses()
        });
        let Some((first, problem)) = problems.first() else {
            return Ok(());
        };
        let names: Vec<&str> = problems
            .iter()
            .map(|(check, _)| check.name.as_str())
            .collect();
        let message = match problems.len() {
            1 => format!("[{}] {problem}", first.name),
            several => format!("this machine is not ready: {several} checks failed"),
        };
        let mut fault = Fault::new(FaultKind::Preflight, message).because(first.why);
        if problems.len() > 1 {
            let line = |(check, problem): &(Check, String)| format!("[{}] {problem}", check.name);
            fault.details = problems.iter().map(line).collect();
        }
        for (check, _) in &problems {
            fault = fault.hint(format!("[{}] {}", check.name, check.hint));
        }
        Err(fault.hint(format!(
            "nothing was touched; `--ignore-preflight-errors={}` goes on all the same",
            names.join(",")
        )))
    }

    /// Tells why a step would be refused if it began now, for a plan.
    pub(crate) fn would_be_refused(
        &self,
        step: &dyn Step,
        state: &RunState,
    ) -> Result<Option<String>, Fault> {
        if state.touched.contains(&self.sequence.id(step.name())) {
            return Ok(None);
        }
        let problems = self.problems(step, Test::refuses)?;
        let lines = problems.iter();
        let lines = lines.map(|(check, problem)| format!("[{}] {problem}", check.name));
        let lines: Vec<String> = lines.collect();
        Ok((!lines.is_empty()).then(|| format!("it would be refused: {}", lines.join("; "))))
    }

    /// Lists the checks of a step that fail and are not ignored.
    fn problems(
        &self,
        step: &dyn Step,
        counts: fn(&Test) -> bool,
    ) -> Result<Vec<(Check, String)>, Fault> {
        let mut problems = Vec::new();
        let checks = step.checks(self.settings).into_iter();
        for check in checks.filter(|check| counts(&check.test)) {
            let ignored = |name: &String| name == "all" || name.eq_ignore_ascii_case(&check.name);
            if self.options.ignore.iter().any(ignored) {
                continue;
            }
            if let Some(problem) = look(self.host, &check.test)? {
                problems.push((check, problem));
            }
        }
        Ok(problems)
    }
}

/// Tells what is in the way, if something is.
fn look(host: &dyn Host, test: &Test) -> Result<Option<String>, Fault> {
    let folders = Folders::new(host);
    Ok(match test {
        Test::LiveRoot => (!host.is_live()).then(|| {
            "a folder was given with --root, but only a machine itself can start units".into()
        }),
        Test::FolderRoot => host
            .is_live()
            .then(|| "this machine itself would be written to, not a folder".into()),
        Test::Root => (host.identity().uid != 0).then(|| "this is not root".into()),
        Test::PortFree(port) => host
            .port_holder(*port)?
            .map(|holder| format!("port {port} is taken by {holder}")),
        Test::Program {
            argv,
            folders,
            fits,
        } => program(host, argv, folders, fits.as_deref())?,
        Test::Runtime => runtime(host)?,
        Test::Empty(path) => {
            let full = folders.open(path)?.map(|dir| dir.list()).transpose()?;
            full.and_then(|names| names.into_iter().next())
                .map(|name| format!("{path} is not empty: it holds {name}"))
        }
        Test::Room { path, bytes } => {
            let free = host.free_bytes(path)?;
            (free < *bytes).then(|| {
                format!(
                    "{path} has {} MiB left and needs {} MiB",
                    free >> 20,
                    bytes >> 20
                )
            })
        }
        Test::Clock { certificate } => clock(host, &folders, certificate)?,
        Test::NoSwap => match host.swap_areas()?.as_slice() {
            [] => None,
            areas => Some(format!("swap is in use: {}", areas.join(", "))),
        },
        Test::Cgroups(wanted) => {
            let there = host.cgroup_controllers()?;
            let missing = wanted
                .iter()
                .filter(|name| !there.iter().any(|it| it == *name));
            let missing: Vec<&str> = missing.copied().collect();
            (!missing.is_empty()).then(|| format!("control groups lack {}", missing.join(", ")))
        }
        Test::NodeName(name) => {
            let name = match name {
                Some(name) => name.clone(),
                None => host.host_name()?,
            };
            (!is_node_name(&name)).then(|| format!("{name:?} cannot be the name of a node"))
        }
        Test::Route(network) => route(host, network)?,
        Test::Pinned(record) => pinned(&folders, record)?,
        Test::PinnedImage(image) => (!image.contains("@sha256:"))
            .then(|| format!("the image {image} is not named by its digest")),
    })
}

fn program(
    host: &dyn Host,
    argv: &[String],
    folders: &[String],
    fits: Option<&str>,
) -> Result<Option<String>, Fault> {
    let name = argv.first().map(String::as_str).unwrap_or_default();
    let inside = folders.iter().map(|folder| format!("{folder}/{name}"));
    let mut output = Err(String::new());
    for place in inside.chain([name.to_owned()]) {
        let argv: Vec<String> = [place].into_iter().chain(argv[1..].to_vec()).collect();
        let command = Command {
            argv: &argv,
            env: vec![],
            directory: None,
            within: TELL_VERSION,
            keep: 4096,
            input: None,
        };
        output = match host.run(&command) {
            Err(error @ (HostError::Stopped | HostError::Crashed)) => return Err(error.into()),
            output => output.map_err(|error| error.to_string()),
        };
        if output.is_ok() {
            break;
        }
    }
    let output = match output {
        Ok(output) => output,
        Err(error) => return Ok(Some(format!("{name} cannot be run: {error}"))),
    };
    if output.code != Some(0) {
        return Ok(Some(format!("{name} does not tell its version")));
    }
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let Some(wanted) = fits else { return Ok(None) };
    let (found, wanted_minor) = (minor(&said), minor(wanted));
    // A kubelet may be older than its API server by up to three minor versions, but never newer.
    let old_enough = match (found, wanted_minor) {
        (Some((1, found)), Some((1, wanted))) => found <= wanted && found + 3 >= wanted,
        _ => false,
    };
    Ok((!old_enough).then(|| format!("{name} says {said:?}, which does not fit {wanted}")))
}

/// Finds the first `vMAJOR.MINOR` in a text.
fn minor(text: &str) -> Option<(u32, u32)> {
    let begin = text.find(|c: char| c.is_ascii_digit())?;
    let mut numbers = text[begin..].split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn runtime(host: &dyn Host) -> Result<Option<String>, Fault> {
    if !host.is_live() || host.images()?.is_some() {
        return Ok(None);
    }
    let unit = UnitName::parse(RUNTIME);
    let known = unit.map(|unit| host.unit(&unit)).transpose()?;
    Ok((!known.is_some_and(|found| found.is_known))
        .then(|| "no container runtime answers, and containerd is not installed".into()))
}

/// Tells whether the kernel knows a way to a network; where nobody can be asked, it is not judged.
fn route(host: &dyn Host, network: &Cidr) -> Result<Option<String>, Fault> {
    let address = network.nth(1).unwrap_or(network.address());
    let argv = ["ip", "route", "get", &address.to_string()].map(ToOwned::to_owned);
    let command = Command {
        argv: &argv,
        env: vec![],
        directory: None,
        within: TELL_VERSION,
        keep: 4096,
        input: None,
    };
    let output = match host.run(&command) {
        Err(error @ (HostError::Stopped | HostError::Crashed)) => return Err(error.into()),
        Err(_) => return Ok(None),
        Ok(output) => output,
    };
    Ok((output.code != Some(0)).then(|| format!("no route leads to {network}")))
}

fn clock(
    host: &dyn Host,
    folders: &Folders<'_>,
    certificate: &TargetPath,
) -> Result<Option<String>, Fault> {
    let Some(content) = folders.read(certificate, LARGEST_FILE)? else {
        return Ok(None);
    };
    let problems = host
        .inspect(&content, None, None)?
        .time_problems(host.now());
    Ok((!problems.is_empty()).then(|| format!("{certificate}: {}", problems.join("; "))))
}

fn pinned(folders: &Folders<'_>, record: &TargetPath) -> Result<Option<String>, Fault> {
    #[derive(serde::Deserialize)]
    struct Release {
        pinned: bool,
    }
    // What is not written yet is looked at again when the step begins.
    let Some(content) = folders.read(record, LARGEST_FILE)? else {
        return Ok(None);
    };
    let release: Release = serde_json::from_slice(&content).map_err(|error| {
        Fault::bad_input(format!("{record} cannot be read: {error}")).in_file(record.as_str())
    })?;
    Ok((!release.pinned).then(|| "the images of the release are not pinned by digest".into()))
}

/// Tells whether a name is a DNS name in lower case, as nodes need.
fn is_node_name(name: &str) -> bool {
    let part = |part: &str| {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        !part.is_empty()
            && part.chars().all(plain)
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    // It is also the value of a label, which is shorter than a name may be.
    name.len() <= 63 && name.split('.').all(part)
}
