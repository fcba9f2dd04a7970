//! Systems without a jail: the interface is there, and every stage is refused, in the words of `hydrant doctor`.

use hydrant_jail::Launcher;

use super::{Caps, SandboxEnd, SandboxRun, Settings, unavailable};
use crate::chain::Used;
use crate::failure::Failure;
use hydrant_plan::{Policy, SandboxStage};

/// Runs nothing.
pub struct Sandbox {
    launcher: Launcher,
}

impl Sandbox {
    /// As on Linux.
    #[must_use]
    pub fn new(launcher: Launcher, _: Settings) -> Self {
        Self { launcher }
    }

    /// Refuses.
    ///
    /// # Errors
    ///
    /// `jail-unavailable`, always.
    pub fn check(&self, _: &SandboxStage, _: &Policy) -> Result<(), Failure> {
        Err(self.refused())
    }

    /// Nothing begins.
    pub fn prepare(&self) {
        self.launcher.prepare();
    }

    /// Refuses.
    ///
    /// # Errors
    ///
    /// `jail-unavailable`, always.
    pub fn run(&self, _: &SandboxRun<'_>) -> Result<SandboxEnd, Failure> {
        Err(self.refused())
    }

    /// Refuses.
    ///
    /// # Errors
    ///
    /// `jail-unavailable`, always.
    pub fn check_text_tool(&self, _: &str) -> Result<(), Failure> {
        Err(self.refused())
    }

    /// Refuses.
    ///
    /// # Errors
    ///
    /// `jail-unavailable`, always.
    pub fn text_tool(
        &self,
        _: &str,
        _: &[String],
        _: &[u8],
        _: Caps,
    ) -> Result<(Vec<u8>, Used), Failure> {
        Err(self.refused())
    }

    fn refused(&self) -> Failure {
        unavailable(self.launcher.refusal())
    }
}
