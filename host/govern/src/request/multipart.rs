//! `multipart/form-data`.

use zeroize::Zeroizing;

use super::body::FilledBody;
use crate::failure::{Code, Failure};

/// A body that grows part by part.
pub(super) struct Multipart {
    boundary: String,
    bytes: Zeroizing<Vec<u8>>,
}

/// What precedes the bytes of a part.
pub(super) struct PartHead<'a> {
    pub(super) name: &'a str,
    pub(super) filename: Option<&'a str>,
    pub(super) content_type: Option<&'a str>,
}

impl Multipart {
    /// A boundary that no part can know beforehand.
    pub(super) fn new() -> Result<Self, Failure> {
        let random = hydrant_base::random_hex::<16>()
            .map_err(|_| Failure::new(Code::StoreUnavailable, "there is no randomness"))?;
        Ok(Self {
            boundary: format!("hydrant-{random}"),
            bytes: Zeroizing::new(Vec::new()),
        })
    }

    pub(super) fn part(&mut self, head: &PartHead<'_>, content: &[u8]) -> Result<(), Failure> {
        let mut text = format!(
            "--{}\r\nContent-Disposition: form-data; name=\"{}\"",
            self.boundary,
            quoted(head.name)
        );
        if let Some(filename) = head.filename {
            text.push_str("; filename=\"");
            text.push_str(&quoted(filename));
            text.push('"');
        }
        if let Some(content_type) = head.content_type {
            if content_type.chars().any(char::is_control) {
                return Err(Failure::new(
                    Code::HeaderRefused,
                    "the content type of a part holds a control character",
                ));
            }
            text.push_str("\r\nContent-Type: ");
            text.push_str(content_type);
        }
        text.push_str("\r\n\r\n");
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.extend_from_slice(content);
        self.bytes.extend_from_slice(b"\r\n");
        Ok(())
    }

    /// The body.
    pub(super) fn finish(mut self) -> FilledBody {
        let end = format!("--{}--\r\n", self.boundary);
        self.bytes.extend_from_slice(end.as_bytes());
        FilledBody {
            bytes: self.bytes,
            secret: false,
            content_type: Some(format!("multipart/form-data; boundary={}", self.boundary)),
        }
    }
}

/// As browsers and curl write names: what could end them is percent-encoded.
fn quoted(name: &str) -> String {
    let mut quoted = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '"' => quoted.push_str("%22"),
            '\r' => quoted.push_str("%0D"),
            '\n' => quoted.push_str("%0A"),
            '\0' => quoted.push_str("%00"),
            other => quoted.push(other),
        }
    }
    quoted
}
