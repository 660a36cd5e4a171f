//! Making all that is missing, in the order in which it is needed.

use std::path::{Path, PathBuf};
use std::thread;

use crate::base::Base;
use crate::busybox::Busybox;
use crate::cache::{Cache, Lock};
use crate::error::LabError;
use crate::images::{BOOTLACE, Ingredients, Kitchen, ReleaseImage};
use crate::packages;
use crate::payload::{self, Release};
use crate::program;
use crate::programs::{self, CONFORMANCE, IGNITION, MODULES, Programs};
use crate::progress::Progress;
use crate::ready::{self, ConformanceSuite, IgnitionPrograms, Lab, ProgramFolders, Ready};
use crate::sources::Sources;
use crate::store::Stores;
use crate::test_images::TestImages;

/// What shall be prepared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The release binary, which becomes an image of the payload.
    pub bootlace: Option<PathBuf>,
    /// Whether only programs are wanted, which needs no root.
    pub programs_only: bool,
    /// Whether real Ignition is wanted, with which tests compare ours.
    pub with_ignition: bool,
    /// Whether Kubernetes' conformance specs and their images are wanted.
    pub with_conformance: bool,
}

/// Makes all that is missing and notes where everything is.
pub fn prepare(wanted: &Wanted) -> Result<(), LabError> {
    let sources = Sources::own();
    let cache = Cache::find(|name| std::env::var(name).ok())?;
    let user = rustix::process::geteuid();
    if !wanted.programs_only && !user.is_root() {
        return Err(LabError::NotRoot {
            user: user.as_raw(),
        });
    }
    let bootlace = wanted.bootlace.as_deref().map(find_binary).transpose()?;
    let progress = Progress::start();
    let go_version = programs::go_version()?;
    let find = |module| Programs::find(module, &sources, &cache, &go_version);
    let built = [find(MODULES[0])?, find(MODULES[1])?, find(MODULES[2])?];
    let base = if wanted.programs_only {
        None
    } else {
        Some(Base::find(&sources, &cache)?)
    };
    // Noted also where it is not wanted but there, so that no build has to be repeated to find it.
    let ignition = find(IGNITION)?;
    let ignition = (wanted.with_ignition || ignition.is_ready()).then_some(ignition);
    let specs = find(CONFORMANCE)?;
    let test_images = TestImages::find(&cache);
    let are_there = specs.is_ready() && test_images.has_root();
    let with_specs = !wanted.programs_only && (wanted.with_conformance || are_there);
    let all: Vec<&Programs> = built
        .iter()
        .chain(ignition.as_ref())
        .chain(with_specs.then_some(&specs))
        .collect();
    let roots = Roots {
        base: base.as_ref(),
        test_images: with_specs.then_some(&test_images),
    };
    let missing = missing_packages(wanted, ignition.as_ref());
    let busybox = Busybox::find(&cache);
    let todo = todo(&missing, &all, &roots, &busybox);
    announce(&progress, &cache, &todo);
    let lock = cache.lock(&progress)?;
    packages::install(&missing, &progress)?;
    build(&lock, &progress, &all, &roots)?;
    let [kubernetes, etcd, coredns] = &built;
    let programs = program_folders(kubernetes, etcd, coredns);
    let (lab, conformance) = match &base {
        Some(base) => {
            let from = Ingredients {
                sources: &sources,
                kubernetes,
                etcd,
                coredns,
                base,
                busybox: &busybox,
            };
            let kitchen = Kitchen::new(&cache, &lock, &progress);
            let images = kitchen.all(&from)?;
            let suite = roots
                .test_images
                .map(|roots| roots.make(&images, &specs, &kitchen))
                .transpose()?
                .map(|archive| ConformanceSuite::of(&specs, archive));
            let bootlace = bootlace.as_deref();
            let lab = finish(&kitchen, &from, images, bootlace, programs.clone())?;
            (Some(lab), suite)
        }
        None => (None, None),
    };
    let ready = Ready {
        checkout: sources.folder().to_owned(),
        sources: sources.key()?,
        programs,
        ignition: ignition.as_ref().map(IgnitionPrograms::of),
        conformance,
        lab,
    };
    ready.write(&cache)?;
    ready::prune(&cache, &lock)?;
    progress.line("ready; `lab show` says where everything is");
    Ok(())
}

/// Lists packages without which something cannot be made.
fn missing_packages(wanted: &Wanted, ignition: Option<&Programs>) -> Vec<&'static str> {
    let mut missing = if wanted.programs_only {
        Vec::new()
    } else {
        packages::missing()
    };
    if ignition.is_some_and(|programs| !programs.is_ready()) {
        missing.extend(packages::missing_for_ignition());
    }
    missing.sort_unstable();
    missing.dedup();
    missing
}

