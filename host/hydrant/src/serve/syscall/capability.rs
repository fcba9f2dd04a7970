//! `Capability.Call`: the pinned skills by their ids, each with its request as input.
//!
//! | capability | input | output |
//! |---|---|---|
//! | `content.hydrate` | its request; what is left out is as the operator said | the payload; the link and v2 forms as a string |
//! | another pinned skill, `id` or `id@version` | its request | its response |
//! | `hydrant.skills` | nothing | what `hydrant skills` tells |
//! | `hydrant.describe` | `skill`, or nothing for all | what `hydrant describe` tells |
//! | `ccos.…`: an [operation](crate::serve::operations) of the table that declares this capability | its request | its answer |
//! | an operation of a loaded skill, by its capability id | its params | the result of `ccos.skill.execute` |
//!
//! Operations are asked for in the role of a caller, and at the tenant's rate, as by every other front end.
//!
//! No skill can have an id that begins with `hydrant.` or `ccos.`, or that of a pinned one.

use hydrant_canonical::Json;
use serde::Deserialize;
use serde_json::{Value, json};

use super::SyscallServer;
use super::failure::Failure;
use crate::engine::CallError;
use crate::govern::failure::{Code, Failure as Refused};
use crate::host::{Format, Host, HostError, HydrateRequest, PinnedSkillInfo, SkillCall};
use crate::pins::{Class, PinError};
use crate::serve::operations::{Call, CallCapability, Operation};
use crate::serve::service::Problem;

/// Capabilities of governed execution.
const CORE: &str = "ccos.";
const MAP: &str = "ccos.primitive.map";
const TABLE: &str = "ccos.primitive.table";
/// Members that have another name here than in the table.
const OWN_NAMES: [(&str, &str); 2] = [("url", "source"), ("as", "id")];
const UNKNOWN_SKILL: &str = "unknown-skill";
const HYDRATE: &str = "content.hydrate";
const SKILLS: &str = "hydrant.skills";
const DESCRIBE: &str = "hydrant.describe";

impl SyscallServer<'_> {
    /// Calls a capability under the host's policy and, as far as they narrow it, the options of the operator. Returns the
    /// output as JSON text.
    pub(super) fn call(&self, capability: &str, input: Json) -> Result<String, Failure> {
        let (host, options) = (self.host, &self.options);
        match capability {
            core if core.starts_with(CORE) => self.ask(core, input),
            HYDRATE => hydrate(host, options, input),
            SKILLS => {
                let skills = host.skills().map_err(refused)?;
                let summaries = skills.iter().map(PinnedSkillInfo::summary);
                Ok(Value::from_iter(summaries).to_string())
            }
            DESCRIBE => describe(host, &input.nearest()),
            skill => match run(host, options, skill, &input) {
                // No pinned skill: an operation of a loaded one, or nothing, and then what is pinned is told.
                Err(not_pinned @ Failure::Call { status: 404, .. }) if self.identity.is_some() => {
                    match self.ask(skill, input) {
                        Err(Failure::Call { code, .. }) if code == UNKNOWN_SKILL => Err(not_pinned),
                        answer => answer,
                    }
                }
                answer => answer,
            },
        }
    }

    /// Asks for the operation of the table that has this capability, else for the operation of a loaded skill.
    fn ask(&self, capability: &str, input: Json) -> Result<String, Failure> {
        let Some(identity) = &self.identity else {
            return Err(Failure::NotServed(capability.to_owned()));
        };
        let identity = identity.as_ref().map_err(|error| denied(error.clone()))?;
        let input = match input {
            Json::Null => Json::Object(Vec::new()),
            input => input,
        };
        if !matches!(input, Json::Object(_)) {
            let message = "the input: it is no JSON object";
            return Err(denied(Refused::new(Code::InvalidRequest, message)));
        }
        let (capability, input) = match capability {
            MAP => map_or_table(input),
            capability => (capability, input),
        };
        let mut operations = self.operations.iter();
        let operation = operations.find(|one| one.declaration.capability == Some(capability));
        let call = match operation {
            Some(operation) => {
                let members = spelled_as_in(operation, input);
                operation.read(members.into()).map_err(|error| {
                    let message = format!("the input: {error}");
                    denied(Refused::new(Code::InvalidRequest, message))
                })?
            }
            None => Call::new(CallCapability {
                id: capability.to_owned(),
                params: input,
            }),
        };
        text(call.answer(identity).map_err(denied)?.body.into())
    }
}

/// Tells whether a request to map asks for a command or, by `"list": true`, for the table. A `list` that is false and a
/// `command` that is null are as good as left out.
fn map_or_table(mut input: Json) -> (&'static str, Json) {
    let mut capability = MAP;
    if let Json::Object(members) = &mut input {
        members.retain(|(name, value)| match (name.as_str(), value) {
            ("list", Json::Bool(list)) => {
                capability = if *list { TABLE } else { MAP };
                false
            }
            ("command", Json::Null) => false,
            _ => true,
        });
    }
    (capability, input)
}

/// Writes names of members as the operation has them. Here `-` may stand for `_`, and some have a name of their own; what
/// is there in both spellings stays as it is, and is refused.
fn spelled_as_in(operation: &Operation, mut input: Json) -> Json {
    if let Json::Object(members) = &mut input {
        let mut sent: Vec<String> = members.iter().map(|(name, _)| name.clone()).collect();
        for (name, _) in members {
            let own = OWN_NAMES.iter().find(|(own, _)| own == name);
            let meant =
                own.map_or_else(|| name.replace('-', "_"), |(_, meant)| (*meant).to_owned());
            if operation.member(&meant).is_some() && !sent.contains(&meant) {
                sent.push(meant.clone());
                *name = meant;
            }
        }
    }
    input
}

