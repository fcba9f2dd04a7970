//! The component side: the world `hydrant:host/skill` on top of [`Effects`].

// The generated bindings lift and lower across the component boundary, which is unsafe by nature; they
// number their own types and document nothing.
#![allow(
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
    clippy::semicolon_if_nothing_returned
)]

wit_bindgen::generate!({ path: "../../wit", world: "skill" });

use hydrant::host::{fetch, fs_read, process};

use crate::effects::{
    Command, Effects, Ending, Exit, FetchError, File, FsError, HttpRequest, HttpResponse,
    ProcessError, ReadRequest,
};

struct ContentHydrate;

export!(ContentHydrate);

impl Guest for ContentHydrate {
    fn describe() -> String {
        crate::describe().to_owned()
    }

    fn run(request: Vec<u8>) -> Result<Vec<u8>, SkillError> {
        crate::run(&mut Host, &request).map_err(|error| {
            let (code, message, details) = error.into_parts();
            SkillError {
                code,
                message,
                details,
            }
        })
    }
}

/// The hostcalls.
struct Host;

impl Effects for Host {
    fn read(&mut self, requests: &[ReadRequest]) -> Vec<Result<File, FsError>> {
        let requests: Vec<_> = requests
            .iter()
            .map(|request| fs_read::ReadRequest {
                path: request.path.clone(),
                max_bytes: request.max_bytes,
                overflow: fs_read::Overflow::Refuse,
                symlinks: fs_read::Symlinks::Follow,
            })
            .collect();
        fs_read::read(&requests)
            .into_iter()
            .map(|answer| match answer {
                Ok(file) => Ok(File { bytes: file.bytes }),
                Err(error) => Err(fs_error(error)),
            })
            .collect()
    }

    fn fetch(&mut self, requests: &[HttpRequest]) -> Vec<Result<HttpResponse, FetchError>> {
        let requests: Vec<_> = requests
            .iter()
            .map(|request| fetch::HttpRequest {
                method: fetch::Method::Get,
                url: request.url.clone(),
                headers: request.headers.clone(),
                body: None,
                encodings: fetch::Encodings::Identity,
                max_bytes: request.max_bytes,
                overflow: fetch::Overflow::Refuse,
                timeout_ms: request.timeout_ms,
                max_redirects: request.max_redirects,
                body_types: Vec::new(),
            })
            .collect();
        fetch::send(&requests)
            .into_iter()
            .map(|answer| match answer {
                Ok(response) => Ok(HttpResponse {
                    status: response.status,
                    body: response.body,
                }),
                Err(failure) => Err(fetch_error(failure.reason)),
            })
            .collect()
    }

    fn run(&mut self, commands: &[Command]) -> Vec<Result<Exit, ProcessError>> {
        let commands: Vec<_> = commands
            .iter()
            .map(|command| process::Command {
                target: process::Target::Tool(process::Tool {
                    path: command.path.clone(),
                    declared_by: command.declared_by.clone(),
                }),
                arguments: vec![command.flag.as_str().to_owned()],
                timeout_ms: command.timeout_ms,
                max_output_bytes: command.max_output_bytes,
            })
            .collect();
        process::run(&commands)
            .into_iter()
            .map(|answer| match answer {
                Ok(exit) => Ok(Exit {
                    ending: match exit.ending {
                        process::Ending::Exited(status) => Ending::Exited(status),
                        process::Ending::Signaled(signal) => Ending::Signaled(signal),
                        process::Ending::TimedOut => Ending::TimedOut,
                    },
                    stdout: exit.stdout,
                    stdout_truncated: exit.stdout_truncated,
                }),
                Err(error) => Err(process_error(error)),
            })
            .collect()
    }
}

fn fs_error(error: fs_read::FsError) -> FsError {
    match error {
        fs_read::FsError::Denied => FsError::Denied,
        fs_read::FsError::NotFound => FsError::NotFound,
        fs_read::FsError::IsDirectory => FsError::IsDirectory,
        fs_read::FsError::NotDirectory => FsError::NotDirectory,
        fs_read::FsError::Special => FsError::Special,
        fs_read::FsError::LeavesMount => FsError::LeavesMount,
        fs_read::FsError::NotAccessible => FsError::NotAccessible,
        fs_read::FsError::TooLarge => FsError::TooLarge,
        fs_read::FsError::InvalidPath => FsError::InvalidPath,
        fs_read::FsError::FetchFailed => FsError::FetchFailed,
        fs_read::FsError::Conflict => FsError::Conflict,
        fs_read::FsError::Symlink => FsError::Symlink,
        fs_read::FsError::Io => FsError::Io,
    }
}

fn fetch_error(error: fetch::FetchError) -> FetchError {
    match error {
        fetch::FetchError::Denied => FetchError::Denied,
        fetch::FetchError::RedirectDenied => FetchError::RedirectDenied,
        fetch::FetchError::Redirects => FetchError::Redirects,
        fetch::FetchError::InvalidRequest => FetchError::InvalidRequest,
        fetch::FetchError::UnsupportedEncoding => FetchError::UnsupportedEncoding,
        fetch::FetchError::TooLarge => FetchError::TooLarge,
        fetch::FetchError::Timeout => FetchError::Timeout,
        fetch::FetchError::Dns => FetchError::Dns,
        fetch::FetchError::Connect => FetchError::Connect,
        fetch::FetchError::Tls => FetchError::Tls,
        fetch::FetchError::Protocol => FetchError::Protocol,
    }
}

fn process_error(error: process::ProcessError) -> ProcessError {
    match error {
        process::ProcessError::Denied => ProcessError::Denied,
        process::ProcessError::ArgumentsDenied => ProcessError::ArgumentsDenied,
        process::ProcessError::DirectoryDenied => ProcessError::DirectoryDenied,
        process::ProcessError::Unconfined => ProcessError::Unconfined,
        process::ProcessError::NotFound => ProcessError::NotFound,
        process::ProcessError::NotPermitted => ProcessError::NotPermitted,
        process::ProcessError::FetchFailed => ProcessError::FetchFailed,
        process::ProcessError::NotStartable => ProcessError::NotStartable,
        process::ProcessError::NoDirectory | process::ProcessError::NotDirectory => {
            ProcessError::NoDirectory
        }
        process::ProcessError::InvalidRequest => ProcessError::InvalidRequest,
    }
}
