//! The seal of compiled code: who wrote it, for which component, and that nobody changed it since.
//!
//! A file of the cache is machine code, so whoever can put one there could run anything under the name of a
//! pinned skill. Owner and mode of the folder stop other users, but not a cache that came from elsewhere: a
//! folder restored by a build service, a file that was moved to another component's name. So every file ends
//! with a keyed hash over the component's digest, the compiler's settings and the code. The key is made on
//! this machine, in `state/` of the home folder, and never leaves it. Code that is not sealed with it is compiled anew.

use std::io::Read;
use std::path::Path;

use super::folder::{CacheError, Folder};
use crate::trust::Digest;

/// The file of the key, in `state/`.
const NAME: &str = "cache.key";
/// Bytes of a seal, and of a key.
pub(super) const BYTES: usize = 32;

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
            .map_err(|error| folder.failed(NAME, std::io::Error::other(error.to_string())))?;
        // Of two processes that make one at the same time the first wins, and both use that one.
        folder.write_new(NAME, &key)?;
        Self::read(&folder)?.ok_or_else(|| folder.failed(NAME, std::io::ErrorKind::NotFound))
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
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        // Both are of one length each, so no other pair gives the same bytes.
        hasher.update(component.as_str().as_bytes());
        hasher.update(compatibility.as_bytes());
        hasher.update(code);
        *hasher.finalize().as_bytes()
    }

    /// The code of a sealed file, if the seal is ours and this component's.
    pub(super) fn open_seal<'a>(
        &self,
        component: &Digest,
        compatibility: &str,
        file: &'a [u8],
    ) -> Option<&'a [u8]> {
        let (code, seal) = file.split_at_checked(file.len().checked_sub(BYTES)?)?;
        let seal = blake3::Hash::from_slice(seal).ok()?;
        // `Hash` is compared in constant time.
        (seal == blake3::Hash::from_bytes(self.seal(component, compatibility, code)))
            .then_some(code)
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
        assert_eq!(key.open_seal(&ours, "a", &file), Some(&b"code"[..]));
        assert_eq!(key.open_seal(&other, "a", &file), None);
        assert_eq!(key.open_seal(&ours, "b", &file), None);
        let foreign = Key::open(&folder.path().join("elsewhere")).unwrap();
        assert_eq!(foreign.open_seal(&ours, "a", &file), None);
        for position in 0..file.len() {
            let mut changed = file.clone();
            changed[position] ^= 1;
            assert_eq!(key.open_seal(&ours, "a", &changed), None, "{position}");
        }
        assert_eq!(key.open_seal(&ours, "a", b"short"), None);
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
