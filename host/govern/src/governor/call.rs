//! Capabilities by their ids: what every frontend but the command line asks.

use hydrant_canonical::Json;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Value, json};

use super::{Caller, Governor, LoadRequest};
use crate::config::CORE;
use crate::failure::{Code, Failure};
use crate::registry::approvals;

/// The input of `ccos.skill.execute`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExecuteInput {
    skill: String,
    operation: String,
    /// Numbers are sent as they were written, so this is taken from the text.
    #[serde(default, rename = "params")]
    _params: IgnoredAny,
}

/// The input of `ccos.primitive.map`, and of `hydrant map --list` of a jailed agent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MapInput {
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    list: bool,
}

/// The input of `ccos.approval.request`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestInput {
    capability: String,
    #[serde(default)]
    reason: Option<String>,
}

/// The input of `ccos.skill.onboard`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnboardInput {
    skill: String,
    #[serde(default, rename = "user-input", alias = "user_input")]
    user_input: Option<Value>,
}

/// The input of `ccos.skill.list`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListInput {
    #[serde(default)]
    since: Option<u64>,
}

/// The input of `ccos.skill.show`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShowInput {
    skill: String,
}

impl Governor {
    /// Calls a capability: one of `ccos.skill.*`, `ccos.primitive.map`, `ccos.approval.request`, or a registered one by its
    /// id with its params as input.
    ///
    /// # Errors
    ///
    /// `operator-only` for core capabilities; `invalid-request` for an input that is none; what the capability says.
    pub fn call(
        &self,
        caller: &Caller,
        capability: &str,
        input: impl Into<Json>,
    ) -> Result<Value, Failure> {
        let input = input.into();
        match capability {
            "ccos.skill.load" => {
                let request: LoadRequest = read(input)?;
                self.load(caller, &request)
            }
            "ccos.skill.execute" => {
                let params = input.get("params").filter(|params| **params != Json::Null);
                let params = params.cloned().unwrap_or_else(|| Json::Object(Vec::new()));
                let input: ExecuteInput = read(input)?;
                self.execute(caller, &input.skill, &input.operation, params)
            }
            "ccos.primitive.map" => match read(input)? {
                MapInput {
                    command: Some(command),
                    list: false,
                } => self.map(&command),
                MapInput {
                    command: None,
                    list: true,
                } => self.mapping_table(),
                _ => Err(invalid("either `command` or `list`")),
            },
            "ccos.approval.request" => {
                let input: RequestInput = read(input)?;
                let reason = input.reason.as_deref();
                let who = caller.who();
                approvals::request(&self.state, &input.capability, reason, &who, self)
                    .map(|requested| json!(requested))
            }
            "ccos.skill.onboard" => {
                let input: OnboardInput = read(input)?;
                self.onboard(caller, &input.skill, input.user_input.as_ref())
            }
            "ccos.skill.list" => {
                let input: ListInput = read(or_empty(input))?;
                self.list(caller, input.since)
            }
            "ccos.skill.show" => {
                let input: ShowInput = read(input)?;
                self.show(caller, &input.skill)
            }
            // An effect needs an operation of a loaded skill that somebody approved.
            core if CORE.contains(&core) => Err(Failure::new(
                Code::OperatorOnly,
                format!("{core} is called by operations of loaded skills only"),
            )
            .with_hint("load a skill whose operation maps to it, and have it approved")),
            other => self.execute_capability(caller, other, or_empty(input)),
        }
    }
}

fn or_empty(input: Json) -> Json {
    if input == Json::Null {
        Json::Object(Vec::new())
    } else {
        input
    }
}

fn read<T: DeserializeOwned>(input: Json) -> Result<T, Failure> {
    serde_json::from_value(input.nearest()).map_err(|error| invalid(&error.to_string()))
}

fn invalid(message: &str) -> Failure {
    Failure::new(Code::InvalidRequest, format!("the input: {message}"))
}
