//! Hostile archives, one for each thing that is refused. That nothing of them is written follows from
//! where they are refused: the reader has no directory to write to. `install` has its own test of it.

use super::super::testing::{BLOCK, Raw, compressed, package, signed_package, tar_of, tar_with};
use super::super::{Package, PackageFile, read_archive};

mod sizes;

const MANIFEST: &str = "manifest.json";
const WASM: &str = "skill.wasm";

fn manifest() -> Raw {
    Raw::new(MANIFEST, b"m")
}

fn wasm() -> Raw {
    Raw::new(WASM, b"w")
}

fn small() -> Package {
    package(&[
        (PackageFile::Manifest, b"m".as_slice()),
        (PackageFile::Wasm, b"w"),
    ])
}

fn read(entries: &[Raw]) -> Result<Package, String> {
    read_tar(&tar_with(entries))
}

fn read_tar(tar: &[u8]) -> Result<Package, String> {
    read_bytes(&compressed(tar))
}

fn read_bytes(archive: &[u8]) -> Result<Package, String> {
    read_archive(archive).map_err(|error| error.to_string())
}

#[track_caller]
fn refused(entries: &[Raw], message: &str) {
    let error = read(entries).unwrap_err();
    assert!(error.contains(message), "{error}");
}

#[test]
fn entries_come_in_any_order_and_a_leading_dot_is_dropped() {
    let entries = [
        Raw::new("./skill.wasm", b"w"),
        Raw::new("././manifest.json", b"m"),
    ];
    assert_eq!(read(&entries).unwrap(), small());
}

/// GNU and V7 headers, as tar programs write them.
#[test]
fn archives_of_other_tar_programs_are_read() {
    for magic in [b"ustar  \0".as_slice(), &[0; 8]] {
        let mut entries = [manifest(), wasm()];
        for entry in &mut entries {
            entry.set(257, magic);
            // Times of a GNU header, where POSIX has a prefix.
            entry.set(345, b"00000000001\0");
        }
        assert_eq!(read(&entries).unwrap(), small());
    }
}

#[test]
fn a_name_that_leads_elsewhere_is_refused() {
    for name in [
        "../skill.wasm",
        "./../skill.wasm",
        "/skill.wasm",
        "//skill.wasm",
        "/etc/cron.d/x",
        "a/skill.wasm",
        "skill.wasm/",
        "..\\skill.wasm",
        "C:\\skill.wasm",
        "./",
        "",
    ] {
        refused(
            &[manifest(), Raw::new(name, b"w")],
            "invalid archive path: ",
        );
    }
    let mut prefixed = wasm();
    prefixed.set(345, b"../..");
    refused(
        &[manifest(), prefixed],
        "invalid archive path: ../../skill.wasm",
    );
}

#[test]
fn a_name_that_no_bundle_has_is_refused() {
    for name in [
        "..",
        ".",
        "SKILL.WASM",
        "skill.wasm ",
        "skill.wasm.",
        "meta.json",
        "bundle-meta.json",
        "provenance.json",
        "public-keys.json",
        ".manifest.json",
        "manifest.json\u{202e}",
    ] {
        let entries = [manifest(), wasm(), Raw::new(name, b"{}")];
        refused(&entries, "unexpected archive entry: ");
    }
}

#[test]
fn a_name_cannot_write_to_the_terminal() {
    let error = read(&[Raw::new("a\n\u{1b}[2J", b"")]).unwrap_err();
    assert!(error.contains(r"a\u{a}\u{1b}[2J"), "{error}");
    let long = "n".repeat(500_000);
    let error = read(&[Raw::pax(b'x', &[("path", &long)]), wasm()]).unwrap_err();
    assert!(error.len() < 400, "{}", error.len());
}

#[test]
fn links_and_special_files_are_refused_also_with_an_allowed_name() {
    for kind in b"12345678ADEFIMNSVXZ\x01\xff" {
        let mut entry = Raw::new(WASM, b"").kind(*kind);
        entry.set(157, b"/etc/passwd");
        refused(&[manifest(), entry], "unsupported archive entry type: ");
    }
    for kind in *b"LK" {
        let long = Raw::new("././@LongLink", b"skill.wasm\0").kind(kind);
        refused(
            &[manifest(), long, wasm()],
            "unsupported archive entry type: ",
        );
    }
    let sparse = Raw::new(WASM, b"w").kind(b'S');
    refused(
        &[manifest(), sparse],
        "unsupported archive entry type: typeflag S",
    );
}

