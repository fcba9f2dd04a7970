//! Fonts: which codes a string has, what they say, and how wide they are.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use hayro_cmap::{BfString, CMap, CMapName, WritingMode};
use hayro_syntax::object::{Array, Dict, Name, Object, Stream};
use kurbo::Vec2;

use super::codes::Codes;
use super::predefined;
use super::widths::Widths;

/// The fonts of a document, by the place of their dictionaries in it.
#[derive(Default)]
pub(super) struct Fonts(HashMap<usize, Rc<Font>>);

/// A font.
pub(super) struct Font {
    /// How a string of a composite font is a sequence of codes, and which glyphs they select; of others each byte is a code.
    division: Option<CMap>,
    to_unicode: Option<CMap>,
    /// Codes that `ToUnicode` maps to nothing, because the glyphs beside them say all.
    silent: HashSet<u32>,
    /// What codes say that `ToUnicode` does not have.
    codes: Codes,
    widths: Widths,
    glyphs: RefCell<HashMap<u32, Rc<Glyph>>>,
}

/// A glyph.
#[derive(Debug)]
pub(super) struct Glyph {
    /// What it says; none if nobody knows.
    pub(super) text: Option<String>,
    /// Whether the glyphs beside it say what it is a part of.
    pub(super) is_silent: bool,
    /// The way to the next glyph, in units of the font size.
    pub(super) advance: Vec2,
}

/// A glyph of a string.
pub(super) struct Shown<'s> {
    pub(super) glyph: Rc<Glyph>,
    /// Whether its code is one byte that is 32, which word spacing applies to.
    pub(super) is_single_space: bool,
    /// The string behind it.
    pub(super) rest: &'s [u8],
}

impl Fonts {
    /// Returns the font of a dictionary.
    pub(super) fn get(&mut self, dict: &Dict<'_>) -> Rc<Font> {
        let key = dict.data().as_ptr().addr();
        let font = self
            .0
            .entry(key)
            .or_insert_with(|| Rc::new(Font::read(dict)));
        Rc::clone(font)
    }
}

impl Font {
    fn read(dict: &Dict<'_>) -> Self {
        let is_composite = dict.get::<Name<'_>>("Subtype").as_deref() == Some(b"Type0");
        let descendants = dict.get::<Array<'_>>("DescendantFonts");
        let descendant = descendants.and_then(|fonts| fonts.iter::<Dict<'_>>().next());
        let descendant = descendant.unwrap_or_default();
        let map = dict.get::<Stream<'_>>("ToUnicode");
        let map = map.and_then(|stream| stream.decoded_data().ok());
        let (map, silent) = map.map(|map| without_silent(&map)).unzip();
        Self {
            division: is_composite.then(|| division(dict).unwrap_or_else(CMap::identity_h)),
            to_unicode: map.as_deref().and_then(to_unicode),
            silent: silent.unwrap_or_default(),
            codes: if is_composite {
                Codes::composite(dict, &descendant)
            } else {
                Codes::simple(dict)
            },
            widths: if is_composite {
                Widths::composite(&descendant)
            } else {
                Widths::simple(dict)
            },
            glyphs: RefCell::default(),
        }
    }

    /// Whether it is written from top to bottom.
    pub(super) fn is_vertical(&self) -> bool {
        self.division
            .as_ref()
            .is_some_and(|map| map.metadata().writing_mode == Some(WritingMode::Vertical))
    }

    /// Returns the first glyph of a string; none if it is empty.
    pub(super) fn next<'s>(&self, string: &'s [u8]) -> Option<Shown<'s>> {
        let first = *string.first()?;
        let (code, length) = match &self.division {
            Some(map) => first_code(map, string).unwrap_or((0, 1)),
            None => (first.into(), 1),
        };
        let mut glyphs = self.glyphs.borrow_mut();
        let glyph = glyphs
            .entry(code)
            .or_insert_with(|| Rc::new(self.glyph(code)));
        Some(Shown {
            glyph: Rc::clone(glyph),
            is_single_space: length == 1 && first == b' ',
            rest: string.get(length..).unwrap_or_default(),
        })
    }

    fn glyph(&self, code: u32) -> Glyph {
        // The character of a composite font that the code selects.
        let character = self.division.as_ref().map_or(code, |map| {
            let mut lengths = 1..=4;
            lengths
                .find_map(|length| map.lookup_cid_code(code, length))
                .unwrap_or(code)
        });
        let mapped = self.to_unicode.as_ref();
        let mapped = mapped.and_then(|map| map.lookup_bf_string(code));
        let text = match mapped {
            // Such an entry says that there is none.
            Some(BfString::Char('\0')) | None => self.codes.text(code, character),
            Some(BfString::Char(c)) => Some(c.to_string()),
            Some(BfString::String(text)) => Some(text),
        };
        let text = text.filter(|text| !text.chars().any(is_private));
        let advance = match (&self.codes, &text) {
            _ if self.is_vertical() => Vec2::new(0.0, self.widths.vertical()),
            // The widths are those of a collection that is not known here.
            (Codes::Encoded(_), Some(text)) => Vec2::new(predefined::width(text), 0.0),
            _ => Vec2::new(self.widths.get(character), 0.0),
        };
        Glyph {
            text,
            is_silent: self.silent.contains(&code),
            advance,
        }
    }
}

/// The map from strings to codes and characters of a composite font.
fn division(font: &Dict<'_>) -> Option<CMap> {
    match font.get::<Object<'_>>("Encoding")? {
        Object::Name(name) => match CMapName::from_bytes(&name) {
            CMapName::IdentityV => Some(CMap::identity_v()),
            name => CMap::parse(predefined::map(name)?, predefined::map),
        },
        Object::Stream(stream) => CMap::parse(&stream.decoded_data().ok()?, predefined::map),
        _ => None,
    }
}

fn first_code(map: &CMap, string: &[u8]) -> Option<(u32, usize)> {
    let mut code = 0_u32;
    for (length, byte) in (1_u8..=4).zip(string) {
        code = code << 8 | u32::from(*byte);
        if map.lookup_cid_code(code, length).is_some() {
            return Some((code, length.into()));
        }
    }
    None
}

/// The map of a `ToUnicode` stream; its entries alone where it is broken around them.
fn to_unicode(data: &[u8]) -> Option<CMap> {
    let position = |word: &[u8]| data.windows(word.len()).position(|window| window == word);
    CMap::parse(data, |_| None).or_else(|| {
        let begins = [position(b"beginbfchar"), position(b"beginbfrange")];
        let begin = begins.into_iter().flatten().min()?;
        CMap::parse(data.get(begin..position(b"endcmap")?)?, |_| None)
    })
}

/// A `ToUnicode` stream without the entries `<0003> <>`, which the library refuses, and their codes.
fn without_silent(map: &[u8]) -> (Vec<u8>, HashSet<u32>) {
    let text = String::from_utf8_lossy(map);
    let mut silent = HashSet::new();
    if !text.contains("<>") {
        return (map.to_vec(), silent);
    }
    let mut kept: Vec<&str> = Vec::new();
    for word in text.split_ascii_whitespace() {
        if word != "<>" {
            kept.push(word);
        } else if let Some(code) = kept.pop() {
            let code = code.trim_matches(['<', '>']);
            silent.extend(u32::from_str_radix(code, 16));
        }
    }
    (kept.join(" ").into_bytes(), silent)
}

/// Whether only the font knows what a character means.
pub(super) fn is_private(c: char) -> bool {
    matches!(c, '\u{E000}'..='\u{F8FF}' | '\u{FFFD}' | '\u{F0000}'..)
}
