//! The CNI config of a node.

use serde_json::{Value, json};

/// The file's name; runtimes take the first config of the folder.
pub(super) const NAME: &str = "10-bootlace.conflist";

/// Returns the config of a node whose pods get addresses of these networks.
pub(super) fn text(pod_networks: &[String]) -> String {
    let ranges: Vec<Value> = pod_networks
        .iter()
        .map(|network| json!([{"subnet": network}]))
        .collect();
    let route = |network: &String| {
        let everything = if network.contains(':') {
            "::/0"
        } else {
            "0.0.0.0/0"
        };
        json!({"dst": everything})
    };
    let routes: Vec<Value> = pod_networks.iter().map(route).collect();
    let config = json!({
        "cniVersion": "1.0.0",
        "name": "bootlace",
        "plugins": [
            {
                "type": "bridge",
                "bridge": "cni0",
                "isGateway": true,
                // A node that was deleted and joins again gets another part, and its bridge has the
                // old one: without this no pod could start there any more.
                "forceAddress": true,
                // A pod that asks its own service gets its own packet back.
                "hairpinMode": true,
                "ipam": {"type": "host-local", "ranges": ranges, "routes": routes},
            },
            {"type": "portmap", "capabilities": {"portMappings": true}},
        ],
    });
    format!("{config:#}\n")
}

/// Tells whether a file of the folder is a config that somebody else put there.
pub(super) fn is_foreign(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_config = matches!(ending, "conf" | "conflist" | "json");
    is_config && !name.starts_with('.') && name != NAME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_get_addresses_of_the_node_s_part() {
        let text = text(&["10.244.3.0/24".into(), "fd00:3::/64".into()]);
        let config: Value = serde_json::from_str(&text).unwrap();
        let bridge = &config["plugins"][0];
        assert_eq!(bridge["type"], "bridge");
        assert_eq!(
            bridge["ipam"]["ranges"],
            json!([[{"subnet": "10.244.3.0/24"}], [{"subnet": "fd00:3::/64"}]])
        );
        assert_eq!(
            bridge["ipam"]["routes"],
            json!([{"dst": "0.0.0.0/0"}, {"dst": "::/0"}])
        );
        assert_eq!(bridge["forceAddress"], true);
        assert_eq!(config["plugins"][1]["type"], "portmap");
    }

    #[test]
    fn configs_of_others_are_known_by_their_endings() {
        for name in ["10-bridge.conflist", "a.conf", "b.json"] {
            assert!(is_foreign(name), "{name}");
        }
        for name in [
            NAME,
            ".10-bootlace.conflist",
            "README",
            "x.conf.bak",
            ".keep.conf",
        ] {
            assert!(!is_foreign(name), "{name}");
        }
    }
}
