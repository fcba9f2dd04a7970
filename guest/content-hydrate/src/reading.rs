//! Reading URIs: files by path, the rest by URL, up to a batch at a time.

use kit::SkillError;
use kit::host::fetch::{Encodings, HttpRequest, HttpResponse, Method, Overflow as BodyOverflow};
use kit::host::fs_read::{Overflow, ReadRequest, Symlinks};

use crate::{
    Effects,
    budget::Budget,
    uri::{Place, Uri},
};

/// URIs read at once. The host works on ten at a time; what bounds this is the bytes that are alive.
pub(crate) const BATCH: usize = 64;

/// L-01: bytes of one resource, file or body.
const MAX_BYTES: u32 = 4 << 20;

/// L-08
const FETCH_TIMEOUT_MS: u32 = 10_000;

/// L-10
const MAX_REDIRECTS: u8 = 5;

/// N-01
const ACCEPT: &str = "text/markdown, text/plain;q=0.9, */*;q=0.1";

/// The bytes of each URI, in order; none where they cannot be had, for whatever reason (EC-01).
pub(crate) fn read(
    effects: &mut impl Effects,
    budget: &mut Budget,
    uris: &[&Uri],
) -> Result<Vec<Option<Vec<u8>>>, SkillError> {
    let mut files = Vec::new();
    let mut pages = Vec::new();
    let places: Vec<Place> = uris.iter().map(|uri| uri.place()).collect();
    for (uri, place) in uris.iter().zip(&places) {
        match place {
            Place::File(path) => files.push(ReadRequest {
                path: path.clone(),
                max_bytes: MAX_BYTES,
                overflow: Overflow::Refuse,
                symlinks: Symlinks::Follow,
            }),
            Place::Web => pages.push(get(uri)),
            Place::Nowhere => {}
        }
    }
    let mut files = if files.is_empty() {
        Vec::new()
    } else {
        effects.read(&files)
    }
    .into_iter();
    let mut pages = if pages.is_empty() {
        Vec::new()
    } else {
        effects.send(&pages)
    }
    .into_iter();
    places
        .iter()
        .map(|place| {
            let bytes = match place {
                Place::File(_) => files.next().and_then(Result::ok).map(|file| file.bytes),
                Place::Web => pages.next().and_then(Result::ok).and_then(body),
                Place::Nowhere => None,
            };
            if let Some(bytes) = &bytes {
                budget.read(bytes)?;
            }
            Ok(bytes)
        })
        .collect()
}

fn get(uri: &Uri) -> HttpRequest {
    HttpRequest {
        method: Method::Get,
        url: uri.as_str().to_owned(),
        headers: vec![("accept".to_owned(), ACCEPT.to_owned())],
        body: None,
        encodings: Encodings::Identity,
        max_bytes: MAX_BYTES,
        overflow: BodyOverflow::Refuse,
        timeout_ms: FETCH_TIMEOUT_MS,
        max_redirects: MAX_REDIRECTS,
        body_types: Vec::new(),
    }
}

/// N-02: any 2xx status is success.
fn body(response: HttpResponse) -> Option<Vec<u8>> {
    (200..300)
        .contains(&response.status)
        .then_some(response.body)
}
