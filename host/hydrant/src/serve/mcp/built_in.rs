//! Tools that are no pinned skills: operations of the service that agents may ask for.

use hydrant_canonical::Json;
use rmcp::model::{JsonObject, ToolAnnotations};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::schema;
use crate::serve::service::{
    GraphOptions, HydrateOptions, LoadOptions, Operation, PlanOptions, Problem,
};

/// Such a tool.
pub(super) struct BuiltIn {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    /// Whether it changes nothing, here or elsewhere.
    pub(super) is_read_only: bool,
    /// Whether it may reach other machines.
    is_open_world: bool,
    schema: fn() -> Value,
    /// Arguments that the schema allows.
    example: fn() -> Value,
    operation: fn(Json) -> Result<Operation, serde_json::Error>,
}

/// All of them, by name.
pub(super) const ALL: [BuiltIn; 10] = [
    BuiltIn {
        name: "graph",
        title: "Dependency graph",
        description: "What an agent or skill depends on, and what that depends on, as nodes and edges or as a picture",
        is_read_only: true,
        is_open_world: true,
        schema: || {
            object(
                json!({
                    "uri": uri(),
                    "format": { "enum": ["json", "mermaid", "dot", "svg"], "default": "json" },
                    "depth": depth(),
                }),
                &["uri"],
            )
        },
        example: || json!({ "uri": "os://agents/a.md" }),
        operation: |arguments| of::<GraphOptions>(arguments, Operation::Graph),
    },
    BuiltIn {
        name: "hydrate",
        title: "Hydrate",
        description: "Turn a compact Markdown file (an agent, a skill) into its content and what each skill and tool it declares is for",
        is_read_only: true,
        is_open_world: true,
        schema: || {
            object(
                json!({
                    "uri": uri(),
                    "format": { "enum": ["json", "link", "v2"], "default": "json",
                        "description": "json: the payload; link and v2: the document with its declarations hydrated" },
                    "depth": depth(),
                    "checksums": { "type": "boolean", "default": false, "description": "add SHA-256 digests of what was read" },
                    "lenient": { "type": "boolean", "default": false, "description": "read names and descriptions of dependencies whose front matter cannot be parsed" },
                }),
                &["uri"],
            )
        },
        example: || json!({ "uri": "os://agents/a.md" }),
        operation: |arguments| of::<HydrateOptions>(arguments, Operation::Hydrate),
    },
    BuiltIn {
        name: "map_command",
        title: "Map a command",
        description: "Say which governed capability a shell command maps to; nothing is run",
        is_read_only: true,
        is_open_world: false,
        schema: || object(json!({ "command": { "type": "string" } }), &["command"]),
        example: || json!({ "command": "ls" }),
        operation: |arguments| {
            of::<Command>(arguments, |Command { command }| Operation::Map { command })
        },
    },
    BuiltIn {
        name: "plan",
        title: "Plan",
        description: "Plan what to do about a prompt: the workflow that fits, its steps, skills and checks",
        is_read_only: true,
        is_open_world: false,
        schema: || {
            object(
                json!({
                    "prompt": { "type": "string", "description": "what the user typed" },
                    "workflow": { "type": "string", "description": "take this workflow, whatever the prompt says" },
                    "turns": { "type": "array", "description": "what was said before, the oldest first", "items":
                        object(json!({ "role": { "enum": ["user", "assistant"] }, "text": { "type": "string" } }), &["role", "text"]) },
                    "format": { "enum": ["markdown", "json"], "default": "markdown" },
                }),
                &["prompt"],
            )
        },
        example: || json!({ "prompt": "fix the bug" }),
        // For a model text is better, and programs say what they want.
        operation: |mut arguments| {
            let asked = arguments.get("format").is_some();
            if let (Json::Object(members), false) = (&mut arguments, asked) {
                members.push(("format".into(), Json::String("markdown".into())));
            }
            of::<PlanOptions>(arguments, Operation::Plan)
        },
    },
    BuiltIn {
        name: "skill_execute",
        title: "Execute a foreign skill's operation",
        description: "Execute an approved operation of a loaded skill; one that is not approved answers which approval it needs",
        is_read_only: false,
        is_open_world: true,
        schema: || {
            object(
                json!({
                    "skill": skill(),
                    "operation": { "type": "string", "description": "id or alias of the operation" },
                    "params": { "type": "object", "default": {} },
                }),
                &["skill", "operation"],
            )
        },
        example: || json!({ "skill": "a", "operation": "b" }),
        operation: |arguments| {
            // Numbers are sent as they were written.
            let params = arguments.get("params").cloned();
            of::<Execute>(arguments, |execute| Operation::SkillExecute {
                skill: execute.skill,
                operation: execute.operation,
                params: params.unwrap_or_else(|| Json::Object(Vec::new())),
            })
        },
    },
    BuiltIn {
        name: "skill_list",
        title: "List foreign skills",
        description: "The loaded foreign skills and their operations",
        is_read_only: true,
        is_open_world: false,
        schema: || object(json!({}), &[]),
        example: || json!({}),
        operation: |arguments| of::<Nothing>(arguments, |Nothing {}| Operation::SkillList),
    },
    BuiltIn {
        name: "skill_load",
        title: "Load a foreign skill",
        description: "Read a skill.md, YAML, JSON or OpenAPI document and register its operations, each of which waits for an approval; nothing of it is run",
        is_read_only: false,
        is_open_world: true,
        schema: || {
            object(
                json!({
                    "source": { "type": "string", "description": "its address" },
                    "text": { "type": "string", "description": "its text, in place of an address" },
                    "base_url": { "type": "string", "description": "base of relative endpoints" },
                    "constants": { "type": "object", "additionalProperties": { "type": "string" },
                        "description": "values of the document's variables" },
                    "expect_digest": { "type": "string", "description": "refuse a document of another digest" },
                    "id": { "type": "string", "description": "id of the skill, whatever the document says" },
                    "force": { "type": "boolean", "default": false, "description": "load an address that does not look like a skill's" },
                }),
                &[],
            )
        },
        example: || json!({ "text": "# Skill" }),
        operation: |arguments| of::<LoadOptions>(arguments, Operation::SkillLoad),
    },
    BuiltIn {
        name: "skill_onboard",
        title: "Go on with a foreign skill's onboarding",
        description: "Do what can be done now of the steps that a loaded skill wants done before its operations are of use, and tell what each waits for",
        is_read_only: false,
        is_open_world: true,
        schema: || {
            object(
                json!({
                    "skill": skill(),
                    "user_input": { "type": "string",
                        "description": "what {{user_input}} of a step stands for; of a step without params, its params as a JSON object" },
                }),
                &["skill"],
            )
        },
        example: || json!({ "skill": "a" }),
        operation: |arguments| {
            of::<Onboard>(arguments, |onboard| Operation::SkillOnboard {
                skill: onboard.skill,
                user_input: onboard.user_input.map(object_or_text),
            })
        },
    },
    BuiltIn {
        name: "skill_show",
        title: "Show a foreign skill",
        description: "A loaded skill: its text, manifests, diagnostics, and where each entry of a policy comes from",
        is_read_only: true,
        is_open_world: false,
        schema: || object(json!({ "skill": skill() }), &["skill"]),
        example: || json!({ "skill": "a" }),
        operation: |arguments| {
            of::<Show>(arguments, |Show { skill }| Operation::SkillShow { skill })
        },
    },
    BuiltIn {
        name: "skill_unload",
        title: "Unload a foreign skill",
        description: "Remove a loaded skill's operations",
        is_read_only: false,
        is_open_world: false,
        schema: || {
            object(
                json!({
                    "skill": skill(),
                    "keep_approvals": { "type": "boolean", "default": false,
                        "description": "let grants live again when the same document is loaded from the same source" },
                }),
                &["skill"],
            )
        },
        example: || json!({ "skill": "a" }),
        operation: |arguments| {
            of::<Unload>(arguments, |unload| Operation::SkillUnload {
                skill: unload.skill,
                keep_approvals: unload.keep_approvals,
            })
        },
    },
];

