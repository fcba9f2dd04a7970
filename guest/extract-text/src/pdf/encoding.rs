//! The encodings of simple fonts (ISO 32000-2, 9.6.5 and annex D).

use std::collections::HashSet;

use encoding_rs::{Encoding, MACINTOSH, WINDOWS_1252};
use hayro_syntax::object::{Array, Dict, Name, Object};
use skrifa::Font;
use skrifa::font::Kind;
use skrifa::raw::ps::PredefinedEncoding::{self, Expert, Standard};
use skrifa::raw::ps::agl;

use super::codes::{characters, embedded};

/// From 0x20 and from 0xA0.
const SYMBOL_LOW: &str = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";
const SYMBOL_HIGH: &str = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\u{FFFD}〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭";

/// What a code says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The font has no glyph for it.
    Nothing,
    /// Nobody knows what its glyph says.
    Unknown,
    Text(String),
}

/// Returns the table of a simple font.
pub(super) fn read(font: &Dict<'_>) -> Vec<Meaning> {
    let encoding = font.get::<Dict<'_>>("Encoding").unwrap_or_default();
    let base = font
        .get::<Name<'_>>("Encoding")
        .or_else(|| encoding.get("BaseEncoding"));
    let named: Option<&dyn Fn(u8) -> Meaning> = match base.as_deref() {
        Some(b"WinAnsiEncoding") => Some(&|code| encoded(WINDOWS_1252, code)),
        Some(b"MacRomanEncoding") => Some(&|code| encoded(MACINTOSH, code)),
        Some(b"MacExpertEncoding") => Some(&|code| predefined(Expert, code)),
        Some(b"StandardEncoding") => Some(&|code| predefined(Standard, code)),
        _ => None,
    };
    let mut table: Vec<Meaning> = match named {
        Some(named) => (0..=u8::MAX).map(named).collect(),
        None => built_in(font),
    };
    let is_tex = is_tex_text(&encoding);
    for (code, name) in differences(&encoding) {
        if let Some(place) = table.get_mut(usize::from(code)) {
            *place = match tex_character(code).filter(|_| is_tex) {
                Some(text) => Meaning::Text(text.to_owned()),
                None => glyph(&name, is_dingbats(font)),
            };
        }
    }
    table
}

/// The encoding that a font has itself.
fn built_in(font: &Dict<'_>) -> Vec<Meaning> {
    let subtype = font.get::<Name<'_>>("Subtype");
    let subtype = subtype.as_deref().unwrap_or_default();
    let name = font.get::<Name<'_>>("BaseFont");
    let name = name.as_ref().map_or("", Name::as_str);
    // `ABCDEF+Symbol` is a subset.
    let name = name.rsplit('+').next().unwrap_or_default();
    let codes = 0..=u8::MAX;
    if let Some(program) = embedded(font, "FontFile3").or_else(|| embedded(font, "FontFile"))
        && let Some(program) = Font::new(program, 0)
        && let Some(table) = codes
            .clone()
            .map(|code| named_glyph(&program, code, is_dingbats(font)))
            .collect()
    {
        return table;
    }
    let program = embedded(font, "FontFile2");
    match (subtype, name, program) {
        (b"TrueType", _, Some(program)) => codes.map(true_type(&program)).collect(),
        (b"Type3", ..) => vec![Meaning::Nothing; 256],
        (_, "Symbol" | "SymbolMT", _) => codes.map(symbol).collect(),
        (_, "ZapfDingbats", _) => codes.map(|code| known(dingbat(code))).collect(),
        (b"TrueType", ..) => codes.map(|code| encoded(WINDOWS_1252, code)).collect(),
        _ => codes.map(|code| predefined(Standard, code)).collect(),
    }
}

fn is_dingbats(font: &Dict<'_>) -> bool {
    let name = font.get::<Name<'_>>("BaseFont");
    name.is_some_and(|name| name.as_str().contains("Dingbats"))
}

/// What the built-in encoding of a Type 1 or CFF font says; none if it has none.
fn named_glyph(font: &Font, code: u8, is_dingbats: bool) -> Option<Meaning> {
    let name = match font.kind() {
        Kind::Type1(font) => font.encoding()?.glyph_name(code),
        Kind::Cff(font, _) if !font.is_cid() => {
            let encoding = font.encoding()?;
            let id = encoding
                .map(code)
                .and_then(|glyph| font.charset()?.string_id(glyph));
            id.and_then(|id| str::from_utf8(font.string(id)?).ok())
        }
        _ => return None,
    };
    Some(name.map_or(Meaning::Nothing, |name| glyph(name, is_dingbats)))
}

/// What the codes of an embedded TrueType font without an encoding say: windows-1252, unless the font maps Unicode and has no such
/// characters.
fn true_type(font: &[u8]) -> impl Fn(u8) -> Meaning {
    let characters: HashSet<char> = characters(font).unwrap_or_default().into_values().collect();
    move |code| match encoded(WINDOWS_1252, code) {
        Meaning::Text(text)
            if !characters.is_empty()
                && !text
                    .chars()
                    .all(|c| c.is_whitespace() || characters.contains(&c)) =>
        {
            Meaning::Unknown
        }
        meaning => meaning,
    }
}

