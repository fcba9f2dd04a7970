use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::{CallFiles, Inputs};
use super::operation;
use crate::failure::{Code, Failure};

fn open(given: Value, fs_read: &[PathBuf]) -> Result<Vec<u8>, Code> {
    let file = operation("kit", "file");
    let inputs = Inputs::of(json!({"files": {"notes.txt": given}}));
    CallFiles::open(&file, &inputs, fs_read)
        .map(|files| files.get("notes.txt").unwrap().to_vec())
        .map_err(|failure| {
            names_the_file(&failure);
            failure.code
        })
}

fn names_the_file(failure: &Failure) {
    assert_eq!(failure.path.as_deref(), Some("files.notes.txt"));
}

#[test]
fn a_file_comes_with_the_call() {
    assert_eq!(
        open(json!({"content-b64": "YQA="}), &[]),
        Ok(b"a\0".to_vec())
    );
    assert_eq!(
        open(json!({"content-b64": "!"}), &[]),
        Err(Code::InvalidInput)
    );
}

#[test]
fn a_path_must_lie_in_fs_read() {
    let permitted = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let directory = permitted.path();
    std::fs::create_dir(directory.join("sub")).unwrap();
    std::fs::write(directory.join("sub/notes.txt"), "notes").unwrap();
    std::fs::write(elsewhere.path().join("secret.txt"), "secret").unwrap();
    symlink(
        elsewhere.path().join("secret.txt"),
        directory.join("link.txt"),
    )
    .unwrap();
    symlink(elsewhere.path(), directory.join("link")).unwrap();
    symlink(directory.join("sub"), directory.join("inner")).unwrap();
    let fs_read = [directory.to_owned()];
    let at = |path: &str| json!({"path": format!("{}/{path}", directory.display())});

    assert_eq!(open(at("sub/notes.txt"), &fs_read), Ok(b"notes".to_vec()));
    assert_eq!(
        open(at("inner/notes.txt"), &fs_read),
        Ok(b"notes".to_vec()),
        "a link that stays inside"
    );
    for path in [
        "link.txt",
        "link/secret.txt",
        "../",
        "sub",
        "",
        "missing",
        "sub/../../../../../etc/hostname",
        "a\0b",
    ] {
        assert_eq!(
            open(at(path), &fs_read),
            Err(Code::PathNotAllowed),
            "{path}"
        );
    }
    for path in [
        "/etc/passwd",
        "notes.txt",
        "",
        "/proc/self/environ",
        "/dev/zero",
    ] {
        let given = json!({"path": path});
        assert_eq!(open(given, &fs_read), Err(Code::PathNotAllowed), "{path}");
    }
    assert_eq!(
        open(at("sub/notes.txt"), &[]),
        Err(Code::PathNotAllowed),
        "no directory is permitted"
    );
}

/// A link on the way leads inside and outside by turns: what lies outside is never read.
#[test]
fn a_link_that_is_exchanged_meanwhile_leads_nowhere_else() {
    let permitted = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let directory = permitted.path();
    std::fs::create_dir(directory.join("real")).unwrap();
    std::fs::write(directory.join("real/notes.txt"), "notes").unwrap();
    std::fs::write(elsewhere.path().join("notes.txt"), "secret").unwrap();
    let fs_read = [directory.to_owned()];
    let given = json!({"path": directory.join("way/notes.txt")});
    let over = AtomicBool::new(false);
    let (inside, outside, leaked) = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                for target in [Path::new("real"), elsewhere.path()] {
                    symlink(target, directory.join("next")).unwrap();
                    std::fs::rename(directory.join("next"), directory.join("way")).unwrap();
                }
            }
        });
        let started = Instant::now();
        let (mut inside, mut outside, mut leaked) = (0, 0, 0);
        // On until both targets have been met often, which on a busy machine may take a while.
        while (inside < 200 || outside < 200) && started.elapsed() < Duration::from_secs(10) {
            match open(given.clone(), &fs_read) {
                Ok(bytes) if bytes == b"notes" => inside += 1,
                Err(Code::PathNotAllowed) => outside += 1,
                _ => leaked += 1,
            }
        }
        over.store(true, Ordering::Relaxed);
        (inside, outside, leaked)
    });
    assert_eq!(leaked, 0);
    assert!(inside > 0 && outside > 0, "the race was never run");
}

#[test]
fn only_regular_files_are_read() {
    let fs_read = [PathBuf::from("/dev"), PathBuf::from("/proc")];
    for path in ["/dev/zero", "/dev/null"] {
        assert_eq!(
            open(json!({"path": path}), &fs_read),
            Err(Code::PathNotAllowed),
            "{path}"
        );
    }
    let directory = tempfile::tempdir().unwrap();
    let fifo = directory.path().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    assert_eq!(
        open(json!({"path": fifo}), &[directory.path().to_owned()]),
        Err(Code::PathNotAllowed),
        "nobody writes into it, and nothing waits for that"
    );
}
