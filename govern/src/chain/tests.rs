//! The bytes of records.

#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::Value;

use super::record::{Tail, check, line};
use super::{ChainKey, Entry, Event, Outcome, Used};
use crate::client::{Client, Frontend};
use crate::failure::Code;
use crate::state::Folder;
use crate::time::Time;

/// Texts that JSON escapes, or could escape in more than one way.
const ODD: &str = "\u{0}\u{8}\t\n\u{c}\r\u{1b}\u{1f}\"\\/\u{7f}\u{80}\u{2028}\u{fffd}\u{1f600}é";

fn text() -> Option<String> {
    Some(ODD.to_owned())
}

fn full() -> Entry {
    Entry {
        session: text(),
        run: text(),
        client: Some(Client {
            frontend: Frontend::Mcp,
            jailed: true,
        }),
        capability: text(),
        operation: text(),
        derived_from: text(),
        line: Some(u32::MAX),
        skill_digest: text(),
        op_digest: text(),
        policy_digest: text(),
        delegated_to: vec![ODD.to_owned(), String::new()],
        approval: text(),
        call_seq: Some(7),
        inputs: Some(b"in".to_vec()),
        outputs: Some(Vec::new()),
        resources_consumed: Some(Used {
            cpu_ms: u64::MAX,
            network_bytes: 0,
            storage_bytes: 1 << 40,
            wall_clock_ms: 3,
        }),
        outcome: Outcome::Error,
        code: Some(Code::TooLarge),
        subject: text(),
        ..Entry::new(Event::CapabilityExecuted)
    }
}

/// What is written is the canonical JSON of what it says (K-356, K-363), with every member and without any.
#[test]
fn k_356_a_record_is_written_in_its_canonical_form() {
    let folder = tempfile::tempdir().unwrap();
    let key = ChainKey::load(&Folder::make(folder.path()).unwrap(), true).unwrap();
    let mut tail = Tail::none();
    for entry in [full(), Entry::new(Event::SkillRejected)] {
        let (mut written, next) = line(&entry, &tail, Time::default(), &key).unwrap();
        assert_eq!(written.pop(), Some(b'\n'));
        let value: Value = serde_json::from_slice(&written).unwrap();
        let canonical = serde_json_canonicalizer::to_string(&value).unwrap();
        assert_eq!(String::from_utf8(written.clone()).unwrap(), canonical);
        let record = check(&written, &tail, Some(&key.verifying())).unwrap();
        assert_eq!(record.tail, next);
        tail = next;
    }
}
