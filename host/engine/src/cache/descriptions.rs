//! Descriptions of tools, kept between processes beside compiled code, in `descriptions/`.
//!
//! A file is named by the digest of all that an answer depends on, as far as that can be known beforehand; whoever asks
//! decides what that is. It holds when it was made, and what the tool wrote. It ends with the seal of this machine
//! ([`seal`](super::seal)) for these circumstances, so that a file that somebody edited, moved to another name or brought
//! along is not an answer. What cannot be used, or is too old, is as good as not there: the tool is asked again.

use std::io::{Cursor, Read};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use super::CodeCacheFolders;
use super::folder::{CacheError, Folder};
use super::seal::{self, Key};
use hydrant_base::Digest;
use hydrant_capability::{KeepDescriptions, KeptDescription};

/// The folder, in that of compiled code.
const FOLDER: &str = "descriptions";
/// In place of a compiler's settings, and as long: no settings have such a name.
const SEALED_AS: &str = "description-of-a-tool----------1";
/// Bytes of an answer, at most; a longer one is not kept.
const MAX_BYTES: usize = 64 * 1024;
/// Files, at most, so that the folder takes 64 MiB; of more the oldest go.
const MAX_FILES: usize = 1_024;
/// Files that stay when there were too many.
const FILES_LEFT: usize = 768;
/// What a tool says may change with what lies around it, which no digest of its own bytes shows. So no answer is used
/// for longer than this.
const LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);
/// Bytes of the time at the beginning, in seconds since 1970, little-endian; a byte follows that says whether there was
/// more than is kept.
const TIME: usize = 8;
const HEAD: usize = TIME + 1;

/// Descriptions in a folder. Cheap to clone.
#[derive(Clone)]
pub struct DescriptionCache {
    shared: Arc<Shared>,
}

struct Shared {
    folder: PathBuf,
    key_folder: PathBuf,
    key: OnceLock<Key>,
}

