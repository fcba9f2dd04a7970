//! The mutation test: one bit flipped at every byte of the small files of a root, and at 64 places of
//! the component. Each is found, with the right exit code and a message that names file and row.
//!
//! No position is skipped. White space between the tokens of `manifest.json` and `signatures.json`
//! counts for nothing, but one flipped bit turns a space or line feed into something that is no
//! white space: the four white-space bytes of JSON, 09 0a 0d 20, differ in at least two bits each. So a
//! flip there is a syntax error. The other files count byte for byte.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::root::{LOCK, RING, Root, SIGNATURE, Verdict};

const AT: &str = "skills/demo.echo/0.1.0";

/// What a flip in a file may be reported as.
struct Expected {
    file: &'static str,
    /// Exit codes. Where there are several, the flipped byte decides what else it breaks.
    exits: &'static [i32],
    /// One of these rows is among the findings.
    rows: &'static [&'static str],
    /// The finding of that row names one of these, in its path or its message.
    names: &'static [&'static str],
}

#[rustfmt::skip]
const FILES: [Expected; 8] = [
    Expected { file: LOCK, exits: &[3], rows: &["TV-04"], names: &[LOCK] },
    Expected { file: RING, exits: &[3], rows: &["TV-02"], names: &[RING] },
    Expected { file: SIGNATURE, exits: &[3], rows: &["TV-04"], names: &[SIGNATURE] },
    Expected {
        file: "skills/demo.echo/0.1.0/manifest.json", exits: &[2, 3, 4],
        rows: &["TV-12"], names: &["manifest.json", "canonical manifest hash", "manifest.artifact"],
    },
    Expected {
        file: "skills/demo.echo/0.1.0/signatures.json", exits: &[2, 3],
        rows: &["TV-12", "TV-17"], names: &["signatures.json", "signatures.", "signer"],
    },
    Expected { file: "skills/demo.echo/0.1.0/bundle-meta.json", exits: &[2], rows: &["TV-20"], names: &["bundle-meta.json"] },
    Expected { file: "skills/demo.echo/0.1.0/public-keys.json", exits: &[3], rows: &["TV-13"], names: &["public-keys.json"] },
    Expected { file: "skills/demo.echo/SKILL.md", exits: &[2], rows: &["TV-22"], names: &["SKILL.md"] },
];

const COMPONENT: Expected = Expected {
    file: "skills/demo.echo/0.1.0/skill.wasm",
    exits: &[2, 3, 4],
    rows: &["TV-12"],
    names: &["skill.wasm"],
};

/// Another bit at every position, so that all eight are met, case and sign alike.
fn bit(position: usize) -> u8 {
    1 << (position % 8)
}

fn assert_found(root: &Root, expected: &Expected, original: &[u8], position: usize) {
    let mut bytes = original.to_vec();
    bytes[position] ^= bit(position);
    root.folder.write(expected.file, &bytes);
    let verdict = root.verify(&[]);
    let context = || format!("{} byte {position}: {:?}", expected.file, verdict.run);
    assert!(
        expected.exits.contains(&verdict.run.status),
        "{}",
        context()
    );
    assert!(named(&verdict, expected), "{}", context());
}

fn named(verdict: &Verdict, expected: &Expected) -> bool {
    verdict.findings().iter().any(|finding| {
        let text = |member: &str| finding[member].as_str().unwrap_or_default();
        expected.rows.contains(&text("row"))
            && expected
                .names
                .iter()
                .any(|name| text("path").contains(name) || text("message").contains(name))
    })
}

/// Every position of a file, by two workers with a root each.
fn every(expected: &Expected, positions: &[usize]) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let root = Root::new();
                root.assert_verifies();
                let original = root.folder.read(expected.file);
                while let Some(position) = positions.get(next.fetch_add(1, Relaxed)) {
                    assert_found(&root, expected, &original, *position);
                }
                root.folder.write(expected.file, &original);
                root.assert_verifies();
            });
        }
    });
}

fn exhaustive(index: usize) {
    let expected = &FILES[index];
    let length = Root::new().folder.read(expected.file).len();
    every(expected, &(0..length).collect::<Vec<_>>());
}

#[test]
fn every_byte_of_the_lock_counts() {
    exhaustive(0);
}

#[test]
fn every_byte_of_the_ring_counts() {
    exhaustive(1);
}

#[test]
fn every_byte_of_the_lock_signature_counts() {
    exhaustive(2);
}

#[test]
fn every_byte_of_the_manifest_counts() {
    exhaustive(3);
}

#[test]
fn every_byte_of_the_signatures_counts() {
    exhaustive(4);
}

#[test]
fn every_byte_of_the_meta_file_counts() {
    exhaustive(5);
}

#[test]
fn every_byte_of_the_ring_copy_counts() {
    exhaustive(6);
}

#[test]
fn every_byte_of_the_skill_text_counts() {
    exhaustive(7);
}

#[test]
fn sampled_bytes_of_the_component_count() {
    let length = Root::new().folder.read(COMPONENT.file).len();
    // 61 spread evenly, and both ends.
    let mut positions: Vec<usize> = (0..61).map(|sample| sample * length / 61).collect();
    positions.extend([1, length - 2, length - 1]);
    every(&COMPONENT, &positions);
}

/// Bytes added or cut off at the end are found like flipped ones.
#[test]
fn a_longer_or_shorter_file_is_found() {
    for expected in FILES.iter().chain([&COMPONENT]) {
        let root = Root::new();
        let original = root.folder.read(expected.file);
        root.folder
            .write(expected.file, &original[..original.len() - 1]);
        let verdict = root.verify(&[]);
        assert!(
            expected.exits.contains(&verdict.run.status),
            "{}: {:?}",
            expected.file,
            verdict.run
        );
        assert!(
            named(&verdict, expected),
            "{}: {:?}",
            expected.file,
            verdict.run
        );
        let longer = [original.as_slice(), b"}"].concat();
        root.folder.write(expected.file, longer);
        let verdict = root.verify(&[]);
        assert!(
            expected.exits.contains(&verdict.run.status),
            "{}: {:?}",
            expected.file,
            verdict.run
        );
        assert!(
            named(&verdict, expected),
            "{}: {:?}",
            expected.file,
            verdict.run
        );
    }
    // The two files of which only the value counts may end in more white space.
    let root = Root::new();
    for name in ["manifest.json", "signatures.json"] {
        let file = format!("{AT}/{name}");
        root.folder
            .write(&file, [root.folder.read(&file).as_slice(), b"\n"].concat());
    }
    root.assert_verifies();
}
