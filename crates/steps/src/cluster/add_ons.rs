//! `add-ons`: what makes a control plane a cluster that people can use.

use bootlace_model::config::Settings;
use bootlace_model::expect::Expectation;
use bootlace_model::step::{About, UndoPolicy};

use crate::expectations::{kubectl, minutes};
use crate::outline::Outline;

/// The step.
pub(crate) static STEP: Outline = Outline {
    name: "add-ons",
    about: &About {
        title: "Apply the add-ons",
        why: "A control plane alone gives pods no addresses, no names and no way to each other: \
              network, proxy and DNS are add-ons, and so is whatever else you put into the \
              folder. They come after the hand-over because they shall live in the cluster that \
              stays, and before the clean-up because they still need its administrator. Tectonic \
              had a service of its own for this; it waited for the API without a limit and took \
              `AlreadyExists` for success, so that a second run never corrected what a first one \
              had got wrong. Here namespaces and definitions go first, the rest follows when the \
              definitions are served, and every object is applied rather than created, so that \
              running the step again corrects it. Add-ons that need a kind which another add-on \
              brings are tried again until the deadline, and the last error is what is reported, \
              not the first.",
        reads: &["spec.addOns.dir", "/etc/kubernetes/admin.conf"],
        writes: &["the objects of spec.addOns.dir"],
        command: "\
kubectl --kubeconfig KUBECONFIG apply --server-side --field-manager=bootlace -R -f DIR
kubectl --kubeconfig KUBECONFIG wait --for=condition=Ready node --all --timeout=10m",
        undo: UndoPolicy::ForwardOnly {
            why: "They are objects of a running cluster, and others may build on them by now; \
                  `kubectl delete -R -f DIR` removes them on purpose.",
        },
        failures: &["F-04", "F-20", "F-24", "F-46", "N-01"],
        built: false,
    },
    needs: &["hand-over"],
    uses: &[],
    expects,
};

fn expects(settings: &Settings) -> Vec<Expectation> {
    let words = [
        "wait",
        "--for=condition=Ready",
        "node",
        "--all",
        "--timeout=5s",
    ];
    let because = "A node without a pod network is not ready, and nothing is scheduled on it.";
    let mut expectations = vec![kubectl(settings, &words, minutes(10), because)];
    if let Some(folder) = &settings.cluster.add_ons {
        let words = ["diff", "--server-side", "-R", "-f", folder.as_str()];
        let because = "What the cluster has must be what the folder says.";
        expectations.push(kubectl(settings, &words, minutes(10), because));
    }
    expectations
}
