//! The operations of the service. Each is declared once, in one file, and the front ends are made from the table.
//!
//! An operation is the type of its request: the fields are the members that a client sends, their comments are the
//! descriptions that it reads, and [`Request`] says the rest (name, roles, route, tool, capability, handler).
//! Routes, the OpenAPI document, tools of the Model Context Protocol, capabilities of syscalls, `hydrant call`, roles and the
//! names in metrics come from [`table`]. To add an operation, write its type and name it in the list at the end of its file.
//!
//! | file | operations |
//! |---|---|
//! | `hydrate` | hydrations and graphs |
//! | `skills` | pinned skills: list, describe, run |
//! | `plan` | plans and the workflows that they follow |
//! | `records` | receipts of runs, the causal chain |
//! | `resources` | agents and skills below `os://` |
//! | `foreign` | foreign skills: load, show, execute, onboard, unload; what a command maps to |
//! | `approvals` | what agents ask for and people decide |
//!
//! Every front end asks by [`Call`]: the service queues it, and what is single (a command, a connection of a jail) has it
//! answered at once by [`Call::answer`]. Role and rate are checked in both.
//!
//! This folder is below `serve` because an operation is done for an [`Identity`], which is a tenant's. It knows neither HTTP
//! nor the Model Context Protocol: a route and a tool are data here.

mod approvals;
mod by_name;
mod declaration;
mod foreign;
mod hydrate;
mod plan;
mod records;
mod resources;
mod skills;
#[cfg(test)]
pub(super) mod testing;

use std::borrow::Cow;
use std::sync::LazyLock;

use bytes::Bytes;
use hydrant_canonical::Json;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

pub use self::approvals::{Deny, ListApprovals, RequestApproval, Revoke, ShowApproval};
pub use self::by_name::{find, listed};
pub use self::declaration::{BodyKind, Declaration, Effect, Method, Roles, Route, Tag, Tool};
pub use self::foreign::{CallCapability, ListLoaded, Load, Map, MappingTable, Unload};
pub use self::hydrate::Hydrate;
pub use self::plan::{Workflow, WorkflowList, Workflows};
pub use self::resources::{Resource, ResourceList, Resources};
pub use self::skills::Run;
pub use crate::govern::governor::{Execute, Onboard, Show};
use crate::schema;
use crate::serve::service::{Answer, Identity, Problem};

/// The request of an operation, and all that there is to know about the operation.
pub trait Request: DeserializeOwned + JsonSchema + Send + Sized + 'static {
    /// What it answers.
    type Response: Response;

    /// How clients ask for it, and who may.
    const DECLARATION: &'static Declaration;

    /// Reads it from what a client sent.
    ///
    /// # Errors
    ///
    /// The members are not those of the request.
    fn read(input: Input) -> serde_json::Result<Self> {
        serde_json::from_value(input.members.nearest())
    }

    /// Returns the answer where it is there without work that needs a thread of its own.
    fn known(&self, _who: &Identity) -> Option<Result<Answer, Problem>> {
        None
    }

    /// Does the operation, on a thread that may wait.
    ///
    /// # Errors
    ///
    /// [`Problem`]
    fn perform(self, who: &Identity) -> Result<Self::Response, Problem>;
}

/// What a client sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// An object with the members of the request, numbers as they were written.
    pub members: Json,
    /// The body as it came.
    pub body: Bytes,
}

impl From<Json> for Input {
    fn from(members: Json) -> Self {
        Self {
            members,
            body: Bytes::new(),
        }
    }
}

/// What an operation answers: a type whose JSON is the answer, or an [`Answer`] that is written already.
pub trait Response: JsonSchema {
    /// Returns the answer as it is sent.
    ///
    /// # Errors
    ///
    /// It cannot be written as JSON.
    fn answer(self) -> serde_json::Result<Answer>;
}

impl<T: Serialize + JsonSchema> Response for T {
    fn answer(self) -> serde_json::Result<Answer> {
        serde_json::to_vec(&self).map(Answer::json_bytes)
    }
}

impl Response for Answer {
    fn answer(self) -> serde_json::Result<Answer> {
        Ok(self)
    }
}

impl JsonSchema for Answer {
    fn schema_name() -> Cow<'static, str> {
        "AnyJson".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "JSON of the skill, the plan or the governor." })
    }
}

/// An entry of the table: an operation as generic code sees it.
pub struct Operation {
    /// What was declared of it.
    pub declaration: &'static Declaration,
    /// One sentence: the comment of its request's type.
    pub summary: String,
    /// The name of its request's type.
    pub request_name: Cow<'static, str>,
    /// The schema of its request: an object, each member with one type, without references.
    pub request: Value,
    /// The name of its response's type.
    pub response_name: Cow<'static, str>,
    /// The schema of its response.
    pub response: Value,
    read: fn(Input) -> serde_json::Result<Call>,
}

impl Operation {
    /// The entry of an operation.
    #[must_use]
    pub fn new<R: Request>() -> Self {
        let mut request = schema::for_request::<R>();
        let members = request.as_object_mut();
        let summary = members.and_then(|members| members.remove("description"));
        Self {
            declaration: R::DECLARATION,
            summary: summary
                .as_ref()
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            request_name: R::schema_name(),
            request,
            response_name: R::Response::schema_name(),
            response: schema::for_response::<R::Response>(),
            read: |input| R::read(input).map(Call::new),
        }
    }

    /// Reads what a client sent.
    ///
    /// # Errors
    ///
    /// It is no request of this operation.
    pub fn read(&self, input: Input) -> serde_json::Result<Call> {
        (self.read)(input)
    }

