//! Encodings by name, and the byte order marks that tell them.

use kit::SkillError;

use crate::decode::Fault;

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Requested {
    /// UTF-8, unless a byte order mark says otherwise.
    Utf8,
    /// UTF-16 in the order of its byte order mark, else little endian.
    Utf16,
    Utf16Le,
    Utf16Be,
    Latin1,
    Windows1252,
    /// By a byte order mark, else UTF-8 if it is, else ISO-8859-1.
    Auto,
}

impl Requested {
    /// Reads a name; ASCII case does not matter.
    ///
    /// # Errors
    /// `unsupported` for any other encoding.
    pub(crate) fn parse(name: &str) -> Result<Self, SkillError> {
        Ok(match name.to_ascii_lowercase().as_str() {
            "utf-8" => Self::Utf8,
            "utf-16" => Self::Utf16,
            "utf-16le" => Self::Utf16Le,
            "utf-16be" => Self::Utf16Be,
            "iso-8859-1" | "latin-1" | "latin1" => Self::Latin1,
            "windows-1252" | "cp1252" => Self::Windows1252,
            "auto" => Self::Auto,
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
        let by_mark = match bytes {
            [0xEF, 0xBB, 0xBF, ..] => Some((Encoding::Utf8, 3)),
            [0xFF, 0xFE, ..] => Some((Encoding::Utf16Le, 2)),
            [0xFE, 0xFF, ..] => Some((Encoding::Utf16Be, 2)),
            _ => None,
        };
        let without = |encoding| {
            Ok(Self {
                encoding,
                length: 0,
            })
        };
        let with = |(encoding, length)| {
            let encoding = Some(encoding);
            Ok(Self { encoding, length })
        };
        match (requested, by_mark) {
            (Requested::Utf8 | Requested::Auto, _) if is_utf32 => Err(Fault::Utf32),
            (Requested::Utf8 | Requested::Auto, Some(mark)) => with(mark),
            (Requested::Utf8, None) => without(Some(Encoding::Utf8)),
            (Requested::Auto, None) => without(None),
            (Requested::Latin1, _) => without(Some(Encoding::Latin1)),
            (Requested::Windows1252, _) => without(Some(Encoding::Windows1252)),
            (Requested::Utf16 | Requested::Utf16Le, Some(mark @ (Encoding::Utf16Le, _)))
            | (Requested::Utf16 | Requested::Utf16Be, Some(mark @ (Encoding::Utf16Be, _))) => {
                with(mark)
            }
            (Requested::Utf16Le, Some((Encoding::Utf16Be, _))) => {
                Err(Fault::malformed(Encoding::Utf16Le, 0))
            }
            (Requested::Utf16Be, Some((Encoding::Utf16Le, _))) => {
                Err(Fault::malformed(Encoding::Utf16Be, 0))
            }
            (Requested::Utf16 | Requested::Utf16Le, _) => without(Some(Encoding::Utf16Le)),
            (Requested::Utf16Be, _) => without(Some(Encoding::Utf16Be)),
        }
    }
}
