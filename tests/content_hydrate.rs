//! Black-box tests of `hydrant hydrate` and `hydrant syscall`. One module for each subject.
//!
//! Nothing here uses the library: each test builds a temporary OS root, runs the binary and looks at
//! its answer, its exit status and what it left behind.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

#[path = "content_hydrate/component.rs"]
mod component;
#[path = "content_hydrate/os_root.rs"]
mod os_root;
#[path = "content_hydrate/policy.rs"]
mod policy;
#[path = "content_hydrate/server.rs"]
mod server;

#[path = "content_hydrate/allowlist.rs"]
mod allowlist;
#[path = "content_hydrate/check.rs"]
mod check;
#[path = "content_hydrate/checksums.rs"]
mod checksums;
#[path = "content_hydrate/command_line.rs"]
mod command_line;
#[path = "content_hydrate/dependencies.rs"]
mod dependencies;
#[path = "content_hydrate/depth.rs"]
mod depth;
#[path = "content_hydrate/determinism.rs"]
mod determinism;
#[path = "content_hydrate/forms.rs"]
mod forms;
#[path = "content_hydrate/front_matter.rs"]
mod front_matter;
#[path = "content_hydrate/hostile_components.rs"]
mod hostile_components;
#[path = "content_hydrate/kept_descriptions.rs"]
mod kept_descriptions;
#[path = "content_hydrate/limits.rs"]
mod limits;
#[path = "content_hydrate/mounts.rs"]
mod mounts;
#[path = "content_hydrate/network.rs"]
mod network;
#[path = "content_hydrate/remote_tools.rs"]
mod remote_tools;
#[path = "content_hydrate/rfc_tests.rs"]
mod rfc_tests;
#[path = "content_hydrate/security.rs"]
mod security;
#[path = "content_hydrate/syscall.rs"]
mod syscall;
#[path = "content_hydrate/syscall_failures.rs"]
mod syscall_failures;
#[path = "content_hydrate/tls.rs"]
mod tls;
#[path = "content_hydrate/tool_components.rs"]
mod tool_components;
#[path = "content_hydrate/tool_processes.rs"]
mod tool_processes;
#[path = "content_hydrate/tools.rs"]
mod tools;
#[path = "content_hydrate/typed_paths.rs"]
mod typed_paths;
#[path = "content_hydrate/uris.rs"]
mod uris;
#[path = "content_hydrate/yaml.rs"]
mod yaml;
