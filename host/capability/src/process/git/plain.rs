//! Repositories whose settings can be seen to name no driver without asking git, as those of `git init` and `git clone`:
//! a git less to start.
//!
//! Git's configuration can hide the value of a setting behind quotes and continued lines, but not the name of a section,
//! and drivers come from sections `filter`, `diff` and `merge` only. A text without these words in it, nor those of
//! sections and extensions by which other files are read, has no driver. Everything else is for git to say.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Bytes of a configuration that is looked at.
const MAX_BYTES: u64 = 32 * 1024;

/// Sections of drivers and of other files, and the extension by which a work tree has settings of its own.
const TELLING: [&str; 5] = ["filter", "diff", "merge", "include", "worktreeconfig"];

/// Whether the repository with this common directory certainly configures no driver.
pub(super) fn configures_no_driver(common_directory: &Path) -> bool {
    let opened = File::options()
        .read(true)
        // Neither through a link nor waiting for the other end of a FIFO.
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
        .open(common_directory.join("config"));
    let Ok(file) = opened else { return false };
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let mut text = String::new();
    let read = file
        .take(MAX_BYTES.saturating_add(1))
        .read_to_string(&mut text);
    let whole = read.is_ok_and(|read| u64::try_from(read).is_ok_and(|read| read <= MAX_BYTES));
    whole && names_no_driver(&text)
}

fn names_no_driver(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower
        .lines()
        .filter(|line| !is_upstream(line))
        .all(|line| !TELLING.iter().any(|word| line.contains(word)))
}

/// `merge = refs/…`, as every branch with an upstream has it: a setting and no section, and nothing else on its line.
fn is_upstream(line: &str) -> bool {
    let value = line
        .trim_start()
        .strip_prefix("merge")
        .and_then(|rest| rest.trim_start().strip_prefix('='));
    let reference = value.and_then(|value| value.trim().strip_prefix("refs/"));
    reference.is_some_and(|reference| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
        reference.bytes().all(plain)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_init_and_git_clone_write_names_no_driver() {
        let cloned = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\
                      [remote \"origin\"]\n\turl = https://example.org/a.git\n\
                      \tfetch = +refs/heads/*:refs/remotes/origin/*\n\
                      [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";
        assert!(names_no_driver(cloned));
        assert!(names_no_driver(""));
    }

    #[test]
    fn whatever_could_name_a_driver_is_asked_of_git() {
        for text in [
            "[filter \"x\"]\n\tclean = evil\n",
            "[FILTER \"x\"] clean=evil",
            "[core] bare = false [filter \"x\"] clean = evil",
            "[Diff]\n\texternal = evil\n",
            "[diff.x]\n\ttextconv = evil\n",
            "[merge \"x\"]\n\tdriver = evil\n",
            "[include]\n\tpath = other\n",
            "[includeIf \"gitdir:/\"]\n\tpath = other\n",
            "[extensions]\n\tworktreeConfig = true\n",
            "[branch \"main\"]\n\tmerge = refs/heads/main [filter \"x\"]\n",
            "merge = refs/heads/\\\n [merge \"x\"] driver = evil",
            "\u{feff}[filter \"x\"]\nclean = evil",
        ] {
            assert!(!names_no_driver(text), "{text:?}");
        }
    }

    #[test]
    fn a_configuration_that_is_a_link_or_large_or_not_there_is_asked_of_git() {
        let directory = tempfile::tempdir().unwrap();
        let config = directory.path().join("config");
        let plain = || configures_no_driver(directory.path());
        assert!(!plain());
        std::fs::write(&config, "[core]\n").unwrap();
        assert!(plain());
        std::fs::write(&config, " ".repeat(40_000)).unwrap();
        assert!(!plain());
        std::fs::write(&config, b"[core]\xff").unwrap();
        assert!(!plain());
        std::fs::remove_file(&config).unwrap();
        std::fs::write(directory.path().join("other"), "").unwrap();
        std::os::unix::fs::symlink("other", &config).unwrap();
        assert!(!plain());
    }
}
