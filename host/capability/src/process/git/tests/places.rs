//! Where a repository lies, what the policy cannot change, and what stays as it was.

use super::*;
use std::os::unix::fs::symlink;

#[test]
fn an_ordinary_repository_answers_as_git_does() {
    let work = Work::new();
    work.write("file", "y\n");
    let exit = work.ask("--no-pager diff").unwrap();
    assert!(text(&exit).ends_with("-x\n+y\n"), "{exit:?}");
    let exit = work.ask("status --porcelain").unwrap();
    assert_eq!(text(&exit), " M file\n");
    fs::create_dir(work.path("below")).unwrap();
    let exit = work
        .ask_in("/workspace/below", &["rev-parse", "--show-prefix"])
        .unwrap();
    assert_eq!(text(&exit), "below/\n");
    let exit = work
        .ask("rev-parse --verify --end-of-options HEAD~9^{commit}")
        .unwrap();
    assert_eq!(exit.ending, Ending::Exited(128));
    assert!(work.call.journal.take().denied.is_empty());
}

#[test]
fn a_repository_is_not_looked_for_above_the_mount() {
    let work = Work::empty();
    let root = work.site.root.to_str().unwrap().to_owned();
    work.git(&["init", "-q", &root]);
    for arguments in ["status", "diff", "diff a b", "rev-parse HEAD"] {
        let exit = work.ask(arguments).unwrap();
        let stderr = String::from_utf8_lossy(&exit.stderr).into_owned();
        assert_eq!(exit.ending, Ending::Exited(128), "{arguments}");
        assert!(
            stderr.starts_with("fatal: not a git repository"),
            "{stderr}"
        );
        assert!(exit.stdout.is_empty());
    }
}

#[test]
fn what_points_out_of_the_mount_is_denied_and_noted() {
    let elsewhere = |work: &Work| {
        let directory = work.site.root.join("elsewhere");
        work.git(&["init", "-q", directory.to_str().unwrap()]);
        directory
    };
    let file: &dyn Fn(&Work) = &|work| {
        let git = elsewhere(work).join(".git");
        fs::remove_dir_all(work.path(".git")).unwrap();
        work.write(".git", &format!("gitdir: {}\n", git.display()));
    };
    let link: &dyn Fn(&Work) = &|work| {
        let git = elsewhere(work).join(".git");
        fs::remove_dir_all(work.path(".git")).unwrap();
        symlink(git, work.path(".git")).unwrap();
    };
    let common: &dyn Fn(&Work) = &|work| {
        let git = elsewhere(work).join(".git");
        work.write(".git/commondir", &format!("{}\n", git.display()));
    };
    let top: &dyn Fn(&Work) =
        &|work| work.config("core.worktree", elsewhere(work).to_str().unwrap());
    let root: &dyn Fn(&Work) = &|work| work.config("core.worktree", "/");
    let climbing: &dyn Fn(&Work) = &|work| {
        elsewhere(work);
        work.config("core.worktree", "../../elsewhere");
    };
    let own: &dyn Fn(&Work) = &|work| {
        work.config("extensions.worktreeConfig", "true");
        work.write(".git/config.worktree", "[core]\n\tworktree = /\n");
    };
    for (name, point) in [
        ("file", file),
        ("link", link),
        ("common", common),
        ("top", top),
        ("root", root),
        ("climbing", climbing),
        ("worktree config", own),
    ] {
        let work = Work::new();
        point(&work);
        for arguments in ["status", "diff", "log"] {
            let answer = work.ask(arguments);
            assert_eq!(
                answer,
                Err(ProcessError::DirectoryDenied),
                "{name} {arguments}"
            );
        }
        let denied = work.call.journal.take().denied;
        assert_eq!(denied, ["exec.safe:git"; 3], "{name}");
    }
}

