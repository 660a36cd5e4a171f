//! Kubeconfigs: who reaches the API where, as files that `kubectl` reads.
//!
//! They hold copies of certificates and keys that do not exist when they are planned, so each is
//! a recipe that names those files.

use bootlace_model::config::{Endpoint, Settings};
use bootlace_model::effect::{Body, Part};
use bootlace_model::path::TargetPath;

use crate::assets::asset;

/// Where a client reaches the API.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Server {
    /// Where everybody reaches it, possibly through a load balancer.
    Endpoint,
    /// On this machine's own address, so that components survive a load balancer's absence.
    Advertised,
    /// Over the loopback device, which works before any network does.
    Loopback,
}

/// One kubeconfig.
#[derive(Debug)]
pub(crate) struct Kubeconfig {
    /// Its path in the asset folder.
    pub(crate) path: &'static str,
    /// Its client certificate's path in the asset folder.
    pub(crate) certificate: &'static str,
    /// Its client key's path in the asset folder.
    pub(crate) key: &'static str,
    /// What the file calls its user; the API reads the certificate instead.
    pub(crate) user: &'static str,
    /// Where it goes.
    pub(crate) server: Server,
    /// What would not work without it.
    pub(crate) purpose: &'static str,
}

/// Every kubeconfig of a bootstrap.
pub(crate) static KUBECONFIGS: &[Kubeconfig] = &[
    Kubeconfig {
        path: "auth/admin.conf",
        certificate: "tls/admin.crt",
        key: "tls/admin.key",
        user: "kubernetes-admin",
        server: Server::Endpoint,
        purpose: "With it a person reaches the cluster; whoever else reads it owns the cluster.",
    },
    Kubeconfig {
        path: "auth/controller-manager.conf",
        certificate: "tls/controller-manager.crt",
        key: "tls/controller-manager.key",
        user: "system:kube-controller-manager",
        server: Server::Advertised,
        purpose: "The controller manager starts with it, and waits for ever without it.",
    },
    Kubeconfig {
        path: "auth/scheduler.conf",
        certificate: "tls/scheduler.crt",
        key: "tls/scheduler.key",
        user: "system:kube-scheduler",
        server: Server::Advertised,
        purpose: "The scheduler starts with it, and no pod finds a node without it.",
    },
    Kubeconfig {
        path: "auth/kubelet.conf",
        certificate: "tls/kubelet.crt",
        key: "tls/kubelet.key",
        user: "kubelet",
        server: Server::Endpoint,
        purpose: "The kubelet registers the node with it.",
    },
    Kubeconfig {
        path: "auth/kubeconfig-loopback",
        certificate: "tls/super-admin.crt",
        key: "tls/super-admin.key",
        user: "kubernetes-super-admin",
        server: Server::Loopback,
        purpose: "The bootstrap itself uses it, while names and load balancers may not work yet.",
    },
];

impl Kubeconfig {
    /// Returns where it lies.
    pub(crate) fn place(&self, settings: &Settings) -> TargetPath {
        asset(settings, self.path)
    }

    /// Returns the recipe for its content.
    pub(crate) fn body(&self, settings: &Settings) -> Body {
        let cluster = quoted(&settings.cluster.name);
        let user = quoted(self.user);
        let context = quoted(&format!("{}@{}", self.user, settings.cluster.name));
        let server = quoted(&format!("https://{}", self.server.address(settings)));
        let text = |text: String| Part::Text(text);
        let copy = |path: &'static str| Part::Base64Of(asset(settings, path));
        Body::Compose(vec![
            text(format!(
                "apiVersion: v1\nkind: Config\nclusters:\n- name: {cluster}\n  cluster:\n    \
                 server: {server}\n    certificate-authority-data: "
            )),
            copy("tls/ca.crt"),
            text(format!(
                "\nusers:\n- name: {user}\n  user:\n    client-certificate-data: "
            )),
            copy(self.certificate),
            text("\n    client-key-data: ".into()),
            copy(self.key),
            text(format!(
                "\ncontexts:\n- name: {context}\n  context:\n    cluster: {cluster}\n    \
                 user: {user}\ncurrent-context: {context}\n"
            )),
        ])
    }
}

impl Server {
    fn address(self, settings: &Settings) -> Endpoint {
        let plane = &settings.cluster.control_plane;
        let host = match self {
            Self::Endpoint => plane.endpoint.host.clone(),
            Self::Advertised => plane.advertise_address.to_string(),
            Self::Loopback => "localhost".into(),
        };
        Endpoint {
            host,
            port: plane.endpoint.port,
        }
    }
}

/// Quotes a value; what JSON quotes, YAML reads.
fn quoted(value: &str) -> String {
    serde_json::Value::from(value).to_string()
}

#[cfg(test)]
mod tests {
    use bootlace_model::config::Settings;
    use bootlace_model::effect::{Body, Part};
    use serde_json::{Value, json};

    use super::*;
    use crate::tests::settings;

    /// Puts the recipe together with the names of files instead of their contents.
    fn parsed(config: &Kubeconfig, settings: &Settings) -> Value {
        let Body::Compose(parts) = config.body(settings) else {
            panic!("a kubeconfig is composed")
        };
        let text: String = parts
            .into_iter()
            .map(|part| match part {
                Part::Text(text) => text,
                Part::Base64Of(path) => format!("base64-of-{}", path.name()),
                other => panic!("{other:?} has no place in a kubeconfig"),
            })
            .collect();
        serde_saphyr::from_str(&text).unwrap()
    }

    #[test]
    fn kubectl_would_find_everything_in_it() {
        let mut settings = settings();
        settings.cluster.name = "it's: a \"test\"".into();
        assert_eq!(
            parsed(&KUBECONFIGS[0], &settings),
            json!({
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": settings.cluster.name, "cluster": {
                    "server": "https://localhost:6443",
                    "certificate-authority-data": "base64-of-ca.crt",
                }}],
                "users": [{"name": "kubernetes-admin", "user": {
                    "client-certificate-data": "base64-of-admin.crt",
                    "client-key-data": "base64-of-admin.key",
                }}],
                "contexts": [{"name": "kubernetes-admin@it's: a \"test\"", "context": {
                    "cluster": settings.cluster.name,
                    "user": "kubernetes-admin",
                }}],
                "current-context": "kubernetes-admin@it's: a \"test\"",
            })
        );
    }

    #[test]
    fn each_goes_where_it_can_reach_the_api() {
        let mut settings = settings();
        settings.cluster.control_plane.endpoint.host = "api.demo.example".into();
        settings.cluster.control_plane.endpoint.port = 7443;
        settings.cluster.control_plane.advertise_address = "fd00::7".parse().unwrap();
        let servers: Vec<(&str, String)> = KUBECONFIGS
            .iter()
            .map(|config| {
                let server = parsed(config, &settings)["clusters"][0]["cluster"]["server"].clone();
                (config.path, server.as_str().unwrap().to_owned())
            })
            .collect();
        let expected = [
            ("auth/admin.conf", "https://api.demo.example:7443"),
            ("auth/controller-manager.conf", "https://[fd00::7]:7443"),
            ("auth/scheduler.conf", "https://[fd00::7]:7443"),
            ("auth/kubelet.conf", "https://api.demo.example:7443"),
            ("auth/kubeconfig-loopback", "https://localhost:7443"),
        ];
        let expected = expected.map(|(path, server)| (path, server.to_owned()));
        assert_eq!(servers, expected);
    }
}
