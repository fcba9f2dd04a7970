//! The digests that approvals are bound to.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::Load;
use crate::{Files, JudgedOperation, OperationSecret, Stage, digest};

const OPERATION_DOMAIN: &[u8] = b"hydrant.op.v1\n";
const POLICY_DOMAIN: &[u8] = b"hydrant.policy.v1\n";

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Subject<'a> {
    stages: &'a [Stage],
    input_schema: &'a Value,
    secrets: &'a [OperationSecret],
    hosts: &'a [String],
    files: &'a Files,
    tier: u8,
    effects: &'a [String],
    data_classifications: &'a [String],
    base_url: Option<&'a str>,
    constants: &'a BTreeMap<String, String>,
    mapping_version: &'a str,
}

/// The digest of what an operation does. Names, descriptions, examples, lines, aliases and confidence are not covered; what a
/// sandbox asks for is covered by the digest of its policy.
pub(super) fn of(judged: &JudgedOperation, load: Load<'_>) -> Result<String, serde_json::Error> {
    let subject = Subject {
        stages: &judged.stages,
        input_schema: &judged.input_schema,
        secrets: &judged.secrets,
        hosts: &judged.hosts,
        files: &judged.files,
        tier: judged.tier,
        effects: &judged.effects,
        data_classifications: &judged.data_classifications,
        base_url: load.base_url,
        constants: load.constants,
        mapping_version: load.mapping_version,
    };
    digest::of_json(OPERATION_DOMAIN, &subject)
}

/// The digest of an operation's policy, of `null` without one; of an operation that returns a secret, of the policy together
/// with the places that it is taken from: what is taken out of an answer is part of what was approved, although no stage says
/// it.
///
/// # Errors
///
/// Of what has no JSON.
pub fn policy_digest(judged: &JudgedOperation) -> Result<String, serde_json::Error> {
    if judged.returns_secret.is_empty() {
        return digest::of_json(POLICY_DOMAIN, &judged.policy);
    }
    let mut subject = json!({
        "policy": judged.policy,
        "returns-secret": judged.returns_secret,
    });
    if let (Value::Object(subject), false) = (&mut subject, judged.secret_names.is_empty()) {
        subject.insert("secret-names".to_owned(), json!(judged.secret_names));
    }
    digest::of_json(POLICY_DOMAIN, &subject)
}
