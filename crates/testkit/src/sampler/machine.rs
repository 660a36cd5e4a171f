//! The sample steps that make keys, set units, run programs and download.

use std::collections::BTreeMap;
use std::time::Duration;

use bootlace_model::effect::{
    AlreadyRan, Body, CommandUndo, Effect, Fetch, IssueCertificate, Issuer, MakeKey, MakeToken,
    Part, Product, RunCommand, UnitState, Via,
};
use bootlace_model::expect::{Claim, Expectation};
use bootlace_model::fact::Fact;
use bootlace_model::ids::Digest;
use bootlace_model::pki::{CertificateRequest, KeyAlgorithm, Subject, Usage};
use bootlace_model::probe::Probe;
use bootlace_model::step::{About, Decision};

use super::parts::{SampleStep, about, at, attributes, origin, put, set_unit, unit_name};
use super::world::{ANSWER_CONTENT, ANSWER_URL};

pub(super) const ANSWER: Fact<u64> = Fact::new("sampler.answer");
pub(super) const NOTE: Fact<String> = Fact::new("sampler.note");

const ABOUT_MAKE_KEYS: About = about("Make keys and certificates");
const ABOUT_PUT_UNITS: About = about("Put unit files in place");
const ABOUT_SET_UNITS: About = about("Enable, disable and mask units");
const ABOUT_INITIALISE: About = about("Run programs");
const ABOUT_DOWNLOAD: About = about("Download a file");

fn request(name: &str, usages: &[Usage]) -> CertificateRequest {
    CertificateRequest {
        subject: Subject::member(name, "sampler"),
        dns_names: vec![format!("{name}.example")],
        addresses: vec![[127, 0, 0, 1].into()],
        usages: usages.to_vec(),
        valid_for: Duration::from_hours(24 * 365),
        back_dated: Duration::from_hours(1),
    }
}

fn authority() -> Issuer {
    Issuer {
        certificate: at("/srv/sampler/pki/ca.crt"),
        key: at("/srv/sampler/pki/ca.key"),
    }
}

/// The recipe for a list of tokens.
fn tokens() -> Body {
    let token = at("/srv/sampler/pki/token");
    Body::Compose(vec![
        Part::Text("sha256: ".into()),
        Part::HashOf(token.clone()),
        Part::Text("\nexpires: ".into()),
        Part::ExpiryOf(token),
        Part::Text("\n".into()),
    ])
}

pub(super) const MAKE_KEYS: SampleStep = SampleStep {
    name: "make-keys",
    about: &ABOUT_MAKE_KEYS,
    needs: &["lay-out"],
    uses: &[],
    checks: Vec::new,
    asks: Vec::new,
    yields: Vec::new,
    plan: |_, _| {
        let key = |path| {
            let algorithm = KeyAlgorithm::EcdsaP256;
            Effect::MakeKey(MakeKey {
                path: at(path),
                algorithm,
                origin: origin(),
            })
        };
        let certificate = |name: &str, usages: &[Usage], issuer| {
            Effect::IssueCertificate(IssueCertificate {
                path: at(&format!("/srv/sampler/pki/{name}.crt")),
                key: at(&format!("/srv/sampler/pki/{name}.key")),
                request: request(name, usages),
                issuer,
                origin: origin(),
            })
        };
        let kubeconfig = Body::Compose(vec![
            Part::Text("certificate-authority-data: ".into()),
            Part::Base64Of(at("/srv/sampler/pki/ca.crt")),
            Part::Text("\nclient-key-data: ".into()),
            Part::Base64Of(at("/srv/sampler/pki/server.key")),
            Part::Text("\n".into()),
        ]);
        let bundle = Body::Compose(vec![
            Part::FileOf(at("/srv/sampler/pki/ca.crt")),
            Part::FileOf(at("/etc/sampler.conf")),
        ]);
        let public = Body::Compose(vec![Part::PublicKeyOf(at("/srv/sampler/pki/ca.key"))]);
        Ok(Decision::Do(vec![
            key("/srv/sampler/pki/ca.key"),
            certificate("ca", &[Usage::Authority], None),
            key("/srv/sampler/pki/server.key"),
            certificate("server", &[Usage::Server, Usage::Client], Some(authority())),
            put(
                "/srv/sampler/kubeconfig",
                kubeconfig,
                attributes(0o600, None, None),
            ),
            put("/srv/sampler/bundle", bundle, attributes(0o644, None, None)),
            put("/srv/sampler/ca.pub", public, attributes(0o644, None, None)),
            Effect::MakeToken(MakeToken {
                path: at("/srv/sampler/pki/token"),
                valid_for: Duration::from_hours(24),
                origin: origin(),
            }),
            put(
                "/srv/sampler/tokens",
                tokens(),
                attributes(0o600, None, None),
            ),
        ]))
    },
    expects: || {
        let certificate = Claim::Certificate {
            path: at("/srv/sampler/pki/server.crt"),
            key: at("/srv/sampler/pki/server.key"),
            request: request("server", &[Usage::Server]),
            issuer: Some(authority()),
        };
        vec![
            Expectation::now(
                Claim::Key {
                    path: at("/srv/sampler/pki/ca.key"),
                },
                "it signs",
            ),
            Expectation::now(certificate, "clients check it"),
            Expectation::now(
                Claim::Holds {
                    path: at("/srv/sampler/tokens"),
                    body: tokens(),
                    mode: 0o600,
                },
                "a server knows its clients by it",
            ),
        ]
    },
};

