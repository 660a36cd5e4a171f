//! Real Ignition, where it cannot do harm.
//!
//! It runs as root and follows links of the root it works on, so it runs where everything but its own folder
//! is read-only. It asks systemd for its version when a config has instances of units: something that answers
//! stands in for systemd, since there is none where tests run.

mod systemd;
mod verdict;

use std::fs;
use std::io::{Error, Result, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use self::systemd::StandIn;
pub use self::verdict::{Remark, Severity, Verdict};

/// Makes everything but one folder read-only and puts another `/run` into place, then runs stages.
const CELL: &str = r#"
set -eu
umask 022
mount --make-rprivate /
mount --bind "$PLACE" "$PLACE"
mount -o remount,bind,ro /
mount --bind "$PLACE/run" /run
for stage in $STAGES; do
    "$IGNITION" -platform file -stage "$stage" -root "$ROOT" -log-to-stdout \
        -config-cache "$HERE/config" -state-file "$HERE/state" -neednet "$HERE/neednet" 2>&1 || exit 3
done
"#;

/// How the cell ends if Ignition refuses or fails.
const REFUSED: i32 = 3;

/// The programs, and a folder for all that they work on.
#[derive(Debug)]
pub struct RealIgnition {
    ignition: PathBuf,
    validate: PathBuf,
    folder: TempDir,
    // Answers as long as it lives.
    _systemd: StandIn,
}

/// What came of a run of Ignition: an error is what it printed.
pub type Outcome<T> = std::result::Result<T, String>;

#[expect(
    clippy::disallowed_methods,
    reason = "tests start the programs that they compare with"
)]
impl RealIgnition {
    /// Prepares a folder for these programs.
    pub fn new(ignition: &Path, validate: &Path) -> Result<Self> {
        let folder = TempDir::with_prefix_in("bootlace-ignition-", "/var/tmp")?;
        // Keys are written as the user to whom they belong, who must be able to come here.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
        let private = folder.path().join("run/systemd");
        fs::create_dir_all(&private)?;
        Ok(Self {
            ignition: ignition.to_owned(),
            validate: validate.to_owned(),
            _systemd: StandIn::listen(&private.join("private"))?,
            folder,
        })
    }

    /// Makes an empty folder in which real Ignition may write.
    pub fn place(&self, name: &str) -> Result<PathBuf> {
        let place = self.folder.path().join(name);
        fs::create_dir_all(&place)?;
        Ok(place)
    }

    /// Asks for a verdict on a config.
    pub fn judge(&self, config: &[u8]) -> Result<Verdict> {
        let mut child = Command::new(&self.validate)
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(config)?;
        }
        let output = child.wait_with_output()?;
        Ok(Verdict::read(&output))
    }

    /// Returns a config with everything merged into it that it names, as later stages see it.
    pub fn render(&self, config: &[u8]) -> Result<Outcome<Value>> {
        let here = TempDir::new_in(self.folder.path())?;
        let output = self.stages("fetch", config, here.path(), here.path())?;
        if let Err(refusal) = outcome(&output)? {
            return Ok(Err(refusal));
        }
        let text = fs::read(here.path().join("config"))?;
        Ok(Ok(serde_json::from_slice(&text)?))
    }

    /// Applies a config to a root, which must lie in a folder that [`Self::place`] made.
    pub fn apply(&self, config: &[u8], root: &Path) -> Result<Outcome<()>> {
        let here = TempDir::new_in(self.folder.path())?;
        let output = self.stages("fetch files", config, here.path(), root)?;
        outcome(&output)
    }

    fn stages(&self, stages: &str, config: &[u8], here: &Path, root: &Path) -> Result<Output> {
        let file = here.join("given");
        fs::write(&file, config)?;
        Command::new("unshare")
            .args(["--mount", "--", "sh", "-c", CELL])
            .env("PLACE", self.folder.path())
            .env("HERE", here)
            .env("ROOT", root)
            .env("STAGES", stages)
            .env("IGNITION", &self.ignition)
            .env("IGNITION_CONFIG_FILE", &file)
            .env("IGNITION_SYSTEM_CONFIG_DIR", "/nowhere")
            .env("TMPDIR", here)
            .stdin(Stdio::null())
            .output()
    }
}

/// Tells what came of it; a place for it that could not be made is no verdict.
fn outcome(output: &Output) -> Result<Outcome<()>> {
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.code() {
        Some(0) => Ok(Ok(())),
        Some(REFUSED) => Ok(Err(said)),
        _ => {
            let why = String::from_utf8_lossy(&output.stderr);
            let message = format!("real Ignition could not be run, which needs root: {why}{said}");
            Err(Error::other(message))
        }
    }
}
