//! From places to spaces and lines (TS-138): the order is that of drawing.

use super::matrix::{Matrix, Vector};
use crate::output::{Gap, Output};

/// Of the font size: a way across the line that begins a new one.
const LINE: f64 = 0.5;

/// Of the font size: a way along the line that is a space.
pub(super) const SPACE: f64 = 0.17;

/// Where the last string ended, how large it was and which way it went.
#[derive(Debug, Default)]
pub(super) struct Layout {
    last: Option<(Vector, f64)>,
}

impl Layout {
    /// Adds a string that goes from one place to another.
    pub(super) fn place(
        &mut self,
        begin: &Matrix,
        end: &Matrix,
        vertical: bool,
        text: &str,
        output: &mut Output,
    ) {
        let (along, up) = (begin.x_axis(), begin.y_axis());
        let (direction, size) = if vertical {
            (up, along.length())
        } else {
            (along, up.length())
        };
        if let Some((last, last_size)) = self.last
            && !text.is_empty()
        {
            let (along, across) = begin.origin().minus(last).along_and_across(direction);
            let size = size.max(last_size);
            if across.abs() > LINE * size {
                output.gap(Gap::Line);
            } else if along.abs() > SPACE * size {
                output.flowing(" ");
            }
        }
        push(text, output);
        self.last = match self.last {
            // What says nothing does not move the end of what was said.
            last if text.is_empty() => last,
            _ => Some((end.origin(), size)),
        };
    }
}

/// Adds text with its ligatures taken apart.
fn push(text: &str, output: &mut Output) {
    let mut rest = text;
    while let Some(at) = rest.find(|c| ('\u{FB00}'..='\u{FB06}').contains(&c)) {
        let (before, ligature) = rest.split_at_checked(at).unwrap_or((rest, ""));
        output.flowing(before);
        let mut characters = ligature.chars();
        output.flowing(match characters.next() {
            Some('\u{FB00}') => "ff",
            Some('\u{FB01}') => "fi",
            Some('\u{FB02}') => "fl",
            Some('\u{FB03}') => "ffi",
            Some('\u{FB04}') => "ffl",
            _ => "st",
        });
        rest = characters.as_str();
    }
    output.flowing(rest);
}
