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

use crate::{
    Format, Request, SkillError,
    effects::{
        Command, Effects, Ending, Exit, FetchError, File, Flag, FsError, HttpRequest, HttpResponse,
        ProcessError, ReadRequest,
    },
    hydrate,
};

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

impl Effects for FakeHost {
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
                None => Err(FsError::NotFound),
                Some(Err(error)) => Err(*error),
                Some(Ok(bytes)) if u32::try_from(bytes.len()).unwrap() > request.max_bytes => {
                    Err(FsError::TooLarge)
                }
                Some(Ok(bytes)) => Ok(File {
                    bytes: bytes.clone(),
                }),
            })
            .collect()
    }

    fn fetch(&mut self, requests: &[HttpRequest]) -> Vec<Result<HttpResponse, FetchError>> {
        self.reads
            .push(requests.iter().map(|request| request.url.clone()).collect());
        requests
            .iter()
            .map(|request| {
                assert_eq!(request.max_bytes, 4 << 20);
                assert_eq!((request.timeout_ms, request.max_redirects), (10_000, 5));
                match self.pages.get(&request.url) {
                    None => Err(FetchError::Denied),
                    Some(Err(error)) => Err(*error),
                    Some(Ok((status, body))) => Ok(HttpResponse {
                        status: *status,
                        body: body.clone(),
                    }),
                }
            })
            .collect()
    }

    fn run(&mut self, commands: &[Command]) -> Vec<Result<Exit, ProcessError>> {
        self.runs.push(commands.to_vec());
        commands
            .iter()
            .map(
                |command| match (self.tools.get(&command.path), command.flag) {
                    (None, _) => Err(ProcessError::Denied),
                    (Some(tool), Flag::Description) => tool.description.clone(),
                    (Some(tool), Flag::Help) => tool.help.clone(),
                },
            )
            .collect()
    }
}

fn exit(status: u8, stdout: impl AsRef<[u8]>) -> Result<Exit, ProcessError> {
    Ok(Exit {
        ending: Ending::Exited(status),
        stdout: stdout.as_ref().to_vec(),
        stdout_truncated: false,
    })
}

fn ended(ending: Ending) -> Result<Exit, ProcessError> {
    Ok(Exit {
        ending,
        stdout: b"partial".to_vec(),
        stdout_truncated: false,
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
