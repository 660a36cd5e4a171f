//! `render-kube-scheduler`: the scheduler, as a static pod.

use bootlace_model::config::Settings;
use bootlace_model::expect::Expectation;
use bootlace_model::step::{About, UndoPolicy};

use crate::expectations::rendered;
use crate::facts::RENDER_KUBE_SCHEDULER_LISTED;
use crate::stage::Stage;

/// Where it lists what it wrote.
const RECORD: &str = "records/render-kube-scheduler.json";

/// The step.
pub(crate) static STEP: Stage = Stage {
    name: "render-kube-scheduler",
    about: &About {
        title: "Render the first scheduler",
        why: "Static pods run where their file lies, and all other pods run where the scheduler \
              puts them, so nothing of the real cluster can start without it. It is the simplest \
              of the four: it keeps no data, has one kubeconfig and one image, and reads no \
              feature gates from the manifests, so that its render waits for nothing but keys and \
              the names of the images. That makes it a good file to read first if you want to \
              know what a static pod is. bootkube.sh renders it eighth, after everything that it \
              does not depend on; here it is among the first. A scheduler that cannot reach the \
              API shows up as pods that stay Pending without any event.",
        reads: &[
            "ASSETS/tls/",
            "ASSETS/auth/scheduler.conf",
            "ASSETS/records/release.json",
            "spec.rendering.images.kube-scheduler",
        ],
        writes: &[
            "ASSETS/kube-scheduler/",
            "ASSETS/manifests/",
            "ASSETS/bootstrap-manifests/",
            "ASSETS/records/render-kube-scheduler.json",
        ],
        command: "\
# profile kubernetes
bootlace render kube-scheduler --asset-input-dir ASSETS/tls --asset-output-dir ASSETS/kube-scheduler
cp ASSETS/kube-scheduler/bootstrap-manifests/* ASSETS/bootstrap-manifests/
# or by an image that podman runs, called in the same way and given only what it needs, if
# spec.rendering.images.kube-scheduler names one; `bootlace plan` shows the whole command
# profile openshift
IMAGE=$(jq -r '.images[\"cluster-kube-scheduler-operator\"]' ASSETS/records/release.json)
HYPERKUBE=$(jq -r '.images.hyperkube' ASSETS/records/release.json)
podman run --rm --net=host --volume ASSETS:/assets:z \"$IMAGE\" \\
  /usr/bin/cluster-kube-scheduler-operator render --manifest-image=\"$HYPERKUBE\" \\
  --asset-input-dir=/assets/tls --asset-output-dir=/assets/kube-scheduler \\
  --config-output-file=/assets/kube-scheduler/config",
        undo: UndoPolicy::Inverse,
        failures: &["F-02", "F-14", "F-18"],
        built: true,
    },
    needs: &["prepare-assets", "release-info"],
    uses: &["release.images"],
    inputs: &[],
    component: "kube-scheduler",
    record: RECORD,
    listed: RENDER_KUBE_SCHEDULER_LISTED,
    expects,
};

fn expects(settings: &Settings) -> Vec<Expectation> {
    let files = [(
        "kube-scheduler/bootstrap-manifests/kube-scheduler-pod.yaml",
        "The kubelet starts the scheduler from this file, and from nothing else.",
    )];
    rendered(settings, RECORD, &files)
}
