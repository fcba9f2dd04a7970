//! The hostcalls: what a guest asks for, translated for [`hydrant_capability`], and its answer translated back.
//!
//! Nothing is decided here. A budget that runs out ends the call; everything else is an answer.

use super::bindings::hydrant::host::types;
use super::bindings::hydrant::host::{
    fetch as wit_fetch, fs_read, fs_write, process as wit_process,
};
use super::state::State;
use hydrant_capability::fetch::{self, FetchError};
use hydrant_capability::fs::{self, FsError};
use hydrant_capability::process::{self, ProcessError};

/// Translates an enum whose variants have the same names on both sides, but for those after the `;`.
macro_rules! same_names {
    ($from:ty => $to:ty { $($variant:ident),* $(; $own:ident as $other:ident)* $(,)? }) => {
        impl From<$from> for $to {
            fn from(value: $from) -> Self {
                match value {
                    $(<$from>::$variant => <$to>::$variant,)*
                    $(<$from>::$own => <$to>::$other,)*
                }
            }
        }
    };
}

same_names!(FsError => fs_read::FsError {
    Denied, NotFound, IsDirectory, NotDirectory, Special, LeavesMount, NotAccessible, TooLarge,
    InvalidPath, FetchFailed, Conflict, Symlink, Io
    ; NoSpace as Io; ReadOnly as NotAccessible; Immutable as NotAccessible
});
same_names!(fs_read::Symlinks => fs::Symlinks { Follow, Refuse });
same_names!(fs_read::Overflow => fs::Overflow { Refuse, Cut });
same_names!(fs::EntryKind => fs_read::EntryKind { File, Directory, Symlink, Other });
same_names!(FetchError => wit_fetch::FetchError {
    Denied, RedirectDenied, Redirects, InvalidRequest, UnsupportedEncoding, TooLarge, Timeout, Dns,
    Connect, Tls, Protocol,
});
same_names!(wit_fetch::Overflow => fetch::Overflow { Refuse, Cut });
same_names!(wit_fetch::Encodings => fetch::Encodings { Identity, Gzip });
same_names!(wit_fetch::Method => fetch::Method { Get, Head, Post, Put, Patch, Delete });
same_names!(ProcessError => wit_process::ProcessError {
    Denied, ArgumentsDenied, DirectoryDenied, Unconfined, NotFound, NotPermitted, FetchFailed,
    NotStartable, NoDirectory, NotDirectory, InvalidRequest,
});

impl types::Host for State {}

impl fs_read::Host for State {
    fn read(
        &mut self,
        requests: Vec<fs_read::ReadRequest>,
    ) -> wasmtime::Result<Vec<Result<fs_read::File, fs_read::FsError>>> {
        let requests = requests
            .into_iter()
            .map(|request| fs::ReadRequest {
                path: request.path,
                max_bytes: request.max_bytes,
                overflow: request.overflow.into(),
                symlinks: request.symlinks.into(),
            })
            .collect();
        let files = fs::read(&self.call, requests)?;
        Ok(files
            .into_iter()
            .map(|file| match file {
                Ok(file) => Ok(fs_read::File {
                    bytes: file.bytes,
                    truncated: file.truncated,
                    executable: file.executable,
                }),
                Err(error) => Err(error.into()),
            })
            .collect())
    }

    fn tree(
        &mut self,
        requests: Vec<fs_read::TreeRequest>,
    ) -> wasmtime::Result<Vec<Result<fs_read::Listing, fs_read::FsError>>> {
        let requests = requests
            .into_iter()
            .map(|request| fs::TreeRequest {
                root: request.root,
                max_entries: request.max_entries,
                max_depth: request.max_depth,
                include_hidden: request.include_hidden,
            })
            .collect();
        let entry = |entry: fs::Entry| fs_read::Entry {
            path: entry.path,
            kind: entry.kind.into(),
            bytes: entry.bytes,
            error: entry.error.map(Into::into),
        };
        let trees = fs::tree(&self.call, requests)?;
        Ok(trees
            .into_iter()
            .map(|tree| match tree {
                Ok(tree) => Ok(fs_read::Listing {
                    entries: tree.entries.into_iter().map(entry).collect(),
                    truncated: tree.truncated,
                }),
                Err(error) => Err(error.into()),
            })
            .collect())
    }
}

