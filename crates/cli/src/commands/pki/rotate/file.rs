//! The encryption config on this machine, replaced as a whole or not at all.

use bootlace_engine::port::{Dir, Host, HostError, Stat};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::ids::Digest;
use bootlace_model::node::Attributes;
use bootlace_model::path::TargetPath;
use bootlace_model::secret::Secret;
use bootlace_steps::key_rotation::{EncryptionConfig, MODE};

/// No encryption config is as large as this.
const LARGEST: u64 = 1 << 20;

/// The file.
pub(super) struct EncryptionFile<'a> {
    host: &'a dyn Host,
    path: &'a TargetPath,
}

impl<'a> EncryptionFile<'a> {
    pub(super) fn new(host: &'a dyn Host, path: &'a TargetPath) -> Self {
        Self { host, path }
    }

    pub(super) fn path(&self) -> &TargetPath {
        self.path
    }

    /// Reads the config, and tells what its bytes hash to.
    pub(super) fn read(&self) -> Result<(EncryptionConfig, Digest), Fault> {
        let dir = self.folder()?;
        match dir.stat(self.path.name())? {
            None => Err(self.absent()),
            Some(Stat::File { .. }) => {
                let content = Secret::new(dir.read(self.path.name(), LARGEST)?);
                let config = EncryptionConfig::read(self.path.as_str(), content.expose())?;
                Ok((config, Digest::of(content.expose())))
            }
            Some(_) => Err(
                Fault::refused(format!("{} is not a regular file", self.path))
                    .in_file(self.path.as_str())
                    .because("Replacing it would leave what it leads to with the old key.")
                    .hint("put the file itself there, with mode 0600"),
            ),
        }
    }

    /// Replaces the file, which must still be what was seen; durable when this returns.
    pub(super) fn replace(&self, seen: Digest, content: &Secret) -> Result<(), Fault> {
        self.remove_leftover()?;
        let dir = self.folder()?;
        let staged = self.staged();
        let attributes = Attributes::mode(MODE);
        dir.create(&staged, content.expose(), &attributes)?;
        self.host.sync_files(&[(dir.as_ref(), &staged)])?;
        let now = self.read();
        if !matches!(&now, Ok((_, digest)) if *digest == seen) {
            dir.remove(&staged)?;
            now?;
            return Err(
                Fault::refused(format!("{} was changed by someone else", self.path))
                    .in_file(self.path.as_str())
                    .because("Replacing it now would lose that change.")
                    .hint("run the command again: it begins with the file as it is"),
            );
        }
        dir.rename(&staged, self.path.name())?;
        self.host.sync_dirs(&[dir.as_ref()])?;
        Ok(())
    }

    /// Makes the file durable as it is.
    pub(super) fn sync(&self) -> Result<(), Fault> {
        let dir = self.folder()?;
        self.host.sync_files(&[(dir.as_ref(), self.path.name())])?;
        self.host.sync_dirs(&[dir.as_ref()])?;
        Ok(())
    }

    /// Removes what a call that was killed left beside the file.
    pub(super) fn remove_leftover(&self) -> Result<(), Fault> {
        let dir = self.folder()?;
        let staged = self.staged();
        if dir.stat(&staged)?.is_some() {
            dir.remove(&staged)?;
        }
        Ok(())
    }

    fn staged(&self) -> String {
        format!(".{}.new", self.path.name())
    }

    fn folder(&self) -> Result<Box<dyn Dir>, Fault> {
        let folder = self.path.parent().unwrap_or_else(TargetPath::root);
        match self.host.open_dir(&folder) {
            Ok(Some(dir)) => Ok(dir),
            Ok(None) => Err(self.absent()),
            Err(HostError::Io { error, .. })
                if error.kind() == std::io::ErrorKind::NotADirectory =>
            {
                Err(self.absent())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn absent(&self) -> Fault {
        let message = format!("{} does not exist", self.path);
        Fault::new(FaultKind::Preflight, message)
            .in_file(self.path.as_str())
            .because("Without it the API server encrypts nothing, so there is no key to rotate.")
            .hint("run the command on the control-plane machine")
            .hint("the file comes with `spec.security.profile: cis`")
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "a test looks at the files that the host wrote"
)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use bootlace_host::RealHost;

    use super::*;

    const GOOD: &str = "\
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- providers:
  - secretbox:
      keys:
      - name: key1
        secret: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
  resources:
  - secrets
";

    fn with(content: &str, act: impl FnOnce(&EncryptionFile<'_>, &Path)) {
        let folder = tempfile::tempdir().unwrap();
        let host = RealHost::builder().root(folder.path()).build();
        let path = TargetPath::new("/e.yaml").unwrap();
        fs::write(folder.path().join("e.yaml"), content).unwrap();
        act(&EncryptionFile::new(&host, &path), folder.path());
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().flatten();
        entries
            .map(|it| it.file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn it_is_replaced_as_a_whole_and_only_its_owner_may_read_it() {
        with(GOOD, |file, folder| {
            // A call that was killed left this.
            fs::write(folder.join(".e.yaml.new"), "half").unwrap();
            let (config, seen) = file.read().unwrap();
            let two = config.with_new_key("key2".into(), &Secret::new(vec![1; 32]));
            file.replace(seen, &two.content()).unwrap();
            let (read, _) = file.read().unwrap();
            assert_eq!(read.key_names().collect::<Vec<_>>(), ["key2", "key1"]);
            let mode = fs::metadata(folder.join("e.yaml")).unwrap().permissions();
            assert_eq!(mode.mode() & 0o7777, 0o600);
            assert_eq!(names(folder), ["e.yaml"]);
        });
    }

    #[test]
    fn what_someone_else_changed_meanwhile_stays() {
        with(GOOD, |file, folder| {
            let (config, seen) = file.read().unwrap();
            let theirs = GOOD.replace("key1", "theirs");
            fs::write(folder.join("e.yaml"), &theirs).unwrap();
            let fault = file.replace(seen, &config.content()).unwrap_err();
            assert_eq!(fault.kind, FaultKind::Refused);
            let now = fs::read_to_string(folder.join("e.yaml")).unwrap();
            assert_eq!(now, theirs);
            assert_eq!(names(folder), ["e.yaml"]);
        });
    }

    #[test]
    fn what_is_no_file_is_refused() {
        with(GOOD, |file, folder| {
            fs::rename(folder.join("e.yaml"), folder.join("other")).unwrap();
            assert_eq!(file.read().unwrap_err().kind, FaultKind::Preflight);
            std::os::unix::fs::symlink("other", folder.join("e.yaml")).unwrap();
            assert_eq!(file.read().unwrap_err().kind, FaultKind::Refused);
        });
    }
}
