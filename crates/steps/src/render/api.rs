//! The API server that begins, and the definitions of our own kinds.

use bootlace_model::fault::Fault;

use super::content::RenderedFile;
use super::input::RenderInput;
use super::{definitions, kube_apiserver};

/// Renders the pod, which stays in the output folder, and the definitions.
pub(super) fn render(input: &RenderInput<'_>) -> Result<Vec<RenderedFile>, Fault> {
    let pod = RenderedFile::static_pod(kube_apiserver::POD, kube_apiserver::pod(input)?);
    let mut files = vec![pod.kept()];
    for definition in definitions::all() {
        let name = format!("{}.yaml", definition.name());
        files.push(RenderedFile::manifest(&name, vec![definition.object()]));
    }
    Ok(files)
}