#[test]
fn a_linked_work_tree_and_a_bare_repository_inside_are_fine() {
    let work = Work::new();
    work.git(&["worktree", "add", "-q", "linked"]);
    work.git(&["clone", "-q", "--bare", ".", "bare.git"]);
    let exit = work
        .ask_in("/workspace/linked", &["status", "--porcelain"])
        .unwrap();
    assert_eq!((exit.ending, text(&exit)), (Ending::Exited(0), ""));
    let exit = work
        .ask_in("/workspace/bare.git", &["log", "--format=%s"])
        .unwrap();
    assert_eq!((exit.ending, text(&exit)), (Ending::Exited(0), "first\n"));
    for directory in ["/workspace/bare.git", "/workspace/.git"] {
        let exit = work.ask_in(directory, &["status"]).unwrap();
        let stderr = String::from_utf8(exit.stderr).unwrap();
        assert_eq!(exit.ending, Ending::Exited(128));
        assert_eq!(stderr, "fatal: this operation must be run in a work tree\n");
    }
}

#[test]
fn a_diff_of_two_files_elsewhere_is_refused() {
    let work = Work::new();
    fs::write(work.site.root.join("secret"), "secret\n").unwrap();
    let secret = work.site.root.join("secret");
    let secret = secret.to_str().unwrap();
    // The control: git shows it.
    let output = work.unguarded(&["diff", "--", "/dev/null", secret]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("+secret"));
    for arguments in [
        &["diff", "/dev/null", secret][..],
        &["diff", "--", "/dev/null", secret],
        &["diff", "file", "../secret"],
        &["diff", "--no-index", "file", "file"],
    ] {
        let answer = work.ask_in("/workspace", arguments);
        assert_eq!(answer, Err(ProcessError::ArgumentsDenied), "{arguments:?}");
    }
    assert_eq!(work.call.journal.take().denied, ["exec.safe:git"; 4]);
}

#[test]
fn no_option_reads_a_file_elsewhere() {
    let work = Work::new();
    let secret = work.site.root.join("secret");
    fs::write(&secret, "secret\n").unwrap();
    work.write("file", "a secret and more\n");
    work.write("other", "x\n");
    work.commit("second");
    let secret = secret.to_str().unwrap();
    // The control: git quotes the file, or uses it.
    for (arguments, shown) in [
        (format!("blame -S {secret} file"), "secret"),
        (format!("blame -bS{secret} file"), "secret"),
        (format!("blame --ignore-revs={secret} file"), "secret"),
        (format!("blame --cont={secret} file"), "secret"),
        (format!("grep -onf{secret}"), "file:1:secret"),
        (format!("grep -o -f {secret}"), "file:secret"),
        (format!("rev-parse --resolve-git-dir {secret}"), "secret"),
    ] {
        let output = work.unguarded(&words(&arguments));
        let written = [output.stdout, output.stderr].concat();
        let written = String::from_utf8_lossy(&written).replace(secret, "");
        let control = written.contains(shown) || arguments.starts_with("rev-parse");
        assert!(control, "{arguments}: {written}");
        assert_eq!(
            work.ask(&arguments),
            Err(ProcessError::ArgumentsDenied),
            "{arguments}"
        );
    }
    for command in ["diff HEAD~1", "log -p", "show", "diff-tree -p HEAD"] {
        // The control: without such a file git fails.
        let missing = format!("{command} -O{secret}.none");
        assert!(!work.unguarded(&words(&missing)).status.success());
        let arguments = format!("{command} -O{secret}");
        let answer = work.ask(&arguments);
        assert_eq!(answer, Err(ProcessError::ArgumentsDenied), "{arguments}");
    }
    work.write("secret", "x\n");
    for option in ["-oX", "-o --exclude-from=", "-o --exclude-f="] {
        let arguments = format!("ls-files {option}{secret}");
        // The control: `secret` is excluded.
        assert_eq!(work.git(&words(&arguments)), "");
        let answer = work.ask(&arguments);
        assert_eq!(answer, Err(ProcessError::ArgumentsDenied), "{arguments}");
    }
}

#[test]
fn no_setting_names_a_list_of_exclusions_elsewhere() {
    let work = Work::new();
    let list = work.site.root.join("list");
    fs::write(&list, "secret\n").unwrap();
    work.config("core.excludesFile", list.to_str().unwrap());
    work.write("secret", "x\n");
    assert_eq!(work.git(&["status", "--porcelain"]), "");
    let exit = work.ask("status --porcelain").unwrap();
    assert_eq!(text(&exit), "?? secret\n");
    // The repository's own lists hold.
    work.write(".git/info/exclude", "secret\n");
    assert_eq!(text(&work.ask("status --porcelain").unwrap()), "");
}

