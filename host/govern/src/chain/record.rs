//! One line of the chain: how it is made and how it is checked.

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use ed25519_dalek::VerifyingKey;

use super::entry::{Entry, Event, Outcome, Used};
use super::error::ChainError;
use super::key::{self, ChainKey};
use super::verify::Reason;
use crate::client::Client;
use crate::digest::{canonical, hex};
use crate::failure::Code;
use crate::time::Time;

/// The longest line, in bytes with its end: a longer one is no record.
pub(crate) const LONGEST: usize = 256 << 10;

/// What stands before the first record.
pub(crate) const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The largest whole number that every reader of JSON keeps.
const LARGEST: u64 = (1 << 53) - 1;

const HASHED: &str = "hydrant.chain.v1\n";
const SIGNED: &str = "hydrant.sig.v1\n";

/// Where the chain ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tail {
    /// 0: there is no record.
    pub(crate) seq: u64,
    /// Of the last record, else [`ZEROS`].
    pub(crate) hash: String,
    /// Of the last record, else 1970.
    pub(crate) ts: Time,
}

impl Tail {
    /// Of a chain without a record.
    pub(crate) fn none() -> Self {
        Self {
            seq: 0,
            hash: ZEROS.to_owned(),
            ts: Time::default(),
        }
    }
}

// All members in every record; what does not apply is null. They stand in the order of their names, for then what
// serde_json writes is canonical as it is: names are ASCII, numbers whole and below 2^53, texts escaped alike. In three parts,
// since `hash` has its place behind the first, and `sig` behind the second.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct UntilHash<'a> {
    approval: Option<&'a str>,
    call_seq: Option<u64>,
    capability: Option<&'a str>,
    client: Option<Client>,
    code: Option<Code>,
    delegated_to: Delegated<'a>,
    derived_from: Option<&'a str>,
    event: Event,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct UntilSignature<'a> {
    inputs_digest: Option<String>,
    line: Option<u32>,
    op_digest: Option<&'a str>,
    operation: Option<&'a str>,
    outcome: Outcome,
    outputs_digest: Option<String>,
    policy_digest: Option<&'a str>,
    prev: &'a str,
    resources_consumed: Option<Used>,
    run: Option<&'a str>,
    seq: u64,
    session: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct UntilEnd<'a> {
    skill_digest: Option<&'a str>,
    subject: Option<&'a str>,
    ts: Time,
    v: u8,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Delegated<'a> {
    None,
    One(&'a str),
    Several(&'a [String]),
}

impl<'a> From<&'a [String]> for Delegated<'a> {
    fn from(stages: &'a [String]) -> Self {
        match stages {
            [] => Self::None,
            [one] => Self::One(one),
            several => Self::Several(several),
        }
    }
}

/// A record that lacks nothing but its signature.
#[derive(Debug)]
pub(crate) struct Unsigned {
    /// Canonical objects; all of them together, with what has its place between them, are the record.
    parts: [Vec<u8>; 3],
    /// Where the chain ends with it.
    pub(crate) tail: Tail,
    pub(crate) event: Event,
    pub(crate) call_seq: Option<u64>,
}

