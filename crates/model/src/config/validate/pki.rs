//! How keys and certificates are made.

use std::time::Duration;

use super::Check;
use crate::config::PkiSettings;
use crate::config::document::PkiDocument;
use crate::config::grammar::address::name_or_address;
use crate::config::grammar::duration::{duration, text};

const AUTHORITY: &str = "spec.pki.authorityValidity";
const LEAF: &str = "spec.pki.leafValidity";
const BACK_DATE: &str = "spec.pki.backDate";

const LONGEST: Duration = Duration::from_hours(100 * 365 * 24);
const SHORTEST: Duration = Duration::from_mins(1);
const LONGEST_BACK_DATE: Duration = Duration::from_hours(30 * 24);

const WHY_VALIDITY: &str = "a certificate outside its time is refused by everyone";
const WHY_ORDER: &str =
    "a certificate is worth nothing once the authority that signed it has expired";
const WHY_BACK_DATE: &str = "a longer back-date hides a clock that is wrong instead of bearing it";

impl Check<'_> {
    /// Checks durations, alone and beside each other, and further names.
    pub(super) fn pki(
        &mut self,
        document: PkiDocument,
        defaults: &PkiSettings,
    ) -> Option<PkiSettings> {
        let authority = document.authority_validity;
        let authority = self.text(AUTHORITY, authority, defaults.authority_validity, duration);
        let authority = authority.filter(|validity| self.validity_fits(AUTHORITY, *validity));
        let leaf = self.text(
            LEAF,
            document.leaf_validity,
            defaults.leaf_validity,
            duration,
        );
        let leaf = leaf.filter(|validity| self.validity_fits(LEAF, *validity));
        let back_date = self.text(BACK_DATE, document.back_date, defaults.back_date, duration);
        let back_date = back_date.filter(|back_date| self.back_date_fits(*back_date));
        let names = document.extra_names.unwrap_or_default();
        let extra_names = self.texts("spec.pki.extraNames", &names, |check, path, name| {
            let read = |text: &str| name_or_address(text).map(Some);
            check.text(path, Some(name.into()), None, read)?
        });
        let (authority, leaf) = (authority?, leaf?);
        let ordered = leaf <= authority;
        if !ordered {
            let what = format!(
                "{LEAF} {} is longer than {AUTHORITY} {}",
                text(leaf),
                text(authority)
            );
            let (at, other) = self.later([LEAF, AUTHORITY]);
            let hint = format!(
                "write a leafValidity of at most {}; {other}",
                text(authority)
            );
            self.refuse_beside(at, what, WHY_ORDER, hint);
        }
        Some(PkiSettings {
            authority_validity: authority,
            leaf_validity: ordered.then_some(leaf)?,
            back_date: back_date?,
            extra_names: extra_names?,
        })
    }

    fn validity_fits(&mut self, path: &str, validity: Duration) -> bool {
        let fits = (SHORTEST..=LONGEST).contains(&validity);
        if !fits {
            let bounds = format!("from {} to {}", text(SHORTEST), text(LONGEST));
            let what = format!("{path}: {} is not {bounds}", text(validity));
            self.refuse(
                path,
                what,
                WHY_VALIDITY,
                format!("write a duration {bounds}"),
            );
        }
        fits
    }

    fn back_date_fits(&mut self, back_date: Duration) -> bool {
        let fits = back_date <= LONGEST_BACK_DATE;
        if !fits {
            let what = format!("{BACK_DATE}: {} is longer than 30 days", text(back_date));
            self.refuse(
                BACK_DATE,
                what,
                WHY_BACK_DATE,
                "write at most 30d; 1h suits most machines",
            );
        }
        fits
    }
}
