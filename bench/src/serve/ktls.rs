//! nginx with kTLS: the kernel encrypts, and files are sent without a copy.

use super::servers::{Encryption, Server};
use super::site::Site;

/// Where the kernel counts connections that it encrypts; absent while it cannot.
const COUNTERS: &str = "/proc/net/tls_stat";

/// Starts nginx with kTLS. If the kernel does not encrypt its first answer, it cannot be measured
/// here, and the error says why.
pub(super) fn nginx(site: &Site) -> Result<Server, String> {
    let before = encrypted();
    let server = Server::nginx(site, Encryption::Kernel).map_err(|error| error.to_string())?;
    let answer = server.fetch(&site.authority);
    answer.map_err(|error| error.to_string())?;
    match (before, encrypted()) {
        (_, None) => {
            let kernel = rustix::system::uname();
            let kernel = kernel.release().to_string_lossy();
            Err(format!(
                "kernel {kernel} has no kTLS: there is no {COUNTERS}"
            ))
        }
        (before, after) if before.unwrap_or(0) < after.unwrap_or(0) => Ok(server),
        _ => Err("nginx did not use kTLS, although the kernel has it".into()),
    }
}

/// Counts connections whose answers the kernel encrypted; none if it cannot.
fn encrypted() -> Option<u64> {
    let counters = std::fs::read_to_string(COUNTERS).ok()?;
    Some(sent(&counters))
}

fn sent(counters: &str) -> u64 {
    let mut words = counters.lines().map(str::split_whitespace);
    let mut value = |name: &str| {
        let mut line = words.find(|line| line.clone().next() == Some(name))?;
        line.nth(1)?.parse::<u64>().ok()
    };
    // They stand in this order: connections at this moment come first, then totals.
    let totals = ["TlsTxSw", "TlsTxDevice"].map(|name| value(name).unwrap_or(0));
    totals.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_the_kernel_encrypted_are_counted() {
        let counters =
            "TlsCurrTxSw \t1\nTlsCurrRxSw 0\nTlsTxSw      \t7\nTlsRxSw 2\nTlsTxDevice 3\n";
        assert_eq!(sent(counters), 10);
        assert_eq!(sent(""), 0);
    }
}
