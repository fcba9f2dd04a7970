//! What a journal says: the mounts, the changes and how far they are, as JSON of a fixed version.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::look::Instance;
use super::{Digest, stage};
use hydrant_base::Hex;
use hydrant_policy::VirtualPath;

/// The version of the form below.
const VERSION: u32 = 1;

/// Where Linux says which boot this is.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// How far the changes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Phase {
    /// No target was touched: what was staged can be removed.
    Staging,
    /// All is staged and checked: what is not done yet can be done.
    Commit,
    /// One change could not be made: what was done is undone.
    Undo,
}

/// A journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    version: u32,
    pub(super) phase: Phase,
    pub(super) mounts: Vec<MountRecord>,
    /// The directories that are made, parents first.
    pub(super) made: Vec<MadeRecord>,
    pub(super) changes: Vec<ChangeRecord>,
}

/// The directory of a mount. The inode of a volume's root says little, and many devices have another number after the
/// next boot, so the time when the directory was made has to be the same, too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MountRecord {
    /// The real path, its bytes in hex.
    real: String,
    inode: u64,
    device: u64,
    /// Which boot the device's number is of, where the system tells it.
    boot: Option<String>,
    /// When the directory was made, in seconds and nanoseconds, where the file system knows it.
    born: Option<(u64, u32)>,
}

/// A directory that was missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MadeRecord {
    /// Which of the mounts.
    pub(super) mount: usize,
    /// Below the mount.
    pub(super) path: String,
}

/// A change: a target, and the staged file beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangeRecord {
    /// Which of the mounts.
    pub(super) mount: usize,
    /// The directory below the mount.
    pub(super) parent: String,
    pub(super) name: String,
    /// The name of the staged file, and later of what was replaced.
    pub(super) staged: String,
    /// What the target holds; none: nothing of that name.
    #[serde(default, with = "hex_digest")]
    pub(super) old: Option<Digest>,
    /// What it is to hold; none: the file is deleted.
    #[serde(default, with = "hex_digest")]
    pub(super) new: Option<Digest>,
    /// The inode of the staged file, once there is one.
    pub(super) inode: Option<u64>,
    /// The very file that is deleted, as it was when the changes were begun.
    pub(super) deleted: Option<Instance>,
}

impl Record {
    /// A journal of changes that are about to begin.
    pub(super) fn new(changes: Vec<ChangeRecord>) -> Record {
        Record {
            version: VERSION,
            phase: Phase::Staging,
            mounts: Vec::new(),
            made: Vec::new(),
            changes,
        }
    }

    /// Reads what [`Record::to_bytes`] wrote; none if it is damaged or of another version.
    pub(super) fn parse(bytes: &[u8]) -> Option<Record> {
        let record: Record = serde_json::from_slice(bytes).ok()?;
        let is_path = |path: &str| VirtualPath::parse(&format!("/{path}")).is_ok();
        let mounts = record.mounts.len();
        let valid = record.version == VERSION
            && record.mounts.iter().all(|mount| mount.real().is_some())
            && record
                .made
                .iter()
                .all(|made| made.mount < mounts && !made.path.is_empty() && is_path(&made.path))
            && record.changes.iter().all(|change| {
                change.mount < mounts
                    && is_path(&change.parent)
                    && !change.name.is_empty()
                    && !change.name.contains('/')
                    && is_path(&change.name)
                    && stage::is_name(&change.staged)
            });
        valid.then_some(record)
    }

    /// The journal as it is stored.
    pub(super) fn to_bytes(&self) -> Option<Vec<u8>> {
        serde_json::to_vec(self).ok()
    }
}

impl MountRecord {
    /// The directory of this real path.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub(super) fn of(real: &Path, directory: impl AsFd) -> Result<MountRecord, Errno> {
        let stat = rustix::fs::fstat(&directory)?;
        let born = File::from(
            directory
                .as_fd()
                .try_clone_to_owned()
                .map_err(|_| Errno::IO)?,
        )
        .metadata()
        .and_then(|metadata| metadata.created())
        .ok()
        .and_then(|born| born.duration_since(UNIX_EPOCH).ok());
        let boot = fs::read_to_string(BOOT).ok();
        #[allow(
            clippy::useless_conversion,
            clippy::unnecessary_fallible_conversions,
            reason = "the widths differ between systems"
        )]
        let device = u64::try_from(stat.st_dev).unwrap_or_default();
        Ok(MountRecord {
            real: hex(real.as_os_str().as_bytes()),
            inode: stat.st_ino,
            device,
            boot: boot.map(|boot| boot.trim_end().to_owned()),
            born: born.map(|born| (born.as_secs(), born.subsec_nanos())),
        })
    }

    /// Whether `now`, at the same path, is the same directory.
    pub(super) fn is(&self, now: &MountRecord) -> bool {
        let comparable = self.boot.is_some() && self.boot == now.boot;
        (&self.real, self.inode, self.born) == (&now.real, now.inode, now.born)
            && (self.device == now.device || !comparable)
    }

    /// The real path; none if it is not absolute.
    pub(super) fn real(&self) -> Option<PathBuf> {
        let bytes = from_hex(&self.real)?;
        let path = Path::new(OsStr::from_bytes(&bytes));
        path.is_absolute().then(|| path.to_owned())
    }
}

