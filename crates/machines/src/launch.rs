//! Starting systemd-nspawn so that it outlives whoever started it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::network;
use crate::state::MachineRecord;
use crate::tools;
use crate::wait::until;
use crate::{MachineError, Result};

/// How long the supervisor may take to join its groups.
const STARTS_WITHIN: Duration = Duration::from_secs(10);

/// The supervisor of a machine: joins the groups that are named before `--`, then runs the machine,
/// again when it was rebooted, which systemd-nspawn tells by its exit code 133.
const SUPERVISOR: &str = r#"state=$1 network=$2
shift 2
while [ "$1" != -- ]; do
    echo $$ > "$1/cgroup.procs" || exit 70
    shift
done
shift
: > "$state/started"
while :; do
    nsenter --net="$network" "$@" </dev/null >>"$state/console.log" 2>&1
    code=$?
    [ $code -eq 133 ] || break
done
echo $code > "$state/exit.new"
mv "$state/exit.new" "$state/exit"
"#;

/// The folder of one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    /// The folder itself.
    pub(crate) folder: PathBuf,
}

impl Places {
    /// The record of what the machine is.
    pub(crate) fn record(&self) -> PathBuf {
        self.folder.join("machine.json")
    }
    /// What the machine wrote.
    pub(crate) fn upper(&self) -> PathBuf {
        self.folder.join("upper")
    }
    /// What the overlay needs for itself.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.join("work")
    }
    /// The machine's root, while it is mounted.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.join("root")
    }
    /// The machine's disk for containers: the kernel allows no overlay on an overlay.
    pub(crate) fn disk(&self) -> PathBuf {
        self.folder.join("containerd")
    }
    /// What the machine printed on its console.
    pub(crate) fn console(&self) -> PathBuf {
        self.folder.join("console.log")
    }
    /// Made when the supervisor is in its groups.
    fn started(&self) -> PathBuf {
        self.folder.join("started")
    }
    /// How the machine ended.
    pub(crate) fn exit(&self) -> PathBuf {
        self.folder.join("exit")
    }
}

/// What a machine is started with.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    /// The folder of all machines.
    pub(crate) lab: &'a Path,
    /// The machine's own folder.
    pub(crate) places: &'a Places,
    /// What the machine is.
    pub(crate) record: &'a MachineRecord,
    /// The name by which systemd-nspawn knows it.
    pub(crate) container: String,
    /// Its control groups.
    pub(crate) groups: &'a [PathBuf],
}

impl Launch<'_> {
    /// Starts the machine; returns when its supervisor runs in the machine's groups.
    pub(crate) fn start(&self) -> Result<()> {
        for old in [self.places.started(), self.places.exit()] {
            crate::state::remove_file(&old)?;
        }
        let mut words: Vec<OsString> = ["--fork", "sh", "-c", SUPERVISOR, "supervisor"]
            .map(OsString::from)
            .into();
        words.push(self.places.folder.clone().into());
        words.push(network::namespace(self.lab).into());
        words.extend(
            self.groups
                .iter()
                .map(|group| group.clone().into_os_string()),
        );
        words.push("--".into());
        words.extend(self.nspawn());
        let mut command = tools::command("setsid");
        command
            .args(words)
            // Inside, the machine may change what only a whole machine owns, such as sysctls.
            .env("SYSTEMD_NSPAWN_API_VFS_WRITABLE", "1")
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null());
        let failed = |output: String| MachineError::Tool {
            command: "setsid --fork sh".into(),
            output,
        };
        let status = command
            .status()
            .map_err(|error| failed(error.to_string()))?;
        if !status.success() {
            return Err(failed(status.to_string()));
        }
        let started = self.places.started();
        let seen = until(STARTS_WITHIN, || Ok(started.exists().then_some(())))?;
        seen.ok_or_else(|| MachineError::Deadline {
            what: format!(
                "machine {} could not join its control groups",
                self.record.name
            ),
            within: STARTS_WITHIN,
            evidence: String::new(),
        })
    }

    /// Returns the command line of the machine itself.
    fn nspawn(&self) -> Vec<OsString> {
        let option = |name: &str, value: OsString| {
            let mut word = OsString::from(name);
            word.push("=");
            word.push(value);
            word
        };
        let bind = |from: &Path, to: &Path| {
            let mut word = from.as_os_str().to_owned();
            word.push(":");
            word.push(to);
            word
        };
        let mut words: Vec<OsString> = [
            "systemd-nspawn",
            "--quiet",
            "--boot",
            "--register=no",
            "--keep-unit",
            "--console=pipe",
            "--capability=all",
            // runc keeps a session key for each container, and kubelet loads filters.
            "--system-call-filter=add_key keyctl bpf",
            // Machines have no name server; that of the host cannot be reached from them.
            "--resolv-conf=off",
            "--timezone=off",
            // kubelet reads the kernel's log.
            "--bind=/dev/kmsg",
        ]
        .map(OsString::from)
        .into();
        words.push(option("--directory", self.places.root().into()));
        words.push(option("--machine", self.container.clone().into()));
        words.push(option("--hostname", self.record.name.as_str().into()));
        words.push(option("--network-bridge", network::BRIDGE_NAME.into()));
        let disk = bind(&self.places.disk(), Path::new("/var/lib/containerd"));
        words.push(option("--bind", disk));
        for wanted in &self.record.binds {
            let name = if wanted.read_only {
                "--bind-ro"
            } else {
                "--bind"
            };
            words.push(option(name, bind(&wanted.from, &wanted.to)));
        }
        words
    }
}
