//! Black-box tests of [`crate::hydrate`] against a host that is a few maps.

mod checksums;
mod depth;
mod describe;
mod limits;
mod link;
mod payload;
mod properties;
mod skills;
mod tools;
mod v2;

use std::collections::BTreeMap;

use kit::host::fetch::{FetchError, FetchFailure, HttpRequest, HttpResponse};
use kit::host::fs_read::{File, FsError, Listing, Overflow, ReadRequest, TreeRequest};
use kit::host::process::{Command, Ending, Exit, ProcessError, Target, Tool};
use kit::host::{Fetch, ReadFiles, RunCommands};

use crate::{Format, Request, SkillError, hydrate};

/// What a fake tool answers to each flag.
#[derive(Clone)]
struct FakeTool {
    description: Result<Exit, ProcessError>,
    help: Result<Exit, ProcessError>,
}

/// A host in memory. What is not given does not exist; processes that are not given are denied.
#[derive(Default)]
struct FakeHost {
    files: BTreeMap<String, Result<Vec<u8>, FsError>>,
    pages: BTreeMap<String, Result<(u16, Vec<u8>), FetchError>>,
    tools: BTreeMap<String, FakeTool>,
    /// The paths and URLs of each list that was asked for, in order.
    reads: Vec<Vec<String>>,
    runs: Vec<Vec<Command>>,
}

impl FakeHost {
    /// Files by their paths below the root.
    fn new<T: AsRef<[u8]>>(files: &[(&str, T)]) -> Self {
        let mut host = Self::default();
        for (path, bytes) in files {
            host.file(path, bytes);
        }
        host
    }

    fn file(&mut self, path: &str, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.files
            .insert(format!("/os/{path}"), Ok(bytes.as_ref().to_vec()));
        self
    }

    fn page(&mut self, url: &str, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.pages
            .insert(url.to_owned(), Ok((200, bytes.as_ref().to_vec())));
        self
    }

    fn tool(
        &mut self,
        path: &str,
        description: Result<Exit, ProcessError>,
        help: Result<Exit, ProcessError>,
    ) -> &mut Self {
        self.tools
            .insert(path.to_owned(), FakeTool { description, help });
        self
    }

    /// The answer as text.
    fn hydrate(&mut self, request: &Request) -> String {
        String::from_utf8(hydrate(self, request).unwrap()).unwrap()
    }

    /// The payload of a URI at depth 1.
    fn payload(&mut self, uri: &str) -> String {
        self.hydrate(&Request::new(uri))
    }

    /// The document of a URI in this form.
    fn document(&mut self, uri: &str, format: Format) -> Result<String, SkillError> {
        let request = Request {
            format,
            ..Request::new(uri)
        };
        hydrate(self, &request).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    /// Every path and URL that was asked for.
    fn all_reads(&self) -> Vec<&str> {
        self.reads.iter().flatten().map(String::as_str).collect()
    }
}

impl ReadFiles for FakeHost {
    fn read(&mut self, requests: &[ReadRequest]) -> Vec<Result<File, FsError>> {
        self.reads.push(
            requests
                .iter()
                .map(|request| request.path.clone())
                .collect(),
        );
        requests
            .iter()
            .map(|request| match self.files.get(&request.path) {
                _ if request.overflow != Overflow::Refuse => panic!("a part of a file"),
                None => Err(FsError::NotFound),
                Some(Err(error)) => Err(*error),
                Some(Ok(bytes)) if u32::try_from(bytes.len()).unwrap() > request.max_bytes => {
                    Err(FsError::TooLarge)
                }
                Some(Ok(bytes)) => Ok(File {
                    bytes: bytes.clone(),
                    truncated: false,
                    executable: false,
                }),
            })
            .collect()
    }

    fn tree(&mut self, _: &[TreeRequest]) -> Vec<Result<Listing, FsError>> {
        panic!("hydration lists no directory")
    }
}

impl Fetch for FakeHost {
    fn send(&mut self, requests: &[HttpRequest]) -> Vec<Result<HttpResponse, FetchFailure>> {
        self.reads
            .push(requests.iter().map(|request| request.url.clone()).collect());
        requests
            .iter()
            .map(|request| {
                assert_eq!(request.max_bytes, 4 << 20);
                assert_eq!((request.timeout_ms, request.max_redirects), (10_000, 5));
                let page = self.pages.get(&request.url);
                match page.cloned().unwrap_or(Err(FetchError::Denied)) {
                    Err(reason) => Err(FetchFailure {
                        reason,
                        url: request.url.clone(),
                    }),
                    Ok((status, body)) => Ok(HttpResponse {
                        status,
                        url: request.url.clone(),
                        headers: Vec::new(),
                        body,
                        truncated: false,
                        unread: false,
                    }),
                }
            })
            .collect()
    }
}

impl RunCommands for FakeHost {
    fn run(&mut self, commands: &[Command]) -> Vec<Result<Exit, ProcessError>> {
        self.runs.push(commands.to_vec());
        commands
            .iter()
            .map(|command| match self.tools.get(path(command)) {
                None => Err(ProcessError::Denied),
                Some(tool) if flag(command) == "--description" => tool.description.clone(),
                Some(tool) => tool.help.clone(),
            })
            .collect()
    }
}

/// The tool that a command describes.
fn tool(command: &Command) -> &Tool {
    match &command.target {
        Target::Tool(tool) => tool,
        other => panic!("hydration runs {other:?}"),
    }
}

/// The path of that tool.
fn path(command: &Command) -> &str {
    &tool(command).path
}

/// The one argument of a command.
fn flag(command: &Command) -> &str {
    let [flag] = command.arguments.as_slice() else {
        panic!("{:?}", command.arguments);
    };
    flag
}

fn exit(status: u8, stdout: impl AsRef<[u8]>) -> Result<Exit, ProcessError> {
    exited(Ending::Exited(status), stdout.as_ref())
}

fn ended(ending: Ending) -> Result<Exit, ProcessError> {
    exited(ending, b"partial")
}

fn exited(ending: Ending, stdout: &[u8]) -> Result<Exit, ProcessError> {
    Ok(Exit {
        ending,
        stdout: stdout.to_vec(),
        stdout_truncated: false,
        stderr: Vec::new(),
        stderr_truncated: false,
        duration_ms: 1,
    })
}

/// A payload, parsed.
fn json(payload: &str) -> serde_json::Value {
    serde_json::from_str(payload).unwrap()
}

/// One string member of each entry of an array of `metadata.dependencies`.
fn members(payload: &str, array: &str, member: &str) -> Vec<String> {
    json(payload)["metadata"]["dependencies"][array]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry[member].as_str().unwrap().to_owned())
        .collect()
}
