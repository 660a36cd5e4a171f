//! Kubernetes, etcd, `CoreDNS` and Ignition, built from pinned Go modules.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::cache::{Cache, Lock, Product};
use crate::error::LabError;
use crate::files;
use crate::key::Key;
use crate::program;
use crate::progress::Progress;
use crate::sources::Sources;

/// Changes when programs are built in another way.
const RECIPE: u32 = 1;

/// Programs of Kubernetes that run on a machine itself, not in a container.
const ON_MACHINE: [&str; 3] = ["kubeadm", "kubectl", "kubelet"];

/// A Go module of ours that pins programs of others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Module {
    /// Its folder below `lab/go/`, and the name of the product.
    pub(crate) name: &'static str,
    /// The module whose version is the version of the product.
    requires: &'static str,
    /// The programs, each with the package that it is built from.
    programs: &'static [(&'static str, &'static str)],
    /// Files of the required module that are kept beside the programs, by their base names.
    files: &'static [&'static str],
    /// Whether C code is part of it, which makes programs that need the libraries of this computer.
    with_c: bool,
    /// How long a first build takes on two processors.
    minutes: &'static str,
}

/// Real Ignition, with which tests compare ours. Nothing else needs it.
pub(crate) const IGNITION: Module = Module {
    name: "ignition",
    requires: "github.com/coreos/ignition/v2",
    programs: &[
        ("ignition", "github.com/coreos/ignition/v2/internal"),
        (
            "ignition-validate",
            "github.com/coreos/ignition/v2/validate",
        ),
    ],
    files: &[],
    with_c: true,
    minutes: "2 to 4 minutes",
};

/// Kubernetes' own conformance specs, and the programs of the images that they run.
pub(crate) const CONFORMANCE: Module = Module {
    name: "conformance",
    requires: "k8s.io/kubernetes",
    programs: &[
        ("agnhost", "k8s.io/kubernetes/test/images/agnhost"),
        ("nnp", "k8s.io/kubernetes/test/images/nonewprivs"),
        ("sample-apiserver", "k8s.io/sample-apiserver"),
        ("ginkgo", "github.com/onsi/ginkgo/v2/ginkgo"),
        ("e2e.test", "k8s.io/kubernetes/test/e2e"),
    ],
    files: &[
        "test/images/agnhost/porter/localhost.crt",
        "test/images/agnhost/porter/localhost.key",
        "test/images/nautilus/html/data.json",
        "test/images/nautilus/html/nautilus.jpg",
    ],
    with_c: false,
    minutes: "4 to 8 minutes",
};