#[test]
fn no_setting_names_a_list_of_names_elsewhere() {
    let work = Work::new();
    let list = work.site.root.join("list");
    fs::write(&list, "secret <a@example.org>\n").unwrap();
    work.config("mailmap.file", list.to_str().unwrap());
    assert_eq!(work.git(&["log", "--format=%aN"]), "secret");
    assert_eq!(text(&work.ask("log --format=%aN").unwrap()), "A\n");
}

#[test]
fn a_shared_index_that_is_a_link_is_denied() {
    let work = Work::new();
    work.git(&["update-index", "--split-index"]);
    let shared = fs::read_dir(work.path(".git"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_str().unwrap().contains("/sharedindex."))
        .unwrap();
    assert!(work.ask("status").is_ok());
    let elsewhere = work.site.root.join("elsewhere");
    fs::rename(&shared, &elsewhere).unwrap();
    symlink(&elsewhere, &shared).unwrap();
    let early = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000);
    let set = || {
        let file = fs::File::options().append(true).open(&elsewhere).unwrap();
        file.set_modified(early).unwrap();
    };
    let time = || fs::metadata(&elsewhere).unwrap().modified().unwrap();
    set();
    for arguments in ["status", "diff"] {
        let answer = work.ask(arguments);
        assert_eq!(answer, Err(ProcessError::DirectoryDenied), "{arguments}");
    }
    assert_eq!(time(), early);
    // The control.
    work.git(&["status"]);
    assert_ne!(time(), early);
}

#[test]
fn the_index_is_never_written() {
    let work = Work::new();
    let later = std::time::SystemTime::now() - std::time::Duration::from_secs(1_000);
    let touch = || {
        let file = fs::File::options()
            .append(true)
            .open(work.path("file"))
            .unwrap();
        file.set_modified(later).unwrap();
    };
    touch();
    let before = fs::read(work.path(".git/index")).unwrap();
    for arguments in COMMANDS {
        work.ask(arguments).unwrap();
        assert_eq!(
            fs::read(work.path(".git/index")).unwrap(),
            before,
            "{arguments}"
        );
    }
    // The control: nothing but the guard keeps `git diff` from it.
    work.git(&["--no-optional-locks", "diff"]);
    assert_ne!(fs::read(work.path(".git/index")).unwrap(), before);
}

#[test]
fn without_an_index_everything_is_deleted() {
    let work = Work::new();
    fs::remove_file(work.path(".git/index")).unwrap();
    let exit = work.ask("diff --cached --name-status").unwrap();
    assert_eq!(text(&exit), "D\tfile\n");
}

#[test]
fn more_settings_than_can_be_read_are_denied() {
    let work = Work::new();
    let mut config = fs::read_to_string(work.path(".git/config")).unwrap();
    for number in 0..600 {
        config.push_str(&format!("[filter \"{number}\"]\n\tclean = cat\n"));
    }
    work.write(".git/config", &config);
    assert_eq!(work.ask("status"), Err(ProcessError::DirectoryDenied));
    config.push_str(&format!("[x \"{}\"]\n\ty = 1\n", "z".repeat(2 << 20)));
    work.write(".git/config", &config);
    assert_eq!(work.ask("status"), Err(ProcessError::DirectoryDenied));
    work.write(".git/config", "[core\n");
    assert_eq!(work.ask("status").unwrap().ending, Ending::Exited(128));
}

#[test]
fn where_processes_must_be_confined_nothing_is_looked_at() {
    let work = Work::new();
    let jailed = ANYTHING.replace("  jail: {process: unjailed}\n", "");
    let work = Work {
        call: call(work.site.grant(&[], &jailed)),
        ..work
    };
    assert_eq!(work.ask("status"), Err(ProcessError::Unconfined));
    assert_eq!(
        work.ask("-c a.b=c status"),
        Err(ProcessError::ArgumentsDenied)
    );
}
