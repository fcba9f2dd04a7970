//! `ASCIIHexDecode` and `ASCII85Decode`.

use super::super::lexer::digit;
use super::{Bounded, Failure};

pub(super) fn decode_hexadecimal(bytes: &[u8], limit: usize) -> Result<Vec<u8>, Failure> {
    let mut output = Bounded::new(limit);
    let mut high = None;
    for byte in bytes.iter().take_while(|byte| **byte != b'>') {
        match (digit(*byte), high) {
            (Some(value), None) => high = Some(value),
            (Some(value), Some(first)) => {
                output.extend(&[first << 4 | value])?;
                high = None;
            }
            (None, _) => {}
        }
    }
    if let Some(high) = high {
        output.extend(&[high << 4])?;
    }
    Ok(output.bytes)
}

pub(super) fn decode_85(bytes: &[u8], limit: usize) -> Result<Vec<u8>, Failure> {
    let bytes = bytes.strip_prefix(b"<~").unwrap_or(bytes);
    let mut output = Bounded::new(limit);
    let mut group = Vec::with_capacity(5);
    for byte in bytes.iter().take_while(|byte| **byte != b'~') {
        match byte {
            b'z' if group.is_empty() => output.extend(&[0; 4])?,
            b'!'..=b'u' => {
                group.push(byte.saturating_sub(b'!'));
                if group.len() == 5 {
                    output.extend(&value(&group).to_be_bytes())?;
                    group.clear();
                }
            }
            _ => {}
        }
    }
    if group.len() > 1 {
        let kept = group.len().saturating_sub(1);
        group.resize(5, 84);
        output.extend(value(&group).to_be_bytes().get(..kept).unwrap_or_default())?;
    }
    Ok(output.bytes)
}

/// Five digits to the base of 85; what is too large wraps.
fn value(group: &[u8]) -> u32 {
    group.iter().fold(0, |value: u32, digit| {
        value.wrapping_mul(85).wrapping_add(u32::from(*digit))
    })
}
