//! Capabilities by their ids: what every frontend but the command line asks.

use hydrant_canonical::Json;
use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::{Caller, Governor, LoadRequest};
use crate::config::CORE;
use crate::failure::{Code, Failure};
use crate::registry::approvals;

/// Executes an approved operation.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Execute {
    /// id of the loaded skill
    pub skill: String,
    /// id or alias of the operation
    pub operation: String,
    /// its parameters
    #[serde(default = "no_params", deserialize_with = "read_apart")]
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub params: Json,
}

impl Execute {
    /// Reads it from an object.
    ///
    /// # Errors
    ///
    /// It has other members, or not all of these.
    pub fn read(input: Json) -> Result<Self, serde_json::Error> {
        let (mut input, mut params) = (input, no_params());
        if let Json::Object(members) = &mut input
            && let Some(at) = members.iter().position(|(name, _)| name == "params")
        {
            let (_, sent) = members.remove(at);
            if sent != Json::Null {
                params = sent;
            }
        }
        let request: Self = serde_json::from_value(input.nearest())?;
        Ok(Self { params, ..request })
    }
}

fn no_params() -> Json {
    Json::Object(Vec::new())
}

/// The numbers of `serde`'s values are not those that were written, so [`Execute::read`] alone reads the params.
fn read_apart<'de, D: Deserializer<'de>>(_: D) -> Result<Json, D::Error> {
    Err(D::Error::custom("params are not read from these values"))
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

/// Does what can be done now of a loaded skill's onboarding, and tells what each step waits for.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Onboard {
    /// id of the loaded skill
    pub skill: String,
    /// what {{user_input}} of a step stands for; of a step without params, its params as a JSON object
    #[serde(default)]
    pub user_input: Option<Value>,
}

/// The input of `ccos.skill.list`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListInput {
    #[serde(default)]
    since: Option<u64>,
}

/// A loaded skill: its manifests, and where each entry of a policy comes from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Show {
    /// id of the loaded skill
    pub skill: String,
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
                let request = Execute::read(input).map_err(|error| invalid(&error.to_string()))?;
                self.execute(caller, &request.skill, &request.operation, request.params)
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
                let request: Onboard = read(with_underscore(input, "user-input"))?;
                self.onboard(caller, &request.skill, request.user_input.as_ref())
            }
            "ccos.skill.list" => {
                let input: ListInput = read(or_empty(input))?;
                self.list(caller, input.since)
            }
            "ccos.skill.show" => self.show(caller, &read::<Show>(input)?.skill),
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

/// Spells a member with `_` for `-`, unless it is there in both spellings.
fn with_underscore(mut input: Json, name: &str) -> Json {
    let plain = name.replace('-', "_");
    if let Json::Object(members) = &mut input
        && !members.iter().any(|(known, _)| *known == plain)
    {
        let dashed = members.iter_mut().filter(|(known, _)| known == name);
        dashed.for_each(|(known, _)| known.clone_from(&plain));
    }
    input
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