impl Unsigned {
    /// What an entry after `prev` says.
    pub(crate) fn new(
        entry: &Entry,
        prev: &Tail,
        ts: Time,
        key: &ChainKey,
    ) -> Result<Self, ChainError> {
        let seq = prev.seq.saturating_add(1);
        let parts = [
            serde_json::to_vec(&UntilHash {
                approval: entry.approval.as_deref(),
                call_seq: entry.call_seq,
                capability: entry.capability.as_deref(),
                client: entry.client,
                code: entry.code,
                delegated_to: Delegated::from(entry.delegated_to.as_slice()),
                derived_from: entry.derived_from.as_deref(),
                event: entry.event,
            })?,
            serde_json::to_vec(&UntilSignature {
                inputs_digest: entry.inputs.as_deref().map(|bytes| key.digest(bytes)),
                line: entry.line,
                op_digest: entry.op_digest.as_deref(),
                operation: entry.operation.as_deref(),
                outcome: entry.outcome,
                outputs_digest: entry.outputs.as_deref().map(|bytes| key.digest(bytes)),
                policy_digest: entry.policy_digest.as_deref(),
                prev: &prev.hash,
                resources_consumed: entry.resources_consumed.map(bounded),
                run: entry.run.as_deref(),
                seq,
                session: entry.session.as_deref(),
            })?,
            serde_json::to_vec(&UntilEnd {
                skill_digest: entry.skill_digest.as_deref(),
                subject: entry.subject.as_deref().map(|text| cut(text, 300)),
                ts,
                v: 1,
            })?,
        ];
        let [first, second, third] = parts.each_ref().map(|part| members(part));
        let hash = hash(&joined(&[first, second, third]), &prev.hash);
        Ok(Self {
            tail: Tail { seq, hash, ts },
            parts,
            event: entry.event,
            call_seq: entry.call_seq,
        })
    }

    /// The line, with its end, that has this signature.
    pub(crate) fn line(&self, signature: &str) -> Result<Vec<u8>, ChainError> {
        let [first, second, third] = self.parts.each_ref().map(|part| members(part));
        // Both are ASCII without anything that JSON escapes.
        let hash = format!("\"hash\":\"{}\"", self.tail.hash);
        let signature = format!("\"sig\":\"{signature}\"");
        let (hash, signature) = (hash.as_bytes(), signature.as_bytes());
        let mut line = joined(&[first, hash, second, signature, third]);
        line.push(b'\n');
        if line.len() > LONGEST || self.tail.seq > LARGEST {
            return Err(ChainError::TooLong(line.len()));
        }
        Ok(line)
    }
}

/// The signature of the record that has this hash.
pub(crate) fn signature(key: &ChainKey, hash: &str) -> String {
    key.sign(SIGNED, hash.as_bytes())
}

/// What stands between the braces of an object.
fn members(object: &[u8]) -> &[u8] {
    match object {
        [b'{', members @ .., b'}'] => members,
        other => other,
    }
}

/// The object of these members.
fn joined(members: &[&[u8]]) -> Vec<u8> {
    let mut object = Vec::with_capacity(1024);
    let mut before = b'{';
    for members in members {
        object.push(before);
        object.extend_from_slice(members);
        before = b',';
    }
    object.push(b'}');
    object
}

fn bounded(used: Used) -> Used {
    Used {
        wall_clock_ms: used.wall_clock_ms.min(LARGEST),
        network_bytes: used.network_bytes.min(LARGEST),
        cpu_ms: used.cpu_ms.min(LARGEST),
        storage_bytes: used.storage_bytes.min(LARGEST),
    }
}

fn cut(text: &str, characters: usize) -> &str {
    text.char_indices()
        .nth(characters)
        .and_then(|(end, _)| text.get(..end))
        .unwrap_or(text)
}

/// Returns the hash of a record: over `prev` and the canonical bytes of the record without `hash` and `sig`.
fn hash(body: &[u8], prev: &str) -> String {
    let mut hasher = Sha256::new();
    hasher.update(HASHED);
    hasher.update(prev);
    hasher.update(b"\n");
    hasher.update(body);
    hex(hasher.finalize().as_slice())
}

/// A line that was checked.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) tail: Tail,
    /// Every member.
    pub(crate) members: Value,
}

impl Record {
    /// Of a line that was checked before.
    pub(crate) fn unchecked(line: &[u8]) -> Option<Self> {
        let members: Value = serde_json::from_slice(line).ok()?;
        Some(Self {
            tail: Tail {
                seq: members.get("seq")?.as_u64()?,
                hash: members.get("hash")?.as_str()?.to_owned(),
                ts: serde_json::from_value(members.get("ts")?.clone()).ok()?,
            },
            members,
        })
    }

