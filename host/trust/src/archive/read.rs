//! Reads archives that anyone may have made. Everything is refused that is not one of
//! the five files of a bundle, and every limit holds before the bytes beyond it are read.
//!
//! The `tar` crate finds the entries. It gives them raw here: by itself it would follow GNU long names and read PAX headers of
//! any size. What it is tolerant of beyond that, such as sizes in base 256, is refused for each header.

use hydrant_base::excerpt;
use std::collections::BTreeMap;
use std::io::{self, Read};

use tar::{Archive, Entry, Header};
use zstd::stream::read::Decoder;

use super::pax::Attributes;
use super::{ArchiveError, MAX_UNPACKED_BYTES, Package, PackageFile, WINDOW_LOG};
use crate::limits::{MAX_ARCHIVE_BYTES, MAX_JSON_BYTES};

/// The length of an end block, of which there are two.
const END_BLOCK: u64 = 512;

/// How much is read at a time of the zeros at the end.
const CHUNK: usize = 64 * 1024;

/// Reads the files of an archive; nothing is believed and nothing is written.
///
/// # Errors
/// [`ArchiveError`] names the entry and what is wrong with it.
pub fn read_archive(archive: &[u8]) -> Result<Package, ArchiveError> {
    within("artifact", bytes(archive.len()), MAX_ARCHIVE_BYTES)?;
    let mut tar = Archive::new(Unpacked::open(archive)?);
    let files = read_files(&mut tar)?;
    tar.into_inner().finish()?;
    Package::new(files)
}

/// The bodies of all entries up to the first end block.
fn read_files(
    tar: &mut Archive<Unpacked<'_>>,
) -> Result<BTreeMap<PackageFile, Vec<u8>>, ArchiveError> {
    let mut files = BTreeMap::new();
    let mut pax: Option<Attributes> = None;
    for entry in tar.entries().map_err(unreadable)?.raw(true) {
        let mut entry = entry.map_err(unreadable)?;
        check_form(entry.header())?;
        let kind = type_flag(entry.header());
        if matches!(kind, b'x' | b'g') {
            if pax.is_some() {
                return Err(PAX_WITHOUT_ENTRY);
            }
            within("artifact PAX header", entry.size(), MAX_JSON_BYTES)?;
            let attributes = Attributes::parse(&body(&mut entry)?)?;
            if kind == b'x' {
                pax = Some(attributes);
            } else if attributes != Attributes::default() {
                let reason = "a global PAX header says what one entry is";
                return Err(ArchiveError::Header(reason));
            }
            continue;
        }
        let file = check_entry(&entry, pax.take().unwrap_or_default())?;
        if files.contains_key(&file) {
            return Err(ArchiveError::Duplicate(file));
        }
        files.insert(file, body(&mut entry)?);
    }
    match pax {
        Some(_) => Err(PAX_WITHOUT_ENTRY),
        None => Ok(files),
    }
}

const PAX_WITHOUT_ENTRY: ArchiveError = ArchiveError::Header("a PAX header has no entry");

/// Refuses numbers that the `tar` crate accepts and that other programs may refuse, or read as other numbers.
fn check_form(header: &Header) -> Result<(), ArchiveError> {
    let fields = header.as_old();
    let reason = if !is_octal(&fields.cksum) {
        CHECKSUM
    } else if !is_octal(&fields.size) {
        SIZE
    } else if header.as_bytes().get(257..263) == Some(b"ustar\0") && header.as_ustar().is_none() {
        // Readers differ in whether such a header has a prefix for the name.
        "the version of ustar is unknown"
    } else {
        return Ok(());
    };
    Err(ArchiveError::Header(reason))
}

const CHECKSUM: &str = "the checksum does not match";
/// Base-256 and negative sizes are no octal digits; nothing that is within the limits needs them.
const SIZE: &str = "the size is not an octal number";

/// An octal number, with spaces before it and spaces or NULs after it.
fn is_octal(field: &[u8]) -> bool {
    let number = field.trim_ascii_start();
    let is_digit = |byte: &&u8| matches!(byte, b'0'..=b'7');
    let digits = number.iter().take_while(is_digit).count();
    let mut padding = number.iter().skip(digits);
    digits > 0 && padding.all(|byte| matches!(byte, 0 | b' '))
}

/// The type flag as it stands in the header; the `tar` crate does not tell all flags apart.
fn type_flag(header: &Header) -> u8 {
    let [flag] = header.as_old().linkflag;
    flag
}

/// Checks what a header and the PAX records before it say of an entry: the file that it is, within its limit.
fn check_entry(entry: &Entry<'_, impl Read>, pax: Attributes) -> Result<PackageFile, ArchiveError> {
    let own_name = entry.header().path_bytes();
    let name: &[u8] = match pax.name.as_slice() {
        [] => &own_name,
        name => name,
    };
    let unsupported = |kind: String| ArchiveError::EntryType {
        name: printed(name),
        kind,
    };
    let kind = type_flag(entry.header());
    // GNU long names and link names are no entries of their own, so their names say nothing.
    if matches!(kind, b'L' | b'K') {
        return Err(unsupported("GNU extension".to_owned()));
    }
    let file = file_of(name)?;
    if !matches!(kind, 0 | b'0') {
        return Err(unsupported(format!("typeflag {}", kind.escape_ascii())));
    }
    if let Some(key) = pax.other_type {
        return Err(unsupported(key));
    }
    let size = pax.size.unwrap_or(entry.size());
    within(&format!("artifact entry {file}"), size, file.maximum())?;
    if size != entry.size() {
        return Err(ArchiveError::Header("a PAX size is not that of the entry"));
    }
    Ok(file)
}

