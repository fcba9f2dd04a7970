//! The request (TS-131): what the bytes are, and the bytes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kit::SkillError;
use kit::media::MediaType;
use kit::members::Members;

use crate::error::{malformed, too_large, unsupported};

/// TS-131: decoded bytes at most, 10 MiB.
pub(crate) const MAX_INPUT: usize = 10_485_760;

/// Bytes of a content type at most.
const MAX_CONTENT_TYPE: usize = 1_024;

/// TS-01: no member is longer than a request.
const MAX_REQUEST: usize = 16_777_216;

/// What the input is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `text/html`, with the `charset` that was given.
    Html(Option<String>),
    /// `text/markdown`, with the `charset` that was given.
    Markdown(Option<String>),
    /// `application/pdf`.
    Pdf,
}

/// One request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) kind: Kind,
    pub(crate) input: Vec<u8>,
    /// Bytes of text at most.
    pub(crate) max_bytes: usize,
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    /// `invalid_request`; `unsupported`, `malformed` and `too_large` of TS-131.
    pub(crate) fn parse(request: &[u8]) -> Result<Self, SkillError> {
        let mut members = Members::parse(request)?;
        let content_type = members.string("content_type", 0..=MAX_CONTENT_TYPE)?;
        let encoded = members.string("bytes_b64", 0..=MAX_REQUEST)?;
        let max_bytes = members.integer("max_bytes", 1..=2_097_152, 1_048_576)?;
        members.finish()?;
        Ok(Self {
            kind: kind(&content_type)?,
            input: decode(&encoded)?,
            max_bytes: usize::try_from(max_bytes).unwrap_or(usize::MAX),
        })
    }
}

/// TB-07, TS-131.
fn decode(encoded: &str) -> Result<Vec<u8>, SkillError> {
    if encoded.len() / 4 * 3 > MAX_INPUT.saturating_add(3) {
        return Err(too_large("input", "the input has more than 10485760 bytes"));
    }
    let input = STANDARD
        .decode(encoded)
        .map_err(|error| malformed("base64", &format!("`bytes_b64` is not base64: {error}")))?;
    if input.len() > MAX_INPUT {
        return Err(too_large("input", "the input has more than 10485760 bytes"));
    }
    Ok(input)
}

fn kind(content_type: &str) -> Result<Kind, SkillError> {
    let media = MediaType::parse(content_type);
    let charset = media
        .as_ref()
        .and_then(MediaType::charset)
        .map(str::to_owned);
    match media.as_ref().map(MediaType::essence) {
        Some("text/html") => Ok(Kind::Html(charset)),
        Some("text/markdown") => Ok(Kind::Markdown(charset)),
        Some("application/pdf") => Ok(Kind::Pdf),
        _ => Err(unsupported(
            "content_type",
            &format!(
                "content type {content_type:?} is not text/html, text/markdown or application/pdf"
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ts_131_content_types_are_read_with_their_charset() {
        let html = |charset: &str| Kind::Html(Some(charset.to_owned()));
        for (content_type, expected) in [
            ("text/html", Kind::Html(None)),
            ("TEXT/HTML ; CharSet=Latin1", html("Latin1")),
            ("text/html;charset=\"utf-8\"", html("utf-8")),
            (
                "text/html; x=\"a;charset=b\"; charset=c; charset=d",
                html("c"),
            ),
            ("text/markdown; variant=GFM", Kind::Markdown(None)),
            ("application/pdf;version=1", Kind::Pdf),
        ] {
            assert_eq!(kind(content_type).unwrap(), expected, "{content_type}");
        }
        for content_type in ["", "text/plain", "text/htmlx", "html", "text /html"] {
            assert_eq!(
                kind(content_type).unwrap_err().code(),
                "unsupported",
                "{content_type}"
            );
        }
    }

    #[test]
    fn tb_07_base64_is_strict() {
        for text in [
            "QQ", "QQ=", "QR==", "QQ==\n", " QQ==", "QQ==QQ==", "Q-==", "====", "A",
        ] {
            assert_eq!(decode(text).unwrap_err().code(), "malformed", "{text:?}");
        }
        assert_eq!(decode("QQ==").unwrap(), b"A");
        assert_eq!(decode("").unwrap(), b"");
    }

    #[test]
    fn ts_131_input_of_more_than_10_mib_is_too_large() {
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
