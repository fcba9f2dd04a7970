//! How wide glyphs are, in units of the font size (ISO 32000-2, 9.6.2.1 and 9.7.4.3).

use super::super::document::Document;
use super::super::object::{Dict, Object};
use super::metrics;

/// Glyphs of one composite font whose widths are kept at most.
const MAX_GLYPHS: usize = 100_000;

/// What keeping a width costs, in bytes of objects.
const COST: usize = 32;

/// The widths of a font.
#[derive(Debug)]
pub(super) struct Widths {
    /// Runs of codes with one width for each, or one for all, by their first code.
    runs: Vec<Run>,
    default: f64,
    /// The widths of a standard font, of which the document says none.
    standard: Option<&'static [u16; 95]>,
}

#[derive(Debug)]
struct Run {
    first: u32,
    last: u32,
    /// One for each code, or a single one.
    widths: Box<[f64]>,
}

impl Default for Widths {
    fn default() -> Self {
        Self {
            runs: Vec::new(),
            default: 1.0,
            standard: None,
        }
    }
}

impl Widths {
    /// Of a simple font.
    pub(super) fn simple(document: &Document<'_>, font: &Dict) -> Self {
        let scale = if font.is("Subtype", "Type3") {
            let matrix = document.get(font, "FontMatrix");
            let scale = matrix.array().and_then(|matrix| matrix.first()?.number());
            scale.map_or(0.001, f64::abs)
        } else {
            0.001
        };
        let descriptor = document.get(font, "FontDescriptor");
        let missing = descriptor
            .dict()
            .and_then(|dict| dict.get("MissingWidth")?.number());
        let widths = document.get(font, "Widths");
        let Some(widths) = widths.array() else {
            let name = font
                .get("BaseFont")
                .and_then(Object::name)
                .unwrap_or_default();
            let (standard, default) = metrics::of(name);
            return Self {
                runs: Vec::new(),
                default,
                standard,
            };
        };
        let first = document.get(font, "FirstChar").integer();
        let widths: Box<[f64]> = widths
            .iter()
            .take(256)
            .map(|width| document.resolve(width).number().unwrap_or(0.0) * scale)
            .collect();
        let first = first
            .and_then(|first| u32::try_from(first).ok())
            .unwrap_or(0);
        let run = Run {
            first,
            last: first.saturating_add(u32::try_from(widths.len()).unwrap_or(0)),
            widths,
        };
        Self {
            runs: vec![run],
            default: missing.unwrap_or(0.0) * scale,
            standard: None,
        }
    }

    /// Of the descendant of a composite font.
    pub(super) fn composite(document: &Document<'_>, font: &Dict) -> Self {
        let default = document.get(font, "DW").number().unwrap_or(1_000.0) * 0.001;
        let list = document.get(font, "W");
        let mut rest = list.array().unwrap_or_default();
        let mut runs = Vec::new();
        let mut left = MAX_GLYPHS;
        let code = |object: &Object| u32::try_from(object.integer()?).ok();
        while let [first, second, after @ ..] = rest {
            let Some(first) = code(first) else { break };
            let second = document.resolve(second);
            let run = if let Some(each) = second.array() {
                rest = after;
                let widths: Box<[f64]> = each
                    .iter()
                    .map(|width| width.number().unwrap_or(0.0) * 0.001)
                    .collect();
                let count = u32::try_from(widths.len()).unwrap_or(0);
                Run {
                    first,
                    last: first.saturating_add(count.saturating_sub(1)),
                    widths,
                }
            } else {
                let [width, after @ ..] = after else { break };
                rest = after;
                let Some(last) = code(&second) else { break };
                let width = document.resolve(width).number().unwrap_or(0.0) * 0.001;
                Run {
                    first,
                    last,
                    widths: [width].into(),
                }
            };
            let Some(remaining) = left.checked_sub(run.widths.len().max(1)) else {
                break;
            };
            left = remaining;
            // Many fonts may share the array.
            document.count_read(run.widths.len().saturating_mul(COST));
            if document.is_exceeded() {
                break;
            }
            runs.push(run);
        }
        runs.sort_by_key(|run| run.first);
        Self {
            runs,
            default,
            standard: None,
        }
    }

    /// The width of a code of a simple font, or of a glyph of a composite one.
    pub(super) fn get(&self, code: u32) -> f64 {
        if let Some(standard) = self.standard {
            let index = code
                .checked_sub(32)
                .and_then(|index| usize::try_from(index).ok());
            let width = index.and_then(|index| standard.get(index));
            return width.map_or(self.default, |width| f64::from(*width) * 0.001);
        }
        let behind = self.runs.partition_point(|run| run.first <= code);
        let run = behind.checked_sub(1).and_then(|index| self.runs.get(index));
        run.and_then(|run| run.get(code)).unwrap_or(self.default)
    }

    pub(super) fn default_width(&self) -> f64 {
        self.default
    }
}

impl Run {
    fn get(&self, code: u32) -> Option<f64> {
        if code > self.last {
            return None;
        }
        let index = usize::try_from(code.checked_sub(self.first)?).ok()?;
        match &*self.widths {
            [single] => Some(*single),
            widths => widths.get(index).copied(),
        }
    }
}
