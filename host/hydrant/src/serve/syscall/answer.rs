//! Answers: a response or an error, in the request's dialect.
//!
//! The caller measures responses, because a long one may still become a pointer to a file. An error
//! has no such way out: it is made to fit the dialect's line here, whatever the request was made of.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::Value;

use super::envelope::{Dialect, NAMELESS, Request};
use super::failure::Failure;

/// Bytes of a message where the whole one does not fit; JSON writes each in at most 6.
const SHORT_MESSAGE_BYTES: usize = 1024;

/// One line to send.
pub(super) struct Answer {
    line: String,
    is_error: bool,
}

impl Answer {
    /// A response; `payload` is JSON text.
    pub(super) fn of(request: &Request, payload: &str) -> Self {
        let Ok(body) = serde_json::from_str::<Value>(payload) else {
            let failure = Failure::Internal("the component answered what is no JSON".into());
            return Self::failed(request.dialect, Some(request), &failure);
        };
        let line = match request.dialect {
            Dialect::Event => event("response", &request.name, &body, Some(request)),
            Dialect::Message => message("reply", &request.name, &body, Some(request)),
        };
        Self {
            line,
            is_error: false,
        }
    }

    /// An error message. Without a request there is no name to answer under.
    ///
    /// Where it does not fit in a line, the details are left out and the message is shortened, then what refers to the
    /// request is left out, then its name.
    pub(super) fn failed(dialect: Dialect, request: Option<&Request>, failure: &Failure) -> Self {
        let name = request.map_or(NAMELESS, |request| &request.name);
        let message = failure.message();
        let short = shortened(&message);
        let (details, bare) = (failure.details(), None);
        let line = [
            (name, &message, details, request),
            (name, &short, bare, request),
            (name, &short, bare, None),
        ]
        .into_iter()
        .map(|(name, message, details, request)| {
            error(dialect, name, failure, message, details, request)
        })
        .find(|line| line.len() <= dialect.line_bytes())
        .unwrap_or_else(|| error(dialect, NAMELESS, failure, &short, None, None));
        Self {
            line,
            is_error: true,
        }
    }

    pub(super) fn line(&self) -> &str {
        &self.line
    }

    pub(super) fn is_error(&self) -> bool {
        self.is_error
    }
}

#[derive(Serialize)]
struct Event<'a, B> {
    r#type: &'static str,
    name: &'a str,
    payload: &'a B,
    metadata: Metadata<'a>,
}

#[derive(Serialize)]
struct Message<'a, B> {
    kind: &'static str,
    r#type: &'a str,
    data: &'a B,
    metadata: Metadata<'a>,
}

#[derive(Serialize)]
struct EventError<'a> {
    message: &'a str,
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a Value>,
}

#[derive(Serialize)]
struct MessageError<'a> {
    code: u16,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a Value>,
}

/// The `metadata` of an answer, in the order in which they are written.
#[derive(Serialize)]
struct Metadata<'a> {
    id: String,
    timestamp: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    causation: Option<&'a str>,
}

impl<'a> Metadata<'a> {
    fn answering(request: Option<&'a Request>) -> Self {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            id: random_id(),
            timestamp: u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
            correlation: request.and_then(|request| request.correlation.as_deref()),
            causation: request.and_then(|request| request.id.as_deref()),
        }
    }
}

/// At most [`SHORT_MESSAGE_BYTES`] of a message, and a sign that there was more.
fn shortened(message: &str) -> String {
    let end = message.floor_char_boundary(SHORT_MESSAGE_BYTES);
    match message.get(..end) {
        Some(start) if start.len() < message.len() => format!("{start}…"),
        _ => message.to_owned(),
    }
}

fn error(
    dialect: Dialect,
    name: &str,
    failure: &Failure,
    text: &str,
    details: Option<&Value>,
    request: Option<&Request>,
) -> String {
    match dialect {
        Dialect::Event => {
            let body = EventError {
                message: text,
                code: failure.code(),
                details,
            };
            event("error", name, &body, request)
        }
        Dialect::Message => {
            let body = MessageError {
                code: failure.status(),
                message: text,
                details,
            };
            message("error", name, &body, request)
        }
    }
}

fn event(
    kind: &'static str,
    name: &str,
    body: &impl Serialize,
    request: Option<&Request>,
) -> String {
    let metadata = Metadata::answering(request);
    to_json(&Event {
        r#type: kind,
        name,
        payload: body,
        metadata,
    })
}

fn message(
    kind: &'static str,
    name: &str,
    body: &impl Serialize,
    request: Option<&Request>,
) -> String {
    let metadata = Metadata::answering(request);
    to_json(&Message {
        kind,
        r#type: name,
        data: body,
        metadata,
    })
}

fn to_json(value: &impl Serialize) -> String {
    // Strings, numbers and JSON text always serialise.
    serde_json::to_string(value).unwrap_or_default()
}

