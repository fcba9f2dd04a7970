//! Two texts of one operation.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::Assembled;
use crate::diagnostic::excerpt;
use crate::model::{Body, JsonMember, JsonNode, Operation, Pair, Segments, Stage};

/// Makes `other` an example of `operation`: what it has more are optional inputs, what it lacks is optional.
pub(super) fn absorb(assembled: &mut Assembled, other: &Operation) {
    let has_declared_inputs = assembled.has_declared_inputs;
    let operation = &mut assembled.operation;
    operation.examples.extend(other.examples.iter().cloned());
    if operation.output_schema.is_none() {
        operation.output_schema.clone_from(&other.output_schema);
    }
    for pointer in &other.returns_secret {
        if !operation.returns_secret.contains(pointer) {
            operation.returns_secret.push(pointer.clone());
        }
    }
    // An operation that declares its inputs takes no more of them.
    if has_declared_inputs {
        return;
    }
    let (Some(Stage::Http(own)), Some(Stage::Http(theirs))) =
        (operation.stages.first_mut(), other.stages.first())
    else {
        return;
    };
    // A name that is taken for another input is not taken twice.
    let taken: BTreeSet<&str> = properties(&operation.input_schema)
        .into_iter()
        .flat_map(Map::keys)
        .map(String::as_str)
        .collect();
    let mut added = merge_pairs(&mut own.query, &theirs.query, &taken);
    let bodies_agree = match (&mut own.body, &theirs.body) {
        (Some(Body::Json(JsonNode::Object(members))), Some(Body::Json(node))) => {
            added.extend(merge_members(members, node, &taken));
            matches!(node, JsonNode::Object(_))
        }
        (Some(Body::Form(pairs)), Some(Body::Form(others))) => {
            added.extend(merge_pairs(pairs, others, &taken));
            true
        }
        _ => false,
    };
    merge_schema(operation, other, &added, bodies_agree);
    // Whoever approves it reads one of the two texts.
    let line = other.line;
    operation.notes.push(if added.is_empty() {
        format!("line {line} of the document was taken for another example of it")
    } else {
        let names = added.iter().map(|name| excerpt(name)).collect::<Vec<_>>();
        let names = names.join(", ");
        format!("line {line} of the document was merged into it, for its inputs {names}")
    });
}

/// Appends pairs of new names that are one input each; the inputs.
fn merge_pairs(own: &mut Vec<Pair>, theirs: &[Pair], taken: &BTreeSet<&str>) -> Vec<String> {
    let known: BTreeSet<String> = own.iter().map(|pair| pair.name.display()).collect();
    let new = theirs.iter().filter_map(|pair| {
        let input = single_input(pair)?;
        let is_new = !known.contains(&pair.name.display()) && !taken.contains(input);
        is_new.then(|| (input.to_owned(), pair.clone()))
    });
    let (added, pairs): (_, Vec<_>) = new.unzip();
    own.extend(pairs);
    added
}

/// Appends members of new names that are one input each; the inputs.
fn merge_members(
    own: &mut Vec<JsonMember>,
    theirs: &JsonNode,
    taken: &BTreeSet<&str>,
) -> Vec<String> {
    let known: BTreeSet<String> = own.iter().map(|member| member.key.clone()).collect();
    let new = theirs.input_members();
    let new = new.filter(|(member, input)| !known.contains(&member.key) && !taken.contains(input));
    let (added, members): (_, Vec<_>) = new
        .map(|(member, input)| (input.to_owned(), member.clone()))
        .unzip();
    own.extend(members);
    added
}

fn single_input(pair: &Pair) -> Option<&str> {
    let value = pair.value.as_ref()?;
    value.inputs().next().filter(|_| value.0.len() == 1)
}

fn merge_schema(
    operation: &mut Operation,
    other: &Operation,
    added: &[String],
    bodies_agree: bool,
) {
    let Some(others) = properties(&other.input_schema) else {
        return;
    };
    // A member of the body that the other lacks is optional.
    let body: BTreeSet<String> = match operation.stages.first() {
        Some(Stage::Http(stage)) if bodies_agree => match &stage.body {
            Some(Body::Json(node)) => node
                .input_members()
                .map(|(_, input)| input.to_owned())
                .collect(),
            Some(Body::Form(pairs)) => pairs
                .iter()
                .filter_map(|pair| pair.value.as_ref())
                .flat_map(Segments::inputs)
                .map(str::to_owned)
                .collect(),
            _ => BTreeSet::new(),
        },
        _ => BTreeSet::new(),
    };
    if let Some(Value::Array(required)) = operation.input_schema.get_mut("required") {
        required.retain(|name| {
            let name = name.as_str().unwrap_or_default();
            !body.contains(name) || others.contains_key(name)
        });
        if required.is_empty()
            && let Some(schema) = operation.input_schema.as_object_mut()
        {
            schema.shift_remove("required");
        }
    }
    if let Some(Value::Object(own)) = operation.input_schema.get_mut("properties") {
        for name in added {
            if let Some(property) = others.get(name) {
                own.entry(name.clone()).or_insert_with(|| property.clone());
            }
        }
    }
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}