/// The body of an entry, whose size is within its limit. The buffer grows with what is there, not with what a header claims.
fn body(entry: &mut Entry<'_, impl Read>) -> Result<Vec<u8>, ArchiveError> {
    let mut body = Vec::new();
    entry.read_to_end(&mut body).map_err(unreadable)?;
    Ok(body)
}

/// The file that an entry name stands for.
fn file_of(name: &[u8]) -> Result<PackageFile, ArchiveError> {
    let mut plain = name;
    while let Some(rest) = plain.strip_prefix(b"./") {
        plain = rest;
    }
    if plain.is_empty() || plain.iter().any(|byte| matches!(byte, b'/' | b'\\')) {
        return Err(ArchiveError::Path(printed(name)));
    }
    PackageFile::named(plain).ok_or_else(|| ArchiveError::Unexpected(printed(plain)))
}

/// A name for a message: escaped, and cut where it is long.
fn printed(name: &[u8]) -> String {
    excerpt(&String::from_utf8_lossy(name))
}

fn within(what: &str, size: u64, maximum: u64) -> Result<(), ArchiveError> {
    if size > maximum {
        return Err(ArchiveError::TooLarge {
            what: what.to_owned(),
            size,
            maximum,
        });
    }
    Ok(())
}

fn bytes(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// An error of [`Unpacked`], or what the `tar` crate says of a header.
fn unreadable(error: io::Error) -> ArchiveError {
    error.downcast().unwrap_or_else(|error| {
        // `… when getting size for NAME`: a field before it has too few bytes to say that.
        let message = error.to_string();
        let field = message.split_once(" when getting ");
        let is_size = message == "size overflow"
            || field.is_some_and(|(_, field)| field.starts_with("size for "));
        ArchiveError::Header(if is_size { SIZE } else { CHECKSUM })
    })
}

/// The tar stream of an archive, which counts the bytes that it decompresses. Its errors are [`ArchiveError`]s. Its end is one of
/// them, [`ArchiveError::Truncated`]: in a whole archive the end blocks come first.
struct Unpacked<'a> {
    decoder: Decoder<'static, &'a [u8]>,
    count: u64,
}

impl<'a> Unpacked<'a> {
    fn open(archive: &'a [u8]) -> Result<Self, ArchiveError> {
        let mut decoder = Decoder::with_buffer(archive)
            .map_err(ArchiveError::NotZstd)?
            // What follows the frame is checked in `finish`; a second frame is no part of an archive.
            .single_frame();
        decoder
            .window_log_max(WINDOW_LOG)
            .map_err(ArchiveError::NotZstd)?;
        Ok(Self { decoder, count: 0 })
    }

    fn unpack(&mut self, buffer: &mut [u8]) -> Result<usize, ArchiveError> {
        let read = self.decoder.read(buffer).map_err(|error| {
            if error.kind() == io::ErrorKind::UnexpectedEof {
                ArchiveError::Truncated
            } else {
                ArchiveError::NotZstd(error)
            }
        })?;
        self.count = self.count.saturating_add(bytes(read));
        if self.count > MAX_UNPACKED_BYTES {
            return Err(ArchiveError::Unpacked(MAX_UNPACKED_BYTES));
        }
        Ok(read)
    }

    /// Behind the first end block come zeros only, at least a second one, and nothing follows the frame.
    fn finish(mut self) -> Result<(), ArchiveError> {
        let first = self.count;
        let mut chunk = vec![0; CHUNK];
        loop {
            let read = self.unpack(&mut chunk)?;
            if chunk.iter().take(read).any(|byte| *byte != 0) {
                return Err(ArchiveError::Trailing);
            }
            if read == 0 {
                break;
            }
        }
        if self.count.saturating_sub(first) < END_BLOCK {
            return Err(ArchiveError::Truncated);
        }
        if self.decoder.finish().is_empty() {
            Ok(())
        } else {
            Err(ArchiveError::Trailing)
        }
    }
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.unpack(buffer) {
            Ok(0) if !buffer.is_empty() => Err(io::Error::other(ArchiveError::Truncated)),
            read => read.map_err(io::Error::other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_octal;

    #[test]
    fn numbers_are_octal_digits_and_nothing_else() {
        for good in [b"0000017\0".as_slice(), b"  17 \0\0\0", b"777777777777"] {
            assert!(is_octal(good), "{}", good.escape_ascii());
        }
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
            assert!(!is_octal(bad), "{}", bad.escape_ascii());
        }
    }
}
