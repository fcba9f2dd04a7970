use super::super::super::testing::{failed, worked};
use super::super::super::{Code, Outcome, RuntimeProfile};
use super::super::{Receipt, ReceiptFormat, pretty_json};
use super::*;
use hydrant_base::Timestamp;

/// The draft receipt of the run of the worked example by version 0.1.0. Its hashes were computed by another program.
const SUCCESS: &str = r#"{
  "schema_version": "1.0.0-draft",
  "artifact": "sha256:24eaf3439a60c96764c4f2c92a0a81b52bd4fe5d5b91f090184a0f6486b1bf29",
  "manifest_hash": "sha256:714af0b1eef109c008f0daadd9611160e7cd918c636da2fa90e51108c6075467",
  "policy_hash": "sha256:bbb19d00b13e9b607ac57f41c7a62ca0958c10de0820c0ab5db856edb6ca3066",
  "bundle_hash": "sha256:0cf84783212988509a7235d5dbd5859b2c1a30aff2eaa23e5932539df3f386b3",
  "inputs_hash": "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
  "outputs_hash": "sha256:2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1df",
  "runtime_version_digest": "sha256:113ebf520c63036d0d12e0de766c2caba02de39d648a53ceb3c7b94d0e5a5e7a",
  "result_digest": "sha256:7ff4f98c294b65b08aff4310abe31fd275be5ebe1efafe9e36dcf6b0c019ec10",
  "caps_requested": [
    "fs.read:/workspace"
  ],
  "caps_granted": [
    "fs.read:/workspace"
  ],
  "caps_used": [
    "fs.read"
  ],
  "result": {
    "status": "success",
    "code": "ok"
  },
  "runtime": {
    "name": "hydrant",
    "version": "0.1.0",
    "profile": "component-v0"
  },
  "started_at": 1767225599,
  "finished_at": 1767225600,
  "timestamp_strategy": "local_untrusted_unix_seconds",
  "receipt_hash": "sha256:44583134bea18b00d1f77428c76d16f9e14c40b91a35eafa901483c81680fec4"
}"#;
/// `receipt_hash` of the same receipt if the absent attestations were left out of the preimage.
const WITHOUT_NULL: &str =
    "sha256:6c49ffaaa34497a3967b6773fc4bea167d8e93346db67c7788fe68f0c39a446b";
/// `result_digest` and `receipt_hash` of the run that ended by a trap.
const FAILURE: [&str; 2] = [
    "sha256:b72f2d913fb2bb24e7a3d515d40fda9a62bee2758a0c7d6a4cfd6854c65f2f5c",
    "sha256:0d0f5e02b765b391da5441dc65253cd5b17efa855754e7a593dc4346c718bdee",
];
/// `receipt_hash` of the first receipt with the attestation `{"type": "slsa", "value": "x"}`.
const WITH_ATTESTATION: &str =
    "sha256:6e3eee4c59402d7f4cbdfaaf40606a89f369c18b1d3b28fdb4df474cf5b1c250";

fn good() -> ReceiptV1 {
    ReceiptV1::by(&worked(), "0.1.0")
}

fn refusal(receipt: &ReceiptV1) -> String {
    let bytes = pretty_json(receipt);
    ReceiptV1::parse(&bytes).unwrap_err().to_string()
}

#[test]
fn the_frozen_receipt_of_a_success() {
    assert_eq!(String::from_utf8(pretty_json(&good())).unwrap(), SUCCESS);
    let read = ReceiptV1::parse(SUCCESS.as_bytes()).unwrap();
    assert_eq!(read, good());
    assert!(read.verify().is_ok());
}

#[test]
fn the_frozen_receipt_of_a_failure() {
    let receipt = ReceiptV1::by(&failed(), "0.1.0");
    let [result_digest, receipt_hash] = FAILURE;
    assert_eq!(receipt.result.status, "failure");
    assert_eq!(receipt.result.code, "trap");
    assert_eq!(
        receipt.result.message.as_deref(),
        Some("wasm trap: unreachable")
    );
    assert_eq!(receipt.outputs_hash, Digest::of(b""));
    assert_eq!(receipt.result_digest.as_str(), result_digest);
    assert_eq!(receipt.receipt_hash.as_str(), receipt_hash);
}

#[test]
fn absent_attestations_are_null_in_the_preimage_only() {
    assert!(!SUCCESS.contains("attestations"));
    let wrong = SUCCESS.replace(good().receipt_hash.as_str(), WITHOUT_NULL);
    let receipt = ReceiptV1::parse(wrong.as_bytes()).unwrap();
    assert!(receipt.verify().is_err());
    let null = SUCCESS.replace(
        "\"receipt_hash\"",
        "\"attestations\": null,\n  \"receipt_hash\"",
    );
    assert!(ReceiptV1::parse(null.as_bytes()).unwrap().verify().is_ok());
}

#[test]
fn attestations_are_under_the_hash() {
    let mut receipt = good();
    receipt.attestations = Some(vec![Attestation {
        kind: "slsa".into(),
        value: "x".into(),
    }]);
    assert!(receipt.verify().is_err());
    receipt.receipt_hash = WITH_ATTESTATION.parse().unwrap();
    assert!(receipt.verify().is_ok());
    let read = ReceiptV1::parse(&pretty_json(&receipt)).unwrap();
    assert_eq!(read, receipt);
}

