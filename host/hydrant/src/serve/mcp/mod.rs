//! The Model Context Protocol, over standard input and output for the user of this machine, and over streamable HTTP for
//! tenants.
//!
//! | in hydrant | in MCP |
//! |---|---|
//! | pinned skills, hydration, plans, foreign skills | tools |
//! | agents and skills below `os://` | resources |
//! | workflows of the catalogue | prompts |
//!
//! Nothing is decided here: each request is one operation of the [`Service`], under the caller's identity, and what the
//! service refuses is answered as a tool error with its code. A request that is cancelled stops the component.
//!
//! | file | subject |
//! |---|---|
//! | `server` | the handler of the protocol |
//! | `catalogue` | the tools of a tenant; `names`, what they are called; `built_in`, those that are operations |
//! | `schema` | schemas that clients take, and arguments that fit them |
//! | `arguments` | the arguments of a call as they were written |
//! | `results` | answers and problems as the protocol has them |
//! | `resources`, `prompts`, `pages` | lists, and what is read from them |
//! | `http`, `sessions` | streamable HTTP; sessions bound to a token |
//! | `stdio`, `lines` | the local user; messages, one a line |
//! | `roots` | the directories that his client declares |
//! | `message` | what is answered to bytes that are no message |
//!
//! [`Service`]: crate::serve::service::Service

mod arguments;
mod built_in;
mod catalogue;
mod http;
mod lines;
mod message;
mod names;
mod pages;
mod prompts;
mod resources;
mod results;
mod roots;
mod schema;
mod server;
mod sessions;
mod stdio;

pub use self::arguments::keep_arguments;
pub use self::catalogue::{Selection, UnknownTool};
pub use self::http::{HttpOptions, StreamableHttp};
pub use self::server::{Called, Calls};
pub use self::stdio::{StdioError, serve_stdio};
