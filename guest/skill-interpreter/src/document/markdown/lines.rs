//! From byte offsets to lines.

/// Where the lines of a text begin. Lines end with `\n` and are counted from 1.
#[derive(Debug)]
pub(crate) struct Lines<'t> {
    text: &'t str,
    /// The offset of each line's first byte, in rising order; the first is 0.
    starts: Vec<u32>,
}

impl<'t> Lines<'t> {
    /// Of a text of at most 4 GiB; a document has at most 1 MiB.
    pub(crate) fn new(text: &'t str) -> Self {
        let breaks = memchr::memchr_iter(b'\n', text.as_bytes());
        let after = breaks.map(|at| u32::try_from(at.saturating_add(1)).unwrap_or(u32::MAX));
        Self {
            text,
            starts: std::iter::once(0).chain(after).collect(),
        }
    }

    /// The line that the byte at `offset` stands on.
    pub(crate) fn number(&self, offset: usize) -> u32 {
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        let before = self.starts.partition_point(|start| *start <= offset);
        u32::try_from(before).unwrap_or(u32::MAX).max(1)
    }

    /// A line's text without its terminator; none before the first and after the last.
    pub(crate) fn get(&self, number: u32) -> Option<&'t str> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        let start = usize::try_from(*self.starts.get(index)?).ok()?;
        let next = self.starts.get(index.saturating_add(1));
        let end = match next {
            Some(next) => usize::try_from(next.checked_sub(1)?).ok()?,
            None => self.text.len(),
        };
        let line = self.text.get(start..end)?;
        Some(line.strip_suffix('\r').unwrap_or(line))
    }

    /// Returns the numbers of the lines that hold a text, in rising order.
    pub(crate) fn holding(&self, text: &str) -> Vec<u32> {
        let places = memchr::memmem::find_iter(self.text.as_bytes(), text);
        let mut numbers: Vec<u32> = places.map(|at| self.number(at)).collect();
        numbers.dedup();
        numbers
    }

    /// Returns the last line above one that is not blank, with its number.
    pub(crate) fn above(&self, number: u32) -> Option<(u32, &'t str)> {
        (1..number)
            .rev()
            .map_while(|number| Some((number, self.get(number)?)))
            .find(|(_, line)| !line.trim().is_empty())
    }

    /// How many there are; a text that ends with a line break has an empty last one.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.starts.len()).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_become_lines_counted_from_one() {
        let lines = Lines::new("ab\n\r\ncd");
        let numbers: Vec<u32> = (0..9).map(|offset| lines.number(offset)).collect();
        assert_eq!(numbers, [1, 1, 1, 2, 2, 3, 3, 3, 3]);
        let texts: Vec<Option<&str>> = (0..5).map(|number| lines.get(number)).collect();
        assert_eq!(texts, [None, Some("ab"), Some(""), Some("cd"), None]);
        assert_eq!(lines.count(), 3);
        assert_eq!(Lines::new("a\nb aa\n\nc a").holding("a"), [1, 2, 4]);
        assert_eq!(lines.above(3), Some((1, "ab")));
        assert_eq!(lines.above(1), None);
    }
}
