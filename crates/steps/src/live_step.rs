//! A step as a row: what it is for, what it needs, and the functions that decide.

use bootlace_model::check::Check;
use bootlace_model::config::Settings;
use bootlace_model::expect::Expectation;
use bootlace_model::fact::{Ask, Facts};
use bootlace_model::step::{About, Decision, PlanError, Step};

/// A step made of functions.
pub(crate) struct LiveStep {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it is for.
    pub(crate) about: &'static About,
    /// The steps whose results it needs.
    pub(crate) needs: &'static [&'static str],
    /// The facts of those steps that it reads.
    pub(crate) uses: &'static [&'static str],
    /// Why it is skipped where plain processes run and no kubelet; none if it is not.
    pub(crate) as_processes: Option<&'static str>,
    /// What must be known before it is planned.
    pub(crate) asks: fn(&Settings) -> Vec<Ask>,
    /// What must be so before it begins.
    pub(crate) checks: fn(&Settings) -> Vec<Check>,
    /// What it decides.
    pub(crate) plan: fn(&Settings, &Facts) -> Result<Decision, PlanError>,
    /// What must hold afterwards.
    pub(crate) expects: fn(&Settings) -> Vec<Expectation>,
}

/// Asks nothing.
pub(crate) fn asks_nothing(_: &Settings) -> Vec<Ask> {
    vec![]
}

/// Checks nothing.
pub(crate) fn checks_nothing(_: &Settings) -> Vec<Check> {
    vec![]
}

/// Does nothing: the expectations are all there is to it.
#[expect(
    clippy::unnecessary_wraps,
    reason = "a step's plan may fail, this one never does"
)]
pub(crate) fn only_looks(_: &Settings, _: &Facts) -> Result<Decision, PlanError> {
    Ok(Decision::Do(vec![]))
}

impl Step for LiveStep {
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

    fn asks(&self, settings: &Settings) -> Vec<Ask> {
        (self.asks)(settings)
    }

    fn checks(&self, settings: &Settings) -> Vec<Check> {
        (self.checks)(settings)
    }

    fn plan(&self, settings: &Settings, facts: &Facts) -> Result<Decision, PlanError> {
        if let (Some(reason), false) = (self.as_processes, settings.placement.is_kubelet()) {
            let reason = reason.to_owned();
            return Ok(Decision::Skip { reason });
        }
        (self.plan)(settings, facts)
    }

    fn expects(&self, settings: &Settings, _: &Facts) -> Vec<Expectation> {
        (self.expects)(settings)
    }
}
