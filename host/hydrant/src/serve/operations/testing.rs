//! An operation of tests: what is here is all that a new operation needs.

use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Declaration, Effect, Operation, Request, Roles, Tag};
use crate::Host;
use crate::govern::client::Frontend;
use crate::serve::service::{Identity, Problem};
use crate::serve::tenants::Tenant;

/// Repeats a word.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Repeat {
    /// what is repeated
    word: String,
    /// how often
    #[serde(default)]
    #[schemars(range(max = 10))]
    times: u8,
    /// with a blank between two
    #[serde(default)]
    spaced: bool,
}

#[derive(Serialize, JsonSchema)]
struct Repeated {
    text: String,
}

impl Request for Repeat {
    type Response = Repeated;

    const DECLARATION: &'static Declaration =
        &Declaration::new("repeat", Roles::Agents, Effect::READS)
            .get("/v1/repeat/{word}", Tag::Skills, "repeat")
            .tool("repeat", "Repeat", "Repeat a word")
            .capability("test.repeat");

    fn perform(self, _: &Identity) -> Result<Repeated, Problem> {
        let words = vec![self.word; self.times.into()];
        let between = if self.spaced { " " } else { "" };
        Ok(Repeated {
            text: words.join(between),
        })
    }
}

/// A table with this operation alone.
pub(in crate::serve) fn table() -> &'static [Operation] {
    Box::leak(Box::new([Operation::new::<Repeat>()]))
}

/// The user of this machine, whose state is in `home`.
pub(in crate::serve) fn user(home: &Path) -> Identity {
    let host = Host::builder().without_mounts().build().unwrap();
    let tenant = Tenant::of_host(
        Arc::new(host),
        home,
        crate::govern::config::Config::default(),
    );
    Identity::of_local_user(Arc::new(tenant), Frontend::Cli)
}
