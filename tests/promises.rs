//! The promises of the threat model, each tried on the built program as an attacker would. Each test has a control that shows
//! that the attack works where the protection is taken away.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

#[path = "promises/machine.rs"]
mod machine;

#[path = "promises/addresses.rs"]
mod addresses;
#[path = "promises/approval_text.rs"]
mod approval_text;
#[path = "promises/cancelling.rs"]
mod cancelling;
#[path = "promises/git_folder.rs"]
mod git_folder;
#[path = "promises/grants.rs"]
mod grants;
#[path = "promises/links.rs"]
mod links;
#[path = "promises/mcp_workspace.rs"]
mod mcp_workspace;
#[path = "promises/numbers.rs"]
mod numbers;
#[path = "promises/own_files.rs"]
mod own_files;
#[path = "promises/secret_names.rs"]
mod secret_names;
#[path = "promises/service.rs"]
mod service;
#[path = "promises/terminal.rs"]
mod terminal;
