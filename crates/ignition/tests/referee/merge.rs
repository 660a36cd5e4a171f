//! The same merged configs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bootlace_ignition::{Config, parse};
use bootlace_testkit::dice::Dice;
use bootlace_testkit::ignition::config::{Purpose, valid};
use bootlace_testkit::ignition::draft::Draft;
use serde_json::{Map, Value};

use crate::{referee, try_all};

/// Makes a parent that names its children, and the same parent without them.
fn family(dice: &mut Dice) -> (Draft, Draft, Vec<String>) {
    let parent = valid(dice, Purpose::Merge);
    let children: Vec<String> = (0..=dice.below(2))
        .map(|_| valid(dice, Purpose::Merge).write(dice))
        .collect();
    let references: Vec<Draft> = children
        .iter()
        .map(|child| {
            let source = format!("data:;base64,{}", STANDARD.encode(child));
            Draft::object().with("source", source)
        })
        .collect();
    let mut naming = parent.clone();
    let config = Draft::object().with("merge", references);
    if let Draft::Object(sections) = &mut naming {
        for (key, section) in sections {
            if key == "ignition" {
                section.put("config", config.clone());
            }
        }
    }
    (naming, parent, children)
}

fn ours(text: &str) -> Config {
    let parsed = parse("config.ign", text.as_bytes());
    let report = parsed.report;
    parsed
        .config
        .unwrap_or_else(|| panic!("the generator made no valid config: {report:?}\n{text}"))
}

/// Leaves out what says nothing, and what the two name differently on purpose.
fn plain(value: &Value) -> Value {
    match value {
        Value::Object(pairs) => {
            let pairs = pairs
                .iter()
                .map(|(key, value)| (key.clone(), plain(value)))
                // Ignition loses it on the way from 3.4 to 3.5; we keep it.
                .filter(|(key, value)| !is_empty(value) && key != "advertisement");
            Value::Object(pairs.collect::<Map<_, _>>())
        }
        Value::Array(values) => Value::Array(values.iter().map(plain).collect()),
        other => other.clone(),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(pairs) => pairs.is_empty(),
        Value::Array(values) => values.is_empty(),
        _ => false,
    }
}

/// Returns a config without its version, and without the references that were followed.
fn merged(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(section) = value.get_mut("ignition").and_then(Value::as_object_mut) {
        section.remove("version");
        section.remove("config");
    }
    plain(&value)
}

fn compare(referee: Result<Value, String>, us: Result<Value, String>) -> Result<(), String> {
    match (referee, us) {
        (Ok(theirs), Ok(ours)) if merged(&theirs) == merged(&ours) => Ok(()),
        (Err(_), Err(_)) => Ok(()),
        (Ok(theirs), Ok(ours)) => Err(format!(
            "Ignition made\n{:#}\nwe made\n{:#}",
            merged(&theirs),
            merged(&ours)
        )),
        (Ok(_), Err(why)) => Err(format!("only we refuse: {why}")),
        (Err(why), Ok(_)) => Err(format!("only Ignition refuses: {why}")),
    }
}

#[test]
#[ignore = "slow: real Ignition"]
fn parents_and_children_are_merged_alike() {
    let referee = referee();
    try_all("merges", 300, |dice| {
        let (naming, parent, children) = family(dice);
        let theirs = referee.render(naming.compact().as_bytes()).unwrap();
        let parent = ours(&parent.compact());
        let merged = children.iter().fold(parent.clone(), |config, child| {
            Config::merge(&config, &ours(child))
        });
        let report = merged.validate();
        let us = if report.is_fatal() {
            Err(format!("{report:?}"))
        } else {
            Ok(merged.to_json())
        };
        compare(theirs, us).map_err(|difference| {
            format!(
                "{difference}\nparent {}\nchildren {children:#?}",
                parent.to_json()
            )
        })
    });
}

#[test]
#[ignore = "slow: real Ignition"]
fn an_advertisement_is_kept_by_us_alone() {
    let config = r#"{"ignition": {"version": "3.4.0"}, "storage": {"luks": [{"name": "a", "device": "/dev/a",
        "clevis": {"tang": [{"url": "http://x", "thumbprint": "t", "advertisement": "{}"}]}}]}}"#;
    let theirs = referee().render(config.as_bytes()).unwrap().unwrap();
    let of =
        |config: &Value| config["storage"]["luks"][0]["clevis"]["tang"][0]["advertisement"].clone();
    assert_eq!(of(&theirs), Value::Null);
    assert_eq!(of(&ours(config).to_json()), "{}");
}
