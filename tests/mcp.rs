//! Black-box tests of the Model Context Protocol, over standard input and output (`hydrant mcp`) and over streamable HTTP
//! (`hydrant serve`): clients driven by hand, message by message, so that the wire itself is looked at. Clients that others
//! wrote are run by `scripts/clients.sh`.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::as_conversions,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

#[allow(dead_code, reason = "tests/serve.rs uses the others")]
#[path = "serve/client.rs"]
mod client;
#[allow(dead_code, reason = "tests/serve.rs uses the others")]
#[path = "serve/house.rs"]
mod house;
#[path = "mcp/http.rs"]
mod http;
#[path = "mcp/stdio.rs"]
mod stdio;

#[path = "mcp/cancellation.rs"]
mod cancellation;
#[path = "mcp/http_calls.rs"]
mod http_calls;
#[path = "mcp/http_refusals.rs"]
mod http_refusals;
#[path = "mcp/http_sessions.rs"]
mod http_sessions;
#[path = "mcp/http_tenants.rs"]
mod http_tenants;
#[path = "mcp/prompts.rs"]
mod prompts;
#[path = "mcp/resources.rs"]
mod resources;
#[path = "mcp/schemas.rs"]
mod schemas;
#[path = "mcp/selection.rs"]
mod selection;
#[path = "mcp/tools.rs"]
mod tools;
#[path = "mcp/wire.rs"]
mod wire;
