//! The 512-byte header of a tar entry (USTAR): written in one way, read without any tolerance that matters.

use super::{ArchiveError, PackageFile};

/// Headers, bodies and the end of a tar stream come in blocks of this many bytes.
pub(super) const BLOCK: usize = 512;

/// As [`BLOCK`].
pub(super) const BLOCK_BYTES: u64 = 512;

/// What comes before the checksum field; the field itself ends at [`CHECKSUM_END`].
const CHECKSUM: usize = 148;
const CHECKSUM_END: usize = 156;

/// The header of an entry that is written.
pub(super) fn encode(file: PackageFile, size: u64) -> [u8; BLOCK] {
    let mode = match file {
        PackageFile::Wasm => "0000755",
        _ => "0000644",
    };
    let mut block = [0; BLOCK];
    put(&mut block, 0, file.name());
    put(&mut block, 100, mode);
    put(&mut block, 108, "0000000"); // uid
    put(&mut block, 116, "0000000"); // gid
    put(&mut block, 124, &format!("{size:011o}"));
    put(&mut block, 136, "00000000000"); // mtime
    put(&mut block, 257, "ustar\0");
    put(&mut block, 263, "00");
    let sum = checksum(&block);
    put(&mut block, CHECKSUM, &format!("{sum:07o}"));
    block
}

fn put(block: &mut [u8; BLOCK], offset: usize, text: &str) {
    for (slot, byte) in block.iter_mut().skip(offset).zip(text.bytes()) {
        *slot = byte;
    }
}

/// The sum of all bytes, those of the checksum field taken as spaces.
pub(super) fn checksum(block: &[u8; BLOCK]) -> u64 {
    let bytes = block.iter().enumerate();
    bytes
        .map(|(index, byte)| match index {
            CHECKSUM..CHECKSUM_END => u64::from(b' '),
            _ => u64::from(*byte),
        })
        .sum()
}

/// What counts of a header that is read. Modes, owners and times of an archive are never used.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// The name, with `prefix` before it where the format has one.
    pub(super) name: Vec<u8>,
    /// Bytes of the body.
    pub(super) size: u64,
    /// The type flag.
    pub(super) kind: u8,
}

impl Header {
    /// Reads a block that is not all zeros.
    pub(super) fn decode(block: &[u8; BLOCK]) -> Result<Self, ArchiveError> {
        let sum = octal(&block[CHECKSUM..CHECKSUM_END]);
        if sum != Some(checksum(block)) {
            return Err(ArchiveError::Header("the checksum does not match"));
        }
        // Base-256 and negative sizes have the first bit set and are no octal digits; nothing that is
        // within the limits needs them.
        let size = octal(&block[124..136])
            .ok_or(ArchiveError::Header("the size is not an octal number"))?;
        let mut name = Vec::new();
        // Only POSIX archives have a prefix there; GNU ones keep times in its place.
        let prefix = text(&block[345..500]);
        if &block[257..263] == b"ustar\0" && !prefix.is_empty() {
            name.extend_from_slice(prefix);
            name.push(b'/');
        }
        name.extend_from_slice(text(&block[0..100]));
        Ok(Self {
            name,
            size,
            kind: block[156],
        })
    }
}

/// A field up to its first NUL.
fn text(field: &[u8]) -> &[u8] {
    field.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// An octal number, with spaces before it and spaces or NULs after it.
fn octal(field: &[u8]) -> Option<u64> {
    let digits = field.trim_ascii_start();
    let end = digits
        .iter()
        .position(|byte| !matches!(byte, b'0'..=b'7'))
        .unwrap_or(digits.len());
    let (digits, rest) = digits.split_at_checked(end)?;
    let padding = rest.iter().all(|byte| matches!(byte, 0 | b' '));
    if digits.is_empty() || !padding {
        return None;
    }
    // Twelve digits at most are 36 bits.
    digits.iter().try_fold(0_u64, |number, digit| {
        let digit = u64::from(digit.checked_sub(b'0')?);
        number.checked_mul(8)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ta_03_the_checksum_field_is_that_of_the_example() {
        let block = encode(PackageFile::Manifest, 305);
        assert_eq!(&block[148..156], b"0010367\0");
    }

    #[test]
    fn ta_03_every_field_is_where_it_belongs() {
        let block = encode(PackageFile::Wasm, 0o12345);
        let mut expected = Vec::new();
        let mut field = |bytes: &[u8], width: usize| {
            expected.extend_from_slice(bytes);
            expected.resize(expected.len() + width - bytes.len(), 0);
        };
        field(b"skill.wasm", 100);
        field(b"0000755", 8);
        field(b"0000000", 8);
        field(b"0000000", 8);
        field(b"00000012345", 12);
        field(b"00000000000", 12);
        field(&block[148..156], 8);
        field(b"", 1); // typeflag 0x00
        field(b"", 100); // linkname
        field(b"ustar\0", 6);
        field(b"00", 2);
        field(b"", 32 + 32 + 8 + 8 + 155 + 12);
        assert_eq!(block.as_slice(), expected);
        assert_eq!(block[155], 0);
    }

    #[test]
    fn ta_03_what_is_written_is_what_is_read() {
        for file in PackageFile::ALL {
            let header = Header::decode(&encode(file, 1_048_576)).unwrap();
            assert_eq!(header.name, file.name().as_bytes());
            assert_eq!((header.size, header.kind), (1_048_576, 0));
        }
    }

    #[test]
    fn ta_15_numbers_are_octal_digits_and_nothing_else() {
        assert_eq!(octal(b"0000017\0"), Some(15));
        assert_eq!(octal(b"  17 \0\0\0"), Some(15));
        assert_eq!(octal(b"777777777777"), Some(0o777_777_777_777));
        for bad in [
            b"\0\0\0\0\0\0\0\0".as_slice(),
            b"        ",
            b"-0000001",
            b"+0000001",
            b"00000018",
            b"1\x001\0\0\0\0\0",
            b"0x00001\0",
            b"\x80\0\0\0\0\0\0\x01",
            b"\xff\xff\xff\xff\xff\xff\xff\xff",
        ] {
            assert_eq!(octal(bad), None, "{}", bad.escape_ascii());
        }
    }
}
