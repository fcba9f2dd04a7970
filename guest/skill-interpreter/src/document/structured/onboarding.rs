//! Onboarding as data, checked as K-380 and K-383 say.

use std::collections::BTreeMap;

use serde_json::Value;

use super::field::Field;
use crate::document::tree;
use crate::failure::{Code, Failure};

/// `onboarding` of a skill.
///
/// # Errors
///
/// `schema`, with path.
pub fn read(field: &Field<'_, '_>) -> Result<Value, Failure> {
    let field = field.map()?;
    if let Some(required) = field.get("required") {
        required.boolean()?;
    }
    if let Some(steps) = field.get("steps") {
        let steps = steps.list()?;
        let mut numbers = BTreeMap::new();
        for (number, item) in steps.items().enumerate() {
            step(&item)?;
            if let Some(id) = item.get("id")
                && numbers.insert(id.name()?.to_owned(), number).is_some()
            {
                return Err(id.failure(Code::Schema, "two steps have this id"));
            }
        }
        refuse_cycles(&steps, &numbers)?;
    }
    Ok(field.node.to_json())
}

fn step(field: &Field<'_, '_>) -> Result<(), Failure> {
    let field = field.map()?;
    let id = field.get("id");
    id.ok_or_else(|| field.failure(Code::Schema, "has no id"))?
        .name()?;
    let r#type = field.get("type");
    let r#type = r#type.ok_or_else(|| field.failure(Code::Schema, "has no type"))?;
    if !matches!(r#type.text()?, "api_call" | "human_action" | "condition") {
        return Err(r#type.wrong("api_call, human_action or condition"));
    }
    for key in ["operation", "verify_on_success"] {
        if let Some(value) = field.get(key) {
            value.text()?;
        }
    }
    if let Some(params) = field.get("params") {
        let params = params.map()?;
        refuse_secrets(&params)?;
    }
    if let Some(store) = field.get("store") {
        let store = store.list()?;
        for item in store.items() {
            let item = item.map()?;
            for key in ["from", "to"] {
                if let Some(value) = item.get(key) {
                    value.text()?;
                }
            }
            if let Some(flag) = item.get("requires_approval") {
                flag.boolean()?;
            }
        }
    }
    if let Some(action) = field.get("action") {
        let action = action.map()?;
        for key in ["action_type", "title", "instructions"] {
            if let Some(value) = action.get(key) {
                value.text()?;
            }
        }
        if let Some(response) = action.get("required_response") {
            response.map()?;
        }
    }
    Ok(())
}

/// K-383: a secret never is a parameter.
fn refuse_secrets(field: &Field<'_, '_>) -> Result<(), Failure> {
    match field.node.value() {
        tree::Value::Text(text) => {
            let mut rest = text;
            while let Some((_, inner)) = rest.split_once("{{") {
                if inner.trim_start().starts_with("secret:") {
                    return Err(field.failure(Code::Schema, "a secret cannot be a parameter"));
                }
                rest = inner;
            }
            Ok(())
        }
        tree::Value::List => field.items().try_for_each(|item| refuse_secrets(&item)),
        tree::Value::Map => field
            .entries()
            .try_for_each(|(_, value)| refuse_secrets(&value)),
        _ => Ok(()),
    }
}

/// K-380: `depends_on` names steps, and none that waits for it.
fn refuse_cycles(steps: &Field<'_, '_>, numbers: &BTreeMap<String, usize>) -> Result<(), Failure> {
    let mut waits_for: Vec<Vec<usize>> = Vec::new();
    for step in steps.items() {
        let mut these = Vec::new();
        if let Some(names) = step.get("depends_on") {
            let names = names.list()?;
            for name in names.items() {
                let number = numbers.get(name.text()?);
                these.push(*number.ok_or_else(|| name.failure(Code::Schema, "names no step"))?);
            }
        }
        waits_for.push(these);
    }
    // Steps are taken away once nothing is left that they wait for; what stays is a cycle or waits for one.
    let mut waiting: Vec<usize> = waits_for.iter().map(Vec::len).collect();
    let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); waits_for.len()];
    for (step, names) in waits_for.iter().enumerate() {
        for name in names {
            if let Some(list) = needed_by.get_mut(*name) {
                list.push(step);
            }
        }
    }
    let is_free = |(step, count): (usize, &usize)| (*count == 0).then_some(step);
    let mut free: Vec<usize> = waiting.iter().enumerate().filter_map(is_free).collect();
    while let Some(step) = free.pop() {
        for waiter in needed_by.get(step).into_iter().flatten() {
            if let Some(count) = waiting.get_mut(*waiter) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    free.push(*waiter);
                }
            }
        }
    }
    match steps.items().zip(&waiting).find(|(_, count)| **count > 0) {
        Some((step, _)) => Err(step.failure(Code::Schema, "depends_on goes in a circle")),
        None => Ok(()),
    }
}
