//! `pki list`, `pki check` and `pki rotate-encryption-key` for people.

use bootlace_model::view::{CertificateView, KeyRotationView, PkiView};

use crate::page::{Label, Page};
use crate::style::Style;
use crate::theme::{Sign, Tone};
use crate::words::{count, number_of, one_line};

/// Lays out the plan: every certificate with its subject, its issuer and what it is for.
///
/// `purposes` holds one sentence for each certificate of the view, in the same order.
pub fn list_text(view: &PkiView, purposes: &[String], style: &Style) -> String {
    let mut page = Page::new(style);
    for (n, certificate) in view.certificates.iter().enumerate() {
        page.toned(0, Tone::Name, &one_line(&certificate.path));
        page.labelled(&label("speaks for"), &certificate.subject);
        page.labelled(&label("signed by"), &certificate.issuer);
        if let Some(purpose) = purposes.get(n).filter(|purpose| !purpose.is_empty()) {
            page.labelled(&label("is for"), purpose);
        }
        page.gap();
    }
    let all = count(number_of(&view.certificates), "certificate");
    page.line(&format!("{all} in the plan."));
    page.finish()
}

/// Lays out what was found: the days that are left, and what is wrong.
pub fn check_text(view: &PkiView, style: &Style) -> String {
    let mut page = Page::new(style);
    let widths = view.certificates.iter().map(|c| c.path.chars().count());
    let column = widths
        .max()
        .unwrap_or(0)
        .min(style.width.saturating_sub(20));
    for certificate in &view.certificates {
        write_checked(&mut page, certificate, column);
    }
    page.gap();
    let broken = view.certificates.iter().filter(|c| !c.ok).count();
    let all = count(number_of(&view.certificates), "certificate");
    let summary = match broken {
        0 => format!(
            "{} {all}, nothing is wrong.",
            style.paint(Tone::Good, "Checked:")
        ),
        1 => format!(
            "{} 1 of {all} has problems.",
            style.paint(Tone::Bad, "Checked:")
        ),
        n => format!(
            "{} {n} of {all} have problems.",
            style.paint(Tone::Bad, "Checked:")
        ),
    };
    page.line(&summary);
    page.finish()
}

/// Lays out what a rotation of the encryption key did, or would do.
pub fn rotation_text(view: &KeyRotationView, style: &Style) -> String {
    let mut page = Page::new(style);
    let resources = one_line(&view.resources.join(", "));
    let (key, file) = (one_line(&view.key), one_line(&view.file));
    let first = match (view.dry_run, view.resumed) {
        (true, false) => format!("Would add a new key, {key}, as the first one in {file}."),
        (true, true) => format!("Would finish the rotation to {key} in {file}."),
        (false, _) => format!("{key} encrypts {resources}."),
    };
    let sign = if view.dry_run { Sign::Todo } else { Sign::Good };
    page.item(0, sign, &first);
    let objects = format!("{} ({resources})", count(view.rewritten, "object"));
    let (rewrite, remove) = if view.dry_run {
        ("rewrite", "remove")
    } else {
        ("rewritten", "removed")
    };
    page.labelled(&label(rewrite), &objects);
    if !view.removed.is_empty() {
        page.labelled(&label(remove), &one_line(&view.removed.join(", ")));
    }
    if !view.dry_run {
        page.gap();
        page.prose(
            0,
            &format!(
                "Back up {file} together with etcd. Older snapshots of etcd need the older file."
            ),
        );
    }
    page.finish()
}

fn write_checked(page: &mut Page<'_>, certificate: &CertificateView, column: usize) {
    let style = page.style();
    let sign = if certificate.ok {
        Sign::Good
    } else {
        Sign::Bad
    };
    let days = match certificate.days_left {
        Some(1) => "1 day left".to_owned(),
        Some(days) if days >= 0 => format!("{days} days left"),
        Some(_) => "expired".to_owned(),
        None => String::new(),
    };
    let path = one_line(&certificate.path);
    page.line(&format!(
        "{} {path:column$}  {}",
        style.sign(sign),
        style.paint(Tone::Faint, &days)
    ));
    for problem in &certificate.problems {
        page.item(style.sign_width() + 1, Sign::Item, problem);
    }
}

fn label(text: &str) -> Label<'_> {
    Label {
        indent: 2,
        text,
        column: 12,
    }
}