pub(super) const PUT_UNITS: SampleStep = SampleStep {
    name: "put-units",
    about: &ABOUT_PUT_UNITS,
    needs: &["lay-out"],
    uses: &[],
    checks: Vec::new,
    asks: Vec::new,
    yields: Vec::new,
    plan: |_, _| {
        let unit = |path, install: &str| {
            let text = format!("[Service]\nExecStart=/bin/true\n\n[Install]\n{install}");
            put(path, Body::text(text), attributes(0o644, None, None))
        };
        Ok(Decision::Do(vec![
            unit(
                "/etc/systemd/system/sampler.service",
                "WantedBy=multi-user.target\nAlias=sampled.service\nAlso=sampler.timer\n",
            ),
            unit(
                "/etc/systemd/system/sampler.timer",
                "WantedBy=timers.target\n",
            ),
            unit(
                "/usr/lib/systemd/system/sample@.service",
                "RequiredBy=sampler-%i.target\n",
            ),
        ]))
    },
    expects: || {
        let path = at("/usr/lib/systemd/system/sample@.service");
        let file = Claim::File {
            path,
            digest: None,
            mode: Some(0o644),
        };
        vec![Expectation::now(file, "instances are made from it")]
    },
};

pub(super) const SET_UNITS: SampleStep = SampleStep {
    name: "set-units",
    about: &ABOUT_SET_UNITS,
    needs: &["put-units"],
    uses: &[],
    checks: Vec::new,
    asks: Vec::new,
    yields: Vec::new,
    plan: |_, _| {
        Ok(Decision::Do(vec![
            set_unit("sampler.service", UnitState::Enabled, Via::Links)?,
            set_unit("sample@one.service", UnitState::Enabled, Via::Links)?,
            set_unit("old.service", UnitState::Disabled, Via::Links)?,
            set_unit("wanted.service", UnitState::Enabled, Via::Preset)?,
            set_unit("unwanted.service", UnitState::Disabled, Via::Preset)?,
            set_unit("noisy.service", UnitState::Masked, Via::Links)?,
        ]))
    },
    expects: || {
        let units = [
            ("sampler.service", UnitState::Enabled),
            ("sampler.timer", UnitState::Enabled),
            ("sample@one.service", UnitState::Enabled),
            ("wanted.service", UnitState::Enabled),
            ("unwanted.service", UnitState::Disabled),
            ("noisy.service", UnitState::Masked),
        ];
        let claims = units.into_iter().filter_map(|(unit, state)| {
            let unit = unit_name(unit).ok()?;
            Some(Expectation::now(
                Claim::Unit { unit, state },
                "the next boot counts on it",
            ))
        });
        let old = at("/etc/systemd/system/multi-user.target.wants/old.service");
        let gone = Expectation::now(Claim::Absent { path: old }, "it is old");
        claims.chain([gone]).collect()
    },
};

