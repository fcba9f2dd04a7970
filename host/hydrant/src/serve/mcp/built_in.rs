//! Tools that are no pinned skills: the operations of the service that agents may ask for.

use hydrant_canonical::Json;
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::Value;

use super::schema;
use crate::serve::operations::{self, Call, Declaration, Operation};
use crate::serve::service::Problem;

/// Such a tool.
pub(super) struct BuiltIn {
    operation: &'static Operation,
    declared: &'static operations::Tool,
    /// Of its arguments, as the operation has it but for defaults.
    schema: Value,
}

impl BuiltIn {
    /// The tool of an operation; none of one that is not offered to agents.
    pub(super) fn new(operation: &'static Operation) -> Option<Self> {
        let declared = operation.declaration.tool.as_ref()?;
        let mut schema = operation.request.clone();
        for (name, default) in operation.declaration.tool_defaults {
            let member = schema.pointer_mut(&format!("/properties/{name}"));
            if let Some(member) = member.and_then(Value::as_object_mut) {
                member.insert("default".to_owned(), (*default).into());
            }
        }
        Some(Self {
            operation,
            declared,
            schema,
        })
    }

    pub(super) fn name(&self) -> &'static str {
        self.declared.name
    }

    pub(super) fn declaration(&self) -> &'static Declaration {
        self.operation.declaration
    }

    /// The call that `arguments` ask for.
    ///
    /// # Errors
    ///
    /// They are not what the schema says.
    pub(super) fn call(&self, mut arguments: Json) -> Result<Call, Problem> {
        schema::fit(&self.schema, &mut arguments);
        if let Json::Object(members) = &mut arguments {
            for (name, default) in self.declaration().tool_defaults {
                if !members.iter().any(|(known, _)| known == name) {
                    members.push(((*name).to_owned(), Json::String((*default).to_owned())));
                }
            }
            let of_text = members
                .iter_mut()
                .filter(|(name, _)| self.declaration().tool_objects.contains(&name.as_str()));
            for (_, value) in of_text {
                let text = value.as_str().map(str::as_bytes);
                if let Some(Ok(object @ Json::Object(_))) = text.map(Json::parse) {
                    *value = object;
                }
            }
        }
        self.operation
            .read(arguments.into())
            .map_err(|error| Problem::invalid(error.to_string()))
    }

    /// The tool as clients see it.
    pub(super) fn tool(&self) -> Tool {
        let schema = schema::of_arguments(&self.schema).unwrap_or_default();
        let mut tool = Tool::new(self.declared.name, self.declared.description, schema);
        tool.title = Some(self.declared.title.to_owned());
        let effect = self.declaration().effect;
        tool.annotations = Some(annotations(effect.is_read_only, effect.is_open_world));
        tool
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::serve::operations::{table, testing};

    /// A value that fits a schema.
    fn value(schema: &Value) -> Value {
        match (schema["enum"].as_array(), schema["type"].as_str()) {
            (Some(values), _) => values[0].clone(),
            (_, Some("string")) | (None, None) => "x".into(),
            (_, Some("integer")) => 1.into(),
            (_, Some("boolean")) => true.into(),
            (_, Some("object")) => json!({}),
            (_, Some("array")) => json!([]),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_property_of_a_schema_is_understood_and_every_other_is_refused() {
        let tools: Vec<_> = table().iter().filter_map(BuiltIn::new).collect();
        assert_eq!(tools.len(), 10);
        for tool in tools {
            let properties = tool.schema["properties"].as_object();
            let properties = properties.into_iter().flatten();
            let all: serde_json::Map<_, _> = properties
                .map(|(name, schema)| (name.clone(), value(schema)))
                .collect();
            for left_out in all.keys() {
                let mut arguments = all.clone();
                arguments.remove(left_out);
                let required = tool.schema["required"].as_array();
                let is_required = required.is_some_and(|all| all.iter().any(|one| one == left_out));
                let call = tool.call(Value::Object(arguments).into());
                assert_eq!(call.is_ok(), !is_required, "{} {left_out}", tool.name());
            }
            let mut arguments = all;
            assert!(tool.call(Value::Object(arguments.clone()).into()).is_ok());
            arguments.insert("root".into(), "/".into());
            let Err(problem) = tool.call(Value::Object(arguments).into()) else {
                panic!("{}", tool.name());
            };
            assert_eq!(problem.status, 400, "{}", tool.name());
        }
    }

    #[test]
    fn arguments_in_another_spelling_or_of_another_type_are_refused() {
        let refused = |name: &str, arguments: Value| {
            let mut tools = table().iter().filter_map(BuiltIn::new);
            let tool = tools.find(|tool| tool.name() == name).unwrap();
            tool.call(arguments.into()).is_err()
        };
        assert!(refused(
            "skill_onboard",
            json!({ "skill": "a", "user-input": "x" })
        ));
        for params in [json!([]), json!("x"), json!(5)] {
            let arguments = json!({ "skill": "a", "operation": "b", "params": params });
            assert!(refused("skill_execute", arguments), "{params}");
        }
        let arguments = json!({ "skill": "a", "operation": "b", "params": null });
        assert!(!refused("skill_execute", arguments));
    }

    #[test]
    fn an_operation_is_a_tool_by_its_declaration() {
        let tool = BuiltIn::new(&testing::table()[0]).unwrap();
        let listed = serde_json::to_value(tool.tool()).unwrap();
        assert_eq!(listed["name"], "repeat");
        assert_eq!(listed["annotations"]["readOnlyHint"], true);
        let word = &listed["inputSchema"]["properties"]["word"];
        let expected = json!({ "type": "string", "description": "what is repeated" });
        assert_eq!(*word, expected);
        assert!(
            tool.call(json!({ "word": "a", "times": null }).into())
                .is_ok()
        );
        assert!(tool.call(json!({ "times": 1 }).into()).is_err());
    }
}
