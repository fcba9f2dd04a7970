//! The compiled-code cache: machine code of components, kept between processes.
//!
//! A file is named by the digest of the component and by a hash over the compiler, its settings and
//! this version of hydrant, so what was compiled differently is never found. Compiled code is trusted
//! like the binary itself. Therefore the folder and the file must belong to the user who runs hydrant
//! and be writable by nobody else, and the file must bear the seal of this machine for this component
//! ([`seal`]); anything else is refused, said so, and the component is compiled anew. Files are written
//! under another name and renamed, so no reader sees half of one.

mod descriptions;
mod folder;
mod seal;

use std::fs::File;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};
use wasmtime::component::Component;
use wasmtime::{Engine, Module};

pub use self::descriptions::DescriptionCache;
pub use self::folder::CacheError;
use self::folder::Folder;
use self::seal::Key;
use hydrant_base::Digest;

/// Where compiled code is kept between processes, and the key it is sealed with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeCacheFolders {
    /// The folder of compiled code, safe to delete.
    pub code: PathBuf,
    /// The folder of the key: `state/` of the home folder. Not a part of the cache, so that a cache that came
    /// from elsewhere does not bring its own key.
    pub key: PathBuf,
}

/// A folder of compiled code.
#[derive(Clone)]
pub(super) struct CodeCache {
    folders: CodeCacheFolders,
    compatibility: String,
}

impl CodeCache {
    /// A cache in these folders for the compiler that `engine` is set up with.
    pub(super) fn new(folders: CodeCacheFolders, engine: &Engine) -> Self {
        Self {
            folders,
            compatibility: compatibility(engine),
        }
    }

    fn file_name(&self, component: &Digest, key: &Key) -> String {
        let (component, compatibility) = (component.hex(), &self.compatibility);
        format!("{component}-{compatibility}-{}.cwasm", key.name())
    }

    /// The compiled component, if it is here and can be trusted.
    pub(super) fn load(
        &self,
        engine: &Engine,
        component: &Digest,
    ) -> Result<Option<Component>, CacheError> {
        let Some(folder) = Folder::open(&self.folders.code)? else {
            return Ok(None);
        };
        let key = Key::open(&self.folders.key)?;
        let name = self.file_name(component, &key);
        let Some(mut file) = folder.read(&name)? else {
            return Ok(None);
        };
        let unusable = |error: &dyn std::fmt::Display| {
            // Damaged, or not from here: compiled again and replaced.
            let path = self.folders.code.join(&name);
            tracing::warn!(path = %path.display(), %error, "compiled code is not usable");
            None
        };
        let sealed = key
            .has_sealed(component, &self.compatibility, &mut file)
            .map_err(|error| folder.failed(&name, error))?;
        if !sealed {
            return Ok(unusable(&"it does not bear the seal of this machine"));
        }
        Ok(deserialize(engine, &mut file).map_or_else(|error| unusable(&error), Some))
    }

    /// Keeps compiled code for later processes.
    pub(super) fn store(&self, component: &Digest, mut code: Vec<u8>) -> Result<(), CacheError> {
        let key = Key::open(&self.folders.key)?;
        let seal = key.seal(component, &self.compatibility, &code);
        code.extend(seal);
        Folder::create(&self.folders.code)?.write(&self.file_name(component, &key), &code)
    }
}

