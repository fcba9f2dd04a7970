//! Decoding of streams (ISO 32000-2, 7.4) within a budget that is counted before it is spent.

mod ascii;
mod lzw;
mod predictor;
mod run_length;

use miniz_oxide::inflate::{
    DecompressError, TINFLStatus, decompress_to_vec_with_limit, decompress_to_vec_zlib_with_limit,
};

use super::object::Dict;

/// Why a stream has no bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    /// A filter that is not known, or of images.
    Unknown,
    /// More bytes than the budget has.
    TooLarge,
}

/// One filter and its parameters.
pub(super) struct Filter<'a> {
    pub(super) name: &'a [u8],
    pub(super) parameters: Option<&'a Dict>,
}

/// Whether streams of this filter are decoded.
pub(super) fn is_known(name: &[u8]) -> bool {
    matches!(
        name,
        b"FlateDecode"
            | b"Fl"
            | b"LZWDecode"
            | b"LZW"
            | b"ASCII85Decode"
            | b"A85"
            | b"ASCIIHexDecode"
            | b"AHx"
            | b"RunLengthDecode"
            | b"RL"
    )
}

/// Decodes by one filter into at most `limit` bytes. What is damaged is decoded as far as it goes.
pub(super) fn decode(filter: &Filter<'_>, bytes: &[u8], limit: usize) -> Result<Vec<u8>, Failure> {
    let decoded = match filter.name {
        b"FlateDecode" | b"Fl" => predictor::undo(inflate(bytes, limit)?, filter.parameters),
        b"LZWDecode" | b"LZW" => {
            let early = filter
                .parameters
                .and_then(|parameters| parameters.get("EarlyChange")?.integer());
            predictor::undo(
                lzw::decode(bytes, early != Some(0), limit)?,
                filter.parameters,
            )
        }
        b"ASCII85Decode" | b"A85" => ascii::decode_85(bytes, limit)?,
        b"ASCIIHexDecode" | b"AHx" => ascii::decode_hexadecimal(bytes, limit)?,
        b"RunLengthDecode" | b"RL" => run_length::decode(bytes, limit)?,
        _ => return Err(Failure::Unknown),
    };
    Ok(decoded)
}

fn inflate(bytes: &[u8], limit: usize) -> Result<Vec<u8>, Failure> {
    match decompress_to_vec_zlib_with_limit(bytes, limit) {
        Ok(decoded) => Ok(decoded),
        Err(error) if error.status == TINFLStatus::HasMoreOutput => Err(Failure::TooLarge),
        // Without or with a broken header.
        Err(error) if error.output.is_empty() => {
            rest(decompress_to_vec_with_limit(bytes, limit).or_else(|_| {
                decompress_to_vec_with_limit(bytes.get(2..).unwrap_or_default(), limit)
            }))
        }
        Err(error) => Ok(error.output),
    }
}

fn rest(decoded: Result<Vec<u8>, DecompressError>) -> Result<Vec<u8>, Failure> {
    match decoded {
        Ok(decoded) => Ok(decoded),
        Err(error) if error.status == TINFLStatus::HasMoreOutput => Err(Failure::TooLarge),
        Err(error) => Ok(error.output),
    }
}

/// Output that does not grow beyond a limit.
struct Bounded {
    bytes: Vec<u8>,
    limit: usize,
}

impl Bounded {
    fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            limit,
        }
    }

    fn extend(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if bytes.len() > self.limit.saturating_sub(self.bytes.len()) {
            return Err(Failure::TooLarge);
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }
}
