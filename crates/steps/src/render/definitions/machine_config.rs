//! `MachineConfig` and `MachineConfigPool`, as OpenShift has them.

use serde_json::{Value, json};

use super::{Definition, conditions, list, number, object, open_object, text};

const GROUP: &str = "machineconfiguration.openshift.io";

/// Returns the definition of what a machine is told.
pub(super) fn config() -> Definition {
    let words = |description: &str| list(description, &json!({"type": "string"}));
    let spec = open_object(
        "What a machine is told.",
        &json!({
            "config": open_object("An Ignition config.", &json!({})),
            "osImageURL": text("The image of the operating system."),
            "baseOSExtensionsContainerImage": text("The image of its extensions."),
            "kernelArguments": words("Arguments of the kernel, added to its own."),
            "extensions": words("Extensions of the operating system."),
            "fips": {"type": "boolean", "description": "Whether FIPS mode is on."},
            "kernelType": text("The kernel: default, realtime or 64k-pages."),
        }),
    );
    Definition {
        group: GROUP,
        version: "v1",
        kind: "MachineConfig",
        plural: "machineconfigs",
        short: &["mc"],
        schema: object("A part of what machines are told.", &json!({"spec": spec})),
        columns: &[
            ("IgnitionVersion", "string", ".spec.config.ignition.version"),
            ("Age", "date", ".metadata.creationTimestamp"),
        ],
    }
}

/// Returns the definition of machines that are told the same.
pub(super) fn pool() -> Definition {
    let spec = open_object(
        "Which machines, and which configs.",
        &json!({
            "configuration": configuration("The config that the machines shall have."),
            "machineConfigSelector": selector("Which machine configs are merged for it."),
            "nodeSelector": selector("Which nodes belong to it."),
            "paused": {"type": "boolean", "description": "Whether changes wait."},
            "maxUnavailable": {
                "x-kubernetes-int-or-string": true,
                "description": "How many machines may be changed at the same time.",
            },
        }),
    );
    let status = open_object(
        "How far its machines are.",
        &json!({
            "configuration": configuration("The config that is rolled out."),
            "conditions": conditions(),
            "observedGeneration": number("Which generation of the spec this is about."),
            "machineCount": number("How many machines belong to it."),
            "updatedMachineCount": number("How many have the config."),
            "readyMachineCount": number("How many have the config and are ready."),
            "unavailableMachineCount": number("How many cannot work."),
            "degradedMachineCount": number("How many could not be changed."),
        }),
    );
    let whole = json!({"spec": spec, "status": status});
    Definition {
        group: GROUP,
        version: "v1",
        kind: "MachineConfigPool",
        plural: "machineconfigpools",
        short: &["mcp"],
        schema: object("Machines that are told the same.", &whole),
        columns: &[
            ("Config", "string", ".status.configuration.name"),
            ("Machines", "integer", ".status.machineCount"),
            ("Updated", "integer", ".status.updatedMachineCount"),
            ("Age", "date", ".metadata.creationTimestamp"),
        ],
    }
}

fn configuration(description: &str) -> Value {
    open_object(
        description,
        &json!({
            "name": text("The rendered machine config."),
            "source": list("What it was rendered from.", &open_object("One of them.", &json!({
                "apiVersion": text("The version of its API."),
                "kind": text("Its kind."),
                "name": text("Its name."),
            }))),
        }),
    )
}

fn selector(description: &str) -> Value {
    let labels = json!({"type": "object", "additionalProperties": {"type": "string"}});
    open_object(description, &json!({"matchLabels": labels}))
}
