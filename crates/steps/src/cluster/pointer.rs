//! Pointer configs: the little that a machine is given before it can ask for the rest.
//!
//! An installer hands a machine a config of a few lines: whom to trust, where to ask, and a token
//! that proves that it may. Tokens and authorities do not exist when this is planned, so each file
//! is a recipe that names those files.

use bootlace_model::config::Settings;
use bootlace_model::effect::{Body, Effect, MakeToken, Origin, Part};
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::path::TargetPath;

use super::prepare_assets::{file, private_folder, put};
use crate::assets::asset;
use crate::expectations::CLEANED;

/// The folder of the pointer configs, which hold tokens.
pub(super) const FOLDER: &str = "pointer";
/// The authority that vouches for the server.
const AUTHORITY: &str = "tls/machine-config-server-ca.crt";
/// The list that the server reads: hashes, never tokens.
const LIST: &str = "auth/tokens.yaml";
/// The lowest version that lets a config send headers with what it merges.
const VERSION: &str = "3.1.0";

/// What `bootlace serve` is given of the asset folder, as paths in it.
#[derive(Debug)]
pub struct Served {
    /// The pools, once `render-machine-config` has run.
    pub pools: &'static str,
    /// The list of tokens.
    pub tokens: &'static str,
    /// The server's certificate.
    pub certificate: &'static str,
    /// The certificate's key.
    pub key: &'static str,
}

/// What `bootlace serve` is given.
pub static SERVED: Served = Served {
    pools: "mco-bootstrap",
    tokens: LIST,
    certificate: "tls/machine-config-server.crt",
    key: "tls/machine-config-server.key",
};

/// One role of machines.
#[derive(Debug)]
pub struct Role {
    /// The pool, as `render-machine-config` names it.
    pub pool: &'static str,
    /// Where its token lies in the asset folder.
    pub token: &'static str,
    /// Where its pointer config lies in the asset folder.
    pub config: &'static str,
    /// What would not work without it.
    purpose: &'static str,
}

/// Every role.
pub static ROLES: &[Role] = &[
    Role {
        pool: "master",
        token: "auth/master.token",
        config: "pointer/master.ign",
        purpose: "A further machine of the control plane asks for its config by it.",
    },
    Role {
        pool: "worker",
        token: "auth/worker.token",
        config: "pointer/worker.ign",
        purpose: "A worker asks for its config by it.",
    },
];

/// Lists what makes the tokens, the list of their hashes and the pointer configs.
pub(super) fn effects(settings: &Settings, origin: &Origin) -> Vec<Effect> {
    let valid_for = settings.cluster.machine_config_server.token_validity;
    let mut effects = vec![private_folder(asset(settings, FOLDER), origin)];
    effects.extend(ROLES.iter().map(|role| {
        Effect::MakeToken(MakeToken {
            path: asset(settings, role.token),
            valid_for,
            origin: origin.clone(),
        })
    }));
    effects.push(put(asset(settings, LIST), list(settings), 0o600, origin));
    effects.extend(ROLES.iter().map(|role| {
        let path = asset(settings, role.config);
        put(path, role.body(settings), 0o600, origin)
    }));
    effects
}

/// Lists what must hold of them.
pub(super) fn expectations(settings: &Settings) -> Vec<Expectation> {
    let holds = |path: TargetPath, body: Body, because| {
        let mode = 0o600;
        Expectation::now(Claim::Holds { path, body, mode }, because).until(CLEANED)
    };
    let mut expectations = Vec::new();
    for role in ROLES {
        let because = "Whoever reads a token gets the config of its pool, and the secrets in it.";
        expectations.push(file(asset(settings, role.token), None, 0o600, because));
        // Others may be in the list, too: tokens are rotated by adding to it.
        let because = "The server refuses a token whose hash is not in its list.";
        let entry = Body::Compose(role.entry(settings));
        expectations.push(holds(asset(settings, LIST), entry, because));
        let config = asset(settings, role.config);
        expectations.push(holds(config, role.body(settings), role.purpose));
    }
    expectations
}

/// Returns the recipe for the list of tokens.
fn list(settings: &Settings) -> Body {
    let begin = Part::Text("tokens:\n".into());
    let entries = ROLES.iter().flat_map(|role| role.entry(settings));
    Body::Compose(std::iter::once(begin).chain(entries).collect())
}

impl Role {
    /// Returns the recipe for its entry in the list of tokens.
    fn entry(&self, settings: &Settings) -> Vec<Part> {
        let token = asset(settings, self.token);
        vec![
            Part::Text("- sha256: ".into()),
            Part::HashOf(token.clone()),
            Part::Text(format!("\n  pool: {}\n  expires: ", self.pool)),
            Part::ExpiryOf(token),
            Part::Text("\n".into()),
        ]
    }

