//! Reading URIs: files by path, the rest by URL, up to a batch at a time.

use kit::SkillError;
use kit::host::fetch::{Encodings, HttpRequest, HttpResponse, Method, Overflow as BodyOverflow};
use kit::host::fs_read::{Overflow, ReadRequest, Symlinks};

use crate::{
    Effects,
    budget::Budget,
    reason,
    uri::{Place, Uri},
};

/// URIs read at once. The host works on ten at a time; what bounds this is the bytes that are alive.
pub(crate) const BATCH: usize = 64;

/// Bytes of one resource, file or body.
const MAX_BYTES: u32 = 4 << 20;

/// How long one fetch may take.
const FETCH_TIMEOUT_MS: u32 = 10_000;

/// Redirects that are followed.
const MAX_REDIRECTS: u8 = 5;

/// The types that are preferred.
const ACCEPT: &str = "text/markdown, text/plain;q=0.9, */*;q=0.1";

/// The bytes of each URI, in order; none where they cannot be had, for whatever reason.
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
        .zip(uris)
        .map(|(place, uri)| {
            let read = match place {
                Place::File(_) => files.next().map(|file| match file {
                    Ok(file) => Ok(file.bytes),
                    Err(error) => Err(format!("{error:?}")),
                }),
                Place::Web => pages.next().map(|page| match page {
                    Ok(page) => body(page),
                    Err(error) => Err(format!("{:?}", error.reason)),
                }),
                Place::Nowhere => None,
            };
            let bytes = match read {
                Some(Ok(bytes)) => Some(bytes),
                Some(Err(reason)) => {
                    reason::log(uri.as_str(), &reason);
                    None
                }
                None => None,
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

/// Any 2xx status is success.
fn body(response: HttpResponse) -> Result<Vec<u8>, String> {
    if (200..300).contains(&response.status) {
        Ok(response.body)
    } else {
        Err(format!("status {}", response.status))
    }
}
