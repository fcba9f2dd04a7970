//! K-197: where an operation's output holds a secret, as JSON Pointers; `*` stands for each element of an array.

use serde_json::Value;

use super::secrets;
use crate::draft::Declaration;

/// Pointers that are declared, or found in the output schema and the output examples.
pub(super) fn pointers(declaration: &Declaration) -> Vec<String> {
    let mut found = declaration.returns_secret.clone();
    if let Some(schema) = &declaration.output_schema {
        of_schema(schema, &mut String::new(), 0, &mut found);
    }
    for output in declaration
        .examples
        .iter()
        .filter_map(|example| example.output.as_ref())
    {
        of_example(output, &mut String::new(), 0, &mut found);
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|pointer| seen.insert(pointer.clone()));
    found
}

fn is_secret(name: &str) -> bool {
    secrets::looks_secret(name) && !secrets::is_excluded(name)
}

fn below(pointer: &mut String, step: &str, visit: impl FnOnce(&mut String)) {
    let length = pointer.len();
    pointer.push('/');
    pointer.push_str(&step.replace('~', "~0").replace('/', "~1"));
    visit(pointer);
    pointer.truncate(length);
}

fn of_schema(schema: &Value, pointer: &mut String, depth: usize, found: &mut Vec<String>) {
    if depth > crate::limits::DATA_NESTING {
        return;
    }
    let deeper = depth.saturating_add(1);
    for (name, property) in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        below(pointer, name, |pointer| {
            if is_secret(name) && property.get("type").is_some_and(|kind| kind == "string") {
                found.push(pointer.clone());
            } else {
                of_schema(property, pointer, deeper, found);
            }
        });
    }
    if let Some(items) = schema.get("items") {
        below(pointer, "*", |pointer| {
            of_schema(items, pointer, deeper, found);
        });
    }
}

fn of_example(value: &Value, pointer: &mut String, depth: usize, found: &mut Vec<String>) {
    if depth > crate::limits::DATA_NESTING {
        return;
    }
    let deeper = depth.saturating_add(1);
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                below(pointer, name, |pointer| {
                    if is_secret(name) && member.is_string() {
                        found.push(pointer.clone());
                    } else {
                        of_example(member, pointer, deeper, found);
                    }
                });
            }
        }
        // Elements are alike: the first few tell.
        Value::Array(items) => {
            for item in items.iter().take(8) {
                below(pointer, "*", |pointer| {
                    of_example(item, pointer, deeper, found);
                });
            }
        }
        _ => {}
    }
}