#[test]
fn an_absent_message_and_profile_are_left_out() {
    let mut receipt = good();
    receipt.runtime.profile = None;
    let text = String::from_utf8(pretty_json(&receipt)).unwrap();
    assert!(!text.contains("profile") && !text.contains("message"));
    assert!(receipt.verify().is_err());
}

#[test]
fn the_message_is_not_part_of_the_result_digest() {
    let with = |message| {
        let mut execution = failed();
        execution.outcome = Outcome::failure(Code::Trap, message);
        ReceiptV1::of(&execution)
    };
    let (one, other) = (with("one"), with("other"));
    assert_eq!(one.result_digest, other.result_digest);
    assert_ne!(one.receipt_hash, other.receipt_hash);
}

#[test]
fn the_runtime_is_this_version_and_the_kind_of_guest() {
    let mut execution = worked();
    execution.profile = RuntimeProfile::ProvenactCoreV0;
    let runtime = ReceiptV1::of(&execution).runtime;
    assert_eq!(runtime.name, "hydrant");
    assert_eq!(runtime.version, env!("CARGO_PKG_VERSION"));
    assert_eq!(runtime.profile.as_deref(), Some("provenact-core-v0"));
}

#[test]
fn capabilities_are_sorted() {
    let mut execution = worked();
    execution.caps_requested = ["net.http:https://b/", "fs.read:/workspace"]
        .map(str::to_owned)
        .into();
    let receipt = ReceiptV1::of(&execution);
    assert_eq!(
        receipt.caps_requested,
        ["fs.read:/workspace", "net.http:https://b/"]
    );
}

#[test]
fn every_member_is_under_the_hash() {
    let other = || Digest::of(b"other");
    let changes: [fn(&mut ReceiptV1, Digest); 17] = [
        |receipt, _| receipt.schema_version.push('x'),
        |receipt, other| receipt.artifact = other,
        |receipt, other| receipt.manifest_hash = other,
        |receipt, other| receipt.policy_hash = other,
        |receipt, other| receipt.bundle_hash = other,
        |receipt, other| receipt.inputs_hash = other,
        |receipt, other| receipt.outputs_hash = other,
        |receipt, other| receipt.runtime_version_digest = other,
        |receipt, other| receipt.result_digest = other,
        |receipt, _| receipt.caps_requested.clear(),
        |receipt, _| receipt.caps_granted.clear(),
        |receipt, _| receipt.caps_used.clear(),
        |receipt, _| receipt.result.code.push('x'),
        |receipt, _| receipt.runtime.version.push('x'),
        |receipt, _| receipt.started_at -= 1,
        |receipt, _| receipt.finished_at += 1,
        |receipt, _| receipt.timestamp_strategy.push('x'),
    ];
    for (at, change) in changes.iter().enumerate() {
        let mut receipt = good();
        change(&mut receipt, other());
        let error = receipt.verify().unwrap_err().to_string();
        assert!(error.starts_with("digest mismatch"), "{at}: {error}");
    }
}

type Change = fn(&mut ReceiptV1);

#[test]
fn values_that_a_member_may_not_have() {
    let changes: [(Change, &str); 12] = [
        (
            |receipt| receipt.caps_requested.push(String::new()),
            "empty items",
        ),
        (
            |receipt| receipt.caps_granted.push(String::new()),
            "empty items",
        ),
        (
            |receipt| receipt.caps_used.push(String::new()),
            "empty items",
        ),
        (
            |receipt| receipt.result.status = "SUCCESS".into(),
            "result.status",
        ),
        (|receipt| receipt.result.status.clear(), "result.status"),
        (|receipt| receipt.result.code.clear(), "result.code"),
        (|receipt| receipt.runtime.name.clear(), "runtime.name"),
        (
            |receipt| receipt.runtime.version.clear(),
            "runtime.name/version",
        ),
        (
            |receipt| receipt.started_at = receipt.finished_at + 1,
            "finished_at",
        ),
        (
            |receipt| receipt.timestamp_strategy = "ntp".into(),
            "timestamp_strategy",
        ),
        (
            |receipt| receipt.attestations = Some(attestation("", "x")),
            "attestations",
        ),
        (
            |receipt| receipt.attestations = Some(attestation("x", "")),
            "attestations",
        ),
    ];
    for (change, part) in changes {
        let mut receipt = good();
        change(&mut receipt);
        let error = refusal(&receipt);
        assert!(error.starts_with("invalid draft field: receipt"), "{error}");
        assert!(error.contains(part), "{error}");
    }
}

fn attestation(kind: &str, value: &str) -> Vec<Attestation> {
    vec![Attestation {
        kind: kind.into(),
        value: value.into(),
    }]
}

#[test]
fn another_schema_version_is_named() {
    let mut receipt = good();
    receipt.schema_version = "2\n".into();
    assert_eq!(
        refusal(&receipt),
        "unsupported receipt schema version: 2\\u{a}"
    );
}

#[test]
fn shape_is_checked_without_the_hash() {
    let mut receipt = good();
    receipt.receipt_hash = Digest::zero();
    assert!(ReceiptV1::parse(&pretty_json(&receipt)).is_ok());
}

#[test]
fn a_clock_that_was_set_back_gives_a_receipt_that_is_accepted() {
    let mut execution = worked();
    execution.finished_at = Timestamp::from_unix_seconds(1);
    let receipt = Receipt::of(&execution, ReceiptFormat::V1Draft).unwrap();
    assert!(ReceiptV1::parse(&receipt.to_bytes()).is_ok());
    assert!(receipt.verify().is_ok());
}
