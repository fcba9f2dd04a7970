//! From places to spaces and lines: the order is that of drawing.

use kurbo::{Affine, Point, Vec2};

use crate::output::{Gap, Output};

/// A way across the line that begins a new one, in units of the font size.
const LINE: f64 = 0.5;

/// A way along the line that is a space, in units of the font size.
const SPACE: f64 = 0.15;

/// What stands for glyphs of which nobody knows what they say.
const UNKNOWN: &str = "\u{FFFD}";

/// Where the last glyph ended.
#[derive(Debug, Default)]
pub(super) struct Layout {
    last: Option<Last>,
}

#[derive(Debug)]
struct Last {
    /// The end of the glyph itself.
    end: Point,
    /// The end with the space that the content puts behind each glyph.
    spaced: Point,
    size: f64,
    is_unknown: bool,
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
        if let Some(last) = &self.last {
            let size = size.max(last.size);
            match distance(last, origin(begin), unit(direction), size) {
                Distance::Line => output.gap(Gap::Line),
                Distance::Space => output.flowing(" "),
                Distance::None => {}
            }
        }
        match text {
            Some(text) => push(text, output),
            None if self.last.as_ref().is_some_and(|last| last.is_unknown) => {}
            None => {
                output.flowing(UNKNOWN);
                output.note("U+FFFD stands for text in a font that does not say which characters its glyphs are");
            }
        }
        self.last = Some(Last {
            end: origin(end),
            spaced: origin(spaced),
            size,
            is_unknown: text.is_none(),
        });
    }

    /// Moves the end of the last glyph, of which this one is a part.
    pub(super) fn extend(&mut self, [end, spaced]: [Affine; 2]) {
        if let Some(last) = &mut self.last {
            last.end = origin(end);
            last.spaced = origin(spaced);
        }
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
            c => c.encode_utf8(&mut buffer),
        });
    }
}
