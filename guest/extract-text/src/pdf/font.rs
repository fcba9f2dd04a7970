//! Fonts: which codes a string has, what they say, and how wide they are.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use hayro_cmap::BfString;
use hayro_font::kurbo::Vec2;
use hayro_font::{
    CMapResolverFn, Font as Program, FontCache, FontGlyph, FontQuery, FontResolverFn, GlyphId,
};
use hayro_syntax::object::{Dict, Stream};

use super::codes::{self, Codes, is_private};
use super::predefined;

/// An OpenType font without tables. It stands for fonts that the document does not embed, whose outlines are not needed.
const EMPTY_FONT: [u8; 12] = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// The fonts of a document.
pub(super) struct Fonts<'a> {
    cache: FontCache<'a>,
    /// By the place of their dictionaries in the document.
    fonts: HashMap<usize, Rc<Font<'a>>>,
    programs: FontResolverFn,
    maps: CMapResolverFn,
}

/// A font.
pub(super) struct Font<'a> {
    /// None if the library cannot read it: then nobody knows what its codes say.
    program: Option<Program<'a>>,
    /// What codes say where the library does not know.
    codes: Option<Codes>,
    /// Whether the document maps codes to Unicode, which goes before all else.
    has_map: bool,
    /// Codes that `ToUnicode` maps to nothing, because the glyphs beside them say all.
    silent: HashSet<u32>,
    glyphs: RefCell<HashMap<u32, Rc<Glyph>>>,
}

/// A glyph.
#[derive(Debug)]
pub(super) struct Glyph {
    /// What it says; none if nobody knows.
    pub(super) text: Option<String>,
    /// The way to the next glyph, in units of the font size.
    pub(super) advance: Vec2,
}

impl<'a> Fonts<'a> {
    pub(super) fn new() -> Self {
        Self {
            cache: FontCache::new(),
            fonts: HashMap::new(),
            programs: Arc::new(|_: &FontQuery| Some((Arc::new(EMPTY_FONT), 0))),
            maps: Arc::new(predefined::map),
        }
    }

    /// Returns the font of a dictionary.
    pub(super) fn get(&mut self, dict: &Dict<'a>) -> Rc<Font<'a>> {
        let key = dict.data().as_ptr().addr();
        let font = self.fonts.entry(key).or_insert_with(|| {
            Rc::new(Font {
                program: self.cache.font(dict, &self.programs, &self.maps),
                codes: Codes::read(dict),
                has_map: dict.get::<Stream<'_>>("ToUnicode").is_some(),
                silent: codes::silent(dict).unwrap_or_default(),
                glyphs: RefCell::default(),
            })
        });
        Rc::clone(font)
    }
}

impl Font<'_> {
    /// Whether it is written from top to bottom.
    pub(super) fn is_vertical(&self) -> bool {
        self.program
            .as_ref()
            .is_some_and(|program| !program.is_horizontal())
    }

    /// Returns the first glyph of a string; none if it is empty.
    pub(super) fn next<'s>(&self, string: &'s [u8]) -> Option<Shown<'s>> {
        let first = *string.first()?;
        let (code, length) = match &self.program {
            Some(program) => program.read_code(string, 0),
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
        let Some(program) = &self.program else {
            return Glyph {
                text: None,
                advance: Vec2::new(0.5, 0.0),
            };
        };
        let id = program.map_code(code);
        let glyph = program.glyph(id, code);
        let named = match &glyph {
            FontGlyph::Outline(glyph) => glyph.as_unicode(),
            FontGlyph::Type3(glyph) => glyph.as_unicode(),
        };
        let data = || match &glyph {
            FontGlyph::Outline(glyph) => Some(glyph.font_data()?.data),
            FontGlyph::Type3(_) => None,
        };
        let coded = || self.codes.as_ref()?.text(code, id, data);
        let text = if self.has_map {
            named.or_else(coded)
        } else {
            coded().or(named)
        };
        let text = text
            .map(|text| match text {
                BfString::Char(c) => c.to_string(),
                BfString::String(text) => text,
            })
            .filter(|text| !text.chars().any(is_private))
            // What has no glyph shows nothing.
            .or_else(|| (id == GlyphId::NOTDEF || self.silent.contains(&code)).then(String::new));
        let mut advance = program.code_advance(code) / f64::from(hayro_font::UNITS_PER_EM);
        if let (Some(Codes::Encoded(_)), Some(text)) = (&self.codes, &text)
            && program.is_horizontal()
        {
            advance.x = predefined::width(text);
        }
        Glyph { text, advance }
    }
}

/// A glyph of a string.
pub(super) struct Shown<'s> {
    pub(super) glyph: Rc<Glyph>,
    /// Whether its code is one byte that is 32, which word spacing applies to.
    pub(super) is_single_space: bool,
    /// The string behind it.
    pub(super) rest: &'s [u8],
}
