//! The stages, one after another. Stage n+1 receives the bytes that stage n produced.

use std::time::{Duration, Instant};

use hydrant_jail::Cancellation;
use serde_json::{Map, Value};

use super::captured::Captured;
use super::echo::Echo;
use super::output_file::Whose;
use super::result;
use super::{Call, Done, Output};
use crate::chain::{Entry, Event, Outcome, Used};
use crate::failure::{Code, Failure};
use crate::request::{CallFiles, Fill, Inputs, NEEDED};
use crate::sandbox::Caps;
use hydrant_plan::{Segments, Stage};

/// A plan while it runs.
pub(super) struct Run<'a> {
    pub(super) call: Call<'a>,
    pub(super) started: Instant,
    pub(super) used: Used,
    pub(super) peak_memory_bytes: u64,
    pub(super) entries: Vec<Entry>,
    pub(super) warnings: Vec<String>,
    pub(super) captured: Vec<Captured>,
    pub(super) echo: Echo,
    /// What the stage before put out.
    pub(super) previous: Vec<u8>,
}

/// What a stage produced.
pub(super) struct Produced {
    /// What the next stage receives, and the content of the output.
    pub(super) bytes: Vec<u8>,
    /// The members of the output beside the content.
    pub(super) members: Map<String, Value>,
    /// Whether the bytes are put out as `json`, `body` or `body-b64`.
    pub(super) has_content: bool,
    /// Their media type, if it is known.
    pub(super) media: Option<String>,
    /// Whether the server answered with a status of 400 or more.
    pub(super) http_error: bool,
}

impl Produced {
    /// Bytes, and nothing to say of them.
    pub(super) fn plain(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            members: Map::new(),
            has_content: true,
            media: None,
            http_error: false,
        }
    }
}

/// Runs the stages of an operation.
#[must_use]
pub fn run(call: &Call<'_>) -> Done {
    let mut run = Run {
        call: *call,
        started: Instant::now(),
        used: Used::default(),
        peak_memory_bytes: 0,
        entries: Vec::new(),
        warnings: Vec::new(),
        captured: Vec::new(),
        echo: Echo::default(),
        previous: Vec::new(),
    };
    let end = run.stages().map_err(|failure| run.echo.failure(failure));
    run.used.wall_clock_ms = milliseconds(run.started.elapsed());
    Done {
        end,
        entries: run.entries,
        used: run.used,
        peak_memory_bytes: run.peak_memory_bytes,
        warnings: run
            .warnings
            .into_iter()
            .map(|warning| run.echo.text(warning))
            .collect(),
        captured: run.captured,
    }
}

