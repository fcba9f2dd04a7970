//! Fonts, as far as text needs them: what the codes of a string say, and how wide they are.

mod cmap;
mod encoding;
mod glyphs;
mod metrics;
mod widths;

use encoding_rs::Encoding;

use self::cmap::CMap;
use self::encoding::Table;
use self::widths::Widths;
use super::document::Document;
use super::object::{Dict, Object};

/// A font.
#[derive(Debug)]
pub(super) struct Font {
    codes: Codes,
    to_unicode: Option<CMap>,
    widths: Widths,
    /// Whether it is written from top to bottom.
    pub(super) vertical: bool,
}

/// How a string is a sequence of codes, and what they say where no map to Unicode does.
#[derive(Debug)]
enum Codes {
    /// One byte each.
    Simple(Box<Table>),
    /// Two bytes each, which say nothing.
    TwoBytes,
    /// By a map of the document.
    Mapped(CMap),
    /// The code is UTF-16.
    Utf16,
    /// The code is that of an encoding of the days before Unicode.
    Legacy(&'static Encoding),
}

/// How far a string goes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Advance {
    /// Widths of all glyphs, in units of the font size.
    pub(super) units: f64,
    pub(super) glyphs: f64,
    /// Codes of one byte that are 32.
    pub(super) spaces: f64,
}

impl Advance {
    fn add(&mut self, width: f64) {
        self.units += width;
        self.glyphs += 1.0;
    }
}

impl Font {
    /// Reads a font; what is not known of it says nothing.
    pub(super) fn read(document: &Document<'_>, dict: &Dict) -> Self {
        let to_unicode = document.get(dict, "ToUnicode");
        let to_unicode = to_unicode
            .stream()
            .and_then(|stream| CMap::read(document, stream));
        if dict.is("Subtype", "Type0") {
            Self::composite(document, dict, to_unicode)
        } else {
            Self {
                codes: Codes::Simple(Box::new(encoding::read(document, dict))),
                to_unicode,
                widths: Widths::simple(document, dict),
                vertical: false,
            }
        }
    }

    fn composite(document: &Document<'_>, dict: &Dict, to_unicode: Option<CMap>) -> Self {
        let encoding = document.get(dict, "Encoding");
        let codes = match &*encoding {
            Object::Stream(stream) => CMap::read(document, stream).map(Codes::Mapped),
            Object::Name(name) => predefined(name),
            _ => None,
        };
        let name = match &*encoding {
            Object::Stream(stream) => stream.dict.get("CMapName").and_then(Object::name),
            encoding => encoding.name(),
        };
        let descendants = document.get(dict, "DescendantFonts");
        let first = descendants.array().and_then(<[Object]>::first);
        let descendant = first.map(|first| document.resolve(first));
        let widths = descendant
            .as_deref()
            .and_then(Object::dict)
            .map_or_else(Widths::default, |dict| Widths::composite(document, dict));
        Self {
            codes: codes.unwrap_or(Codes::TwoBytes),
            to_unicode,
            widths,
            vertical: name.is_some_and(|name| name.ends_with(b"-V")),
        }
    }

    /// Adds what a string says to `text`; between glyphs that stand apart are spaces.
    pub(super) fn read_string(&self, string: &[u8], apart: bool, text: &mut String) -> Advance {
        let mut advance = Advance::default();
        match &self.codes {
            Codes::Simple(table) => {
                for byte in string {
                    if apart && advance.glyphs > 0.0 {
                        text.push(' ');
                    }
                    let code = u32::from(*byte);
                    if !self.push_mapped(code, text)
                        && let Some(own) = table.get(usize::from(*byte)).and_then(Option::as_deref)
                    {
                        text.push_str(own);
                    }
                    advance.add(self.widths.get(code));
                    if *byte == b' ' {
                        advance.spaces += 1.0;
                    }
                }
            }
            Codes::TwoBytes => {
                let (codes, _) = string.as_chunks::<2>();
                for code in codes {
                    if apart && advance.glyphs > 0.0 {
                        text.push(' ');
                    }
                    let code = u32::from(u16::from_be_bytes(*code));
                    self.push_mapped(code, text);
                    advance.add(self.widths.get(code));
                }
            }
            Codes::Mapped(map) => self.read_mapped(map, string, text, &mut advance),
            Codes::Utf16 => {
                let (codes, _) = string.as_chunks::<2>();
                let codes: Vec<u16> = codes.iter().map(|code| u16::from_be_bytes(*code)).collect();
                for code in char::decode_utf16(codes) {
                    let c = code.unwrap_or(char::REPLACEMENT_CHARACTER);
                    if !self.push_mapped(u32::from(c), text) {
                        text.push(c);
                    }
                    advance.add(self.widths.default_width());
                }
            }
            Codes::Legacy(encoding) => {
                let (decoded, _) = encoding.decode_without_bom_handling(string);
                for c in decoded.chars() {
                    // Half as wide where the code is one byte, as a rule.
                    let share = if c.is_ascii() { 0.5 } else { 1.0 };
                    advance.add(self.widths.default_width() * share);
                }
                text.push_str(&decoded);
            }
        }
        advance
    }

    fn read_mapped(&self, map: &CMap, string: &[u8], text: &mut String, advance: &mut Advance) {
        let mut rest = string;
        while let Some((code, length)) = map.code(rest) {
            rest = rest.get(length..).unwrap_or_default();
            self.push_mapped(code, text);
            advance.add(self.widths.get(map.cid(code).unwrap_or(code)));
            if length == 1 && code == 32 {
                advance.spaces += 1.0;
            }
        }
    }

    /// Adds what the map to Unicode says of a code; whether it says anything.
    fn push_mapped(&self, code: u32, text: &mut String) -> bool {
        self.to_unicode
            .as_ref()
            .is_some_and(|map| map.push_text(code, text))
    }
}

/// Codes of a predefined map of characters (ISO 32000-2, table 116).
fn predefined(name: &[u8]) -> Option<Codes> {
    let has = |part: &[u8]| name.windows(part.len()).any(|window| window == part);
    if name.starts_with(b"Uni") && (has(b"UCS2") || has(b"UTF16")) {
        return Some(Codes::Utf16);
    }
    let encoding = if has(b"RKSJ") {
        encoding_rs::SHIFT_JIS
    } else if name == b"EUC-H" || name == b"EUC-V" {
        encoding_rs::EUC_JP
    } else if name.starts_with(b"GB") {
        encoding_rs::GB18030
    } else if name.starts_with(b"B5") || name.starts_with(b"ETen") || name.starts_with(b"HKscs") {
        encoding_rs::BIG5
    } else if name.starts_with(b"KSC") {
        encoding_rs::EUC_KR
    } else {
        return None;
    };
    Some(Codes::Legacy(encoding))
}