/// 8 characters of `A-Za-z0-9_-`, random.
fn random_id() -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    let mut bytes = [0; 8];
    if getrandom::fill(&mut bytes).is_err() {
        // Ids tell answers apart and guard nothing: the clock will do where the system has no randomness.
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        bytes = now
            .as_nanos()
            .to_le_bytes()
            .first_chunk()
            .copied()
            .unwrap_or_default();
    }
    let character = |byte: &u8| {
        ALPHABET
            .get(usize::from(byte & 63))
            .copied()
            .map(char::from)
    };
    bytes.iter().filter_map(character).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::envelope::{self, Received};
    use super::*;

    fn request(line: &Value) -> Request {
        match envelope::read(line.to_string().as_bytes()) {
            Received::Request(request) | Received::Invalid(request, _) => request,
            _ => panic!("a request"),
        }
    }

    /// The two dialects' queries of this name, with this `id` and `correlation`.
    fn queries(name: &str, id: &str) -> [Request; 2] {
        let metadata = json!({"id": id, "correlation": id});
        [
            json!({"type": "query", "name": name, "metadata": metadata}),
            json!({"kind": "query", "type": name, "metadata": metadata}),
        ]
        .map(|line| request(&line))
    }

    /// The error for `request`, which must fit, with the name it is under and its message.
    fn error_for(request: &Request, failure: &Failure) -> (Value, String, String) {
        let answer = Answer::failed(request.dialect, Some(request), failure);
        assert!(answer.is_error());
        assert!(
            answer.line().len() <= request.dialect.line_bytes(),
            "{} bytes",
            answer.line().len()
        );
        let line: Value = serde_json::from_str(answer.line()).unwrap();
        let (name, body) = match request.dialect {
            Dialect::Event => ("name", "payload"),
            Dialect::Message => ("type", "data"),
        };
        let name = line[name].as_str().unwrap().to_owned();
        let message = line[body]["message"].as_str().unwrap().to_owned();
        (line, name, message)
    }

    #[test]
    fn an_error_that_fits_refers_to_its_request_and_says_all() {
        let reason = "x".repeat(4000);
        for request in queries("Content.Hydrate", "q1") {
            let (line, name, message) = error_for(&request, &Failure::Schema(reason.clone()));
            assert_eq!((name.as_str(), &message), ("Content.Hydrate", &reason));
            assert_eq!(line["metadata"]["correlation"], "q1");
            assert_eq!(line["metadata"]["causation"], "q1");
        }
    }

    #[test]
    fn an_id_that_does_not_fit_is_not_repeated() {
        for request in queries("Content.Hydrate", &"i".repeat(900_000)) {
            let failure = Failure::line_too_long("request line", 16_384);
            let (line, name, message) = error_for(&request, &failure);
            assert_eq!(name, "Content.Hydrate");
            assert_eq!(message, "request line is over 16384 bytes");
            assert_eq!(line["metadata"]["correlation"], Value::Null);
            assert_eq!(line["metadata"]["causation"], Value::Null);
        }
    }

    #[test]
    fn a_message_that_does_not_fit_is_shortened_and_the_rest_is_kept() {
        // Control characters take 6 bytes each in JSON; the 1024th byte is within a character.
        for reason in [
            "\u{1}".repeat(2_000_000),
            format!("x{}", "ä".repeat(2_000_000)),
        ] {
            for request in queries("Content.Hydrate", "q1") {
                let (line, name, message) = error_for(&request, &Failure::Internal(reason.clone()));
                assert_eq!(name, "Content.Hydrate");
                assert_eq!(line["metadata"]["causation"], "q1");
                let start = message.strip_suffix('…').unwrap();
                assert!(reason.starts_with(start) && start.len() > 1000);
            }
        }
    }

    #[test]
    fn a_name_that_is_not_served_and_does_not_fit_twice_is_shortened_in_the_message() {
        let name = format!("A.B{}", "b".repeat(10_000));
        let [_, request] = queries(&name, "q1");
        let (line, under, message) = error_for(&request, &Failure::NotServed(name.clone()));
        assert_eq!(under, name);
        assert_eq!(line["metadata"]["causation"], "q1");
        assert!(message.starts_with("unsupported syscall: A.Bbb"));
    }

    #[test]
    fn a_name_that_does_not_fit_at_all_is_answered_as_validation_failed() {
        let name = format!("A.B{}", "b".repeat(1_048_400));
        for request in queries(&name, "q1") {
            let (line, under, message) = error_for(&request, &Failure::NotServed(name.clone()));
            assert_eq!(under, "Validation.Failed");
            assert_eq!(line["metadata"]["causation"], Value::Null);
            assert!(message.starts_with("unsupported syscall: A.Bbb"));
        }
    }
}
