//! `hydrant syscall`: one JSON request a line, one JSON answer a line (§15).
//!
//! The envelope is read here, in two dialects; what is asked goes to [`Host::hydrate`] and [`Host::answer`]. A name that
//! is not served is answered, never executed or looked up, and nothing in a request changes mounts or policy.

mod answer;
mod blob;
mod capability;
mod client;
mod envelope;
mod failure;
mod hang_up;
mod lines;

use std::io::{self, BufRead, Write};
use std::path::Path;

pub use self::client::{Client, ClientError, Refusal};
pub use self::hang_up::until_hang_up;

use self::answer::Answer;
use self::blob::BlobFolder;
use self::capability::Governed;
use self::envelope::{Dialect, Received, Request};
use self::failure::Failure;
use self::lines::{Line, Lines};
use crate::engine::CallError;
use crate::govern::Lazy;
use crate::govern::failure::Failure as Refused;
use crate::govern::governor::Caller;
use crate::host::{Format, Host, HostError, HydrateRequest};

/// Bytes of a request line or an answer line without its `\n`, in the OsEvent dialect.
pub const EVENT_LINE_BYTES: usize = 1024 * 1024;
/// The same in the OsMessage dialect.
pub const MESSAGE_LINE_BYTES: usize = 16 * 1024;

/// By which way requests come. A request cannot say it of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Frontend {
    /// Standard input of `hydrant syscall`.
    #[default]
    Syscall,
    /// The socket of a jail: whoever asks can do nothing else.
    Jail,
}

impl Frontend {
    /// Whether the caller is known to be jailed.
    #[must_use]
    pub fn is_jailed(self) -> bool {
        self == Self::Jail
    }
}

/// Answers requests until the input ends.
pub struct SyscallServer<'host> {
    host: &'host Host,
    options: HydrateRequest,
    blobs: Option<BlobFolder>,
    frontend: Frontend,
    governor: Option<&'host Lazy>,
    /// Who calls, if there were random numbers for his session.
    caller: Result<Caller, Refused>,
    dialect: Dialect,
    failed: bool,
}

/// How a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Every request was answered with a response.
    Clean,
    /// At least one error message was sent.
    WithErrors,
}

impl<'host> SyscallServer<'host> {
    /// A server whose every hydration uses `options`; their `uri` and `format` are of no account.
    #[must_use]
    pub fn new(host: &'host Host, options: HydrateRequest) -> Self {
        // Before any good line, the dialect is OsEvent.
        Self {
            host,
            options,
            blobs: None,
            frontend: Frontend::default(),
            governor: None,
            caller: caller(Frontend::default()),
            dialect: Dialect::Event,
            failed: false,
        }
    }

    /// Long contents of the OsMessage dialect go to files in `folder`.
    ///
    /// # Errors
    ///
    /// The folder does not exist or is none.
    pub fn with_blobs(mut self, folder: &Path) -> io::Result<Self> {
        self.blobs = Some(BlobFolder::open(folder)?);
        Ok(self)
    }

    /// For requests that come by another way than standard input.
    #[must_use]
    pub fn behind(mut self, frontend: Frontend) -> Self {
        self.frontend = frontend;
        self.caller = caller(frontend);
        self
    }

    /// Serves loaded skills too, each stream in a session of its own.
    #[must_use]
    pub fn governed(mut self, governor: &'host Lazy) -> Self {
        self.governor = Some(governor);
        self
    }

    /// By which way the requests come.
    #[must_use]
    pub fn frontend(&self) -> Frontend {
        self.frontend
    }

    /// Reads requests and writes answers, each flushed before the next line is read.
    ///
    /// # Errors
    ///
    /// Reading or writing failed; bad requests are answered, not errors.
    pub fn serve(mut self, input: impl BufRead, mut output: impl Write) -> io::Result<Ended> {
        let mut lines = Lines::new(input, EVENT_LINE_BYTES);
        while let Some(line) = lines.next()? {
            let Some(answer) = self.answer(&line) else {
                continue;
            };
            self.failed |= answer.is_error();
            output.write_all(answer.line().as_bytes())?;
            output.write_all(b"\n")?;
            output.flush()?;
        }
        Ok(if self.failed {
            Ended::WithErrors
        } else {
            Ended::Clean
        })
    }

