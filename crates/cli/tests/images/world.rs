//! A registry, an image in it, and roots to render into.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The program that the image starts with: it has the faults that it is told to have.
const RENDER: &str = include_str!("render.sh");
/// An operator that knows the flags of the real one, and no others.
const OPERATOR: &str = include_str!("operator.sh");
/// What podman needs on machines that are themselves containers.
const GLOBAL: [&str; 3] = [
    "--runtime=runc",
    "--cgroup-manager=cgroupfs",
    "--storage-driver=vfs",
];
/// How long a registry may take to start.
const START: Duration = Duration::from_secs(20);

/// A folder with everything in it.
pub(crate) struct World {
    folder: TempDir,
    registry: Child,
    /// The image by its digest, as it is pulled.
    pub(crate) image: String,
}

impl World {
    /// Starts a registry, and builds and pushes the image.
    pub(crate) fn new() -> Self {
        let folder = TempDir::with_prefix_in("bootlace-images-", "/var/tmp").unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = port.local_addr().unwrap().to_string();
        drop(port);
        let registry = serve(folder.path(), &address);
        let mut world = Self {
            folder,
            registry,
            image: String::new(),
        };
        world.push(&address);
        world
    }

    fn push(&mut self, address: &str) {
        let source = self.path("image");
        fill(&source.join("root"));
        let recipe = "FROM scratch\nCOPY root /\nENTRYPOINT [\"/render\"]\n";
        fs::write(source.join("Containerfile"), recipe).unwrap();
        let text = source.display().to_string();
        self.podman(&[
            "build",
            "-q",
            "--isolation=chroot",
            "-t",
            "localhost/r",
            &text,
        ]);
        let digest = format!("--digestfile={}", self.path("digest").display());
        let name = format!("{address}/renderer");
        self.podman(&["push", "-q", &digest, "localhost/r", &name]);
        // So that it has to be pulled again.
        self.podman(&["rmi", "-a", "-f"]);
        let digest = fs::read_to_string(self.path("digest")).unwrap();
        self.image = format!("{name}@{digest}");
    }

    /// Returns a path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Lists the words between `podman` and its verb: a store of its own, and the registry.
    fn global(&self) -> Vec<String> {
        let own = [
            ("root", "store"),
            ("runroot", "running"),
            ("registries-conf", "registries.conf"),
        ];
        let own = own.map(|(flag, name)| format!("--{flag}={}", self.path(name).display()));
        GLOBAL
            .map(ToOwned::to_owned)
            .into_iter()
            .chain(own)
            .collect()
    }

    /// Calls podman, which must succeed.
    pub(crate) fn podman(&self, words: &[&str]) -> String {
        let output = Command::new("podman")
            .args(self.global())
            .args(words)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "podman {words:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Tells which containers there are.
    pub(crate) fn containers(&self) -> String {
        self.podman(&["ps", "--all", "--quiet"])
    }

    /// Writes a config by which the image renders; `images` is the map of them, in YAML.
    pub(crate) fn configure(&self, within: &str, images: &str) {
        let flags = self.global().join("\", \"");
        let text = format!(
            "apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\nmetadata: {{name: demo}}\n\
             spec:\n  controlPlane: {{nodeName: node-1}}\n  rendering:\n    within: {within}\n    \
             podmanFlags: [\"{flags}\"]\n    \
             runFlags: [\"--ulimit=nofile=1024:4096\", \"--ulimit=nproc=1024:1024\"]\n    \
             images: {{{images}}}\n"
        );
        fs::write(self.path("cluster.yaml"), text).unwrap();
    }

    /// Returns the entry of a component that the image renders as `bootlace render` does.
    pub(crate) fn entry(&self, component: &str) -> String {
        format!("{component}: {{image: \"{}\"}}", self.image)
    }

    /// Prepares a call on a root.
    pub(crate) fn command(&self, words: &str, root: &str) -> Command {
        let mut command = Command::new(program());
        command
            .args(words.split_whitespace())
            .arg("--root")
            .arg(self.path(root))
            .arg("--config")
            .arg(self.path("cluster.yaml"))
            .args(["--progress", "plain"])
            .env_clear()
            .env("COLUMNS", "400")
            .stdin(Stdio::null());
        command
    }

    /// Calls the program on a root, and returns its code and all that it said.
    pub(crate) fn call(&self, words: &str, root: &str) -> (Option<i32>, String) {
        let Output {
            status,
            stdout,
            stderr,
        } = self.command(words, root).output().unwrap();
        let text = [stdout, stderr].concat();
        (status.code(), String::from_utf8(text).unwrap())
    }

    /// Calls the program, which must succeed.
    pub(crate) fn must(&self, words: &str, root: &str) -> String {
        let (code, said) = self.call(words, root);
        assert_eq!(code, Some(0), "{words}: {said}");
        said
    }

    /// Tells the renderer what to do wrong; nothing if none is given.
    pub(crate) fn fault(&self, root: &str, fault: Option<&str>) {
        let path = self.path(root).join("opt/bootlace/manifests/fault");
        match fault {
            Some(fault) => {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, format!("{fault}\n")).unwrap();
            }
            None => fs::remove_file(path).unwrap(),
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let mut remove = Command::new("podman");
        let removed = remove.args(self.global()).args(["rm", "--all", "--force"]);
        // The folder goes anyway; what is left of a failed test must not hide the failure.
        removed.output().ok();
        self.registry.kill().ok();
        self.registry.wait().ok();
        // podman tidies up for a moment after a container has ended, and makes its folders anew for it.
        for _ in 0..50 {
            fs::remove_dir_all(self.folder.path()).ok();
            std::thread::sleep(Duration::from_millis(300));
            if !self.folder.path().exists() {
                break;
            }
        }
    }
}

/// Stands between podman and the registry, and lets only so many bytes through until it is mended.
pub(crate) struct Stalling {
    address: SocketAddr,
    left: Arc<AtomicU64>,
}

impl Stalling {
    /// Listens, and lets `bytes` of answers through.
    pub(crate) fn before(world: &World, bytes: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let trust = format!("[[registry]]\nlocation = \"{address}\"\ninsecure = true\n");
        let path = world.path("registries.conf");
        let known = fs::read_to_string(&path).unwrap();
        fs::write(path, known + &trust).unwrap();
        let (registry, _) = world.image.split_once('/').unwrap();
        let (registry, left) = (registry.to_owned(), Arc::new(AtomicU64::new(bytes)));
        let shared = Arc::clone(&left);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(&registry).unwrap();
                let (mut asks, mut takes) =
                    (client.try_clone().unwrap(), server.try_clone().unwrap());
                std::thread::spawn(move || std::io::copy(&mut asks, &mut takes));
                let left = Arc::clone(&shared);
                std::thread::spawn(move || pass(server, client, &left));
            }
        });
        Self { address, left }
    }

    /// Returns how the image is called that is pulled through it.
    pub(crate) fn image(&self, world: &World) -> String {
        let (_, name) = world.image.split_once('/').unwrap();
        format!("{}/{name}", self.address)
    }

    /// Lets everything through from now on.
    pub(crate) fn mend(&self) {
        self.left.store(u64::MAX, Ordering::SeqCst);
    }
}

