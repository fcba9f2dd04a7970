use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use super::*;

fn folder() -> (tempfile::TempDir, PathBuf) {
    let base = tempfile::tempdir().unwrap();
    let path = base.path().canonicalize().unwrap().join("a/b");
    (base, path)
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_missing_folder_is_made_with_its_parents_for_its_owner_alone() {
    let (_base, path) = folder();
    TempFolder::make(&path).unwrap();
    assert_eq!(mode(&path), 0o700);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
}

#[test]
fn a_folder_that_others_may_write_is_closed_to_them() {
    let (_base, path) = folder();
    for open in [0o777, 0o1777, 0o770] {
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(open)).unwrap();
        TempFolder::make(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
    }
    // One that others may only read is left as it is.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    TempFolder::make(&path).unwrap();
    assert_eq!(mode(&path), 0o755);
}

/// However the name is spelled, and whether or not the link leads anywhere.
#[test]
fn a_link_in_the_place_of_the_folder_is_refused() {
    let (base, path) = folder();
    let target = base.path().join("target");
    fs::create_dir_all(&target).unwrap();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(&target, &path).unwrap();
    for spelled in [
        path.clone(),
        PathBuf::from(format!("{}/", path.display())),
        PathBuf::from(format!("{}//", path.display())),
        PathBuf::from(format!("{}/.", path.display())),
    ] {
        let error = TempFolder::make(&spelled).unwrap_err().to_string();
        assert!(error.contains("symbolic link"), "{error}");
        assert!(error.contains("HYDRANT_TMPDIR"), "{error}");
    }
    fs::remove_dir(&target).unwrap();
    let error = TempFolder::make(&path).unwrap_err().to_string();
    assert!(error.contains("symbolic link"), "{error}");
    assert!(!target.exists());
}

#[test]
fn a_file_or_a_fifo_in_the_place_of_the_folder_is_refused() {
    let (_base, path) = folder();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "x").unwrap();
    let error = TempFolder::make(&path).unwrap_err().to_string();
    assert!(error.contains("not a directory"), "{error}");
    assert!(error.starts_with("temp file write failed: "), "{error}");
    fs::remove_file(&path).unwrap();
    rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap();
    assert!(TempFolder::make(&path).is_err());
}

#[test]
fn a_folder_must_have_an_absolute_name() {
    for path in ["", "x", "./x", "/", "/tmp/.."] {
        assert!(TempFolder::make(Path::new(path)).is_err(), "{path}");
    }
}

#[test]
fn names_are_random_letters_and_digits() {
    let names: std::collections::BTreeSet<_> = (0..1000).map(|_| random_name().unwrap()).collect();
    assert_eq!(names.len(), 1000);
    for name in names {
        let random = name
            .strip_prefix("hydrate_")
            .and_then(|rest| rest.strip_suffix(".md"))
            .unwrap();
        assert_eq!(random.len(), 8);
        assert!(
            random
                .chars()
                .all(|one| one.is_ascii_lowercase() || one.is_ascii_digit())
        );
    }
}

#[test]
fn a_file_is_new_private_and_complete() {
    let (_base, path) = folder();
    let folder = TempFolder::make(&path).unwrap();
    assert!(folder.write("hydrate_a.md", b"whole").unwrap());
    assert_eq!(fs::read(path.join("hydrate_a.md")).unwrap(), b"whole");
    assert_eq!(mode(&path.join("hydrate_a.md")), 0o600);
    // Whatever has the name already keeps it, and a link is not followed.
    assert!(!folder.write("hydrate_a.md", b"other").unwrap());
    assert_eq!(fs::read(path.join("hydrate_a.md")).unwrap(), b"whole");
    let outside = path.join("../outside");
    symlink(&outside, path.join("hydrate_b.md")).unwrap();
    assert!(!folder.write("hydrate_b.md", b"other").unwrap());
    assert!(!outside.exists());
    fs::create_dir(path.join("hydrate_c.md")).unwrap();
    assert!(!folder.write("hydrate_c.md", b"other").unwrap());
}

#[test]
fn a_taken_name_is_passed_over_sixteen_times() {
    let (_base, path) = folder();
    let folder = TempFolder::make(&path).unwrap();
    rustix::fs::mknodat(CWD, path.join("fifo"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let mut asked = 0;
    let name = folder.free_name_of(|| {
        asked += 1;
        Ok(if asked < 16 { "fifo" } else { "free" }.to_owned())
    });
    assert_eq!(name.unwrap(), "free");
    let mut asked = 0;
    let name = folder.free_name_of(|| {
        asked += 1;
        Ok("fifo".to_owned())
    });
    assert!(name.is_err());
    assert_eq!(asked, 16);
}

/// The folder is exchanged after it was opened.
#[test]
fn what_was_opened_counts_and_not_its_name() {
    let (base, path) = folder();
    let folder = TempFolder::make(&path).unwrap();
    let moved = base.path().join("moved");
    let trap = base.path().join("trap");
    fs::create_dir(&trap).unwrap();
    fs::rename(&path, &moved).unwrap();
    symlink(&trap, &path).unwrap();
    assert!(folder.write("hydrate_a.md", b"x").unwrap());
    assert!(moved.join("hydrate_a.md").exists());
    assert_eq!(fs::read_dir(&trap).unwrap().count(), 0);
}

/// The file system is full, which a limit on files looks like.
#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_whole_leaves_no_file() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    assert!(fill(full, b"x").is_err());
}

#[test]
fn old_files_of_ours_go_and_everything_else_stays() {
    let (base, path) = folder();
    let folder = TempFolder::make(&path).unwrap();
    let aged = |name: &str, minutes: u64| {
        let file = File::create(path.join(name)).unwrap();
        let then = SystemTime::now() - Duration::from_secs(60 * minutes);
        file.set_modified(then).unwrap();
    };
    aged("hydrate_old.md", 120);
    aged("hydrate_young.md", 30);
    aged("other.md", 120);
    aged("hydrate_old.txt", 120);
    let outside = base.path().join("outside.md");
    fs::write(&outside, "x").unwrap();
    symlink(&outside, path.join("hydrate_link.md")).unwrap();
    fs::create_dir(path.join("hydrate_directory.md")).unwrap();
    folder.clean_up(CleanupLimits::default());
    let mut left: Vec<_> = fs::read_dir(&path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(
        left,
        [
            "hydrate_directory.md",
            "hydrate_link.md",
            "hydrate_old.txt",
            "hydrate_young.md",
            "other.md"
        ]
    );
    assert!(outside.exists());
}

#[test]
fn a_run_looks_at_a_thousand_entries_at_most() {
    let (_base, path) = folder();
    let folder = TempFolder::make(&path).unwrap();
    for number in 0..50 {
        let file = File::create(path.join(format!("hydrate_{number}.md"))).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(7200))
            .unwrap();
    }
    let limits = CleanupLimits {
        entries: 20,
        ..CleanupLimits::default()
    };
    folder.clean_up(limits);
    let left = fs::read_dir(&path).unwrap().count();
    // The two names of the folder itself are entries as well.
    assert!((30..=32).contains(&left), "{left}");
}
