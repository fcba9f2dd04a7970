//! The request of a call, and what the server is asked in its dialect.

use kit::SkillError;
use kit::host::fetch::{Encodings, HttpRequest, Method, Overflow};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Bytes of an answer.
const MAX_ANSWER_BYTES: u32 = 256 * 1024;

/// How a server wants to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Dialect {
    /// `/chat/completions`
    Openai,
    /// `/v1/messages`
    Anthropic,
}

/// What is asked, and how.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    pub(crate) dialect: Dialect,
    /// Without the path of the dialect.
    base_url: String,
    model: String,
    max_output_tokens: u32,
    /// Null: none is sent.
    temperature: Option<f64>,
    /// The reply's schema is asked for, where the dialect can.
    #[serde(default)]
    json_schema: bool,
    system: String,
    user: String,
    /// A reply that failed its checks, and which.
    #[serde(default)]
    retry: Option<Retry>,
    /// 1 to 120,000.
    timeout_ms: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Retry {
    reply: String,
    failed: Vec<String>,
}

impl Request {
    /// Reads a request.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, SkillError> {
        let invalid = |message: &str| SkillError::new("invalid_request", message);
        let value = kit::members::parse(bytes)?;
        let request = Self::deserialize(value).map_err(|error| invalid(&error.to_string()))?;
        let has_number = request
            .temperature
            .is_none_or(|temperature| (0.0..=2.0).contains(&temperature));
        if !has_number {
            Err(invalid("temperature: not from 0 to 2"))
        } else if !(1..=120_000).contains(&request.timeout_ms) {
            Err(invalid("timeout_ms: not from 1 to 120000"))
        } else if request.max_output_tokens == 0 {
            Err(invalid("max_output_tokens: not a positive number"))
        } else {
            Ok(request)
        }
    }

    /// What the host is asked for. Redirects are not followed: the key would not follow either.
    pub(crate) fn hostcall(&self) -> HttpRequest {
        let base = self.base_url.trim_end_matches('/');
        let (path, version) = match self.dialect {
            Dialect::Openai => ("/chat/completions", None),
            Dialect::Anthropic => ("/v1/messages", Some("2023-06-01")),
        };
        let mut headers = vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("accept".to_owned(), "application/json".to_owned()),
        ];
        if let Some(version) = version {
            headers.push(("anthropic-version".to_owned(), version.to_owned()));
        }
        HttpRequest {
            method: Method::Post,
            url: format!("{base}{path}"),
            headers,
            body: Some(self.body().to_string().into_bytes()),
            encodings: Encodings::Identity,
            max_bytes: MAX_ANSWER_BYTES,
            overflow: Overflow::Refuse,
            timeout_ms: self.timeout_ms,
            max_redirects: 0,
            body_types: Vec::new(),
        }
    }

    fn body(&self) -> Value {
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(self.model));
        body.insert("max_tokens".to_owned(), json!(self.max_output_tokens));
        if let Some(temperature) = self.temperature {
            body.insert("temperature".to_owned(), json!(temperature));
        }
        let mut messages = Vec::new();
        match self.dialect {
            Dialect::Openai => {
                messages.push(json!({ "role": "system", "content": self.system }));
                if self.json_schema {
                    body.insert("response_format".to_owned(), response_format());
                }
            }
            Dialect::Anthropic => {
                body.insert("system".to_owned(), json!(self.system));
            }
        }
        messages.push(json!({ "role": "user", "content": self.user }));
        if let Some(retry) = &self.retry {
            messages.push(json!({ "role": "assistant", "content": retry.reply }));
            let failed = retry.failed.join("\n- ");
            let again = format!(
                "Your reply fails these checks:\n\n- {failed}\n\nReply again with the whole JSON object, and nothing else."
            );
            messages.push(json!({ "role": "user", "content": again }));
        }
        body.insert("messages".to_owned(), Value::Array(messages));
        Value::Object(body)
    }
}

/// The form of a reply, as the server may enforce it. Lengths are checked later: not every server knows them.
fn response_format() -> Value {
    let strings = json!({ "type": "array", "items": { "type": "string" } });
    json!({
        "type": "json_schema",
        "json_schema": {
            "name": "plan",
            "strict": true,
            "schema": {
                "type": "object",
                "additionalProperties": false,
                "required": ["intent", "workflow", "guardrails", "relevant_context", "todos"],
                "properties": {
                    "intent": { "type": "string" },
                    "workflow": { "type": "string" },
                    "guardrails": strings,
                    "relevant_context": strings,
                    "todos": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "additionalProperties": false,
                            "required": ["content", "status", "activeForm"],
                            "properties": {
                                "content": { "type": "string" },
                                "status": { "type": "string", "enum": ["pending"] },
                                "activeForm": { "type": "string" }
                            }
                        }
                    }
                }
            }
        }
    })
}
