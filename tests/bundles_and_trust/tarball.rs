//! Tar headers as an archive has them and worse, written byte for byte.

/// The archive of a bundle, before compression.
pub(crate) struct Tarball {
    bytes: Vec<u8>,
}

impl Tarball {
    pub(crate) fn new() -> Self {
        Self { bytes: Vec::new() }
    }

    /// A regular entry of mode 0644.
    pub(crate) fn file(self, name: &str, body: &[u8]) -> Self {
        self.entry(name, "0000644", 0, "", body)
    }

    pub(crate) fn entry(
        mut self,
        name: &str,
        mode: &str,
        kind: u8,
        link: &str,
        body: &[u8],
    ) -> Self {
        let header = header(name, mode, body.len(), kind, link);
        self.bytes.extend(header);
        self.bytes.extend(body);
        self.bytes.resize(self.bytes.len().next_multiple_of(512), 0);
        self
    }

    /// A header that promises `size` bytes, and these instead.
    pub(crate) fn lying(mut self, name: &str, size: usize, body: &[u8]) -> Self {
        self.bytes.extend(header(name, "0000644", size, 0, ""));
        self.bytes.extend(body);
        self.bytes.resize(self.bytes.len().next_multiple_of(512), 0);
        self
    }

    pub(crate) fn end(mut self) -> Vec<u8> {
        self.bytes.extend([0; 1024]);
        self.bytes
    }

    /// The bytes so far, without an end.
    pub(crate) fn unfinished(self) -> Vec<u8> {
        self.bytes
    }
}

fn header(name: &str, mode: &str, size: usize, kind: u8, link: &str) -> Vec<u8> {
    let mut header = vec![0; 512];
    let mut put = |at: usize, text: &[u8]| header[at..at + text.len()].copy_from_slice(text);
    put(0, name.as_bytes());
    put(100, mode.as_bytes());
    put(108, b"0000000");
    put(116, b"0000000");
    put(124, format!("{size:011o}").as_bytes());
    put(136, b"00000000000");
    put(148, b"        ");
    put(156, &[kind]);
    put(157, link.as_bytes());
    put(257, b"ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:07o}\0").as_bytes());
    header
}

pub(crate) fn compressed(tar: &[u8]) -> Vec<u8> {
    zstd::encode_all(tar, 3).unwrap()
}
