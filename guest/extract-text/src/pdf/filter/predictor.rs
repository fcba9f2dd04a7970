//! Undoing predictors (ISO 32000-2, 7.4.4.4).

use super::super::object::Dict;

/// Bytes of a row at most.
const MAX_ROW: usize = 1 << 24;

/// The bytes before prediction. Parameters that make no sense leave them as they are.
pub(super) fn undo(bytes: Vec<u8>, parameters: Option<&Dict>) -> Vec<u8> {
    let number = |key, default| {
        let value = parameters.and_then(|parameters| parameters.get(key)?.integer());
        value
            .and_then(|value| usize::try_from(value).ok())
            .unwrap_or(default)
    };
    let predictor = number("Predictor", 1);
    let bits = number("BitsPerComponent", 8);
    let pixel_bits = number("Colors", 1).saturating_mul(bits);
    let row_bits = pixel_bits.saturating_mul(number("Columns", 1));
    let pixel = pixel_bits.div_ceil(8);
    let row = row_bits.div_ceil(8);
    if predictor < 2 || pixel == 0 || row == 0 || row > MAX_ROW {
        return bytes;
    }
    match predictor {
        2 if bits == 8 => undo_tiff(bytes, row, pixel),
        10.. => undo_png(&bytes, row, pixel),
        _ => bytes,
    }
}

fn undo_tiff(mut bytes: Vec<u8>, row: usize, pixel: usize) -> Vec<u8> {
    for row in bytes.chunks_mut(row) {
        for at in pixel..row.len() {
            let left = row
                .get(at.saturating_sub(pixel))
                .copied()
                .unwrap_or_default();
            if let Some(byte) = row.get_mut(at) {
                *byte = byte.wrapping_add(left);
            }
        }
    }
    bytes
}

fn undo_png(bytes: &[u8], row: usize, pixel: usize) -> Vec<u8> {
    let mut output: Vec<u8> = Vec::with_capacity(bytes.len());
    let mut above = vec![0_u8; row];
    let mut current = vec![0_u8; row];
    for encoded in bytes.chunks(row.saturating_add(1)) {
        let Some((&kind, encoded)) = encoded.split_first() else {
            break;
        };
        current.fill(0);
        for (at, byte) in encoded.iter().enumerate() {
            let before = at.checked_sub(pixel);
            let left: u8 = before
                .and_then(|at| current.get(at))
                .copied()
                .unwrap_or_default();
            let corner = before
                .and_then(|at| above.get(at))
                .copied()
                .unwrap_or_default();
            let up = above.get(at).copied().unwrap_or_default();
            let predicted = match kind {
                1 => left,
                2 => up,
                3 => left.midpoint(up),
                4 => paeth(left, up, corner),
                _ => 0,
            };
            if let Some(place) = current.get_mut(at) {
                *place = byte.wrapping_add(predicted);
            }
        }
        output.extend_from_slice(current.get(..encoded.len()).unwrap_or_default());
        std::mem::swap(&mut above, &mut current);
    }
    output
}

fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let (a, b, c) = (i16::from(left), i16::from(up), i16::from(corner));
    let distance = |x: i16| (a + b - c - x).abs();
    if distance(a) <= distance(b) && distance(a) <= distance(c) {
        left
    } else if distance(b) <= distance(c) {
        up
    } else {
        corner
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::object::Object;
    use super::*;

    #[test]
    fn rows_are_made_of_what_is_left_and_above() {
        let parameters = |predictor| {
            let mut dict = Dict::default();
            dict.insert((*b"Predictor").into(), Object::Integer(predictor));
            dict.insert((*b"Columns").into(), Object::Integer(3));
            dict
        };
        let png = parameters(15);
        let rows = [
            0, 1, 2, 3, 1, 1, 1, 1, 2, 1, 1, 1, 3, 1, 1, 1, 4, 1, 1, 1, 0, 9,
        ];
        let expected = [1, 2, 3, 1, 2, 3, 2, 3, 4, 2, 3, 4, 3, 4, 5, 9];
        assert_eq!(undo(rows.to_vec(), Some(&png)), expected);
        assert_eq!(
            undo(vec![1, 1, 1, 2, 1, 1], Some(&parameters(2))),
            [1, 2, 3, 2, 3, 4]
        );
        assert_eq!(undo(vec![1, 2], Some(&parameters(1))), [1, 2]);
    }
}
