//! Executions that the tests of this module share.

use hydrant_base::{Digest, Timestamp};

use super::{Code, Execution, Outcome, RuntimeProfile};

fn digest(text: &str) -> Digest {
    text.parse().unwrap()
}

/// A run with input `{}` and output `ok`, at 2026-01-01, with the example bundle and the example policy.
pub(super) fn worked() -> Execution {
    Execution {
        artifact: digest("sha256:24eaf3439a60c96764c4f2c92a0a81b52bd4fe5d5b91f090184a0f6486b1bf29"),
        manifest_hash: digest(
            "sha256:714af0b1eef109c008f0daadd9611160e7cd918c636da2fa90e51108c6075467",
        ),
        policy_hash: digest(
            "sha256:bbb19d00b13e9b607ac57f41c7a62ca0958c10de0820c0ab5db856edb6ca3066",
        ),
        bundle_hash: digest(
            "sha256:0cf84783212988509a7235d5dbd5859b2c1a30aff2eaa23e5932539df3f386b3",
        ),
        inputs_hash: Digest::of(b"{}"),
        outputs_hash: Digest::of(b"ok"),
        caps_requested: ["fs.read:/workspace".to_owned()].into(),
        caps_granted: ["fs.read:/workspace".to_owned()].into(),
        caps_used: ["fs.read".to_owned()].into(),
        outcome: Outcome::success(),
        profile: RuntimeProfile::ComponentV0,
        started_at: Timestamp::from_unix_seconds(1_767_225_599),
        finished_at: Timestamp::from_unix_seconds(1_767_225_600),
        signer_ids: ["example.b".to_owned(), "example.a".to_owned()].into(),
    }
}

/// The same run, ended by a trap.
pub(super) fn failed() -> Execution {
    Execution {
        outcome: Outcome::failure(Code::Trap, "wasm trap: unreachable"),
        outputs_hash: Digest::of(b""),
        ..worked()
    }
}
