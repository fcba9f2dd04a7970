//! The receipts of a tenant: one file each, by an id that sorts by time.
//!
//! A receipt is on disk before the run is answered, so that what a client was told cannot be lost when the service is
//! killed. The newest are kept, as many as the tenant may have.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use ulid::Ulid;

use crate::trust::limits;
use hydrant_base::Timestamp;
use hydrant_base::read_bounded;

/// Before the ULID.
const PREFIX: &str = "rcpt_";

/// The id of a receipt: `rcpt_` and a ULID. It can only be built valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReceiptId(Ulid);

impl ReceiptId {
    /// A new one.
    ///
    /// # Errors
    ///
    /// The system gives no random bytes.
    pub fn new() -> io::Result<Self> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        let now = Timestamp::now().unix_milliseconds();
        Ok(Self(Ulid::from_parts(now, u128::from_le_bytes(random))))
    }

    /// When it was made.
    #[must_use]
    pub fn time(self) -> Timestamp {
        Timestamp::from_unix_milliseconds(self.0.timestamp_ms())
    }
}

impl std::fmt::Display for ReceiptId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{PREFIX}{}", self.0)
    }
}

impl Serialize for ReceiptId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for ReceiptId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let id = text.strip_prefix(PREFIX).ok_or(())?;
        let id = Ulid::from_string(id).map_err(|_| ())?;
        // One id, one spelling: it is the name of a file.
        Some(Self(id)).filter(|id| id.to_string() == text).ok_or(())
    }
}

/// See the module.
#[derive(Debug)]
pub struct Receipts {
    folder: PathBuf,
    keep: usize,
    /// Files in the folder; none: not counted yet.
    count: Mutex<Option<usize>>,
}

impl Receipts {
    /// The receipts in `folder`, which is made when it is first needed.
    #[must_use]
    pub fn new(folder: PathBuf, keep: usize) -> Self {
        Self {
            folder,
            keep,
            count: Mutex::default(),
        }
    }

    /// Writes one, whole or not at all, and to the disk.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn write(&self, bytes: &[u8]) -> io::Result<ReceiptId> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)?;
        let id = ReceiptId::new()?;
        let (file, staged) = (self.path(id), self.folder.join(format!(".{id}")));
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&staged)
            .and_then(|mut new| {
                new.write_all(bytes)?;
                new.sync_data()
            })
            .and_then(|()| std::fs::rename(&staged, &file))
            .and_then(|()| File::open(&self.folder)?.sync_all());
        if let Err(error) = written {
            let _ = std::fs::remove_file(&staged);
            return Err(error);
        }
        self.trim()?;
        Ok(id)
    }

    /// Takes one back whose run could not be recorded.
    pub fn remove(&self, id: ReceiptId) {
        let _ = std::fs::remove_file(self.path(id));
    }

    /// One of them; none where there is no such id.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn read(&self, id: ReceiptId) -> io::Result<Option<Vec<u8>>> {
        match read_bounded(&self.path(id), limits::MAX_JSON_BYTES) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(io::Error::other(error.to_string())),
        }
    }

    /// The newest first, older than `before`, at most `most`; and whether there are more.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn list(
        &self,
        before: Option<ReceiptId>,
        most: usize,
    ) -> io::Result<(Vec<ReceiptId>, bool)> {
        let mut ids = self.ids()?;
        ids.retain(|id| before.is_none_or(|before| *id < before));
        ids.sort_unstable_by(|one, other| other.cmp(one));
        let more = ids.len() > most;
        ids.truncate(most);
        Ok((ids, more))
    }

    fn path(&self, id: ReceiptId) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    fn ids(&self) -> io::Result<Vec<ReceiptId>> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut ids = Vec::new();
        for entry in entries {
            let name = entry?.file_name();
            let id = name.to_str().and_then(|name| name.strip_suffix(".json"));
            ids.extend(id.and_then(|id| id.parse::<ReceiptId>().ok()));
        }
        Ok(ids)
    }

    /// Removes the oldest, a tenth at a time, so that the folder is not listed for every run.
    fn trim(&self) -> io::Result<()> {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let now = match *count {
            Some(count) => count.saturating_add(1),
            None => self.ids()?.len(),
        };
        *count = Some(now);
        if now <= self.keep {
            return Ok(());
        }
        let (kept, _) = self.list(None, self.keep.saturating_sub(self.keep / 10).max(1))?;
        let Some(oldest) = kept.last() else {
            return Ok(());
        };
        for id in self.ids()? {
            if id < *oldest {
                self.remove(id);
            }
        }
        *count = Some(kept.len());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receipts_are_listed_newest_first_and_the_oldest_go() {
        let folder = tempfile::tempdir().unwrap();
        let receipts = Receipts::new(folder.path().join("receipts"), 10);
        let mut ids = Vec::new();
        for number in 0..11 {
            ids.push(receipts.write(format!("{number}").as_bytes()).unwrap());
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        let (listed, more) = receipts.list(None, 3).unwrap();
        assert!(more);
        assert_eq!(listed, [ids[10], ids[9], ids[8]]);
        let (listed, more) = receipts.list(Some(ids[3]), 3).unwrap();
        assert!(!more, "{listed:?}");
        assert_eq!(listed, [ids[2]]);
        assert_eq!(receipts.read(ids[0]).unwrap(), None);
        assert_eq!(receipts.read(ids[10]).unwrap().unwrap(), b"10");
    }

    #[test]
    fn an_id_has_one_spelling_and_names_no_other_file() {
        let id = ReceiptId::new().unwrap();
        assert_eq!(id.to_string().parse(), Ok(id));
        for text in [
            "",
            "rcpt_",
            "../secrets",
            "rcpt_../../../../etc/passwd0000",
            &id.to_string().to_lowercase(),
        ] {
            assert!(text.parse::<ReceiptId>().is_err(), "{text}");
        }
    }
}
