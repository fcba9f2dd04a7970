//! The encodings of simple fonts (ISO 32000-2, 9.6.5 and annex D).

use std::borrow::Cow;

use super::super::document::Document;
use super::super::object::{Dict, Object};
use super::glyphs;

/// What each code says.
pub(super) type Table = [Option<Cow<'static, str>>; 256];

/// Where a table has no character.
const NONE: char = '\u{FFFD}';

/// What looking up a name of `Differences` costs, in bytes of objects.
const COST: usize = 128;

/// Bytes of the name of a glyph at most (ISO 32000-1, annex C).
const MAX_NAME: usize = 127;

/// From 0xA1.
const STANDARD: &str = "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ\u{FFFD}–†‡·\u{FFFD}¶•‚„”»…‰\u{FFFD}¿\u{FFFD}`´ˆ˜¯˘˙¨\u{FFFD}˚¸\u{FFFD}˝˛ˇ—\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}Æ\u{FFFD}ª\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}ŁØŒº\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}æ\u{FFFD}\u{FFFD}\u{FFFD}ı\u{FFFD}\u{FFFD}łøœß";

/// From 0x80 to 0x9F; what is not assigned is a bullet (annex D.2, note 3).
const WINDOWS: &str = "€•‚ƒ„…†‡ˆ‰Š‹Œ•Ž••‘’“”•–—˜™š›œ•žŸ";

/// From 0x80.
const MAC: &str = "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»… ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄¤‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{FFFD}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ";

/// From 0x20 and from 0xA0.
const SYMBOL_LOW: &str = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";
const SYMBOL_HIGH: &str = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\u{FFFD}〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭";

/// An encoding that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Standard,
    Windows,
    Mac,
    Symbol,
    Dingbats,
}

/// The table of a simple font.
pub(super) fn read(document: &Document<'_>, font: &Dict) -> Table {
    let encoding = document.get(font, "Encoding");
    let own = own_base(font);
    let named = |name: Option<&[u8]>| match name? {
        b"WinAnsiEncoding" => Some(Base::Windows),
        b"MacRomanEncoding" => Some(Base::Mac),
        b"StandardEncoding" => Some(Base::Standard),
        _ => None,
    };
    match &*encoding {
        Object::Name(name) => table(named(Some(name)).unwrap_or(own)),
        Object::Dict(dict) => {
            let base = document.get(dict, "BaseEncoding");
            let mut table = table(named(base.name()).unwrap_or(own));
            let differences = document.get(dict, "Differences");
            let differences = differences.array().unwrap_or_default();
            // Many fonts may share the array.
            document.count_read(differences.len().saturating_mul(COST));
            if !document.is_exceeded() {
                apply(&mut table, differences);
            }
            table
        }
        _ => table(own),
    }
}

/// The encoding that the font itself has, as far as its name and kind tell.
fn own_base(font: &Dict) -> Base {
    let name = font
        .get("BaseFont")
        .and_then(Object::name)
        .unwrap_or_default();
    // `ABCDEF+Symbol` is a subset.
    let name = name.rsplit(|byte| *byte == b'+').next().unwrap_or_default();
    match name {
        b"Symbol" | b"SymbolMT" => Base::Symbol,
        b"ZapfDingbats" => Base::Dingbats,
        _ if font.is("Subtype", "TrueType") => Base::Windows,
        _ => Base::Standard,
    }
}

fn table(base: Base) -> Table {
    let mut table: Table = std::array::from_fn(|code| {
        let code = u8::try_from(code).ok()?;
        let ascii = (b' '..=b'~').contains(&code).then(|| char::from(code));
        let c = match base {
            Base::Windows => match code {
                0x80..=0x9F => nth(WINDOWS, code, 0x80),
                0xA0 => Some(' '),
                // A hyphen that is visible.
                0xAD => Some('-'),
                0xA1.. => Some(char::from(code)),
                _ => ascii,
            },
            Base::Mac if code >= 0x80 => nth(MAC, code, 0x80),
            Base::Standard => match code {
                b'\'' => Some('’'),
                b'`' => Some('‘'),
                0xA1.. => nth(STANDARD, code, 0xA1),
                _ => ascii,
            },
            Base::Symbol => match code {
                0x20..=0x7E => nth(SYMBOL_LOW, code, 0x20),
                0xA0.. => nth(SYMBOL_HIGH, code, 0xA0),
                _ => None,
            },
            Base::Dingbats => dingbat(code),
            Base::Mac => ascii,
        };
        c.map(|c| Cow::Owned(c.to_string()))
    });
    if let Some(space) = table.get_mut(0x20) {
        *space = Some(Cow::Borrowed(" "));
    }
    table
}

fn nth(characters: &str, code: u8, first: u8) -> Option<char> {
    let index = usize::from(code.checked_sub(first)?);
    characters.chars().nth(index).filter(|c| *c != NONE)
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
fn apply(table: &mut Table, differences: &[Object]) {
    let mut code = 0_usize;
    for difference in differences {
        match difference {
            Object::Name(name) => {
                if let Some(place) = table.get_mut(code)
                    && name.len() <= MAX_NAME
                {
                    *place = glyphs::text(name).map(Cow::Owned);
                }
                code = code.saturating_add(1);
            }
            other => {
                if let Some(first) = other
                    .integer()
                    .and_then(|first| usize::try_from(first).ok())
                {
                    code = first;
                }
            }
        }
    }
}
