//! Front ends that speak a protocol: the line protocol of `hydrant syscall`, the same on the socket of a jail, and what
//! serves many tenants: HTTP and the Model Context Protocol, both over one [`service`] that knows neither.

pub mod config;
pub mod console;
pub mod document;
pub mod http;
#[cfg(target_os = "linux")]
pub mod jail;
pub mod mcp;
pub mod service;
pub mod syscall;
pub mod tenants;
