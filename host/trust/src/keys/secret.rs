//! Secret keys and where they lie.

use hydrant_base::{FileError, read_bounded_as};
use std::fmt;
use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer as _, SigningKey};
use zeroize::Zeroizing;

use super::{KeyError, PublicKey};
use crate::limits::MAX_SECRET_KEY_BYTES;
use crate::manifest::is_name;

/// A signing key. It is wiped when dropped and prints as its public half only.
#[derive(Clone)]
pub struct SecretKey(SigningKey);

impl SecretKey {
    /// The key in a file's bytes: base64 of the 32-byte seed, white space around it ignored.
    ///
    /// # Errors
    ///
    /// [`KeyError`], which never repeats the bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, KeyError> {
        let text = std::str::from_utf8(bytes).map_err(|_| KeyError::SecretBase64)?;
        let decoded = Zeroizing::new(
            STANDARD
                .decode(text.trim())
                .map_err(|_| KeyError::SecretBase64)?,
        );
        let seed: &[u8; 32] = decoded
            .as_slice()
            .try_into()
            .map_err(|_| KeyError::SecretLength)?;
        Ok(Self(SigningKey::from_bytes(seed)))
    }

    /// Reads a key file of at most 16384 bytes. One that others may read or write is closed to them.
    ///
    /// # Errors
    ///
    /// [`KeyError`]: unreadable, too large, no key, or [`KeyError::Open`].
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let bytes = read_bounded_as(path, MAX_SECRET_KEY_BYTES, "secret-key")?;
        let bytes = Zeroizing::new(bytes);
        close(path)?;
        Self::parse(&bytes)
    }

    /// Makes a key and writes it to `path`, for its owner alone (0600). A key that is there is never replaced.
    ///
    /// # Errors
    ///
    /// [`KeyError::Exists`], [`KeyError::Unwritable`], or that the system has no randomness.
    pub fn generate(path: &Path) -> Result<Self, KeyError> {
        let unwritable = |source: io::Error| KeyError::Unwritable {
            path: path.to_owned(),
            source,
        };
        let mut seed = Zeroizing::new([0_u8; 32]);
        getrandom::fill(seed.as_mut_slice())
            .map_err(|error| unwritable(io::Error::other(error.to_string())))?;
        let text = Zeroizing::new(STANDARD.encode(seed.as_slice()));
        let mut new = OpenOptions::new();
        // `create_new` follows no link either.
        let mut file = match new.write(true).create_new(true).mode(0o600).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(KeyError::Exists(path.to_owned()));
            }
            Err(error) => return Err(unwritable(error)),
        };
        file.write_all(text.as_bytes())
            .and_then(|()| file.sync_all())
            .map_err(unwritable)?;
        Ok(Self(SigningKey::from_bytes(&seed)))
    }

    /// The key that verifies what this one signs.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        // A multiple of the base point by a clamped scalar is never of small order.
        PublicKey(self.0.verifying_key())
    }

    /// The base64 of the 64-byte signature over `message`; the same every time.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> String {
        STANDARD.encode(self.0.sign(message).to_bytes())
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey of {:?}", self.public())
    }
}

/// Takes from others what they may do with the file of a key.
fn close(path: &Path) -> Result<(), KeyError> {
    let open = |mode| KeyError::Open {
        path: path.to_owned(),
        mode,
    };
    let metadata = std::fs::metadata(path).map_err(|source| FileError::Io {
        path: path.to_owned(),
        source,
    })?;
    let mode = metadata.mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let closed = Permissions::from_mode(mode & 0o700);
    std::fs::set_permissions(path, closed).map_err(|_| open(mode))?;
    tracing::warn!(
        "others could use the key {} (mode {mode:04o}): it is closed to them now",
        path.display()
    );
    Ok(())
}

/// `<directory>/<signer>.key`.
///
/// # Errors
///
/// [`KeyError::SignerName`] for a name that may not stand in another file.
pub fn signing_key_path(directory: &Path, signer: &str) -> Result<PathBuf, KeyError> {
    if is_name(signer) {
        Ok(directory.join(format!("{signer}.key")))
    } else {
        Err(KeyError::SignerName(signer.to_owned()))
    }
}

/// Refuses a directory of secret keys that lies inside `root`, symbolic links resolved.
///
/// # Errors
///
/// [`KeyError::InsideRoot`], or [`KeyError::File`] if one of both cannot be resolved.
pub fn refuse_inside(root: &Path, directory: &Path) -> Result<(), KeyError> {
    let resolve = |path: &Path| {
        path.canonicalize()
            .map_err(|source: io::Error| FileError::Io {
                path: path.to_owned(),
                source,
            })
    };
    let (root, directory) = (resolve(root)?, resolve(directory)?);
    if directory.starts_with(&root) {
        Err(KeyError::InsideRoot { directory, root })
    } else {
        Ok(())
    }
}
