use super::*;
use std::os::unix::fs::symlink;

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn fifo(path: &Path) {
    let kind = FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, path, kind, Mode::from_raw_mode(0o600), 0).unwrap();
}

#[test]
fn a_file_is_read_up_to_its_limit_and_not_one_byte_further() {
    let directory = directory();
    let path = directory.path().join("manifest.json");
    std::fs::write(&path, b"0123456789").unwrap();
    assert_eq!(read_bounded(&path, 10).unwrap(), b"0123456789");
    let message = read_bounded(&path, 9).unwrap_err().to_string();
    assert!(message.starts_with("manifest.json exceeds maximum size (10 bytes > 9 bytes)"));
    let message = read_bounded_as(&path, 9, "policy").unwrap_err().to_string();
    assert!(message.starts_with("policy exceeds maximum size (10 bytes > 9 bytes)"));
}

#[test]
fn a_file_whose_size_is_not_known_in_advance_is_bounded_too() {
    // Says it has 0 bytes and has many.
    let message = read_bounded(Path::new("/proc/self/maps"), 5).unwrap_err();
    assert!(
        message
            .to_string()
            .starts_with("maps exceeds maximum size (6 bytes > 5 bytes)"),
        "{message}"
    );
}

#[test]
fn nothing_but_a_regular_file_is_read_and_nothing_blocks() {
    let directory = directory();
    let pipe = directory.path().join("pipe");
    fifo(&pipe);
    for path in [pipe.as_path(), directory.path(), Path::new("/dev/zero")] {
        let error = read_bounded(path, 10).unwrap_err();
        assert!(matches!(error, FileError::NotRegular { .. }), "{error}");
        assert!(!error.is_missing());
    }
    let missing = read_bounded(&directory.path().join("a\nb"), 10).unwrap_err();
    assert!(missing.is_missing());
    assert!(missing.to_string().contains(r"a\u{a}b: "), "{missing}");
}

#[test]
fn a_written_file_is_the_owner_s_alone_and_holds_nothing_of_the_old_one() {
    let directory = directory();
    let path = directory.path().join("manifest.json");
    write_replacing(&path, b"long content", 0o600).unwrap();
    assert_eq!(mode(&path), 0o600);
    std::fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
    write_replacing(&path, b"short", 0o600).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"short");
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn nothing_is_written_through_a_symlink() {
    let directory = directory();
    let target = directory.path().join("target");
    let link = directory.path().join("link");
    let dangling = directory.path().join("dangling");
    std::fs::write(&target, b"old").unwrap();
    symlink(&target, &link).unwrap();
    symlink(directory.path().join("new"), &dangling).unwrap();
    for path in [&link, &dangling] {
        let error = write_replacing(path, b"new", 0o600).unwrap_err();
        let message = error.to_string();
        assert!(
            message.starts_with("refusing to write through symlink: "),
            "{message}"
        );
    }
    assert_eq!(std::fs::read(&target).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 3);
}

#[test]
fn what_is_no_regular_file_is_not_written_and_nothing_blocks() {
    let directory = directory();
    let pipe = directory.path().join("pipe");
    fifo(&pipe);
    for path in [pipe.as_path(), directory.path()] {
        let error = write_replacing(path, b"new", 0o600).unwrap_err();
        assert!(matches!(error, FileError::NotRegular { .. }), "{error}");
    }
}

#[test]
fn a_replaced_file_has_the_mode_asked_for_and_leaves_nothing_beside_it() {
    let directory = directory();
    let path = directory.path().join("index.json");
    write_replacing(&path, b"one", 0o644).unwrap();
    write_replacing(&path, b"two", 0o600).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"two");
    assert_eq!(mode(&path), 0o600);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_file_that_cannot_be_replaced_leaves_nothing_beside_it() {
    let directory = directory();
    let path = directory.path().join("index.json");
    std::fs::create_dir(&path).unwrap();
    assert!(write_replacing(&path, b"one", 0o644).is_err());
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    let nowhere = directory.path().join("no/index.json");
    assert!(
        write_replacing(&nowhere, b"one", 0o644)
            .unwrap_err()
            .is_missing()
    );
}
