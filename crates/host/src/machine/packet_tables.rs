//! Tables of the packet filter: whole ones that belong to one program, and those that iptables shares
//! among everybody, where only Kubernetes' own chains go.

use std::time::Duration;

use bootlace_engine::port::{HostError, HostResult};
use serde_json::Value;

use crate::RealHost;

/// How long a program may take to answer a question.
const QUESTION: Duration = Duration::from_secs(10);
/// What is listed, for messages.
const WHAT: &str = "the tables of the packet filter";
/// The tables of iptables, in which everybody has chains.
const SHARED: [&str; 5] = ["filter", "nat", "mangle", "raw", "security"];
/// How the chains of the kubelet, of kube-proxy and of CNI plug-ins begin.
const OURS: [&str; 2] = ["KUBE-", "CNI-"];

/// Lists those of several tables, by family and name, in which there is something to remove.
pub(super) fn there<'t>(host: &RealHost, tables: &[&'t str]) -> HostResult<Vec<&'t str>> {
    let listed = list(host)?;
    let mut there = Vec::new();
    for table in tables {
        let is_there = is_listed(&listed, table)
            && (!is_shared(table) || leftovers(host, table)?.is_some_and(|left| !left.is_empty()));
        if is_there {
            there.push(*table);
        }
    }
    Ok(there)
}

/// Removes a table; of one that is shared only what Kubernetes left, and itself if nothing is in it then.
pub(super) fn remove(host: &RealHost, table: &str, within: Duration) -> HostResult<()> {
    let commands = if is_shared(table) {
        leftovers(host, table)?.unwrap_or_default()
    } else {
        vec![format!("delete table {table}")]
    };
    if commands.is_empty() {
        return Ok(());
    }
    // All or nothing: a chain that is half gone lets packets through that it should not.
    let words = ["nft", &commands.join("; ")];
    host.succeed("remove", &format!("the table {table}"), &words, within)?;
    Ok(())
}

fn is_shared(table: &str) -> bool {
    let name = table.split_whitespace().nth(1);
    name.is_some_and(|name| SHARED.contains(&name))
}

/// Lists the tables, as `nft` does; without it there are none.
fn list(host: &RealHost) -> HostResult<String> {
    match host.succeed("list", WHAT, &["nft", "list", "tables"], QUESTION) {
        Err(HostError::Io { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => {
            Ok(String::new())
        }
        listed => listed,
    }
}

/// Looks for a table, by family and name, in what `nft` lists.
fn is_listed(text: &str, table: &str) -> bool {
    let wanted: Vec<&str> = table.split_whitespace().collect();
    text.lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        // Comments and flags may follow.
        words.first() == Some(&"table") && words.get(1..3) == Some(wanted.as_slice())
    })
}

/// Returns what removes Kubernetes' part of a shared table; none if its content cannot be read.
fn leftovers(host: &RealHost, table: &str) -> HostResult<Option<Vec<String>>> {
    let words = ["nft", "--json", "list", "table"].into_iter();
    let words: Vec<&str> = words.chain(table.split_whitespace()).collect();
    let listed = host.succeed("list", WHAT, &words, QUESTION)?;
    let listed: Option<Value> = serde_json::from_str(&listed).ok();
    Ok(listed.and_then(|listed| removal(table, &listed)))
}

/// Returns the commands that remove chains of ours, what leads to them, and a table that is empty then.
fn removal(table: &str, listed: &Value) -> Option<Vec<String>> {
    let items = listed["nftables"].as_array()?;
    let of = |kind: &'static str| items.iter().filter_map(move |item| item.get(kind));
    let chains: Vec<&str> = of("chain")
        .filter_map(|chain| chain["name"].as_str())
        .collect();
    let ours: Vec<&str> = chains
        .iter()
        .copied()
        .filter(|name| is_ours(name))
        .collect();
    let mut commands: Vec<String> = vec![];
    let mut others = 0;
    for rule in of("rule") {
        let (chain, handle) = (rule["chain"].as_str()?, rule["handle"].as_u64()?);
        if is_ours(chain) {
            continue;
        }
        if leads_to_ours(rule) {
            commands.push(format!("delete rule {table} {chain} handle {handle}"));
        } else {
            others += 1;
        }
    }
    commands.extend(
        ours.iter()
            .map(|chain| format!("flush chain {table} {chain}")),
    );
    commands.extend(
        ours.iter()
            .map(|chain| format!("delete chain {table} {chain}")),
    );
    // Only what iptables itself makes with its first rule: its hooks, which let everything through.
    let is_bare = |chain: &Value| {
        let policy = chain["policy"].as_str().unwrap_or("accept");
        chain.get("hook").is_some() && policy == "accept"
    };
    let mut foreign = of("chain").filter(|chain| !chain["name"].as_str().is_some_and(is_ours));
    let holds_more = [
        "set",
        "map",
        "flowtable",
        "ct helper",
        "counter",
        "quota",
        "limit",
    ];
    let is_empty = others == 0
        && foreign.all(is_bare)
        && !holds_more.into_iter().any(|kind| of(kind).next().is_some());
    if is_empty {
        return Some(vec![format!("delete table {table}")]);
    }
    Some(commands)
}

/// Tells whether a chain is Kubernetes', and has a name that needs no quotes.
fn is_ours(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    OURS.iter().any(|ours| name.starts_with(ours)) && name.bytes().all(is_plain)
}

fn leads_to_ours(rule: &Value) -> bool {
    let parts = rule["expr"].as_array().into_iter().flatten();
    let mut targets = parts.flat_map(|part| {
        ["jump", "goto"].map(|verb| part.get(verb).and_then(|to| to["target"].as_str()))
    });
    targets.any(|target| target.is_some_and(is_ours))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tables_are_known_by_family_and_name() {
        let text = "table ip nat\ntable inet kube-proxy\ntable ip6 kube-proxy-2 { # handle 3\n";
        assert!(is_listed(text, "inet kube-proxy"));
        assert!(is_listed(text, "ip6  kube-proxy-2"));
        for other in [
            "ip kube-proxy",
            "inet kube",
            "kube-proxy",
            "",
            "table inet kube-proxy",
        ] {
            assert!(!is_listed(text, other), "{other}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_left_alone() {
        for listed in [json!({}), json!({"nftables": [{"rule": {"expr": []}}]})] {
            assert_eq!(removal("ip nat", &listed), None);
        }
        // A name with a semicolon would be a command of its own.
        let chain = json!({"nftables": [{"chain": {"name": "KUBE-X; flush ruleset"}}]});
        assert_eq!(removal("ip nat", &chain), Some(vec![]));
    }
}
