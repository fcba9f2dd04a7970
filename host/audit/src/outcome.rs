//! How an execution ended: the closed list of codes and the message that goes with one.

use std::fmt;

use serde::Serialize;

use hydrant_base::escaped;

/// How an execution ended. Closed: what is not here cannot be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// It answered.
    Ok,
    /// A core module's entrypoint returned what means failure.
    NonzeroReturn,
    /// A component returned its own error.
    SkillError,
    /// The guest trapped.
    Trap,
    /// The fuel is used up.
    FuelExhausted,
    /// A trap that followed a refused growth of memory.
    MemoryLimit,
    /// The deadline passed.
    Timeout,
    /// A core module asked for something outside its declared capabilities.
    CapabilityDenied,
    /// No instance could be made.
    InstantiationFailed,
    /// The answer is longer than the limit.
    OutputTooLarge,
    /// More host calls than allowed.
    HostcallLimit,
    /// More bytes sent than allowed.
    EgressLimit,
}

impl Code {
    /// Every code.
    pub const ALL: [Self; 12] = [
        Self::Ok,
        Self::NonzeroReturn,
        Self::SkillError,
        Self::Trap,
        Self::FuelExhausted,
        Self::MemoryLimit,
        Self::Timeout,
        Self::CapabilityDenied,
        Self::InstantiationFailed,
        Self::OutputTooLarge,
        Self::HostcallLimit,
        Self::EgressLimit,
    ];

    /// As receipts and audit lines write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::NonzeroReturn => "nonzero_return",
            Self::SkillError => "skill_error",
            Self::Trap => "trap",
            Self::FuelExhausted => "fuel_exhausted",
            Self::MemoryLimit => "memory_limit",
            Self::Timeout => "timeout",
            Self::CapabilityDenied => "capability_denied",
            Self::InstantiationFailed => "instantiation_failed",
            Self::OutputTooLarge => "output_too_large",
            Self::HostcallLimit => "hostcall_limit",
            Self::EgressLimit => "egress_limit",
        }
    }

    /// `success` for [`Code::Ok`], else `failure`.
    #[must_use]
    pub fn status(self) -> Status {
        match self {
            Self::Ok => Status::Success,
            _ => Status::Failure,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// `result.status` of a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The execution answered.
    Success,
    /// It did not.
    Failure,
}

impl Status {
    /// As receipts write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
        }
    }
}

/// How an execution ended, with what may be said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    code: Code,
    message: Option<String>,
    skill_code: Option<String>,
}

/// Characters of `result.message`.
const MAX_MESSAGE: usize = 512;
/// Characters of a skill's own code in an audit line; skills of this project use `snake_case` words.
const MAX_SKILL_CODE: usize = 64;

impl Outcome {
    /// The execution answered.
    #[must_use]
    pub fn success() -> Self {
        Self {
            code: Code::Ok,
            message: None,
            skill_code: None,
        }
    }

    /// The execution failed with `code`.
    ///
    /// Of the message only the first line stays, without addresses and at most 512 characters long. It must
    /// not name host paths; it is what the engine or the skill says, and those know virtual paths only.
    #[must_use]
    pub fn failure(code: Code, message: &str) -> Self {
        Self {
            code,
            message: Some(clean(message)).filter(|text| !text.is_empty()),
            skill_code: None,
        }
    }

    /// A component returned its own error, with this code and message.
    #[must_use]
    pub fn skill_error(skill_code: &str, message: &str) -> Self {
        Self {
            skill_code: Some(cut(&escaped(skill_code), MAX_SKILL_CODE)),
            ..Self::failure(Code::SkillError, message)
        }
    }

    /// The code of this outcome in receipts and audit lines.
    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }

    /// Whether the execution answered.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.code == Code::Ok
    }

    /// At most 512 characters for a person.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// The component's own error code, only with [`Code::SkillError`].
    #[must_use]
    pub fn skill_code(&self) -> Option<&str> {
        self.skill_code.as_deref()
    }
}

/// One line, nothing that is not printable, no addresses of frames, at most 512 characters.
fn clean(message: &str) -> String {
    // A backtrace of a trap is on the lines after the first.
    let line = message.lines().next().unwrap_or_default();
    cut(&without_addresses(&escaped(line)), MAX_MESSAGE)
}

fn cut(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}

/// `0x` and hex digits become `0x…`: they tell the layout of code and change with every build.
fn without_addresses(text: &str) -> String {
    let mut pieces = text.split("0x");
    let mut cleaned = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        cleaned.push_str(if rest.len() < piece.len() {
            "0x?"
        } else {
            "0x"
        });
        cleaned.push_str(rest);
    }
    cleaned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_written_alike_by_serde_and_display() {
        let mut names: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        for code in Code::ALL {
            let json = serde_json::to_string(&code).unwrap();
            assert_eq!(json, format!("\"{code}\""));
        }
        names.dedup();
        assert_eq!(names.len(), 12);
        assert_eq!(names.first(), Some(&"ok"));
    }

    #[test]
    fn only_ok_is_success() {
        for code in Code::ALL {
            let success = code.status() == Status::Success;
            assert_eq!(success, code == Code::Ok, "{code}");
        }
        assert!(Outcome::success().is_success());
        assert!(!Outcome::failure(Code::Trap, "").is_success());
    }

    #[test]
    fn a_message_is_one_line_without_addresses() {
        let trap = "wasm trap: unreachable at 0x1f2e\n   0: 0x17 - module!run";
        let outcome = Outcome::failure(Code::Trap, trap);
        assert_eq!(outcome.message(), Some("wasm trap: unreachable at 0x?"));
        let kept = Outcome::failure(Code::Trap, "0xyz");
        assert_eq!(kept.message(), Some("0xyz"));
    }

    #[test]
    fn a_message_has_at_most_512_characters_and_no_control_characters() {
        let long = format!("\u{1b}[31m{}", "ü".repeat(600));
        let outcome = Outcome::failure(Code::SkillError, &long);
        let message = outcome.message().unwrap();
        assert_eq!(message.chars().count(), 512);
        assert!(message.starts_with("\\u{1b}[31m"), "{message}");
    }

    #[test]
    fn a_skill_code_is_kept_apart_and_bounded() {
        let outcome = Outcome::skill_error(&format!("not_found\n{}", "x".repeat(99)), "no file");
        assert_eq!(outcome.code(), Code::SkillError);
        let code = outcome.skill_code().unwrap();
        assert!(code.starts_with("not_found\\u{a}xxx"), "{code}");
        assert_eq!(code.chars().count(), 64);
        assert_eq!(outcome.message(), Some("no file"));
    }
}