impl DescriptionCache {
    /// Those that are kept with the compiled code in these folders.
    pub fn new(folders: &CodeCacheFolders) -> Self {
        let shared = Shared {
            folder: folders.code.join(FOLDER),
            key_folder: folders.key.clone(),
            key: OnceLock::new(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    fn key(&self) -> Result<&Key, CacheError> {
        if let Some(key) = self.shared.key.get() {
            return Ok(key);
        }
        let key = Key::open(&self.shared.key_folder)?;
        Ok(self.shared.key.get_or_init(|| key))
    }

    fn load(
        &self,
        circumstances: &Digest,
        now: SystemTime,
    ) -> Result<Option<KeptDescription>, CacheError> {
        let Some(folder) = Folder::open(&self.shared.folder)? else {
            return Ok(None);
        };
        let key = self.key()?;
        let name = file_name(circumstances, key);
        let Some(file) = folder.read(&name)? else {
            return Ok(None);
        };
        let most = HEAD + MAX_BYTES + seal::BYTES;
        let mut sealed = Vec::new();
        // What was read is what is checked: the file may be changed while we look.
        file.take(u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1))
            .read_to_end(&mut sealed)
            .map_err(|error| folder.failed(&name, error))?;
        let ours = sealed.len() <= most
            && key
                .has_sealed(circumstances, SEALED_AS, &mut Cursor::new(&sealed))
                .map_err(|error| folder.failed(&name, error))?;
        if !ours {
            let path = self.shared.folder.join(&name);
            tracing::warn!(path = %path.display(), "a description does not bear the seal of this machine: the tool is asked again");
            return Ok(None);
        }
        let content = sealed.len().checked_sub(seal::BYTES);
        let content = content.and_then(|length| sealed.get(..length));
        Ok(content.and_then(|content| unpack(content, now)))
    }

    fn store(
        &self,
        circumstances: &Digest,
        description: &KeptDescription,
        now: SystemTime,
    ) -> Result<(), CacheError> {
        let key = self.key()?;
        let mut file = pack(description, now);
        let seal = key.seal(circumstances, SEALED_AS, &file);
        file.extend(seal);
        let folder = Folder::create(&self.shared.folder)?;
        folder.write_unsynced(&file_name(circumstances, key), &file)?;
        folder.trim(MAX_FILES, FILES_LEFT)
    }
}

fn file_name(circumstances: &Digest, key: &Key) -> String {
    format!("{}-{}.description", circumstances.hex(), key.name())
}

fn pack(description: &KeptDescription, now: SystemTime) -> Vec<u8> {
    let since = now.duration_since(SystemTime::UNIX_EPOCH);
    let seconds = since.map_or(0, |since| since.as_secs());
    let mut content = seconds.to_le_bytes().to_vec();
    content.push(u8::from(description.truncated));
    content.extend(&description.stdout);
    content
}

/// None if it was made too long ago, or later than now: then a clock was wrong, and nobody knows how old it is.
fn unpack(content: &[u8], now: SystemTime) -> Option<KeptDescription> {
    let (seconds, rest) = content.split_first_chunk::<TIME>()?;
    let (truncated, stdout) = rest.split_first()?;
    let made = Duration::from_secs(u64::from_le_bytes(*seconds));
    let age = now
        .duration_since(SystemTime::UNIX_EPOCH.checked_add(made)?)
        .ok()?;
    (age <= LIFETIME).then(|| KeptDescription {
        stdout: stdout.to_vec(),
        truncated: *truncated != 0,
    })
}

impl KeepDescriptions for DescriptionCache {
    fn find(&self, circumstances: &Digest) -> Option<KeptDescription> {
        self.load(circumstances, SystemTime::now())
            .unwrap_or_else(|error| {
                tracing::warn!(%error, "kept descriptions are not used");
                None
            })
    }

    fn keep(&self, circumstances: &Digest, description: &KeptDescription) {
        if description.stdout.len() > MAX_BYTES {
            return;
        }
        if let Err(error) = self.store(circumstances, description, SystemTime::now()) {
            tracing::warn!(%error, "a description is not kept");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn cache(folder: &Path) -> DescriptionCache {
        DescriptionCache::new(&CodeCacheFolders {
            code: folder.join("hydrant"),
            key: folder.join("state"),
        })
    }

    fn bakes() -> KeptDescription {
        KeptDescription {
            stdout: b"Bakes bread\n".to_vec(),
            truncated: false,
        }
    }

    fn path(cache: &DescriptionCache, circumstances: &Digest) -> PathBuf {
        let name = file_name(circumstances, cache.key().unwrap());
        cache.shared.folder.join(name)
    }

    #[test]
    fn what_was_kept_is_found_under_the_same_circumstances_only() {
        let folder = tempfile::tempdir().unwrap();
        let (ours, other) = (Digest::of(b"ours"), Digest::of(b"other"));
        assert_eq!(cache(folder.path()).find(&ours), None);
        let cut = KeptDescription {
            truncated: true,
            ..bakes()
        };
        cache(folder.path()).keep(&ours, &cut);
        assert_eq!(cache(folder.path()).find(&ours), Some(cut));
        assert_eq!(cache(folder.path()).find(&other), None);
    }

    #[test]
    fn a_file_that_was_edited_moved_or_cut_is_no_answer() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path());
        let (ours, other) = (Digest::of(b"ours"), Digest::of(b"other"));
        cache.keep(&ours, &bakes());
        let file = path(&cache, &ours);
        fs::copy(&file, path(&cache, &other)).unwrap();
        assert_eq!(cache.find(&other), None, "moved");
        let sealed = fs::read(&file).unwrap();
        for position in 0..sealed.len() {
            let mut edited = sealed.clone();
            edited[position] ^= 1;
            fs::write(&file, edited).unwrap();
            assert_eq!(cache.find(&ours), None, "byte {position}");
            fs::write(&file, &sealed[..position]).unwrap();
            assert_eq!(cache.find(&ours), None, "cut at {position}");
        }
        fs::write(&file, sealed).unwrap();
        assert_eq!(cache.find(&ours), Some(bakes()));
    }

    #[test]
    fn what_another_machine_kept_is_no_answer() {
        let folder = tempfile::tempdir().unwrap();
        let (ours, theirs) = (cache(folder.path()), Digest::of(b"theirs"));
        ours.keep(&theirs, &bakes());
        let file = path(&ours, &theirs);
        fs::remove_file(folder.path().join("state/cache.key")).unwrap();
        let elsewhere = cache(folder.path());
        assert_eq!(elsewhere.find(&theirs), None);
        fs::rename(file, path(&elsewhere, &theirs)).unwrap();
        assert_eq!(elsewhere.find(&theirs), None);
    }

    #[test]
    fn a_description_does_not_pass_for_compiled_code() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path());
        let circumstances = Digest::of(b"ours");
        cache.keep(&circumstances, &bakes());
        let sealed = fs::read(path(&cache, &circumstances)).unwrap();
        let key = cache.key().unwrap();
        let passes = |settings: &str| {
            key.has_sealed(&circumstances, settings, &mut Cursor::new(&sealed))
                .unwrap()
        };
        assert!(passes(SEALED_AS));
        assert!(!passes("0123456789abcdef0123456789abcdef"));
        // As long as settings are, and no hexadecimal digits as they are.
        assert_eq!(SEALED_AS.len(), 32);
        assert!(!SEALED_AS.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }

    #[test]
    fn a_description_is_used_for_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path());
        let circumstances = Digest::of(b"ours");
        let made = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        cache.store(&circumstances, &bakes(), made).unwrap();
        let at = |now| cache.load(&circumstances, now).unwrap();
        assert_eq!(at(made), Some(bakes()));
        assert_eq!(at(made + LIFETIME), Some(bakes()));
        assert_eq!(at(made + LIFETIME + Duration::from_secs(1)), None);
        assert_eq!(at(made - Duration::from_secs(1)), None, "a clock was wrong");
    }

    #[test]
    fn a_long_description_is_not_kept_and_neither_are_too_many() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path());
        let long = KeptDescription {
            stdout: vec![b'x'; MAX_BYTES + 1],
            truncated: false,
        };
        cache.keep(&Digest::of(b"long"), &long);
        assert!(!cache.shared.folder.exists());
        for number in 0..=MAX_FILES {
            cache.keep(&Digest::of(&number.to_le_bytes()), &bakes());
        }
        let files = fs::read_dir(&cache.shared.folder).unwrap().count();
        assert_eq!(files, FILES_LEFT);
        let newest = Digest::of(&MAX_FILES.to_le_bytes());
        assert_eq!(cache.find(&newest), Some(bakes()));
    }

    #[test]
    fn where_nothing_can_be_kept_nothing_is_found_and_nothing_fails() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("hydrant"), "a file").unwrap();
        let cache = cache(folder.path());
        let circumstances = Digest::of(b"ours");
        cache.keep(&circumstances, &bakes());
        assert_eq!(cache.find(&circumstances), None);
    }
}
