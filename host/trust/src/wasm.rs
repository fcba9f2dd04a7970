//! `skill.wasm`: the component or core module of a bundle.

use hydrant_base::Digest;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use super::component::{self, Imports, NotAComponent};

/// What the first 8 bytes of a `skill.wasm` announce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WasmForm {
    /// `00 61 73 6d 0d 00 01 00`
    Component,
    /// `00 61 73 6d 01 00 00 00`
    CoreModule,
    /// Neither.
    Other,
}

impl WasmForm {
    /// The form of `wasm`.
    #[must_use]
    pub fn of(wasm: &[u8]) -> Self {
        match wasm {
            [0, b'a', b's', b'm', 0x0d, 0, 1, 0, ..] => Self::Component,
            [0, b'a', b's', b'm', 1, 0, 0, 0, ..] => Self::CoreModule,
            _ => Self::Other,
        }
    }
}

/// The bytes of a `skill.wasm` and their digest, which is computed once.
#[derive(Clone)]
pub struct Wasm {
    digest: Digest,
    bytes: Bytes,
}

#[derive(Clone)]
enum Bytes {
    Here(Cow<'static, [u8]>),
    /// Carried by the program; decompressed when the bytes are first asked for.
    Compressed(Arc<Compressed>),
}

/// A component as the program carries it.
#[derive(Debug)]
pub struct Carried {
    /// Where it lies below an embedded root: `skills/<id>/<version>/skill.wasm`.
    pub path: &'static str,
    /// The digest of its bytes.
    pub digest: &'static str,
    /// Its bytes, compressed with zstd.
    pub zstd: &'static [u8],
    /// How many bytes it has.
    pub length: usize,
    /// The names of its imports, without those that only name types.
    pub imports: &'static [&'static str],
    /// What it answered when it was asked to describe itself.
    pub description: &'static str,
}

struct Compressed {
    component: &'static Carried,
    bytes: OnceLock<Vec<u8>>,
}

impl Wasm {
    /// A component that the program carries, compressed. Its digest was computed when the program was built, and it is
    /// decompressed only when its bytes are asked for.
    #[must_use]
    pub fn carried(component: &'static Carried) -> Self {
        Self {
            // The build script wrote it; were it no digest, no bundle would name it.
            digest: component.digest.parse().unwrap_or_else(|_| Digest::zero()),
            bytes: Bytes::Compressed(Arc::new(Compressed {
                component,
                bytes: OnceLock::new(),
            })),
        }
    }

    /// The digest of the bytes.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// The bytes. Empty, and so no component, if the program's copy is damaged.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Here(bytes) => bytes,
            Bytes::Compressed(compressed) => compressed.bytes.get_or_init(|| {
                let component = compressed.component;
                let bytes =
                    zstd::bulk::decompress(component.zstd, component.length);
                bytes
                    .ok()
                    .filter(|bytes| Digest::of(bytes) == self.digest)
                    .unwrap_or_else(|| {
                        tracing::error!(digest = %self.digest, "a component in this program is damaged");
                        Vec::new()
                    })
            }),
        }
    }

    /// What it imports. The imports of a carried component were read when the program was built.
    ///
    /// # Errors
    ///
    /// [`NotAComponent`]: another form, or bytes that do not parse.
    pub fn imports(&self) -> Result<Imports, NotAComponent> {
        match &self.bytes {
            Bytes::Here(bytes) => component::imports(bytes),
            Bytes::Compressed(compressed) => Ok(Imports::named(compressed.component.imports)),
        }
    }

    /// What it answers when it is asked to describe itself, if the program carries it: a component answers always the same.
    #[must_use]
    pub fn description(&self) -> Option<&'static str> {
        match &self.bytes {
            Bytes::Here(_) => None,
            Bytes::Compressed(compressed) => Some(compressed.component.description),
        }
    }

    /// How many bytes it takes in memory beyond those of the program.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        match &self.bytes {
            Bytes::Here(bytes) => bytes.len(),
            Bytes::Compressed(compressed) => compressed.bytes.get().map_or(0, Vec::len),
        }
    }

    /// What it announces itself as.
    #[must_use]
    pub fn form(&self) -> WasmForm {
        match &self.bytes {
            Bytes::Here(bytes) => WasmForm::of(bytes),
            // Nothing else was compiled when the program was built.
            Bytes::Compressed(_) => WasmForm::Component,
        }
    }
}

impl<B: Into<Cow<'static, [u8]>>> From<B> for Wasm {
    fn from(bytes: B) -> Self {
        let bytes = bytes.into();
        Self {
            digest: Digest::of(&bytes),
            bytes: Bytes::Here(bytes),
        }
    }
}

impl fmt::Debug for Wasm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Wasm").field(&self.digest).finish()
    }
}
