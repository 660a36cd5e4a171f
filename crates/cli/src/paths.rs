//! From `--root`, `--state` and `--assets` to paths on the target, and where those lie here.

use std::path::{Component, Path, PathBuf};

use bootlace_model::config::{Paths, ReleaseSource, Settings};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::path::TargetPath;

use crate::args::Globals;

/// Where journals, blobs and locks lie unless a person says otherwise.
const STATE: &str = "/var/lib/bootlace";
/// Where assets lie unless a person says otherwise.
const ASSETS: &str = "/opt/bootlace";
/// Where config files are looked for if none is given.
pub(crate) const CONFIG: &str = "/etc/bootlace";

/// A folder of this computer that is seen at a path of the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) target: TargetPath,
    pub(crate) source: PathBuf,
    pub(crate) writable: bool,
}

/// Where everything lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    /// The target's root on this computer, absolute.
    pub(crate) root: PathBuf,
    /// Where things lie on the target.
    pub(crate) paths: Paths,
    /// What was given explicitly and lies outside of the root.
    pub(crate) mounts: Vec<Mount>,
}

impl Places {
    /// Makes the flags absolute. Nothing has to exist yet.
    pub(crate) fn new(globals: &Globals) -> Result<Self, Fault> {
        let root = resolve(&globals.root, "--root")?;
        let mut mounts = Vec::new();
        let mut place = |given: Option<&Path>, default: &str, flag: &str| {
            let Some(given) = given else {
                return target(Path::new(default), flag);
            };
            let source = resolve(given, flag)?;
            if let Ok(inside) = source.strip_prefix(&root) {
                // It has a name on the target, by which steps can tell that it is ours.
                return target(&Path::new("/").join(inside), flag);
            }
            let target = target(&source, flag)?;
            if root != Path::new("/") {
                mounts.push(Mount {
                    target: target.clone(),
                    source,
                    writable: true,
                });
            }
            Ok(target)
        };
        let state = place(globals.state.as_deref(), STATE, "--state")?;
        let assets = place(globals.assets.as_deref(), ASSETS, "--assets")?;
        let paths = Paths { assets, state };
        Ok(Self {
            root,
            paths,
            mounts,
        })
    }

    /// Lists the folders that the settings name as inputs; they are read and never written.
    ///
    /// An input that holds the asset or the state folder would be fed with its own output.
    pub(crate) fn inputs(&self, settings: &Settings) -> Result<Vec<Mount>, Fault> {
        let cluster = &settings.cluster;
        let release = match &cluster.release {
            ReleaseSource::Dir { path, .. } => Some(("spec.release.dir", path)),
            ReleaseSource::BuiltIn | ReleaseSource::Image(_) => None,
        };
        let manifests = cluster
            .manifests
            .iter()
            .map(|path| ("spec.manifests", path));
        let add_ons = cluster.add_ons.iter().map(|path| ("spec.addOns.dir", path));
        let inputs = release.into_iter().chain(manifests).chain(add_ons);
        inputs.map(|(key, path)| self.input(key, path)).collect()
    }

    fn input(&self, key: &str, path: &TargetPath) -> Result<Mount, Fault> {
        let own = [&self.paths.assets, &self.paths.state];
        let own = own.map(|path| (path, self.source(path)));
        let source = PathBuf::from(path.as_str());
        if let Some((own, _)) = own.iter().find(|(_, here)| here.starts_with(&source)) {
            let message = format!("{key} names {path}, which holds {own}, a folder of our own");
            return Err(Fault::bad_input(message)
                .because("a run would read back what it writes, and grow without end")
                .hint(format!(
                    "move your files to a folder of their own and name that in {key}"
                )));
        }
        Ok(Mount {
            target: path.clone(),
            source,
            writable: false,
        })
    }

    /// Returns where a path of the target lies on this computer.
    pub(crate) fn source(&self, path: &TargetPath) -> PathBuf {
        let mount = self.mounts.iter().find(|mount| mount.target == *path);
        match mount {
            Some(mount) => mount.source.clone(),
            None => self.root.join(path.as_str().trim_start_matches('/')),
        }
    }
}

