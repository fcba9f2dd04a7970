//! The compiled-code cache: machine code of components, kept between processes.
//!
//! A file is named by the digest of the component and by a hash over the compiler, its settings and
//! this version of hydrant, so what was compiled differently is never found. Compiled code is trusted
//! like the binary itself. Therefore the folder and the file must belong to the user who runs hydrant
//! and be writable by nobody else; anything else is refused, said so, and the component is compiled
//! anew. Files are written under another name and renamed, so no reader sees half of one.

use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::trust::Digest;

/// Compiled code of one component, at most; more is not from us.
const MAX_BYTES: u64 = 512 * 1024 * 1024;
/// Group and others may not write.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// A folder of compiled code.
#[derive(Debug, Clone)]
pub(super) struct CodeCache {
    folder: PathBuf,
    compatibility: String,
}

/// Why the cache is not used; never an error for the caller, who can always compile.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The folder or file belongs to somebody else.
    #[error("{path} belongs to user {owner}, not to user {user}")]
    ForeignOwner {
        /// The folder or file.
        path: PathBuf,
        /// Who owns it.
        owner: u32,
        /// Who runs hydrant.
        user: u32,
    },
    /// The folder or file can be changed by others.
    #[error("{path} has mode {mode:03o}: group and others must not be able to write")]
    Writable {
        /// The folder or file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// Not a folder, or not a regular file.
    #[error("{path} is not what it should be")]
    WrongType {
        /// The folder or file.
        path: PathBuf,
    },
    /// The file system says no.
    #[error("{path}: {source}")]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// What it says.
        source: io::Error,
    },
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

    fn path(&self, component: &Digest) -> PathBuf {
        self.folder
            .join(format!("{}-{}.cwasm", component.hex(), self.compatibility))
    }

    /// The compiled component, if it is here and can be trusted.
    pub(super) fn load(
        &self,
        engine: &Engine,
        component: &Digest,
    ) -> Result<Option<Component>, CacheError> {
        let path = self.path(component);
        match fs::symlink_metadata(&self.folder) {
            Ok(folder) => check(&self.folder, &folder, Kind::Folder)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => {
                return Err(CacheError::Io {
                    path: self.folder.clone(),
                    source,
                });
            }
        }
        let no_links = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or_default();
        let file = match File::options()
            .read(true)
            .custom_flags(no_links)
            .open(&path)
        {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(CacheError::Io { path, source }),
        };
        let metadata = file.metadata().map_err(|source| CacheError::Io {
            path: path.clone(),
            source,
        })?;
        check(&path, &metadata, Kind::File)?;
        match deserialize(engine, file) {
            Ok(component) => Ok(Some(component)),
            Err(error) => {
                // A damaged file: compiled again and replaced.
                tracing::warn!(path = %path.display(), %error, "compiled code is not usable");
                Ok(None)
            }
        }
    }

    /// Keeps compiled code for later processes.
    pub(super) fn store(&self, component: &Digest, code: &[u8]) -> Result<(), CacheError> {
        let folder = &self.folder;
        let io_error = |source| CacheError::Io {
            path: folder.clone(),
            source,
        };
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(io_error)?;
        check(
            folder,
            &fs::symlink_metadata(folder).map_err(io_error)?,
            Kind::Folder,
        )?;

        let path = self.path(component);
        let unfinished = path.with_extension(format!("{}.tmp", std::process::id()));
        let write = || -> io::Result<()> {
            let mut file = File::options()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&unfinished)?;
            file.write_all(code)?;
            fs::rename(&unfinished, &path)
        };
        write().map_err(|source| {
            let _ = fs::remove_file(&unfinished);
            CacheError::Io {
                path: path.clone(),
                source,
            }
        })
    }
}

/// Says whether a cache in `folder` would be used, for `doctor`.
pub(super) fn check_folder(folder: &Path) -> Result<(), CacheError> {
    match fs::symlink_metadata(folder) {
        Ok(metadata) => check(folder, &metadata, Kind::Folder),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(CacheError::Io {
            path: folder.to_owned(),
            source,
        }),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Folder,
    File,
}

fn check(path: &Path, metadata: &fs::Metadata, kind: Kind) -> Result<(), CacheError> {
    let right_type = match kind {
        Kind::Folder => metadata.is_dir(),
        Kind::File => metadata.is_file() && metadata.len() <= MAX_BYTES,
    };
    if !right_type {
        return Err(CacheError::WrongType {
            path: path.to_owned(),
        });
    }
    let user = rustix::process::geteuid().as_raw();
    if metadata.uid() != user {
        return Err(CacheError::ForeignOwner {
            path: path.to_owned(),
            owner: metadata.uid(),
            user,
        });
    }
    let mode = metadata.permissions().mode() & 0o777;
    if mode & WRITABLE_BY_OTHERS != 0 {
        return Err(CacheError::Writable {
            path: path.to_owned(),
            mode,
        });
    }
    Ok(())
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
    // else can write them, both were checked on the open handle), for this compiler and these settings
    // (both are part of the file's name, and wasmtime compares them again). Files are only ever replaced
    // by rename, so the mapped bytes do not change.
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
        assert_eq!(mode(&cache.path(&digest)), 0o600);
    }

    #[test]
    fn a_folder_or_file_that_others_can_write_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (engine, cache, digest) = filled(folder.path());
        for path in [cache.folder.clone(), cache.path(&digest)] {
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
        let path = cache.path(&digest);
        let elsewhere = folder.path().join("elsewhere");
        fs::rename(&path, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert!(cache.load(&engine, &digest).is_err());
    }

    #[test]
    fn damaged_code_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let (engine, cache, digest) = filled(folder.path());
        for damaged in [&b""[..], b"not machine code", &[0x7f; 70_000]] {
            fs::write(cache.path(&digest), damaged).unwrap();
            assert!(cache.load(&engine, &digest).unwrap().is_none());
        }
    }
}