/// An operation that was refused or failed. Whoever calls is an agent of this machine's own user, who is told what the
/// governor says.
fn denied(problem: impl Into<Problem>) -> Failure {
    let problem = problem.into();
    let details = problem.error_object();
    let text = |name: &str| {
        let text = details.get(name).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let status = match &problem.governed {
        Some(governed) => governed.code.number(),
        // What is wrong with a request has one number here.
        None if problem.status == 400 => 422,
        None => problem.status,
    };
    Failure::Call {
        code: text("code"),
        status,
        message: text("message"),
        details,
    }
}

fn run(
    host: &Host,
    options: &HydrateRequest,
    skill: &str,
    input: &Json,
) -> Result<String, Failure> {
    let request = input.to_string();
    let call = SkillCall::new(skill, request.as_bytes()).without_processes(options.no_exec);
    let response = host.answer(call).map_err(refused)?.map_err(|failure| {
        let error = failure.to_json();
        failed(&error)
    })?;
    text(response)
}

/// The request of the skill. What it says can change nothing that the policy decides.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Hydration {
    uri: String,
    #[serde(default)]
    format: Format,
    depth: Option<u8>,
    checksums: Option<bool>,
    lenient: Option<bool>,
    /// The operator's alone.
    #[serde(default, rename = "allow_http_loopback")]
    _allow_http_loopback: bool,
}

fn hydrate(host: &Host, options: &HydrateRequest, input: Json) -> Result<String, Failure> {
    let asked: Hydration = serde_json::from_value(input.nearest())
        .map_err(|error| Failure::Schema(format!("input of {HYDRATE}: {error}")))?;
    let request = HydrateRequest {
        uri: asked.uri,
        format: asked.format,
        depth: asked.depth.unwrap_or(options.depth),
        checksums: asked.checksums.unwrap_or(options.checksums),
        lenient: asked.lenient.unwrap_or(options.lenient),
        ..options.clone()
    };
    let hydrated = host.hydrate(&request).map_err(|error| match error {
        HostError::Call(CallError::Skill { code, message, .. }) => {
            failed(&json!({ "code": code, "message": message }))
        }
        error => refused(error),
    })?;
    let hydrated = text(hydrated)?;
    Ok(match asked.format {
        Format::Json => hydrated,
        Format::Link | Format::V2 => Value::String(hydrated).to_string(),
    })
}

fn describe(host: &Host, input: &Value) -> Result<String, Failure> {
    let skills = match input.get("skill") {
        Some(Value::String(skill)) => {
            let (id, version) = match skill.split_once('@') {
                Some((id, version)) => (id, Some(version)),
                None => (skill.as_str(), None),
            };
            return Ok(described(&host.describe(id, version).map_err(refused)?)?.to_string());
        }
        None | Some(Value::Null) => host.skills().map_err(refused)?,
        Some(_) => return Err(Failure::Schema("skill must be a string".into())),
    };
    let all = skills
        .iter()
        .map(described)
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Value::from(all).to_string())
}

fn described(skill: &PinnedSkillInfo) -> Result<Value, Failure> {
    skill.described().map_err(|error| {
        Failure::Internal(format!(
            "{} does not describe itself in JSON: {error}",
            skill.id
        ))
    })
}

fn text(response: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(response)
        .map_err(|_| Failure::Internal("the component answered bytes that are not UTF-8".into()))
}

/// What the skill itself said, or which limit ended it: as `run` prints it.
fn failed(error: &Value) -> Failure {
    let member = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
    let code = member("code");
    Failure::Call {
        code: code.to_owned(),
        status: match code {
            "denied" => 403,
            "invalid_request" | "malformed" | "parse_error" | "unsupported_scheme" => 422,
            _ => 500,
        },
        message: member("message").to_owned(),
        details: error.clone(),
    }
}

/// Nothing was executed, or nobody may know what came of it. `refused` tells who it was as the exit statuses do.
fn refused(error: HostError) -> Failure {
    let message = error.to_string();
    let (code, status, by) = match &error {
        HostError::Pin(PinError::NotPinned { .. }) => (UNKNOWN_SKILL, 404, "other"),
        HostError::Pin(error) => match error.class() {
            Some(Class::Drift) => ("INTERNAL_ERROR", 500, "drift"),
            Some(Class::Trust) => ("INTERNAL_ERROR", 500, "trust"),
            Some(Class::Policy) => ("INTERNAL_ERROR", 500, "policy"),
            None => ("INTERNAL_ERROR", 500, "other"),
        },
        HostError::Untrusted(_) => ("INTERNAL_ERROR", 403, "trust"),
        HostError::CapabilityDenied(_) => ("INTERNAL_ERROR", 403, "policy"),
        HostError::Call(CallError::Budget(_) | CallError::Trap(_)) => {
            ("INTERNAL_ERROR", 500, "skill")
        }
        HostError::CannotRecord(_) | HostError::Audit(_) => ("audit-unavailable", 500, "other"),
        _ => ("INTERNAL_ERROR", 500, "other"),
    };
    Failure::Call {
        code: code.to_owned(),
        status,
        details: json!({ "code": code, "message": message, "refused": by }),
        message,
    }
}
