//! Before the service says that it is ready: the skills that its tenants may use are compiled.
//!
//! Compiling takes seconds, and memory that a process does not give back for long. So it is done by another process, which
//! leaves the compiled code in the cache and ends; `cli::serve` starts it, and holds [`Preparing`] meanwhile.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Inner, Service};
use crate::HostError;

/// The service is not ready for as long as one of these is there.
pub struct Preparing(Arc<Inner>);

impl Drop for Preparing {
    fn drop(&mut self) {
        self.0.preparing.fetch_sub(1, Ordering::Release);
    }
}

impl Service {
    /// Something is to be done before the service is ready.
    #[must_use]
    pub fn preparing(&self) -> Preparing {
        self.0.preparing.fetch_add(1, Ordering::Acquire);
        Preparing(Arc::clone(&self.0))
    }

    /// Whether calls are answered as fast as they will be: nothing is prepared any more, and it does not end.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.0.preparing.load(Ordering::Acquire) == 0 && !self.is_ending()
    }

    /// Compiles every pinned skill that some tenant may use, into the cache: how many there are.
    ///
    /// # Errors
    ///
    /// [`HostError`], for the first that cannot be compiled.
    pub fn compile(&self) -> Result<usize, HostError> {
        let mut done = BTreeSet::new();
        for tenant in self.0.directory.load().tenants() {
            for entry in tenant.host().pinned_entries()? {
                if tenant.may_use(&entry.0) && !done.contains(&entry) {
                    tenant.host().compile(&entry.0, Some(&entry.1))?;
                    done.insert(entry);
                }
            }
        }
        Ok(done.len())
    }
}