impl BuiltIn {
    /// The operation that `arguments` ask for.
    ///
    /// # Errors
    ///
    /// They are not what the schema says.
    pub(super) fn operation(&self, arguments: impl Into<Json>) -> Result<Operation, Problem> {
        let mut arguments = arguments.into();
        schema::fit(&self.schema(), &mut arguments);
        (self.operation)(arguments).map_err(|error| Problem::invalid(error.to_string()))
    }

    /// Such an operation.
    pub(super) fn example(&self) -> Option<Operation> {
        self.operation((self.example)()).ok()
    }

    /// The schema of its arguments.
    pub(super) fn schema(&self) -> Value {
        (self.schema)()
    }

    pub(super) fn annotations(&self) -> ToolAnnotations {
        annotations(self.is_read_only, self.is_open_world)
    }
}

/// Hints for a client. Whether something is destroyed is a question only of a tool that changes something.
pub(super) fn annotations(is_read_only: bool, is_open_world: bool) -> ToolAnnotations {
    let hints = ToolAnnotations::new()
        .read_only(is_read_only)
        .open_world(is_open_world);
    if is_read_only {
        hints
    } else {
        hints.destructive(true)
    }
}

fn of<T: DeserializeOwned>(
    arguments: Json,
    operation: impl FnOnce(T) -> Operation,
) -> Result<Operation, serde_json::Error> {
    serde_json::from_value(arguments.nearest()).map(operation)
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// Text that is an object of JSON as that object: the schema of a tool has one type for each argument.
fn object_or_text(value: Value) -> Value {
    let parsed = value
        .as_str()
        .and_then(|text| serde_json::from_str(text).ok());
    parsed.filter(Value::is_object).unwrap_or(value)
}

fn uri() -> Value {
    json!({ "type": "string", "minLength": 1, "description": "os:// or https:// URI, or a path relative to os://" })
}

fn depth() -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": 16, "default": 1, "description": "levels of skills that are followed" })
}

