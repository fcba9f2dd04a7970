//! Foreign skills: loading, showing, executing, onboarding and unloading them, and what a command maps to.
//!
//! The governor decides all of it.

use std::collections::BTreeMap;

use hydrant_canonical::Json;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::Value;

use super::{BodyKind, Declaration, Effect, Input, Method, Operation, Request, Roles, Tag};
use crate::govern::client::Frontend;
use crate::govern::failure::Failure;
use crate::govern::governor::{Execute, LoadRequest, Onboard, Show};
use crate::serve::service::{Answer, Event, Identity, Problem};

/// The loaded skills and their operations.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListLoaded {
    /// Only what changed since this generation: for those who watch, and no member that a model needs to know of.
    #[schemars(skip)]
    since: Option<u64>,
}

impl Request for ListLoaded {
    type Response = Answer;

    const DECLARATION: &'static Declaration =
        &Declaration::new("skill-list", Roles::All, Effect::READS)
            .get("/v1/capabilities", Tag::Capabilities, "capabilities")
            .tool(
                "skill_list",
                "List foreign skills",
                "The loaded foreign skills and their operations",
            )
            .capability("ccos.skill.list");

    fn perform(self, who: &Identity) -> Result<Answer, Problem> {
        let listed = who.tenant.governor()?.list(&who.caller()?, self.since)?;
        Ok(Answer::json(&listed))
    }
}

/// Reads a skill that somebody else wrote, and registers its operations; nothing of it is run.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// its address
    source: Option<String>,
    /// its text, in place of an address
    text: Option<String>,
    /// base of relative endpoints
    base_url: Option<String>,
    /// values of the document's variables
    #[serde(default)]
    constants: BTreeMap<String, String>,
    /// refuse a document of another digest
    expect_digest: Option<String>,
    /// id of the skill, whatever the document says
    id: Option<String>,
    /// load an address that does not look like a skill's
    #[serde(default)]
    force: bool,
    /// tags, paths or ids of OpenAPI
    #[serde(default)]
    only: Vec<String>,
    /// Bytes of code files, by name; only the command line has them.
    #[serde(skip)]
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Request for Load {
    type Response = Answer;

    const DECLARATION: &'static Declaration =
        &Declaration::new("skill-load", Roles::Agents, Effect::ACTS)
            .post("/v1/capabilities", Tag::Capabilities, "loadSkill")
            .tool(
                "skill_load",
                "Load a foreign skill",
                "Read a skill.md, YAML, JSON or OpenAPI document and register its \
                operations, each of which waits for an approval; nothing of it is run",
            )
            .capability("ccos.skill.load");

    fn perform(self, who: &Identity) -> Result<Answer, Problem> {
        let (source, text) = match (self.source, self.text) {
            (Some(source), None) => (source, None),
            // Over a socket an address stands for what is loaded.
            (None, Some(text)) if who.frontend != Frontend::Syscall => (String::new(), Some(text)),
            _ if who.frontend == Frontend::Syscall => {
                return Err(Problem::invalid("`source` is needed, an address"));
            }
            _ => return Err(Problem::invalid("either `source` or `text` is needed")),
        };
        let request = LoadRequest {
            source,
            text,
            force: self.force,
            base_url: self.base_url,
            constants: self.constants,
            as_id: self.id,
            only: self.only,
            files: self.files,
            expect_digest: self.expect_digest,
        };
        let loaded = who.tenant.governor()?.load(&who.caller()?, &request);
        match &loaded {
            Ok(shown) => {
                let skill = shown.get("skill-id").and_then(Value::as_str);
                let skill = skill.unwrap_or_default().to_owned();
                who.tell([Event::Capabilities { skill }, Event::Chain]);
            }
            Err(failure) => {
                if let Some(id) = &failure.approval_id {
                    who.tell([Event::ApprovalPending { id: id.to_string() }, Event::Chain]);
                }
            }
        }
        Ok(Answer::json(&loaded?))
    }
}

impl Request for Show {
    type Response = Answer;

    const DECLARATION: &'static Declaration =
        &Declaration::new("skill-show", Roles::All, Effect::READS)
            .get("/v1/capabilities/{skill}", Tag::Capabilities, "showSkill")
            .tool(
                "skill_show",
                "Show a foreign skill",
                "A loaded skill: its text, manifests, diagnostics, and where each entry of \
                a policy comes from",
            )
            .capability("ccos.skill.show");

    fn perform(self, who: &Identity) -> Result<Answer, Problem> {
        let shown = who.tenant.governor()?.show(&who.caller()?, &self.skill)?;
        Ok(Answer::json(&shown))
    }
}

impl Request for Onboard {
    type Response = Answer;

    const DECLARATION: &'static Declaration = &Declaration {
        has_session: true,
        tool_objects: &["user_input"],
        ..Declaration::new("skill-onboard", Roles::Agents, Effect::ACTS)
            .post(
                "/v1/capabilities/{skill}",
                Tag::Capabilities,
                "onboardSkill",
            )
            .tool(
                "skill_onboard",
                "Go on with a foreign skill's onboarding",
                "Do what can be done now of a loaded skill's onboarding steps, and tell what each waits for",
            )
            .capability("ccos.skill.onboard")
    };

    fn perform(self, who: &Identity) -> Result<Answer, Problem> {
        let governor = who.tenant.governor()?;
        let told = governor.onboard(&who.caller()?, &self.skill, self.user_input.as_ref())?;
        let steps = told.get("steps").and_then(Value::as_array);
        // What a person has to do, and what a step's operation waits for.
        let asked = |step: &Value| {
            let own = step
                .get("approval-id")
                .filter(|_| step.get("status").is_some_and(|status| status == "pending"));
            let id = own.or_else(|| step.pointer("/error/approval-id"))?;
            Some(Event::ApprovalPending {
                id: id.as_str()?.to_owned(),
            })
        };
        let pending = steps.into_iter().flatten().filter_map(asked);
        who.tell(pending.chain([Event::Chain]));
        Ok(Answer::json(&told))
    }
}

