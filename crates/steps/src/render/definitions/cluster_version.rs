//! `ClusterVersion`: which release the cluster shall be, and how far it is.

use serde_json::{Value, json};

use super::{Definition, conditions, list, number, object, text};

/// Returns the definition.
pub(super) fn definition() -> Definition {
    let schema = object(
        "The release that the cluster is held to.",
        &json!({
            "spec": object("What shall be.", &json!({
                "release": release("The release to hold the cluster to."),
                "overrides": overrides(),
            })),
            "status": status(),
        }),
    );
    Definition {
        group: "bootlace.dev",
        version: "v1alpha1",
        kind: "ClusterVersion",
        plural: "clusterversions",
        short: &[],
        schema,
        columns: &[
            ("Version", "string", ".status.desired.version"),
            (
                "Available",
                "string",
                ".status.conditions[?(@.type==\"Available\")].status",
            ),
            (
                "Progressing",
                "string",
                ".status.conditions[?(@.type==\"Progressing\")].status",
            ),
            ("Applied", "integer", ".status.manifests.applied"),
            ("Of", "integer", ".status.manifests.total"),
            (
                "Status",
                "string",
                ".status.conditions[?(@.type==\"Progressing\")].message",
            ),
            ("Age", "date", ".metadata.creationTimestamp"),
        ],
    }
}

fn release(description: &str) -> Value {
    object(
        description,
        &json!({
            "version": text("The version of the release."),
            "image": text("The image that holds the release, if one does."),
            "digest": text("What the release's files hash to, if they are pinned."),
        }),
    )
}

fn overrides() -> Value {
    let one = json!({
        "type": "object",
        "required": ["kind", "name", "unmanaged"],
        "properties": {
            "group": text("The API's group; empty for the core."),
            "kind": text("The kind."),
            "namespace": text("The namespace; empty if it is in none."),
            "name": text("The name."),
            "unmanaged": {
                "type": "boolean",
                "description": "Whether the version operator leaves the object alone.",
            },
        },
    });
    list("Objects of the release that are treated differently.", &one)
}

fn status() -> Value {
    let entry = json!({
        "type": "object",
        "properties": {
            "version": text("The version."),
            "image": text("The image."),
            "digest": text("The digest."),
            "state": {"type": "string", "enum": ["Partial", "Completed"]},
            "startedTime": {"type": "string", "format": "date-time"},
            "completionTime": {"type": "string", "format": "date-time", "nullable": true},
        },
    });
    let maintained = json!({
        "type": "object",
        "required": ["apiVersion", "kind", "name", "mark"],
        "properties": {
            "apiVersion": text("Group and version."),
            "kind": text("The kind."),
            "namespace": text("The namespace; none if it is in none."),
            "name": text("The name."),
            "mark": text("Changes as soon as somebody changes the object."),
        },
    });
    object(
        "What is.",
        &json!({
            "observedGeneration": number("Which generation of the spec this is about."),
            "desired": release("The release that is being worked on."),
            "conditions": conditions(),
            "history": list("The releases that the cluster was held to, newest first.", &entry),
            "manifests": object("How far the release's manifests are applied.", &json!({
                "total": number("How many there are."),
                "applied": number("How many are applied."),
                "level": number("The run level that is worked on, or the last one."),
            })),
            "objects": list("The release's objects, as they were when it was last complete.", &maintained),
        }),
    )
}