    /// What happened; none of an event that this version does not know.
    pub(crate) fn event(&self) -> Option<Event> {
        serde_json::from_value(self.members.get("event")?.clone()).ok()
    }

    /// Whether both say the same but for how it ended.
    pub(crate) fn same_as(&self, other: &Self) -> bool {
        [
            "event",
            "session",
            "capability",
            "operation",
            "op-digest",
            "policy-digest",
            "approval",
            "subject",
        ]
        .iter()
        .all(|name| self.members.get(name) == other.members.get(name))
    }

    /// An entry that says the same, as of something that failed.
    pub(crate) fn failed(&self, event: Event, code: Code) -> Entry {
        let text = |name| self.text(name).map(str::to_owned);
        Entry {
            session: text("session"),
            run: text("run"),
            client: self
                .members
                .get("client")
                .and_then(|client| serde_json::from_value(client.clone()).ok()),
            capability: text("capability"),
            operation: text("operation"),
            derived_from: text("derived-from"),
            line: self.number("line").and_then(|line| line.try_into().ok()),
            skill_digest: text("skill-digest"),
            op_digest: text("op-digest"),
            policy_digest: text("policy-digest"),
            delegated_to: match self.members.get("delegated-to") {
                Some(Value::String(one)) => vec![one.clone()],
                Some(Value::Array(several)) => several
                    .iter()
                    .filter_map(|one| one.as_str().map(str::to_owned))
                    .collect(),
                _ => Vec::new(),
            },
            approval: text("approval"),
            subject: text("subject"),
            outcome: Outcome::Error,
            code: Some(code),
            ..Entry::new(event)
        }
    }

    /// A member that is text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.members.get(name).and_then(Value::as_str)
    }

    /// A member that is a whole number.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.members.get(name).and_then(Value::as_u64)
    }
}

/// Checks a line, without its end, that is to follow on `tail`. Without a key the signature is not looked at: what a
/// signed record or head links to is as good as signed.
pub(crate) fn check(
    line: &[u8],
    tail: &Tail,
    key: Option<&VerifyingKey>,
) -> Result<Record, Reason> {
    let mut record: Value = serde_json::from_slice(line).map_err(|_| Reason::Malformed)?;
    // Canonical; two members of one name, other spacing or order would not come out the same.
    let written = canonical(&record).map_err(|_| Reason::Malformed)?;
    let members = record.as_object_mut().ok_or(Reason::Malformed)?;
    if written != line || members.get("v") != Some(&Value::from(1)) {
        return Err(Reason::Malformed);
    }
    let seq = tail.seq.saturating_add(1);
    if members.get("seq").and_then(Value::as_u64) != Some(seq) {
        return Err(Reason::Sequence);
    }
    let ts: Time = members
        .get("ts")
        .cloned()
        .and_then(|ts| serde_json::from_value(ts).ok())
        .ok_or(Reason::Malformed)?;
    if members.get("prev").and_then(Value::as_str) != Some(&tail.hash) {
        return Err(Reason::Hash);
    }
    let (said, signature) = (members.remove("hash"), members.remove("sig"));
    let body = canonical(&record).map_err(|_| Reason::Malformed)?;
    let found = hash(&body, &tail.hash);
    if said.as_ref().and_then(Value::as_str) != Some(&found) {
        return Err(Reason::Hash);
    }
    let good = signature
        .as_ref()
        .and_then(Value::as_str)
        .is_some_and(|text| key.is_none_or(|key| key::signed(key, SIGNED, found.as_bytes(), text)));
    if !good {
        return Err(Reason::Signature);
    }
    if let Some(members) = record.as_object_mut() {
        members.extend([
            ("hash".to_owned(), Value::from(found.as_str())),
            ("sig".to_owned(), signature.unwrap_or_default()),
        ]);
    }
    Ok(Record {
        tail: Tail {
            seq,
            hash: found,
            ts,
        },
        members: record,
    })
}