/// The modules that every lab has.
pub(crate) const MODULES: [Module; 3] = [
    Module {
        name: "kubernetes",
        requires: "k8s.io/kubernetes",
        programs: &[
            ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
            (
                "kube-controller-manager",
                "k8s.io/kubernetes/cmd/kube-controller-manager",
            ),
            ("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"),
            ("kubelet", "k8s.io/kubernetes/cmd/kubelet"),
            ("kubeadm", "k8s.io/kubernetes/cmd/kubeadm"),
            ("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
            ("kube-proxy", "k8s.io/kubernetes/cmd/kube-proxy"),
        ],
        files: &[],
        with_c: false,
        minutes: "7 to 10 minutes",
    },
    Module {
        name: "etcd",
        requires: "go.etcd.io/etcd/server/v3",
        programs: &[
            ("etcd", "go.etcd.io/etcd/server/v3"),
            ("etcdctl", "go.etcd.io/etcd/etcdctl/v3"),
        ],
        files: &[],
        with_c: false,
        minutes: "half a minute",
    },
    Module {
        name: "coredns",
        requires: "github.com/coredns/coredns",
        programs: &[("coredns", "github.com/coredns/coredns")],
        files: &[],
        with_c: false,
        minutes: "3 minutes",
    },
];

/// A module at its pinned version, and the folder of its programs.
#[derive(Debug, Clone)]
pub(crate) struct Programs {
    module: Module,
    /// The version, such as `v1.36.3`.
    pub(crate) version: String,
    /// What it is made from.
    pub(crate) key: String,
    product: Product,
    sources: PathBuf,
}

/// Returns the version of the Go compiler, or says how to get one.
pub(crate) fn go_version() -> Result<String, LabError> {
    if program::find("go").is_none() {
        return Err(LabError::Missing {
            what: "Go".into(),
            hint: "Kubernetes is built from source; install Go as lab/go/kubernetes/go.mod names it, or newer"
                .into(),
        });
    }
    let mut command = program::command("go");
    command
        .args(["env", "GOVERSION"])
        .env("GOTOOLCHAIN", "local");
    Ok(
        program::run("asking for Go's version", &mut command, |_| {})?
            .trim()
            .to_owned(),
    )
}

impl Programs {
    /// Finds out what is pinned, and where it is or will be.
    pub(crate) fn find(
        module: Module,
        sources: &Sources,
        cache: &Cache,
        go_version: &str,
    ) -> Result<Self, LabError> {
        let folder = sources.path("go").join(module.name);
        let go_mod = folder.join("go.mod");
        let text = fs::read_to_string(&go_mod).map_err(LabError::file("read", &go_mod))?;
        let version = required(&text, module.requires).ok_or_else(|| {
            LabError::source(&go_mod, format!("it does not require {}", module.requires))
        })?;
        let mut key = Key::new(module.name, RECIPE)
            .text("go", go_version)
            .text("flags", &linker_flags(module, &version));
        for (name, package) in module.programs {
            key = key.text(name, package);
        }
        for file in module.files {
            key = key.text("file", file);
        }
        for file in ["go.mod", "go.sum", "tools.go"] {
            key = key.file(file, &folder.join(file))?;
        }
        let key = key.finish();
        Ok(Self {
            module,
            product: cache.product(module.name, &key),
            version,
            key,
            sources: folder,
        })
    }

    /// Returns the folder of the programs.
    pub(crate) fn folder(&self) -> &Path {
        self.product.path()
    }

    /// Tells whether nothing has to be built.
    pub(crate) fn is_ready(&self) -> bool {
        self.product.is_ready()
    }

    /// Returns the layer that brings some of them onto a machine.
    pub(crate) fn layer(&self) -> PathBuf {
        self.folder().join("layer")
    }

    /// Says what will be built; none if it is there.
    pub(crate) fn todo(&self) -> Option<String> {
        let Module {
            name,
            programs,
            minutes,
            ..
        } = self.module;
        let count = programs.len();
        let what = format!(
            "build {name} {} ({count} programs, about {minutes})",
            self.version
        );
        (!self.product.is_ready()).then_some(what)
    }

    /// Builds what is missing.
    pub(crate) fn build(&self, lock: &Lock, progress: &Progress) -> Result<(), LabError> {
        self.product.make(lock, |folder| {
            for (program, package) in self.module.programs {
                self.build_one(program, package, folder, progress)?;
            }
            self.keep_files(folder)?;
            if self.module.name == "kubernetes" {
                put_on_machine(folder)?;
            }
            Ok(())
        })
    }

    fn build_one(
        &self,
        program: &str,
        package: &str,
        folder: &Path,
        progress: &Progress,
    ) -> Result<(), LabError> {
        let task = progress.task(&format!("builds {program} {}", self.version));
        let compiled = AtomicUsize::new(0);
        let mut command = program::command("go");
        // Packages whose programs are compiled tests are named like Go names them.
        let is_test = Path::new(program).extension() == Some("test".as_ref());
        let verb: &[&str] = if is_test {
            &["test", "-c", "-vet=off"]
        } else {
            &["build", "-v"]
        };
        command
            .current_dir(&self.sources)
            .args(verb)
            .args(["-mod=readonly", "-buildvcs=false", "-trimpath", "-ldflags"])
            .arg(linker_flags(self.module, &self.version))
            .arg("-o")
            .arg(folder.join(program))
            .arg(package)
            .envs(self.environment());
        program::run(&format!("building {program}"), &mut command, |line| {
            if line.starts_with("go: downloading ") {
                task.detail(line.trim_start_matches("go: "));
            } else {
                let count = compiled.fetch_add(1, Ordering::Relaxed) + 1;
                task.detail(&format!("{count} packages compiled"));
            }
        })?;
        Ok(())
    }

    /// Copies the module's files, which may vanish from Go's own cache.
    fn keep_files(&self, folder: &Path) -> Result<(), LabError> {
        if self.module.files.is_empty() {
            return Ok(());
        }
        let mut command = program::command("go");
        command
            .current_dir(&self.sources)
            .args(["list", "-mod=readonly", "-m", "-f", "{{.Dir}}"])
            .arg(self.module.requires)
            .envs(self.environment());
        let module = program::run("looking for a module's files", &mut command, |_| {})?;
        for file in self.module.files {
            let from = Path::new(module.trim()).join(file);
            let name = from.file_name().unwrap_or_default();
            let content = fs::read(&from).map_err(LabError::file("read", &from))?;
            files::write(&folder.join(name), &content)?;
        }
        Ok(())
    }

    fn environment(&self) -> [(&'static str, &'static str); 4] {
        [
            ("CGO_ENABLED", if self.module.with_c { "1" } else { "0" }),
            ("GOTOOLCHAIN", "local"),
            ("GOWORK", "off"),
            ("GOFLAGS", ""),
        ]
    }
}

/// Lays programs out as on a machine, without a second copy.
fn put_on_machine(folder: &Path) -> Result<(), LabError> {
    let place = folder.join("layer/usr/local/bin");
    files::folder(&place)?;
    for program in ON_MACHINE {
        let to = place.join(program);
        fs::hard_link(folder.join(program), &to).map_err(LabError::file("link", &to))?;
    }
    Ok(())
}

/// Returns what the linker is told: no symbols, and the version that programs say of themselves.
fn linker_flags(module: Module, version: &str) -> String {
    match module.name {
        "kubernetes" | "conformance" => kubernetes_flags(version),
        "ignition" => ignition_flags(version),
        _ => "-s -w".into(),
    }
}

/// Switches labels of `SELinux` off: no policy is loaded where Ignition is compared with ours.
fn ignition_flags(version: &str) -> String {
    let internal = "github.com/coreos/ignition/v2/internal";
    let version = version.trim_start_matches('v');
    format!("-s -w -X {internal}/version.Raw={version} -X {internal}/distro.selinuxRelabel=false")
}

fn kubernetes_flags(version: &str) -> String {
    let mut parts = version.trim_start_matches('v').split('.');
    let (major, minor) = (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    );
    let says = [
        ("gitVersion", version),
        ("gitMajor", major),
        ("gitMinor", minor),
    ];
    let says =
        says.map(|(name, value)| format!(" -X k8s.io/component-base/version.{name}={value}"));
    format!("-s -w{}", says.concat())
}

/// Finds the version that a `go.mod` requires of a module.
fn required(go_mod: &str, module: &str) -> Option<String> {
    go_mod.lines().find_map(|line| {
        let mut words = line
            .trim()
            .trim_start_matches("require ")
            .split_whitespace();
        (words.next() == Some(module))
            .then(|| words.next())
            .flatten()
            .map(ToOwned::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_go_mod() {
        let text = "module x\n\nrequire k8s.io/kubernetes v1.2.3\n\nrequire (\n\ta.b/c v0.1.0 // indirect\n)\n";
        assert_eq!(
            required(text, "k8s.io/kubernetes").as_deref(),
            Some("v1.2.3")
        );
        assert_eq!(required(text, "a.b/c").as_deref(), Some("v0.1.0"));
        assert_eq!(required(text, "a.b"), None);
    }

    #[test]
    fn every_program_is_pinned_by_the_tools_file() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_string_lossy().into_owned();
        let cache = Cache::find(|_| Some(root.clone())).unwrap();
        for module in MODULES.into_iter().chain([IGNITION, CONFORMANCE]) {
            let programs = Programs::find(module, &Sources::own(), &cache, "go1").unwrap();
            let tools = fs::read_to_string(programs.sources.join("tools.go")).unwrap();
            for (_, package) in module.programs {
                assert!(tools.contains(&format!("_ \"{package}\"")), "{package}");
            }
            assert!(programs.version.starts_with('v'), "{programs:?}");
            let other = Programs::find(module, &Sources::own(), &cache, "go2").unwrap();
            assert_ne!(programs.key, other.key);
        }
    }

    #[test]
    fn kubernetes_says_its_version() {
        let flags = linker_flags(MODULES[0], "v1.36.3");
        assert!(flags.ends_with("gitVersion=v1.36.3 -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36"), "{flags}");
        assert_eq!(linker_flags(MODULES[1], "v3.7.3"), "-s -w");
    }

    #[test]
    fn ignition_sets_no_labels() {
        let flags = linker_flags(IGNITION, "v2.24.0");
        assert!(flags.contains("internal/version.Raw=2.24.0 "), "{flags}");
        assert!(flags.ends_with("selinuxRelabel=false"), "{flags}");
    }
}