fn skill() -> Value {
    json!({ "type": "string", "description": "id of the loaded skill" })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Command {
    command: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Show {
    skill: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unload {
    skill: String,
    #[serde(default)]
    keep_approvals: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Onboard {
    skill: String,
    #[serde(default)]
    user_input: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Execute {
    skill: String,
    operation: String,
    #[serde(default, rename = "params")]
    _params: JsonObject,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::service::PlanFormat;

    #[test]
    fn every_example_is_an_operation_and_every_unknown_member_is_refused() {
        for tool in &ALL {
            let Value::Object(mut arguments) = (tool.example)() else {
                panic!("{}", tool.name);
            };
            assert!(
                tool.operation(Value::Object(arguments.clone())).is_ok(),
                "{}",
                tool.name
            );
            arguments.insert("root".into(), "/".into());
            let problem = tool.operation(Value::Object(arguments)).unwrap_err();
            assert_eq!(problem.status, 400, "{}", tool.name);
        }
    }

    #[test]
    fn every_property_of_a_schema_is_understood() {
        for tool in &ALL {
            let schema = tool.schema();
            for (property, schema) in schema["properties"].as_object().unwrap() {
                let Value::Object(mut arguments) = (tool.example)() else {
                    panic!("{}", tool.name);
                };
                let value = match (schema["enum"].as_array(), schema["type"].as_str()) {
                    (Some(values), _) => values[0].clone(),
                    (_, Some("string")) => "x".into(),
                    (_, Some("integer")) => 1.into(),
                    (_, Some("boolean")) => true.into(),
                    (_, Some("object")) => json!({}),
                    (_, Some("array")) => json!([]),
                    other => panic!("{other:?}"),
                };
                arguments.insert(property.clone(), value);
                assert!(
                    tool.operation(Value::Object(arguments)).is_ok(),
                    "{} {property}",
                    tool.name
                );
            }
        }
    }

    #[test]
    fn a_plan_is_text_unless_asked_otherwise() {
        let plan = ALL.iter().find(|tool| tool.name == "plan").unwrap();
        let Ok(Operation::Plan(options)) = plan.operation(json!({ "prompt": "x" })) else {
            panic!();
        };
        assert_eq!(options.format, PlanFormat::Markdown);
    }
}
