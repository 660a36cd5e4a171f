//! DNS names, by the stricter rules of RFC 1123 that Kubernetes uses.

use super::Problem;

const LONGEST_LABEL: usize = 63;
const LONGEST_NAME: usize = 253;
const WHY: &str = "Kubernetes and certificates accept only DNS names here";

/// Reads a single label, such as `demo`.
pub(in crate::config) fn label(text: &str) -> Result<String, Problem> {
    check_label(text, "it").map_err(|reason| bad(text, "a DNS label", &reason, label))?;
    Ok(text.into())
}

/// Reads labels with dots between them, such as `cluster.local`.
pub(in crate::config) fn subdomain(text: &str) -> Result<String, Problem> {
    check_subdomain(text).map_err(|reason| bad(text, "a DNS name", &reason, subdomain))?;
    Ok(text.into())
}

/// Reads a name that a certificate may carry: like [`subdomain`], and `*.` may stand in front.
pub(in crate::config) fn certificate_name(text: &str) -> Result<String, Problem> {
    let plain = text.strip_prefix("*.").unwrap_or(text);
    check_subdomain(plain).map_err(|reason| bad(text, "a DNS name", &reason, certificate_name))?;
    Ok(text.into())
}

fn check_subdomain(text: &str) -> Result<(), String> {
    if text.len() > LONGEST_NAME {
        return Err(format!("it is longer than {LONGEST_NAME} characters"));
    }
    if text.ends_with('.') {
        return Err("it ends with a dot".into());
    }
    let last = text.rsplit('.').next().unwrap_or(text);
    if text.contains('.') && last.bytes().all(|byte| byte.is_ascii_digit()) && !last.is_empty() {
        return Err("it looks like an address, but is none".into());
    }
    text.split('.')
        .try_for_each(|part| check_label(part, "a part of it"))
}

fn check_label(text: &str, it: &str) -> Result<(), String> {
    let allowed = |c: &char| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-';
    if text.is_empty() {
        return Err(format!("{it} is empty"));
    }
    if let Some(c) = text.chars().find(|c| !allowed(c)) {
        return Err(format!(
            "{c:?} is not a lower-case letter, a digit or a hyphen"
        ));
    }
    if text.starts_with('-') || text.ends_with('-') {
        return Err(format!("{it} begins or ends with a hyphen"));
    }
    if text.len() > LONGEST_LABEL {
        return Err(format!("{it} is longer than {LONGEST_LABEL} characters"));
    }
    Ok(())
}

/// Explains a refusal, and offers the text as it would be accepted if small changes are enough.
fn bad(
    text: &str,
    wanted: &str,
    reason: &str,
    read: fn(&str) -> Result<String, Problem>,
) -> Problem {
    let tidy = tidy(text);
    let hint = if tidy != text && read(&tidy).is_ok() {
        format!("did you mean {tidy}?")
    } else {
        "use lower-case letters, digits and hyphens, such as demo-1".into()
    };
    Problem::new(format!("is not {wanted}: {reason}"), WHY, hint)
}

/// Takes out the small mistakes that people make with DNS names.
pub(super) fn tidy(text: &str) -> String {
    let text = text.trim().to_lowercase().replace(['_', ' '], "-");
    text.trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_names_follow_the_rules() {
        let long = "a".repeat(64);
        for good in ["a", "demo-1", "1a", &long[..63]] {
            assert!(label(good).is_ok(), "{good}");
        }
        for bad in ["", "A", "a.b", "-a", "a-", "a_b", "ä", &long] {
            assert!(label(bad).is_err(), "{bad}");
        }
        for good in ["cluster.local", "a", "1.a", "1"] {
            assert!(subdomain(good).is_ok(), "{good}");
        }
        for bad in ["", ".", "a..b", "a.", "300.1.1.1", "*.a", &"a.".repeat(127)] {
            assert!(subdomain(bad).is_err(), "{bad}");
        }
        assert!(certificate_name("*.apps.example").is_ok());
        assert!(certificate_name("a.*.example").is_err());
    }

    #[test]
    fn small_mistakes_are_corrected() {
        assert_eq!(
            label("My_Cluster").unwrap_err().hint,
            "did you mean my-cluster?"
        );
        assert_eq!(
            subdomain("cluster.local.").unwrap_err().hint,
            "did you mean cluster.local?"
        );
    }
}
