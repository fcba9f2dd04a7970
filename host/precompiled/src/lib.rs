//! The pinned components as the program carries them: machine code, description and compressed bytes of each.
//!
//! The build script compiles every `skills/<id>/<version>/skill.wasm` for the target of the build, with the settings of
//! [`config()`], and asks it once for its description and its imports. What it made is a part of the program and is trusted as much as the
//! program's own code: it lies in the read-only data of the executable, at page boundaries, and is run where it lies.
//! Nothing here decides whether a component may run; that is what its signatures and the lock are for.

mod config;

pub use self::config::config;

/// A component that was compiled when the program was built.
#[derive(Debug)]
pub struct Precompiled {
    /// Where it lies in the source tree: `skills/<id>/<version>/skill.wasm`.
    pub path: &'static str,
    /// The digest of the component: `sha256:` and 64 lower-case hexadecimal digits.
    pub digest: &'static str,
    /// The component itself, compressed with zstd.
    pub compressed_wasm: &'static [u8],
    /// The length of the component in bytes.
    pub wasm_bytes: usize,
    /// Its machine code, as wasmtime serialises it, at a page boundary; empty where the build has no compiler for its target.
    pub machine_code: &'static [u8],
    /// CRC-32 of the machine code.
    pub crc32: u32,
    /// The names of its imports, without those that only name types.
    pub imports: &'static [&'static str],
    /// What its export `describe` returns.
    pub description: &'static str,
}

impl Precompiled {
    /// Whether there is machine code, and it is as it was made. This notices a damaged file, not an attacker: who can change
    /// the code can change the program.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        !self.machine_code.is_empty() && crc32fast::hash(self.machine_code) == self.crc32
    }
}

/// Bytes at a boundary of the largest page that a supported processor uses.
#[repr(C, align(65536))]
struct PageAligned<T: ?Sized>(T);

include!(concat!(env!("OUT_DIR"), "/components.rs"));

/// Returns the component with this digest, if the program was built with it.
#[must_use]
pub fn find(digest: &str) -> Option<&'static Precompiled> {
    COMPONENTS
        .iter()
        .find(|component| component.digest == digest)
}

/// Returns the component at this path of the source tree.
#[must_use]
pub fn at(path: &str) -> Option<&'static Precompiled> {
    COMPONENTS.iter().find(|component| component.path == path)
}
