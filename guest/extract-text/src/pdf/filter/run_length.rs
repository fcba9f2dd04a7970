//! `RunLengthDecode`.

use super::{Bounded, Failure};

pub(super) fn decode(bytes: &[u8], limit: usize) -> Result<Vec<u8>, Failure> {
    let mut output = Bounded::new(limit);
    let mut rest = bytes;
    while let Some((&length, after)) = rest.split_first() {
        match length {
            128 => break,
            0..=127 => {
                let count = usize::from(length).saturating_add(1).min(after.len());
                let (literal, after) = after.split_at(count);
                output.extend(literal)?;
                rest = after;
            }
            129.. => {
                let Some((&byte, after)) = after.split_first() else {
                    break;
                };
                let count = 257_usize.saturating_sub(usize::from(length));
                output.extend([byte; 128].get(..count).unwrap_or_default())?;
                rest = after;
            }
        }
    }
    Ok(output.bytes)
}
