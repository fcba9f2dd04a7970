//! What is written down about a run: a receipt for whoever asked for one, and one audit line for every call,
//! allowed or denied.
//!
//! Everything here is made from one [`Execution`], so that a receipt, the audit line and the library's result can
//! never tell different stories. Relies on `trust` for digests and canonical JSON. Nothing here is signed:
//! a receipt or a line proves no more than that its own bytes hang together. Inputs, outputs, file contents,
//! values of environment variables and host paths are never recorded, only their digests and virtual names.

mod call;
mod envelope;
mod execution;
mod log;
mod observation;
mod outcome;
mod reason;
mod receipt;
mod request_id;
mod slots;
mod verify;

pub use call::{AuditedCall, CannotRecord};
pub use envelope::{ContextId, Decision, Denial, Envelope, InvalidContextId};
pub use execution::{Execution, RuntimeProfile};
pub use log::{AuditError, AuditLog, AuditTarget, TargetSources};
pub use observation::{Event, Observation, observations_wanted};
pub use outcome::{Code, Outcome, Status};
pub use reason::Reason;
pub use receipt::{
    Attestation, NotSuccessful, Receipt, ReceiptError, ReceiptFormat, ReceiptV0, ReceiptV1,
    ResultV1, RuntimeV1, UnknownReceiptFormat,
};
pub use request_id::{NoRandomness, RequestId};
pub use slots::{SlotError, Slots, check_log};
pub use verify::verify_receipt;

#[cfg(test)]
mod testing;