#[test]
fn both_type_flags_of_a_regular_file_are_read() {
    for kind in [0, b'0'] {
        assert_eq!(
            read(&[manifest().kind(kind), wasm().kind(kind)]).unwrap(),
            small()
        );
    }
}

#[test]
fn harmless_pax_records_change_nothing() {
    let records = [
        ("mtime", "1.5"),
        ("uid", "1000"),
        ("comment", "x=y"),
        ("SCHILY.dev", "1"),
    ];
    let entries = [
        Raw::pax(b'g', &[("comment", "0123456789abcdef")]),
        Raw::pax(b'x', &records),
        manifest(),
        Raw::pax(b'x', &records),
        wasm(),
    ];
    assert_eq!(read(&entries).unwrap(), small());
}

#[test]
fn pax_names_and_sizes_are_checked_like_any_other() {
    // What is not refused is applied: here both files get their names by PAX alone.
    let good = [
        Raw::pax(b'x', &[("path", "./manifest.json"), ("size", "1")]),
        Raw::new("other", b"m"),
        Raw::pax(b'x', &[("path", WASM)]),
        Raw::new("@long", b"w"),
    ];
    assert_eq!(read(&good).unwrap(), small());
    for (records, message) in [
        ([("path", "../skill.wasm")], "invalid archive path: "),
        ([("path", "/skill.wasm")], "invalid archive path: "),
        ([("path", "other")], "unexpected archive entry: "),
        ([("path", "skill.wasm\0")], "unexpected archive entry: "),
        ([("path", MANIFEST)], "duplicate archive entry: "),
        (
            [("size", "16777217")],
            "artifact entry skill.wasm exceeds maximum size",
        ),
        ([("size", "18446744073709551615")], "exceeds maximum size"),
        ([("size", "-1")], "invalid archive header: "),
        ([("size", "0x10")], "invalid archive header: "),
        ([("size", "2000")], "invalid archive header: a PAX size"),
        ([("size", "0")], "invalid archive header: a PAX size"),
        (
            [("linkpath", "/etc/passwd")],
            "unsupported archive entry type: ",
        ),
        (
            [("GNU.sparse.major", "1")],
            "unsupported archive entry type: ",
        ),
        (
            [("GNU.sparse.realsize", "9")],
            "unsupported archive entry type: ",
        ),
        (
            [("SCHILY.realsize", "9")],
            "unsupported archive entry type: ",
        ),
    ] {
        refused(&[manifest(), Raw::pax(b'x', &records), wasm()], message);
        // What a global header says of one entry, it says of all that follow.
        let global = Raw::pax(b'g', &records);
        refused(&[manifest(), global, wasm()], "invalid archive header: ");
    }
}

/// The `tar` crate ends at the empty line.
#[test]
fn a_pax_record_behind_an_empty_line_is_not_passed_over() {
    let hidden = Raw::new("x", b"\n22 path=manifest.json\n").kind(b'x');
    refused(&[manifest(), hidden, wasm()], "invalid archive header: ");
}

/// The `tar` crate gives a header of another version no prefix.
#[test]
fn a_prefix_is_not_hidden_by_the_version_of_the_header() {
    let mut prefixed = wasm();
    prefixed.set(345, b"../..");
    prefixed.set(263, b"01");
    refused(&[manifest(), prefixed], "invalid archive header: ");
}

/// The `tar` crate reads a checksum up to the first NUL, a plus sign before it too.
#[test]
fn a_checksum_is_octal_digits_and_padding() {
    for (at, byte) in [(148, b'+'), (155, b'7')] {
        let mut entry = manifest();
        entry.header[at] = byte;
        let message = "invalid archive header: the checksum does not match";
        refused(&[entry, wasm()], message);
    }
}

