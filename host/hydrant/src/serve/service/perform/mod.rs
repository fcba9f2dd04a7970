//! The operations, each on a thread that may wait.

mod govern;
mod pinned;
mod plan;
mod recorded;
mod resources;

use super::{Answer, Identity, Operation, Problem};
use crate::govern::client::Client;
use crate::govern::governor::Caller;

pub(super) fn perform(who: &Identity, operation: Operation) -> Result<Answer, Problem> {
    match operation {
        Operation::Hydrate(options) => pinned::hydrate(who, &options),
        Operation::Run { skill, request } => pinned::run(who, &skill, &request),
        Operation::Skills => pinned::skills(who),
        Operation::Describe { id } => pinned::describe(who, &id),
        Operation::Plan(options) => plan::plan(who, options),
        Operation::Workflows => plan::workflows(who),
        Operation::Workflow { id, task } => plan::workflow(who, id, task),
        Operation::Receipts(page) => recorded::receipts(who, &page),
        Operation::Receipt { id } => recorded::receipt(who, &id),
        Operation::Chain(options) => recorded::chain(who, options),
        Operation::Resources(page) => resources::list(who, &page),
        Operation::Resource { uri } => resources::read(who, &uri),
        Operation::Graph(options) => resources::graph(who, &options),
        governed => govern::perform(who, governed),
    }
}

/// The answer to what needs no thread of its own, for it is known; none for everything else.
pub(super) fn known(who: &Identity, operation: &Operation) -> Option<Result<Answer, Problem>> {
    match operation {
        Operation::Hydrate(options) => pinned::hydrate_again(who, options).transpose(),
        _ => None,
    }
}

/// Who calls, for the governor: in the session that he names, else in that of his connection, else in one of its own. None
/// of them is a way out of the token's budget.
pub(super) fn caller(who: &Identity) -> Result<Caller, Problem> {
    let client = Client {
        frontend: who.frontend,
        jailed: false,
    };
    let caller = match (&who.session, &who.connection) {
        (Some(session), _) => Caller::joining(client, session)?,
        (None, Some(connection)) => connection.clone(),
        (None, None) => Caller::new(client)?,
    };
    Ok(match &who.token {
        Some(token) => caller
            .charged_to(&format!("http-{token}"))?
            .named(format!("token sha256:{token}…")),
        None => caller.named(crate::govern::user_name()),
    })
}