    /// Returns the recipe for its pointer config; tokens need no quoting.
    fn body(&self, settings: &Settings) -> Body {
        let cluster = &settings.cluster;
        let server = cluster
            .machine_config_server
            .reached_at(&cluster.control_plane);
        let source = format!("https://{server}/config/{}", self.pool);
        Body::Compose(vec![
            Part::Text(format!(
                "{{\n  \"ignition\": {{\n    \"version\": \"{VERSION}\",\n    \"security\": \
                 {{\"tls\": {{\"certificateAuthorities\": [{{\n      \"source\": \
                 \"data:text/plain;charset=utf-8;base64,"
            )),
            Part::Base64Of(asset(settings, AUTHORITY)),
            Part::Text(format!(
                "\"\n    }}]}}}},\n    \"config\": {{\"merge\": [{{\n      \"source\": \
                 \"{source}\",\n      \"httpHeaders\": [{{\"name\": \"Authorization\", \
                 \"value\": \"Bearer "
            )),
            Part::FileOf(asset(settings, self.token)),
            Part::Text("\"}]\n    }]}\n  }\n}\n".into()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use bootlace_model::config::Endpoint;
    use serde_json::{Value, json};

    use bootlace_model::fact::Facts;

    use super::*;
    use crate::tests::settings;

    /// Puts a recipe together with names instead of contents.
    fn text(body: Body) -> String {
        let Body::Compose(parts) = body else {
            panic!("it is composed")
        };
        let text = parts.into_iter().map(|part| match part {
            Part::Text(text) => text,
            Part::FileOf(path) => format!("text-of-{}", path.name()),
            Part::Base64Of(path) => format!("base64-of-{}", path.name()),
            Part::HashOf(path) => format!("hash-of-{}", path.name()),
            Part::ExpiryOf(path) => format!("expiry-of-{}", path.name()),
            Part::SymmetricKeyOf(path) => format!("key-from-{}", path.name()),
            other @ Part::PublicKeyOf(_) => panic!("{other:?} has no place here"),
        });
        text.collect()
    }

    #[test]
    fn a_pointer_config_says_whom_to_trust_where_to_ask_and_with_what() {
        let mut settings = settings();
        settings.cluster.control_plane.endpoint.host = "fd00::7".into();
        let config: Value = serde_json::from_str(&text(ROLES[1].body(&settings))).unwrap();
        let authority =
            "data:text/plain;charset=utf-8;base64,base64-of-machine-config-server-ca.crt";
        let header = json!({"name": "Authorization", "value": "Bearer text-of-worker.token"});
        let wanted = json!({"ignition": {
            "version": "3.1.0",
            "security": {"tls": {"certificateAuthorities": [{"source": authority}]}},
            "config": {"merge": [{
                "source": "https://[fd00::7]:22623/config/worker",
                "httpHeaders": [header],
            }]},
        }});
        assert_eq!(config, wanted);
        settings.cluster.machine_config_server.endpoint = Some(Endpoint {
            host: "configs.example".into(),
            port: 8443,
        });
        let config: Value = serde_json::from_str(&text(ROLES[0].body(&settings))).unwrap();
        let source = &config["ignition"]["config"]["merge"][0]["source"];
        assert_eq!(source, "https://configs.example:8443/config/master");
    }

    #[test]
    fn roles_are_the_pools_that_are_rendered_and_files_are_those_that_are_made() {
        let paths = |step: &str| -> Vec<TargetPath> {
            let expectations = crate::tests::step(step).expects(&settings(), &Facts::default());
            let claims = expectations.into_iter().map(|it| it.claim);
            let paths = claims.filter_map(|claim| claim.path().cloned());
            paths.collect()
        };
        let (made, rendered) = (paths("prepare-assets"), paths("render-machine-config"));
        for role in ROLES {
            let pool = format!("{}/machine-pools/{}.yaml", SERVED.pools, role.pool);
            let pool = settings().paths.assets.join(&pool).unwrap();
            assert!(rendered.contains(&pool), "{pool}");
        }
        for file in [SERVED.tokens, SERVED.certificate, SERVED.key, AUTHORITY] {
            assert!(made.contains(&asset(&settings(), file)), "{file}");
        }
    }

    #[test]
    fn the_list_holds_hashes_and_no_token() {
        let text = text(list(&settings()));
        assert!(!text.contains("text-of-"), "{text}");
        let read: Value = serde_saphyr::from_str(&text).unwrap();
        let entry = |pool: &str| {
            json!({
                "sha256": format!("hash-of-{pool}.token"),
                "pool": pool,
                "expires": format!("expiry-of-{pool}.token"),
            })
        };
        assert_eq!(read, json!({"tokens": [entry("master"), entry("worker")]}));
    }
}
