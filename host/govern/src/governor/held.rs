//! No answer holds a value of a secret, whichever skill it is bound to.
//!
//! What an operation sent is looked for while it runs (`execute::echo`). Here it is everything that the store holds, for what
//! one skill is told may come back as another's text.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::Governor;
use crate::failure::{Code, Failure};
use crate::redact::Redactor;
use crate::secrets::Stamp;

/// What the store held when it was looked at last.
#[derive(Default)]
pub(super) struct Held(Mutex<Option<(Stamp, Arc<Redactor>)>>);

impl Governor {
    /// The answer, or the failure, without any value.
    pub(super) fn clean(&self, answer: Result<Value, Failure>) -> Result<Value, Failure> {
        let redactor = match self.held() {
            Ok(redactor) => redactor,
            // It serves nobody until somebody mends it: what was in it before is all that can come back.
            Err(failure) if failure.code == Code::SecretStorePermissions => self.last_held(),
            Err(failure) => {
                let executed = answer.map_or_else(|failure| failure.executed, |_| true);
                return Err(Failure {
                    executed,
                    ..failure
                });
            }
        };
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

    /// What took the values out when the store could be read last.
    fn last_held(&self) -> Arc<Redactor> {
        let held = self.held.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref()
            .map_or_else(Arc::default, |(_, redactor)| Arc::clone(redactor))
    }

    /// What takes the values out.
    ///
    /// # Errors
    ///
    /// Those of a store that cannot be read: nobody knows then what to take out.
    pub(super) fn held(&self) -> Result<Arc<Redactor>, Failure> {
        let stamp = self.secrets.stamp();
        let mut held = self.held.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, redactor)) = held.as_ref().filter(|(known, _)| *known == stamp) {
            return Ok(Arc::clone(redactor));
        }
        let redactor = Arc::new(Redactor::new(&self.secrets.values()?));
        *held = Some((stamp, Arc::clone(&redactor)));
        Ok(redactor)
    }
}