/// Makes a path absolute and free of links and `..`, as far as it exists.
pub(crate) fn resolve(path: &Path, flag: &str) -> Result<PathBuf, Fault> {
    let unusable = |why: String| {
        let message = format!("{flag} {} cannot be used: {why}", path.display());
        Fault::new(FaultKind::Usage, message)
    };
    if path.as_os_str().is_empty() {
        return Err(unusable("it is empty".into()));
    }
    let absolute = std::path::absolute(path).map_err(|error| unusable(error.to_string()))?;
    let mut existing = absolute.as_path();
    let mut missing = Vec::new();
    loop {
        match existing.canonicalize() {
            Ok(found) => {
                let missing = missing.iter().rev();
                return Ok(missing.fold(found, |path: PathBuf, part| path.join(part)));
            }
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(unusable(error.to_string()));
            }
            Err(_) => {}
        }
        match existing.components().next_back() {
            Some(Component::Normal(part)) => missing.push(part.to_owned()),
            _ => {
                return Err(unusable(
                    "a `..` follows something that does not exist".into(),
                ));
            }
        }
        existing = existing.parent().unwrap_or(Path::new("/"));
    }
}

fn target(path: &Path, flag: &str) -> Result<TargetPath, Fault> {
    let text = path.to_str();
    let text = text.ok_or_else(|| format!("{} is not UTF-8", path.display()));
    text.and_then(|text| TargetPath::new(text).map_err(|bad| bad.to_string()))
        .map_err(|why| Fault::new(FaultKind::Usage, format!("{flag} cannot be used: {why}")))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::Cli;

    fn places(words: &[&str]) -> Result<Places, Fault> {
        let words = ["bootlace"].iter().chain(words);
        Places::new(&Cli::try_parse_from(words).unwrap().globals)
    }

    #[test]
    fn everything_lies_below_the_root_unless_given() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let text = root.to_str().unwrap();
        let below = places(&["--root", text]).unwrap();
        assert_eq!(below.root, root);
        assert_eq!(below.paths.state.as_str(), "/var/lib/bootlace");
        assert_eq!(below.paths.assets.as_str(), "/opt/bootlace");
        assert_eq!(below.mounts, []);
        assert_eq!(below.source(&below.paths.assets), root.join("opt/bootlace"));

        let inside = root.join("inside/state");
        let inside = places(&["--root", text, "--state", inside.to_str().unwrap()]).unwrap();
        assert_eq!(inside.paths.state.as_str(), "/inside/state");
        assert_eq!(inside.mounts, []);

        let other = tempfile::tempdir().unwrap();
        let state = other.path().canonicalize().unwrap().join("state");
        let beside = places(&["--root", text, "--state", state.to_str().unwrap()]).unwrap();
        assert_eq!(beside.paths.state.as_str(), state.to_str().unwrap());
        let mount = Mount {
            target: beside.paths.state.clone(),
            source: state.clone(),
            writable: true,
        };
        assert_eq!(beside.mounts, [mount]);
        assert_eq!(beside.source(&beside.paths.state), state);
    }

    #[test]
    fn the_real_root_needs_no_mounts() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().canonicalize().unwrap();
        let real = places(&["--root", "/", "--state", state.to_str().unwrap()]).unwrap();
        assert_eq!(real.paths.state.as_str(), state.to_str().unwrap());
        assert_eq!(real.mounts, []);
    }

    #[test]
    fn links_and_dots_are_resolved_as_far_as_something_exists() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let inner = tempfile::tempdir_in(&real).unwrap();
        std::os::unix::fs::symlink(inner.path(), real.join("link")).unwrap();
        let through = real.join("link/../link/new/deeper");
        let found = resolve(&through, "--state").unwrap();
        assert_eq!(found, inner.path().join("new/deeper"));
        let fault = resolve(&real.join("absent/../x"), "--state").unwrap_err();
        assert_eq!(fault.kind, FaultKind::Usage);
        assert!(resolve(Path::new(""), "--root").is_err());
    }

    #[test]
    fn an_input_must_not_hold_our_own_folders() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let places = places(&["--root", root.to_str().unwrap()]).unwrap();
        let mut settings = Settings::defaults(places.paths.clone());
        let inputs = |settings: &Settings| places.inputs(settings);
        assert_eq!(inputs(&settings), Ok(vec![]));
        settings.cluster.add_ons = Some(TargetPath::new("/srv/add-ons").unwrap());
        let mounts = inputs(&settings).unwrap();
        assert_eq!(mounts[0].source, Path::new("/srv/add-ons"));
        assert!(!mounts[0].writable);
        settings.cluster.manifests = vec![TargetPath::new(root.to_str().unwrap()).unwrap()];
        let fault = inputs(&settings).unwrap_err();
        assert_eq!(fault.kind, FaultKind::BadInput);
        assert!(fault.message.contains("spec.manifests"), "{fault}");
    }
}