impl fs_write::Host for State {
    fn apply(
        &mut self,
        changes: Vec<fs_write::Change>,
    ) -> wasmtime::Result<Result<(), fs_write::Failure>> {
        let changes = changes.into_iter().map(change).collect();
        Ok(
            fs::apply(&self.call, changes)?.map_err(|failure| fs_write::Failure {
                change: failure.change,
                reason: failure.reason.into(),
            }),
        )
    }
}

impl wit_fetch::Host for State {
    fn send(
        &mut self,
        requests: Vec<wit_fetch::HttpRequest>,
    ) -> wasmtime::Result<Vec<Result<wit_fetch::HttpResponse, wit_fetch::FetchFailure>>> {
        let requests = requests
            .into_iter()
            .map(|request| fetch::HttpRequest {
                method: request.method.into(),
                url: request.url,
                headers: request.headers,
                body: request.body,
                encodings: request.encodings.into(),
                max_bytes: request.max_bytes,
                overflow: request.overflow.into(),
                timeout_ms: request.timeout_ms,
                max_redirects: request.max_redirects,
                body_types: request.body_types,
            })
            .collect();
        let responses = fetch::send(&self.call, requests)?;
        Ok(responses
            .into_iter()
            .map(|response| match response {
                Ok(response) => Ok(wit_fetch::HttpResponse {
                    status: response.status,
                    url: response.url,
                    headers: response.headers,
                    body: response.body,
                    truncated: response.truncated,
                    unread: response.unread,
                }),
                Err(failure) => Err(wit_fetch::FetchFailure {
                    reason: failure.reason.into(),
                    url: failure.url,
                }),
            })
            .collect())
    }
}

impl wit_process::Host for State {
    fn run(
        &mut self,
        commands: Vec<wit_process::Command>,
    ) -> wasmtime::Result<Vec<Result<wit_process::Exit, wit_process::ProcessError>>> {
        let commands = commands.into_iter().map(command).collect();
        let exits = process::run(&self.call, commands)?;
        Ok(exits
            .into_iter()
            .map(|exit| match exit {
                Ok(exit) => Ok(wit_exit(exit)),
                Err(error) => Err(error.into()),
            })
            .collect())
    }
}

fn change(change: fs_write::Change) -> fs::Change {
    let expected = match change.expected {
        fs_write::Expected::Absent => fs::Expected::Absent,
        fs_write::Expected::Sha256(digest) => digest
            .try_into()
            .map_or(fs::Expected::Impossible, fs::Expected::Sha256),
    };
    fs::Change {
        path: change.path,
        expected,
        content: change.content.map(|content| fs::Content {
            bytes: content.bytes,
            executable: content.executable,
        }),
    }
}

fn command(command: wit_process::Command) -> process::Command {
    let target = match command.target {
        wit_process::Target::Program(program) => process::Target::Program(process::Program {
            name: program.name,
            directory: program.directory,
        }),
        wit_process::Target::Tool(tool) => process::Target::Tool(process::Tool {
            path: tool.path,
            declared_by: tool.declared_by,
        }),
    };
    process::Command {
        target,
        arguments: command.arguments,
        timeout_ms: command.timeout_ms,
        max_output_bytes: command.max_output_bytes,
    }
}

fn wit_exit(exit: process::Exit) -> wit_process::Exit {
    wit_process::Exit {
        ending: match exit.ending {
            process::Ending::Exited(status) => wit_process::Ending::Exited(status),
            process::Ending::Signaled(signal) => wit_process::Ending::Signaled(signal),
            process::Ending::TimedOut => wit_process::Ending::TimedOut,
        },
        stdout: exit.stdout,
        stdout_truncated: exit.stdout_truncated,
        stderr: exit.stderr,
        stderr_truncated: exit.stderr_truncated,
        duration_ms: exit.duration_ms,
    }
}
