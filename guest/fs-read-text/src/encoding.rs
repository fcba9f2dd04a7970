//! Encodings by name, and the byte order marks that tell them.

use kit::SkillError;

use crate::decode::Fault;

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Requested {
    /// By a byte order mark, else UTF-8 if it is, else ISO-8859-1.
    Auto,
    /// UTF-16 in the order of its byte order mark, else little endian.
    Utf16,
    /// This one; UTF-8 unless a byte order mark says otherwise.
    Named(Encoding),
}

impl Requested {
    /// Reads a name; ASCII case does not matter.
    ///
    /// # Errors
    /// `unsupported` for any other encoding.
    pub(crate) fn parse(name: &str) -> Result<Self, SkillError> {
        Ok(match name.to_ascii_lowercase().as_str() {
            "auto" => Self::Auto,
            "utf-16" => Self::Utf16,
            "utf-8" => Self::Named(Encoding::Utf8),
            "utf-16le" => Self::Named(Encoding::Utf16Le),
            "utf-16be" => Self::Named(Encoding::Utf16Be),
            "iso-8859-1" | "latin-1" | "latin1" => Self::Named(Encoding::Latin1),
            "windows-1252" | "cp1252" => Self::Named(Encoding::Windows1252),
            _ => {
                let error =
                    SkillError::new("unsupported", &format!("the encoding {name} is not read"));
                return Err(error.with_details(serde_json::json!({ "encoding": name }).to_string()));
            }
        })
    }
}

/// What text is decoded from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
    Latin1,
    Windows1252,
}

impl Encoding {
    /// The name that responses use.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16Le => "utf-16le",
            Self::Utf16Be => "utf-16be",
            Self::Latin1 => "iso-8859-1",
            Self::Windows1252 => "windows-1252",
        }
    }

    fn is_utf16(self) -> bool {
        matches!(self, Self::Utf16Le | Self::Utf16Be)
    }
}

/// The byte order mark that a file begins with, as far as the request obeys it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bom {
    /// What the text behind it is in. None: UTF-8 if it is, else ISO-8859-1.
    pub(crate) encoding: Option<Encoding>,
    /// 0, 2 or 3 bytes.
    pub(crate) length: usize,
}

impl Bom {
    /// Looks at the first bytes of a file.
    ///
    /// # Errors
    /// UTF-32 where a byte order mark is obeyed, and the mark of the other order where one is asked for.
    pub(crate) fn of(bytes: &[u8], requested: Requested) -> Result<Self, Fault> {
        let is_utf32 = matches!(bytes, [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..]);
        let mark = match bytes {
            [0xEF, 0xBB, 0xBF, ..] => Some((Encoding::Utf8, 3)),
            [0xFF, 0xFE, ..] => Some((Encoding::Utf16Le, 2)),
            [0xFE, 0xFF, ..] => Some((Encoding::Utf16Be, 2)),
            _ => None,
        };
        let (encoding, length) = match (requested, mark) {
            (Requested::Auto | Requested::Named(Encoding::Utf8), _) if is_utf32 => {
                return Err(Fault::Utf32);
            }
            (Requested::Auto | Requested::Named(Encoding::Utf8), Some((found, length))) => {
                (Some(found), length)
            }
            (Requested::Utf16, Some((found, length))) if found.is_utf16() => (Some(found), length),
            (Requested::Named(asked), Some((found, length)))
                if asked.is_utf16() && found.is_utf16() =>
            {
                if asked != found {
                    return Err(Fault::malformed(asked, 0));
                }
                (Some(found), length)
            }
            (Requested::Auto, None) => (None, 0),
            (Requested::Utf16, _) => (Some(Encoding::Utf16Le), 0),
            (Requested::Named(asked), _) => (Some(asked), 0),
        };
        Ok(Self { encoding, length })
    }
}
