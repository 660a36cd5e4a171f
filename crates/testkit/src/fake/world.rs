//! The fake disk in the hands of others: of scripted programs, and of a test that sets it up.

use std::time::Duration;

use bootlace_engine::port::{HostError, HostResult};
use bootlace_model::node::{Attributes, Owner, SpecialKind};
use bootlace_model::path::TargetPath;

use super::disk::{Disk, ROOT};
use super::errno::Errno;
use super::faults::OperationKind;
use super::inode::{Ino, Kind, Meta, MetaChange};
use super::state::{IDENTITY, State, refusal};
use super::walk::LostWay;

/// The fake machine as a program or a person on it sees it.
///
/// What a program writes is not durable before it syncs, and each of its changes is a fault
/// point, so a crash can hit a program in the middle. What a test sets up is durable at once.
pub struct World<'a> {
    pub(super) state: &'a mut State,
    pub(super) counted: bool,
    pub(super) times_run: u64,
}

impl std::fmt::Debug for World<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "World(at {})", self.state.now)
    }
}

impl<'a> World<'a> {
    /// Looks at the machine from beside it: what is changed so is not counted.
    pub(super) fn beside(state: &'a mut State) -> Self {
        Self {
            state,
            counted: false,
            times_run: 0,
        }
    }
}

