//! The `Accept` header.

use bootlace_ignition::Version;

use crate::accept::{SERVED, choose};

/// Checks the version that is chosen for a header.
///
/// # Panics
///
/// Panics if the version is not served, was not asked for, or depends on anything but the header.
pub fn accept(input: &[u8]) {
    let header = String::from_utf8_lossy(input);
    let chosen = choose(&header);
    assert_eq!(chosen, choose(&header), "the same header, another version");
    match &chosen {
        Ok(version) => {
            assert!(SERVED.contains(version), "{version} is not served");
            let is_asked = header.contains("/vnd.coreos.ignition+json");
            assert!(
                is_asked || *version == Version::V2_2,
                "{version} was not asked for"
            );
        }
        Err(unsupported) => {
            let major = unsupported.asked.split('.').next().unwrap_or_default();
            assert_ne!(major, "3", "every 3.x is served");
            assert!(header.contains("/vnd.coreos.ignition+json"));
        }
    }
    // Clients add a fallback for servers that don't know Ignition: it never changes the version.
    let fallback = format!("{header}, */*;q=0.1");
    assert_eq!(choose(&fallback), chosen, "a fallback changes the version");
    // No other entry wins over the first one of the highest weight.
    for version in SERVED {
        let first = format!("a/vnd.coreos.ignition+json;version={version};q=inf,{header}");
        assert_eq!(choose(&first), Ok(version), "the first entry lost");
    }
}
