//! What maps to what, in one table with a version.

use serde_json::{Value, json};

pub use crate::model::MAPPING_VERSION as VERSION;

/// The confidence of what is not understood.
pub const UNMAPPED: f64 = 0.3;

/// What is taken off once when options occur that change only what is shown.
const NOTED: f64 = 0.15;

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// A structured endpoint, an operation of OpenAPI.
    Endpoint,
    /// curl with a whole URL.
    Curl,
    /// curl whose scheme or host is not written there.
    CurlDerived,
    /// curl without a URL.
    CurlWithoutUrl,
    /// wget.
    OtherClient,
    /// A bare verb.
    Verb,
    /// A list item, a table cell, a labelled group.
    Listed,
    /// jq.
    JsonFilter,
    /// echo.
    Println,
    /// cat, head and tail of files.
    ReadFile,
    /// A text tool on a stream.
    TextTransform,
    /// Code for a runtime that is known.
    Runtime,
    /// Code that is downloaded and run.
    Download,
    /// Installers, scripts, unknown tools.
    Shell,
}

/// What a row says.
#[derive(Debug, Clone, Copy)]
struct Row {
    pattern: Pattern,
    description: &'static str,
    maps_to: &'static [&'static str],
    tier: u8,
    confidence: f64,
}

const HTTP: &[&str] = &["ccos.network.http-fetch"];

const fn row(
    pattern: Pattern,
    description: &'static str,
    maps_to: &'static [&'static str],
    tier: u8,
    confidence: f64,
) -> Row {
    Row {
        pattern,
        description,
        maps_to,
        tier,
        confidence,
    }
}

/// In order: endpoint, HTTP commands, runtimes, transforms, Tier 3.
const TABLE: [Row; 14] = [
    row(
        Pattern::Endpoint,
        "structured endpoint, OpenAPI operation",
        HTTP,
        1,
        1.0,
    ),
    row(Pattern::Curl, "curl, URL complete", HTTP, 1, 0.95),
    row(
        Pattern::CurlDerived,
        "curl without scheme, or host from a constant or base",
        HTTP,
        1,
        0.7,
    ),
    row(Pattern::CurlWithoutUrl, "curl without URL", HTTP, 1, 0.5),
    row(Pattern::OtherClient, "wget", HTTP, 1, 0.8),
    row(Pattern::Verb, "bare verb", HTTP, 1, 0.9),
    row(
        Pattern::Listed,
        "list item, table cell, labelled group",
        HTTP,
        1,
        0.7,
    ),
    row(
        Pattern::Runtime,
        "python, python3, uv run; node; go run; code fence; script with that runtime",
        &[
            "ccos.sandbox.python",
            "ccos.sandbox.node",
            "ccos.sandbox.go",
        ],
        2,
        0.85,
    ),
    row(
        Pattern::JsonFilter,
        "jq, python -m json.tool",
        &["ccos.json.parse"],
        1,
        0.9,
    ),
    row(
        Pattern::Println,
        "echo, printf",
        &["ccos.io.println"],
        1,
        0.7,
    ),
    row(
        Pattern::ReadFile,
        "cat, head, tail with files",
        &["ccos.io.read-file"],
        1,
        0.7,
    ),
    row(
        Pattern::TextTransform,
        "text tools on stdin, sed, awk",
        &["ccos.text.transform"],
        1,
        0.7,
    ),
    row(
        Pattern::Download,
        "npx, bunx, uvx, pipx run, go run MOD@V, deno run URL",
        &[
            "ccos.sandbox.python",
            "ccos.sandbox.node",
            "ccos.sandbox.go",
            "ccos.sandbox.shell",
        ],
        3,
        UNMAPPED,
    ),
    row(
        Pattern::Shell,
        "installers, scripts, unknown tools",
        &["ccos.sandbox.shell"],
        3,
        UNMAPPED,
    ),
];

/// The least of the stages', less what is noted, two decimals.
#[must_use]
pub fn confidence(stages: &[Pattern], noted: bool) -> f64 {
    let least = TABLE
        .iter()
        .filter(|row| stages.contains(&row.pattern))
        .map(|row| row.confidence)
        .fold(1.0, f64::min);
    let left = if noted { least - NOTED } else { least };
    (left.max(0.0) * 100.0).round() / 100.0
}

/// The table, as `hydrant map --list` prints it.
#[must_use]
pub fn list() -> Value {
    let rows: Vec<Value> = TABLE
        .iter()
        .map(|row| {
            let maps_to = match row.maps_to {
                [one] => json!(one),
                several => json!(several),
            };
            json!({
                "pattern": row.description,
                "maps-to": maps_to,
                "tier": row.tier,
                "confidence": row.confidence,
            })
        })
        .collect();
    json!({"mapping-version": VERSION, "registry": rows})
}
