//! Systems without a jail: the interface is there, and everything is refused.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use super::outcome::{Ended, Error, Layer, LayerState, Refused, StartError, Step};
use super::path::InsidePath;
use super::pipes::Pipes;
use super::plan::{Pin, Plan, Streams, Turn};

const REASON: &str = "processes are jailed on Linux only";

/// There is no launcher.
pub fn enter_if_asked() {}

/// Starts nothing.
#[derive(Clone, Debug)]
pub struct Launcher;

impl Launcher {
    /// As on Linux.
    pub fn this_binary() -> Self {
        Self
    }

    /// As on Linux.
    pub fn at(_: impl Into<PathBuf>) -> Self {
        Self
    }

    /// As on Linux.
    #[must_use]
    pub fn checked(self) -> Self {
        self
    }

    /// As on Linux.
    #[must_use]
    pub fn ready(self) -> Self {
        self
    }

    /// Nothing begins.
    pub fn prepare(&self) {}

    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub fn start_several(
        &self,
        plan: Plan,
        _: Vec<Pin>,
        streams: Streams,
    ) -> Result<Jailed, StartError> {
        self.start(plan, streams)
    }

    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub fn start_returning(
        &self,
        plan: Plan,
        streams: Streams,
        _: InsidePath,
    ) -> Result<Jailed, StartError> {
        self.start(plan, streams)
    }

    /// None.
    pub fn binary(&self) -> &std::path::Path {
        std::path::Path::new("")
    }

    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub fn start(&self, _: Plan, _: Streams) -> Result<Jailed, StartError> {
        Err(self.refusal().into())
    }

    /// Why nothing is started.
    pub fn refusal(&self) -> Refused {
        Refused::new(Step::Platform, REASON)
    }
}

/// A running jail, of which there is none.
#[derive(Debug)]
pub enum Jailed {}

impl Jailed {
    /// As on Linux.
    ///
    /// # Errors
    /// None.
    pub fn wait(self) -> Result<Ended, Error> {
        match self {}
    }

    /// As on Linux.
    ///
    /// # Errors
    /// None.
    pub fn serve(self, _: &mut Pipes<'_>, _: impl FnMut(u64) -> bool) -> Result<Finished, Error> {
        match self {}
    }
}

/// A program that has ended, of which there is none.
#[derive(Debug)]
pub struct Finished {
    /// As on Linux.
    pub ended: Ended,
    /// As on Linux.
    pub directory: Option<OwnedFd>,
    /// As on Linux.
    pub idle: Option<Idle>,
}

/// A jail in which nothing runs, of which there is none.
#[derive(Debug)]
pub enum Idle {}

impl Idle {
    /// As on Linux.
    ///
    /// # Errors
    /// None.
    pub fn start(self, _: Turn, _: Streams) -> Result<Jailed, StartError> {
        match self {}
    }
}

/// One layer that is missing, and why.
pub fn layers(_: &Launcher, _: &[PathBuf]) -> Vec<Layer> {
    vec![Layer {
        name: Step::Platform.name().to_owned(),
        state: LayerState::Missing,
        detail: REASON.to_owned(),
    }]
}
