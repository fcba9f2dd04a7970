//! The compiled-code cache: machine code of components, kept between processes.
//!
//! A file is named by the digest of the component and by a hash over the compiler, its settings and
//! this version of hydrant, so what was compiled differently is never found. Compiled code is trusted
//! like the binary itself. Therefore the folder and the file must belong to the user who runs hydrant
//! and be writable by nobody else; anything else is refused, said so, and the component is compiled
//! anew. Files are written under another name and renamed, so no reader sees half of one.

mod folder;

use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

pub use self::folder::CacheError;
use self::folder::Folder;
use crate::trust::Digest;

/// A folder of compiled code.
#[derive(Debug, Clone)]
pub(super) struct CodeCache {
    folder: PathBuf,
    compatibility: String,
}

impl CodeCache {
    /// A cache in `folder` for the compiler that `engine` is set up with.
    pub(super) fn new(folder: PathBuf, engine: &Engine) -> Self {
        let mut hasher = Sha256Hasher(Sha256::new());
        env!("CARGO_PKG_VERSION").hash(&mut hasher);
        engine.precompile_compatibility_hash().hash(&mut hasher);
        let compatibility = hasher
            .0
            .finalize()
            .iter()
            .take(16)
            .map(|b| format!("{b:02x}"))
            .collect();
        Self {
            folder,
            compatibility,
        }
    }

    fn file_name(&self, component: &Digest) -> String {
        format!("{}-{}.cwasm", component.hex(), self.compatibility)
    }

    /// The compiled component, if it is here and can be trusted.
    pub(super) fn load(
        &self,
        engine: &Engine,
        component: &Digest,
    ) -> Result<Option<Component>, CacheError> {
        let Some(folder) = Folder::open(&self.folder)? else {
            return Ok(None);
        };
        let name = self.file_name(component);
        let Some(file) = folder.read(&name)? else {
            return Ok(None);
        };
        match deserialize(engine, file) {
            Ok(component) => Ok(Some(component)),
            Err(error) => {
                // A damaged file: compiled again and replaced.
                let path = self.folder.join(name);
                tracing::warn!(path = %path.display(), %error, "compiled code is not usable");
                Ok(None)
            }
        }
    }

    /// Keeps compiled code for later processes.
    pub(super) fn store(&self, component: &Digest, code: &[u8]) -> Result<(), CacheError> {
        Folder::create(&self.folder)?.write(&self.file_name(component), code)
    }
}

/// Says whether a cache in `folder` would be used, for `doctor`.
pub(super) fn check_folder(folder: &Path) -> Result<(), CacheError> {
    Folder::open(folder).map(|_| ())
}

/// Maps the file that was checked, not whatever the path names by now.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)] // One of the places that STYLE allows it: deserialising compiled code.
fn deserialize(engine: &Engine, file: File) -> wasmtime::Result<Component> {
    use std::os::fd::AsRawFd;

    let opened = format!("/proc/self/fd/{}", file.as_raw_fd());
    if !Path::new(&opened).exists() {
        return deserialize_bytes(engine, file);
    }
    // SAFETY: the code was written by this program (the folder and the file belong to this user, nobody
    // else can write them, both were checked on the open handle), for this component (the file has no other
    // name), this compiler and these settings (both are part of the name, and wasmtime compares them again).
    // Files are only ever replaced by rename, so the mapped bytes do not change.
    unsafe { Component::deserialize_file(engine, opened) }
}

#[cfg(not(target_os = "linux"))]
fn deserialize(engine: &Engine, file: File) -> wasmtime::Result<Component> {
    deserialize_bytes(engine, file)
}

#[allow(unsafe_code)] // One of the places that STYLE allows it: deserialising compiled code.
fn deserialize_bytes(engine: &Engine, mut file: File) -> wasmtime::Result<Component> {
    let mut code = Vec::new();
    file.read_to_end(&mut code)?;
    // SAFETY: as in `deserialize`; these bytes are a private copy.
    unsafe { Component::deserialize(engine, code) }
}

/// Feeds what `Hash` hashes into SHA-256, whose result does not depend on the build of the program.
struct Sha256Hasher(Sha256);

impl Hasher for Sha256Hasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0 // Unused: the whole digest is taken.
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn cache(folder: &Path) -> (Engine, CodeCache, Digest) {
        let mut config = wasmtime::Config::new();
        config.wasm_component_model(true);
        let engine = Engine::new(&config).unwrap();
        let cache = CodeCache::new(folder.join("hydrant"), &engine);
        (engine, cache, Digest::of(COMPONENT))
    }

    /// The smallest component: its preamble.
    const COMPONENT: &[u8] = &[0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00];

    fn path(cache: &CodeCache, component: &Digest) -> PathBuf {
        cache.folder.join(cache.file_name(component))
    }

    fn filled(folder: &Path) -> (Engine, CodeCache, Digest) {
        let (engine, cache, digest) = cache(folder);
        let code = engine.precompile_component(COMPONENT).unwrap();
        cache.store(&digest, &code).unwrap();
        (engine, cache, digest)
    }

    #[test]
    fn what_was_stored_is_found_again_by_digest() {
        let folder = tempfile::tempdir().unwrap();
        let (engine, cache, digest) = filled(folder.path());
        assert!(cache.load(&engine, &digest).unwrap().is_some());
        assert!(
            cache
                .load(&engine, &Digest::of(b"other"))
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn the_folder_and_its_files_are_private() {
        let folder = tempfile::tempdir().unwrap();
        let (_, cache, digest) = filled(folder.path());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&cache.folder), 0o700);
        assert_eq!(mode(&path(&cache, &digest)), 0o600);
    }

    #[test]
    fn a_folder_or_file_that_others_can_write_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (engine, cache, digest) = filled(folder.path());
        for path in [cache.folder.clone(), path(&cache, &digest)] {
            let before = fs::metadata(&path).unwrap().permissions();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
            let refused = cache.load(&engine, &digest);
            assert!(
                matches!(refused, Err(CacheError::Writable { mode: 0o777, .. })),
                "{path:?}"
            );
            fs::set_permissions(&path, before).unwrap();
        }
    }

    #[test]
    fn a_file_that_is_a_link_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (engine, cache, digest) = filled(folder.path());
        let path = path(&cache, &digest);
        let elsewhere = folder.path().join("elsewhere");
        fs::rename(&path, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert!(cache.load(&engine, &digest).is_err());
    }

    #[test]
    fn the_code_of_another_component_is_refused_under_this_name() {
        let folder = tempfile::tempdir().unwrap();
        let (engine, cache, digest) = filled(folder.path());
        let other = Digest::of(b"other");
        fs::hard_link(path(&cache, &digest), path(&cache, &other)).unwrap();
        let refused = cache.load(&engine, &other);
        assert!(matches!(refused, Err(CacheError::Linked { links: 2, .. })));
    }

    #[test]
    fn threads_that_store_the_same_component_at_once_all_succeed() {
        let folder = tempfile::tempdir().unwrap();
        let (engine, cache, digest) = cache(folder.path());
        let code = engine.precompile_component(COMPONENT).unwrap();
        let barrier = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    barrier.wait();
                    cache.store(&digest, &code).unwrap();
                });
            }
        });
        assert!(cache.load(&engine, &digest).unwrap().is_some());
    }

    #[test]
    fn damaged_code_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let (engine, cache, digest) = filled(folder.path());
        for damaged in [&b""[..], b"not machine code", &[0x7f; 70_000]] {
            fs::write(path(&cache, &digest), damaged).unwrap();
            assert!(cache.load(&engine, &digest).unwrap().is_none());
        }
    }
}
