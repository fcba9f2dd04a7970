//! The paths of foreign skills, and of what people decide about them.

use serde_json::json;

use super::{Described, JSON, TEXT, page, query, segment, session};

pub(super) fn capabilities() -> Vec<(&'static str, Described)> {
    vec![
        (
            "/v1/capabilities",
            Described::new(
                "get",
                "capabilities",
                "capabilities",
                "The loaded skills and their operations.",
                &[(JSON, "AnyJson")],
            ),
        ),
        (
            "/v1/capabilities",
            Described::new(
                "post",
                "loadSkill",
                "capabilities",
                "Reads a skill that somebody else wrote, and registers its operations; nothing of it is run.",
                &[(JSON, "AnyJson")],
            )
            .body("Load"),
        ),
        (
            "/v1/capabilities/{skill}",
            Described::new(
                "get",
                "showSkill",
                "capabilities",
                "A loaded skill: its manifests, and where each entry of a policy comes from.",
                &[(JSON, "AnyJson")],
            )
            .with([segment("skill", "Its id.")])
            .may_be_unknown(),
        ),
        (
            "/v1/capabilities/{skill}",
            Described::new(
                "post",
                "onboardSkill",
                "capabilities",
                "Does what can be done now of a loaded skill's onboarding, and tells what each step waits for.",
                &[(JSON, "AnyJson")],
            )
            .with([segment("skill", "Its id."), session()])
            .body("Onboard")
            .may_be_unknown(),
        ),
        (
            "/v1/capabilities/{skill}",
            Described::new(
                "delete",
                "unloadSkill",
                "capabilities",
                "Removes a loaded skill; for operators.",
                &[(JSON, "AnyJson")],
            )
            .with([
                segment("skill", "Its id."),
                query(
                    "keep_approvals",
                    "Grants live again when the same document is loaded again.",
                    json!({ "type": "boolean" }),
                ),
            ])
            .may_be_unknown(),
        ),
        (
            "/v1/capabilities/{skill}/{operation}",
            Described::new(
                "post",
                "execute",
                "capabilities",
                "Executes an approved operation.",
                &[(JSON, "AnyJson")],
            )
            .with([
                segment("skill", "The id of the skill."),
                segment("operation", "The id of the operation, or its alias."),
                session(),
            ])
            .body("Params")
            .may_be_unknown(),
        ),
        (
            "/v1/map",
            Described::new(
                "post",
                "map",
                "capabilities",
                "What a command would do, and under which governance; nothing is run.",
                &[(JSON, "AnyJson")],
            )
            .body("Map"),
        ),
    ]
}

pub(super) fn approvals() -> Vec<(&'static str, Described)> {
    let id = || segment("id", "`ap-…`");
    let decision = |id: &'static str, summary, body| {
        Described::new("post", id, "approvals", summary, &[(JSON, "Approval")])
            .body(body)
            .may_be_unknown()
    };
    vec![
        (
            "/v1/approvals",
            Described::new(
                "get",
                "approvals",
                "approvals",
                "Requests and grants, the newest first.",
                &[(JSON, "AnyJson")],
            )
            .with([query(
                "status",
                "Only those.",
                json!({
                    "enum": ["pending", "approved", "denied", "expired", "revoked", "superseded", "consumed"],
                }),
            )]),
        ),
        (
            "/v1/approvals/{id}",
            Described::new(
                "get",
                "approval",
                "approvals",
                "What it grants, from where (file and line), and what changed since the last grant.",
                &[(JSON, "AnyJson")],
            )
            .with([id()])
            .may_be_unknown(),
        ),
        (
            "/v1/approvals/{id}/approve",
            decision("approve", "Grants a request.", "Approve").with([id()]),
        ),
        (
            "/v1/approvals/{id}/deny",
            decision("deny", "Denies a request.", "Because").with([id()]),
        ),
        (
            "/v1/approvals/{id}/revoke",
            decision("revoke", "Takes a grant back.", "Because").with([id()]),
        ),
        (
            "/v1/chain",
            Described::new(
                "get",
                "chain",
                "approvals",
                "The causal chain: its head, its records, and, if asked for, whether it is whole.",
                &[(JSON, "Chain")],
            )
            .with(page())
            .with([query(
                "verify",
                "Verify all of the chain; else `verified` and `report` are null. It takes the longer the longer the chain is.",
                json!({ "type": "boolean", "default": false }),
            )]),
        ),
        (
            "/v1/events",
            Described::new(
                "get",
                "events",
                "approvals",
                "Changes as they happen, as server-sent events.",
                &[("text/event-stream", TEXT)],
            ),
        ),
    ]
}
