//! What `prepare-assets` decides.

use std::fmt::Write as _;

use bootlace_model::effect::Effect;
use bootlace_model::expect::Claim;
use bootlace_model::fact::Facts;
use bootlace_model::ids::Digest;
use bootlace_model::probe::{Answer, Probe};

use super::{effects, fault, settings, step, text_of, told};

const NAME: &str = "prepare-assets";

fn called(name: &str) -> Facts {
    let mut facts = Facts::default();
    facts.set("machine.name", Answer::Json(name.into()));
    facts
}

#[test]
fn everything_is_made_after_what_it_is_made_from() {
    let effects = effects(NAME, &settings(), &called("node-1"));
    let mut made = vec![];
    let mut text = String::new();
    for effect in &effects {
        let sources: Vec<_> = match effect {
            Effect::IssueCertificate(issue) => {
                let issuer = issue.issuer.iter();
                let issuer = issuer.flat_map(|it| [it.certificate.clone(), it.key.clone()]);
                issuer.chain([issue.key.clone()]).collect()
            }
            Effect::PutFile(put) => put.body.sources().cloned().collect(),
            _ => vec![],
        };
        for source in sources {
            assert!(
                made.contains(&source),
                "{source} is made after {}",
                effect.target()
            );
        }
        made.push(effect.path().unwrap().clone());
        let (kind, target) = (effect.kind(), effect.target());
        writeln!(text, "{kind:?} {target}: {}", effect.detail()).unwrap();
    }
    insta::assert_snapshot!(text);
}

#[test]
fn every_key_and_certificate_that_is_made_is_expected() {
    let mut settings = settings();
    settings.cluster.control_plane.node_name = Some("node-1".into());
    let expectations = step(NAME).expects(&settings, &Facts::default());
    for effect in effects(NAME, &settings, &Facts::default()) {
        let expected = |claim: &Claim| match (&effect, claim) {
            (Effect::MakeKey(make), Claim::Key { path }) => *path == make.path,
            (Effect::MakeToken(make), Claim::File { path, mode, .. }) => {
                *path == make.path && *mode == Some(0o600)
            }
            (Effect::PutFile(put), Claim::Holds { path, body, mode }) => {
                let whole = *body == put.body || path.name() == "tokens.yaml";
                *path == put.path && *mode == put.attributes.mode && whole
            }
            (
                Effect::IssueCertificate(issue),
                Claim::Certificate {
                    path,
                    key,
                    request,
                    issuer,
                },
            ) => {
                let same = *path == issue.path && *key == issue.key && *issuer == issue.issuer;
                same && *request == issue.request
            }
            (Effect::PutFile(put), Claim::File { path, mode, digest }) => {
                let known = effect.digest();
                *path == put.path && *mode == Some(put.attributes.mode) && *digest == known
            }
            (Effect::MakeLink(link), Claim::Link { path, target }) => {
                *path == link.path && *target == link.target
            }
            (Effect::MakeDirectory(_), _) => true,
            _ => false,
        };
        let found = expectations.iter().any(|it| expected(&it.claim));
        assert!(found, "{} is not expected", effect.target());
    }
}

#[test]
fn secrets_are_private() {
    for effect in effects(NAME, &settings(), &called("node-1")) {
        match effect {
            Effect::MakeDirectory(make) => assert!(make.attributes.is_private()),
            Effect::PutFile(put) => {
                let is_in = |folder| put.path.as_str().contains(folder);
                let private = is_in("/auth/") || is_in("/pointer/");
                assert_eq!(put.attributes.is_private(), private, "{}", put.path);
            }
            _ => {}
        }
    }
}

#[test]
fn a_name_that_is_not_known_yet_is_not_guessed() {
    let expectations = step(NAME).expects(&settings(), &Facts::default());
    let certificates: Vec<_> = expectations
        .iter()
        .filter_map(|expectation| match &expectation.claim {
            Claim::Certificate { request, .. } => Some(request),
            _ => None,
        })
        .collect();
    assert_eq!(certificates.len(), 13);
    for request in certificates {
        let subject = &request.subject.common_name;
        assert!(!subject.is_empty() && !subject.ends_with(':'), "{subject}");
        assert!(request.dns_names.iter().all(|name| !name.is_empty()));
    }
}

#[test]
fn the_node_is_called_as_the_config_says_or_as_the_machine_does() {
    let mut settings = settings();
    assert_eq!(step(NAME).asks(&settings).len(), 1);
    let record = |effects: &[Effect]| text_of(effects.last().unwrap());
    let planned = effects(NAME, &settings, &called(" Node-1.Example\n"));
    assert_eq!(record(&planned), "{\"name\":\"node-1.example\"}\n");
    settings.cluster.control_plane.node_name = Some("chosen".into());
    assert!(step(NAME).asks(&settings).is_empty());
    let planned = effects(NAME, &settings, &Facts::default());
    assert_eq!(record(&planned), "{\"name\":\"chosen\"}\n");
    let yields = step(NAME).yields(&settings);
    let read = Probe::ReadJson {
        path: planned.last().unwrap().path().unwrap().clone(),
        pointer: "/name".into(),
    };
    assert_eq!((yields[0].fact, &yields[0].probe), ("node.name", &read));
    let expected = step(NAME).expects(&settings, &Facts::default());
    let Claim::File { digest, .. } = &expected.last().unwrap().claim else {
        panic!("the record is expected last")
    };
    assert_eq!(*digest, Some(Digest::of(b"{\"name\":\"chosen\"}\n")));
}

#[test]
fn names_that_no_node_can_have_are_refused() {
    let long = "a".repeat(254);
    for name in ["", "-a", "a-", "a..b", "a_b", "a b", "ä", long.as_str()] {
        let fault = fault(NAME, &settings(), &called(name));
        assert_eq!(fault.kind.exit_code(), 4, "{name}");
    }
    let fault = fault(NAME, &settings(), &called("my_machine"));
    insta::assert_snapshot!(told(&fault));
}

#[test]
fn a_service_network_without_room_is_refused() {
    let mut settings = settings();
    settings.cluster.network.service_cidr = "10.96.0.0/32".parse().unwrap();
    insta::assert_snapshot!(told(&fault(NAME, &settings, &called("node-1"))));
}
