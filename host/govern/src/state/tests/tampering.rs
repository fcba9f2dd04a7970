//! What somebody does who can write to the state directory but has no key.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Home, entry, insert};
use crate::chain::{Anchor, Event, Reason, Verdict, verify};

/// A chain of six records, the third witnessed by a change.
fn six() -> Home {
    let home = Home::new();
    let state = home.open();
    for number in 1..=6 {
        if number == 3 {
            insert(&state, 3, &[entry(Event::ApprovalGranted, "a.b3")]).unwrap();
        } else {
            state
                .append(vec![entry(
                    Event::CapabilityDenied,
                    &format!("a.b{number}"),
                )])
                .unwrap();
        }
    }
    home
}

fn segment(home: &Home) -> PathBuf {
    home.path().join("chain/000001.jsonl")
}

fn lines(home: &Home) -> Vec<String> {
    let text = fs::read_to_string(segment(home)).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn put(home: &Home, lines: &[String]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(segment(home), text).unwrap();
}

fn bad(verdict: &Verdict) -> (u64, Reason) {
    assert!(!verdict.ok);
    (verdict.first_bad_seq.unwrap(), verdict.reason.unwrap())
}

#[test]
fn any_member_that_is_changed_is_found_and_the_record_named() {
    let home = six();
    let whole = lines(&home);
    let members: Vec<String> = serde_json::from_str::<Value>(&whole[3])
        .unwrap()
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert_eq!(members.len(), 26);
    for member in members {
        let mut record: Value = serde_json::from_str(&whole[3]).unwrap();
        let other = match &record[&member] {
            Value::Number(number) => json!(number.as_u64().unwrap() + 1),
            Value::String(text) if text.starts_with('A') => json!(format!("B{text}")),
            Value::String(text) => json!(format!("A{}", text.get(1..).unwrap())),
            _ => json!("x"),
        };
        record[&member] = other;
        let mut changed = whole.clone();
        changed[3] = String::from_utf8(serde_json_canonicalizer::to_vec(&record).unwrap()).unwrap();
        put(&home, &changed);
        let verdict = home.verify();
        let (seq, reason) = bad(&verdict);
        assert_eq!((seq, verdict.records), (4, 3), "{member}");
        let expected = match member.as_str() {
            "seq" => Reason::Sequence,
            "sig" => Reason::Signature,
            "v" | "ts" => Reason::Malformed,
            _ => Reason::Hash,
        };
        assert_eq!(reason, expected, "{member}");
        assert!(
            home.open().damage().is_some() || member == "sig",
            "{member}"
        );
    }
}

#[test]
fn one_byte_changed_anywhere_is_found() {
    let home = six();
    let whole = fs::read(segment(&home)).unwrap();
    for at in (0..whole.len()).step_by(7) {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        fs::write(segment(&home), &changed).unwrap();
        let before = whole[..at].iter().filter(|byte| **byte == b'\n');
        let seq = u64::try_from(before.count()).unwrap() + 1;
        assert_eq!(bad(&home.verify()).0, seq, "byte {at}");
    }
}

#[test]
fn records_removed_inserted_and_reordered_are_found() {
    let home = six();
    let whole = lines(&home);
    let mut removed = whole.clone();
    removed.remove(2);
    let mut doubled = whole.clone();
    doubled.insert(3, whole[2].clone());
    let mut swapped = whole.clone();
    swapped.swap(1, 2);
    let mut blank = whole.clone();
    blank.insert(2, String::new());
    let first = whole[1..].to_vec();
    for (lines, seq, reason) in [
        (removed, 3, Reason::Sequence),
        (doubled, 4, Reason::Sequence),
        (swapped, 2, Reason::Sequence),
        (blank, 3, Reason::Malformed),
        (first, 1, Reason::Sequence),
    ] {
        put(&home, &lines);
        assert_eq!(bad(&home.verify()), (seq, reason));
        assert!(home.open().damage().is_some());
    }
}

#[test]
fn records_cut_off_are_found() {
    let home = six();
    let whole = lines(&home);
    for kept in 0..6 {
        put(&home, &whole[..kept]);
        assert_eq!(
            bad(&home.verify()),
            (u64::try_from(kept).unwrap() + 1, Reason::Truncated),
            "{kept}"
        );
        let state = home.open();
        let refused = state.append(vec![entry(Event::CapabilityDenied, "a.b")]);
        assert_eq!(
            refused.unwrap_err().code,
            crate::failure::Code::AuditUnavailable
        );
    }
    fs::remove_file(segment(&home)).unwrap();
    assert_eq!(bad(&home.verify()), (1, Reason::Truncated));
}

#[test]
fn a_head_that_is_older_swapped_or_missing_is_found() {
    let home = Home::new();
    let state = home.open();
    let head = home.path().join("chain/HEAD");
    let mut heads = Vec::new();
    for number in 1..=4 {
        let denied = entry(Event::CapabilityDenied, &format!("a.b{number}"));
        state.append(vec![denied]).unwrap();
        heads.push(fs::read(&head).unwrap());
    }
    drop(state);
    // One behind is what a crash leaves.
    fs::write(&head, &heads[2]).unwrap();
    assert!(home.verify().ok);
    // Two behind is not, even if each HEAD was signed.
    fs::write(&head, &heads[1]).unwrap();
    assert_eq!(bad(&home.verify()), (4, Reason::Head));
    assert!(home.open().damage().is_some());
    fs::remove_file(&head).unwrap();
    assert_eq!(bad(&home.verify()).1, Reason::Head);
    assert!(home.open().damage().is_some());
    // Cut off, with a HEAD made from what the last record says and its signature.
    let whole = lines(&home);
    put(&home, &whole[..2]);
    let record: Value = serde_json::from_str(&whole[1]).unwrap();
    let forged =
        json!({"hash": record["hash"], "seq": 2, "sig": record["sig"], "ts": record["ts"]});
    fs::write(&head, format!("{forged}\n")).unwrap();
    assert_eq!(bad(&home.verify()).1, Reason::Head);
    assert!(home.open().damage().is_some());
    // Cut off, with the HEAD that was right then: the database knows better.
    fs::write(&head, &heads[1]).unwrap();
    assert_eq!(bad(&home.verify()), (3, Reason::Witness));
    assert!(home.open().damage().is_some());
}

#[test]
fn a_state_rolled_back_as_a_whole_is_found_with_an_anchor_only() {
    let home = Home::new();
    let state = home.open();
    state
        .append(vec![entry(Event::CapabilityDenied, "a.b")])
        .unwrap();
    drop(state);
    let copy = Home::new();
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .args([home.path(), copy.path()])
        .status();
    assert!(copied.unwrap().success());
    let state = home.open();
    let head = state
        .append(vec![entry(Event::CapabilityDenied, "a.b")])
        .unwrap();
    let anchor: Anchor = format!("{}:{}", head.seq, head.hash).parse().unwrap();
    assert!(verify(&home.path(), Some(&anchor), &|| false).unwrap().ok);
    assert!(copy.verify().ok);
    let verdict = verify(&copy.path(), Some(&anchor), &|| false).unwrap();
    assert_eq!(bad(&verdict), (2, Reason::Truncated));
    // The same number, but of another chain.
    copy.open()
        .append(vec![entry(Event::CapabilityDenied, "other")])
        .unwrap();
    let verdict = verify(&copy.path(), Some(&anchor), &|| false).unwrap();
    assert_eq!(bad(&verdict), (2, Reason::Hash));
}

#[test]
fn another_key_is_found() {
    let home = six();
    let other = six();
    for name in ["audit.pub", "audit.key"] {
        fs::copy(other.path().join(name), home.path().join(name)).unwrap();
    }
    assert_eq!(bad(&home.verify()), (1, Reason::Signature));
    assert!(home.open().damage().is_some());
    fs::remove_file(home.path().join("audit.pub")).unwrap();
    assert_eq!(bad(&home.verify()), (1, Reason::Signature));
}

#[test]
fn a_chain_whose_key_is_gone_is_not_continued_with_another() {
    let home = six();
    fs::remove_file(home.path().join("audit.key")).unwrap();
    assert!(home.verify().ok);
    assert!(home.open().damage().is_some());
    fs::remove_file(home.path().join("audit.pub")).unwrap();
    assert!(home.open().damage().is_some());
    assert!(!home.path().join("audit.key").exists());
}

#[test]
fn a_chain_that_was_moved_away_is_begun_anew_and_says_so() {
    let home = six();
    let last: Value = serde_json::from_str(&lines(&home)[5]).unwrap();
    fs::rename(home.path().join("chain"), home.path().join("chain.old")).unwrap();
    assert!(!home.verify().ok);
    let state = home.open();
    assert_eq!(state.damage(), None);
    let records = home.records();
    assert_eq!(records[0]["event"], "chain-recovered");
    let subject = records[0]["subject"].as_str().unwrap();
    assert!(subject.contains(&format!("6:{}", last["hash"].as_str().unwrap())));
    assert!(home.verify().ok);
    assert_eq!(records.len(), 1);
}

#[test]
fn what_is_changed_while_the_host_runs_is_found() {
    let home = six();
    let state = home.open();
    let mut lines = lines(&home);
    lines[1] = lines[1].replace("a.b2", "a.b9");
    put(&home, &lines);
    state
        .append(vec![entry(Event::CapabilityDenied, "a.b7")])
        .unwrap();
    assert_eq!(bad(&home.verify()), (2, Reason::Hash));
    // What is cut off while it runs stops it.
    put(&home, &lines[..5]);
    let refused = state.append(vec![entry(Event::CapabilityDenied, "a.b8")]);
    assert_eq!(
        refused.unwrap_err().code,
        crate::failure::Code::AuditUnavailable
    );
    assert!(state.damage().is_some());
}

#[test]
fn an_older_database_does_not_bring_a_revoked_grant_back() {
    let home = Home::new();
    let state = home.open();
    insert(&state, 1, &[entry(Event::ApprovalGranted, "a.b")]).unwrap();
    drop(state);
    let database = home.path().join("govern.sqlite");
    let old = fs::read(&database).unwrap();
    let state = home.open();
    state
        .write(|change| {
            change.database.execute("DELETE FROM t", []).unwrap();
            change.record(entry(Event::ApprovalRevoked, "a.b"));
            Ok(())
        })
        .unwrap();
    state
        .append(vec![entry(Event::CapabilityDenied, "a.b")])
        .unwrap();
    drop(state);
    for beside in ["-wal", "-shm"] {
        let _ = fs::remove_file(home.path().join(format!("govern.sqlite{beside}")));
    }
    fs::write(&database, old).unwrap();
    let damage = home.open().damage().unwrap();
    assert!(damage.message.contains("older"), "{damage}");
    assert_eq!(home.verify().reason, Some(Reason::OlderDatabase));
}

#[test]
fn no_earlier_head_is_left_to_go_back_to() {
    let home = Home::new();
    let state = home.open();
    for _ in 0..3 {
        state
            .append(vec![entry(Event::CapabilityDenied, "a.b")])
            .unwrap();
    }
    drop(state);
    let chain = home.path().join("chain");
    let head = fs::read(chain.join("HEAD")).unwrap();
    for file in fs::read_dir(&chain).unwrap() {
        let file = file.unwrap();
        if file.file_name() != "HEAD" && file.file_name().to_string_lossy().starts_with("HEAD") {
            let left = fs::read(file.path()).unwrap();
            assert!(serde_json::from_slice::<Value>(&left).is_err());
            // What is put in its place is seen.
            fs::write(chain.join("HEAD"), left).unwrap();
            assert!(!home.verify().ok);
            fs::write(chain.join("HEAD"), &head).unwrap();
        }
    }
    assert!(home.verify().ok);
}
