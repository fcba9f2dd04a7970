//! The hostcalls, as every component but `content.hydrate` sees them, and the glue that exports it.
//!
//! The types are those that wit-bindgen makes of `wit/`. Each interface is a trait too, so that the same
//! component runs natively, in tests and benchmarks, on effects of another kind. What a component does not
//! use is left out of it when it is linked: its imports are what it needs and no more.

#[allow(
    unsafe_code,
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    clippy::as_conversions,
    clippy::undocumented_unsafe_blocks,
    clippy::panic,
    clippy::unreachable,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::semicolon_if_nothing_returned,
    clippy::redundant_clone,
    reason = "generated; lifting and lowering across the component boundary is unsafe by nature"
)]
#[doc(hidden)]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "skill",
        additional_derives: [PartialEq, Eq, Clone],
        pub_export_macro: true,
        export_macro_name: "export",
        default_bindings_module: "kit::host::bindings",
    });
}

pub use bindings::hydrant::host::{fetch, fs_read, fs_write, process};

#[doc(hidden)]
pub use bindings::{Guest, SkillError as ErrorRecord, export};

use crate::SkillError;
use fetch::{FetchFailure, HttpRequest, HttpResponse};
use fs_read::{File, FsError, Listing, ReadRequest, TreeRequest};
use fs_write::{Change, Failure};
use process::{Command, Exit, ProcessError};

/// `fs-read`.
pub trait ReadFiles {
    /// Reads files; as many answers as requests, in their order.
    fn read(&mut self, requests: &[ReadRequest]) -> Vec<Result<File, FsError>>;

    /// Reads one file.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn read_file(&mut self, request: ReadRequest) -> Result<File, FsError> {
        self.read(&[request]).pop().unwrap_or(Err(FsError::Io))
    }

    /// Lists directories; as many answers as requests, in their order.
    fn tree(&mut self, requests: &[TreeRequest]) -> Vec<Result<Listing, FsError>>;
}

/// `fs-write`.
pub trait WriteFiles {
    /// Changes all of them or none.
    ///
    /// # Errors
    /// The first change that could not be made; nothing was.
    fn apply(&mut self, changes: &[Change]) -> Result<(), Failure>;
}

/// `fetch`.
pub trait Fetch {
    /// Sends requests; as many answers as requests, in their order.
    fn send(&mut self, requests: &[HttpRequest]) -> Vec<Result<HttpResponse, FetchFailure>>;

    /// Sends one request; returns the response, or why there is none.
    ///
    /// # Errors
    /// `internal` if the host gives no answer.
    fn send_one(
        &mut self,
        request: HttpRequest,
    ) -> Result<Result<HttpResponse, FetchFailure>, SkillError> {
        let answer = self.send(&[request]).pop();
        answer.ok_or_else(|| SkillError::new("internal", "the host gave no answer"))
    }
}

/// `process`.
pub trait RunCommands {
    /// Runs commands; as many answers as commands, in their order.
    fn run(&mut self, commands: &[Command]) -> Vec<Result<Exit, ProcessError>>;
}

/// The host that runs this component.
#[derive(Debug, Clone, Copy, Default)]
pub struct Host;

impl ReadFiles for Host {
    fn read(&mut self, requests: &[ReadRequest]) -> Vec<Result<File, FsError>> {
        fs_read::read(requests)
    }

    fn tree(&mut self, requests: &[TreeRequest]) -> Vec<Result<Listing, FsError>> {
        fs_read::tree(requests)
    }
}

impl WriteFiles for Host {
    fn apply(&mut self, changes: &[Change]) -> Result<(), Failure> {
        fs_write::apply(changes)
    }
}

impl Fetch for Host {
    fn send(&mut self, requests: &[HttpRequest]) -> Vec<Result<HttpResponse, FetchFailure>> {
        fetch::send(requests)
    }
}

impl RunCommands for Host {
    fn run(&mut self, commands: &[Command]) -> Vec<Result<Exit, ProcessError>> {
        process::run(commands)
    }
}

/// Exports a crate as a component: `kit::component!(describe, run)`, with
/// `fn describe() -> &'static str` and `fn run(&mut Host, &[u8]) -> Result<Vec<u8>, SkillError>`.
///
/// Natively it does nothing.
#[macro_export]
macro_rules! component {
    ($describe:path, $run:path) => {
        #[cfg(target_family = "wasm")]
        #[allow(
            unsafe_code,
            unreachable_pub,
            clippy::as_conversions,
            clippy::undocumented_unsafe_blocks,
            clippy::semicolon_if_nothing_returned,
            reason = "the exports of a component are unsafe by nature"
        )]
        mod component {
            struct Component;

            impl $crate::host::Guest for Component {
                fn describe() -> String {
                    String::from($describe())
                }

                fn run(request: Vec<u8>) -> Result<Vec<u8>, $crate::host::ErrorRecord> {
                    $run(&mut $crate::host::Host, &request).map_err(|error| {
                        let (code, message, details) = error.into_parts();
                        $crate::host::ErrorRecord { code, message, details }
                    })
                }
            }

            $crate::host::export!(Component with_types_in $crate::host::bindings);
        }
    };
}
