//! How a call, or the making of an engine, can fail.

use wasmtime::Trap;

use crate::capability::{Budget, BudgetExceeded};

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
    /// It imports something that guests do not get (TV-24), or does not export what a skill exports.
    #[error("the component does not fit the world hydrant:host/skill: {0}")]
    World(String),
    /// TV-25: it imports an interface that its manifest does not declare.
    #[error("the component imports {import}, but its manifest declares no {kind} capability")]
    Undeclared {
        /// The interface, such as `hydrant:host/fetch@0.1.0`.
        import: String,
        /// The capability kind that would declare it.
        kind: &'static str,
    },
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
        /// `snake_case`.
        code: String,
        /// One line for a person.
        message: String,
        /// The text of one JSON object.
        details: Option<String>,
    },
    /// A budget of the call is used up (G-06).
    #[error(transparent)]
    Budget(#[from] BudgetExceeded),
    /// The component could not be instantiated: its start code trapped.
    #[error("the component cannot be instantiated: {0}")]
    Instantiation(String),
    /// The guest trapped.
    #[error("the component trapped: {0}")]
    Trap(String),
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

impl CallError {
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
