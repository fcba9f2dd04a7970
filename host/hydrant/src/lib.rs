//! hydrant: a host for agent skills.
//!
//! An agent gets three verbs: **hydrate** (turn a compact Markdown file into rich context), **run** (execute a skill in
//! a sandbox, under a policy, with a receipt) and **verify** (prove that every byte that runs was signed, pinned and
//! unchanged). This library is what the `hydrant` program is made of, and what runtimes embed.
//!
//! Three rules hold everywhere: documents that the user did not write are parsed only inside a WebAssembly component, while
//! effects happen only in the host, behind a hostcall; grants only narrow; nothing unpinned runs. The host itself reads
//! manifests, signatures, locks, archives and policies, and nothing else, each within limits and by a strict grammar.
//!
//! ```no_run
//! use hydrant::{Host, HydrateRequest};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let host = Host::builder().os_root("examples/os").build()?;
//! let payload = host.hydrate(&HydrateRequest::new("os://agents/release-captain.md"))?;
//! println!("{}", String::from_utf8_lossy(&payload));
//! # Ok(())
//! # }
//! ```

pub mod check;
mod embedded;
mod entry;
pub mod govern;
pub mod graph;
pub mod hook;
mod host;
pub mod jail;
pub mod schema;
pub mod serve;
pub mod setup;

pub use hydrant_audit as audit;
pub use hydrant_base as base;
pub use hydrant_base::home;
pub use hydrant_capability as capability;
pub use hydrant_engine as engine;
pub use hydrant_pins as pins;
pub use hydrant_policy as policy;
pub use hydrant_trust as trust;

pub use embedded::{carried_components, embedded_pins, host_world_id, keys_digest};
pub use host::{
    Delivery, Documents, Failure, Format, Found, Host, HostBuilder, HostError, HydrateRequest,
    Listing, MAX_DOCUMENTS, PinnedSkillInfo, Run, SkillCall,
};
