//! Reading the body of a response: decoded, counted and cut while it comes in.
//!
//! The cap is on decoded bytes and on received ones, so that neither a compressed bomb nor an endless
//! stream of empty compressed blocks goes past it. How long it may take is the client's
//! business: its deadline holds for every read.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use ureq::http::HeaderMap;
use ureq::http::header::CONTENT_ENCODING;

use super::send::failure;
use super::{Encodings, FetchError, Overflow};
use crate::Meter;
use crate::stop::Stop;

/// Bytes that are read at a time.
const CHUNK: usize = 16 * 1024;

/// Received bytes of a compressed body beyond the cap on decoded ones: what gzip adds at most to bytes
/// that do not compress is far less.
const COMPRESSED_SLACK: u64 = 64 * 1024;

/// How a body is encoded, of what we can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    Identity,
    Gzip,
}

impl Coding {
    /// The coding that the headers name.
    ///
    /// # Errors
    /// [`FetchError::UnsupportedEncoding`] for one that was not asked for, and for several.
    pub(super) fn of(headers: &HeaderMap, asked: Encodings) -> Result<Coding, FetchError> {
        let mut values = headers.get_all(CONTENT_ENCODING).iter();
        let coding = match (values.next(), values.next()) {
            (None, _) => return Ok(Coding::Identity),
            (Some(value), None) => value.to_str().unwrap_or("?").trim(),
            (Some(_), Some(_)) => return Err(FetchError::UnsupportedEncoding),
        };
        if coding.is_empty() || coding.eq_ignore_ascii_case("identity") {
            return Ok(Coding::Identity);
        }
        let gzip = coding.eq_ignore_ascii_case("gzip") || coding.eq_ignore_ascii_case("x-gzip");
        if gzip && asked == Encodings::Gzip {
            Ok(Coding::Gzip)
        } else {
            Err(FetchError::UnsupportedEncoding)
        }
    }
}

/// Reads at most `max_bytes` decoded bytes of `body`; says whether there is at least one more.
///
/// # Errors
/// [`FetchError::TooLarge`] under [`Overflow::Refuse`], and for a compressed body that is longer than
/// its content; [`FetchError::Protocol`] for what does not decode; what the client fails with; and the
/// budgets of bytes read and of egress.
pub(super) fn read(
    mut body: impl Read,
    coding: Coding,
    max_bytes: usize,
    overflow: Overflow,
    meter: &Meter,
) -> Result<(Vec<u8>, bool), Stop<FetchError>> {
    match coding {
        Coding::Identity => read_capped(&mut body, max_bytes, overflow, meter),
        Coding::Gzip => {
            let most = u64::try_from(max_bytes)
                .unwrap_or(u64::MAX)
                .saturating_add(COMPRESSED_SLACK);
            let mut received = BufReader::with_capacity(CHUNK, body.take(most));
            // A response without a body may still name a coding.
            if received.fill_buf().map_err(undecodable)?.is_empty() {
                return Ok((Vec::new(), false));
            }
            let mut decoder = MultiGzDecoder::new(received);
            let outcome = read_capped(&mut decoder, max_bytes, overflow, meter);
            match (&outcome, decoder.get_ref().get_ref().limit()) {
                // What was read to the last byte we take may have gone on: that is no end.
                (Ok((_, false)) | Err(Stop::Item(FetchError::Protocol)), 0) => {
                    Err(FetchError::TooLarge.into())
                }
                _ => outcome,
            }
        }
    }
}

fn read_capped(
    body: &mut impl Read,
    max_bytes: usize,
    overflow: Overflow,
    meter: &Meter,
) -> Result<(Vec<u8>, bool), Stop<FetchError>> {
    let mut bytes = Vec::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        let amount = match body.read(&mut chunk) {
            Ok(0) => return Ok((bytes, false)),
            Ok(amount) => amount,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(undecodable(error)),
        };
        let received = u64::try_from(amount).unwrap_or(u64::MAX);
        meter.egress(received)?;
        meter.read_bytes(received)?;
        let room = max_bytes.saturating_sub(bytes.len());
        bytes.extend(chunk.iter().take(amount.min(room)));
        if amount > room {
            return match overflow {
                Overflow::Refuse => Err(FetchError::TooLarge.into()),
                Overflow::Cut => Ok((bytes, true)),
            };
        }
    }
}

/// The client's error if it is one, else the body's own: no HTTP, or no gzip.
fn undecodable(error: io::Error) -> Stop<FetchError> {
    failure(&ureq::Error::from(error)).into()
}
