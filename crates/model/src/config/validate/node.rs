//! What the machines are like.

use super::Check;
use crate::config::NodeSettings;
use crate::config::document::NodeDocument;
use crate::config::grammar::Problem;
use crate::path::TargetPath;

const WHY_PROGRAM: &str = "the kubelet's unit names its program, and nobody looks for it";
const WHY_SOCKET: &str = "the kubelet starts no container before it reaches the runtime";

impl Check<'_> {
    /// Checks paths on the machine.
    pub(super) fn node(
        &mut self,
        document: NodeDocument,
        defaults: NodeSettings,
    ) -> Option<NodeSettings> {
        let kubelet = self.text(
            "spec.node.kubelet",
            document.kubelet,
            defaults.kubelet,
            program,
        );
        let endpoint = self.text(
            "spec.node.containerRuntimeEndpoint",
            document.container_runtime_endpoint,
            defaults.container_runtime_endpoint,
            socket,
        );
        Some(NodeSettings {
            cgroup_driver: document.cgroup_driver.unwrap_or(defaults.cgroup_driver),
            kubelet: kubelet?,
            container_runtime_endpoint: endpoint?,
        })
    }
}

/// Reads the path of a program, as a unit can name it without quotes.
fn program(text: &str) -> Result<String, Problem> {
    let hint = "write an absolute path, such as /usr/bin/kubelet";
    let bad = |why: String| Problem::new(format!("cannot be a program: {why}"), WHY_PROGRAM, hint);
    let path = TargetPath::new(text).map_err(|error| bad(error.to_string()))?;
    if path == TargetPath::root() {
        return Err(bad("it is a folder".into()));
    }
    match text.chars().find(|c| !is_plain(*c)) {
        Some(c) => Err(bad(format!("{c:?} would have to be quoted in a unit"))),
        None => Ok(path.to_string()),
    }
}

/// Reads the address of a runtime: a socket on the same machine.
fn socket(text: &str) -> Result<String, Problem> {
    let hint = "write unix:// and an absolute path: unix:///run/containerd/containerd.sock";
    let bad = |why: String| Problem::new(format!("cannot be reached: {why}"), WHY_SOCKET, hint);
    let path = text.strip_prefix("unix://");
    let path = path.ok_or_else(|| bad("it does not begin with unix://".into()))?;
    TargetPath::new(path).map_err(|error| bad(error.to_string()))?;
    match path.chars().find(|c| !is_plain(*c)) {
        Some(c) => Err(bad(format!("{c:?} has no place in the name of a socket"))),
        None => Ok(text.into()),
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "/._-+".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_and_sockets_are_plain_absolute_paths() {
        assert!(program("/usr/local/bin/kubelet").is_ok());
        for bad in ["kubelet", "/", "/opt/my kubelet", "/usr/../kubelet", "/a%i"] {
            assert!(program(bad).is_err(), "{bad}");
        }
        assert!(socket("unix:///run/crio/crio.sock").is_ok());
        for bad in [
            "/run/crio.sock",
            "unix://run/crio.sock",
            "tcp://127.0.0.1:1",
            "unix:///a b",
        ] {
            assert!(socket(bad).is_err(), "{bad}");
        }
    }
}
