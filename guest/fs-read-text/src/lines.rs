//! Where lines begin and end in the bytes of a file.

use crate::encoding::{Bom, Encoding};

/// The bytes of some lines.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) begin: usize,
    /// Behind the line feed of the last one.
    pub(crate) end: usize,
    /// Lines of all the bytes.
    pub(crate) total: u32,
}

impl Lines {
    /// Finds the lines from `first` to `last`, from 1 and both included, as far as there are so many. The first line
    /// has the byte order mark.
    pub(crate) fn find(bytes: &[u8], bom: Bom, first: u32, last: u32) -> Self {
        let mut found = Self {
            begin: if first == 1 { 0 } else { bytes.len() },
            end: bytes.len(),
            total: 0,
        };
        let mut line_begin = bom.length;
        let content = bytes.get(bom.length..).unwrap_or_default();
        for end in line_ends(content, bom.encoding) {
            line_begin = bom.length.saturating_add(end);
            found.total = found.total.saturating_add(1);
            if found.total.saturating_add(1) == first {
                found.begin = line_begin;
            }
            if found.total == last {
                found.end = line_begin;
            }
        }
        // What follows the last line feed is a line too.
        if line_begin < bytes.len() {
            found.total = found.total.saturating_add(1);
        }
        found
    }
}

/// Where each line feed ends.
fn line_ends(content: &[u8], encoding: Option<Encoding>) -> Box<dyn Iterator<Item = usize> + '_> {
    let unit: [u8; 2] = match encoding {
        Some(Encoding::Utf16Le) => [b'\n', 0],
        Some(Encoding::Utf16Be) => [0, b'\n'],
        _ => {
            let feeds = content.iter().zip(1..);
            return Box::new(feeds.filter_map(|(byte, end)| (*byte == b'\n').then_some(end)));
        }
    };
    let (units, _) = content.as_chunks::<2>();
    let feeds = units.iter().zip((2..).step_by(2));
    Box::new(feeds.filter_map(move |(found, end)| (*found == unit).then_some(end)))
}
