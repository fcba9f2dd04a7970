//! The tenants of a service: who they are, by a file; and what each of them has of its own.
//!
//! | file | subject |
//! |---|---|
//! | `file` | the tenants file, TOML: names, tokens, limits, mounts |
//! | `token` | bearer tokens: digests, compared in constant time |
//! | `tenant` | a tenant with its hosts, governor, receipts, limits |
//!
//! A tenant has its own state folder (0700) with registry, approvals, secrets, chain, receipts and audit log. Tenants share
//! the engine and the pinned skills, which no call can change, and nothing else. What a tenant may do is the server's policy
//! ∩ its own file: it can only narrow.

mod file;
mod tenant;
mod token;

pub use self::file::{Definition, Profile, Rate, TenantsError, TenantsFile, TokenEntry};
pub(crate) use self::tenant::Reserved;
pub use self::tenant::{LocalUser, Tenant, TenantError};
pub use self::token::{Role, Tokens, new_token, token_digest};