/// Passes answers on as long as some are left to be passed.
fn pass(mut from: TcpStream, mut to: TcpStream, left: &AtomicU64) {
    let mut piece = vec![0; 4096];
    while let Ok(length) = from.read(&mut piece) {
        // It stalls, and neither answers nor closes.
        while left.load(Ordering::SeqCst) < length as u64 {
            std::thread::sleep(Duration::from_millis(20));
        }
        left.fetch_sub(length as u64, Ordering::SeqCst);
        if length == 0 || to.write_all(&piece[..length]).is_err() {
            break;
        }
    }
    to.shutdown(Shutdown::Both).ok();
}

/// The program under test, which is also what the image renders with.
fn program() -> PathBuf {
    std::env::var_os("BOOTLACE_BIN").map_or_else(
        || PathBuf::from(env!("CARGO_BIN_EXE_bootlace")),
        PathBuf::from,
    )
}

/// Starts a registry, and lets podman know that it has no TLS.
fn serve(folder: &Path, address: &str) -> Child {
    let data = folder.join("registry");
    let config = format!(
        "version: 0.1\nstorage: {{filesystem: {{rootdirectory: {}}}}}\nhttp: {{addr: \"{address}\"}}\n",
        data.display()
    );
    fs::write(folder.join("registry.yml"), config).unwrap();
    let trust = format!("[[registry]]\nlocation = \"{address}\"\ninsecure = true\n");
    fs::write(folder.join("registries.conf"), trust).unwrap();
    let registry = Command::new("docker-registry")
        .arg("serve")
        .arg(folder.join("registry.yml"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while TcpStream::connect(address).is_err() {
        assert!(begun.elapsed() < START, "the registry does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    registry
}

/// Fills an image's root: the program under test, a shell, and the libraries of both.
fn fill(root: &Path) {
    let program = root.join("bootlace");
    let bin = root.join("bin");
    let operators = root.join("usr/bin");
    for folder in [&bin, &operators, &root.join("tmp")] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::copy(self::program(), &program).unwrap();
    let stripped = Command::new("strip").arg(&program).status().unwrap();
    assert!(stripped.success());
    for name in ["sh", "sleep"] {
        fs::copy(format!("/bin/{name}"), bin.join(name)).unwrap();
    }
    let listed = Command::new("ldd")
        .args([&program, Path::new("/bin/sh"), Path::new("/bin/sleep")])
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let words = listed.split_whitespace();
    for library in words.filter(|word| word.starts_with("/lib") && !word.ends_with(':')) {
        let copy = root.join(library.trim_start_matches('/'));
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(library, copy).unwrap();
    }
    let scripts = [
        (root.join("render"), RENDER),
        (operators.join("cluster-kube-scheduler-operator"), OPERATOR),
    ];
    for (path, text) in scripts {
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}
