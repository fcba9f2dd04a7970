//! Requests to the governor: their types, and capabilities by their ids.

use hydrant_canonical::Json;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::{Caller, Governor};
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

/// A loaded skill: its manifests, and where each entry of a policy comes from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Show {
    /// id of the loaded skill
    pub skill: String,
}

impl Governor {
    /// Calls a registered capability by its id, with its params as input.
    ///
    /// # Errors
    ///
    /// `operator-only` for core capabilities; what the capability says.
    pub fn call(
        &self,
        caller: &Caller,
        capability: &str,
        input: impl Into<Json>,
    ) -> Result<Value, Failure> {
        // An effect needs an operation of a loaded skill that somebody approved.
        if CORE.contains(&capability) {
            return Err(Failure::new(
                Code::OperatorOnly,
                format!("{capability} is called by operations of loaded skills only"),
            )
            .with_hint("load a skill whose operation maps to it, and have it approved"));
        }
        let params = match input.into() {
            Json::Null => no_params(),
            params => params,
        };
        self.execute_capability(caller, capability, params)
    }

    /// Asks anew for an operation whose grant or request was revoked, denied, or has expired. It grants nothing.
    ///
    /// # Errors
    ///
    /// There is no such operation, or the request cannot be recorded.
    pub fn request_approval(
        &self,
        caller: &Caller,
        capability: &str,
        reason: Option<&str>,
    ) -> Result<Value, Failure> {
        let who = caller.who();
        approvals::request(&self.state, capability, reason, &who, self)
            .map(|requested| json!(requested))
    }
}
