//! One audit line: the envelope of one call, allowed or denied, or of one refused operation.
//!
//! Its members are closed; there is no place for inputs, outputs, file contents or host paths.

use std::collections::BTreeSet;
use std::str::FromStr;

use serde::Serialize;

use hydrant_base::{Digest, Timestamp, escaped};
use hydrant_trust::Bundle;

use super::{Execution, Reason, RequestId};

/// Whether the call was executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It was, with success or not.
    Allow,
    /// It was not; or one operation of it was refused.
    Deny,
}

/// The tenant's name, as given by `--context`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ContextId(String);

/// A text that is no context id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid context id: {} (1 to 128 of A-Z a-z 0-9 . _ : -)", escaped(.0))]
pub struct InvalidContextId(String);

/// Characters of a context id.
const MAX_CONTEXT_ID: usize = 128;

impl FromStr for ContextId {
    type Err = InvalidContextId;

    fn from_str(text: &str) -> Result<Self, InvalidContextId> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
        if (1..=MAX_CONTEXT_ID).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidContextId(text.to_owned()))
        }
    }
}

/// What is known of a call that is denied. What was never reached stays empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Denial {
    /// `sha256` of `skill.wasm`, once it could be read.
    pub artifact: Option<Digest>,
    /// Once the policy could be read.
    pub policy_hash: Option<Digest>,
    /// Names in `signatures.json`, once it could be read.
    pub signer_ids: Option<BTreeSet<String>>,
    /// `kind:value` of the manifest, once it could be read.
    pub caps_requested: Option<BTreeSet<String>>,
    /// `sha256` of the request, if there is one yet.
    pub input_hash: Option<Digest>,
}

impl Denial {
    /// A denied run of this bundle.
    #[must_use]
    pub fn of_bundle(bundle: &Bundle) -> Self {
        let capabilities = bundle.manifest().capabilities.iter();
        Self {
            artifact: Some(bundle.artifact().clone()),
            signer_ids: Some(
                bundle
                    .signatures()
                    .signers()
                    .into_iter()
                    .map(str::to_owned)
                    .collect(),
            ),
            caps_requested: Some(capabilities.map(ToString::to_string).collect()),
            ..Self::default()
        }
    }
}

/// One line of the audit log. Members in the order in which they are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Envelope {
    schema_version: &'static str,
    timestamp: Timestamp,
    request_id: RequestId,
    tool_digest: Digest,
    policy_hash: Digest,
    receipt_hash: Digest,
    decision: Decision,
    reason: Reason,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_id: Option<ContextId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runtime_profile: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signer_ids: Option<BTreeSet<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caps_requested: Option<BTreeSet<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caps_granted: Option<BTreeSet<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caps_used: Option<BTreeSet<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_hash: Option<Digest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_hash: Option<Digest>,
}

impl Envelope {
    /// The final line of a call that was executed, with success or not. Without a receipt the hash is zero.
    #[must_use]
    pub fn allow(
        request_id: RequestId,
        context_id: Option<ContextId>,
        execution: &Execution,
        receipt_hash: Option<&Digest>,
    ) -> Self {
        Self {
            schema_version: "1.0.0",
            timestamp: Timestamp::now(),
            request_id,
            tool_digest: execution.artifact.clone(),
            policy_hash: execution.policy_hash.clone(),
            receipt_hash: receipt_hash.cloned().unwrap_or_else(Digest::zero),
            decision: Decision::Allow,
            reason: Reason::of(&execution.outcome),
            context_id,
            runtime_profile: Some(execution.profile.as_str()),
            signer_ids: Some(execution.signer_ids.clone()),
            caps_requested: Some(execution.caps_requested.clone()),
            caps_granted: Some(execution.caps_granted.clone()),
            caps_used: Some(execution.caps_used.clone()),
            input_hash: Some(execution.inputs_hash.clone()),
            output_hash: Some(execution.outputs_hash.clone()),
        }
    }

    /// The final line of a call that was not executed, or the line of one refused operation.
    #[must_use]
    pub fn deny(
        request_id: RequestId,
        context_id: Option<ContextId>,
        denial: Denial,
        reason: Reason,
    ) -> Self {
        // A digest that does not exist is all zeros.
        let or_zero = |digest: Option<Digest>| digest.unwrap_or_else(Digest::zero);
        Self {
            schema_version: "1.0.0",
            timestamp: Timestamp::now(),
            request_id,
            tool_digest: or_zero(denial.artifact),
            policy_hash: or_zero(denial.policy_hash),
            receipt_hash: Digest::zero(),
            decision: Decision::Deny,
            reason,
            context_id,
            runtime_profile: None,
            signer_ids: denial.signer_ids,
            caps_requested: denial.caps_requested,
            caps_granted: None,
            caps_used: None,
            input_hash: denial.input_hash,
            output_hash: None,
        }
    }

    /// The same line at another time, for lines whose bytes are compared.
    #[must_use]
    pub fn at(mut self, timestamp: Timestamp) -> Self {
        self.timestamp = timestamp;
        self
    }

