//! The arguments of a tool call as they were written.
//!
//! The SDK reads a message into values whose numbers have 64 bits, and of two members of one name it takes the last. So the
//! arguments that it would change are read once more, from the text of the message, before the SDK sees it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::Extensions;
use axum::http::request::Parts;
use hydrant_canonical::Json;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use serde_json::Value;

use super::message;
use crate::serve::service::Problem;

/// Calls of one connection that were read and not begun yet. One that is cancelled before it begins stays among them.
const CALLS: usize = 1024;

/// The arguments of a call, or why they are none.
type Exact = Result<Json, String>;

/// Those of a request over HTTP.
#[derive(Clone)]
struct OfRequest(Exact);

/// Keeps the arguments that the body of a request holds.
pub fn keep_arguments(body: &[u8], extensions: &mut Extensions) {
    if let Some((_, exact)) = of_message(body) {
        extensions.insert(OfRequest(exact));
    }
}

/// Those of a connection, by the ids of their messages.
#[derive(Clone, Default)]
pub(super) struct Arguments(Arc<Mutex<BTreeMap<String, Exact>>>);

impl Arguments {
    /// The arguments of a call, which the SDK read as `read`.
    pub(super) fn take(
        &self,
        context: &RequestContext<RoleServer>,
        read: Value,
    ) -> Result<Json, Problem> {
        let of_request = context.extensions.get::<Parts>();
        let of_request = of_request.and_then(|parts| parts.extensions.get::<OfRequest>().cloned());
        let exact = of_request.map(|OfRequest(exact)| exact).or_else(|| {
            let id = serde_json::to_string(&context.id).unwrap_or_default();
            self.calls().remove(&id)
        });
        exact
            .unwrap_or_else(|| Ok(read.into()))
            .map_err(|error| Problem::invalid(format!("the arguments: {error}")))
    }

    /// Keeps the arguments that the line of a message holds.
    pub(super) fn keep(&self, line: &[u8]) {
        if let Some((id, exact)) = of_message(line) {
            let mut calls = self.calls();
            if calls.len() >= CALLS {
                calls.pop_first();
            }
            calls.insert(id, exact);
        }
    }

    fn calls(&self) -> MutexGuard<'_, BTreeMap<String, Exact>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The id and the arguments of a message that is a call of a tool, where the SDK would read something else.
fn of_message(text: &[u8]) -> Option<(String, Exact)> {
    let text = text.strip_prefix(message::MARK).unwrap_or(text);
    let is_call = |method: Option<&str>| method == Some("tools/call");
    match Json::parse(text) {
        Ok(message) => {
            let arguments = message.get("params")?.get("arguments")?;
            let is_kept = is_call(message.get("method")?.as_str()) && !arguments.is_plain();
            is_kept.then(|| Some((message.get("id")?.to_string(), Ok(arguments.clone()))))?
        }
        Err(error) => {
            // What is no JSON at all the SDK refuses.
            let message: Value = serde_json::from_slice(text).ok()?;
            let is_kept = is_call(message.get("method")?.as_str());
            is_kept.then(|| Some((message.get("id")?.to_string(), Err(error.to_string()))))?
        }
    }
}
