//! What the codes of a font say where no `ToUnicode` map tells.

use std::collections::HashMap;

use encoding_rs::Encoding;
use hayro_syntax::object::{Dict, Name, Stream};
use skrifa::{FontRef, MetadataProvider};

use super::encoding::{self, Meaning};
use super::font::is_private;
use super::predefined;

/// Where the meaning of codes comes from.
pub(super) enum Codes {
    /// The table of a simple font, by code.
    Simple(Vec<Meaning>),
    /// The codes are Unicode: `ToUnicode` names the identity.
    Unicode,
    /// A predefined encoding of composite fonts.
    Encoded(&'static Encoding),
    /// The embedded font of a composite one maps characters to its glyphs.
    Glyphs {
        characters: HashMap<u32, char>,
        /// Two bytes for each character of the font: its glyph. Without it they are the same.
        glyphs: Option<Vec<u8>>,
    },
}

impl Codes {
    pub(super) fn simple(font: &Dict<'_>) -> Self {
        Self::Simple(encoding::read(font))
    }

    pub(super) fn composite(font: &Dict<'_>, descendant: &Dict<'_>) -> Self {
        if font.get::<Name<'_>>("ToUnicode").is_some() {
            return Self::Unicode;
        }
        let encoding = font.get::<Name<'_>>("Encoding");
        if let Some(encoding) = encoding.and_then(|name| predefined::encoding(&name)) {
            return Self::Encoded(encoding);
        }
        let glyphs = descendant.get::<Stream<'_>>("CIDToGIDMap");
        let glyphs = glyphs.and_then(|stream| stream.decoded_data().ok());
        Self::Glyphs {
            characters: embedded(descendant, "FontFile2")
                .and_then(|font| characters(&font))
                .unwrap_or_default(),
            glyphs: glyphs.map(std::borrow::Cow::into_owned),
        }
    }

    /// Returns what a code says that selects a character of the font; none if nobody knows.
    pub(super) fn text(&self, code: u32, character: u32) -> Option<String> {
        let c = match self {
            Self::Simple(table) => {
                return match table.get(usize::try_from(code).ok()?) {
                    Some(Meaning::Text(text)) => Some(text.clone()),
                    Some(Meaning::Nothing) => Some(String::new()),
                    Some(Meaning::Unknown) | None => None,
                };
            }
            Self::Unicode => char::from_u32(code)?,
            Self::Encoded(encoding) => predefined::character(encoding, code)?,
            Self::Glyphs { characters, glyphs } => {
                let glyph = match glyphs {
                    Some(glyphs) => {
                        let (glyphs, _) = glyphs.as_chunks::<2>();
                        let glyph = glyphs.get(usize::try_from(character).ok()?)?;
                        u16::from_be_bytes(*glyph).into()
                    }
                    None => character,
                };
                *characters.get(&glyph)?
            }
        };
        Some(c.to_string())
    }
}

/// The bytes of an embedded font.
pub(super) fn embedded(font: &Dict<'_>, key: &str) -> Option<Vec<u8>> {
    let descriptor = font.get::<Dict<'_>>("FontDescriptor")?;
    let data = descriptor.get::<Stream<'_>>(key)?.decoded_data().ok()?;
    Some(data.into_owned())
}

/// The characters of an OpenType font by their glyphs; that with the lowest number where several share a glyph.
pub(super) fn characters(font: &[u8]) -> Option<HashMap<u32, char>> {
    let font = FontRef::new(font).ok()?;
    let mut characters = HashMap::new();
    for (character, glyph) in font.charmap().mappings() {
        if let Some(c) = char::from_u32(character).filter(|c| !is_private(*c)) {
            characters.entry(glyph.to_u32()).or_insert(c);
        }
    }
    Some(characters)
}
