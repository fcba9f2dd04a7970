//! Why an item of a hostcall ends early: an error of its own, or a budget that ends the whole call.

use super::BudgetExceeded;
use super::fetch::FetchError;
use super::fs::FsError;
use super::process::ProcessError;

/// See the module.
#[derive(Debug)]
pub(super) enum Stop<E> {
    /// This item has no answer; the others go on.
    Item(E),
    /// The call is over: a budget ran out.
    Call(BudgetExceeded),
}

impl<E> From<BudgetExceeded> for Stop<E> {
    fn from(exceeded: BudgetExceeded) -> Self {
        Stop::Call(exceeded)
    }
}

impl From<FsError> for Stop<FsError> {
    fn from(error: FsError) -> Self {
        Stop::Item(error)
    }
}

impl From<FetchError> for Stop<FetchError> {
    fn from(error: FetchError) -> Self {
        Stop::Item(error)
    }
}

impl From<ProcessError> for Stop<ProcessError> {
    fn from(error: ProcessError) -> Self {
        Stop::Item(error)
    }
}

/// The answer of one item, apart from what ends the call.
pub(super) fn settle<T, E>(outcome: Result<T, Stop<E>>) -> Result<Result<T, E>, BudgetExceeded> {
    match outcome {
        Ok(answer) => Ok(Ok(answer)),
        Err(Stop::Item(error)) => Ok(Err(error)),
        Err(Stop::Call(exceeded)) => Err(exceeded),
    }
}
