//! Benchmarks of hardening: what a machine must be like, as a table, judged by what lies on it.

mod api_config;
mod certificate;
mod cis;
mod flags;
mod kubelet;
mod machine;
mod pki;
mod rule;
mod subject;
mod unit;

use bootlace_model::fact::{Ask, Facts};
use bootlace_model::fault::Fault;
use bootlace_model::step::PlanError;
use bootlace_model::view::{BenchmarkCheckView, BenchmarkResult, BenchmarkView};

use self::cis::{ROWS, Row};
use self::machine::Machine;
use self::subject::{Finding, Subject};

/// The benchmark's name, as people type it.
pub const CIS: &str = "cis";

/// Judges a machine of profile `kubernetes` by the CIS Kubernetes Benchmark.
///
/// `ask` is called twice: which files are looked at depends on what the first answers name.
pub fn judge(ask: impl Fn(&[Ask]) -> Result<Facts, Fault>) -> Result<BenchmarkView, PlanError> {
    let facts = ask(&machine::asks())?;
    let then = ask(&machine::asks_then(&facts)?)?;
    let machine = Machine::read(&facts, &then)?;
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
    let (result, found, remedy, reason) = match (finding.holds, row.exception) {
        (true, _) => (BenchmarkResult::Pass, finding.found, None, None),
        (false, None) => failed(row.subject, finding),
        (false, Some(exception)) => {
            let claims = exception.claims.iter();
            let mut claims = claims.map(|claim| (*claim, claim.look(machine)));
            if let Some((claim, finding)) = claims.find(|(_, claim)| !claim.holds) {
                failed(claim, finding)
            } else {
                let reason = Some(exception.reason.to_owned());
                (BenchmarkResult::Exception, finding.found, None, reason)
            }
        }
    };
    BenchmarkCheckView {
        number: row.number.into(),
        title: row.title.into(),
        automated: row.automated,
        result,
        found,
        remedy,
        reason,
    }
}

/// The result, what was found, the remedy and the reason.
type Judgement = (BenchmarkResult, String, Option<String>, Option<String>);

fn failed(subject: Subject, finding: Finding) -> Judgement {
    let remedy = subject.remedy(&finding);
    (BenchmarkResult::Fail, finding.found, Some(remedy), None)
}

#[cfg(test)]
mod tests;
