//! The predefined encodings of composite fonts for Chinese, Japanese and Korean (ISO 32000-2, table 116).
//!
//! The maps themselves are large, and lead to characters of collections that only the fonts need. For text it is enough to know
//! which bytes make a code, and in which encoding the code is.

use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GB18030, SHIFT_JIS, UTF_16BE};
use hayro_cmap::CMapName;

/// A map that only divides a string into codes: the ranges of one byte, of two and of four.
macro_rules! divide {
    ($writing:literal, $($count:literal $ranges:literal)*) => {
        concat!("/WMode ", $writing, " def ", $($count, " begincidrange ", $ranges, " endcidrange "),*)
            .as_bytes()
    };
}

/// The horizontal and the vertical form of a map.
macro_rules! both {
    ($($ranges:tt)*) => {
        [divide!("0", $($ranges)*), divide!("1", $($ranges)*)]
    };
}

const UTF_16: [&[u8]; 2] = both!(2 "<0000> <D7FF> 0 <E000> <FFFF> 0" 1 "<D800DC00> <DBFFDFFF> 0");
const SHIFTED: [&[u8]; 2] =
    both!(3 "<00> <80> 0 <A0> <DF> 0 <FD> <FF> 0" 2 "<8140> <9FFC> 0 <E040> <FCFC> 0");
const EXTENDED: [&[u8]; 2] = both!(1 "<00> <80> 0" 1 "<8140> <FEFE> 0");
const JIS: [&[u8]; 2] = both!(1 "<2121> <7E7E> 0");

/// Returns the map of a predefined encoding.
pub(super) fn map(name: CMapName<'_>) -> Option<&'static [u8]> {
    let name = name.to_bytes();
    let [horizontal, vertical] = match name {
        b"H" | b"V" => JIS,
        name => match encoding(name)? {
            encoding if encoding == UTF_16BE => UTF_16,
            encoding if encoding == SHIFT_JIS => SHIFTED,
            _ => EXTENDED,
        },
    };
    let is_vertical = name == b"V" || name.ends_with(b"-V");
    Some(if is_vertical { vertical } else { horizontal })
}

/// Returns the encoding that a predefined map is for.
pub(super) fn encoding(name: &[u8]) -> Option<&'static Encoding> {
    let has = |part: &[u8]| name.windows(part.len()).any(|window| window == part);
    if name.starts_with(b"Uni") && (has(b"UCS2") || has(b"UTF16")) {
        Some(UTF_16BE)
    } else if has(b"RKSJ") {
        Some(SHIFT_JIS)
    } else if matches!(name, b"EUC-H" | b"EUC-V" | b"H" | b"V") {
        Some(EUC_JP)
    } else if name.starts_with(b"GB") {
        Some(GB18030)
    } else if name.starts_with(b"B5") || name.starts_with(b"ETen") || name.starts_with(b"HKscs") {
        Some(BIG5)
    } else if name.starts_with(b"KSC") {
        Some(EUC_KR)
    } else {
        None
    }
}

/// Returns the character of a code.
pub(super) fn character(encoding: &'static Encoding, code: u32) -> Option<char> {
    let bytes = code.to_be_bytes();
    if encoding == UTF_16BE {
        let [a, b, c, d] = bytes;
        let units = [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])];
        let units = units.into_iter().skip_while(|unit| *unit == 0);
        return char::decode_utf16(units).next()?.ok();
    }
    // The maps `H` and `V` are in JIS, which is EUC without the high bits.
    let bytes = match code {
        0x2121..=0x7E7E if encoding == EUC_JP => (code | 0x8080).to_be_bytes(),
        _ => bytes,
    };
    let begin = bytes.iter().position(|byte| *byte != 0)?;
    let (text, malformed) = encoding.decode_without_bom_handling(bytes.get(begin..)?);
    text.chars().next().filter(|_| !malformed)
}

/// Returns the width of a character, in units of the font size: the font's own widths are those of a collection.
pub(super) fn width(text: &str) -> f64 {
    if text.is_ascii() { 0.5 } else { 1.0 }
}
