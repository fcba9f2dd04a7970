//! The policy of an exported skill, profile `ide-safe`: it may read what it declares and write to
//! one scratch directory; no network, no programs, no clock, no randomness.

use hydrant_base::pretty_json;
use serde_json::json;

use super::super::{Capability, Manifest, WasmForm};

const SCRATCH: &str = "/tmp/provenact-scratch";

/// The mount of components that read the workspace.
const WORKSPACE: &str = "/workspace";

/// Whether the wrapper has to say which directory `/workspace` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkspaceMount {
    Absent,
    Present,
}

/// Components see directories through mounts only; core modules see real paths.
pub(super) fn mounts_workspace(manifest: &Manifest, form: WasmForm) -> WorkspaceMount {
    let component = form == WasmForm::Component;
    if component && manifest.capabilities.iter().any(reads_workspace) {
        WorkspaceMount::Present
    } else {
        WorkspaceMount::Absent
    }
}

fn reads_workspace(capability: &Capability) -> bool {
    let below = capability.value.strip_prefix(WORKSPACE);
    capability.kind == "fs.read"
        && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The text of `ide-safe.policy.json`.
pub(super) fn ide_safe(manifest: &Manifest, mount: WorkspaceMount) -> Vec<u8> {
    let mut read: Vec<_> = manifest
        .capabilities
        .iter()
        .filter(|capability| capability.kind == "fs.read" && capability.value.starts_with('/'))
        .map(|capability| capability.value.as_str())
        .collect();
    read.sort_unstable();
    read.dedup();
    let mut policy = json!({
        "version": 1,
        "trusted_signers": manifest.signers,
        "capability_ceiling": {
            "fs": {"read": read, "write": [SCRATCH]},
            "net": [],
            "kv": {"read": [], "write": []},
            "queue": {"publish": [], "consume": []},
            "env": [],
            "exec": false,
            "time": false,
            "random": false,
        },
    });
    if let (WorkspaceMount::Present, Some(members)) = (mount, policy.as_object_mut()) {
        let mounts = json!([{"at": WORKSPACE, "dir": "@cli", "mode": "ro"}]);
        members.insert("host".to_owned(), json!({"mounts": mounts}));
    }
    pretty_json(&policy)
}
