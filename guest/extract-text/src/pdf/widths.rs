//! How wide glyphs are, in units of the font size (ISO 32000-2, 9.6.2.1 and 9.7.4.3).

use std::collections::HashMap;

use hayro_syntax::object::{Array, Dict, Name};

use super::metrics;

/// Characters whose widths are kept at most.
const MAX_WIDTHS: usize = 65_536;

/// The widths of a font.
pub(super) struct Widths {
    each: HashMap<u32, f64>,
    default: f64,
    vertical: f64,
}

impl Widths {
    /// Of a simple font: what the document says, else those of a standard font of that name.
    pub(super) fn simple(font: &Dict<'_>) -> Self {
        let descriptor = font.get::<Dict<'_>>("FontDescriptor").unwrap_or_default();
        let matrix = font.get::<[f64; 6]>("FontMatrix");
        let scale = matrix.map_or(0.001, |[scale, ..]| scale.abs());
        if let Some(widths) = font.get::<Array<'_>>("Widths") {
            let first = font.get::<u32>("FirstChar").unwrap_or(0);
            let widths = widths.iter::<f64>().map(|width| width * scale);
            return Self {
                each: (first..).zip(widths.take(256)).collect(),
                default: descriptor.get::<f64>("MissingWidth").unwrap_or(0.0) * scale,
                vertical: -1.0,
            };
        }
        let name = font.get::<Name<'_>>("BaseFont");
        let (standard, default) = metrics::of(name.as_deref().unwrap_or_default());
        let widths = standard.into_iter().flatten();
        Self {
            each: (32..)
                .zip(widths.map(|width| f64::from(*width) * 0.001))
                .collect(),
            default,
            vertical: -1.0,
        }
    }

    /// Of the descendant of a composite font.
    pub(super) fn composite(font: &Dict<'_>) -> Self {
        let mut each = HashMap::new();
        let mut list = font.get::<Array<'_>>("W").unwrap_or_default().flex_iter();
        while each.len() < MAX_WIDTHS {
            if let Some((first, widths)) = list.next::<(u32, Array<'_>)>() {
                each.extend((first..).zip(widths.iter::<f64>().map(|width| width * 0.001)));
            } else if let Some((first, last, width)) = list.next::<(u32, u32, f64)>() {
                let run = (first..=last).take(MAX_WIDTHS);
                each.extend(run.map(|character| (character, width * 0.001)));
            } else {
                break;
            }
        }
        let vertical = font.get::<[f64; 2]>("DW2").map_or(-1_000.0, |[_, way]| way);
        Self {
            each,
            default: font.get::<f64>("DW").unwrap_or(1_000.0) * 0.001,
            vertical: vertical * 0.001,
        }
    }

    /// The width of a code of a simple font, or of a character of a composite one.
    pub(super) fn get(&self, code: u32) -> f64 {
        self.each.get(&code).copied().unwrap_or(self.default)
    }

    /// The way down to the next glyph of a font that is written from top to bottom.
    pub(super) fn vertical(&self) -> f64 {
        self.vertical
    }
}
