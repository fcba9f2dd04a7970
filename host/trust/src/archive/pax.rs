//! PAX headers: `<length> <key>=<value>` lines that change what the next header says, or all further ones.
//!
//! Name and size may change, and are then checked like those of a plain header. What would make a regular
//! file into something else is remembered and refused where it is applied. Times, owners,
//! comments and the like are of no use here.

use super::ArchiveError;
use hydrant_base::excerpt;

/// What PAX records say of an entry. A value that is present and empty takes an earlier one back.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Attributes {
    name: Option<Vec<u8>>,
    size: Option<Option<u64>>,
    other_type: Option<String>,
}

impl Attributes {
    /// Reads the body of a PAX header.
    pub(super) fn parse(body: &[u8]) -> Result<Self, ArchiveError> {
        let mut attributes = Self::default();
        let mut rest = body;
        while !rest.is_empty() {
            let (key, value, behind) =
                record(rest).ok_or(ArchiveError::Header("a PAX record is malformed"))?;
            attributes.set(key, value)?;
            rest = behind;
        }
        Ok(attributes)
    }

    fn set(&mut self, key: &[u8], value: &[u8]) -> Result<(), ArchiveError> {
        match key {
            b"path" => self.name = Some(value.to_vec()),
            b"size" if value.is_empty() => self.size = Some(None),
            b"size" => {
                let size = decimal(value)
                    .ok_or(ArchiveError::Header("a PAX size is not a decimal number"))?;
                self.size = Some(Some(size));
            }
            // A link target, or the marks of a sparse file: the body would not be the file.
            _ if is_type_change(key) => {
                self.other_type = Some(excerpt(&String::from_utf8_lossy(key)));
            }
            _ => {}
        }
        Ok(())
    }

    /// These attributes, with those of `later` in place of what both have.
    pub(super) fn overridden_by(self, later: Self) -> Self {
        Self {
            name: later.name.or(self.name),
            size: later.size.or(self.size),
            other_type: later.other_type.or(self.other_type),
        }
    }

    /// The name, if the records give one.
    pub(super) fn name(&self) -> Option<&[u8]> {
        self.name.as_deref().filter(|name| !name.is_empty())
    }

    /// The size, if the records give one.
    pub(super) fn size(&self) -> Option<u64> {
        self.size.flatten()
    }

    /// The key that makes the entry something other than a regular file.
    pub(super) fn other_type(&self) -> Option<&str> {
        self.other_type.as_deref()
    }
}

fn is_type_change(key: &[u8]) -> bool {
    key == b"linkpath"
        || key == b"SCHILY.realsize"
        || key == b"SCHILY.filetype"
        || key.starts_with(b"GNU.sparse.")
}

/// The first record: key, value, and what is behind it. Its length counts the whole line.
fn record(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let blank = text.iter().position(|byte| *byte == b' ')?;
    let length = usize::try_from(decimal(text.get(..blank)?)?).ok()?;
    let (line, behind) = text.split_at_checked(length)?;
    let line = line.get(blank.checked_add(1)?..)?.strip_suffix(b"\n")?;
    let equals = line.iter().position(|byte| *byte == b'=')?;
    let (key, value) = line.split_at_checked(equals)?;
    Some((key, value.strip_prefix(b"=")?, behind))
}

fn decimal(digits: &[u8]) -> Option<u64> {
    let text = str::from_utf8(digits).ok()?;
    // `parse` alone would take a plus sign.
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ta_15_records_are_read_one_after_the_other() {
        let attributes =
            Attributes::parse(b"22 path=manifest.json\n12 size=305\n11 mtime=1\n").unwrap();
        assert_eq!(attributes.name(), Some(b"manifest.json".as_slice()));
        assert_eq!(attributes.size(), Some(305));
        assert_eq!(attributes.other_type(), None);
    }

    #[test]
    fn ta_15_an_empty_value_takes_an_earlier_one_back() {
        let global = Attributes::parse(b"9 path=x\n10 size=5\n").unwrap();
        assert_eq!(global.size(), Some(5));
        let both = global.overridden_by(Attributes::parse(b"8 path=\n8 size=\n").unwrap());
        assert_eq!((both.name(), both.size()), (None, None));
    }

    #[test]
    fn ta_15_a_malformed_record_is_refused() {
        for bad in [
            b"x".as_slice(),
            b"5 a=b",
            b"7 a=b\n",
            b"6 ab=c\n",
            b"0 a=b\n",
            b"2 a=b\n",
            b"-6 a=b\n",
            b"+6 a=b\n",
            b"6 abc\n",
            b" 6 a=b\n",
            b"99999999999999999999 a=b\n",
            b"11 size=-1\n",
            b"11 size=+1\n",
            b"12 size=0x1\n",
            b"29 size=18446744073709551616\n",
            b"\0\0\0\0",
        ] {
            let refused = Attributes::parse(bad);
            let text = bad.escape_ascii();
            assert!(matches!(refused, Err(ArchiveError::Header(_))), "{text}");
        }
    }
}
