//! Plans as text, read by their grammar and by nothing of hydrant.

use serde_json::Value;

/// A plan as its Markdown tells it.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) intent: String,
    pub(crate) workflow: String,
    pub(crate) gate: String,
    pub(crate) guardrails: Vec<String>,
    pub(crate) context: Vec<String>,
    pub(crate) todos: Vec<Value>,
}

impl Plan {
    /// The contents of the items.
    pub(crate) fn contents(&self) -> Vec<&str> {
        let contents = self.todos.iter().map(|todo| todo["content"].as_str());
        contents.map(Option::unwrap).collect()
    }
}

/// Reads all of a text; whatever does not follow the grammar is a failed test.
pub(crate) fn read(text: &str) -> Plan {
    let mut rest = text
        .strip_prefix("## Prompt Hydration\n\n")
        .unwrap_or_else(|| panic!("no heading in {text:?}"));
    let intent = field(&mut rest, "**Intent**: ");
    let workflow = field(&mut rest, "**Workflow**: ");
    let guardrails = field(&mut rest, "**Guardrails**: ");
    let (workflow, gate) = workflow
        .strip_suffix(')')
        .and_then(|line| line.split_once(" ("))
        .unwrap();
    assert!(is_id(workflow), "{workflow}");
    let guardrails: Vec<_> = match guardrails.as_str() {
        "none" => Vec::new(),
        names => names.split(", ").map(str::to_owned).collect(),
    };
    assert!(guardrails.iter().all(|name| name != "none"));
    rest = rest.strip_prefix("\n### Relevant Context\n\n").unwrap();
    let mut context = Vec::new();
    while let Some(line) = rest.strip_prefix("- ") {
        let (line, after) = line.split_once('\n').unwrap();
        context.push(checked(line));
        rest = after;
    }
    assert!((1..=8).contains(&context.len()), "{context:?}");
    let body = rest
        .strip_prefix("\n### TodoWrite Plan\n\n```javascript\nTodoWrite(todos=[\n")
        .and_then(|rest| rest.strip_suffix("\n])\n```\n"))
        .unwrap_or_else(|| panic!("no TodoWrite in {rest:?}"));
    let todos = body.split(",\n").map(item).collect();
    Plan {
        intent,
        workflow: workflow.to_owned(),
        gate: gate.to_owned(),
        guardrails,
        context,
        todos,
    }
}

fn field(rest: &mut &str, name: &str) -> String {
    let (line, after) = rest
        .strip_prefix(name)
        .and_then(|rest| rest.split_once('\n'))
        .unwrap_or_else(|| panic!("{name:?} expected at {rest:?}"));
    *rest = after;
    checked(line)
}

fn checked(line: &str) -> String {
    assert!(!line.is_empty());
    assert!(!line.chars().any(char::is_control), "{line:?}");
    assert!(!line.contains("```"), "{line:?}");
    line.to_owned()
}

/// With its three keys quoted an item is JSON.
fn item(line: &str) -> Value {
    let quoted = line
        .strip_prefix("  {content: ")
        .map(|rest| format!("{{\"content\": {rest}"))
        .unwrap_or_else(|| panic!("no item in {line:?}"));
    let (content, end) = quoted.rsplit_once(", activeForm: ").unwrap();
    let (content, status) = content.rsplit_once(", status: ").unwrap();
    let json = format!("{content}, \"status\": {status}, \"activeForm\": {end}");
    let value: Value =
        serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
    assert!(!line.contains("```"), "{line}");
    value
}

fn is_id(id: &str) -> bool {
    id.len() <= 40
        && id.starts_with(|first: char| first.is_ascii_lowercase())
        && id
            .chars()
            .all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '-')
}
