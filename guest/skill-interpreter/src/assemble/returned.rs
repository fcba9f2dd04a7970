//! Where an operation's output holds a secret, as JSON Pointers; `*` stands for each element of an array.

use serde_json::Value;

use super::secrets;
use crate::draft::Declaration;

/// Pointers that are declared, or found in the output schema and the output examples.
pub(super) fn pointers(declaration: &Declaration) -> Vec<String> {
    let mut found = declaration.returns_secret.clone();
    if let Some(schema) = &declaration.output_schema {
        search(Output::Schema(schema), "", 0, &mut found);
    }
    let outputs = declaration.examples.iter();
    for output in outputs.filter_map(|example| example.output.as_ref()) {
        search(Output::Example(output), "", 0, &mut found);
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|pointer| seen.insert(pointer.clone()));
    found
}

/// What is known of a part of the output.
#[derive(Clone, Copy)]
enum Output<'a> {
    Schema(&'a Value),
    Example(&'a Value),
}

impl<'a> Output<'a> {
    fn is_text(self) -> bool {
        match self {
            Self::Schema(schema) => schema.get("type").is_some_and(|kind| kind == "string"),
            Self::Example(value) => value.is_string(),
        }
    }

    fn members(self) -> impl Iterator<Item = (&'a String, Self)> {
        let (members, of): (_, fn(&'a Value) -> Self) = match self {
            Self::Schema(schema) => (schema.get("properties"), Self::Schema),
            Self::Example(value) => (Some(value), Self::Example),
        };
        let members = members.and_then(Value::as_object).into_iter().flatten();
        members.map(move |(name, member)| (name, of(member)))
    }

    fn items(self) -> Vec<Self> {
        match self {
            Self::Schema(schema) => schema.get("items").map(Self::Schema).into_iter().collect(),
            // Elements are alike: the first few tell.
            Self::Example(Value::Array(items)) => items.iter().take(8).map(Self::Example).collect(),
            Self::Example(_) => Vec::new(),
        }
    }
}

fn search(output: Output<'_>, pointer: &str, depth: usize, found: &mut Vec<String>) {
    if depth > crate::limits::DATA_NESTING {
        return;
    }
    let deeper = depth.saturating_add(1);
    for (name, member) in output.members() {
        let at = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
        if secrets::looks_secret(name) && !secrets::is_excluded(name) && member.is_text() {
            found.push(at);
        } else {
            search(member, &at, deeper, found);
        }
    }
    for item in output.items() {
        search(item, &format!("{pointer}/*"), deeper, found);
    }
}
