//! What started things leave behind, beside paths: looking for it and removing it.

use std::time::{Duration, Instant};

use bootlace_engine::port::{HostError, HostResult, Machine as _};
use bootlace_model::effect::Product;

use super::{cgroups, containers, kernel, mounts, not_live, packet_tables};
use crate::error::senseless;
use crate::{RealHost, clock};

/// How long a program may take to answer a question.
const QUESTION: Duration = Duration::from_secs(10);
/// How often is looked whether something is gone.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Tells whether a product is there; what nobody can tell is not.
pub(super) fn has(host: &RealHost, product: &Product) -> HostResult<bool> {
    Ok(look(host, product)? == Some(true))
}

/// Lists those of several products that are there. `nft` is asked once for all tables.
pub(super) fn there(host: &RealHost, products: &[Product]) -> HostResult<Vec<Product>> {
    let tables = products.iter().filter_map(|product| match product {
        Product::PacketTable(table) if host.is_live() => Some(table.as_str()),
        _ => None,
    });
    let tables: Vec<&str> = tables.collect();
    let tables = if tables.is_empty() {
        tables
    } else {
        packet_tables::there(host, &tables)?
    };
    let mut there = Vec::new();
    for product in products {
        let is_there = match product {
            Product::PacketTable(table) => tables.contains(&table.as_str()),
            other => has(host, other)?,
        };
        if is_there {
            there.push(product.clone());
        }
    }
    Ok(there)
}

/// Looks whether a product is there; none if nobody answers who would know.
fn look(host: &RealHost, product: &Product) -> HostResult<Option<bool>> {
    Ok(match product {
        Product::Path(path) | Product::Copy { path, .. } => {
            return Err(senseless("look for", path.as_str(), "it is a path"));
        }
        Product::Pods => host.runtime.pods(&host.stop)?.map(|pods| pods > 0),
        Product::Image(reference) => {
            let images = host.runtime.images(&host.stop)?;
            images.map(|images| images.contains(reference))
        }
        Product::Mounts(path) => Some(!mounts::below(host, path)?.is_empty()),
        Product::Container { engine, id_file } => containers::has(host, engine, id_file)?,
        Product::StoredImage { engine, image } => containers::has_image(host, engine, image)?,
        // Those of the machine that runs do not belong to a root in a folder.
        _ if !host.is_live() => Some(false),
        Product::Interface(name) => Some(has_interface(name)?),
        Product::PacketTable(table) => Some(!packet_tables::there(host, &[table])?.is_empty()),
        Product::Routes(protocol) => Some(has_routes(host, *protocol)?),
        Product::Cgroup(name) => Some(!cgroups::find(name)?.is_empty()),
    })
}

/// Removes a product, and returns when it is gone.
pub(super) fn remove(host: &RealHost, product: &Product, within: Duration) -> HostResult<()> {
    let begun = Instant::now();
    if !has(host, product)? {
        return Ok(());
    }
    loop {
        let left = within.saturating_sub(begun.elapsed());
        let result = remove_once(host, product, left.max(LOOK_AGAIN));
        if look(host, product)? == Some(false) {
            return Ok(());
        }
        let is_late = begun.elapsed() + LOOK_AGAIN >= within;
        match result {
            // A pod that is just being made, or whose network is just being set up, refuses.
            Err(HostError::Io { .. }) if *product == Product::Pods && !is_late => {}
            Err(error) => return Err(error),
            Ok(()) if is_late => {
                return Err(HostError::TimedOut {
                    what: format!("the removal of {}", product.what()),
                    within,
                });
            }
            Ok(()) => {}
        }
        clock::sleep(LOOK_AGAIN, &host.stop)?;
    }
}

fn remove_once(host: &RealHost, product: &Product, within: Duration) -> HostResult<()> {
    match product {
        Product::Path(path) | Product::Copy { path, .. } => {
            Err(senseless("remove", path.as_str(), "it is a path"))
        }
        Product::Pods => host.runtime.remove_pods(within, &host.stop),
        Product::Image(reference) => host.runtime.remove_image(reference, within, &host.stop),
        Product::Mounts(path) => mounts::detach(host, path),
        Product::Container { engine, id_file } => containers::remove(host, engine, id_file, within),
        Product::StoredImage { engine, image } => {
            containers::remove_image(host, engine, image, within)
        }
        _ if !host.is_live() => Err(not_live("remove", &product.what())),
        Product::Interface(name) => {
            let words = ["ip", "link", "delete", "dev", name];
            host.succeed("remove", &product.what(), &words, within)?;
            Ok(())
        }
        Product::PacketTable(table) => packet_tables::remove(host, table, within),
        Product::Routes(protocol) => {
            for family in families() {
                let words = ["ip", family, "route", "flush", "table", "main", "proto"];
                let words = words.into_iter().map(ToOwned::to_owned);
                let words: Vec<String> = words.chain([protocol.to_string()]).collect();
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                host.succeed("remove", &product.what(), &words, within)?;
            }
            Ok(())
        }
        Product::Cgroup(name) => cgroups::remove(name),
    }
}

/// Tells whether there is a network interface in the namespace of this process.
fn has_interface(name: &str) -> HostResult<bool> {
    let devices = kernel::read("/proc/net/dev")?;
    let mut names = devices.lines().filter_map(|line| line.split_once(':'));
    Ok(names.any(|(found, _)| found.trim() == name))
}

/// Tells whether there are routes with a protocol number; without `ip` nothing can be said of them.
fn has_routes(host: &RealHost, protocol: u8) -> HostResult<bool> {
    let protocol = protocol.to_string();
    for family in families() {
        let words = [
            "ip", family, "route", "show", "table", "main", "proto", &protocol,
        ];
        let listed = match host.succeed("list", "routes", &words, QUESTION) {
            Err(HostError::Io { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(false);
            }
            listed => listed?,
        };
        if !listed.trim().is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the families of addresses that this kernel has, as flags of `ip`.
fn families() -> impl Iterator<Item = &'static str> {
    let has_v6 = std::path::Path::new("/proc/net/if_inet6").exists();
    ["-4"].into_iter().chain(has_v6.then_some("-6"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_is_known() {
        assert!(has_interface("lo").unwrap());
        assert!(!has_interface("l").unwrap());
        assert!(!has_interface("").unwrap());
    }
}
