//! `LZWDecode`: codes of 9 to 12 bits, the most significant bit first.

use super::{Bounded, Failure};

const CLEAR: usize = 256;
const END: usize = 257;
const FIRST: usize = 258;
const MOST: usize = 4_096;

/// Decodes; `early` is whether the length of codes grows one code early.
pub(super) fn decode(bytes: &[u8], early: bool, limit: usize) -> Result<Vec<u8>, Failure> {
    let mut output = Bounded::new(limit);
    // Where in the output the sequence of each code from 258 stands.
    let mut table: Vec<(usize, usize)> = Vec::with_capacity(MOST);
    let mut previous: Option<(usize, usize)> = None;
    let mut bits = Bits {
        bytes,
        held: 0,
        count: 0,
    };
    let early = usize::from(early);
    loop {
        let next = FIRST.saturating_add(table.len()).saturating_add(early);
        let width = match next {
            ..=511 => 9,
            512..=1_023 => 10,
            1_024..=2_047 => 11,
            _ => 12,
        };
        let Some(code) = bits.take(width) else { break };
        if code == END {
            break;
        }
        if code == CLEAR {
            table.clear();
            previous = None;
            continue;
        }
        let begin = output.bytes.len();
        if let Ok(byte) = u8::try_from(code) {
            output.extend(&[byte])?;
        } else if let Some(&(at, length)) =
            code.checked_sub(FIRST).and_then(|index| table.get(index))
        {
            repeat(&mut output, at, length)?;
        } else {
            // The sequence that is just being made: the previous one and its first byte.
            let (Some((at, length)), true) = (previous, code == FIRST.saturating_add(table.len()))
            else {
                break;
            };
            repeat(&mut output, at, length)?;
            repeat(&mut output, at, 1)?;
        }
        if let Some((at, length)) = previous
            && FIRST.saturating_add(table.len()) < MOST
        {
            // The previous sequence and the first byte behind it, which stand next to each other in the output.
            table.push((at, length.saturating_add(1)));
        }
        previous = Some((begin, output.bytes.len().saturating_sub(begin)));
    }
    Ok(output.bytes)
}

fn repeat(output: &mut Bounded, at: usize, length: usize) -> Result<(), Failure> {
    if length > output.limit.saturating_sub(output.bytes.len()) {
        return Err(Failure::TooLarge);
    }
    let end = at.saturating_add(length);
    if end <= output.bytes.len() {
        output.bytes.extend_from_within(at..end);
    }
    Ok(())
}

struct Bits<'a> {
    bytes: &'a [u8],
    held: u32,
    count: u32,
}

impl Bits<'_> {
    fn take(&mut self, width: u32) -> Option<usize> {
        while self.count < width {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            self.held = self.held << 8 | u32::from(byte);
            self.count = self.count.saturating_add(8);
        }
        self.count = self.count.saturating_sub(width);
        let code = self.held >> self.count & ((1 << width) - 1);
        usize::try_from(code).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_specification_is_decoded() {
        // ISO 32000-2, 7.4.4.2, example 1
        let bytes = [0x80, 0x0B, 0x60, 0x50, 0x22, 0x0C, 0x0C, 0x85, 0x01];
        let expected: &[u8] = &[45, 45, 45, 45, 45, 65, 45, 45, 45, 66];
        assert_eq!(decode(&bytes, true, 10).as_deref(), Ok(expected));
        assert_eq!(decode(&bytes, true, 9), Err(Failure::TooLarge));
    }

    #[test]
    fn any_codes_end() {
        for bytes in [&b""[..], b"\xFF\xFF\xFF", &[0x80; 999], &[0x81; 99_999]] {
            assert!(decode(bytes, true, 1_000_000).is_ok());
        }
    }
}
