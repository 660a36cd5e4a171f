//! A mount namespace for disks and filesystems: whatever happens, the kernel clears it away.

use std::io::{BufRead as _, BufReader, Error, Result};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use super::filesystem::Filesystem;
use super::image::Image;

/// A mount namespace with an empty folder in it, in memory.
///
/// A process holds it that ends with this one, killed or not; then every mount in it goes, and
/// with its mount each loop device.
#[derive(Debug)]
pub struct Space {
    holder: Child,
    folder: tempfile::TempDir,
}

impl Space {
    /// Makes one. Needs root.
    pub fn new() -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("bootlace-disks-")
            .tempdir()?;
        let script = r#"mount -t tmpfs disks "$0" && echo ready && exec cat"#;
        let mut holder = program("unshare")
            .args(["--mount", "--propagation", "private", "sh", "-c", script])
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut ready = String::new();
        if let Some(said) = holder.stdout.take() {
            BufReader::new(said).read_line(&mut ready)?;
        }
        let space = Self { holder, folder };
        if ready.trim() == "ready" {
            Ok(space)
        } else {
            Err(Error::other(
                "no mount namespace could be made; it needs root",
            ))
        }
    }

    /// Returns a path in the folder, as processes in the space see it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the same path as this process sees it.
    pub fn seen(&self, name: &str) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.holder.id()));
        let path = self.path(name);
        root.join(path.strip_prefix("/").unwrap_or(&path))
    }

    /// Returns a command that runs in the space.
    pub fn command(&self, name: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = program("nsenter");
        command.arg(format!("--mount=/proc/{}/ns/mnt", self.holder.id()));
        command.arg("--").arg(name).stdin(Stdio::null());
        // Nothing of a desktop or a build leaks in, and makers of filesystems are found.
        command
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command
    }

    /// Runs a command that must succeed.
    pub fn must(mut command: Command) -> Result<Output> {
        let output = command.output()?;
        if output.status.success() {
            return Ok(output);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let (out, status) = (String::from_utf8_lossy(&output.stdout), output.status);
        Err(Error::other(format!("{command:?}: {status}: {said}{out}")))
    }

    /// Writes an image to a file in the folder.
    #[expect(
        clippy::disallowed_methods,
        reason = "tests make disks beside the port"
    )]
    pub fn write(&self, name: &str, image: &Image) -> Result<()> {
        let file = std::fs::File::create(self.seen(name))?;
        file.set_len(image.length() as u64)?;
        for (offset, part) in image.parts() {
            file.write_all_at(part, offset as u64)?;
        }
        Ok(())
    }

    /// Reads an image from a file in the folder.
    #[expect(
        clippy::disallowed_methods,
        reason = "tests make disks beside the port"
    )]
    pub fn read(&self, name: &str) -> Result<Image> {
        let content = std::fs::read(self.seen(name))?;
        let mut image = Image::empty(content.len());
        let zeros = [0; 4096];
        for (number, part) in content.chunks(zeros.len()).enumerate() {
            if *part != zeros[..part.len()] {
                image.write(number * zeros.len(), part);
            }
        }
        Ok(image)
    }

    /// Makes an empty filesystem of so many MiB on a new image.
    pub fn format(&self, name: &str, filesystem: Filesystem, mebibytes: usize) -> Result<Image> {
        self.write(name, &Image::empty(mebibytes << 20))?;
        let mut format = self.command(filesystem.maker());
        format.args(filesystem.flags()).arg(self.path(name));
        Self::must(format)?;
        self.read(name)
    }

    /// Mounts a disk or an image through a loop device that goes with its mount.
    pub fn mount(&self, image: &Path, name: &str, options: &str) -> Result<()> {
        let mut make = self.command("mkdir");
        make.arg("-p").arg(self.path(name));
        Self::must(make)?;
        let mut mount = self.command("mount");
        mount.args(["-o", &format!("loop{options}")]);
        mount.arg(image).arg(self.path(name));
        Self::must(mount).map(|_| ())
    }

    /// Unmounts what [`Space::mount`] mounted.
    #[expect(
        clippy::disallowed_methods,
        reason = "tests wait for the kernel, beside the port"
    )]
    pub fn unmount(&self, name: &str) -> Result<()> {
        let began = std::time::Instant::now();
        loop {
            let mut unmount = self.command("umount");
            unmount.arg(self.path(name));
            match Self::must(unmount) {
                // The kernel may still work on it for a moment after the last process has ended.
                Err(error) if is_busy(&error) && began.elapsed() < FREE_WITHIN => {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
                ended => return ended.map(|_| ()),
            }
        }
    }
}

/// How long a filesystem may be busy after its last process has ended.
const FREE_WITHIN: std::time::Duration = std::time::Duration::from_secs(5);

fn is_busy(error: &Error) -> bool {
    error.to_string().contains("target is busy")
}

impl Drop for Space {
    fn drop(&mut self) {
        drop(self.holder.stdin.take());
        // It ends by itself now; a space that is left is cleared by the kernel in any case.
        self.holder.wait().map(|_| ()).unwrap_or_default();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests start programs beside the port"
)]
fn program(name: &str) -> Command {
    Command::new(name)
}
