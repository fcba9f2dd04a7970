//! Systems without a jail: the interface of `confined` is there, and no child is made that has to be confined.

use std::convert::Infallible;
use std::io;
use std::marker::PhantomData;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::child::{Ended, NotStarted, Start};
use super::kept::Circumstances;
use crate::Call;
use crate::fs::Found;
use hydrant_policy::{MountHandle, VirtualPath};

/// A child in the jail, of which there is none.
pub(super) struct Confined<'call>(Infallible, PhantomData<&'call Call>);

/// The jails of one list: none.
pub(super) struct Shared;

impl Shared {
    /// None.
    pub(super) fn new() -> Self {
        Self
    }
}

/// Nobody asks where in a jail something lies.
pub(super) fn below(_: &MountHandle, _: &Found) -> Option<PathBuf> {
    None
}

impl<'call> Confined<'call> {
    /// Refuses.
    ///
    /// # Errors
    /// [`NotStarted::Unconfined`], always.
    pub(super) fn of_program(
        _: &'call Call,
        _: &str,
        _: &Path,
        _: &[PathBuf],
        _: &MountHandle,
    ) -> Result<Self, NotStarted> {
        Err(NotStarted::Unconfined)
    }

    /// Refuses.
    ///
    /// # Errors
    /// [`NotStarted::Unconfined`], always.
    pub(super) fn of_tool(
        _: &'call Call,
        _: &Found,
        _: &Path,
        _: Option<&MountHandle>,
    ) -> Result<Self, NotStarted> {
        Err(NotStarted::Unconfined)
    }

    /// Refuses.
    ///
    /// # Errors
    /// [`NotStarted::Unconfined`], always.
    pub(super) fn of_runner(
        _: &'call Call,
        _: &Path,
        _: Option<&MountHandle>,
    ) -> Result<Self, NotStarted> {
        Err(NotStarted::Unconfined)
    }

    /// As on Linux.
    pub(super) fn share_one_jail(&mut self) {
        match self.0 {}
    }

    /// As on Linux.
    pub(super) fn share(&mut self, _: &'call Shared) {
        match self.0 {}
    }

    /// As on Linux.
    pub(super) fn open_network(&mut self, _: &[(String, bool)]) {
        match self.0 {}
    }

    /// As on Linux.
    ///
    /// # Errors
    /// None.
    pub(super) fn open_for_writing(&mut self, _: &[VirtualPath]) -> Result<(), NotStarted> {
        match self.0 {}
    }

    /// As on Linux.
    ///
    /// # Errors
    /// None.
    pub(super) fn add_opened(&mut self, _: impl AsFd, _: &Path) -> Result<(), NotStarted> {
        match self.0 {}
    }

    /// As on Linux.
    ///
    /// # Errors
    /// None.
    pub(super) fn add_file(&mut self, _: &Path, _: &Path) -> Result<(), NotStarted> {
        match self.0 {}
    }

    /// As on Linux.
    ///
    /// # Errors
    /// None.
    pub(super) fn add_to(
        &self,
        _: &mut Circumstances,
        _: &Path,
    ) -> io::Result<Option<Vec<PathBuf>>> {
        match self.0 {}
    }

    /// As on Linux.
    ///
    /// # Errors
    /// None.
    pub(super) fn run(&self, _: &Start<'_>, _: Duration, _: usize) -> Result<Ended, NotStarted> {
        match self.0 {}
    }
}
