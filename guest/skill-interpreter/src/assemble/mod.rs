//! Drafts to operations (sections 11, 12, 15, 21, and K-216).
//!
//! A draft says what is to be done in the author's words. Here its variables become inputs and secrets, its URL, query, headers
//! and body become segments, and what the approver is shown is derived: schema, hosts, tier, reasons, policy.

mod absorb;
mod approval;
pub mod base;
mod body;
mod cookies;
pub mod credential;
mod data_files;
mod digest;
mod encode;
mod encoded_pairs;
mod headers;
mod http;
mod inputs;
mod json_body;
mod json_text;
mod notes;
mod pairs;
pub mod placeholder;
mod policy;
mod resolve;
mod returned;
mod sandbox;
pub mod secrets;
mod stages;
mod url;
mod url_parts;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub use credential::looks_like_credential;
pub use url_parts::is_base_name;

use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::{Declaration, Draft, DraftStage, Example};
use crate::failure::Failure;
use crate::mapping::registry;
pub use crate::model::Endpoint;
use crate::model::{Files, Operation, OperationSecret, SecretKind, Stage, Status};
use resolve::Assembly;

/// Makes an operation. It has no id and no digest yet.
///
/// What cannot be used is an operation with status `unusable`.
#[must_use]
pub fn operation(
    draft: &Draft,
    declaration: &Declaration,
    context: &Context,
    diagnostics: &mut Diagnostics,
) -> Operation {
    let mut assembly = Assembly::new(draft.line, declaration, context, diagnostics);
    let outcome = match &draft.plan {
        Ok(stages) => assembly
            .stages(stages)
            .map(|(assembled, confidence)| (stages.as_slice(), assembled, confidence)),
        Err(failure) => Err(failure.clone()),
    };
    match outcome {
        Ok((drafts, stages, confidence)) => usable(assembly, drafts, stages, confidence),
        Err(failure) => unusable(assembly, failure),
    }
}

/// The endpoint of an operation whose first request has a URL, usable or not.
#[must_use]
pub fn endpoint(operation: &Operation) -> Option<&Endpoint> {
    operation.endpoint.as_ref()
}

/// K-101, K-199: makes `other` an example of `operation`: what it has more are optional inputs, what it lacks is optional.
pub fn absorb(operation: &mut Operation, other: &Operation) {
    absorb::absorb(operation, other);
}

/// K-216: computes the digest. To be called last, when id, aliases and examples are known (none of them is covered).
pub fn seal(operation: &mut Operation) {
    // No document can make what has no canonical form; if one did, the empty digest would not be the host's (K-04).
    operation.digest = digest::of(operation).unwrap_or_default();
}

fn usable(
    assembly: Assembly<'_>,
    drafts: &[DraftStage],
    stages: Vec<Stage>,
    confidence: f64,
) -> Operation {
    let hosts: Vec<String> = assembly.hosts.iter().cloned().collect();
    let secrets: Vec<OperationSecret> = assembly
        .secrets
        .iter()
        .map(|(name, kind)| OperationSecret {
            name: name.clone(),
            kind: *kind,
            // What goes elsewhere than into a request goes to no host.
            hosts: if *kind == SecretKind::Other && !stages.iter().any(is_http) {
                Vec::new()
            } else {
                hosts.clone()
            },
        })
        .collect();
    let derived = policy::derive(
        drafts,
        assembly.line,
        assembly.declaration,
        assembly.context,
        &secrets,
    );
    let data_classifications = data_classifications(&assembly);
    let subject = approval::derive(approval::Facts {
        drafts,
        stages: &stages,
        hosts: &hosts,
        secrets: &secrets,
        read: &assembly.read,
        write: &assembly.write,
        policy: derived.as_ref().map(|derived| &derived.policy),
        data_classifications: &data_classifications,
        declaration: assembly.declaration,
        context: assembly.context,
    });
    let (policy, policy_sources, notes) = match derived {
        Some(derived) => (Some(derived.policy), derived.sources, derived.notes),
        None => (None, Vec::new(), Vec::new()),
    };
    let mut operation = described(assembly, data_classifications);
    operation.stages = stages;
    operation.secrets = secrets;
    operation.hosts = hosts;
    operation.policy = policy;
    operation.policy_sources = policy_sources;
    operation.notes.extend(notes);
    operation.tier = subject.tier;
    operation.effects = subject.effects;
    operation.reasons = subject.reasons;
    operation.requires = subject.requires;
    operation.confidence = confidence;
    operation
}

fn unusable(assembly: Assembly<'_>, failure: Failure) -> Operation {
    let line = assembly.line;
    let data_classifications = data_classifications(&assembly);
    let mut operation = described(assembly, data_classifications);
    let failure = failure.at_line(line);
    operation.status = Status::Unusable {
        code: failure.code,
        error: failure,
    };
    operation
}

fn is_http(stage: &Stage) -> bool {
    matches!(stage, Stage::Http(_))
}

/// K-69: of skill and operation together.
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
fn described(assembly: Assembly<'_>, data_classifications: Vec<String>) -> Operation {
    let Assembly {
        context,
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
    Operation {
        id: String::new(),
        aliases: declaration.aliases.clone(),
        title: declaration.title.clone(),
        description: declaration.description.clone(),
        line,
        stages: Vec::new(),
        has_declared_inputs: inputs.are_declared(),
        input_schema: inputs.schema(),
        output_schema: declaration.output_schema.clone(),
        secrets: Vec::new(),
        hosts: Vec::new(),
        files: Files { read, write },
        policy: None,
        policy_sources: Vec::new(),
        notes: declaration.notes.clone(),
        // K-255: what is not understood is not trusted.
        tier: 3,
        effects: Vec::new(),
        reasons: Vec::new(),
        requires: Vec::new(),
        data_classifications,
        returns_secret: returned::pointers(declaration),
        secret_names: BTreeMap::new(),
        confidence: registry::UNMAPPED,
        examples,
        status: Status::Ok,
        digest: String::new(),
        endpoint,
        load: context.load_subject(),
    }
}
