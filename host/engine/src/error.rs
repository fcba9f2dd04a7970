//! How a call, or the making of an engine, can fail.

use wasmtime::Trap;

use super::room::NoRoom;
use hydrant_capability::{Budget, BudgetExceeded};

/// Why there is no engine or no component.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Wasmtime cannot be set up on this machine.
    #[error("the WebAssembly engine cannot be set up: {0}")]
    Setup(String),
    /// The bytes are no component, or one that this machine cannot compile.
    #[error("not a WebAssembly component: {0}")]
    Compile(String),
    /// Compiling takes longer than the call has time.
    #[error("compiling the component takes longer than there is time for")]
    CompileTimeout,
    /// It imports something that guests do not get, or does not export what a skill exports.
    #[error("the component does not fit the world hydrant:host/skill: {0}")]
    World(String),
    /// It imports an interface that its manifest does not declare.
    #[error("the component imports {import}, but its manifest declares no {kind} capability")]
    Undeclared {
        /// The interface, such as `hydrant:host/fetch@0.1.0`.
        import: String,
        /// The capability kind that would declare it.
        kind: &'static str,
    },
    /// Loading it would take this process past a limit of the kernel.
    #[error("the component cannot be loaded: {0}")]
    NoRoom(#[from] NoRoom),
    /// The thread that raises the epoch cannot be started.
    #[error("the epoch thread cannot be started: {0}")]
    Ticker(#[from] std::io::Error),
}

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The skill itself says so.
    #[error("{code}: {message}")]
    Skill {
        /// `snake_case`, at most 64 bytes.
        code: String,
        /// One line for a person, at most 4,096 bytes.
        message: String,
        /// The text of one JSON object, at most 16 KiB.
        details: Option<String>,
    },
    /// A budget of the call is used up.
    #[error(transparent)]
    Budget(#[from] BudgetExceeded),
    /// The component could not be instantiated: its start code trapped.
    #[error("the component cannot be instantiated: {0}")]
    Instantiation(String),
    /// The guest trapped.
    #[error("the component trapped: {0}")]
    Trap(String),
    /// An instance would take this process past a limit of the kernel.
    #[error("the component cannot be instantiated: {0}")]
    NoRoom(#[from] NoRoom),
    /// All slots for instances were taken for as long as the call could wait.
    #[error("too many calls at once")]
    Busy,
}

/// Why a component that nobody vouched for has not described itself.
#[derive(Debug, thiserror::Error)]
pub enum ProbeFailure {
    /// It is no component of the host world, or its start code trapped.
    #[error("{0}")]
    Instantiation(String),
    /// It started, and its `describe` did not answer.
    #[error(transparent)]
    Description(CallError),
}

/// Bytes of a skill's code.
const MAX_CODE_BYTES: usize = 64;
/// Bytes of a skill's message; what is beyond them is cut off.
const MAX_MESSAGE_BYTES: usize = 4096;
/// Bytes of a skill's details; longer ones are dropped, for half of an object is none.
const MAX_DETAILS_BYTES: usize = 16 * 1024;

impl CallError {
    /// What a skill says that it fails with, within bounds: it goes to callers, logs and receipts, and a component may say
    /// as much as its memory holds. What can be no code is reported as `internal`, as codes are that are none of the list.
    pub(super) fn of_skill(code: String, mut message: String, details: Option<String>) -> Self {
        message.truncate(message.floor_char_boundary(MAX_MESSAGE_BYTES));
        if is_code(&code) {
            return Self::Skill {
                code,
                message,
                details: details.filter(|details| details.len() <= MAX_DETAILS_BYTES),
            };
        }
        let (said, _) = code.split_at(code.floor_char_boundary(MAX_CODE_BYTES));
        Self::Skill {
            details: Some(serde_json::json!({ "code": said }).to_string()),
            code: "internal".into(),
            message,
        }
    }

    /// What went wrong before the first export could be called is no trap of the skill's own code.
    pub(super) fn while_instantiating(self) -> Self {
        match self {
            Self::Trap(reason) => Self::Instantiation(reason),
            other => other,
        }
    }

    /// Sorts what wasmtime reports.
    pub(super) fn of(error: &wasmtime::Error, fuel: u64) -> Self {
        if let Some(budget) = error.downcast_ref::<BudgetExceeded>() {
            return Self::Budget(*budget);
        }
        if error
            .downcast_ref::<wasmtime::PoolConcurrencyLimitError>()
            .is_some()
        {
            return Self::Busy;
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => Self::Budget(BudgetExceeded {
                budget: Budget::Fuel,
                limit: fuel,
                used: fuel,
            }),
            Some(trap) => Self::Trap(trap.to_string()),
            None => Self::Trap(error.root_cause().to_string()),
        }
    }
}

/// `^[a-z][a-z0-9_.-]{0,63}$`
fn is_code(text: &str) -> bool {
    let may_follow = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'.' | b'-')
    };
    text.len() <= MAX_CODE_BYTES
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(may_follow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_skill_fails_with_is_within_bounds() {
        let of = |code: &str, message: &str, details: Option<String>| match CallError::of_skill(
            code.into(),
            message.into(),
            details,
        ) {
            CallError::Skill {
                code,
                message,
                details,
            } => (code, message, details),
            other => panic!("{other:?}"),
        };
        let longest = format!("a{}", "_".repeat(63));
        let kept = of(&longest, "no", Some("{}".into()));
        assert_eq!(kept, (longest.clone(), "no".into(), Some("{}".into())));
        for foreign in ["", "A", "1a", "a b", "a\n", "ä", &format!("{longest}a")] {
            let (code, _, details) = of(foreign, "no", None);
            assert_eq!(code, "internal", "{foreign:?}");
            assert!(details.unwrap().len() < 128);
        }
        let (_, message, details) = of("io", &"ä".repeat(9999), Some(" ".repeat(65_537)));
        assert_eq!((message.len(), details), (4096, None));
        // A character is never cut in two.
        let odd = format!("x{}", "ä".repeat(9999));
        assert_eq!(of("io", &odd, None).1.len(), 4095);
    }
}
