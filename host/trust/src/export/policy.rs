//! The policy of an exported skill, profile `ide-safe`: it may read what it declares and write to
//! one scratch directory; no network, no programs, no clock, no randomness.

use hydrant_base::pretty_json;
use serde::Serialize;

use super::super::{Capability, Manifest, WasmForm};

const SCRATCH: &str = "/tmp/provenact-scratch";

/// The mount of components that read the workspace.
const WORKSPACE: &str = "/workspace";

#[derive(Serialize)]
struct Policy<'a> {
    version: u8,
    trusted_signers: Vec<&'a str>,
    capability_ceiling: Ceiling<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<Host>,
}

#[derive(Serialize)]
struct Ceiling<'a> {
    fs: Files<'a>,
    net: [&'a str; 0],
    kv: Access<'a>,
    queue: Queue<'a>,
    env: [&'a str; 0],
    exec: bool,
    time: bool,
    random: bool,
}

#[derive(Serialize)]
struct Files<'a> {
    read: Vec<&'a str>,
    write: [&'a str; 1],
}

#[derive(Serialize, Default)]
struct Access<'a> {
    read: [&'a str; 0],
    write: [&'a str; 0],
}

#[derive(Serialize, Default)]
struct Queue<'a> {
    publish: [&'a str; 0],
    consume: [&'a str; 0],
}

#[derive(Serialize)]
struct Host {
    mounts: [Mount; 1],
}

#[derive(Serialize)]
struct Mount {
    at: &'static str,
    dir: &'static str,
    mode: &'static str,
}

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
    let host = (mount == WorkspaceMount::Present).then_some(Host {
        mounts: [Mount {
            at: WORKSPACE,
            dir: "@cli",
            mode: "ro",
        }],
    });
    pretty_json(&Policy {
        version: 1,
        trusted_signers: manifest.signers.iter().map(String::as_str).collect(),
        capability_ceiling: Ceiling {
            fs: Files {
                read,
                write: [SCRATCH],
            },
            net: [],
            kv: Access::default(),
            queue: Queue::default(),
            env: [],
            exec: false,
            time: false,
            random: false,
        },
        host,
    })
}
