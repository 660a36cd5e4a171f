//! Disks with a root that is not empty, and what a run makes of it.

use std::path::PathBuf;
use std::process::{Command, Output};

use bootlace_model::path::TargetPath;
use bootlace_testkit::crash::Wrong;
use bootlace_testkit::disk::{Filesystem, Image, Space};
use bootlace_testkit::meaning::meaning_of;
use bootlace_testkit::tree::Snapshot;

/// The last step that needs no machine.
pub(crate) const GOAL: [&str; 2] = ["--to", "render-machine-config"];

/// Files that are there before a run, in places that the run writes to.
const OLD_FILES: [&str; 14] = [
    "etc/hostname",
    "opt/bootlace/auth-bootstrap/manifests/cluster-admins.yaml",
    "opt/bootlace/auth-bootstrap/manifests/cluster-info.yaml",
    "opt/bootlace/bootstrap-manifests/etcd-pod.yaml",
    "opt/bootlace/config-bootstrap/kubelet-config.yaml",
    "opt/bootlace/config-bootstrap/manifests/cluster-config.yaml",
    "opt/bootlace/cvo-bootstrap/manifests/version-operator.yaml",
    "opt/bootlace/etcd-bootstrap/bootstrap-manifests/etcd-pod.yaml",
    "opt/bootlace/ingress/manifests/ingress-class.yaml",
    "opt/bootlace/kube-scheduler/bootstrap-manifests/kube-scheduler-pod.yaml",
    "opt/bootlace/manifests/cluster-config.yaml",
    "opt/bootlace/manifests/ingress-config.yaml",
    "opt/bootlace/mco-bootstrap/machine-pools/worker.yaml",
    "opt/bootlace/mco-bootstrap/manifests/machine-config-worker.yaml",
];

/// Which filesystems, and what lies on them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) filesystem: Filesystem,
    /// Whether the state folder has a disk of its own.
    ///
    /// On the disk of the root every sync of the journal makes more durable than was asked for, and
    /// so hides what a sync of the root would have to do.
    pub(crate) state_apart: bool,
}

impl Layout {
    pub(crate) fn disks(self) -> &'static [&'static str] {
        if self.state_apart {
            &["root", "state"]
        } else {
            &["root"]
        }
    }
}

/// Disks before a run, and what an undisturbed run leaves on them.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) space: Space,
    pub(crate) layout: Layout,
    /// What each disk holds before the run.
    pub(crate) before: Vec<Image>,
    pub(crate) initial: Snapshot,
    /// What an undisturbed run leaves; keys count by what they are for.
    pub(crate) expected: Snapshot,
}

