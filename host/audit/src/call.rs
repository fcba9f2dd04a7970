//! The audit lines of one call: a bounded number of refused operations, and exactly one final line.
//!
//! The final line takes the call by value, so that there cannot be two.

use hydrant_base::Digest;
use hydrant_capability::MAX_DENIED_OPERATIONS;

use super::{
    AuditError, AuditLog, AuditTarget, ContextId, Denial, Envelope, Execution, NoRandomness,
    Reason, RequestId,
};

/// A call that is being recorded.
#[derive(Debug)]
pub struct AuditedCall {
    request_id: RequestId,
    context_id: Option<ContextId>,
    log: Option<AuditLog>,
    /// Refused operations so far.
    denied: usize,
    /// Their lines, which are written with the final one.
    lines: Vec<u8>,
}

/// Why a call cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub enum CannotRecord {
    /// There is no id for it.
    #[error(transparent)]
    Id(#[from] NoRandomness),
    /// The log does not open.
    #[error(transparent)]
    Log(#[from] AuditError),
}

impl AuditedCall {
    /// Opens the log and gives the call its id; before anything else of the call is done.
    ///
    /// # Errors
    /// [`CannotRecord`]: the call must not start.
    pub fn begin(
        target: &AuditTarget,
        context_id: Option<ContextId>,
    ) -> Result<Self, CannotRecord> {
        Ok(Self {
            request_id: RequestId::new()?,
            context_id,
            log: AuditLog::open(target)?,
            denied: 0,
            lines: Vec::new(),
        })
    }

    /// Records one refused operation; what comes after [`MAX_DENIED_OPERATIONS`] is recorded as `more`. The
    /// journal of a call keeps one more than that, so there is one such line. It is written with the final line.
    pub fn operation_denied(&mut self, denial: &Denial, kind: &str, value: &str) {
        if self.log.is_none() {
            return;
        }
        let reason = if self.denied < MAX_DENIED_OPERATIONS {
            Reason::capability_denied(kind, value)
        } else {
            Reason::CapabilityDeniedMore
        };
        self.denied += 1;
        let line = self.deny(denial.clone(), reason);
        line.write_to(&mut self.lines);
    }

    /// The final line of a call that was executed.
    ///
    /// # Errors
    /// [`AuditError`]: this line, or one of a refused operation, could not be written; the command fails.
    pub fn executed(
        self,
        execution: &Execution,
        receipt_hash: Option<&Digest>,
    ) -> Result<(), AuditError> {
        let context_id = self.context_id.clone();
        let line = Envelope::allow(self.request_id, context_id, execution, receipt_hash);
        self.finish(&line)
    }

    /// The final line of a call that was not executed.
    ///
    /// # Errors
    /// [`AuditError`], as for [`AuditedCall::executed`].
    pub fn denied(self, denial: Denial, reason: Reason) -> Result<(), AuditError> {
        let line = self.deny(denial, reason);
        self.finish(&line)
    }

    fn deny(&self, denial: Denial, reason: Reason) -> Envelope {
        Envelope::deny(self.request_id, self.context_id.clone(), denial, reason)
    }

    fn finish(mut self, line: &Envelope) -> Result<(), AuditError> {
        let Some(log) = &self.log else { return Ok(()) };
        line.write_to(&mut self.lines);
        log.lines(&self.lines)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use serde_json::Value;

    use super::super::testing::worked;
    use super::*;

    fn begin(path: &Path) -> AuditedCall {
        let context = Some("tenant".parse().unwrap());
        AuditedCall::begin(&AuditTarget::Required(path.to_owned()), context).unwrap()
    }

    fn lines(path: &Path) -> Vec<Value> {
        let text = fs::read_to_string(path).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    #[test]
    fn a_call_writes_one_final_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let receipt = Digest::of(b"receipt");
        begin(&path).executed(&worked(), Some(&receipt)).unwrap();
        begin(&path)
            .denied(Denial::default(), Reason::UntrustedSigner)
            .unwrap();
        let lines = lines(&path);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0]["decision"], "allow");
        assert_eq!(lines[0]["receipt_hash"], receipt.as_str());
        assert_eq!(lines[1]["reason"], "untrusted_signer");
        assert_eq!(lines[1]["context_id"], "tenant");
        assert_ne!(lines[0]["request_id"], lines[1]["request_id"]);
    }

    #[test]
    fn refused_operations_have_the_id_of_their_call() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let mut call = begin(&path);
        let denial = Denial {
            artifact: Some(worked().artifact),
            ..Denial::default()
        };
        call.operation_denied(&denial, "fs.read", "/os/secret");
        call.executed(&worked(), None).unwrap();
        let lines = lines(&path);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0]["decision"], "deny");
        assert_eq!(lines[0]["reason"], "capability_denied:fs.read:/os/secret");
        assert_eq!(lines[0]["tool_digest"], worked().artifact.as_str());
        assert_eq!(lines[0]["request_id"], lines[1]["request_id"]);
        assert_eq!(lines[1]["decision"], "allow");
    }

    #[test]
    fn after_100_refused_operations_one_line_says_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let mut call = begin(&path);
        // As many as the journal keeps.
        for at in 0..=MAX_DENIED_OPERATIONS {
            call.operation_denied(&Denial::default(), "fs.read", &format!("/os/{at}"));
        }
        call.executed(&worked(), None).unwrap();
        let lines = lines(&path);
        assert_eq!(lines.len(), 102);
        assert_eq!(lines[99]["reason"], "capability_denied:fs.read:/os/99");
        assert_eq!(lines[100]["reason"], "capability_denied:more");
        assert_eq!(lines[101]["decision"], "allow");
    }

    #[test]
    fn the_lines_of_calls_at_the_same_time_stay_together() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let mut call = begin(&path);
                        call.operation_denied(&Denial::default(), "fs.read", "/os/a");
                        call.operation_denied(&Denial::default(), "fs.read", "/os/b");
                        call.executed(&worked(), None).unwrap();
                    }
                });
            }
        });
        let lines = lines(&path);
        assert_eq!(lines.len(), 600);
        for call in lines.chunks(3) {
            let decisions = [0, 1, 2].map(|at| call[at]["decision"].as_str().unwrap());
            assert_eq!(decisions, ["deny", "deny", "allow"]);
            assert!(
                call.iter()
                    .all(|line| line["request_id"] == call[0]["request_id"])
            );
        }
    }

    #[test]
    fn a_call_without_a_place_for_its_line_does_not_begin() {
        let folder = tempfile::tempdir().unwrap();
        let target = AuditTarget::Required(folder.path().to_owned());
        assert!(AuditedCall::begin(&target, None).is_err());
    }

    #[test]
    fn a_call_without_a_target_writes_nothing() {
        let mut call = AuditedCall::begin(&AuditTarget::Off, None).unwrap();
        call.operation_denied(&Denial::default(), "fs.read", "/os");
        assert!(call.executed(&worked(), None).is_ok());
    }
}
