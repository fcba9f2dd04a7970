//! Text strings (ISO 32000-2, 7.9.2.2): UTF-16 or UTF-8 with a byte order mark, else PDFDocEncoding.

use kit::charset::{Charset, End, Hint};

/// PDFDocEncoding from 0x18 to 0x1F and from 0x80 to 0xA0; elsewhere it is Latin-1 (annex D.3).
const LOW: &str = "˘ˇˆ˙˝˛˚˜";
const HIGH: &str = "•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž\u{FFFD}€";

/// The text of a string.
pub(super) fn text(string: &[u8]) -> String {
    let bom = [&b"\xFE\xFF"[..], b"\xFF\xFE", b"\xEF\xBB\xBF"];
    if bom.iter().any(|bom| string.starts_with(bom))
        && let Ok(charset) = Charset::detect(string, End::Whole, None, Hint::None)
    {
        return charset.decode(string, End::Whole).text.into_owned();
    }
    string.iter().map(|byte| character(*byte)).collect()
}

fn character(byte: u8) -> char {
    let of = |table: &str, first: u8| {
        let index = usize::from(byte.saturating_sub(first));
        table.chars().nth(index).unwrap_or('\u{FFFD}')
    };
    match byte {
        0x18..=0x1F => of(LOW, 0x18),
        0x80..=0xA0 => of(HIGH, 0x80),
        _ => char::from(byte),
    }
}
