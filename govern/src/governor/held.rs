//! K-378: no answer holds a value of a secret, whichever skill it is bound to.
//!
//! What an operation sent is looked for while it runs (`execute::echo`). Here it is everything that the store holds, for what
//! one skill is told may come back as another's text.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::Governor;
use crate::failure::Failure;
use crate::redact::Redactor;
use crate::secrets::Stamp;

/// What the store held when it was looked at last.
#[derive(Default)]
pub(super) struct Held(Mutex<Option<(Stamp, Arc<Redactor>)>>);

impl Governor {
    /// The answer, or the failure, without any value.
    pub(super) fn clean(&self, answer: Result<Value, Failure>) -> Result<Value, Failure> {
        let redactor = self.held();
        if redactor.is_empty() {
            return answer;
        }
        match answer {
            Ok(mut answer) => {
                redactor.texts(&mut answer);
                Ok(answer)
            }
            Err(failure) => Err(redactor.failure(failure)),
        }
    }

    fn held(&self) -> Arc<Redactor> {
        let stamp = self.secrets.stamp();
        let mut held = self.held.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, redactor)) = held.as_ref().filter(|(known, _)| *known == stamp) {
            return Arc::clone(redactor);
        }
        // A store that cannot be read gives no value to anybody.
        let values = self.secrets.values().unwrap_or_default();
        let redactor = Arc::new(Redactor::new(&values));
        *held = Some((stamp, Arc::clone(&redactor)));
        redactor
    }
}
