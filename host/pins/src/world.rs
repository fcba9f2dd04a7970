//! The host world id: which interface a host offers its components.

use hydrant_base::Digest;

/// Hex digits of the id.
const DIGITS: usize = 40;

/// The first 40 hex digits of the SHA-256 over path, 00, bytes, 00 of every WIT file, in byte order of the paths.
///
/// `files` are all `*.wit` files below `wit/` with their paths relative to it, in any order.
#[must_use]
pub fn world_id(files: &[(&str, &[u8])]) -> String {
    let mut files = files.to_vec();
    files.sort_unstable_by_key(|(path, _)| *path);
    let mut preimage = Vec::new();
    for (path, bytes) in files {
        preimage.extend_from_slice(path.as_bytes());
        preimage.push(0);
        preimage.extend_from_slice(bytes);
        preimage.push(0);
    }
    Digest::of(&preimage).hex().chars().take(DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked by `printf 'a.wit\0x\0b/c.wit\0yz\0' | sha256sum`.
    #[test]
    fn the_world_id_does_not_depend_on_the_order_of_the_files() {
        let one: (&str, &[u8]) = ("a.wit", b"x");
        let other: (&str, &[u8]) = ("b/c.wit", b"yz");
        let id = world_id(&[one, other]);
        assert_eq!(id, "3495d0e0ea7153771124db0bff7d3037cc852248");
        assert_eq!(world_id(&[other, one]), id);
    }

    #[test]
    fn a_byte_that_moves_from_a_path_to_a_file_changes_the_world_id() {
        let id = world_id(&[("a", b"bc")]);
        assert_ne!(world_id(&[("ab", b"c")]), id);
        assert_ne!(world_id(&[("a", b"bc"), ("b", b"")]), id);
    }
}
