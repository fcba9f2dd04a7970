//! `skill.wasm`: the component or core module of a bundle.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use super::Digest;

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
    /// Carried by the program; decompressed by whoever asks first.
    Compressed(Arc<Compressed>),
}

struct Compressed {
    zstd: &'static [u8],
    length: usize,
    bytes: OnceLock<Vec<u8>>,
}

impl Wasm {
    /// A component that the program carries, compressed with zstd. Its digest was computed when the program was built, and
    /// nothing is decompressed before somebody asks for the bytes.
    pub(crate) fn carried(digest: Digest, zstd: &'static [u8], length: usize) -> Self {
        let compressed = Compressed {
            zstd,
            length,
            bytes: OnceLock::new(),
        };
        Self {
            digest,
            bytes: Bytes::Compressed(Arc::new(compressed)),
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
                let bytes = zstd::bulk::decompress(compressed.zstd, compressed.length);
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

    /// Whether this is a part of the program, so that its digest was not computed here.
    #[must_use]
    pub fn is_carried(&self) -> bool {
        matches!(self.bytes, Bytes::Compressed(_))
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