impl World<'_> {
    /// Installs a unit whose process stays, and enables it if a boot shall start it.
    pub fn install_unit(&mut self, unit: &str, is_enabled: bool) -> HostResult<()> {
        let file = format!("/usr/lib/systemd/system/{unit}");
        let text = "[Service]\nExecStart=/usr/bin/stay\n[Install]\nWantedBy=multi-user.target\n";
        self.write(&file, text.as_bytes())?;
        if is_enabled {
            let wants = "/etc/systemd/system/multi-user.target.wants";
            self.make_link(&format!("{wants}/{unit}"), &file)?;
        }
        Ok(())
    }

    /// Loads images into the container runtime, which must run.
    pub fn load_images(&mut self, images: &[&str]) -> HostResult<()> {
        let images: Vec<String> = images.iter().map(|image| (*image).to_owned()).collect();
        self.state.load_images(&images)
    }

    /// Starts a unit.
    pub fn start_unit(&mut self, unit: &str) -> HostResult<()> {
        self.state.start(unit, false)
    }

    /// Stops a unit; what its process made stays.
    pub fn stop_unit(&mut self, unit: &str) {
        self.state.stop(unit);
    }

    /// Reads a file; none if there is none.
    pub fn read(&self, path: &str) -> HostResult<Option<Vec<u8>>> {
        let found = self
            .state
            .disk
            .walk(path)
            .map_err(|lost| lost_way("read", path, lost))?;
        let Some(ino) = found else { return Ok(None) };
        let data = self.state.disk.data(ino);
        let data = data.map_err(|errno| lost_way("read", path, LostWay::Refused(errno)))?;
        Ok(Some(data.to_vec()))
    }

    /// Tells whether something is at a path; a link that leads nowhere is something.
    pub fn exists(&self, path: &str) -> bool {
        let Ok((dir, name)) = self.holding(path) else {
            return false;
        };
        matches!(self.state.disk.lookup(dir, &name), Ok(Some(_)))
    }

    /// Writes a file in place, making it (mode 0644) and the folders above it if they are absent.
    pub fn write(&mut self, path: &str, content: &[u8]) -> HostResult<()> {
        let (dir, name) = self.make_holding(path)?;
        let content = content.to_vec();
        self.change(path, move |disk| {
            let ino = match disk.lookup(dir, &name)? {
                Some(ino) => ino,
                None => disk.create_file(dir, &name, Meta::new(0o644, IDENTITY))?,
            };
            disk.write(ino, &content)
        })
    }

    /// Writes a file so that it is there whole and for good, or not at all, as a database does.
    pub fn write_durably(&mut self, path: &str, content: &[u8]) -> HostResult<()> {
        let (dir, name) = self.make_holding(path)?;
        let content = content.to_vec();
        self.change(path, move |disk| {
            let ino = match disk.lookup(dir, &name)? {
                Some(ino) => ino,
                None => disk.create_file(dir, &name, Meta::new(0o644, IDENTITY))?,
            };
            disk.write(ino, &content)?;
            disk.sync(ino)?;
            disk.sync(dir)
        })
    }

    /// Makes a folder (mode 0755) and those above it, as far as they are absent.
    pub fn make_folder(&mut self, path: &str) -> HostResult<()> {
        let (dir, name) = self.make_holding(path)?;
        if self
            .state
            .disk
            .lookup(dir, &name)
            .is_ok_and(|found| found.is_some())
        {
            return Ok(());
        }
        self.change(path, move |disk| {
            disk.create_dir(dir, &name, Meta::new(0o755, IDENTITY))
                .map(|_| ())
        })
    }

    /// Makes a symbolic link where nothing is.
    pub fn make_link(&mut self, path: &str, target: &str) -> HostResult<()> {
        let (dir, name) = self.make_holding(path)?;
        let target = target.to_owned();
        self.change(path, move |disk| {
            disk.create_link(dir, &name, &target, IDENTITY).map(|_| ())
        })
    }

    /// Makes a pipe or a socket where nothing is.
    pub fn make_special(
        &mut self,
        path: &str,
        kind: SpecialKind,
        attributes: &Attributes,
    ) -> HostResult<()> {
        let (dir, name) = self.make_holding(path)?;
        self.change(path, move |disk| {
            disk.create_special(dir, &name, kind, Meta::new(0o600, IDENTITY))
                .map(|_| ())
        })?;
        self.set_attributes(path, attributes)
    }

    /// Gives something another owner; a link is not followed.
    pub fn set_owner(&mut self, path: &str, owner: Owner) -> HostResult<()> {
        let (dir, name) = self.make_holding(path)?;
        self.change(path, move |disk| {
            let ino = disk.must_lookup(dir, &name)?;
            disk.change_meta(ino, MetaChange::Owner(owner))
        })
    }

    /// Gives a file or a folder these attributes.
    pub fn set_attributes(&mut self, path: &str, attributes: &Attributes) -> HostResult<()> {
        let (dir, name) = self.make_holding(path)?;
        let attributes = attributes.clone();
        self.change(path, move |disk| {
            let ino = disk.must_lookup(dir, &name)?;
            for change in disk.changes_to(ino, &attributes)? {
                disk.change_meta(ino, change)?;
            }
            Ok(())
        })
    }

    /// Removes a file, a link, or a folder with all that is in it; nothing if nothing is there.
    pub fn remove(&mut self, path: &str) -> HostResult<()> {
        let (dir, name) = self.make_holding(path)?;
        let Ok(Some(ino)) = self.state.disk.lookup(dir, &name) else {
            return Ok(());
        };
        if matches!(self.state.disk.inode(ino), Ok(inode) if matches!(inode.kind, Kind::Link(_))) {
            return self.change(path, move |disk| disk.unlink(dir, &name));
        }
        let Ok(names) = self.state.disk.names(ino) else {
            return self.change(path, move |disk| disk.unlink(dir, &name));
        };
        let below: Vec<String> = names.iter().map(|(name, _)| name.to_owned()).collect();
        for name in below {
            self.remove(&format!("{path}/{name}"))?;
        }
        self.change(path, move |disk| disk.remove_dir(dir, &name))
    }

    /// Makes everything below a path durable, and the names on the way to it.
    pub fn sync_below(&mut self, path: &str) -> HostResult<()> {
        let owned = path.to_owned();
        self.change(path, move |disk| {
            let parts = owned.split('/').filter(|part| !part.is_empty());
            let mut here = ROOT;
            for part in parts {
                disk.sync(here)?;
                here = disk.must_lookup(here, part)?;
            }
            let mut next = vec![here];
            while let Some(ino) = next.pop() {
                disk.sync(ino)?;
                if let Ok(names) = disk.names(ino) {
                    next.extend(names.iter().map(|(_, ino)| ino));
                }
            }
            Ok(())
        })
    }

    /// Makes the names in one folder durable.
    pub fn sync_names(&mut self, path: &str) -> HostResult<()> {
        let found = self
            .state
            .disk
            .walk(path)
            .map_err(|lost| lost_way("sync", path, lost))?;
        self.change(path, move |disk| disk.sync(found.ok_or(Errno::ENOENT)?))
    }

    /// Tells how often the running program was run on this machine, this time included.
    pub fn times_run(&self) -> u64 {
        self.times_run
    }

    /// Returns the time that the clock shows.
    pub fn now(&self) -> jiff::Timestamp {
        self.state.clock_shows()
    }

    /// Lets time pass.
    pub fn pass_time(&mut self, how_long: Duration) {
        self.state.pass_time(how_long);
    }

    /// Marks a folder as an input, which the port then refuses to write.
    pub fn make_input(&mut self, path: &TargetPath) {
        self.state.inputs.push(path.clone());
    }

    fn change(
        &mut self,
        path: &str,
        act: impl FnOnce(&mut Disk) -> Result<(), Errno>,
    ) -> HostResult<()> {
        let kind = OperationKind::ByProgram;
        let done = |errno| refusal(kind, path, errno);
        if !self.counted {
            return act(&mut self.state.disk).map_err(done);
        }
        let pass = self.state.begin(kind, path)?;
        let result = if pass.is_partial() {
            Ok(())
        } else {
            act(&mut self.state.disk).map_err(done)
        };
        self.state.end(pass, result)
    }

    /// Finds the folder that holds a path, and the path's last part.
    fn holding(&self, path: &str) -> HostResult<(Ino, String)> {
        let (above, name) = split(path)?;
        let found = self
            .state
            .disk
            .walk(above)
            .map_err(|lost| lost_way("reach", path, lost))?;
        let missing = || lost_way("reach", path, LostWay::Refused(Errno::ENOENT));
        Ok((found.ok_or_else(missing)?, name.to_owned()))
    }

    fn make_holding(&mut self, path: &str) -> HostResult<(Ino, String)> {
        let (above, name) = split(path)?;
        let found = self
            .state
            .disk
            .walk(above)
            .map_err(|lost| lost_way("reach", path, lost))?;
        let Some(ino) = found else {
            self.make_folder(above)?;
            return self.holding(path);
        };
        Ok((if above.is_empty() { ROOT } else { ino }, name.to_owned()))
    }
}

fn split(path: &str) -> HostResult<(&str, &str)> {
    let invalid = || lost_way("reach", path, LostWay::Refused(Errno::EINVAL));
    path.rsplit_once('/')
        .filter(|(_, name)| !name.is_empty())
        .ok_or_else(invalid)
}

/// Turns a walk that led nowhere into what the port says of it.
pub(super) fn lost_way(act: &'static str, path: &str, lost: LostWay) -> HostError {
    match lost {
        LostWay::TooManyLinks => HostError::Escape {
            path: path.to_owned(),
        },
        LostWay::Refused(errno) => HostError::Io {
            act,
            target: path.to_owned(),
            error: errno.error(),
        },
    }
}
