use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::super::Envelope;
use super::super::testing::worked;
use super::super::{Denial, Reason, RequestId};
use super::*;

fn target(path: &Path) -> AuditTarget {
    AuditTarget::Required(path.to_owned())
}

fn envelope() -> Envelope {
    Envelope::allow(RequestId::fixed(), None, &worked(), None)
}

fn line(envelope: &Envelope) -> Vec<u8> {
    let mut lines = Vec::new();
    envelope.write_to(&mut lines);
    lines
}

fn refusal(path: &Path) -> String {
    AuditLog::open(&target(path)).unwrap_err().to_string()
}

#[test]
fn the_first_place_that_names_a_target_counts() {
    let [flag, variable, configuration] = ["/f", "/v", "/c"].map(OsStr::new);
    let mut sources = TargetSources {
        flag: Some(flag),
        variable: Some(variable),
        configuration: Some(configuration),
        home: Some(Path::new("/home/u/.hydrant")),
    };
    assert_eq!(AuditTarget::of(sources), target(Path::new("/f")));
    sources.flag = None;
    assert_eq!(AuditTarget::of(sources), target(Path::new("/v")));
    sources.variable = Some(OsStr::new(""));
    assert_eq!(AuditTarget::of(sources), target(Path::new("/c")));
    sources.configuration = None;
    let default = PathBuf::from("/home/u/.hydrant/state/audit.jsonl");
    assert_eq!(AuditTarget::of(sources), AuditTarget::Default(default));
    // Compatible commands give neither configuration nor home.
    assert_eq!(AuditTarget::of(TargetSources::default()), AuditTarget::Off);
}

#[test]
fn off_in_any_place_means_no_log() {
    let off = Some(OsStr::new("off"));
    let home = Some(Path::new("/home/u/.hydrant"));
    let base = TargetSources {
        home,
        ..TargetSources::default()
    };
    for sources in [
        TargetSources { flag: off, ..base },
        TargetSources {
            variable: off,
            ..base
        },
        TargetSources {
            configuration: off,
            ..base
        },
    ] {
        assert_eq!(AuditTarget::of(sources), AuditTarget::Off);
    }
    assert!(AuditLog::open(&AuditTarget::Off).unwrap().is_none());
}

#[test]
fn lines_are_appended_with_mode_0600() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    for _ in 0..2 {
        let log = AuditLog::open(&target(&path)).unwrap().unwrap();
        log.lines(&line(&envelope())).unwrap();
    }
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 2);
    assert!(text.ends_with("}\n"), "{text}");
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
}

#[test]
fn two_logs_on_one_file_keep_whole_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let log = AuditLog::open(&target(&path)).unwrap().unwrap();
                for _ in 0..50 {
                    log.lines(&line(&envelope())).unwrap();
                }
            });
        }
    });
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 200);
    for line in text.lines() {
        assert!(
            serde_json::from_str::<serde_json::Value>(line).is_ok(),
            "{line}"
        );
    }
}

#[test]
fn a_symlink_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().join("real");
    fs::write(&real, "").unwrap();
    let link = folder.path().join("link");
    symlink(&real, &link).unwrap();
    assert!(refusal(&link).contains("cannot be opened"));
    let dangling = folder.path().join("dangling");
    symlink(folder.path().join("new"), &dangling).unwrap();
    assert!(refusal(&dangling).contains("cannot be opened"));
    assert!(!folder.path().join("new").exists());
}

#[test]
fn a_target_that_cannot_be_written_refuses_the_call() {
    let folder = tempfile::tempdir().unwrap();
    assert!(refusal(folder.path()).contains("cannot be opened"));
    let missing = folder.path().join("missing").join("audit.jsonl");
    assert!(refusal(&missing).contains("missing/audit.jsonl cannot be opened"));
}

#[test]
fn a_pipe_or_device_is_refused_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    rustix::fs::mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
    assert!(refusal(&pipe).contains("cannot be opened"));
    // With a reader the pipe opens, and its type is what refuses it.
    let reader = openat(CWD, &pipe, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()).unwrap();
    assert!(refusal(&pipe).contains("is no regular file"));
    drop(reader);
    assert!(refusal(Path::new("/dev/null")).contains("is no regular file"));
}

#[test]
fn a_default_target_creates_its_folders() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("home").join("state").join("audit.jsonl");
    let log = AuditLog::open(&AuditTarget::Default(path.clone())).unwrap();
    log.unwrap().lines(&line(&envelope())).unwrap();
    assert!(path.is_file());
    let state = path.parent().unwrap();
    let mode = fs::metadata(state).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o700);
}

#[test]
fn a_default_target_that_cannot_be_written_lets_the_call_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let below = file.join("state").join("audit.jsonl");
    assert!(
        AuditLog::open(&AuditTarget::Default(below))
            .unwrap()
            .is_none()
    );
}

#[test]
fn a_line_that_cannot_be_written_fails_a_required_target_only() {
    for required in [true, false] {
        let path = PathBuf::from("/dev/full");
        let file = File::options().append(true).open(&path).unwrap();
        let log = AuditLog::new(file, &path, required);
        let denied = Envelope::deny(
            RequestId::fixed(),
            None,
            Denial::default(),
            Reason::PolicyInvalid,
        );
        assert_eq!(log.lines(&line(&denied)).is_err(), required);
    }
}
