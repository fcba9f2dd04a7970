//! The onboarding steps from a document's data, which the interpreter passes on as it is written.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{NAME, Onboarding, Path, Step, StepKind, Store, StoreTarget, names};
use crate::failure::{Code, Failure};
use crate::registry::fold;
use crate::request::Schema;
use crate::secrets;
use hydrant_plan::{Format, Operation};

/// Steps of one onboarding.
const STEPS: usize = 64;
/// What steps keep of answers, together: less than a skill's memory holds.
const STORES: usize = 128;
/// Bytes of all schemas of answers together: what it takes to compile them is bounded by that.
const SCHEMAS: usize = 16 * 1024;

// Null is nothing everywhere.
#[derive(Deserialize)]
struct Written {
    required: Option<bool>,
    steps: Option<Vec<WrittenStep>>,
    /// Of Markdown only, where it was written as text, in numbered items.
    text: Option<String>,
}

#[derive(Deserialize)]
struct WrittenStep {
    id: String,
    #[serde(rename = "type")]
    kind: StepKind,
    operation: Option<String>,
    params: Option<Value>,
    depends_on: Option<Vec<String>>,
    store: Option<Vec<WrittenStore>>,
    action: Option<WrittenAction>,
    verify_on_success: Option<String>,
}

#[derive(Deserialize)]
struct WrittenStore {
    from: Option<String>,
    to: String,
}

/// What a person is told.
#[derive(Deserialize, Serialize, Default)]
#[serde(rename_all(serialize = "kebab-case"))]
struct WrittenAction {
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    required_response: Option<Value>,
}

impl Onboarding {
    /// The steps as a document has them. What they call, and schemas, are looked at by [`check`](Self::check).
    ///
    /// # Errors
    ///
    /// `schema` with path: a value that goes nowhere, a step that waits for itself, too much of something.
    pub fn read(data: &Value, format: Format) -> Result<Self, Failure> {
        let written = Written::deserialize(data)
            .map_err(|error| schema("onboarding", &format!("is no onboarding: {error}")))?;
        let written_steps = written.steps.unwrap_or_default();
        let stores = written_steps.iter().filter_map(|step| step.store.as_ref());
        if written_steps.len() > STEPS || stores.map(Vec::len).sum::<usize>() > STORES {
            return Err(schema(
                "onboarding.steps",
                &format!("has more than {STEPS} steps, or they keep more than {STORES} values"),
            ));
        }
        // What says nothing is required, but for text, which has to say so.
        let is_text = format == Format::Markdown && written.text.is_some();
        let mut steps: Vec<Step> = Vec::new();
        let mut ids = BTreeSet::new();
        for (index, step) in written_steps.into_iter().enumerate() {
            let path = place(index);
            if !ids.insert(step.id.clone()) || step.id.len() > NAME {
                return Err(schema(
                    &format!("{path}.id"),
                    &format!("is another step's, or has more than {NAME} bytes"),
                ));
            }
            let mut step = of_step(step, &path)?;
            let same = |other: &&Step| {
                let of = |step: &Step| step.operation.as_deref().map(fold);
                step.operation.is_some() && of(other) == of(&step)
            };
            let others: Vec<Store> = steps
                .iter()
                .filter(same)
                .flat_map(|other| other.store.iter().cloned())
                .collect();
            for (number, one) in step.store.iter().enumerate() {
                apart(one, &others, &format!("{path}.store[{number}]"))?;
            }
            // Numbered items are done one after another.
            if let (true, Some(before)) = (is_text, steps.last()) {
                step.depends_on.push(before.id.clone());
            }
            steps.push(step);
        }
        let onboarding = Self {
            required: written.required.unwrap_or(!is_text),
            steps,
        };
        match onboarding.never_ready() {
            Some(index) => Err(schema(
                &format!("{}.depends_on", place(index)),
                "names no step, or goes in a circle",
            )),
            None => Ok(onboarding),
        }
    }