    /// The line without its LF: compact JSON.
    #[must_use]
    pub fn to_line(&self) -> String {
        // Strings, digests and sets of strings: there is nothing that JSON could not hold.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Appends the line with its LF.
    pub(super) fn write_to(&self, lines: &mut Vec<u8>) {
        lines.extend_from_slice(self.to_line().as_bytes());
        lines.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{failed, worked};
    use super::*;

    const TIME: u64 = 1_767_225_600_123;

    fn allow(execution: &Execution, receipt_hash: Option<&Digest>) -> String {
        Envelope::allow(RequestId::fixed(), None, execution, receipt_hash)
            .at(Timestamp::from_unix_milliseconds(TIME))
            .to_line()
    }

    #[test]
    fn the_frozen_line_of_a_success() {
        let receipt = Digest::of(b"receipt");
        let line = allow(&worked(), Some(&receipt));
        assert_eq!(
            line,
            concat!(
                r#"{"schema_version":"1.0.0","timestamp":"2026-01-01T00:00:00.123Z","#,
                r#""request_id":"req_01KDVDNA000000000000000001","#,
                r#""tool_digest":"sha256:24eaf3439a60c96764c4f2c92a0a81b52bd4fe5d5b91f090184a0f6486b1bf29","#,
                r#""policy_hash":"sha256:bbb19d00b13e9b607ac57f41c7a62ca0958c10de0820c0ab5db856edb6ca3066","#,
                r#""receipt_hash":"sha256:RECEIPT","decision":"allow","reason":"verified_execution_success","#,
                r#""runtime_profile":"component-v0","signer_ids":["example.a","example.b"],"#,
                r#""caps_requested":["fs.read:/workspace"],"caps_granted":["fs.read:/workspace"],"#,
                r#""caps_used":["fs.read"],"#,
                r#""input_hash":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","#,
                r#""output_hash":"sha256:2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1df"}"#,
            )
            .replace("sha256:RECEIPT", receipt.as_str())
        );
    }

    #[test]
    fn a_context_stands_behind_the_reason() {
        let context = Some("tenant-1:a.b_c".parse().unwrap());
        let line = Envelope::allow(RequestId::fixed(), context, &worked(), None).to_line();
        let part = r#""reason":"verified_execution_success","context_id":"tenant-1:a.b_c","runtime_profile""#;
        assert!(line.contains(part), "{line}");
    }

    #[test]
    fn no_receipt_is_the_zero_digest() {
        let line = allow(&failed(), None);
        let zero = format!("\"receipt_hash\":\"sha256:{}\"", "0".repeat(64));
        assert!(line.contains(&zero), "{line}");
    }

    #[test]
    fn a_failed_execution_is_still_an_allowed_one() {
        let line = allow(&failed(), None);
        let part = r#""decision":"allow","reason":"execution_failed:trap""#;
        assert!(line.contains(part), "{line}");
    }

    #[test]
    fn a_denial_says_only_what_is_known() {
        let line = Envelope::deny(
            RequestId::fixed(),
            None,
            Denial::default(),
            Reason::PolicyInvalid,
        )
        .at(Timestamp::from_unix_milliseconds(TIME))
        .to_line();
        let zero = Digest::zero();
        assert_eq!(
            line,
            format!(
                "{{\"schema_version\":\"1.0.0\",\"timestamp\":\"2026-01-01T00:00:00.123Z\",\
                 \"request_id\":\"{}\",\"tool_digest\":\"{zero}\",\"policy_hash\":\"{zero}\",\
                 \"receipt_hash\":\"{zero}\",\"decision\":\"deny\",\"reason\":\"policy_invalid\"}}",
                RequestId::fixed()
            )
        );
    }

    #[test]
    fn a_denial_carries_what_was_reached() {
        let execution = worked();
        let denial = Denial {
            artifact: Some(execution.artifact.clone()),
            policy_hash: Some(execution.policy_hash.clone()),
            signer_ids: Some(execution.signer_ids.clone()),
            caps_requested: Some(execution.caps_requested.clone()),
            input_hash: Some(execution.inputs_hash.clone()),
        };
        let reason = Reason::capability_denied("fs.read", "/workspace");
        let line = Envelope::deny(RequestId::fixed(), None, denial, reason).to_line();
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["tool_digest"], execution.artifact.as_str());
        assert_eq!(value["signer_ids"][0], "example.a");
        assert_eq!(value["caps_requested"][0], "fs.read:/workspace");
        assert_eq!(value["reason"], "capability_denied:fs.read:/workspace");
        assert_eq!(value.get("output_hash"), None);
    }

    #[test]
    fn a_line_never_holds_a_line_end() {
        let mut execution = worked();
        execution.signer_ids.insert("a\nb\u{2028}".into());
        assert!(!allow(&execution, None).contains('\n'));
    }

    #[test]
    fn context_ids_have_a_closed_form() {
        let long = "a".repeat(128);
        for good in ["a", "A.b_c:d-9", &long] {
            assert!(good.parse::<ContextId>().is_ok(), "{good}");
        }
        let longer = "a".repeat(129);
        for bad in ["", " ", "a b", "a/b", "ä", "a\n", &longer] {
            let error = bad.parse::<ContextId>().unwrap_err().to_string();
            assert!(error.starts_with("invalid context id: "), "{error}");
            assert!(!error.contains('\n'));
        }
    }
}
