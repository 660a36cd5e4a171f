//! Pools: which machines get which configs.

use bootlace_model::fault::Fault;
use serde_json::{Value, json};

use super::config::MachineConfig;
use super::role::Role;
use super::{API_VERSION, KIND, ROLE, text};

/// A pool of machines.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    pub(super) name: String,
    object: Value,
}

impl Pool {
    /// Returns the pool of a role.
    pub(super) fn of_role(role: &Role) -> Self {
        let mut object = json!({
            "apiVersion": API_VERSION,
            "kind": "MachineConfigPool",
            "metadata": {"name": role.name},
            "spec": {
                "machineConfigSelector": {"matchLabels": {}},
                "nodeSelector": {"matchLabels": {}},
            },
        });
        object["spec"]["machineConfigSelector"]["matchLabels"][ROLE] = role.name.into();
        object["spec"]["nodeSelector"]["matchLabels"][role.node_label] = "".into();
        Self {
            name: role.name.to_owned(),
            object,
        }
    }

    /// Reads a pool that somebody wrote.
    pub(super) fn read(object: &Value, file: &str) -> Result<Self, Fault> {
        let name = text(object, "/metadata/name").to_owned();
        let bad = |what: &str| {
            Fault::bad_input(format!("the machine config pool {name:?} {what}"))
                .in_file(file)
                .because("Its machines would get no config, or somebody else's.")
        };
        if name.is_empty() {
            return Err(bad("has no name").hint("give it metadata.name"));
        }
        let pool = Self {
            object: object.clone(),
            name: name.clone(),
        };
        let Some(selector) = pool.selector() else {
            return Err(bad("does not say which configs it wants")
                .hint("give it spec.machineConfigSelector with matchLabels or matchExpressions"));
        };
        for expression in expressions(selector) {
            if !matches!(
                text(expression, "/operator"),
                "In" | "NotIn" | "Exists" | "DoesNotExist"
            ) {
                return Err(bad("chooses configs by an operator that there is not")
                    .hint("use In, NotIn, Exists or DoesNotExist"));
            }
        }
        Ok(pool)
    }

    fn selector(&self) -> Option<&Value> {
        let selector = self.object.pointer("/spec/machineConfigSelector")?;
        selector.is_object().then_some(selector)
    }

    /// Tells whether machines of the pool get a config.
    pub(super) fn wants(&self, config: &MachineConfig) -> bool {
        let Some(selector) = self.selector() else {
            return false;
        };
        let labels = selector.get("matchLabels").and_then(Value::as_object);
        let mut labels = labels.into_iter().flatten();
        labels.all(|(key, value)| config.label(key) == value.as_str())
            && expressions(selector).all(|expression| matches(expression, config))
    }

    /// Returns the pool with the config that its machines get, and what that was made from.
    pub(super) fn configured(&self, rendered: &str, parts: &[&MachineConfig]) -> Value {
        let source = |part: &&MachineConfig| json!({"apiVersion": API_VERSION, "kind": KIND, "name": part.name});
        let sources: Vec<Value> = parts.iter().map(source).collect();
        let configuration = json!({"name": rendered, "source": sources});
        let mut pool = self.object.clone();
        pool["spec"]["configuration"] = configuration.clone();
        pool["status"] = json!({"configuration": configuration});
        pool
    }
}

fn expressions(selector: &Value) -> impl Iterator<Item = &Value> {
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    expressions.into_iter().flatten()
}

fn matches(expression: &Value, config: &MachineConfig) -> bool {
    let label = config.label(text(expression, "/key"));
    let values = expression.get("values").and_then(Value::as_array);
    let is_among = label.is_some_and(|label| {
        let mut values = values.into_iter().flatten();
        values.any(|value| value == label)
    });
    match text(expression, "/operator") {
        "In" => is_among,
        "NotIn" => !is_among,
        "Exists" => label.is_some(),
        "DoesNotExist" => label.is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(role: &str) -> MachineConfig {
        let labels = json!({ROLE: role});
        let object = json!({"metadata": {"name": "x", "labels": labels}, "spec": {}});
        MachineConfig::read(&object, "x.yaml").unwrap()
    }

    #[test]
    fn a_pool_chooses_by_labels_and_by_expressions() {
        let pool = |selector: Value| {
            let object =
                json!({"metadata": {"name": "infra"}, "spec": {"machineConfigSelector": selector}});
            Pool::read(&object, "pool.yaml")
        };
        let both = pool(
            json!({"matchExpressions": [{"key": ROLE, "operator": "In", "values": ["worker", "infra"]}]}),
        );
        let both = both.unwrap();
        assert!(both.wants(&config("worker")) && both.wants(&config("infra")));
        assert!(!both.wants(&config("master")));
        let not = pool(
            json!({"matchExpressions": [{"key": ROLE, "operator": "NotIn", "values": ["master"]}]}),
        );
        assert!(not.unwrap().wants(&config("worker")));
        let one = pool(json!({"matchLabels": {ROLE: "infra"}})).unwrap();
        assert!(one.wants(&config("infra")) && !one.wants(&config("worker")));
        assert!(pool(json!(null)).is_err());
        assert!(pool(json!({"matchExpressions": [{"key": ROLE, "operator": "Like"}]})).is_err());
    }
}