/// Removes a loaded skill; for operators.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unload {
    /// id of the loaded skill
    skill: String,
    /// let grants live again when the same document is loaded from the same source
    #[serde(default)]
    keep_approvals: bool,
}

impl Request for Unload {
    type Response = Answer;

    const DECLARATION: &'static Declaration =
        &Declaration::new("skill-unload", Roles::Operators, Effect::CHANGES)
            .delete("/v1/capabilities/{skill}", Tag::Capabilities, "unloadSkill")
            .tool(
                "skill_unload",
                "Unload a foreign skill",
                "Remove a loaded skill's operations",
            );

    fn perform(self, who: &Identity) -> Result<Answer, Problem> {
        let governor = who.tenant.governor()?;
        let unloaded = governor.unload(&who.caller()?, &self.skill, self.keep_approvals)?;
        let skill = self.skill;
        who.tell([Event::Capabilities { skill }, Event::Chain]);
        Ok(Answer::json(&unloaded))
    }
}

impl Request for Execute {
    type Response = Answer;

    const DECLARATION: &'static Declaration = &Declaration {
        has_session: true,
        ..Declaration::new("skill-execute", Roles::Agents, Effect::ACTS)
            .at(
                Method::Post,
                "/v1/capabilities/{skill}/{operation}",
                Tag::Capabilities,
                "execute",
                BodyKind::Member("params"),
            )
            .tool(
                "skill_execute",
                "Execute a foreign skill's operation",
                "Execute an approved operation of a loaded skill; one that is not approved \
                answers which approval it needs",
            )
            .capability("ccos.skill.execute")
    };

    fn read(input: Input) -> serde_json::Result<Self> {
        let request = Self::read(input.members)?;
        match request.params {
            Json::Object(_) => Ok(request),
            _ => Err(serde_json::Error::custom("params: it is no JSON object")),
        }
    }

    fn perform(self, who: &Identity) -> Result<Answer, Problem> {
        let governor = who.tenant.governor()?;
        let executed = governor.execute(&who.caller()?, &self.skill, &self.operation, self.params);
        told(who, executed)
    }
}

/// Tells those who watch the tenant that an operation was asked for, and returns its answer.
fn told(who: &Identity, executed: Result<Value, Failure>) -> Result<Answer, Problem> {
    let pending = executed.as_ref().err().and_then(|failure| {
        let id = failure.approval_id.as_ref()?;
        Some(Event::ApprovalPending { id: id.to_string() })
    });
    who.tell(pending.into_iter().chain([Event::Chain]));
    Ok(Answer::json(&executed?))
}

/// What a command would do, and under which governance; nothing is run.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Map {
    command: String,
}

impl Request for Map {
    type Response = Answer;

    const DECLARATION: &'static Declaration =
        &Declaration::new("map", Roles::Agents, Effect::READS)
            .post("/v1/map", Tag::Capabilities, "map")
            .tool(
                "map_command",
                "Map a command",
                "Say which governed capability a shell command maps to; nothing is run",
            )
            .capability("ccos.primitive.map");

    fn perform(self, who: &Identity) -> Result<Answer, Problem> {
        Ok(Answer::json(&who.tenant.governor()?.map(&self.command)?))
    }
}

/// What is known of commands, and how often each unknown tool was met.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MappingTable {}

impl Request for MappingTable {
    type Response = Answer;

    const DECLARATION: &'static Declaration =
        &Declaration::new("mapping-table", Roles::Agents, Effect::READS)
            .capability("ccos.primitive.table");

    fn perform(self, who: &Identity) -> Result<Answer, Problem> {
        Ok(Answer::json(&who.tenant.governor()?.mapping_table()?))
    }
}

/// Executes an approved operation of a loaded skill by its capability id. It is in no table: it is [`Execute`] with another
/// name, for agents that call capabilities.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallCapability {
    /// `<skill>.<operation>`
    pub id: String,
    /// Its parameters.
    #[serde(skip)]
    pub params: Json,
}

impl Request for CallCapability {
    type Response = Answer;

    const DECLARATION: &'static Declaration = &Declaration {
        has_session: true,
        ..Declaration::new("capability", Roles::Agents, Effect::ACTS)
    };

    fn perform(self, who: &Identity) -> Result<Answer, Problem> {
        let governor = who.tenant.governor()?;
        let executed = governor.call(&who.caller()?, &self.id, self.params);
        told(who, executed)
    }
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new::<ListLoaded>(),
        Operation::new::<Load>(),
        Operation::new::<Show>(),
        Operation::new::<Onboard>(),
        Operation::new::<Unload>(),
        Operation::new::<Execute>(),
        Operation::new::<Map>(),
        Operation::new::<MappingTable>(),
    ]
}
