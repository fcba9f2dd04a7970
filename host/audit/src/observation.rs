//! The observations that the original writes for whoever measures it: JSON lines on stderr, when `PROVENACT_OBS_JSON`
//! asks for them. They are not the audit log: nothing depends on them, and nobody is refused for want of them.

use hydrant_base::Timestamp;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::time::Instant;

use serde_json::Value;

/// What is observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "each is the event of the command with its name"
)]
pub enum Event {
    Command,
    Run,
    Verify,
    VerifyReceipt,
    VerifyRegistryEntry,
    ExperimentalValidateManifestV1,
    ExperimentalValidateReceiptV1,
}

impl Event {
    /// As the line names it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Command => "provenact.command",
            Self::Run => "provenact.run",
            Self::Verify => "provenact.verify",
            Self::VerifyReceipt => "provenact.verify_receipt",
            Self::VerifyRegistryEntry => "provenact.verify_registry_entry",
            Self::ExperimentalValidateManifestV1 => "provenact.experimental_validate_manifest_v1",
            Self::ExperimentalValidateReceiptV1 => "provenact.experimental_validate_receipt_v1",
        }
    }
}

/// Whether the value of `PROVENACT_OBS_JSON` asks for observations: `1`, `true` or `yes`, in any case.
#[must_use]
pub fn observations_wanted(value: Option<&OsStr>) -> bool {
    value.is_some_and(|value| {
        ["1", "true", "yes"]
            .iter()
            .any(|yes| value.eq_ignore_ascii_case(yes))
    })
}

/// One observation, begun when the work begins.
#[derive(Debug, Clone)]
pub struct Observation {
    event: Event,
    started: Instant,
    members: BTreeMap<&'static str, Value>,
}

impl Observation {
    /// Begins to measure.
    #[must_use]
    pub fn begin(event: Event) -> Self {
        Self {
            event,
            started: Instant::now(),
            members: BTreeMap::new(),
        }
    }

    /// Adds a member that the event has besides those that all have.
    pub fn note(&mut self, name: &'static str, value: impl Into<Value>) {
        self.members.insert(name, value.into());
    }

    /// The line, without its LF: members alphabetical, `status` by `result`, whose error is the text that the
    /// command prints.
    #[must_use]
    pub fn line(mut self, result: Result<(), &str>) -> String {
        let elapsed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.note("event", self.event.as_str());
        self.note("timestamp", Timestamp::now().unix_seconds());
        self.note("duration_ms", elapsed);
        match result {
            Ok(()) => self.note("status", "ok"),
            Err(error) => {
                self.note("status", "error");
                self.note("error", error);
            }
        }
        serde_json::to_string(&self.members).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_words_in_any_case_ask_for_observations() {
        for yes in ["1", "true", "TRUE", "Yes"] {
            assert!(observations_wanted(Some(OsStr::new(yes))), "{yes}");
        }
        for no in ["", "0", "on", "2", "truee", " 1"] {
            assert!(!observations_wanted(Some(OsStr::new(no))), "{no}");
        }
        assert!(!observations_wanted(None));
    }

    #[test]
    fn members_are_alphabetical() {
        let mut observation = Observation::begin(Event::Verify);
        observation.note("signer_count", 2);
        observation.note("artifact", "sha256:x");
        let line = observation.line(Ok(()));
        let members: serde_json::Map<String, Value> = serde_json::from_str(&line).unwrap();
        let names: Vec<&str> = members.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "artifact",
                "duration_ms",
                "event",
                "signer_count",
                "status",
                "timestamp"
            ]
        );
        assert_eq!(members["event"], "provenact.verify");
        assert_eq!(members["status"], "ok");
        assert!(members["timestamp"].as_u64().unwrap() > 1_700_000_000);
    }

    #[test]
    fn a_failure_has_its_error_on_one_line() {
        let line = Observation::begin(Event::Command).line(Err("no\nkey"));
        assert!(line.contains(r#""error":"no\nkey""#), "{line}");
        assert!(line.contains(r#""status":"error""#), "{line}");
        assert!(!line.contains('\n'));
    }

    #[test]
    fn events_have_the_names_of_the_original() {
        for (event, name) in [
            (Event::Command, "provenact.command"),
            (Event::Run, "provenact.run"),
            (Event::Verify, "provenact.verify"),
            (Event::VerifyReceipt, "provenact.verify_receipt"),
            (
                Event::VerifyRegistryEntry,
                "provenact.verify_registry_entry",
            ),
            (
                Event::ExperimentalValidateManifestV1,
                "provenact.experimental_validate_manifest_v1",
            ),
            (
                Event::ExperimentalValidateReceiptV1,
                "provenact.experimental_validate_receipt_v1",
            ),
        ] {
            assert_eq!(event.as_str(), name);
        }
    }
}
