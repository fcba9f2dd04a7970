//! The schemas of the document.

use serde_json::{Value, json};

/// All of them.
#[expect(clippy::too_many_lines, reason = "one table")]
pub(super) fn schemas() -> Value {
    let cursor = json!({
        "type": ["string", "null"],
        "description": "For the next part; null where there is none.",
    });
    json!({
        "AnyJson": { "description": "JSON of the skill, the plan or the governor." },
        "Text": { "type": "string" },
        "Status": {
            "type": "object",
            "required": ["status"],
            "properties": { "status": { "enum": ["ok", "ready"] } },
        },
        "Problem": {
            "description": "RFC 9457",
            "type": "object",
            "required": ["type", "title", "status", "detail", "code"],
            "properties": {
                "type": { "type": "string", "format": "uri" },
                "title": { "type": "string" },
                "status": { "type": "integer", "minimum": 400, "maximum": 599 },
                "detail": { "type": "string" },
                "code": { "type": "string", "description": "Stable." },
                "retry_after": { "type": "integer", "minimum": 1, "description": "Seconds." },
            },
        },
        "Hydrate": {
            "type": "object",
            "required": ["uri"],
            "additionalProperties": false,
            "properties": {
                "uri": {
                    "type": "string", "minLength": 1,
                    "description": "os://…, https://…, or a path relative to os://",
                },
                "format": { "enum": ["json", "link", "v2"], "default": "json" },
                "depth": { "type": "integer", "minimum": 1, "maximum": 16, "default": 1 },
                "checksums": { "type": "boolean", "default": false },
                "lenient": { "type": "boolean", "default": false },
            },
        },
        "Plan": {
            "type": "object",
            "required": ["prompt"],
            "additionalProperties": false,
            "properties": {
                "prompt": { "type": "string" },
                "workflow": { "type": ["string", "null"] },
                "turns": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["role", "text"],
                        "additionalProperties": false,
                        "properties": {
                            "role": { "enum": ["user", "assistant"] },
                            "text": { "type": "string" },
                        },
                    },
                },
                "format": { "enum": ["json", "markdown"], "default": "json" },
            },
        },
        "Load": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "source": { "type": ["string", "null"], "description": "Its address; or `text`." },
                "text": { "type": ["string", "null"] },
                "base_url": { "type": ["string", "null"] },
                "constants": { "type": "object", "additionalProperties": { "type": "string" } },
                "expect_digest": { "type": ["string", "null"] },
                "id": { "type": ["string", "null"] },
                "force": { "type": "boolean" },
            },
        },
        "Params": { "type": "object" },
        "Map": {
            "type": "object",
            "required": ["command"],
            "additionalProperties": false,
            "properties": { "command": { "type": "string" } },
        },
        "Onboard": {
            "type": "object",
            "additionalProperties": false,
            "properties": { "user_input": { "description": "What `{{user_input}}` of a step stands for." } },
        },
        "Approve": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "scope": { "enum": ["once", "session", "until-changed", null] },
                "ttl": { "type": ["string", "null"], "description": "Such as 8h." },
                "reason": { "type": ["string", "null"] },
                "response": { "description": "The answer to a human action." },
            },
        },
        "Because": {
            "type": "object",
            "additionalProperties": false,
            "properties": { "reason": { "type": ["string", "null"] } },
        },
        "Approval": { "type": "object" },
        "Skill": {
            "type": "object",
            "required": ["id", "version", "capabilities"],
            "properties": {
                "id": { "type": "string" },
                "version": { "type": "string" },
                "capabilities": { "type": "array", "items": { "type": "string" } },
            },
        },
        "Skills": {
            "type": "object",
            "required": ["skills"],
            "properties": {
                "skills": { "type": "array", "items": { "$ref": "#/components/schemas/Skill" } },
            },
        },
        "Receipts": {
            "type": "object",
            "required": ["receipts", "cursor"],
            "properties": {
                "receipts": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["id", "time"],
                        "properties": {
                            "id": { "type": "string" },
                            "time": { "type": "string", "format": "date-time" },
                        },
                    },
                },
                "cursor": cursor,
            },
        },
        "Resources": {
            "type": "object",
            "required": ["resources", "cursor"],
            "properties": {
                "resources": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["uri", "name", "mime_type"],
                        "properties": {
                            "uri": { "type": "string" },
                            "name": { "type": "string" },
                            "mime_type": { "type": "string" },
                        },
                    },
                },
                "cursor": cursor,
            },
        },
        "Workflows": {
            "type": "object",
            "required": ["workflows"],
            "properties": {
                "workflows": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["id", "title", "quality_gate", "description"],
                        "properties": {
                            "id": { "type": "string" },
                            "title": { "type": "string" },
                            "quality_gate": { "type": "string" },
                            "description": { "type": "string" },
                        },
                    },
                },
            },
        },
        "Chain": {
            "type": "object",
            "required": ["head", "verified", "report", "entries", "cursor"],
            "properties": {
                "head": { "type": ["string", "null"] },
                "verified": { "type": ["boolean", "null"] },
                "report": { "type": ["object", "null"] },
                "entries": { "type": "array", "items": { "type": "object" } },
                "cursor": cursor,
            },
        },
    })
}
