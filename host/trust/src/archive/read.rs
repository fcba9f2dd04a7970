//! Reads archives that anyone may have made. Everything is refused that is not one of
//! the five files of a bundle, and every limit holds before the bytes beyond it are read.

use hydrant_base::excerpt;
use std::collections::BTreeMap;
use std::io::{self, Read};

use zstd::stream::read::Decoder;

use super::header::{BLOCK, BLOCK_BYTES, Header};
use super::pax::Attributes;
use super::{ArchiveError, MAX_UNPACKED_BYTES, Package, PackageFile, WINDOW_LOG};
use crate::limits::{MAX_ARCHIVE_BYTES, MAX_JSON_BYTES};

/// How much is read at a time of the zeros at the end.
const CHUNK: usize = 64 * 1024;

/// Reads the files of an archive; nothing is believed and nothing is written.
///
/// # Errors
/// [`ArchiveError`] names the entry and what is wrong with it.
pub fn read_archive(archive: &[u8]) -> Result<Package, ArchiveError> {
    within("artifact", bytes(archive.len()), MAX_ARCHIVE_BYTES)?;
    let mut stream = Stream::open(archive)?;
    let mut files = BTreeMap::new();
    let mut global = Attributes::default();
    while let Some(entry) = stream.next(&mut global)? {
        if files.contains_key(&entry.file) {
            return Err(ArchiveError::Duplicate(entry.file));
        }
        let what = format!("artifact entry {}", entry.file);
        within(&what, entry.size, entry.file.maximum())?;
        files.insert(entry.file, stream.body(entry.size)?);
    }
    stream.finish()?;
    Package::new(files)
}

/// An entry that may be read.
struct Entry {
    file: PackageFile,
    size: u64,
}

/// The tar stream of an archive, with all that was decompressed of it counted.
struct Stream<'a> {
    decoder: Decoder<'static, &'a [u8]>,
    unpacked: u64,
}

impl<'a> Stream<'a> {
    fn open(archive: &'a [u8]) -> Result<Self, ArchiveError> {
        let mut decoder = Decoder::with_buffer(archive)
            .map_err(ArchiveError::NotZstd)?
            // What follows the frame is checked in `finish`; a second frame is no part of an archive.
            .single_frame();
        decoder
            .window_log_max(WINDOW_LOG)
            .map_err(ArchiveError::NotZstd)?;
        Ok(Self {
            decoder,
            unpacked: 0,
        })
    }

    /// The next entry, or none at the end blocks. PAX headers before it are applied to it.
    fn next(&mut self, global: &mut Attributes) -> Result<Option<Entry>, ArchiveError> {
        let mut local = None;
        loop {
            let block = self.block()?;
            if is_zero(&block) {
                if local.is_some() {
                    return Err(ArchiveError::Header("a PAX header has no entry"));
                }
                return self.end().map(|()| None);
            }
            let header = Header::decode(&block)?;
            match header.kind {
                b'x' | b'g' if local.is_some() => {
                    return Err(ArchiveError::Header("a PAX header has no entry"));
                }
                b'x' => local = Some(self.attributes(&header)?),
                b'g' => {
                    let later = self.attributes(&header)?;
                    *global = std::mem::take(global).overridden_by(later);
                }
                _ => {
                    let attributes = global.clone().overridden_by(local.unwrap_or_default());
                    return entry(&header, &attributes).map(Some);
                }
            }
        }
    }

    fn attributes(&mut self, header: &Header) -> Result<Attributes, ArchiveError> {
        within("artifact PAX header", header.size, MAX_JSON_BYTES)?;
        Attributes::parse(&self.body(header.size)?)
    }

    /// The body of an entry, whose size is within its limit, and the padding behind it.
    fn body(&mut self, size: u64) -> Result<Vec<u8>, ArchiveError> {
        let padded = size.next_multiple_of(BLOCK_BYTES);
        self.count(padded)?;
        // The buffer grows with what is there, not with what a header claims.
        let mut body = Vec::new();
        let read = self.decoder.by_ref().take(size).read_to_end(&mut body);
        if bytes(read.map_err(unreadable)?) != size {
            return Err(ArchiveError::Truncated);
        }
        let padding = usize::try_from(padded - size).unwrap_or_default();
        let mut block = [0; BLOCK];
        self.fill(block.get_mut(..padding).unwrap_or_default())?;
        Ok(body)
    }

    fn block(&mut self) -> Result<[u8; BLOCK], ArchiveError> {
        self.count(BLOCK_BYTES)?;
        let mut block = [0; BLOCK];
        self.fill(&mut block)?;
        Ok(block)
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), ArchiveError> {
        self.decoder.read_exact(buffer).map_err(unreadable)
    }

    /// The second end block, and then zeros only.
    fn end(&mut self) -> Result<(), ArchiveError> {
        if !is_zero(&self.block()?) {
            return Err(ArchiveError::Trailing);
        }
        let mut chunk = vec![0; CHUNK];
        loop {
            let read = self.decoder.read(&mut chunk).map_err(unreadable)?;
            if read == 0 {
                return Ok(());
            }
            self.count(bytes(read))?;
            if !is_zero(chunk.get(..read).unwrap_or_default()) {
                return Err(ArchiveError::Trailing);
            }
        }
    }

    /// Counts bytes before they are kept.
    fn count(&mut self, more: u64) -> Result<(), ArchiveError> {
        self.unpacked = self.unpacked.saturating_add(more);
        if self.unpacked > MAX_UNPACKED_BYTES {
            return Err(ArchiveError::Unpacked(MAX_UNPACKED_BYTES));
        }
        Ok(())
    }

    /// Nothing follows the frame.
    fn finish(self) -> Result<(), ArchiveError> {
        if self.decoder.finish().is_empty() {
            Ok(())
        } else {
            Err(ArchiveError::Trailing)
        }
    }
}

/// Checks what a header and the PAX records before it say of an entry.
fn entry(header: &Header, attributes: &Attributes) -> Result<Entry, ArchiveError> {
    let name = attributes.name().unwrap_or(&header.name);
    let unsupported = |kind: String| ArchiveError::EntryType {
        name: printed(name),
        kind,
    };
    // GNU long names and link names are no entries of their own, so their names say nothing.
    if matches!(header.kind, b'L' | b'K') {
        return Err(unsupported("GNU extension".to_owned()));
    }
    let file = file_of(name)?;
    if !matches!(header.kind, 0 | b'0') {
        let kind = header.kind.escape_ascii();
        return Err(unsupported(format!("typeflag {kind}")));
    }
    if let Some(key) = attributes.other_type() {
        return Err(unsupported(key.to_owned()));
    }
    Ok(Entry {
        file,
        size: attributes.size().unwrap_or(header.size),
    })
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

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

fn bytes(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

fn unreadable(error: io::Error) -> ArchiveError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ArchiveError::Truncated,
        _ => ArchiveError::NotZstd(error),
    }
}
