//! Archives changed at random: the reader never panics, and what it still accepts is what was written.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::super::testing::{BLOCK, compressed, signed_package, tar_of};
use super::super::{archive, read_archive};

/// Compressing at level 19 takes longer than reading; once is enough.
static GOOD: LazyLock<Vec<u8>> = LazyLock::new(|| archive(&signed_package()).unwrap());

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn arbitrary_bytes_are_no_archive(bytes in proptest::collection::vec(any::<u8>(), 0..2048)) {
        prop_assert!(read_archive(&bytes).is_err());
        prop_assert!(read_archive(&compressed(&bytes)).is_err());
    }

    #[test]
    fn appended_bytes_are_never_accepted(
        tail in proptest::collection::vec(any::<u8>(), 1..600),
        repeated in any::<bool>(),
    ) {
        let good = GOOD.as_slice();
        let again = good.iter().copied().take(if repeated { good.len() } else { 0 });
        let bytes: Vec<u8> = good.iter().copied().chain(again).chain(tail.iter().copied()).collect();
        prop_assert_eq!(read_archive(&bytes).unwrap_err().to_string(), "trailing data in archive");

        let mut tar = tar_of(&signed_package());
        tar.extend_from_slice(&tail);
        let read = read_archive(&compressed(&tar));
        prop_assert_eq!(read.is_ok(), tail.iter().all(|byte| *byte == 0));
    }

    #[test]
    fn a_changed_header_is_refused_or_says_the_same(
        header in 0_usize..3, at in 0..BLOCK, to in any::<u8>(),
    ) {
        let mut tar = tar_of(&signed_package());
        // The headers of the signed package's three entries.
        let starts: Vec<_> = (0..tar.len())
            .step_by(BLOCK)
            .filter(|start| tar[start + 257..].starts_with(b"ustar\0"))
            .collect();
        tar[starts[header] + at] = to;
        // A checksum field may end in blanks instead of NULs; nothing else may change.
        if let Ok(read) = read_archive(&compressed(&tar)) {
            prop_assert_eq!(read, signed_package());
        }
    }

    #[test]
    fn a_much_changed_tar_stream_never_gives_more_than_it_holds(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
        truncate in any::<bool>(),
    ) {
        let mut tar = tar_of(&signed_package());
        for (at, to) in changes {
            let at = at.index(tar.len());
            tar[at] = to;
        }
        if truncate {
            tar.truncate(cut.index(tar.len()));
        }
        if let Ok(read) = read_archive(&compressed(&tar)) {
            let kept: usize = read.files().map(|(_, bytes)| bytes.len()).sum();
            prop_assert!(kept < tar.len());
            prop_assert_eq!(read_archive(&compressed(&tar_of(&read))).unwrap(), read);
        }
    }

    /// The reader must survive; the digest of the archive is not its business.
    #[test]
    fn a_changed_frame_never_panics(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = GOOD.clone();
        for (at, to) in changes {
            let at = at.index(bytes.len());
            bytes[at] = to;
        }
        if let Ok(read) = read_archive(&bytes) {
            prop_assert!(!read.manifest().is_empty() && !read.wasm().is_empty());
        }
    }
}
