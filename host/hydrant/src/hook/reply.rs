//! What a hook prints: one shape on stdout and no other key, lines on stderr.

use serde::Serialize;

use super::message::{Warning, line};

/// What a hook says and how it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// One line; none where the prompt is stopped.
    pub stdout: Option<String>,
    /// Lines.
    pub stderr: Vec<String>,
}

/// How a run goes when it is not stopped.
pub(super) enum Answered {
    /// The instruction, or `""`.
    Context(String),
    /// The prompt is empty.
    Nothing,
}

/// The JSON of a run that was not stopped, and nothing else.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Success<'a> {
    hook_specific_output: Output<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    hook_event_name: &'static str,
    additional_context: &'a str,
}

impl Reply {
    /// The success shape without context.
    #[must_use]
    pub fn empty(warnings: &[Warning]) -> Self {
        Self::answered(&Answered::Context(String::new()), warnings)
    }

    /// The prompt is stopped.
    #[must_use]
    pub fn halted(code: &str, message: &str, warnings: &[Warning]) -> Self {
        let mut stderr: Vec<_> = warnings.iter().map(ToString::to_string).collect();
        stderr.push(line("ERROR", code, message));
        Self {
            stdout: None,
            stderr,
        }
    }

    pub(super) fn answered(answered: &Answered, warnings: &[Warning]) -> Self {
        let stdout = match answered {
            Answered::Nothing => "{}".to_owned(),
            Answered::Context(context) => serde_json::to_string(&Success {
                hook_specific_output: Output {
                    hook_event_name: "UserPromptSubmit",
                    additional_context: context,
                },
            })
            // Of a text nothing can fail to be written.
            .unwrap_or_else(|_| "{}".to_owned()),
        };
        Self {
            stdout: Some(stdout),
            stderr: warnings.iter().map(ToString::to_string).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::message::Source;

    #[test]
    fn the_reply_has_one_shape_and_no_other_key() {
        assert_eq!(
            Reply::empty(&[]).stdout.unwrap(),
            r#"{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":""}}"#
        );
        let context = Answered::Context("a \"b\"\n\0".to_owned());
        assert_eq!(
            Reply::answered(&context, &[]).stdout.unwrap(),
            r#"{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"a \"b\"\n\u0000"}}"#
        );
        assert_eq!(
            Reply::answered(&Answered::Nothing, &[]).stdout.unwrap(),
            "{}"
        );
    }

    #[test]
    fn a_run_that_is_stopped_prints_nothing_on_stdout() {
        let warnings = [Warning::new(Source::Config, "hydrate.x is not known")];
        let reply = Reply::halted("tempfile", "temp file write failed: /x: no", &warnings);
        assert_eq!(reply.stdout, None);
        assert_eq!(
            reply.stderr,
            [
                "WARN: config: hydrate.x is not known",
                "ERROR: tempfile: temp file write failed: /x: no"
            ]
        );
    }
}