/// A digest as lower-case hex digits.
mod hex_digest {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Digest, from_hex, hex};

    pub(super) fn serialize<S: Serializer>(
        digest: &Option<Digest>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        digest.map(|digest| hex(&digest)).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Digest>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        let digest = text.map(|text| from_hex(&text)?.try_into().ok());
        match digest {
            Some(None) => Err(D::Error::custom("it is no digest")),
            digest => Ok(digest.flatten()),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    format!("{:x}", Hex(bytes))
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|digit| u8::try_from(digit.to_digit(16)?).ok())
        .collect();
    let digits = digits?;
    let pairs = digits.chunks(2).map(|pair| match pair {
        [high, low] => Some(high << 4 | low),
        _ => None,
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let staged = stage::name().unwrap();
        Record {
            mounts: vec![
                MountRecord::of(
                    Path::new(OsStr::from_bytes(b"/a/\xff")),
                    File::open("/").unwrap(),
                )
                .unwrap(),
            ],
            made: vec![MadeRecord {
                mount: 0,
                path: "d/e".to_owned(),
            }],
            changes: vec![ChangeRecord {
                mount: 0,
                parent: "d/e".to_owned(),
                name: "f".to_owned(),
                staged,
                old: None,
                new: Some([9; 32]),
                inode: None,
                deleted: None,
            }],
            ..Record::new(Vec::new())
        }
    }

    #[test]
    fn a_journal_is_read_as_it_was_written() {
        let record = record();
        let read = Record::parse(&record.to_bytes().unwrap()).unwrap();
        assert_eq!(read, record);
        assert_eq!(
            read.mounts[0].real().unwrap().as_os_str().as_bytes(),
            b"/a/\xff"
        );
        assert_eq!(
            (read.changes[0].old, read.changes[0].new),
            (None, Some([9; 32]))
        );
    }

    /// The roots of all volumes of a kind have the same inode.
    #[test]
    fn another_volume_at_the_same_path_is_another_mount() {
        let mount = record().mounts.remove(0);
        let boot = |boot: &str| Some(boot.to_owned());
        let known = MountRecord {
            boot: boot("a"),
            born: Some((1, 2)),
            ..mount
        };
        let other = known.device.wrapping_add(1);
        let moved = |boot| MountRecord {
            device: other,
            boot,
            ..known.clone()
        };
        assert!(known.is(&known));
        assert!(!known.is(&moved(boot("a"))));
        assert!(known.is(&moved(boot("b"))));
        for born in [None, Some((1, 3))] {
            let other = |boot| MountRecord {
                born,
                boot,
                ..known.clone()
            };
            assert!(!known.is(&other(boot("a"))) && !known.is(&other(boot("b"))));
        }
    }

    #[test]
    fn a_journal_that_says_anything_else_is_damaged() {
        let text = String::from_utf8(record().to_bytes().unwrap()).unwrap();
        for (from, to) in [
            ("\"version\":1", "\"version\":2"),
            ("\"d/e\"", "\"d/../e\""),
            ("\"d/e\"", "\"/d\""),
            ("\"name\":\"f\"", "\"name\":\"..\""),
            ("\"name\":\"f\"", "\"name\":\"f/g\""),
            ("\"name\":\"f\"", "\"name\":\"\""),
            (".hydrant-", ".git-"),
            ("\"mount\":0", "\"mount\":1"),
            ("0909", "09"),
            ("\"real\":\"2f", "\"real\":\"30"),
            ("\"phase\":\"staging\"", "\"phase\":\"other\""),
            ("\"phase\"", "\"other\":1,\"phase\""),
        ] {
            assert!(text.contains(from), "{from}");
            let damaged = text.replacen(from, to, 1);
            assert_eq!(Record::parse(damaged.as_bytes()), None, "{to}");
            let cut = text.get(..text.len() / 2).unwrap();
            assert_eq!(Record::parse(cut.as_bytes()), None);
        }
    }
}