impl World {
    pub(crate) fn new(layout: Layout) -> Self {
        let space = Space::new().unwrap();
        let mut world = Self {
            space,
            layout,
            before: vec![],
            initial: Snapshot::default(),
            expected: Snapshot::default(),
        };
        let empty: Vec<Image> = layout
            .disks()
            .iter()
            .map(|disk| world.format(disk))
            .collect();
        world.insert(&empty).unwrap();
        for file in OLD_FILES {
            let path = world.space.seen("root").join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, format!("what was in {file} before\n")).unwrap();
        }
        world.initial = world.tree();
        world.before = world.eject_whole();
        world.insert(&world.before).unwrap();
        ends_with(0, world.bootlace("run", &GOAL)).unwrap();
        world.expected = meaning_of(&world.tree());
        world.eject();
        world
    }

    fn format(&self, disk: &str) -> Image {
        let filesystem = self.layout.filesystem;
        let file = format!("{disk}.img");
        let made = self.space.format(&file, filesystem, filesystem.smallest());
        made.unwrap()
    }

    /// Puts disks that hold this into the machine.
    pub(crate) fn insert(&self, images: &[Image]) -> Result<(), Wrong> {
        for (disk, image) in self.layout.disks().iter().zip(images) {
            let file = format!("{disk}.img");
            self.space.write(&file, image).unwrap();
            let mounted = self.space.mount(&self.space.path(&file), disk, "");
            mounted.map_err(|error| Wrong(error.to_string()))?;
        }
        Ok(())
    }

    /// Takes the disks out in an orderly way.
    pub(crate) fn eject(&self) {
        for disk in self.layout.disks() {
            self.space.unmount(disk).unwrap();
        }
    }

    /// Takes the disks out in an orderly way, and returns what they hold.
    pub(crate) fn eject_whole(&self) -> Vec<Image> {
        self.eject();
        let whole = |disk: &&str| self.space.read(&format!("{disk}.img")).unwrap();
        self.layout.disks().iter().map(whole).collect()
    }

    /// Returns the program's words for a verb on these disks.
    pub(crate) fn words(&self, verb: &str, more: &[&str]) -> Vec<String> {
        let mut words = vec![binary().display().to_string()];
        words.extend([verb, "cluster", "--root"].map(str::to_owned));
        words.push(self.space.path("root").display().to_string());
        if self.layout.state_apart {
            words.push("--state".into());
            words.push(self.space.path("state").display().to_string());
        }
        if matches!(verb, "run" | "resume") && !more.contains(&"--jobs") {
            words.extend(["--jobs", "4"].map(str::to_owned));
        }
        words.extend(more.iter().map(|&word| word.to_owned()));
        words
    }

    pub(crate) fn bootlace(&self, verb: &str, more: &[&str]) -> Command {
        let words = self.words(verb, more);
        let mut command = self.space.command(&words[0]);
        command.args(&words[1..]);
        command
    }

    /// Returns what lies on the root, without the state folder.
    pub(crate) fn tree(&self) -> Snapshot {
        let without = ["/var", "/lost+found"].map(|path| TargetPath::new(path).unwrap());
        Snapshot::of_folder(&self.space.seen("root"), &without).unwrap()
    }

    /// Returns the state folder, as this process sees it.
    pub(crate) fn state(&self) -> PathBuf {
        if self.layout.state_apart {
            self.space.seen("state")
        } else {
            self.space.seen("root").join("var/lib/bootlace")
        }
    }

    /// Returns the state of the run, in the words of `status`.
    pub(crate) fn status(&self) -> Result<String, Wrong> {
        let output = ends_with(0, self.bootlace("status", &["-o", "json"]))?;
        let status: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        Ok(status["state"].as_str().unwrap_or_default().to_owned())
    }

    /// Goes on with a run, and compares what it leaves with what an undisturbed one leaves.
    pub(crate) fn must_resume(&self, verb: &str, more: &[&str]) -> Result<(), Wrong> {
        ends_with(0, self.bootlace(verb, more))?;
        let compared = self.expected.compare(&meaning_of(&self.tree()));
        compared.map_err(|difference| Wrong(format!("after {verb}:\n{difference}")))?;
        match self.status()?.as_str() {
            "succeeded" => Ok(()),
            other => Err(Wrong(format!("after {verb} the run is {other}"))),
        }
    }

    /// Takes a run back, and compares what it leaves with what there was before.
    pub(crate) fn must_undo(&self) -> Result<(), Wrong> {
        ends_with(0, self.bootlace("undo", &[]))?;
        let compared = self.initial.compare(&self.tree());
        compared.map_err(|difference| Wrong(format!("after undo:\n{difference}")))
    }
}

/// Runs the program, which must end with a code.
pub(crate) fn ends_with(code: i32, mut command: Command) -> Result<Output, Wrong> {
    let output = command.output().unwrap();
    if output.status.code() == Some(code) {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let args: Vec<_> = command.get_args().skip(3).collect();
    Err(Wrong(format!(
        "{args:?} ended with {}:\n{said}",
        output.status
    )))
}

/// Says what this machine lacks, if it cannot run these tests.
pub(crate) fn lacks() -> Option<&'static str> {
    if !rustix::process::geteuid().is_root() {
        return Some("needs root, to mount filesystems");
    }
    let has_fuse = std::path::Path::new("/dev/fuse").exists();
    (!has_fuse).then_some("needs /dev/fuse")
}

fn binary() -> PathBuf {
    std::env::var_os("BOOTLACE_BIN").map_or(env!("CARGO_BIN_EXE_bootlace").into(), Into::into)
}