    /// The members of the request, with their schemas.
    fn members(&self) -> impl Iterator<Item = (&String, &Value)> {
        let members = self.request.get("properties").and_then(Value::as_object);
        members.into_iter().flatten()
    }

    /// The schema of a member.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Value> {
        self.request.get("properties")?.get(name)
    }

    /// The members that stand in the query of a route.
    pub fn in_query(&self, route: &Route) -> impl Iterator<Item = (&String, &Value)> {
        let body = route.body;
        self.members().filter(move |(name, _)| {
            let in_body = match body {
                BodyKind::Members => true,
                BodyKind::Member(member) => member == *name,
                BodyKind::None | BodyKind::Bytes => false,
            };
            !in_body && !route.segments().any(|segment| segment == *name)
        })
    }
}

/// A request of some operation.
pub struct Call {
    declaration: &'static Declaration,
    work: Box<dyn Work>,
}

impl Call {
    /// A call with this request.
    pub fn new<R: Request>(request: R) -> Self {
        Self {
            declaration: R::DECLARATION,
            work: Box::new(request),
        }
    }

    /// What is declared of the operation.
    #[must_use]
    pub fn declaration(&self) -> &'static Declaration {
        self.declaration
    }

    /// Does the operation on this thread, for a front end whose calls wait for each other anyway.
    ///
    /// # Errors
    ///
    /// [`Problem`]: the role may not ask for it, the tenant asks too often, or the operation says so.
    pub fn answer(self, who: &Identity) -> Result<Answer, Problem> {
        self.admit(who)?;
        self.known(who).unwrap_or_else(|| self.perform(who))
    }

    /// Checks that somebody may ask for the operation now.
    pub(super) fn admit(&self, who: &Identity) -> Result<(), Problem> {
        let Declaration { name, roles, .. } = self.declaration;
        if !roles.include(who.role) {
            let role = who.role.as_str();
            return Err(Problem::forbidden(format!(
                "a token with the role {role} may not ask for {name}"
            )));
        }
        who.tenant
            .rate
            .take()
            .map_err(|after| Problem::too_many("the tenant calls more often than it may", after))
    }

    pub(super) fn known(&self, who: &Identity) -> Option<Result<Answer, Problem>> {
        self.work.known(who)
    }

    pub(super) fn perform(self, who: &Identity) -> Result<Answer, Problem> {
        self.work.perform(who)
    }
}

/// A request whose type is not known any more.
trait Work: Send {
    fn known(&self, who: &Identity) -> Option<Result<Answer, Problem>>;
    fn perform(self: Box<Self>, who: &Identity) -> Result<Answer, Problem>;
}

impl<R: Request> Work for R {
    fn known(&self, who: &Identity) -> Option<Result<Answer, Problem>> {
        Request::known(self, who)
    }

    fn perform(self: Box<Self>, who: &Identity) -> Result<Answer, Problem> {
        let response = Request::perform(*self, who)?;
        response.answer().map_err(|error| Problem::internal(&error))
    }
}

/// Every operation.
#[must_use]
pub fn table() -> &'static [Operation] {
    static TABLE: LazyLock<Vec<Operation>> = LazyLock::new(|| {
        let mut all = hydrate::operations();
        all.extend(skills::operations());
        all.extend(plan::operations());
        all.extend(records::operations());
        all.extend(resources::operations());
        all.extend(foreign::operations());
        all.extend(approvals::operations());
        all
    });
    &TABLE
}

/// Which part of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Page {
    /// Where the part before ended
    pub cursor: Option<String>,
    /// Entries of this part; 100 unless said
    #[serde(deserialize_with = "page_limit")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u16>,
}

impl Page {
    /// Entries of this part.
    #[must_use]
    pub fn most(&self) -> usize {
        self.limit.unwrap_or(100).into()
    }
}

fn page_limit<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u16>, D::Error> {
    let limit = u16::deserialize(deserializer)?;
    if (1..=1_000).contains(&limit) {
        Ok(Some(limit))
    } else {
        Err(serde::de::Error::custom("`limit` is 1 to 1,000"))
    }
}

/// The problem of a cursor that no part of the list ended with.
fn unknown_cursor() -> Problem {
    Problem::invalid("cursor: it is none of this list")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::serve::tenants::Role;

    fn roles(name: &str) -> [bool; 3] {
        let named = |operation: &&Operation| operation.declaration.name == name;
        let operation = table().iter().find(named).unwrap();
        [Role::Caller, Role::Approver, Role::Operator]
            .map(|role| operation.declaration.roles.include(role))
    }

    #[test]
    fn an_agent_decides_nothing_and_who_decides_runs_nothing() {
        for name in [
            "hydrate",
            "run",
            "plan",
            "skill-load",
            "skill-execute",
            "skill-onboard",
        ] {
            assert_eq!(roles(name), [true, false, true], "{name}");
        }
        for name in [
            "approvals",
            "approval",
            "approve",
            "deny",
            "revoke",
            "chain",
        ] {
            assert_eq!(roles(name), [false, true, true], "{name}");
        }
        assert_eq!(roles("skill-unload"), [false, false, true]);
        assert_eq!(roles("receipt"), [true; 3]);
    }

    #[test]
    fn every_operation_has_a_name_of_its_own_and_refuses_unknown_members() {
        let mut names = BTreeSet::new();
        for operation in table() {
            let name = operation.declaration.name;
            assert!(names.insert(name), "{name}");
            assert_eq!(operation.request["additionalProperties"], false, "{name}");
            let route = operation.declaration.route.iter();
            for segment in route.flat_map(Route::segments) {
                assert!(operation.member(segment).is_some(), "{name} {segment}");
            }
        }
        assert_eq!(names.len(), 27);
    }
}