    fn answer(&mut self, line: &Line) -> Option<Answer> {
        let bytes = match line {
            Line::TooLong => {
                let failure = Failure::line_too_long("request line", EVENT_LINE_BYTES);
                return Some(Answer::failed(self.dialect, None, &failure));
            }
            Line::Whole(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => return None,
            Line::Whole(bytes) => bytes,
        };
        match envelope::read(bytes) {
            Received::NotAnObject(reason) => Some(Answer::failed(
                self.dialect,
                None,
                &Failure::InvalidJson(reason),
            )),
            Received::Notification(dialect) => {
                self.dialect = dialect;
                None
            }
            Received::Invalid(request, reason) => {
                self.dialect = request.dialect;
                let failure = Failure::Schema(reason);
                Some(Answer::failed(request.dialect, Some(&request), &failure))
            }
            Received::Request(request) => {
                self.dialect = request.dialect;
                Some(self.respond(&request, bytes.len()))
            }
        }
    }

    fn respond(&self, request: &Request, line_bytes: usize) -> Answer {
        let dialect = request.dialect;
        let result = if line_bytes > dialect.line_bytes() {
            Err(Failure::line_too_long("request line", dialect.line_bytes()))
        } else {
            self.payload(request)
        };
        let answered = result.and_then(|payload| {
            let answer = Answer::of(request, &payload);
            if answer.line().len() <= dialect.line_bytes() {
                return Ok(answer);
            }
            // What is too long for OsMessage may become a pointer to a file.
            if let (Dialect::Message, Some(blobs)) = (dialect, &self.blobs) {
                let shorter = blobs
                    .point(&payload)
                    .map_err(|error| Failure::Internal(error.to_string()))?;
                let answer = Answer::of(request, &shorter);
                if answer.line().len() <= dialect.line_bytes() {
                    return Ok(answer);
                }
            }
            Err(Failure::line_too_long("answer line", dialect.line_bytes()))
        });
        answered.unwrap_or_else(|failure| Answer::failed(dialect, Some(request), &failure))
    }

    /// What the syscall returns, as JSON text.
    fn payload(&self, request: &Request) -> Result<String, Failure> {
        let format = match request.name.as_str() {
            "Content.Hydrate" => Format::Json,
            "Content.Ingest" | "pwosIngest" => Format::Link,
            "Capability.Call" => {
                let (capability, input) = request.call()?;
                let governed = self.governor.map(|governor| Governed {
                    governor,
                    caller: self.caller.as_ref().map_err(Clone::clone),
                });
                return capability::call(
                    self.host,
                    &self.options,
                    governed.as_ref(),
                    capability,
                    input,
                );
            }
            name => return Err(Failure::NotServed(name.to_owned())),
        };
        let uri = request.uri()?;
        let hydrate = HydrateRequest {
            uri,
            format,
            ..self.options.clone()
        };
        let bytes = self.host.hydrate(&hydrate).map_err(failure)?;
        let text = String::from_utf8(bytes).map_err(|_| {
            Failure::Internal("the component answered bytes that are not UTF-8".into())
        })?;
        Ok(match format {
            Format::Json => text,
            Format::Link | Format::V2 => serde_json::json!({ "content": text }).to_string(),
        })
    }
}

/// The governor learns from here who calls; a request cannot say it.
fn caller(frontend: Frontend) -> Result<Caller, Refused> {
    Caller::lasting(crate::govern::client::Client {
        frontend: crate::govern::client::Frontend::Syscall,
        jailed: frontend.is_jailed(),
    })
}

impl Drop for SyscallServer<'_> {
    /// Grants for a session end with it.
    fn drop(&mut self) {
        if let Some(governor) = self.governor
            && let Ok(caller) = &self.caller
        {
            governor.end_session(caller);
        }
    }
}

fn failure(error: HostError) -> Failure {
    match error {
        HostError::Call(CallError::Skill { code, message, .. }) => match code.as_str() {
            "fetch_failed" => Failure::NoDocument {
                code: "FETCH_FAILED",
                status: 404,
                message,
            },
            "unsupported_scheme" => Failure::NoDocument {
                code: "UNSUPPORTED_SCHEME",
                status: 400,
                message,
            },
            "parse_error" => Failure::NoDocument {
                code: "PARSE_ERROR",
                status: 422,
                message,
            },
            "invalid_request" => Failure::Schema(message),
            _ => Failure::Internal(format!("{code}: {message}")),
        },
        error => Failure::Internal(error.to_string()),
    }
}