    /// Whether these operations are enough, and answers can be checked.
    ///
    /// # Errors
    ///
    /// `schema` with path: a step that calls no operation of the skill, an answer that no schema describes; `limit`.
    pub fn check(&self, operations: &[Operation]) -> Result<(), Failure> {
        let known = |name: &str| operations.iter().any(|known| names(Some(name), known));
        let mut left = SCHEMAS;
        for (index, step) in self.steps.iter().enumerate() {
            let path = place(index);
            for (key, name) in [
                ("operation", &step.operation),
                ("verify_on_success", &step.verify),
            ] {
                if name.as_deref().is_some_and(|name| !known(name)) {
                    let path = format!("{path}.{key}");
                    return Err(schema(&path, "names no operation of this skill"));
                }
            }
            let Some(response) = step.action.get("required-response") else {
                continue;
            };
            let path = format!("{path}.action.required_response");
            let length = serde_json::to_vec(response).map_or(usize::MAX, |text| text.len());
            left = left.checked_sub(length).ok_or_else(|| {
                let message = format!("the schemas of all answers have more than {SCHEMAS} bytes");
                schema(&path, &message)
            })?;
            Schema::compile(response).map_err(|failure| failure.at_path(path))?;
        }
        Ok(())
    }

    /// The first step that waits for what never comes.
    fn never_ready(&self) -> Option<usize> {
        let mut ready = BTreeSet::new();
        loop {
            let before = ready.len();
            for step in &self.steps {
                if step.depends_on.iter().all(|id| ready.contains(id.as_str())) {
                    ready.insert(step.id.as_str());
                }
            }
            if ready.len() == before {
                return self
                    .steps
                    .iter()
                    .position(|step| !ready.contains(step.id.as_str()));
            }
        }
    }
}

fn place(index: usize) -> String {
    format!("onboarding.steps[{index}]")
}

fn of_step(step: WrittenStep, path: &str) -> Result<Step, Failure> {
    let kind = step.kind;
    let operation = step.operation.filter(|_| kind != StepKind::HumanAction);
    let mut store: Vec<Store> = Vec::new();
    for (index, written) in step.store.unwrap_or_default().iter().enumerate() {
        let path = format!("{path}.store[{index}]");
        let one = of_store(written, &path)?;
        apart(&one, &store, &path)?;
        store.push(one);
    }
    match (kind, &operation) {
        (StepKind::ApiCall, None) => return Err(schema(path, "has no operation")),
        (StepKind::Condition, None) if !store.is_empty() => {
            return Err(schema(
                &format!("{path}.store"),
                "a condition without an operation has no answer",
            ));
        }
        _ => {}
    }
    let mut action = step.action.unwrap_or_default();
    action.title.get_or_insert_with(|| step.id.clone());
    Ok(Step {
        action: json!(action),
        id: step.id,
        kind,
        operation,
        params: step.params.filter(|params| !params.is_null()),
        depends_on: step.depends_on.unwrap_or_default(),
        store,
        verify: step.verify_on_success,
    })
}

fn of_store(store: &WrittenStore, path: &str) -> Result<Store, Failure> {
    let from = Path::parse(store.from.as_deref().unwrap_or_default()).ok_or_else(|| {
        schema(
            &format!("{path}.from"),
            "expected a path such as user.api_key or /user/api_key",
        )
    })?;
    let to = match store.to.split_once(':') {
        Some(("memory", key)) if (1..=NAME).contains(&key.trim().len()) => {
            StoreTarget::Memory(key.trim().to_owned())
        }
        Some(("secret", name)) if secrets::is_name(name.trim()) => {
            StoreTarget::Secret(name.trim().to_owned())
        }
        _ => {
            return Err(schema(
                &format!("{path}.to"),
                "expected memory:KEY or secret:NAME",
            ));
        }
    };
    Ok(Store { from, to })
}

/// A secret of an operation is one place, has one name, and is no part of another; nothing within it is kept elsewhere.
fn apart(one: &Store, others: &[Store], path: &str) -> Result<(), Failure> {
    let is_secret = |store: &Store| matches!(store.to, StoreTarget::Secret(_));
    if is_secret(one) && one.from.has_star() {
        return Err(schema(&format!("{path}.from"), "a secret is one value"));
    }
    for other in others.iter().filter(|other| *other != one) {
        if is_secret(one) && one.to == other.to {
            return Err(schema(&format!("{path}.to"), "is kept from elsewhere too"));
        }
        let within =
            |inner: &Store, outer: &Store| is_secret(outer) && inner.from.begins_with(&outer.from);
        let same = one.from == other.from;
        let both = is_secret(one) && is_secret(other);
        if (within(one, other) || within(other, one)) && (both || !same) {
            return Err(schema(&format!("{path}.from"), "overlaps a secret"));
        }
    }
    Ok(())
}

fn schema(path: &str, message: &str) -> Failure {
    Failure::new(Code::Schema, format!("{path}: {message}")).at_path(path)
}
