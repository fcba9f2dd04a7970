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
use std::sync::Arc;

pub use self::client::{Client, ClientError, Refusal};
pub use self::hang_up::until_hang_up;

use self::answer::Answer;
use self::blob::BlobFolder;
use self::envelope::{Dialect, Received, Request};
use self::failure::Failure;
use self::lines::{Line, Lines};
use crate::engine::CallError;
use crate::govern::client::{Client as GovernedClient, Frontend as GovernedFrontend};
use crate::govern::failure::Failure as Refused;
use crate::govern::governor::Caller;
use crate::host::{Format, Host, HostError, HydrateRequest};
use crate::serve::operations::{Operation, table};
use crate::serve::service::Identity;
use crate::serve::tenants::{Role, Tenant};

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
    operations: &'static [Operation],
    /// Who asks for operations, in a session of this stream's own. None: no operations are served.
    identity: Option<Result<Identity, Refused>>,
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
            operations: table(),
            identity: None,
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
        self
    }

    /// Serves the operations of a tenant that are capabilities too, and its loaded skills, to an agent. The governor learns
    /// from here who calls, after [`behind`](Self::behind); a request cannot say it.
    #[must_use]
    pub fn governed(mut self, tenant: Arc<Tenant>) -> Self {
        let client = GovernedClient {
            frontend: GovernedFrontend::Syscall,
            jailed: self.frontend.is_jailed(),
        };
        let identity = Caller::lasting(client).map(|caller| Identity {
            role: Role::Caller,
            connection: Some(caller),
            ..Identity::of_local_user(tenant, client.frontend)
        });
        self.identity = Some(identity);
        self
    }

    /// Serves the operations of another table.
    #[cfg(test)]
    fn with_operations(mut self, operations: &'static [Operation]) -> Self {
        self.operations = operations;
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
                return self.call(capability, input);
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

impl Drop for SyscallServer<'_> {
    /// Grants for a session end with it.
    fn drop(&mut self) {
        if let Some(Ok(identity)) = &self.identity
            && let Some(caller) = &identity.connection
        {
            identity.tenant.end_session(caller);
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::serve::operations::testing;

    /// The answers to these calls of capabilities, with the operations of `operations`.
    fn answers(operations: &'static [Operation], calls: &[(&str, Value)]) -> Vec<Value> {
        let home = tempfile::tempdir().unwrap();
        let tenant = testing::user(home.path()).tenant;
        let host = tenant.host();
        let line = |(capability, input): &(&str, Value)| {
            let payload = json!({ "capability": capability, "input": input });
            let call = json!({ "type": "command", "name": "Capability.Call", "payload": payload });
            format!("{call}\n")
        };
        let input: String = calls.iter().map(line).collect();
        let mut output = Vec::new();
        SyscallServer::new(&host, HydrateRequest::new(String::new()))
            .governed(tenant)
            .with_operations(operations)
            .serve(input.as_bytes(), &mut output)
            .unwrap();
        let answers = std::str::from_utf8(&output).unwrap().lines();
        answers
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    #[test]
    fn an_operation_is_a_capability_by_its_declaration() {
        let calls = [
            ("test.repeat", json!({ "word": "a", "times": 2 })),
            ("test.repeat", json!({ "often": 2 })),
        ];
        let answers = answers(testing::table(), &calls);
        assert_eq!(answers[0]["payload"], json!({ "text": "aa" }));
        assert_eq!(answers[1]["payload"]["code"], "invalid-request");
        assert_eq!(answers[1]["payload"]["details"]["code"], "invalid-request");
    }

    #[test]
    fn members_are_spelled_as_in_older_versions_or_as_in_the_table() {
        let digest = "sha256:none";
        let calls = [
            (
                "ccos.skill.load",
                json!({ "url": "x", "base-url": "y", "expect-digest": digest }),
            ),
            (
                "ccos.skill.load",
                json!({ "source": "x", "base_url": "y", "expect_digest": digest }),
            ),
            (
                "ccos.skill.load",
                json!({ "url": "x", "base-url": "y", "base_url": "y" }),
            ),
            ("ccos.skill.load", json!({ "text": "name: one" })),
            ("ccos.primitive.map", json!({ "list": true })),
            ("ccos.primitive.table", Value::Null),
            ("ccos.skill.unload", json!({ "skill": "one" })),
            ("ccos.network.http-fetch", json!({})),
        ];
        let answers = answers(table(), &calls);
        let message = |index: usize| answers[index]["payload"]["message"].to_string();
        assert_eq!(message(0), message(1));
        assert!(!message(0).contains("unknown field"), "{}", message(0));
        assert!(
            message(2).contains("unknown field `base-url`"),
            "{}",
            message(2)
        );
        assert!(message(3).contains("`source`"), "{}", message(3));
        assert_eq!(answers[4]["type"], "response", "{}", answers[4]);
        assert_eq!(answers[4]["payload"], answers[5]["payload"]);
        assert_eq!(answers[6]["payload"]["code"], "unknown-skill");
        assert_eq!(answers[7]["payload"]["code"], "operator-only");
    }
}
