//! A server of notes, asked under the policy like any other address.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use url::Url;

use super::{MemoryError, MemorySource, Passage};
use crate::Host;
use crate::capability::fetch::{Method, Single, header_map, send_single};
use crate::policy::Grant;
use crate::trust::Capability;

/// The longest answer of the server.
const MAX_ANSWER_BYTES: u64 = 256 * 1024;

/// The server behind `memory.url`.
pub struct HttpMemory {
    host: Arc<Host>,
    url: Url,
}

#[derive(Deserialize)]
struct Answer {
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    text: String,
    source: String,
    score: f64,
}

impl HttpMemory {
    /// Asks `url` under the policy of `host`.
    #[must_use]
    pub fn new(host: Arc<Host>, url: Url) -> Self {
        Self { host, url }
    }
}

impl MemorySource for HttpMemory {
    fn search(
        &self,
        query: &str,
        limit: usize,
        deadline: Instant,
    ) -> Result<Vec<Passage>, MemoryError> {
        let any = Capability {
            kind: "net.http".to_owned(),
            value: "*".to_owned(),
        };
        // The host asks on its own account, so the policy alone decides.
        let reach = Grant::new(self.host.layers().clone(), &[any])
            .fetch(Method::Post, &self.url)
            .map_err(|denial| MemoryError::Request(denial.to_string()))?;
        let request = serde_json::json!({ "query": query, "limit": limit }).to_string();
        let failed = |error: &dyn std::fmt::Display| MemoryError::Request(error.to_string());
        let json = ["content-type", "accept"].map(|name| (name, &b"application/json"[..]));
        let headers = header_map(json).map_err(|error| failed(&error))?;
        let left = deadline.saturating_duration_since(Instant::now());
        if left < Duration::from_millis(1) {
            return Err(MemoryError::TooSlow);
        }
        let single = Single {
            method: "POST",
            url: &self.url,
            headers,
            body: Some(request.as_bytes()),
            reach,
            connect: left,
            total: left,
            response_bytes: MAX_ANSWER_BYTES,
        };
        let (outcome, _) = send_single(self.host.fetcher(), &single);
        let response = outcome.map_err(|error| match error {
            crate::capability::fetch::FetchError::Timeout => MemoryError::TooSlow,
            error => failed(&error),
        })?;
        if response.status != 200 {
            return Err(MemoryError::Answer(format!("status {}", response.status)));
        }
        passages(&response.body, limit)
    }
}

/// Best first, whatever the server's order is.
fn passages(body: &[u8], limit: usize) -> Result<Vec<Passage>, MemoryError> {
    // What serde says of a wrong answer may quote it.
    let answer: Answer = serde_json::from_slice(body)
        .map_err(|error| MemoryError::Answer(format!("{:?} error", error.classify())))?;
    if answer.items.iter().any(|item| !item.score.is_finite()) {
        return Err(MemoryError::Answer("a score is no number".to_owned()));
    }
    let mut passages: Vec<Passage> = answer
        .items
        .into_iter()
        .map(|item| Passage {
            text: item.text,
            source: item.source,
            score: item.score,
        })
        .collect();
    passages.sort_by(|one, other| other.score.total_cmp(&one.score));
    passages.truncate(limit);
    Ok(passages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_items_come_first_and_no_more_than_were_asked_for() {
        let body = br#"{"items":[{"text":"b","source":"s","score":0.1},
            {"text":"a","source":"s","score":2,"id":7},{"text":"c","source":"s","score":-1}]}"#;
        let found = passages(body, 2).unwrap();
        let texts: Vec<_> = found.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(texts, ["a", "b"]);
        assert_eq!(passages(br#"{"items":[]}"#, 2).unwrap(), []);
    }

    #[test]
    fn any_other_answer_is_a_failure_that_quotes_nothing() {
        for body in [
            &b""[..],
            b"null",
            b"[]",
            b"{}",
            br#"{"items":[{"text":"sesame","source":"s"}]}"#,
            br#"{"items":[{"text":"sesame","source":"s","score":"1"}]}"#,
            br#"{"items":"sesame"}"#,
            b"\xff",
            br#"{"items":[]} sesame"#,
        ] {
            let error = passages(body, 2).unwrap_err();
            assert!(matches!(error, MemoryError::Answer(_)));
            assert!(!error.to_string().contains("sesame"), "{error}");
        }
    }
}
