//! How a run of a core module ends other than well, and what is said about it.

use wasmtime::Trap;

use super::limits::Limiter;
use hydrant_audit::Code;
use hydrant_base::escaped;
use hydrant_capability::BudgetExceeded;
use hydrant_capability::core_module::{Denied, Ended};

/// Bytes of output that a message shows.
const SHOWN_OUTPUT: usize = 1024;
/// Characters of a reason that a message shows: reasons hold names that the module made up.
const SHOWN_REASON: usize = 256;

/// Why there is no output. `Display` is what follows `command failed: `.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CoreFailure {
    /// The entrypoint returned what means failure.
    #[error("skill failed: nonzero_return {value}: {shown}", shown = shown(output))]
    NonzeroReturn {
        /// What it returned.
        value: i32,
        /// The output, which a receipt hashes.
        output: Vec<u8>,
    },
    /// A trap of the guest.
    #[error("wasm execution failed: {0}")]
    Trap(String),
    /// All fuel is used up.
    #[error("wasm execution failed: fuel exhausted")]
    FuelExhausted,
    /// A trap after memory was refused.
    #[error("wasm execution failed: {0}, after more memory than {1} bytes was refused")]
    MemoryLimit(String, u64),
    /// The time is up, in the guest, in a hostcall or while compiling.
    #[error("wasm execution failed: deadline exceeded")]
    Timeout,
    /// A capability is missing or does not cover what was asked for.
    #[error("wasm execution failed: capability denied: {0}")]
    CapabilityDenied(Denied),
    /// It is no core module, or one too large to compile, or imports what the host does not offer.
    #[error("wasm instantiation failed: {0}")]
    InstantiationFailed(String),
    /// No export of that name is a function without parameters that returns an i32 or nothing.
    #[error("entrypoint not found: {0}")]
    EntrypointNotFound(String),
    /// The output is longer than allowed.
    #[error("wasm execution failed: the output is longer than {0} bytes")]
    OutputTooLarge(u64),
}

impl CoreFailure {
    /// The code of receipts and of the audit log.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::NonzeroReturn { .. } => Code::NonzeroReturn,
            Self::Trap(_) => Code::Trap,
            Self::FuelExhausted => Code::FuelExhausted,
            Self::MemoryLimit(..) => Code::MemoryLimit,
            Self::Timeout => Code::Timeout,
            Self::CapabilityDenied(_) => Code::CapabilityDenied,
            Self::InstantiationFailed(_) | Self::EntrypointNotFound(_) => Code::InstantiationFailed,
            Self::OutputTooLarge(_) => Code::OutputTooLarge,
        }
    }

    /// Sorts what wasmtime reports about guest code that ran.
    pub(super) fn of_run(error: &wasmtime::Error, limiter: &Limiter, memory_limit: u64) -> Self {
        if let Some(known) = Self::of_host(error) {
            return known;
        }
        let reason = match error.downcast_ref::<Trap>() {
            // By its kind only: no address, no frame, nothing that the module named.
            Some(trap) => trap.to_string(),
            None => reason(&error.root_cause().to_string()),
        };
        if limiter.has_refused_memory() {
            Self::MemoryLimit(reason, memory_limit)
        } else {
            Self::Trap(reason)
        }
    }

    /// Sorts what wasmtime reports about a module that could not be instantiated.
    pub(super) fn of_instantiation(error: &wasmtime::Error) -> Self {
        Self::of_host(error)
            .unwrap_or_else(|| Self::InstantiationFailed(reason(&error.root_cause().to_string())))
    }

    /// What the host itself ended.
    fn of_host(error: &wasmtime::Error) -> Option<Self> {
        if let Some(ended) = error.downcast_ref::<Ended>() {
            return Some(match ended {
                Ended::Denied(denied) => Self::CapabilityDenied(denied.clone()),
                Ended::Budget(_) => Self::Timeout,
            });
        }
        if error.downcast_ref::<BudgetExceeded>().is_some() {
            return Some(Self::Timeout);
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => Some(Self::FuelExhausted),
            _ => None,
        }
    }
}

/// A reason as it may be shown: cut and escaped, because names in it are the module's.
pub(super) fn reason(text: &str) -> String {
    escaped(&text.chars().take(SHOWN_REASON).collect::<String>())
}

/// The first bytes of an output as they may be shown.
fn shown(output: &[u8]) -> String {
    let part = output.get(..SHOWN_OUTPUT).unwrap_or(output);
    escaped(&String::from_utf8_lossy(part))
}
