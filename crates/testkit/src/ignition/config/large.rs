//! A config as large as those of real clusters, to be measured.

use super::super::draft::Draft;
use super::super::{Spec, words};
use crate::dice::Dice;

/// How many files lie in one folder.
const IN_A_FOLDER: usize = 100;
/// The most bytes of a file.
const MOST_BYTES: usize = 2000;

/// Makes a config of so many files and units, always the same.
///
/// Files are of up to two kilobytes, a hundred in a folder; every fourth unit has a drop-in, and all are enabled.
pub fn large(files: usize, units: usize) -> String {
    let mut dice = Dice::new(5000);
    let files: Vec<Draft> = (0..files).map(|number| file(number, &mut dice)).collect();
    let units: Vec<Draft> = (0..units).map(unit).collect();
    Draft::object()
        .with(
            "ignition",
            Draft::object().with("version", Spec::ALL[5].text()),
        )
        .with("storage", Draft::object().with("files", files))
        .with("systemd", Draft::object().with("units", units))
        .compact()
}

fn file(number: usize, dice: &mut Dice) -> Draft {
    let folder = number / IN_A_FOLDER;
    let line = format!("setting-{number} = {}\n", dice.roll());
    let body = line.repeat(1 + dice.index(MOST_BYTES / line.len()));
    let contents = Draft::object().with("source", words::data_url(dice, body.as_bytes()));
    Draft::object()
        .with(
            "path",
            format!("/etc/large/folder-{folder}/file-{number}.conf"),
        )
        .with("mode", if dice.percent(80) { 0o644 } else { 0o600 })
        .with("overwrite", true)
        .with("contents", contents)
}

fn unit(number: usize) -> Draft {
    let contents = format!(
        "[Unit]\nDescription=Unit {number}\n\n[Service]\nExecStart=/usr/bin/true {number}\n\n[Install]\nWantedBy=multi-user.target\n"
    );
    let mut unit = Draft::object()
        .with("name", format!("large-{number}.service"))
        .with("enabled", true)
        .with("contents", contents);
    if number.is_multiple_of(4) {
        let dropin = Draft::object()
            .with("name", "10-limits.conf")
            .with("contents", "[Service]\nLimitNOFILE=1024\n");
        unit.put("dropins", vec![dropin]);
    }
    unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_config_has_what_was_asked_for() {
        let text = large(500, 10);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["storage"]["files"].as_array().unwrap().len(), 500);
        assert_eq!(value["systemd"]["units"].as_array().unwrap().len(), 10);
        assert_eq!(text, large(500, 10));
    }
}
