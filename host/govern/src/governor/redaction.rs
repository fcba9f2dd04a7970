//! No answer holds a value of a secret, whichever skill it is bound to.
//!
//! What an operation sent is looked for while it runs (`execute::echo`). Here it is everything that the store holds, because
//! what one skill is told may come back as another's text.

use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::Governor;
use crate::failure::{Code, Failure};
use crate::locked;
use crate::redact::Redactor;
use crate::secrets::Stamp;

/// The redactor for the store of secrets as it was read last.
#[derive(Default)]
pub(super) struct CachedRedactor(Mutex<Option<(Stamp, Arc<Redactor>)>>);

impl Governor {
    /// Returns the answer, or the failure, without any value of a secret.
    pub(super) fn redacted(&self, answer: Result<Value, Failure>) -> Result<Value, Failure> {
        let redactor = match self.redactor() {
            Ok(redactor) => redactor,
            // Until the store is mended it gives no value to any call, so only values it held before can come back.
            Err(failure) if failure.code == Code::SecretStorePermissions => self.last_redactor(),
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

    /// Returns the redactor of the last time that the store could be read.
    fn last_redactor(&self) -> Arc<Redactor> {
        let cached = locked(&self.redactor.0);
        cached
            .as_ref()
            .map_or_else(Arc::default, |(_, redactor)| Arc::clone(redactor))
    }

    /// Returns a redactor for all values that the store holds.
    ///
    /// # Errors
    ///
    /// Those of a store that cannot be read: then it is not known what to take out.
    pub(super) fn redactor(&self) -> Result<Arc<Redactor>, Failure> {
        let stamp = self.secrets.stamp();
        let mut cached = locked(&self.redactor.0);
        if let Some((_, redactor)) = cached.as_ref().filter(|(known, _)| *known == stamp) {
            return Ok(Arc::clone(redactor));
        }
        let redactor = Arc::new(Redactor::new(&self.secrets.values()?));
        *cached = Some((stamp, Arc::clone(&redactor)));
        Ok(redactor)
    }
}
