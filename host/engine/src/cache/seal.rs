//! The seal of compiled code: who wrote it, for which component, and that nobody changed it since.
//!
//! A file of the cache is machine code, so whoever can put one there could run anything under the name of a
//! pinned skill. Owner and mode of the folder stop other users, but not a cache that came from elsewhere: a
//! folder restored by a build service, a file that was moved to another component's name. So every file ends
//! with a keyed hash over the component's digest, the compiler's settings and the code. The key is made on
//! this machine, in `state/` of the home folder, and never leaves it. Code that is not sealed with it is compiled anew.
//!
//! Descriptions of tools bear the same seal ([`super::descriptions`]): over the digest of the circumstances, and a word in
//! place of the settings that no settings have, so that none passes for code.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::folder::{CacheError, Folder};
use hydrant_base::Digest;

/// The file of the key, in `state/`.
const NAME: &str = "cache.key";
/// Bytes of a seal, and of a key.
pub(super) const BYTES: usize = 32;
const SEAL_LENGTH: u64 = 32;
/// Bytes that are read at a time.
const BUFFER: usize = 256 * 1024;

/// What compiled code is sealed with.
#[derive(Clone)]
pub(super) struct Key([u8; BYTES]);

impl Key {
    /// The key in `folder`; made if there is none yet.
    pub(super) fn open(folder: &Path) -> Result<Self, CacheError> {
        let folder = Folder::create(folder)?;
        if let Some(key) = Self::read(&folder)? {
            return Ok(key);
        }
        let mut key = [0; BYTES];
        getrandom::fill(&mut key)
            .map_err(|error| folder.failed(NAME, io::Error::other(error.to_string())))?;
        // Of two processes that make one at the same time the first wins, and both use that one.
        folder.write_new(NAME, &key)?;
        Self::read(&folder)?.ok_or_else(|| folder.failed(NAME, io::ErrorKind::NotFound))
    }

    fn read(folder: &Folder) -> Result<Option<Self>, CacheError> {
        let Some(mut file) = folder.read(NAME)? else {
            return Ok(None);
        };
        let mut key = [0; BYTES];
        file.read_exact(&mut key)
            .map_err(|error| folder.failed(NAME, error))?;
        Ok(Some(Self(key)))
    }

    /// Names the key without telling it: two homes that share a cache folder then keep files of their own.
    pub(super) fn name(&self) -> String {
        let named = blake3::keyed_hash(&self.0, b"name");
        named.to_hex().chars().take(8).collect()
    }

    /// The seal of `code`, compiled from `component` with the settings that `compatibility` stands for.
    pub(super) fn seal(&self, component: &Digest, compatibility: &str, code: &[u8]) -> [u8; BYTES] {
        let mut hasher = self.hasher(component, compatibility);
        hasher.update(code);
        *hasher.finalize().as_bytes()
    }

    /// Whether a file, read from its beginning, ends with the seal of what comes before, ours and this component's.
    pub(super) fn has_sealed(
        &self,
        component: &Digest,
        compatibility: &str,
        file: &mut (impl Read + Seek),
    ) -> io::Result<bool> {
        let bytes = file.seek(SeekFrom::End(0))?;
        let Some(code) = bytes.checked_sub(SEAL_LENGTH) else {
            return Ok(false);
        };
        file.rewind()?;
        let mut hasher = self.hasher(component, compatibility);
        let mut buffer = vec![0; BUFFER];
        let mut reader = file.by_ref().take(code);
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => hasher.update(buffer.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
        }
        let mut seal = [0; BYTES];
        file.read_exact(&mut seal)?;
        // `Hash` is compared in constant time.
        Ok(hasher.finalize() == blake3::Hash::from_bytes(seal))
    }

    fn hasher(&self, component: &Digest, compatibility: &str) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        // Both are of one length each, so no other pair gives the same bytes.
        hasher.update(component.as_str().as_bytes());
        hasher.update(compatibility.as_bytes());
        hasher
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_holds_for_one_component_one_compiler_one_code_and_one_key() {
        let folder = tempfile::tempdir().unwrap();
        let key = Key::open(&folder.path().join("state")).unwrap();
        let (ours, other) = (Digest::of(b"ours"), Digest::of(b"other"));
        let mut file = b"code".to_vec();
        file.extend(key.seal(&ours, "a", b"code"));
        let sealed = |key: &Key, component: &Digest, compatibility: &str, file: &[u8]| {
            key.has_sealed(component, compatibility, &mut io::Cursor::new(file))
                .unwrap()
        };
        assert!(sealed(&key, &ours, "a", &file));
        assert!(!sealed(&key, &other, "a", &file));
        assert!(!sealed(&key, &ours, "b", &file));
        let foreign = Key::open(&folder.path().join("elsewhere")).unwrap();
        assert!(!sealed(&foreign, &ours, "a", &file));
        for position in 0..file.len() {
            let mut changed = file.clone();
            changed[position] ^= 1;
            assert!(!sealed(&key, &ours, "a", &changed), "{position}");
        }
        assert!(!sealed(&key, &ours, "a", b"short"));
    }

    #[test]
    fn all_who_open_the_key_at_once_get_the_same_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let open = || Key::open(&path).unwrap().0;
        let keys: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
        assert_ne!(keys[0], [0; BYTES]);
    }
}
