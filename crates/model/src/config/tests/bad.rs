//! Configs that must be refused, and the exact words with which they are.

use std::fmt::Write as _;

use super::{document, load_texts, render};

/// Documents with the two lines in front that every document has.
const DOCUMENTS: &[(&str, &str)] = &[
    (
        "misspelt key",
        "spec:\n  network:\n    podCidr: 10.244.0.0/16",
    ),
    ("misspelt section", "spec:\n  controlplane: {}"),
    ("unknown key with no near one", "spec:\n  bananas: 3"),
    ("unknown key at the top", "sepc: {}"),
    (
        "several unknown keys",
        "metadata: {nmae: x}\nspec:\n  network: {clusterdomain: a, mtu: 9000}\n  pki:\n    leafvalidity: 1y",
    ),
    (
        "text for a number",
        "spec:\n  controlPlane:\n    replicas: three",
    ),
    ("negative number", "spec: {controlPlane: {replicas: -1}}"),
    ("fraction", "spec: {controlPlane: {replicas: 1.5}}"),
    ("endless number", "spec: {controlPlane: {replicas: .inf}}"),
    (
        "huge number",
        "spec: {controlPlane: {replicas: 99999999999999999999999999}}",
    ),
    ("octal number", "spec: {controlPlane: {replicas: 03}}"),
    ("number for a text", "spec:\n  kubernetesVersion: 1.36"),
    ("map for a text", "metadata:\n  name: {first: a}"),
    ("text for a list", "spec: {manifests: mine}"),
    ("number in a list", "spec: {manifests: [a, 7]}"),
    ("null in a list", "spec: {manifests: [a, ~]}"),
    ("list for a map", "spec: []"),
    ("text for a map", "spec:\n  network: 10.0.0.0/8"),
    (
        "truth value for a text",
        "spec: {network: {clusterDomain: true}}",
    ),
    (
        "duration without a unit",
        "spec: {pki: {leafValidity: 365}}",
    ),
    ("misspelt profile", "spec:\n  profile: kubernets"),
    (
        "misspelt security profile",
        "spec: {security: {profile: css}}",
    ),
    (
        "bootstrap token that hardly ends",
        "spec:\n  security:\n    bootstrapTokenValidity: 90d",
    ),
    ("unknown profile", "spec:\n  profile: windows"),
    (
        "several type errors and an unknown key",
        "metadata: {name: 7, labels: {}}\nspec: {manifests: {}, profile: []}",
    ),
    ("upper-case name", "metadata:\n  name: My_Cluster"),
    ("empty name", "metadata: {name: \"\"}"),
    (
        "long name",
        "metadata: {name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}",
    ),
    ("version without v", "spec:\n  kubernetesVersion: 1.36.3"),
    ("version without patch", "spec:\n  kubernetesVersion: v1.36"),
    (
        "endpoint without port",
        "spec: {controlPlane: {endpoint: api.demo.example}}",
    ),
    (
        "endpoint with scheme",
        "spec: {controlPlane: {endpoint: \"https://api.demo.example:6443\"}}",
    ),
    (
        "endpoint with bare IPv6",
        "spec: {controlPlane: {endpoint: \"2001:db8::1\"}}",
    ),
    (
        "endpoint with bad port",
        "spec: {controlPlane: {endpoint: \"api:70000\"}}",
    ),
    (
        "ports that are shared, and one that is none",
        "spec: {controlPlane: {endpoint: \"api:2379\", ports: {etcdPeers: 0, scheduler: 10257}}}",
    ),
    (
        "port that is too large",
        "spec: {controlPlane: {ports: {scheduler: 70000}}}",
    ),
    (
        "endpoint with bad host",
        "spec: {controlPlane: {endpoint: \"api_server:6443\"}}",
    ),
    ("even replicas", "spec:\n  controlPlane:\n    replicas: 2"),
    ("seven replicas", "spec: {controlPlane: {replicas: 7}}"),
    (
        "advertised name",
        "spec: {controlPlane: {advertiseAddress: localhost}}",
    ),
    (
        "advertised nobody",
        "spec: {controlPlane: {advertiseAddress: 0.0.0.0}}",
    ),
    ("bad node name", "spec: {controlPlane: {nodeName: Node 1}}"),
    (
        "network with host bits",
        "spec: {network: {podCIDR: 10.244.1.7/16}}",
    ),
    (
        "network without prefix",
        "spec: {network: {podCIDR: 10.244.0.0}}",
    ),
    (
        "loopback network",
        "spec: {network: {podCIDR: 127.0.0.0/16}}",
    ),
    (
        "networks overlap",
        "spec:\n  network:\n    podCIDR: 10.0.0.0/8\n    serviceCIDR: 10.96.0.0/12",
    ),
    (
        "overlap with a default",
        "spec: {network: {serviceCIDR: 10.244.0.0/24}}",
    ),
    (
        "pod network too small",
        "spec: {network: {podCIDR: 10.244.0.0/25}}",
    ),
    (
        "pod network for one machine",
        "spec: {controlPlane: {replicas: 3}, network: {podCIDR: 10.244.0.0/24}}",
    ),
    (
        "service network too small",
        "spec: {network: {serviceCIDR: 10.96.0.0/30}}",
    ),
    (
        "families mixed",
        "spec: {network: {podCIDR: \"fd00::/56\"}}",
    ),
    (
        "advertised in another family",
        "spec: {controlPlane: {advertiseAddress: \"2001:db8::1\"}}",
    ),
    (
        "advertised in the pods' network",
        "spec: {controlPlane: {advertiseAddress: 10.244.0.5}}",
    ),
    (
        "domain with a dot at the end",
        "spec: {network: {clusterDomain: cluster.local.}}",
    ),
    ("unknown unit", "spec: {pki: {backDate: 1w}}"),
    (
        "leaf outlives its authority",
        "spec: {pki: {authorityValidity: 1y, leafValidity: 2y}}",
    ),
    ("long back-date", "spec: {pki: {backDate: 31d}}"),
    ("no validity", "spec: {pki: {leafValidity: 0s}}"),
    ("unknown driver", "spec: {node: {cgroupDriver: cgroup2}}"),
    ("no program", "spec: {node: {kubelet: kubelet}}"),
    (
        "an image for nobody",
        "spec: {rendering: {images: {etdc: {image: a}}}}",
    ),
    ("no image", "spec: {rendering: {images: {etcd: {}}}}"),
    (
        "flags of ours",
        "spec: {rendering: {runFlags: [--privileged, --tls-verify=false, x], podmanFlags: [-r]}}",
    ),
    (
        "an unknown place",
        "spec: {rendering: {images: {etcd: {image: a, arguments: [$(inputs)]}}}}",
    ),
    ("no time to render", "spec: {rendering: {within: 0s}}"),
    (
        "no socket",
        "spec: {node: {containerRuntimeEndpoint: /run/containerd.sock}}",
    ),
    (
        "bad extra name",
        "spec: {pki: {extraNames: [ok.example, not ok]}}",
    ),
    (
        "extra name twice",
        "spec: {pki: {extraNames: [a.example, b.example, a.example]}}",
    ),
    (
        "dir and image",
        "spec:\n  release:\n    dir: a\n    image: b",
    ),
    (
        "digest without dir",
        "spec:\n  release:\n    digest: sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ),
    (
        "digest with image",
        "spec:\n  release:\n    image: a.b/c\n    digest: sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ),
    ("bad digest", "spec: {release: {dir: a, digest: sha256:12}}"),
    (
        "bad image",
        "spec: {release: {image: \"registry.example/Release\"}}",
    ),
    ("folder that climbs", "spec: {manifests: [../mine]}"),
    ("folder of a home", "spec: {addOns: {dir: ~/mine}}"),
    (
        "many wrong values",
        "metadata: {name: A}\nspec:\n  kubernetesVersion: latest\n  controlPlane: {endpoint: x, replicas: 4}\n  network: {podCIDR: x, serviceCIDR: y, clusterDomain: Z}\n  pki: {leafValidity: x}",
    ),
];

/// Whole texts; several are several files.
const TEXTS: &[(&str, &[&str])] = &[
    ("empty file", &["# nothing\n"]),
    ("no apiVersion", &["kind: Cluster\n"]),
    (
        "misspelt apiVersion",
        &["apiversion: bootlace.dev/v1alpha1\nkind: Cluster\n"],
    ),
    (
        "wrong apiVersion and kind",
        &["apiVersion: bootlace.dev/v2\nkind: Node\n"],
    ),
    (
        "wrong apiVersion beside other mistakes",
        &[
            "apiVersion: bootlace.dev/v1\nkind: cluster\nmetadata: {name: A}\nspec:\n  network: {podCidr: 10.96.0.0/12}\n  pki: {leafValidity: 365}\n  controlPlane: {replicas: 2}\n",
        ],
    ),
    (
        "another tool's document",
        &["apiVersion: v1\nkind: ConfigMap\ndata: {}\n"],
    ),
    ("list at the top", &["- a\n"]),
    ("text at the top", &["hello\n"]),
    (
        "second document is not ours",
        &["apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\n---\nkind: Pod\n"],
    ),
    (
        "key twice",
        &[
            "apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\nspec:\n  profile: kubernetes\n  profile: openshift\n",
        ],
    ),
    (
        "merge key",
        &[
            "apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\nmetadata: &m {name: a}\nspec:\n  <<: *m\n",
        ],
    ),
    (
        "unknown alias",
        &["apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\nmetadata: {name: *x}\n"],
    ),
    (
        "unknown tag",
        &["apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\nmetadata: {name: !secret x}\n"],
    ),
    (
        "map as a key",
        &["apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\n? {a: b}\n: c\n"],
    ),
    (
        "unclosed bracket",
        &["apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\nspec: {manifests: [a\n"],
    ),
    (
        "wrong indentation",
        &[
            "apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\nspec:\n  profile: kubernetes\n network: {}\n",
        ],
    ),
    (
        "tab as indentation",
        &["apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\nspec:\n\tprofile: kubernetes\n"],
    ),
    (
        "deep nesting",
        &[
            "apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\nspec: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n",
        ],
    ),
    (
        "both files are wrong",
        &["kind: Cluster\n", "apiVersion: bootlace.dev/v1alpha1\n"],
    ),
    (
        "the later file is at fault",
        &[
            "apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\nspec: {network: {podCIDR: 10.1.0.0/16}}\n",
            "apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\nspec:\n  network:\n    serviceCIDR: 10.1.0.0/20\n",
        ],
    ),
    (
        "unknown keys in both files",
        &[
            "apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\nspec: {netwrok: {}}\n",
            "apiVersion: bootlace.dev/v1alpha1\nkind: Cluster\nspec: {relaese: {}}\n",
        ],
    ),
];

#[test]
fn bad_configs_are_refused_with_place_reason_and_hint() {
    let mut all = String::new();
    let mut check = |title: &str, texts: &[&str]| {
        let fault = load_texts(texts).expect_err(title);
        assert_eq!(fault.kind.exit_code(), 3, "{title}");
        let place = fault.place.as_ref().expect(title);
        assert!(place.line.is_some() && place.column.is_some(), "{title}");
        assert!(
            !fault.hints.is_empty() && fault.because.is_some(),
            "{title}"
        );
        writeln!(all, "## {title}\n{}", render(&fault)).unwrap();
    };
    for (title, rest) in DOCUMENTS {
        check(title, &[&document(rest)]);
    }
    for (title, texts) in TEXTS {
        check(title, texts);
    }
    let large = document(&"# filler\n".repeat(200_000));
    check("large file", &[&large]);
    insta::assert_snapshot!(all);
}