/// What a glyph says, by the Adobe Glyph List and what its names are in the fonts of TeX.
fn glyph(name: &str, is_dingbats: bool) -> Meaning {
    if matches!(name, "" | ".notdef") {
        return Meaning::Nothing;
    }
    // The list has `a98` of ZapfDingbats, and many fonts number their glyphs so.
    let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    if !is_dingbats && name.len() > 1 && name.strip_prefix('a').is_some_and(is_number) {
        return Meaning::Unknown;
    }
    let of = |name: &str| Some(agl::name_to_chars(name).collect::<String>());
    let text = of(name).filter(|text| !text.is_empty()).or_else(|| {
        // `parenleftbig`, `summationdisplay`
        let sizes = ["bigg", "Bigg", "big", "Big", "display", "text"];
        let base = sizes.iter().find_map(|size| name.strip_suffix(size))?;
        of(base).filter(|text| !text.is_empty())
    });
    text.map_or(Meaning::Unknown, Meaning::Text)
}

fn known(c: Option<char>) -> Meaning {
    c.map_or(Meaning::Nothing, |c| Meaning::Text(c.to_string()))
}

fn predefined(encoding: PredefinedEncoding, code: u8) -> Meaning {
    glyph(encoding.name(code), false)
}

fn encoded(encoding: &'static Encoding, code: u8) -> Meaning {
    let bytes = [code];
    let (text, _) = encoding.decode_without_bom_handling(&bytes);
    known(text.chars().next().filter(|c| !c.is_control()))
}

fn symbol(code: u8) -> Meaning {
    let nth = |characters: &str, first: u8| {
        let c = characters
            .chars()
            .nth(usize::from(code.saturating_sub(first)));
        known(c.filter(|c| *c != '\u{FFFD}'))
    };
    match code {
        0x20..=0x7E => nth(SYMBOL_LOW, 0x20),
        0xA0.. => nth(SYMBOL_HIGH, 0xA0),
        _ => Meaning::Nothing,
    }
}

/// Annex D.6: the codes follow the block of Unicode, but for what Unicode has elsewhere.
fn dingbat(code: u8) -> Option<char> {
    let from = |first: u32, base: u8| {
        char::from_u32(first.checked_add(u32::from(code.checked_sub(base)?))?)
    };
    match code {
        0x25 => Some('☎'),
        0x2A => Some('☛'),
        0x2B => Some('☞'),
        0x48 => Some('★'),
        0x6C => Some('●'),
        0x6E => Some('■'),
        0x73 => Some('▲'),
        0x74 => Some('▼'),
        0x75 => Some('◆'),
        0x77 => Some('◗'),
        0x21..=0x7E => from(0x2701, 0x21),
        0xA1..=0xA7 => from(0x2761, 0xA1),
        0xA8 => Some('♣'),
        0xA9 => Some('♦'),
        0xAA => Some('♥'),
        0xAB => Some('♠'),
        0xAC..=0xB5 => from(0x2460, 0xAC),
        0xB6..=0xD4 => from(0x2776, 0xB6),
        0xD5 => Some('→'),
        0xD6 => Some('↔'),
        0xD7 => Some('↕'),
        0xD8..=0xEF => from(0x2798, 0xD8),
        0xF1..=0xFE => from(0x27B1, 0xF1),
        _ => None,
    }
}

/// `[65 /A /B 97 /a]`: names for codes that follow each other.
fn differences(encoding: &Dict<'_>) -> Vec<(u8, String)> {
    let items = encoding.get::<Array<'_>>("Differences").unwrap_or_default();
    let mut code = 0_i64;
    let mut names = Vec::new();
    for item in items.iter::<Object<'_>>() {
        match item {
            Object::Number(first) => code = first.as_i64(),
            Object::Name(name) => {
                names.extend(
                    u8::try_from(code)
                        .ok()
                        .map(|code| (code, name.as_str().to_owned())),
                );
                code = code.saturating_add(1);
            }
            _ => {}
        }
    }
    names
}

/// Whether glyphs are named `/a` and their code, as in the bitmap fonts of TeX, and the font is one for text: those for symbols have
/// them in the places of a few letters only.
fn is_tex_text(encoding: &Dict<'_>) -> bool {
    let codes: Vec<u8> = differences(encoding)
        .into_iter()
        .filter(|(code, name)| name.strip_prefix('a') == Some(code.to_string().as_str()))
        .map(|(code, _)| code)
        .collect();
    let lower_case = codes.iter().filter(|code| code.is_ascii_lowercase());
    codes.contains(&b'a') && codes.contains(&b'e') && lower_case.count() >= 6
}

/// What a code says in TeX's encodings OT1 and T1, as far as they agree with each other, and in OT1 its ligatures.
fn tex_character(code: u8) -> Option<&'static str> {
    const ASCII: &str =
        "!#$%&()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]abcdefghijklmnopqrstuvwxyz";
    match code {
        11 => Some("ff"),
        12 => Some("fi"),
        13 => Some("fl"),
        14 => Some("ffi"),
        15 => Some("ffl"),
        39 => Some("’"),
        96 => Some("‘"),
        _ => {
            let at = ASCII.find(char::from(code))?;
            ASCII.get(at..at.saturating_add(1))
        }
    }
}