fn command(name: &str, argv: &[&str]) -> RunCommand {
    RunCommand {
        name: name.into(),
        argv: argv.iter().map(|word| (*word).to_owned()).collect(),
        env: BTreeMap::from([("SAMPLER".into(), "yes".into())]),
        directory: Some(at("/srv/sampler")),
        within: Duration::from_secs(30),
        already: AlreadyRan::Repeatable,
        undo: CommandUndo::Products,
        products: vec![],
        empties: vec![],
        edits: vec![],
        hidden: vec![],
        input: None,
        origin: origin(),
    }
}

/// How often the program ran that must run once; a second run would show here.
fn counted_once() -> Claim {
    let digest = Some(Digest::of(b"1"));
    Claim::File {
        path: at("/var/lib/sampler-count"),
        digest,
        mode: None,
    }
}

/// That the user is listed whom a program adds.
fn added() -> Claim {
    Claim::Account {
        is_group: false,
        name: "sampler".into(),
        exists: true,
    }
}

/// What a command leaves behind that runs a container.
fn contained() -> Vec<Product> {
    let engine = vec!["sampler-engine".to_owned()];
    let image = "localhost/sampler".to_owned();
    let container = Product::Container {
        engine: engine.clone(),
        id_file: at("/srv/sampler/container-id"),
    };
    vec![container, Product::StoredImage { engine, image }]
}

pub(super) const INITIALISE: SampleStep = SampleStep {
    name: "initialise",
    about: &ABOUT_INITIALISE,
    needs: &["lay-out"],
    uses: &[],
    checks: Vec::new,
    asks: Vec::new,
    yields: Vec::new,
    plan: |_, _| {
        let products = |path| vec![Product::Path(at(path))];
        Ok(Decision::Do(vec![
            Effect::RunCommand(RunCommand {
                products: [products("/srv/sampler/rendered"), contained()].concat(),
                empties: vec![at("/srv/sampler/rendered")],
                ..command("render", &["sampler-render", "/srv/sampler/rendered"])
            }),
            Effect::RunCommand(RunCommand {
                already: AlreadyRan::When(Box::new(counted_once())),
                undo: CommandUndo::Run(vec!["sampler-count".into(), "down".into()]),
                ..command("count", &["sampler-count", "up"])
            }),
            Effect::RunCommand(RunCommand {
                already: AlreadyRan::When(Box::new(added())),
                products: vec![Product::Copy {
                    path: at("/var/homes/new"),
                    from: Some(at("/etc/skel")),
                }],
                edits: ["/etc/passwd", "/etc/passwd-", "/var/homes/old"]
                    .map(at)
                    .into(),
                hidden: vec!["secret".into()],
                ..command("account", &["sampler-account", "secret"])
            }),
            Effect::RunCommand(RunCommand {
                products: products("/var/cache/sampler/tree"),
                ..command("cache", &["sampler-render", "/var/cache/sampler/tree"])
            }),
        ]))
    },
    expects: || {
        let rendered = at("/srv/sampler/rendered/below/file");
        let file = Claim::File {
            path: rendered,
            digest: None,
            mode: None,
        };
        vec![
            Expectation::now(file, "others read it"),
            Expectation::now(counted_once(), "twice would be too often"),
            Expectation::now(added(), "somebody logs in"),
        ]
    },
};

pub(super) const DOWNLOAD: SampleStep = SampleStep {
    name: "download",
    about: &ABOUT_DOWNLOAD,
    needs: &["lay-out"],
    uses: &[],
    checks: Vec::new,
    asks: Vec::new,
    yields: || {
        let json = |pointer: &str| Probe::ReadJson {
            path: at("/srv/sampler/answer.json"),
            pointer: pointer.into(),
        };
        vec![ANSWER.from(json("/answer")), NOTE.from(json("/notes/0"))]
    },
    plan: |_, _| {
        Ok(Decision::Do(vec![Effect::Fetch(Fetch {
            url: ANSWER_URL.into(),
            digest: Digest::of(ANSWER_CONTENT.as_bytes()),
            authorities: None,
            limit: 1000,
            within: Duration::from_mins(1),
            path: at("/srv/sampler/answer.json"),
            attributes: attributes(0o640, Some(9), None),
            origin: origin(),
        })]))
    },
    expects: || {
        let digest = Some(Digest::of(ANSWER_CONTENT.as_bytes()));
        let path = at("/srv/sampler/answer.json");
        let file = Claim::File {
            path,
            digest,
            mode: Some(0o640),
        };
        vec![Expectation::now(file, "the report is made of it")]
    },
};
