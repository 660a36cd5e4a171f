//! A real container runtime, as a process of this machine, with real pods.

mod archive;
mod pods;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bootlace_engine::port::{ContainerState, ContainerStatus, HostError, Machine as _};
use bootlace_host::RealHost;
use bootlace_model::effect::Product;
use bootlace_model::ids::Digest;
use tempfile::TempDir;

use crate::world::path;

const PLENTY: Duration = Duration::from_mins(1);
const PAUSE: &str = "registry.bootlace.test/pause:1";
const BUSYBOX: &str = "registry.bootlace.test/busybox:1.37.0";

struct Containerd {
    folder: TempDir,
    host: RealHost,
    process: Option<Child>,
}

impl Drop for Containerd {
    fn drop(&mut self) {
        // Pods outlive the runtime, which must run again to remove them.
        if self.process.is_none() && self.path("root").exists() {
            self.spawn();
            let begun = Instant::now();
            while !matches!(self.host.images(), Ok(Some(_))) && begun.elapsed() < PLENTY {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        let removed = self.host.remove_product(&Product::Pods, PLENTY);
        self.end();
        if std::thread::panicking() || removed.is_err() {
            let log = std::fs::read_to_string(self.path("log")).unwrap_or_default();
            let last: Vec<&str> = log.lines().rev().take(12).collect();
            println!("{removed:?}; newest line first:\n{}", last.join("\n"));
        }
    }
}

impl Containerd {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("containerd.sock");
        let host = RealHost::builder().runtime_socket(socket).build();
        let place = folder.path().display();
        let config = format!(
            "version = 2\n\
             root = '{place}/root'\n\
             state = '{place}/state'\n\
             [grpc]\naddress = '{place}/containerd.sock'\n\
             [ttrpc]\naddress = '{place}/ttrpc.sock'\n\
             [plugins.'io.containerd.internal.v1.opt']\npath = '{place}/opt'\n\
             [plugins.'io.containerd.grpc.v1.cri']\n\
             sandbox_image = '{PAUSE}'\n\
             restrict_oom_score_adj = true\n\
             disable_apparmor = true\n\
             [plugins.'io.containerd.grpc.v1.cri'.containerd]\nsnapshotter = 'native'\n"
        );
        std::fs::write(folder.path().join("config.toml"), config).unwrap();
        Self {
            folder,
            host,
            process: None,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn start(&mut self) {
        self.spawn();
        until(|| self.host.containers().unwrap().is_some());
    }

    fn spawn(&mut self) {
        let log = File::create(self.path("log")).unwrap();
        let process = Command::new("containerd")
            .arg("--config")
            .arg(self.path("config.toml"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.process = Some(process);
    }

    fn end(&mut self) {
        if let Some(mut process) = self.process.take() {
            drop(process.kill());
            drop(process.wait());
        }
    }
}

fn until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PLENTY);
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn import(host: &RealHost, archive: &Path, digest: Option<Digest>) -> Result<(), HostError> {
    host.import_images(&path(archive.to_str().unwrap()), digest, PLENTY)
}

fn named(all: &[ContainerStatus], name: &str) -> ContainerStatus {
    all.iter().find(|it| it.name == name).unwrap().clone()
}

#[test]
fn without_a_runtime_nobody_answers_and_nothing_is_there() {
    let runtime = Containerd::new();
    let host = &runtime.host;
    assert_eq!(host.containers().unwrap(), None);
    assert_eq!(host.images().unwrap(), None);
    assert!(!host.has_product(&Product::Pods).unwrap());
    host.remove_product(&Product::Pods, PLENTY).unwrap();
    // A socket that a dead runtime left behind.
    drop(std::os::unix::net::UnixListener::bind(runtime.path("containerd.sock")).unwrap());
    assert_eq!(host.images().unwrap(), None);
}

#[test]
#[ignore = "slow: starts a real container runtime; needs root"]
fn images_are_loaded_if_they_are_the_right_ones_and_go_again() {
    let mut runtime = Containerd::new();
    runtime.start();
    let archive = runtime.path("images.tar");
    archive::write(&archive, &[PAUSE, BUSYBOX]);
    let host = &runtime.host;
    assert_eq!(host.images().unwrap(), Some(vec![]));
    let error = import(host, &archive, Some(Digest::of(b"other"))).unwrap_err();
    assert!(matches!(error, HostError::WrongDigest { .. }), "{error:?}");
    assert_eq!(host.images().unwrap(), Some(vec![]));

    let digest = Digest::of(&std::fs::read(&archive).unwrap());
    import(host, &archive, Some(digest)).unwrap();
    assert_eq!(host.images().unwrap().unwrap(), [BUSYBOX, PAUSE]);
    let image = Product::Image(BUSYBOX.into());
    assert!(host.has_product(&image).unwrap());
    host.remove_product(&image, PLENTY).unwrap();
    assert_eq!(host.images().unwrap().unwrap(), [PAUSE]);
    host.remove_product(&image, PLENTY).unwrap();
    import(host, &archive, None).unwrap();
    assert!(host.has_product(&image).unwrap());

    std::fs::write(&archive, b"no archive").unwrap();
    let error = import(host, &archive, None).unwrap_err();
    assert!(matches!(error, HostError::Io { .. }), "{error:?}");
}

#[test]
#[ignore = "slow: starts a real container runtime with pods; needs root"]
fn containers_tell_how_they_are_and_pods_go() {
    let mut runtime = Containerd::new();
    runtime.start();
    let archive = runtime.path("images.tar");
    archive::write(&archive, &[PAUSE, BUSYBOX]);
    import(&runtime.host, &archive, None).unwrap();
    let logs = runtime.path("logs");
    let pod = pods::Pod::run(&runtime.path("containerd.sock"), &logs);
    pod.start("steady", &["sleep", "1000"]);
    pod.start(
        "brief",
        &["sh", "-c", "echo first >&2; echo 'bad luck' >&2; exit 3"],
    );

    let host = &runtime.host;
    let ended = || named(&host.containers().unwrap().unwrap(), "brief");
    until(|| ended().state != ContainerState::Running);
    let all = host.containers().unwrap().unwrap();
    assert_eq!(all.len(), 2);
    let brief = named(&all, "brief");
    assert_eq!(brief.pod, ("demo".to_owned(), "pod".to_owned()));
    let (code, reason) = (3, "Error".to_owned());
    assert_eq!(brief.state, ContainerState::Exited { code, reason });
    assert_eq!(
        host.container_log(&brief, 10).unwrap(),
        ["first", "bad luck"]
    );
    assert_eq!(host.container_log(&brief, 1).unwrap(), ["bad luck"]);
    let steady = named(&all, "steady");
    assert_eq!(steady.state, ContainerState::Running);
    assert_eq!(
        host.container_log(&steady, 10).unwrap(),
        Vec::<String>::new()
    );

    // A runtime that went away and came back is asked again over the same line.
    runtime.end();
    assert_eq!(runtime.host.containers().unwrap(), None);
    runtime.start();
    let host = &runtime.host;
    assert_eq!(host.containers().unwrap().unwrap().len(), 2);
    assert!(host.has_product(&Product::Pods).unwrap());
    host.remove_product(&Product::Pods, PLENTY).unwrap();
    assert!(!host.has_product(&Product::Pods).unwrap());
    assert_eq!(host.containers().unwrap(), Some(vec![]));
}
