//! Expectations that several steps have in common.

use std::time::Duration;

use bootlace_model::config::{Profile, Settings};
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::path::TargetPath;

use crate::assets::{asset, below, machine};

/// The step after which nothing in the asset folder is expected any more.
pub(crate) const CLEANED: &str = "clean-assets";

/// How long one look at the API may take.
const LOOK: Duration = Duration::from_secs(10);

/// Counts minutes.
pub(crate) const fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(minutes * 60)
}

/// Expects a file of the asset folder for as long as the folder is there.
pub(crate) fn file(
    settings: &Settings,
    relative: &'static str,
    because: &'static str,
) -> Expectation {
    let claim = Claim::File {
        path: asset(settings, relative),
        digest: None,
        mode: None,
    };
    Expectation::now(claim, because).until(CLEANED)
}

/// Expects what a render writes: some files that must be there by name, and all that it listed.
pub(crate) fn rendered(
    settings: &Settings,
    record: &'static str,
    files: &[(&'static str, &'static str)],
) -> Vec<Expectation> {
    let listed = Claim::ListedFiles {
        index: asset(settings, record),
        below: settings.paths.assets.clone(),
    };
    let because = "A render that was cut off leaves some files; the list is written last.";
    let whole = Expectation::now(listed, because).until(CLEANED);
    let named = files.iter().map(|(path, why)| file(settings, path, why));
    named.chain([whole]).collect()
}

/// Returns the kubeconfig with which a finished step can be looked at again.
fn kubeconfig(settings: &Settings) -> TargetPath {
    match settings.cluster.profile {
        Profile::Kubernetes => machine("etc/kubernetes/admin.conf"),
        Profile::Openshift => asset(settings, "auth/kubeconfig"),
    }
}

/// Expects that a question to the API is answered well. It is asked as a person would ask it.
pub(crate) fn kubectl(
    settings: &Settings,
    words: &[&str],
    within: Duration,
    because: &'static str,
) -> Expectation {
    let config = kubeconfig(settings);
    let mut argv: Vec<String> = vec!["kubectl".into(), "--kubeconfig".into()];
    argv.push(config.to_string());
    argv.extend(words.iter().map(|&word| word.to_owned()));
    let claim = Claim::Succeeds { argv, within: LOOK };
    let expectation = Expectation::now(claim, because).within(within);
    // A kubeconfig is a secret of the asset folder, and those always go at the end.
    if config.below(&settings.paths.assets).is_some() {
        expectation.until(CLEANED)
    } else {
        expectation
    }
}

/// Returns a template for `kubectl get` that fails if there are fewer objects than this.
pub(crate) fn at_least(count: u32) -> String {
    let last = count.saturating_sub(1);
    format!("go-template={{{{(index .items {last}).metadata.name}}}}")
}

/// Expects that the API is ready, asked at a host by a client that checks its certificate.
pub(crate) fn ready(
    settings: &Settings,
    host: &str,
    within: Duration,
    because: &'static str,
) -> Expectation {
    let endpoint = bootlace_model::config::Endpoint {
        host: host.to_owned(),
        port: settings.cluster.control_plane.endpoint.port,
    };
    let (authorities, until) = match settings.cluster.profile {
        Profile::Kubernetes => (machine("etc/kubernetes/pki/ca.crt"), None),
        Profile::Openshift => {
            let bundle = "tls/kube-apiserver-complete-server-ca-bundle.crt";
            (below(&settings.paths.assets, bundle), Some(CLEANED))
        }
    };
    let claim = Claim::Answers {
        url: format!("https://{endpoint}/readyz"),
        status: 200,
        authorities: Some(authorities),
    };
    Expectation {
        claim,
        within,
        because,
        until,
    }
}
