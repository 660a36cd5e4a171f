//! What must hold for any unit file; the fuzz target in `fuzz/` calls it with what it makes up.
//!
//! The files in `fuzz/corpus/units` go through the same function in the tests of this crate.

use bootlace_model::effect::UnitName;
use bootlace_model::path::TargetPath;

use crate::effects::links_of_text;

/// Where every link must be.
const ADMIN: &str = "/etc/systemd/system/";

/// Checks which links would enable a unit: the first line is its name, the rest its file.
///
/// # Panics
///
/// Panics if a link would be anywhere but where systemd looks for the links of this unit.
pub fn unit(input: &[u8]) {
    let input = String::from_utf8_lossy(input);
    let (name, text) = input.split_once('\n').unwrap_or((&input, ""));
    let Some(unit) = UnitName::parse(name) else {
        return;
    };
    for folder in [ADMIN, "/usr/lib/systemd/system/"] {
        let Ok(fragment) = TargetPath::new(&format!("{folder}{unit}")) else {
            return;
        };
        check(&unit, &fragment, text);
    }
}

fn check(unit: &UnitName, fragment: &TargetPath, text: &str) {
    let links = links_of_text(unit, fragment, text);
    let again = links_of_text(unit, fragment, text);
    assert_eq!(
        links.is_ok(),
        again.is_ok(),
        "the same file, another verdict"
    );
    // Only the section [Install] counts.
    let before = format!("[Unit]\nAlias=other.service\n[Service]\nWantedBy=/\n{text}");
    let before = links_of_text(unit, fragment, &before);
    assert_eq!(links.as_ref().ok(), before.as_ref().ok());
    let Ok(links) = links else {
        return;
    };
    assert_eq!(Some(&links), again.as_ref().ok());
    for (index, link) in links.iter().enumerate() {
        assert_ne!(link, fragment, "a unit file would become a link to itself");
        assert!(!links[..index].contains(link), "{link} is listed twice");
        let place = link.as_str().strip_prefix(ADMIN);
        let is_right = place.is_some_and(|place| match place.split_once('/') {
            None => is_name(place, unit),
            Some((folder, name)) => is_folder(folder) && is_name(name, unit),
        });
        assert!(is_right, "{link} is no place for a link to {unit}");
    }
}

/// Tells whether a name is that of a unit of the same type.
fn is_name(name: &str, unit: &UnitName) -> bool {
    let of_type = |name: &str| name.rsplit('.').next().map(ToOwned::to_owned);
    UnitName::parse(name).is_some() && of_type(name) == of_type(unit.as_str())
}

/// Tells whether systemd looks for links in a folder of this name.
fn is_folder(name: &str) -> bool {
    let units = [".wants", ".requires", ".upholds"].map(|kind| name.strip_suffix(kind));
    let mut units = units.into_iter().flatten();
    units.any(|unit| UnitName::parse(unit).is_some())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test reads the corpus")]
    fn every_unit_of_the_corpus_is_linked_where_systemd_looks() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/units");
        let mut checked = 0;
        for entry in std::fs::read_dir(corpus).unwrap() {
            let file = entry.unwrap().path();
            println!("{}", file.display());
            super::unit(&std::fs::read(file).unwrap());
            checked += 1;
        }
        assert!(checked >= 4, "only {checked} files");
    }
}
