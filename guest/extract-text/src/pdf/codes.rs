//! What the codes of a font say where neither a `ToUnicode` map nor glyph names tell.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use encoding_rs::{Encoding, WINDOWS_1252};
use hayro_cmap::{BfString, CMap};
use hayro_font::{FontData, GlyphId};
use hayro_syntax::object::{Array, Dict, Name, Object, Stream};
use skrifa::{FontRef, MetadataProvider};

use super::predefined;

/// Where the meaning of codes comes from.
pub(super) enum Codes {
    /// The codes are Unicode: `ToUnicode` names the identity.
    Unicode,
    /// A predefined encoding.
    Encoded(&'static Encoding),
    /// A `ToUnicode` map that the library refuses for what stands around its entries.
    Map(Box<CMap>),
    /// The embedded font maps characters to its glyphs. Where it does not, the codes of a simple font are windows-1252.
    Glyphs {
        is_simple: bool,
        characters: OnceCell<HashMap<u32, char>>,
    },
    /// The bitmap fonts of TeX name glyphs after their codes, which are mostly ASCII in fonts for text.
    Tex,
}

impl Codes {
    pub(super) fn read(font: &Dict<'_>) -> Option<Self> {
        let subtype = font.get::<Name<'_>>("Subtype")?;
        let glyphs = |is_simple| Self::Glyphs {
            is_simple,
            characters: OnceCell::new(),
        };
        if let Some(stream) = font.get::<Stream<'_>>("ToUnicode") {
            return broken_map(&stream);
        }
        let encoding = font.get::<Name<'_>>("Encoding");
        match &*subtype {
            b"Type0" if font.contains_key("ToUnicode") => Some(Self::Unicode),
            b"Type0" => match predefined::encoding(&encoding?) {
                Some(encoding) => Some(Self::Encoded(encoding)),
                None => Some(glyphs(false)),
            },
            b"TrueType" if !font.contains_key("Encoding") => Some(glyphs(true)),
            b"Type3" if is_tex_text(font) => Some(Self::Tex),
            _ => None,
        }
    }

    /// Returns what a code says whose glyph is known; `program` gives the bytes of the embedded font.
    pub(super) fn text(
        &self,
        code: u32,
        glyph: GlyphId,
        program: impl FnOnce() -> Option<FontData>,
    ) -> Option<BfString> {
        let c = match self {
            Self::Unicode => char::from_u32(code)?,
            Self::Encoded(encoding) => predefined::character(encoding, code)?,
            Self::Map(map) => return map.lookup_bf_string(code),
            Self::Glyphs {
                is_simple,
                characters,
            } => {
                let characters = characters
                    .get_or_init(|| program().and_then(characters_of).unwrap_or_default());
                match characters.get(&glyph.to_u32()) {
                    Some(c) => *c,
                    None if *is_simple && glyph != GlyphId::NOTDEF => windows_1252(code)?,
                    None => return None,
                }
            }
            Self::Tex => return tex_character(code).map(|text| BfString::String(text.to_owned())),
        };
        Some(BfString::Char(c))
    }
}

/// The entries of a map that the library refuses as a whole.
fn broken_map(stream: &Stream<'_>) -> Option<Codes> {
    let data = stream.decoded_data().ok()?;
    if CMap::parse(&data, |_| None).is_some() {
        return None;
    }
    let position = |word: &[u8]| data.windows(word.len()).position(|window| window == word);
    let begins = [position(b"beginbfchar"), position(b"beginbfrange")];
    let begin = begins.into_iter().flatten().min()?;
    let entries = data.get(begin..position(b"endcmap")?)?;
    CMap::parse(entries, |_| None).map(Box::new).map(Codes::Map)
}

/// The characters of an OpenType font by their glyphs; that with the lowest number where several share a glyph.
fn characters_of(font: FontData) -> Option<HashMap<u32, char>> {
    let font = FontRef::new((*font).as_ref()).ok()?;
    let map = font.charmap();
    let mut characters = HashMap::new();
    for (character, glyph) in map.mappings() {
        if let Some(c) = char::from_u32(character).filter(|c| !is_private(*c)) {
            characters.entry(glyph.to_u32()).or_insert(c);
        }
    }
    Some(characters)
}

/// Whether only the font knows what a character means.
pub(super) fn is_private(c: char) -> bool {
    matches!(c, '\u{E000}'..='\u{F8FF}' | '\u{FFFD}' | '\u{F0000}'..)
}

fn windows_1252(code: u32) -> Option<char> {
    let byte = [u8::try_from(code).ok().filter(|byte| *byte >= b' ')?];
    let (text, _) = WINDOWS_1252.decode_without_bom_handling(&byte);
    text.chars().next()
}

/// Whether glyphs are named `/a` and their code, in a font for text: symbols stand in the places of a few letters only.
fn is_tex_text(font: &Dict<'_>) -> bool {
    let encoding = font.get::<Dict<'_>>("Encoding").unwrap_or_default();
    let names = encoding.get::<Array<'_>>("Differences").unwrap_or_default();
    let codes: HashSet<u8> = names
        .iter::<Object<'_>>()
        .filter_map(|item| item.into_name()?.as_str().strip_prefix('a')?.parse().ok())
        .collect();
    let lower_case = codes.iter().filter(|code| code.is_ascii_lowercase());
    codes.contains(&b'a') && codes.contains(&b'e') && lower_case.count() >= 6
}

/// What a code says in TeX's encodings OT1 and T1, as far as they agree with each other, and in OT1 its ligatures.
fn tex_character(code: u32) -> Option<&'static str> {
    const ASCII: &str =
        "!#$%&()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]abcdefghijklmnopqrstuvwxyz";
    let c = char::from_u32(code)?;
    match code {
        11 => Some("ff"),
        12 => Some("fi"),
        13 => Some("fl"),
        14 => Some("ffi"),
        15 => Some("ffl"),
        39 => Some("’"),
        96 => Some("‘"),
        _ => {
            let (at, found) = ASCII.match_indices(c).next()?;
            ASCII.get(at..at.saturating_add(found.len()))
        }
    }
}

/// Returns the codes that `ToUnicode` maps to nothing, because the glyphs beside them say all: `<0003> <>`.
pub(super) fn silent(font: &Dict<'_>) -> Option<HashSet<u32>> {
    let map = font.get::<Stream<'_>>("ToUnicode")?.decoded_data().ok()?;
    let text = String::from_utf8_lossy(&map);
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let pairs = words.array_windows::<2>();
    let silent = pairs.filter_map(|[code, target]| {
        let code = code.strip_prefix('<')?.strip_suffix('>')?;
        let is_empty = *target == "<>";
        u32::from_str_radix(code, 16).ok().filter(|_| is_empty)
    });
    Some(silent.collect())
}
