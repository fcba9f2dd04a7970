//! What came of a request: the reply's text, or why there is none.

use kit::host::fetch::{FetchError, FetchFailure, HttpResponse};
use serde::{Deserialize, Serialize};

use crate::request::Dialect;

/// The response of a call: one of both.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// What the model wrote.
    Text(String),
    /// Nothing that could be used.
    Failed(Failed),
}

/// Why there is no text.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Failed {
    /// In words, without anything of the answer.
    reason: String,
    /// Whether the same request could be answered another time: not after 4xx, refusals and what is forbidden.
    retry: bool,
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
    refusal: Option<String>,
}

#[derive(Deserialize)]
struct Messages {
    content: Vec<Block>,
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct Block {
    text: Option<String>,
}

/// Reads the server's answer.
pub(crate) fn read(dialect: Dialect, outcome: Result<HttpResponse, FetchFailure>) -> Answer {
    match text(dialect, outcome) {
        Ok(text) => Answer::Text(text),
        Err(failed) => Answer::Failed(failed),
    }
}

fn text(dialect: Dialect, outcome: Result<HttpResponse, FetchFailure>) -> Result<String, Failed> {
    let response = outcome.map_err(|failure| unsent(failure.reason))?;
    if response.status != 200 {
        let reason = format!("the server answers {}", response.status);
        return Err(failed(&reason, response.status >= 500));
    }
    let text = match dialect {
        Dialect::Openai => completion(&response.body)?,
        Dialect::Anthropic => messages(&response.body)?,
    };
    if text.trim().is_empty() {
        return Err(failed("the answer is empty", true));
    }
    Ok(text)
}

fn completion(body: &[u8]) -> Result<String, Failed> {
    let completion: Completion = parse(body)?;
    let choice = completion.choices.into_iter().next();
    let message = choice
        .ok_or_else(|| failed("the answer has no choices", true))?
        .message;
    if message.refusal.is_some_and(|refusal| !refusal.is_empty()) {
        return Err(failed("the model refuses", false));
    }
    Ok(message.content.unwrap_or_default())
}

fn messages(body: &[u8]) -> Result<String, Failed> {
    let messages: Messages = parse(body)?;
    if messages.stop_reason.as_deref() == Some("refusal") {
        return Err(failed("the model refuses", false));
    }
    let texts = messages.content.into_iter().filter_map(|block| block.text);
    Ok(texts.collect())
}

/// What serde says of a wrong answer may quote it, so it is not told.
fn parse<'body, T: Deserialize<'body>>(body: &'body [u8]) -> Result<T, Failed> {
    serde_json::from_slice(body)
        .map_err(|_| failed("the answer is not the JSON of its dialect", true))
}

fn unsent(reason: FetchError) -> Failed {
    let (text, retry) = match reason {
        FetchError::Denied => ("the policy does not allow it", false),
        FetchError::RedirectDenied | FetchError::Redirects => ("the server redirects", false),
        FetchError::InvalidRequest => ("the request is not valid", false),
        FetchError::UnsupportedEncoding => ("the answer is encoded", false),
        FetchError::TooLarge => ("the answer is too long", false),
        FetchError::Timeout => ("no answer in time", false),
        FetchError::Dns => ("the name could not be resolved", false),
        FetchError::Connect => ("no connection", false),
        FetchError::Tls => ("the TLS handshake failed", false),
        FetchError::Protocol => ("the answer is no HTTP", true),
    };
    failed(text, retry)
}

fn failed(reason: &str, retry: bool) -> Failed {
    Failed {
        reason: reason.to_owned(),
        retry,
    }
}
