//! What an approver is shown of a call.
