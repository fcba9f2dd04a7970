//! Front ends that speak a protocol: the line protocol of `hydrant syscall`, the same on the socket of a jail, and what
//! serves many tenants: HTTP and the Model Context Protocol. Both offer the [`operations`] and both are over one [`service`];
//! neither of these knows them.

pub mod config;
pub mod console;
pub mod document;
pub mod http;
#[cfg(target_os = "linux")]
pub mod jail;
pub mod mcp;
pub mod operations;
pub mod service;
pub mod syscall;
pub mod tenants;
