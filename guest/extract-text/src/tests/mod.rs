//! What a caller sees.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::as_conversions,
    clippy::panic,
    reason = "a wrong answer fails the test"
)]

mod describe;
mod hostile;
mod html;
mod limits;
mod markdown;
mod pdf;
mod pdf_damage;
mod properties;
mod sources;
mod writer;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kit::host::fetch::{FetchError, FetchFailure, HttpRequest, HttpResponse};
use kit::host::fs_read::{File, FsError, Listing, ReadRequest, TreeRequest};
use kit::host::{Fetch, ReadFiles};
use serde_json::{Value, json};

const REPORT: &[u8] = include_bytes!("../../tests/fixtures/report.pdf");
const COLUMNS: &[u8] = include_bytes!("../../tests/fixtures/columns.pdf");
const OBJECT_STREAMS: &[u8] = include_bytes!("../../tests/fixtures/object_streams.pdf");
const LINEAR: &[u8] = include_bytes!("../../tests/fixtures/linear.pdf");
const ENCRYPTED: &[u8] = include_bytes!("../../tests/fixtures/encrypted.pdf");

/// A host with one file and one page, or with nothing.
#[derive(Default)]
struct Hosting {
    file: Option<Vec<u8>>,
    page: Option<(u16, &'static str, Vec<u8>)>,
    /// Why there is no page; nothing is granted where it is not said.
    failure: Option<FetchError>,
}

impl ReadFiles for Hosting {
    fn read(&mut self, requests: &[ReadRequest]) -> Vec<Result<File, FsError>> {
        requests
            .iter()
            .map(|_| {
                let bytes = self.file.clone().ok_or(FsError::Denied)?;
                Ok(File {
                    bytes,
                    truncated: false,
                    executable: false,
                })
            })
            .collect()
    }

    fn tree(&mut self, _: &[TreeRequest]) -> Vec<Result<Listing, FsError>> {
        Vec::new()
    }
}

impl Fetch for Hosting {
    fn send(&mut self, requests: &[HttpRequest]) -> Vec<Result<HttpResponse, FetchFailure>> {
        requests
            .iter()
            .map(|request| {
                let url = request.url.clone();
                let Some((status, content_type, body)) = self.page.clone() else {
                    let reason = self.failure.unwrap_or(FetchError::Denied);
                    return Err(FetchFailure { reason, url });
                };
                Ok(HttpResponse {
                    status,
                    url,
                    headers: vec![("content-type".to_owned(), content_type.to_owned())],
                    body,
                    truncated: false,
                    unread: false,
                })
            })
            .collect()
    }
}

/// Calls the component without a host.
fn run(request: &[u8]) -> Result<Vec<u8>, kit::SkillError> {
    crate::run(&mut Hosting::default(), request)
}

/// Calls the component with a document in the request.
fn call(
    content_type: &str,
    input: &[u8],
    max_bytes: Option<usize>,
) -> Result<Value, kit::SkillError> {
    let mut request = json!({"content_type": content_type, "bytes_b64": STANDARD.encode(input)});
    if let Some(max_bytes) = max_bytes {
        request["max_bytes"] = max_bytes.into();
    }
    let response = run(request.to_string().as_bytes())?;
    Ok(serde_json::from_slice(&response).unwrap())
}

/// The text of an input.
fn text(content_type: &str, input: &[u8]) -> String {
    let response = call(content_type, input, None).unwrap();
    response["text"].as_str().unwrap().to_owned()
}

/// Code and reason of the error for an input.
fn error(content_type: &str, input: &[u8]) -> (&'static str, String) {
    let error = call(content_type, input, None).unwrap_err();
    let details: Value = serde_json::from_str(error.details().unwrap()).unwrap();
    (
        error.code(),
        details["reason"].as_str().unwrap_or_default().to_owned(),
    )
}

/// Runs on a stack of half of what a component has.
fn on_small_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(512 * 1_024);
    thread.spawn(run).unwrap().join().unwrap()
}