#[test]
fn a_pax_header_stands_before_the_entry_it_describes() {
    let header = || Raw::pax(b'x', &[("mtime", "1")]);
    let message = "invalid archive header: ";
    refused(&[manifest(), wasm(), header()], message);
    refused(&[header(), header(), manifest(), wasm()], message);
    refused(
        &[header(), header().kind(b'g'), manifest(), wasm()],
        message,
    );
    let malformed = Raw::new("x", b"99 path=x\n").kind(b'x');
    refused(&[malformed, manifest(), wasm()], message);
}

#[test]
fn a_name_occurs_once() {
    let twice = [manifest(), wasm(), Raw::new("./skill.wasm", b"x")];
    refused(&twice, "duplicate archive entry: skill.wasm");
    let empty_first = [manifest(), Raw::new(WASM, b""), wasm()];
    refused(&empty_first, "duplicate archive entry: skill.wasm");
}

#[test]
fn only_zeros_follow_the_end_blocks() {
    let good = tar_of(&small());
    let padded = [good.as_slice(), &[0; 10_240]].concat();
    assert_eq!(read_tar(&padded).unwrap(), small());
    let odd = [good.as_slice(), &[0; 3]].concat();
    assert_eq!(read_tar(&odd).unwrap(), small());

    let message = "trailing data in archive";
    for tail in [
        [1].as_slice(),
        &[vec![0; 200_000], vec![7]].concat(),
        &tar_with(&[Raw::new("extra", b"")]),
    ] {
        assert_eq!(read_tar(&[&good, tail].concat()).unwrap_err(), message);
    }
    // Something else in place of the second end block.
    let one_block = &good[..good.len() - BLOCK];
    let entry = tar_with(&[Raw::new("sbom.spdx.json", b"{}")]);
    assert_eq!(
        read_tar(&[one_block, &entry].concat()).unwrap_err(),
        message
    );
}

#[test]
fn nothing_follows_the_frame() {
    let archive = compressed(&tar_of(&small()));
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, b'j', b'u', b'n', b'k'];
    for tail in [
        b"\0".as_slice(),
        b"junk",
        &skippable,
        &compressed(b""),
        &compressed(&[0; 512]),
        &archive,
    ] {
        let error = read_bytes(&[&archive, tail].concat()).unwrap_err();
        assert_eq!(error, "trailing data in archive");
    }
    assert!(read_bytes(&[&skippable, archive.as_slice()].concat()).is_err());
}

#[test]
fn manifest_and_wasm_are_there_and_not_empty() {
    let missing = |name: &str| format!("artifact missing required file {name}");
    refused(&[wasm()], &missing(MANIFEST));
    refused(&[manifest()], &missing(WASM));
    refused(&[Raw::new(MANIFEST, b""), wasm()], &missing(MANIFEST));
    refused(&[manifest(), Raw::new(WASM, b"")], &missing(WASM));
    refused(&[], &missing(MANIFEST));
}

#[test]
fn a_truncated_archive_is_refused_wherever_it_ends() {
    let tar = tar_of(&signed_package());
    for end in (0..tar.len())
        .step_by(97)
        .chain([tar.len() - 1, tar.len() - BLOCK])
    {
        let error = read_tar(&tar[..end]).unwrap_err();
        assert!(error.contains("truncated"), "{end}: {error}");
    }
    let archive = compressed(&tar);
    for end in 0..archive.len() {
        assert!(read_bytes(&archive[..end]).is_err(), "{end}");
    }
}

#[test]
fn a_header_that_is_none_is_refused() {
    let mut wrong = manifest();
    wrong.header[0] = b'M';
    refused(
        &[wrong, wasm()],
        "invalid archive header: the checksum does not match",
    );
    for size in [
        b"\x80\0\0\0\0\0\0\0\0\0\0\x01".as_slice(), // base 256
        &[0xff; 12],                                // base 256, -1
        b"-0000000001\0",
        b"           \0",
        b"\0\0\0\0\0\0\0\0\0\0\0\0",
        b"0000000000z\0",
    ] {
        refused(
            &[manifest().size(size), wasm()],
            "invalid archive header: the size",
        );
    }
    assert!(
        read_bytes(b"PK\x03\x04 not zstd")
            .unwrap_err()
            .contains("not a valid zstd stream")
    );
}
