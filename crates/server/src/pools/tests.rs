#![expect(clippy::disallowed_methods, reason = "a test's own files")]

use tempfile::TempDir;

use super::*;

/// Names and contents of files.
type Files<'a> = &'a [(&'a str, &'a str)];

fn folder(files: Files<'_>) -> (TempDir, Pools) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let pools = Pools {
        origin: Origin::Folder(Folder(folder.path().to_owned())),
        kubeconfig: None,
        certificates: vec![],
    };
    (folder, pools)
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

#[test]
fn a_pool_leads_to_its_config() {
    let (folder, mut pools) = folder(&[
        (
            "machine-pools/worker.yaml",
            "status: {configuration: {name: r-1}}",
        ),
        ("machine-pools/notes.txt", "x"),
        ("machine-configs/r-1.yaml", "metadata: {name: r-1}"),
        (
            "controller-config/machine-config-controller.yaml",
            "spec: {kubeAPIServerServingCAData: Y2E=, cloudProviderCAData: null}",
        ),
        ("kubeconfig", "k"),
    ]);
    pools.kubeconfig = Some(folder.path().join("kubeconfig"));
    let reading = pools.read(&name("worker"));
    let source = reading.source.unwrap();
    assert_eq!(source.config, name("r-1"));
    assert_eq!(source.machine_config["metadata"]["name"], "r-1");
    assert_eq!(source.kubeconfig.as_deref(), Some(&b"k"[..]));
    assert_eq!(
        source.authorities,
        [("/etc/kubernetes/kubelet-ca.crt", b"ca".to_vec())]
    );
    assert_eq!(reading.marks.len(), 4);
    assert!(pools.still_holds(&reading.marks));
    std::fs::remove_file(folder.path().join("kubeconfig")).unwrap();
    assert!(!pools.still_holds(&reading.marks));
    assert_eq!(pools.list().unwrap(), [name("worker")]);
}

#[test]
fn what_is_broken_is_named_with_its_file() {
    let rows: [(Files<'_>, &str, &str); 7] = [
        (&[], "machine-pools", "there is no such folder"),
        (
            &[("machine-pools/p.yaml", "a: [")],
            "machine-pools/p.yaml",
            "is not YAML",
        ),
        (
            &[("machine-pools/p.yaml", "")],
            "machine-pools/p.yaml",
            "names no config",
        ),
        (
            &[(
                "machine-pools/p.yaml",
                "status: {configuration: {name: ../../etc/shadow}}",
            )],
            "machine-pools/p.yaml",
            "not the name of a config",
        ),
        (
            &[("machine-pools/p.yaml", "status: {configuration: {name: r}}")],
            "machine-configs/r.yaml",
            "there is no such config",
        ),
        (
            &[
                ("machine-pools/p.yaml", "status: {configuration: {name: r}}"),
                ("machine-configs/r.yaml", "- 1"),
            ],
            "machine-configs/r.yaml",
            "not a MachineConfig",
        ),
        (
            &[("machine-pools/p.yaml/x", "a folder")],
            "machine-pools/p.yaml",
            "cannot be read",
        ),
    ];
    for (files, expected_file, expected) in rows {
        let (_folder, pools) = folder(files);
        let Err(Unservable::Broken { place, reason } | Unservable::Unreadable { place, reason }) =
            pools.read(&name("p")).source
        else {
            panic!("{expected} was not found");
        };
        assert_eq!(place, expected_file);
        assert!(reason.contains(expected), "{reason}");
    }
    let (_folder, pools) = folder(&[("machine-pools/p.yaml", "")]);
    assert_eq!(
        pools.read(&name("q")).source.unwrap_err(),
        Unservable::Unknown
    );
}

#[test]
fn a_pool_whose_name_is_too_long_for_a_file_is_unknown() {
    let (_folder, pools) = folder(&[(
        "machine-pools/worker.yaml",
        "status: {configuration: {name: r}}",
    )]);
    // A machine retries whatever is unreadable, and would never stop.
    for length in [250, 251, 253] {
        let error = pools.read(&name(&"a".repeat(length))).source.unwrap_err();
        assert_eq!(error, Unservable::Unknown, "{length}");
    }
}