fn program_folders(kubernetes: &Programs, etcd: &Programs, coredns: &Programs) -> ProgramFolders {
    ProgramFolders {
        kubernetes: kubernetes.folder().to_owned(),
        etcd: etcd.folder().to_owned(),
        coredns: coredns.folder().to_owned(),
        kubernetes_version: kubernetes.version.clone(),
    }
}

/// Finds the release binary, from wherever it is run later.
fn find_binary(path: &Path) -> Result<PathBuf, LabError> {
    match path.canonicalize() {
        Ok(found) if found.is_file() => Ok(found),
        _ => Err(LabError::source(
            path,
            "there is no such program; build it first",
        )),
    }
}

/// Roots that debootstrap makes.
struct Roots<'a> {
    base: Option<&'a Base>,
    test_images: Option<&'a TestImages>,
}

impl Roots<'_> {
    fn todo(&self) -> impl Iterator<Item = String> {
        let base = self.base.and_then(Base::todo);
        base.into_iter()
            .chain(self.test_images.and_then(TestImages::todo))
    }

    fn make(&self, lock: &Lock, progress: &Progress) -> Result<(), LabError> {
        if let Some(base) = self.base {
            base.make(lock, progress)?;
        }
        if let Some(images) = self.test_images {
            images.make_root(lock, progress)?;
        }
        Ok(())
    }
}

/// Lists what is missing.
fn todo(
    missing: &[&str],
    built: &[&Programs],
    roots: &Roots<'_>,
    busybox: &Busybox,
) -> Vec<String> {
    let packages = format!("install with apt-get: {}", missing.join(", "));
    let packages = (!missing.is_empty()).then_some(packages);
    let programs = built.iter().filter_map(|programs| programs.todo());
    let busybox = roots.base.and_then(|_| busybox.todo());
    packages
        .into_iter()
        .chain(programs)
        .chain(roots.todo())
        .chain(busybox)
        .collect()
}

/// Says what will be done before anything is done.
fn announce(progress: &Progress, cache: &Cache, todo: &[String]) {
    if todo.is_empty() {
        progress.line("programs and the machines' root are there");
        return;
    }
    progress.line(&format!(
        "this is missing, and is made once and kept in {}:",
        cache.root().display()
    ));
    for item in todo {
        progress.line(&format!("  {item}"));
    }
}

/// Builds programs and roots side by side: one needs processors, the other the network.
fn build(
    lock: &Lock,
    progress: &Progress,
    built: &[&Programs],
    roots: &Roots<'_>,
) -> Result<(), LabError> {
    thread::scope(|scope| {
        let roots = scope.spawn(|| roots.make(lock, progress));
        let programs = built
            .iter()
            .try_for_each(|programs| programs.build(lock, progress));
        let roots = roots.join().unwrap_or_else(|_| {
            Err(LabError::NotReady {
                reason: "the thread that makes roots ended early".into(),
            })
        });
        programs.and(roots)
    })
}

/// Makes images and the payload.
fn finish(
    kitchen: &Kitchen<'_>,
    from: &Ingredients<'_>,
    images: Vec<ReleaseImage>,
    bootlace: Option<&Path>,
    programs: ProgramFolders,
) -> Result<Lab, LabError> {
    let (cache, lock, progress) = kitchen.parts();
    let version = &from.kubernetes.version;
    let mut command = program::command(&from.kubernetes.folder().join("kubeadm").to_string_lossy());
    command.args(["config", "images", "list", "--kubernetes-version", version]);
    let names = program::run("asking kubeadm for its images", &mut command, |_| {})?;
    let names: Vec<String> = names.lines().map(ToOwned::to_owned).collect();
    let kubeadm_images = payload::kubeadm_archive(&images, &names, cache, lock, progress)?;
    let release = Release {
        images,
        kubernetes_version: version,
        bootlace,
    };
    let payload = release.make(from.sources, cache, lock, progress)?;
    let mut layers = vec![from.kubernetes.layer()];
    layers.extend(from.base.layers());
    let stores = Stores {
        cache,
        lock,
        progress,
        layers: &layers,
        base: &from.base.key,
    };
    // bootlace is built far more often than the rest, so its image comes on top of theirs.
    let is_own = |image: &&ReleaseImage| image.name == BOOTLACE;
    let (own, others): (Vec<_>, Vec<_>) = payload.images.iter().partition(is_own);
    for image in &own {
        cache.prune(lock, "images/bootlace", std::slice::from_ref(&image.folder))?;
    }
    let mut store = stores.make("store", &others, None)?;
    if !own.is_empty() {
        store = stores.make("store-own", &own, Some(&store))?;
    }
    if bootlace.is_none() {
        progress.line("the payload has no image of bootlace; `--bootlace FILE` adds it");
    }
    Ok(Lab {
        programs,
        base: from.base.debian(),
        layers,
        image_store: store,
        release: payload.release(),
        bundle: payload.bundle(),
        payload: payload.folder,
        kubeadm_images,
        kubeadm_unit: from.sources.path("kubeadm/kubelet.service"),
    })
}