/// Stands for the compiler, its settings and this version of hydrant, in 32 hexadecimal digits.
pub(super) fn compatibility(engine: &Engine) -> String {
    let mut hasher = Sha256Hasher(Sha256::new());
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    engine.precompile_compatibility_hash().hash(&mut hasher);
    let digest = hasher.0.finalize();
    digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The component that a process of ours has compiled ([`super::contained`]).
#[allow(unsafe_code)] // As below.
pub(super) fn component_from_compiler(engine: &Engine, code: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: the code was written by the compiler of this program, for this engine, as its greeting said and wasmtime
    // looks up again; it comes from a pipe that nobody else has. That the compiler itself was taken over by its input
    // cannot be told, no more than where it runs in this process.
    unsafe { Component::deserialize(engine, code) }
}

/// As [`component_from_compiler`], for a core module.
#[allow(unsafe_code)] // As below.
pub(super) fn module_from_compiler(engine: &Engine, code: &[u8]) -> wasmtime::Result<Module> {
    // SAFETY: as above.
    unsafe { Module::deserialize(engine, code) }
}

/// Says whether the cache in these folders would be used, for `doctor`.
pub(super) fn check(folders: &CodeCacheFolders) -> Result<(), CacheError> {
    Key::open(&folders.key)?;
    Folder::open(&folders.code).map(|_| ())
}

/// Maps the file instead of copying it: most of a component's code is not touched by a call.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)] // One of the places that STYLE allows it: deserialising compiled code.
fn deserialize(engine: &Engine, file: &mut File) -> wasmtime::Result<Component> {
    use std::os::fd::AsRawFd;

    // The very file that was checked, whatever its name stands for by now.
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    // SAFETY: the code was written by this program: it bears the seal of this machine for this component, this
    // compiler and these settings, which wasmtime compares again. The file is not changed while it is mapped: hydrant
    // replaces such files and never writes to one, nobody else may write to it, and no mount leads to it.
    unsafe { Component::deserialize_file(engine, path) }
}

#[cfg(not(target_os = "linux"))]
#[allow(unsafe_code)] // As above.
fn deserialize(engine: &Engine, file: &mut File) -> wasmtime::Result<Component> {
    use std::io::{Read, Seek};

    let mut sealed = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut sealed)?;
    // SAFETY: as above, but that these bytes are a private copy.
    unsafe { Component::deserialize(engine, sealed) }
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
    use std::path::Path;

    use super::*;

    fn cache(folder: &Path) -> (Engine, CodeCache, Digest) {
        let mut config = wasmtime::Config::new();
        config.wasm_component_model(true);
        let engine = Engine::new(&config).unwrap();
        let folders = CodeCacheFolders {
            code: folder.join("hydrant"),
            key: folder.join("state"),
        };
        let cache = CodeCache::new(folders, &engine);
        (engine, cache, Digest::of(COMPONENT))
    }

    /// The smallest component: its preamble.
    const COMPONENT: &[u8] = &[0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00];

    fn path(cache: &CodeCache, component: &Digest) -> PathBuf {
        let key = Key::open(&cache.folders.key).unwrap();
        cache.folders.code.join(cache.file_name(component, &key))
    }

    fn filled(folder: &Path) -> (Engine, CodeCache, Digest) {
        let (engine, cache, digest) = cache(folder);
        let code = engine.precompile_component(COMPONENT).unwrap();
        cache.store(&digest, code).unwrap();
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
        assert_eq!(mode(&cache.folders.code), 0o700);
        assert_eq!(mode(&path(&cache, &digest)), 0o600);
    }

    #[test]
    fn a_folder_or_file_that_others_can_write_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (engine, cache, digest) = filled(folder.path());
        for path in [cache.folders.code.clone(), path(&cache, &digest)] {
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
    fn code_moved_to_the_name_of_another_component_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let (engine, cache, digest) = filled(folder.path());
        let other = Digest::of(b"other");
        fs::copy(path(&cache, &digest), path(&cache, &other)).unwrap();
        assert!(cache.load(&engine, &other).unwrap().is_none());
    }

    #[test]
    fn code_from_another_machine_is_not_used_under_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let (engine, cache, digest) = filled(folder.path());
        let theirs = path(&cache, &digest);
        fs::remove_file(folder.path().join("state/cache.key")).unwrap();
        assert!(cache.load(&engine, &digest).unwrap().is_none());
        fs::rename(theirs, path(&cache, &digest)).unwrap();
        assert!(cache.load(&engine, &digest).unwrap().is_none());
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
                    cache.store(&digest, code.clone()).unwrap();
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
            // With our seal, so that it is the code itself that is looked at.
            cache.store(&digest, damaged.to_vec()).unwrap();
            assert!(cache.load(&engine, &digest).unwrap().is_none());
        }
    }
}
