//! The other end: who calls capabilities over a socket that speaks this protocol, from inside a jail.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;

use hydrant_canonical::Json;
use serde_json::Value;

use super::{EVENT_LINE_BYTES, Ended};

/// A connection.
#[derive(Debug)]
pub struct Client {
    socket: UnixStream,
}

/// An error message of the other end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The code of the OsEvent dialect.
    pub code: String,
    /// For people.
    pub message: String,
    /// The error object of what was called, if there is one.
    pub details: Option<Value>,
}

/// A call without an answer of the capability.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The socket is not there, or gone.
    #[error("hydrant cannot be reached")]
    Io(#[from] io::Error),
    /// What came is no answer of this protocol.
    #[error("hydrant answered what is no answer")]
    NoAnswer,
    /// The other end says no.
    #[error("{}", .0.message)]
    Refused(Refusal),
}

impl Client {
    /// Connects to the socket at `path`.
    ///
    /// # Errors
    /// [`ClientError::Io`]
    pub fn connect(path: &Path) -> Result<Self, ClientError> {
        Ok(Self {
            socket: UnixStream::connect(path)?,
        })
    }

    /// Calls a capability and answers its output.
    ///
    /// # Errors
    /// [`ClientError`]
    pub fn call(&mut self, capability: &str, input: &Json) -> Result<Value, ClientError> {
        let request = format!(
            r#"{{"type":"command","name":"Capability.Call","payload":{{"capability":{},"input":{input}}}}}"#,
            Value::from(capability)
        );
        // Who refuses a connection says so before it reads anything: the answer tells more than a failed write.
        let sent = self.socket.write_all(format!("{request}\n").as_bytes());
        let mut line = Vec::new();
        let limit = u64::try_from(EVENT_LINE_BYTES).unwrap_or(u64::MAX);
        let read = BufReader::new((&self.socket).take(limit.saturating_add(1)))
            .read_until(b'\n', &mut line);
        if line.is_empty() {
            sent?;
            read?;
        }
        let mut answer: Value = serde_json::from_slice(&line).map_err(|_| ClientError::NoAnswer)?;
        let payload = answer.get_mut("payload").map(Value::take);
        match (answer.get("type").and_then(Value::as_str), payload) {
            (Some("response"), Some(output)) => Ok(output),
            (Some("error"), Some(mut error)) => {
                let text = |error: &Value, member: &str| {
                    let text = error.get(member).and_then(Value::as_str);
                    text.map(str::to_owned).ok_or(ClientError::NoAnswer)
                };
                Err(ClientError::Refused(Refusal {
                    code: text(&error, "code")?,
                    message: text(&error, "message")?,
                    details: error.get_mut("details").map(Value::take),
                }))
            }
            _ => Err(ClientError::NoAnswer),
        }
    }

    /// Passes lines on, requests to the other end and answers back, until `input` and the answers to it have ended.
    ///
    /// # Errors
    /// [`ClientError::Io`], of the socket or of `output`.
    pub fn pass_on(
        self,
        mut input: impl Read + Send + 'static,
        mut output: impl Write,
    ) -> Result<Ended, ClientError> {
        let mut requests = self.socket.try_clone()?;
        // Not waited for: what it reads may never end.
        thread::Builder::new().spawn(move || {
            // The answers, or their end, tell of what failed.
            let _ = io::copy(&mut input, &mut requests);
            let _ = requests.shutdown(Shutdown::Write);
        })?;
        let mut ended = Ended::Clean;
        for line in BufReader::new(&self.socket).split(b'\n') {
            let mut line = line?;
            if is_error(&line) {
                ended = Ended::WithErrors;
            }
            line.push(b'\n');
            output.write_all(&line)?;
            output.flush()?;
        }
        Ok(ended)
    }
}

/// Whether an answer is an error, in either dialect.
fn is_error(line: &[u8]) -> bool {
    let Ok(answer) = serde_json::from_slice::<Value>(line) else {
        return true;
    };
    let kind = answer.get("kind").or_else(|| answer.get("type"));
    kind.and_then(Value::as_str) == Some("error")
}
