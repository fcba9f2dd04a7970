//! PAX headers: records that say something else of the next entry than its own header does.
//!
//! Another name is applied, and checked like that of a plain header. Another size, and whatever makes a regular file into
//! something else, is refused. Times, owners, comments and the like are of no use here.

use super::ArchiveError;
use hydrant_base::excerpt;
use tar::PaxExtensions;

/// What the records of one PAX header say of the entry behind it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Attributes {
    /// The name; empty if no record gives one.
    pub(super) name: Vec<u8>,
    /// The size, which must be that of the header.
    pub(super) size: Option<u64>,
    /// The key that makes the entry something other than a regular file.
    pub(super) other_type: Option<String>,
}

impl Attributes {
    /// Reads the body of a PAX header.
    pub(super) fn parse(body: &[u8]) -> Result<Self, ArchiveError> {
        let malformed = || ArchiveError::Header("a PAX record is malformed");
        // The `tar` crate stops at an empty line, where other readers go on, takes a sign before a length, and lets the last
        // record end anyhow.
        let lines = body
            .strip_suffix(b"\n")
            .map(|lines| lines.split(|byte| *byte == b'\n'));
        let whole = lines.is_some_and(|mut lines| {
            lines.all(|line| line.first().is_some_and(u8::is_ascii_digit))
        });
        if !whole && !body.is_empty() {
            return Err(malformed());
        }
        let mut attributes = Self::default();
        for record in PaxExtensions::new(body) {
            let record = record.map_err(|_| malformed())?;
            let (key, value) = (record.key_bytes(), record.value_bytes());
            match key {
                b"path" => attributes.name = value.to_vec(),
                b"size" => attributes.size = Some(decimal(value)?),
                // A link target, or the marks of a sparse file: the body would not be the file.
                _ if is_type_change(key) => {
                    attributes.other_type = Some(excerpt(&String::from_utf8_lossy(key)));
                }
                _ => {}
            }
        }
        Ok(attributes)
    }
}

fn is_type_change(key: &[u8]) -> bool {
    matches!(key, b"linkpath" | b"SCHILY.realsize" | b"SCHILY.filetype")
        || key.starts_with(b"GNU.sparse.")
}

fn decimal(digits: &[u8]) -> Result<u64, ArchiveError> {
    let text = str::from_utf8(digits).unwrap_or_default();
    // `parse` alone would take a plus sign.
    let number = text.parse().ok();
    number
        .filter(|_| digits.iter().all(u8::is_ascii_digit))
        .ok_or(ArchiveError::Header("a PAX size is not a decimal number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_one_after_the_other() {
        let attributes =
            Attributes::parse(b"22 path=manifest.json\n12 size=305\n11 mtime=1\n").unwrap();
        assert_eq!(attributes.name, b"manifest.json");
        assert_eq!(attributes.size, Some(305));
        assert_eq!(attributes.other_type, None);
    }

    #[test]
    fn a_malformed_record_is_refused() {
        for bad in [
            b"x".as_slice(),
            b"5 a=b",
            b"6 a=b",
            b"7 a=b\n",
            b"6 ab=c\n",
            b"0 a=b\n",
            b"2 a=b\n",
            b"-6 a=b\n",
            b"+6 a=b\n",
            b"+7 a=b\n",
            b"6 abc\n",
            b" 6 a=b\n",
            b"99999999999999999999 a=b\n",
            b"11 size=-1\n",
            b"11 size=+1\n",
            b"12 size=0x1\n",
            b"8 size=\n",
            b"29 size=18446744073709551616\n",
            b"\0\0\0\0",
            b"\n22 path=manifest.json\n",
            b"6 a=b\n\n22 path=manifest.json\n",
        ] {
            let refused = Attributes::parse(bad);
            let text = bad.escape_ascii();
            assert!(matches!(refused, Err(ArchiveError::Header(_))), "{text}");
        }
    }
}
