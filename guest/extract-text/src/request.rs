//! The request: where the document is, what it is, and how much of its text is wanted.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kit::SkillError;
use kit::members::{Members, invalid, missing};
use kit::path::{MAX_PATH_BYTES, Path};

use crate::error::{malformed, too_large};

/// Bytes of a document at most: 10 MiB.
pub(crate) const MAX_INPUT: usize = 10_485_760;

/// Bytes of a content type at most.
const MAX_CONTENT_TYPE: usize = 1_024;

/// Bytes of a URL at most.
const MAX_URL: usize = 8_192;

/// No member is longer than a request.
const MAX_REQUEST: usize = 16_777_216;

/// Where the document is.
#[derive(Debug)]
pub(crate) enum Source {
    Bytes(Vec<u8>),
    File(Path),
    Url(String),
}

/// One request.
#[derive(Debug)]
pub(crate) struct Request {
    /// None where the name, the server or the first bytes may tell.
    pub(crate) content_type: Option<String>,
    pub(crate) source: Source,
    /// Bytes of text at most.
    pub(crate) max_bytes: usize,
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    /// `invalid_request`; `malformed` and `too_large` for what is no base64 of a document that may be read; `denied` for a path
    /// above its mount.
    pub(crate) fn parse(request: &[u8]) -> Result<Self, SkillError> {
        let mut members = Members::parse(request)?;
        let content_type = members.optional_string("content_type", 0..=MAX_CONTENT_TYPE)?;
        let encoded = members.optional_string("bytes_b64", 0..=MAX_REQUEST)?;
        let path = members.optional_string("path", 0..=MAX_PATH_BYTES)?;
        let url = members.optional_string("url", 1..=MAX_URL)?;
        let max_bytes = members.integer("max_bytes", 1..=2_097_152, 1_048_576)?;
        members.finish()?;
        let source = match (encoded, path, url) {
            (Some(_), None, None) if content_type.is_none() => return Err(missing("content_type")),
            (Some(encoded), None, None) => Source::Bytes(decode(&encoded)?),
            (None, Some(path), None) => Source::File(Path::parse("path", &path)?),
            (None, None, Some(url)) => Source::Url(url),
            (None, None, None) => {
                let what = "is missing, and so are `path` and `url`: give one of them";
                return Err(invalid("bytes_b64", what));
            }
            (_, Some(_), _) => return Err(invalid("path", "is not the only document")),
            (Some(_), _, Some(_)) => return Err(invalid("url", "is not the only document")),
        };
        Ok(Self {
            content_type,
            source,
            max_bytes: usize::try_from(max_bytes).unwrap_or(usize::MAX),
        })
    }
}

/// The bytes of strict base64: with padding and without white space.
fn decode(encoded: &str) -> Result<Vec<u8>, SkillError> {
    if encoded.len() / 4 * 3 > MAX_INPUT.saturating_add(3) {
        return Err(larger());
    }
    let input = STANDARD
        .decode(encoded)
        .map_err(|error| malformed("base64", &format!("`bytes_b64` is not base64: {error}")))?;
    if input.len() > MAX_INPUT {
        return Err(larger());
    }
    Ok(input)
}

/// The error of a document that is too large.
pub(crate) fn larger() -> SkillError {
    too_large("input", "the input has more than 10485760 bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_strict() {
        for text in [
            "QQ", "QQ=", "QR==", "QQ==\n", " QQ==", "QQ==QQ==", "Q-==", "====", "A",
        ] {
            assert_eq!(decode(text).unwrap_err().code(), "malformed", "{text:?}");
        }
        assert_eq!(decode("QQ==").unwrap(), b"A");
        assert_eq!(decode("").unwrap(), b"");
    }

    #[test]
    fn input_of_more_than_10_mib_is_too_large() {
        assert_eq!(
            decode(&STANDARD.encode(vec![0; MAX_INPUT])).unwrap().len(),
            MAX_INPUT
        );
        for more in [1, 2, 3, 4, 100] {
            let error = decode(&STANDARD.encode(vec![0; MAX_INPUT + more])).unwrap_err();
            assert_eq!(error.code(), "too_large");
        }
    }
}
