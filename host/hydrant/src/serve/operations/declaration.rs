//! What is declared of an operation: names, roles, effect, route and tool, as data.

use serde::Serialize;

use crate::serve::tenants::Role;

/// What is declared of an operation, besides its request and its response.
#[derive(Debug, Clone, Copy)]
pub struct Declaration {
    /// For metrics, traces and messages.
    pub name: &'static str,
    /// Who may ask for it.
    pub roles: Roles,
    /// What it does, as a hint for clients that ask their user.
    pub effect: Effect,
    /// How it is asked for over HTTP.
    pub route: Option<Route>,
    /// Media types of the answer over HTTP, besides JSON.
    pub also_answers: &'static [&'static str],
    /// Whether what it asks for may not exist (404), as what a segment of the path names may not.
    pub may_be_unknown: bool,
    /// Whether calls of one `Hydrant-Session` share a budget.
    pub has_session: bool,
    /// Whether `Hydrant-Receipt` of the answer names a receipt.
    pub has_receipt: bool,
    /// How it is asked for over the Model Context Protocol.
    pub tool: Option<Tool>,
    /// The name by which agents ask for it with `Capability.Call`, on `hydrant syscall` and on the socket of a jail. None:
    /// they cannot.
    pub capability: Option<&'static str>,
    /// Members with another default in a tool than over HTTP.
    pub tool_defaults: &'static [(&'static str, &'static str)],
    /// Members that may be any JSON, and are text in the schema of a tool, where each member has one type: text that is a
    /// JSON object stands for that object.
    pub tool_objects: &'static [&'static str],
}

impl Declaration {
    pub(super) const fn new(name: &'static str, roles: Roles, effect: Effect) -> Self {
        Self {
            name,
            roles,
            effect,
            route: None,
            also_answers: &[],
            may_be_unknown: false,
            has_session: false,
            has_receipt: false,
            tool: None,
            capability: None,
            tool_defaults: &[],
            tool_objects: &[],
        }
    }

    /// A route whose members are in the path and the query.
    pub(super) const fn get(self, path: &'static str, tag: Tag, id: &'static str) -> Self {
        self.at(Method::Get, path, tag, id, BodyKind::None)
    }

    /// The same, for something that is removed.
    pub(super) const fn delete(self, path: &'static str, tag: Tag, id: &'static str) -> Self {
        self.at(Method::Delete, path, tag, id, BodyKind::None)
    }

    /// A route whose members are in the path and the body.
    pub(super) const fn post(self, path: &'static str, tag: Tag, id: &'static str) -> Self {
        self.at(Method::Post, path, tag, id, BodyKind::Members)
    }

    pub(super) const fn at(
        self,
        method: Method,
        path: &'static str,
        tag: Tag,
        id: &'static str,
        body: BodyKind,
    ) -> Self {
        let route = Route {
            method,
            path,
            tag,
            id,
            body,
        };
        Self {
            route: Some(route),
            ..self
        }
    }

    pub(super) const fn capability(self, name: &'static str) -> Self {
        Self {
            capability: Some(name),
            ..self
        }
    }

    pub(super) const fn tool(
        self,
        name: &'static str,
        title: &'static str,
        description: &'static str,
    ) -> Self {
        let tool = Tool {
            name,
            title,
            description,
        };
        Self {
            tool: Some(tool),
            ..self
        }
    }
}

/// Who may ask for an operation. An agent never decides what agents may do, and whoever decides that runs nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Roles {
    /// Every token.
    All,
    /// Callers and operators.
    Agents,
    /// Approvers and operators.
    Deciders,
    /// Operators alone.
    Operators,
}

impl Roles {
    /// Returns whether a role is among them.
    #[must_use]
    pub fn include(self, role: Role) -> bool {
        match self {
            Self::All => true,
            Self::Agents => role != Role::Approver,
            Self::Deciders => role != Role::Caller,
            Self::Operators => role == Role::Operator,
        }
    }
}

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effect {
    /// Changes nothing, here or elsewhere.
    pub is_read_only: bool,
    /// May reach other machines.
    pub is_open_world: bool,
}

impl Effect {
    /// Reads what is here.
    pub const READS: Self = Self::new(true, false);
    /// Reads, also from other machines.
    pub const FETCHES: Self = Self::new(true, true);
    /// Changes what is here.
    pub const CHANGES: Self = Self::new(false, false);
    /// Changes something, here or on other machines.
    pub const ACTS: Self = Self::new(false, true);

    /// Returns its name, as `hydrant call` lists it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match (self.is_read_only, self.is_open_world) {
            (true, false) => "reads",
            (true, true) => "fetches",
            (false, false) => "changes",
            (false, true) => "acts",
        }
    }

    const fn new(is_read_only: bool, is_open_world: bool) -> Self {
        Self {
            is_read_only,
            is_open_world,
        }
    }
}

/// A route of the HTTP interface.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path. `{name}` is a segment, and a member of the request.
    pub path: &'static str,
    /// `operationId` of the OpenAPI document.
    pub id: &'static str,
    /// The chapter of the OpenAPI document.
    pub tag: Tag,
    /// What the body is. Members that are neither in the path nor in the body are in the query.
    pub body: BodyKind,
}

impl Route {
    /// Returns the names of the path's segments.
    pub fn segments(&self) -> impl Iterator<Item = &'static str> {
        let segments = self.path.split('/');
        segments.filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
    }
}

/// A method of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Does something.
    Post,
    /// Removes something.
    Delete,
}

impl Method {
    /// Its name, as HTTP writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

/// A chapter of the OpenAPI document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tag {
    /// Pinned skills: hydration, planning, runs and their receipts.
    Skills,
    /// Foreign skills: loaded, governed, executed.
    Capabilities,
    /// What a person decides.
    Approvals,
}

/// What the body of a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyKind {
    /// There is none.
    None,
    /// An object: the members that are not in the path.
    Members,
    /// An object: one member.
    Member(&'static str),
    /// Something that only [`Request::read`](super::Request::read) looks at.
    Bytes,
}

/// A tool of the Model Context Protocol.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it is for, for a model.
    pub description: &'static str,
}
