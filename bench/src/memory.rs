//! How much memory a process takes.

/// Returns the most memory that a process has had, in MiB.
pub(crate) fn peak(id: &str) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = peak.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}
