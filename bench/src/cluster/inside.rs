//! Watching from inside a machine how a cluster comes to life, the same way for every contestant.

use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use bootlace_engine::port::{ApiRequest, Cluster as _, Credentials};
use bootlace_host::RealHost;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::memory;
use crate::row::millis;

/// How long it is rested between two looks.
pub(crate) const PAUSE: Duration = Duration::from_millis(20);
/// How long a cluster may take.
const LONGEST: Duration = Duration::from_mins(5);

/// What was seen of one run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// Seconds until the node was Ready.
    pub(crate) ready: f64,
    /// Seconds until the client had got its answer.
    pub(crate) answers: f64,
    /// Seconds until the program ended.
    pub(crate) ended: f64,
    /// The most memory of the program, in MiB.
    pub(crate) memory: f64,
    /// The processor time of the program and of those that it waited for, in milliseconds.
    pub(crate) processor: f64,
    /// The longest time without an answer of the API since the node was Ready, in milliseconds.
    pub(crate) silence: f64,
}

/// Runs a program and watches; prints what was seen as JSON.
pub(crate) fn child(node: &str, kubeconfig: &str, words: &[String]) -> ExitCode {
    match watch(node, Path::new(kubeconfig), words) {
        Ok(seen) => match serde_json::to_string(&seen) {
            Ok(text) => {
                println!("{text}");
                ExitCode::SUCCESS
            }
            Err(error) => failed(&error),
        },
        Err(error) => failed(error.as_ref()),
    }
}

fn failed(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("bench: {error}");
    ExitCode::FAILURE
}

fn watch(
    node: &str,
    kubeconfig: &Path,
    words: &[String],
) -> Result<Seen, Box<dyn std::error::Error>> {
    let (program, words) = words.split_first().ok_or("no program is named")?;
    let host = RealHost::builder().build();
    let api = Api {
        host: &host,
        kubeconfig,
    };
    let (began, began_at) = (Instant::now(), jiff::Timestamp::now());
    let since = |then: Instant| then.elapsed().as_secs_f64();
    let mut program = Command::new(program)
        .args(words)
        .stdout(Stdio::null())
        .spawn()?;
    let node = format!("/api/v1/nodes/{node}");
    let client = "/apis/apps/v1/namespaces/sample/deployments/client";
    let mut seen = Seen::default();
    let (mut answered, mut is_there) = (None, false);
    while !is_there || seen.ended == 0.0 {
        if seen.ended == 0.0 {
            look_at(&program, &mut seen);
            if let Some(status) = program.try_wait()? {
                seen.ended = since(began);
                seen.processor = memory::busy_children().map_or(0.0, millis);
                if !status.success() {
                    return Err(format!("the program failed: {status}").into());
                }
            }
        }
        if seen.ready == 0.0 {
            if api.ask(&node).is_some_and(|node| is_ready(&node)) {
                seen.ready = since(began);
                answered = Some(Instant::now());
            }
        } else if let Some(found) = api.ask(client) {
            let silence = answered.map_or(0.0, since) * 1000.0;
            seen.silence = silence.max(seen.silence);
            answered = Some(Instant::now());
            is_there |= found["status"]["readyReplicas"] == 1;
        }
        if began.elapsed() > LONGEST {
            return Err(format!("it takes too long: {seen:?}").into());
        }
        std::thread::sleep(PAUSE);
    }
    let page = first_page()?.duration_since(began_at);
    seen.answers = page.as_secs_f64();
    Ok(seen)
}

/// Reads from the client's log when it got the page; the kubelet notices that up to a second later.
fn first_page() -> Result<jiff::Timestamp, Box<dyn std::error::Error>> {
    let pods = std::fs::read_dir("/var/log/pods")?.filter_map(Result::ok);
    let mut pods = pods.filter(|pod| {
        let name = pod.file_name();
        name.to_string_lossy().starts_with("sample_client-")
    });
    let client = pods.next().ok_or("the client has no log")?.path();
    let log = std::fs::read_to_string(client.join("client/0.log"))?;
    let mut printed = log.lines().filter(|line| line.contains(" stdout "));
    let first = printed.next().ok_or("the client has printed no page")?;
    let at = first.split_whitespace().next().unwrap_or_default();
    Ok(at.parse()?)
}

fn is_ready(node: &Value) -> bool {
    let conditions = node["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|it| it["type"] == "Ready" && it["status"] == "True")
}

/// What bootlace's own bootstrap asks with until the hand-over: the administrator has no rights before the
/// API server has its role, and could not see when the node is Ready. kubeadm's `super-admin.conf` is the same.
const EARLY: &str = "/etc/kubernetes/bootstrap-secrets/kubeconfig";

/// The API of the cluster that is coming.
struct Api<'a> {
    host: &'a RealHost,
    kubeconfig: &'a Path,
}

impl Api<'_> {
    /// Asks for something; none while nobody answers. That it is not there is an answer, too.
    fn ask(&self, path: &str) -> Option<Value> {
        let content = std::fs::read(EARLY).or_else(|_| std::fs::read(self.kubeconfig));
        let credentials = Credentials::Kubeconfig(content.ok()?);
        let request = ApiRequest {
            credentials: &credentials,
            path,
            post: None,
            within: Duration::from_secs(1),
        };
        let answer = self.host.ask_api(&request).ok()?;
        matches!(answer.status, 200 | 404).then_some(answer.body)
    }
}

/// Reads how much memory a program and those that it started have had so far.
fn look_at(program: &Child, seen: &mut Seen) {
    let id = program.id();
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
    let children = children.unwrap_or_default();
    // One that has ended by now is gone; then the last look counts.
    for of in children.split_whitespace().chain([id.to_string().as_str()]) {
        seen.memory = memory::peak(of).unwrap_or_default().max(seen.memory);
    }
}
