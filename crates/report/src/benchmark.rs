//! `verify --benchmark` for people: what failed and what to do, and what need not hold.

use bootlace_model::view::{BenchmarkCheckView, BenchmarkResult, BenchmarkView};

use crate::page::{Label, Page};
use crate::style::Style;
use crate::theme::{Sign, Tone};
use crate::words::count;

/// Lays out what was judged; `verbose` also lists what passed.
pub fn text(view: &BenchmarkView, style: &Style, verbose: bool) -> String {
    let mut page = Page::new(style);
    for check in &view.checks {
        if verbose || check.result != BenchmarkResult::Pass {
            write_check(&mut page, check);
        }
    }
    page.gap();
    let (tone, word) = if view.ok {
        (Tone::Good, "Passed")
    } else {
        (Tone::Bad, "Failed")
    };
    let (all, version) = (view.checks.len() as u64, &view.version);
    let words = format!(
        "{} of the CIS Kubernetes Benchmark {version}: {} passed, {} failed, {}.",
        count(all, "check"),
        view.passed,
        view.failed,
        count(view.exceptions, "exception"),
    );
    page.led(0, tone, word, &words);
    page.finish()
}

fn write_check(page: &mut Page<'_>, check: &BenchmarkCheckView) {
    let sign = match check.result {
        BenchmarkResult::Pass => Sign::Good,
        BenchmarkResult::Fail => Sign::Bad,
        BenchmarkResult::Exception => Sign::Skipped,
    };
    page.item(0, sign, &format!("{}  {}", check.number, check.title));
    let label = |text| Label {
        indent: page.style().sign_width() + 1,
        text,
        column: 9,
    };
    let (found, remedy, reason) = (label("found"), label("remedy"), label("reason"));
    page.labelled(&found, &check.found);
    if let Some(text) = &check.remedy {
        page.labelled(&remedy, text);
    }
    if let Some(text) = &check.reason {
        page.labelled(&reason, text);
    }
}
