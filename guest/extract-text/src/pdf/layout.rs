//! From places to spaces and lines: the order is that of drawing, but for lines with text that is read from right to left.

use std::ops::Range;

use kurbo::{Affine, Point, Vec2};

use super::bidi;
use crate::output::{Gap, Output};

/// A way across the line that begins a new one, in units of the font size.
const LINE: f64 = 0.5;

/// A way along the line that is a space, in units of the font size.
const SPACE: f64 = 0.15;

/// What stands for glyphs of which nobody knows what they say.
const UNKNOWN: &str = "\u{FFFD}";

/// The line that is being drawn, and where its last glyph ended.
#[derive(Debug, Default)]
pub(super) struct Layout {
    last: Option<Last>,
    line: String,
    glyphs: Vec<Glyph>,
    has_rtl: bool,
}

#[derive(Debug)]
struct Last {
    /// The end of the glyph itself.
    end: Point,
    /// The end with the space that the content puts behind each glyph.
    spaced: Point,
    /// The direction of the line.
    direction: Vec2,
    size: f64,
    is_unknown: bool,
}

/// A glyph of the line.
#[derive(Debug)]
struct Glyph {
    text: Range<usize>,
    /// Where it stands along the line.
    place: Range<f64>,
    size: f64,
}

impl Layout {
    /// Adds a glyph, given the matrices of its begin, its end, and its end with the space behind it.
    pub(super) fn place(
        &mut self,
        [begin, end, spaced]: [Affine; 3],
        vertical: bool,
        text: Option<&str>,
        output: &mut Output,
    ) {
        // What says nothing, such as a space without a glyph, does not move the end of what was said.
        if text.is_some_and(str::is_empty) {
            return;
        }
        let [a, b, c, d, ..] = begin.as_coeffs();
        let (x_axis, y_axis) = (Vec2::new(a, b), Vec2::new(c, d));
        let (direction, size) = if vertical {
            (-y_axis, x_axis.length())
        } else {
            (x_axis, y_axis.length())
        };
        let direction = unit(direction);
        if let Some(last) = &self.last {
            let size = size.max(last.size);
            match distance(last, origin(begin), direction, size) {
                Distance::Line => {
                    self.end_line(output);
                    output.gap(Gap::Line);
                }
                Distance::Space => self.line.push(' '),
                Distance::None => {}
            }
        }
        let at = self.line.len();
        match text {
            Some(text) => {
                self.line.push_str(text);
                self.has_rtl |= text.chars().any(bidi::is_rtl);
            }
            None if self.last.as_ref().is_some_and(|last| last.is_unknown) => {}
            None => {
                self.line.push_str(UNKNOWN);
                output.note("U+FFFD stands for text in a font that does not say which characters its glyphs are");
            }
        }
        let along = |matrix| origin(matrix).to_vec2().dot(direction);
        self.glyphs.push(Glyph {
            text: at..self.line.len(),
            place: along(begin)..along(end).max(along(spaced)),
            size,
        });
        self.last = Some(Last {
            end: origin(end),
            spaced: origin(spaced),
            direction,
            size,
            is_unknown: text.is_none(),
        });
    }

    /// Moves the end of the last glyph, of which this one is a part.
    pub(super) fn extend(&mut self, [end, spaced]: [Affine; 2]) {
        if let Some(last) = &mut self.last {
            last.end = origin(end);
            last.spaced = origin(spaced);
            if let Some(glyph) = self.glyphs.last_mut() {
                let along = |matrix| origin(matrix).to_vec2().dot(last.direction);
                glyph.place.end = along(end).max(along(spaced));
            }
        }
    }

    /// Writes the line that was drawn.
    pub(super) fn end_line(&mut self, output: &mut Output) {
        if std::mem::take(&mut self.has_rtl) {
            push(&bidi::logical(&self.as_it_looks()), output);
        } else {
            push(&self.line, output);
        }
        self.line.clear();
        self.glyphs.clear();
    }

    /// The line as it looks, in whatever order it was drawn.
    fn as_it_looks(&mut self) -> String {
        // A point or accent is drawn before the letter that it belongs to.
        let mut begin = f64::INFINITY;
        for glyph in self.glyphs.iter_mut().rev() {
            let text = self.line.get(glyph.text.clone()).unwrap_or_default();
            if text.chars().all(bidi::is_mark) {
                glyph.place.start = begin.min(glyph.place.end);
            }
            begin = glyph.place.start;
        }
        self.glyphs
            .sort_by(|a, b| a.place.start.total_cmp(&b.place.start));
        let mut line = String::new();
        let mut end = f64::INFINITY;
        for glyph in &self.glyphs {
            let text = self.line.get(glyph.text.clone()).unwrap_or_default();
            // The space behind a word may be drawn anywhere: the gap says where it is.
            if text.trim().is_empty() {
                continue;
            }
            if glyph.place.start - end > SPACE * glyph.size {
                line.push(' ');
            }
            if text.chars().any(bidi::is_rtl) {
                line.push_str(&bidi::visual(text));
            } else {
                line.push_str(text);
            }
            end = glyph.place.end;
        }
        line
    }
}

enum Distance {
    None,
    Space,
    Line,
}

/// How far a glyph stands from the last one.
fn distance(last: &Last, begin: Point, direction: Vec2, size: f64) -> Distance {
    let way = begin - last.end;
    if way.cross(direction).abs() > LINE * size {
        return Distance::Line;
    }
    // Letter-spaced words are words, and so are those whose letter space is taken back.
    let along = way.dot(direction);
    let behind_space = (begin - last.spaced).dot(direction);
    let gap = along.min(behind_space);
    if gap > SPACE * size || along < -SPACE * size {
        Distance::Space
    } else {
        Distance::None
    }
}

fn origin(matrix: Affine) -> Point {
    matrix.translation().to_point()
}

/// The direction with length 1; that of a flat matrix stays as it is.
fn unit(direction: Vec2) -> Vec2 {
    match direction.length() {
        0.0 => direction,
        length => direction / length,
    }
}

/// Adds text with its ligatures taken apart.
fn push(text: &str, output: &mut Output) {
    let mut buffer = [0; 4];
    for c in text.chars() {
        output.flowing(match c {
            '\u{FB00}' => "ff",
            '\u{FB01}' => "fi",
            '\u{FB02}' => "fl",
            '\u{FB03}' => "ffi",
            '\u{FB04}' => "ffl",
            '\u{FB05}' | '\u{FB06}' => "st",
            // A hyphen that a page shows is one.
            '\u{AD}' => "-",
            c => match bidi::letters(c) {
                Some(letters) => {
                    output.flowing(&letters);
                    continue;
                }
                None => c.encode_utf8(&mut buffer),
            },
        });
    }
}
