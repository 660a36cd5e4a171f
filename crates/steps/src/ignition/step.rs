//! A step of this sequence as a row: what it is for, and the functions that decide.

use bootlace_model::check::Check;
use bootlace_model::config::Settings;
use bootlace_model::expect::Expectation;
use bootlace_model::fact::{Ask, Facts};
use bootlace_model::step::{About, Decision, PlanError, Step};

/// A step made of functions.
pub(super) struct IgnitionStep {
    pub(super) name: &'static str,
    pub(super) about: &'static About,
    pub(super) needs: &'static [&'static str],
    pub(super) uses: &'static [&'static str],
    pub(super) yields: fn(&Settings) -> Vec<Ask>,
    pub(super) checks: fn(&Settings) -> Vec<Check>,
    pub(super) plan: fn(&Settings, &Facts) -> Result<Decision, PlanError>,
    pub(super) expects: fn(&Settings, &Facts) -> Vec<Expectation>,
}

/// Yields nothing.
pub(super) fn yields_nothing(_: &Settings) -> Vec<Ask> {
    vec![]
}

/// Checks nothing.
pub(super) fn checks_nothing(_: &Settings) -> Vec<Check> {
    vec![]
}

impl Step for IgnitionStep {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static About {
        self.about
    }

    fn needs(&self) -> &'static [&'static str] {
        self.needs
    }

    fn uses(&self) -> &'static [&'static str] {
        self.uses
    }

    fn yields(&self, settings: &Settings) -> Vec<Ask> {
        (self.yields)(settings)
    }

    fn checks(&self, settings: &Settings) -> Vec<Check> {
        (self.checks)(settings)
    }

    fn plan(&self, settings: &Settings, facts: &Facts) -> Result<Decision, PlanError> {
        (self.plan)(settings, facts)
    }

    fn expects(&self, settings: &Settings, facts: &Facts) -> Vec<Expectation> {
        (self.expects)(settings, facts)
    }
}
