//! Drafts to operations.
//!
//! A draft says what is to be done in the author's words. Here its variables become inputs and secrets, its URL, query, headers
//! and body become segments, and the input schema is derived. What follows from that is the host's to say.

mod absorb;
mod asks;
pub mod base;
mod body;
mod cookies;
pub mod credential;
mod data_files;
mod encode;
mod endpoint;
mod headers;
mod http;
mod inputs;
mod json_body;
mod json_text;
mod pairs;
pub mod placeholder;
mod resolve;
mod returned;
mod sandbox;
pub mod secrets;
mod stages;
mod url;
mod url_parts;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};

use serde_json::Value;

pub use credential::looks_like_credential;
pub use url_parts::{check_address, is_base_name};

use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::{Declaration, Draft, DraftStage, Example};
use crate::mapping::registry;
use crate::model::{Asks, Files, Operation, OperationSecret, Stage, Status};
pub use endpoint::Endpoint;
use resolve::Assembly;

/// An operation, and what is known of it until it is named.
#[derive(Debug, Clone, PartialEq)]
pub struct Assembled {
    /// It has no id yet.
    pub operation: Operation,
    /// Where its first request goes, usable or not.
    pub endpoint: Option<Endpoint>,
    /// Whether the document declares its inputs, so that examples add none.
    pub has_declared_inputs: bool,
}

impl Deref for Assembled {
    type Target = Operation;

    fn deref(&self) -> &Operation {
        &self.operation
    }
}

impl DerefMut for Assembled {
    fn deref_mut(&mut self) -> &mut Operation {
        &mut self.operation
    }
}

/// Makes an operation. What cannot be used is one with status `unusable`.
#[must_use]
pub fn operation(
    draft: &Draft,
    declaration: &Declaration,
    context: &Context,
    diagnostics: &mut Diagnostics,
) -> Assembled {
    let mut assembly = Assembly::new(draft.line, declaration, context, diagnostics);
    let outcome = match &draft.plan {
        Ok(stages) => assembly
            .stages(stages)
            .map(|(assembled, confidence)| (stages.as_slice(), assembled, confidence)),
        Err(failure) => Err(failure.clone()),
    };
    match outcome {
        Ok((drafts, stages, confidence)) => usable(assembly, drafts, stages, confidence),
        Err(failure) => {
            let failure = failure.at_line(assembly.line);
            let mut assembled = described(assembly);
            assembled.status = Status::unusable(failure);
            assembled
        }
    }
}

/// Makes `other` an example of `operation`: what it has more are optional inputs, what it lacks is optional.
pub fn absorb(operation: &mut Assembled, other: &Operation) {
    absorb::absorb(operation, other);
}

fn usable(
    assembly: Assembly<'_>,
    drafts: &[DraftStage],
    stages: Vec<Stage>,
    confidence: f64,
) -> Assembled {
    let secrets = assembly
        .secrets
        .iter()
        .map(|(name, kind)| OperationSecret {
            name: name.clone(),
            kind: *kind,
            hosts: Vec::new(),
        })
        .collect();
    let asks = asks::of(
        drafts,
        assembly.line,
        assembly.declaration,
        assembly.context,
    );
    let mut assembled = described(assembly);
    assembled.stages = stages;
    assembled.secrets = secrets;
    assembled.asks = asks;
    assembled.confidence = confidence;
    assembled
}

/// Of skill and operation together.
fn data_classifications(assembly: &Assembly<'_>) -> Vec<String> {
    assembly
        .context
        .data_classifications
        .iter()
        .chain(&assembly.declaration.data_classifications)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .cloned()
        .collect()
}

/// What is said about an operation, and its inputs; what it does is still empty.
fn described(assembly: Assembly<'_>) -> Assembled {
    let data_classifications = data_classifications(&assembly);
    let Assembly {
        declaration,
        line,
        inputs,
        read,
        write,
        endpoint,
        ..
    } = assembly;
    let mut examples = Vec::new();
    if !inputs.examples().is_empty() {
        examples.push(Example {
            input: Some(Value::Object(inputs.examples().clone())),
            line: Some(line),
            ..Example::default()
        });
    }
    examples.extend(declaration.examples.iter().cloned());
    Assembled {
        endpoint,
        has_declared_inputs: inputs.are_declared(),
        operation: Operation {
            id: String::new(),
            aliases: declaration.aliases.clone(),
            title: declaration.title.clone(),
            description: declaration.description.clone(),
            line,
            stages: Vec::new(),
            input_schema: inputs.schema(),
            output_schema: declaration.output_schema.clone(),
            secrets: Vec::new(),
            files: Files { read, write },
            asks: Asks::default(),
            notes: declaration.notes.clone(),
            data_classifications,
            returns_secret: returned::pointers(declaration),
            confidence: registry::UNMAPPED,
            examples,
            status: Status::Ok,
        },
    }
}
