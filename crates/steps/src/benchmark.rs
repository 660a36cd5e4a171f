//! Benchmarks of hardening: what a machine must be like, as a table, judged by what lies on it.

mod cis;
mod machine;
mod rule;
mod subject;

use bootlace_model::fact::{Ask, Facts};
use bootlace_model::step::PlanError;
use bootlace_model::view::{BenchmarkCheckView, BenchmarkResult, BenchmarkView};

use self::cis::{ROWS, Row};
use self::machine::Machine;

/// The benchmark's name, as people type it.
pub const CIS: &str = "cis";

/// Lists what has to be known of a machine.
pub fn asks() -> Vec<Ask> {
    machine::asks()
}

/// Judges a machine of profile `kubernetes` by the CIS Kubernetes Benchmark.
pub fn judge(facts: &Facts) -> Result<BenchmarkView, PlanError> {
    let machine = Machine::read(facts)?;
    let checks: Vec<BenchmarkCheckView> = ROWS.iter().map(|row| check(row, &machine)).collect();
    let count = |result| checks.iter().filter(|check| check.result == result).count() as u64;
    let (passed, failed) = (count(BenchmarkResult::Pass), count(BenchmarkResult::Fail));
    Ok(BenchmarkView {
        benchmark: CIS.into(),
        version: cis::VERSION.into(),
        ok: failed == 0,
        passed,
        failed,
        exceptions: count(BenchmarkResult::Exception),
        checks,
    })
}

fn check(row: &Row, machine: &Machine) -> BenchmarkCheckView {
    let finding = row.subject.look(machine);
    let (result, reason) = match (finding.holds, row.exception) {
        (true, _) => (BenchmarkResult::Pass, None),
        (false, Some(reason)) => (BenchmarkResult::Exception, Some(reason)),
        (false, None) => (BenchmarkResult::Fail, None),
    };
    BenchmarkCheckView {
        number: row.number.into(),
        title: row.title.into(),
        automated: row.automated,
        result,
        found: finding.found,
        remedy: (result == BenchmarkResult::Fail).then(|| row.subject.remedy()),
        reason: reason.map(ToOwned::to_owned),
    }
}

#[cfg(test)]
mod tests;
