//! The directories that the planner's component reads.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::policy::{OwnMount, VirtualPath};

/// What `prompt.hydrate` sees at its two mount points. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct PlannerMounts {
    pub(super) workspace: Option<OwnMount>,
    pub(super) catalog: Option<OwnMount>,
}

impl PlannerMounts {
    /// Mounts a working tree at `/workspace`, as far as the policy lets skills read that.
    ///
    /// # Errors
    /// It is no directory that can be read.
    pub fn with_workspace(self, directory: &Path) -> io::Result<Self> {
        let at = VirtualPath::workspace();
        Ok(Self {
            workspace: Some(OwnMount::under_ceilings(at, directory)?),
            ..self
        })
    }

    /// Mounts a catalogue at `/catalog`.
    ///
    /// # Errors
    /// As [`with_workspace`](Self::with_workspace).
    pub fn with_catalog(self, directory: &Path) -> io::Result<Self> {
        let at = VirtualPath::parse("/catalog").map_err(io::Error::other)?;
        Ok(Self {
            catalog: Some(OwnMount::granted(at, directory)?),
            ..self
        })
    }

    /// Both, as a call mounts them.
    pub(super) fn all(&self) -> Arc<[OwnMount]> {
        self.workspace
            .iter()
            .chain(&self.catalog)
            .cloned()
            .collect()
    }
}
