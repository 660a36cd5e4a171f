//! How much memory and time a process takes.

use std::time::Duration;

/// In how many ticks of a second the kernel tells every program the time that it took.
const TICKS: u32 = 100;

/// Returns the most memory that a process has had, in MiB.
pub(crate) fn peak(id: &str) -> Option<f64> {
    field(id, "VmHWM:")
}

/// Returns the memory that a process has, in MiB.
pub(crate) fn resident(id: &str) -> Option<f64> {
    field(id, "VmRSS:")
}

fn field(id: &str, name: &str) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: f64 = value.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}

/// Returns for how long a process has kept processors busy.
pub(crate) fn busy(id: &str) -> Option<Duration> {
    times(id, 11)
}

/// Returns for how long processes that this one started, and that have ended, kept processors busy.
pub(crate) fn busy_children() -> Option<Duration> {
    times("self", 13)
}

/// Adds up user and system time, which stand one behind the other.
fn times(id: &str, place: usize) -> Option<Duration> {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name of the program, in brackets, may hold anything.
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(place);
    let mut ticks = || fields.next()?.parse::<u32>().ok();
    let ticks = ticks()? + ticks()?;
    Some(Duration::from_secs(1) * ticks / TICKS)
}