impl Run<'_> {
    fn stages(&mut self) -> Result<Output, Failure> {
        let mut last = None;
        let mut http_error = None;
        for stage in &self.call.operation.stages {
            if Cancellation::current().is_cancelled() {
                return Err(Failure::cancelled());
            }
            if self.time_left().is_some_and(|left| left.is_zero()) {
                return Err(self.exhausted("wall-clock-ms"));
            }
            let mut produced = self.stage(stage).map_err(|mut failure| {
                // What a filter cannot read may be a page that says what is wrong.
                if let Some(status) = http_error {
                    failure.message =
                        format!("{}; the answer had status {status}", failure.message);
                }
                failure
            })?;
            self.previous = std::mem::take(&mut produced.bytes);
            if produced.http_error {
                http_error = produced.members.get("status").and_then(Value::as_u64);
            }
            last = Some(produced);
        }
        let Some(mut last) = last else {
            return Err(Failure::new(Code::OpEmpty, "the operation has no stages"));
        };
        last.bytes = std::mem::take(&mut self.previous);
        // Of any stage: a filter makes no answer of an error page.
        last.http_error = http_error.is_some();
        self.finish(last)
    }

    fn stage(&mut self, stage: &Stage) -> Result<Produced, Failure> {
        match stage {
            Stage::Http(stage) => self.http(stage),
            Stage::JsonFilter {
                program,
                options,
                args,
                json_args,
                stdin,
            } => self.json_filter(program, options, args, json_args, stdin.as_ref()),
            Stage::TextTransform { tool, args, stdin } => {
                self.text_transform(tool, args, stdin.as_ref())
            }
            Stage::Println { text } => self.println(text),
            Stage::ReadFile(stage) => self.read_file(stage),
            Stage::Sandbox(stage) => self.sandboxed(stage),
        }
    }

    /// Captures and redacts what the last stage produced, and checks it against the output schema.
    fn finish(&mut self, mut produced: Produced) -> Result<Output, Failure> {
        // What a filter made of a response stands elsewhere now.
        if produced.has_content && self.call.operation.stages.len() > 1 {
            produced.bytes = self.capture(produced.bytes);
        }
        let mut members = produced.members;
        if produced.has_content {
            if result::goes_to_file(&produced.bytes) {
                let file = self.write_output("body", Whose::Caller, &produced.bytes)?;
                members.insert("files".to_owned(), vec![file].into());
            } else {
                let (key, value) = result::content(&produced.bytes, produced.media.as_deref());
                members.insert(key.to_owned(), value);
            }
        }
        let mut value = Value::Object(members);
        self.echo.value(&mut value);
        let echoed = self.echo.take_echoed();
        for name in echoed {
            self.record(Event::SecretEcho, name);
        }
        self.check_output(&value, produced.http_error);
        Ok(Output {
            value,
            http_error: produced.http_error,
        })
    }

    /// What does not fit the output schema is a warning; so is a schema that cannot be applied.
    fn check_output(&mut self, value: &Value, http_error: bool) {
        let Some(schema) = &self.call.operation.output_schema else {
            return;
        };
        if http_error {
            return;
        }
        let checked = match value.get("json") {
            Some(json) => {
                let compiled = self.call.schemas.compiled(schema);
                compiled.and_then(|schema| schema.check(json))
            }
            None => Err(Failure::new(Code::InvalidInput, "it is not JSON")),
        };
        if let Err(failure) = checked {
            let at = failure
                .path
                .map_or_else(String::new, |path| format!(" at {path}"));
            self.warnings.push(format!(
                "the output does not fit its schema{at}: {}",
                failure.message
            ));
        }
    }

    /// Text of a stage that sends nothing over HTTP.
    pub(super) fn filled(&self, segments: &Segments) -> Result<String, Failure> {
        filled(segments, self.call.inputs, self.call.files, &self.previous)
    }

    /// What a stage reads: its own, or what the stage before put out.
    pub(super) fn standard_input(&self, own: Option<&Segments>) -> Result<Vec<u8>, Failure> {
        match own {
            Some(segments) => self.filled(segments).map(String::into_bytes),
            None => Ok(self.previous.clone()),
        }
    }

    /// What is left of the time of the budget; none if it has no limit.
    pub(super) fn time_left(&self) -> Option<Duration> {
        let limit = self.call.caps.wall_clock?;
        Some(limit.saturating_sub(self.started.elapsed()))
    }

    /// What is left of every dimension.
    pub(super) fn caps_left(&self) -> Caps {
        let caps = self.call.caps;
        let left = |cap: Option<u64>, used: u64| cap.map(|cap| cap.saturating_sub(used));
        Caps {
            wall_clock: self.time_left(),
            cpu: caps
                .cpu
                .map(|cap| cap.saturating_sub(Duration::from_millis(self.used.cpu_ms))),
            memory_bytes: caps.memory_bytes,
            storage_bytes: left(caps.storage_bytes, self.used.storage_bytes),
            network_bytes: left(caps.network_bytes, self.used.network_bytes),
        }
    }

    /// Notes an event for the chain.
    pub(super) fn record(&mut self, event: Event, subject: String) {
        self.entries.push(Entry {
            subject: Some(subject),
            ..Entry::new(event)
        });
    }

    /// Notes for the chain that something was refused.
    pub(super) fn record_denied(&mut self, event: Event, subject: String, code: Code) {
        self.entries.push(Entry {
            subject: Some(subject),
            outcome: Outcome::Denied,
            code: Some(code),
            ..Entry::new(event)
        });
    }

    /// The failure and the event.
    pub(super) fn exhausted(&mut self, dimension: &str) -> Failure {
        self.record_denied(
            Event::BudgetExhausted,
            dimension.to_owned(),
            Code::BudgetExhausted,
        );
        Failure::new(
            Code::BudgetExhausted,
            format!("the budget for {dimension} is used up"),
        )
    }
}

/// Text without secrets.
pub(super) fn filled(
    segments: &Segments,
    inputs: &Inputs,
    files: &CallFiles,
    previous: &[u8],
) -> Result<String, Failure> {
    // What such a text is for comes back to the caller.
    let secrets = |name: &str| {
        Err(Failure::new(
            Code::SecretUnbound,
            format!("{name}: a secret goes into requests only"),
        ))
    };
    let fill = Fill {
        inputs,
        files,
        secrets: &secrets,
        previous,
    };
    Ok(fill.required(segments, NEEDED)?.text.to_string())
}

pub(super) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
