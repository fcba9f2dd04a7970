//! A program that the repository names in each place is never started.
//!
//! Each place has its control: without the guard, git starts the program from there. So a test that passes because
//! git has changed its ways fails.

use super::*;

/// A place where a repository can name a program.
struct Place {
    name: &'static str,
    /// Makes the repository hostile; gets the path of the canary.
    poison: fn(&Work, &str),
    /// A command that starts the canary where nothing stops it.
    control: &'static str,
}

/// Makes git compare the contents of `file`, whose size has not changed.
fn touch(work: &Work) {
    work.write("file", "y\n");
}

fn attributes(work: &Work, text: &str) {
    work.write(".gitattributes", text);
    work.commit("attributes");
    touch(work);
}

/// A missing blob, and a remote that promises it.
fn promise(work: &Work, url: &str) {
    for (name, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", url),
        ("remote.origin.promisor", "true"),
        ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"),
        ("protocol.allow", "always"),
        ("protocol.ext.allow", "always"),
        ("protocol.file.allow", "always"),
    ] {
        work.config(name, value);
    }
    let id = work.git(&["rev-parse", "HEAD:file"]);
    let (directory, file) = id.split_at(2);
    fs::remove_file(work.path(&format!(".git/objects/{directory}/{file}"))).unwrap();
    touch(work);
}

/// A commit with a signature of this kind.
fn sign(work: &Work, kind: &str) {
    let tree = work.git(&["rev-parse", "HEAD^{tree}"]);
    let commit = format!(
        "tree {tree}\nauthor A <a@example.org> 1 +0000\ncommitter A <a@example.org> 1 +0000\n\
         gpgsig -----BEGIN {kind}-----\n \n eA==\n -----END {kind}-----\n\nsigned\n"
    );
    work.write("commit", &commit);
    let id = work.git(&["hash-object", "-t", "commit", "-w", "commit"]);
    work.git(&["reset", "-q", "--hard", &id]);
}

/// A submodule whose own configuration names the canary, and that `.gitmodules` wants to be looked into.
fn submodule(work: &Work, settings: &[(&str, &str)]) {
    work.git(&["init", "-q", "sub"]);
    work.write("sub/file", "x\n");
    let sub = |arguments: &[&str]| work.git(&[&["-C", "sub"], arguments].concat());
    sub(&["add", "file"]);
    sub(&["commit", "-q", "-m", "x"]);
    work.write(
        ".gitmodules",
        "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n",
    );
    work.git(&["add", ".gitmodules", "sub"]);
    work.commit("submodule");
    work.write("sub/.gitattributes", "* filter=evil diff=evil\n");
    for (name, value) in settings {
        sub(&["config", name, value]);
    }
    work.write("sub/file", "y\n");
}

/// Two branches that change the same line, merged.
fn merged(work: &Work) {
    work.git(&["checkout", "-q", "-b", "side"]);
    work.write("file", "side\n");
    work.commit("side");
    work.git(&["checkout", "-q", "main"]);
    work.write("file", "main\n");
    work.write(".gitattributes", "* merge=evil\n");
    work.commit("main");
    work.unguarded(&["merge", "-q", "side"]);
    work.write("file", "both\n");
    work.commit("merge");
}

fn hook(work: &Work, path: &str, canary: &str) {
    let path = work.path(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::copy(canary, path).unwrap();
    touch(work);
}

/// Places that reading commands start programs from.
const PLACES: [Place; 32] = [
    Place {
        name: "core.fsmonitor",
        poison: |work, canary| work.config("core.fsmonitor", canary),
        control: "status",
    },
    Place {
        name: "hooks/post-index-change",
        poison: |work, canary| hook(work, ".git/hooks/post-index-change", canary),
        control: "status",
    },
    Place {
        name: "core.hooksPath",
        poison: |work, canary| {
            hook(work, "evil/post-index-change", canary);
            work.config("core.hooksPath", "evil");
        },
        control: "status",
    },
    Place {
        name: "diff.external",
        poison: |work, canary| {
            touch(work);
            work.config("diff.external", canary);
        },
        control: "diff",
    },
    Place {
        name: "diff.<n>.command",
        poison: |work, canary| {
            attributes(work, "* diff=evil\n");
            work.config("diff.evil.command", canary);
        },
        control: "diff",
    },
    Place {
        name: "diff.<n>.textconv",
        poison: |work, canary| {
            attributes(work, "* diff=evil\n");
            work.config("diff.evil.textconv", canary);
        },
        control: "log -p",
    },
    Place {
        name: "diff.<n>.textconv of blame",
        poison: |work, canary| {
            attributes(work, "* diff=evil\n");
            work.config("diff.evil.textconv", canary);
        },
        control: "blame file",
    },
    Place {
        name: "filter.<n>.clean",
        poison: |work, canary| {
            attributes(work, "* filter=evil\n");
            work.config("filter.evil.clean", canary);
        },
        control: "status",
    },
    Place {
        name: "filter.<n>.clean, required, with a strange name",
        poison: |work, canary| {
            work.write(".git/info/attributes", "* filter=e.v=i~l\n");
            touch(work);
            work.config("filter.e.v=i~l.clean", canary);
            work.config("filter.e.v=i~l.required", "true");
        },
        control: "diff",
    },
    Place {
        name: "filter.<n>.process",
        poison: |work, canary| {
            attributes(work, "* filter=evil\n");
            work.config("filter.evil.process", canary);
        },
        control: "diff",
    },
    Place {
        name: "filter.<n>.smudge",
        poison: |work, canary| {
            attributes(work, "* filter=evil\n");
            work.config("filter.evil.smudge", canary);
        },
        control: "cat-file --filters HEAD:file",
    },
    Place {
        name: "include.path",
        poison: |work, canary| {
            work.write(
                ".git/more",
                &format!("[filter \"evil\"]\n\tclean = {canary}\n"),
            );
            work.config("include.path", "more");
            attributes(work, "* filter=evil\n");
        },
        control: "status",
    },
    Place {
        name: "includeIf.gitdir.path",
        poison: |work, canary| {
            work.write(
                ".git/more",
                &format!("[filter \"evil\"]\n\tclean = {canary}\n"),
            );
            work.config("includeIf.gitdir:**.path", "more");
            attributes(work, "* filter=evil\n");
        },
        control: "status",
    },
    Place {
        name: "includeIf.onbranch.path",
        poison: |work, canary| {
            work.write(
                ".git/more",
                &format!("[filter \"evil\"]\n\tclean = {canary}\n"),
            );
            work.config("includeIf.onbranch:main.path", "more");
            attributes(work, "* filter=evil\n");
        },
        control: "status",
    },
    Place {
        name: "includeIf.hasconfig.path",
        poison: |work, canary| {
            work.write(
                ".git/more",
                &format!("[filter \"evil\"]\n\tclean = {canary}\n"),
            );
            work.config("remote.origin.url", "evil");
            work.config("includeIf.hasconfig:remote.*.url:evil.path", "more");
            attributes(work, "* filter=evil\n");
        },
        control: "status",
    },
    Place {
        name: "config.worktree",
        poison: |work, canary| {
            work.config("extensions.worktreeConfig", "true");
            let text =
                format!("[filter \"evil\"]\n\tclean = {canary}\n[core]\n\tfsmonitor = {canary}\n");
            work.write(".git/config.worktree", &text);
            attributes(work, "* filter=evil\n");
        },
        control: "status",
    },
    Place {
        name: "merge.<n>.driver",
        poison: |work, canary| {
            merged(work);
            work.config("merge.evil.driver", canary);
            work.config("log.diffMerges", "remerge");
        },
        control: "log -p -m",
    },
    Place {
        name: "gpg.program",
        poison: |work, canary| {
            sign(work, "PGP SIGNATURE");
            work.config("gpg.program", canary);
            work.config("log.showSignature", "true");
        },
        control: "log",
    },
    Place {
        name: "gpg.openpgp.program",
        poison: |work, canary| {
            sign(work, "PGP SIGNATURE");
            work.config("gpg.openpgp.program", canary);
        },
        control: "log --format=%G?",
    },
    Place {
        name: "gpg.x509.program",
        poison: |work, canary| {
            sign(work, "SIGNED MESSAGE");
            work.config("gpg.x509.program", canary);
        },
        control: "show --show-signature",
    },
    Place {
        name: "gpg.ssh.program",
        poison: |work, canary| {
            sign(work, "SSH SIGNATURE");
            work.write("allowed", "");
            work.config(
                "gpg.ssh.allowedSignersFile",
                work.path("allowed").to_str().unwrap(),
            );
            work.config("gpg.ssh.program", canary);
        },
        control: "log --show-signature",
    },
    Place {
        name: "core.alternateRefsCommand",
        poison: |work, canary| {
            work.git(&["clone", "-q", "--bare", ".", "other.git"]);
            let other = work.path("other.git/objects");
            work.write(
                ".git/objects/info/alternates",
                &format!("{}\n", other.display()),
            );
            work.config("core.alternateRefsCommand", canary);
        },
        control: "rev-list --all --not --alternate-refs",
    },
    Place {
        name: "a promisor remote by ext::",
        poison: |work, canary| promise(work, &format!("ext::{canary} %S")),
        control: "diff",
    },
    Place {
        name: "a promisor remote's uploadpack",
        poison: |work, canary| {
            promise(work, work.path(".").to_str().unwrap());
            work.config("remote.origin.uploadpack", canary);
        },
        control: "diff",
    },
    Place {
        name: "core.sshCommand",
        poison: |work, canary| {
            promise(work, "ssh://evil.invalid/x");
            work.config("core.sshCommand", canary);
        },
        control: "show",
    },
    Place {
        name: "core.gitProxy",
        poison: |work, canary| {
            promise(work, "git://evil.invalid/x");
            work.config("core.gitProxy", canary);
        },
        control: "show",
    },
    Place {
        name: "core.fsmonitor of a submodule",
        poison: |work, canary| submodule(work, &[("core.fsmonitor", canary)]),
        control: "status",
    },
    Place {
        name: "filter.<n>.clean of a submodule",
        poison: |work, canary| submodule(work, &[("filter.evil.clean", canary)]),
        control: "diff",
    },
    Place {
        name: "diff.external of a submodule",
        poison: |work, canary| {
            submodule(work, &[]);
            work.git(&["-C", "sub", "commit", "-q", "-a", "-m", "y"]);
            work.git(&["-C", "sub", "config", "diff.external", canary]);
            work.config("diff.submodule", "diff");
        },
        control: "diff",
    },
    Place {
        name: "status.submoduleSummary",
        poison: |work, canary| {
            submodule(work, &[("filter.evil.clean", canary)]);
            work.config("status.submoduleSummary", "true");
        },
        control: "status",
    },
    Place {
        name: "man.<n>.cmd",
        poison: |work, canary| {
            work.config("man.viewer", "evil");
            work.config("man.evil.cmd", canary);
        },
        control: "status --help",
    },
    Place {
        name: "an alias",
        poison: |work, canary| {
            work.config("alias.st", &format!("!{canary}"));
            work.config("alias.status", &format!("!{canary}"));
        },
        control: "st",
    },
];

#[test]
fn no_place_of_a_repository_starts_a_program() {
    for place in PLACES {
        let work = Work::new();
        let canary = work.canary();
        (place.poison)(&work, &canary);
        work.take_fired();
        for arguments in COMMANDS.into_iter().chain([place.control]) {
            let answer = work.ask(arguments);
            let fired = fs::read_to_string(work.fired()).unwrap_or_default();
            assert!(
                fired.is_empty(),
                "{}: {arguments}: {fired} {answer:?}",
                place.name
            );
            let is_control_only = matches!(answer, Err(ProcessError::ArgumentsDenied))
                && !COMMANDS.contains(&arguments);
            assert!(
                answer.is_ok() || is_control_only,
                "{}: {arguments}: {answer:?}",
                place.name
            );
        }
        let control = work.unguarded(&words(place.control));
        assert!(
            work.take_fired(),
            "{}: the control did not fire: {control:?}",
            place.name
        );
    }
}

/// Commands that are refused, whose programs a repository can name.
#[test]
fn commands_that_start_programs_are_refused() {
    for (name, setting, command) in [
        ("core.editor", "core.editor", "commit --allow-empty"),
        ("sequence.editor", "sequence.editor", "rebase -i --root"),
        ("credential.helper", "credential.helper", "credential fill"),
        (
            "tar.<n>.command",
            "tar.evil.command",
            "archive --format=evil HEAD",
        ),
        ("diff.guitool", "difftool.evil.cmd", "difftool -y -t evil"),
        (
            "browser.<n>.cmd",
            "browser.evil.cmd",
            "web--browse -b evil x",
        ),
        (
            "trailer.<n>.command",
            "trailer.evil.command",
            "interpret-trailers --trailer evil=x file",
        ),
    ] {
        let work = Work::new();
        work.config(setting, &work.canary());
        if command.starts_with("difftool") {
            touch(&work);
        }
        work.unguarded(&words(command));
        // `credential fill` wants to be asked for something.
        let fires = name != "credential.helper";
        assert_eq!(work.take_fired(), fires, "{name}");
        assert_eq!(
            work.ask(command),
            Err(ProcessError::ArgumentsDenied),
            "{name}"
        );
        assert!(!work.fired().exists());
    }
}

#[test]
fn no_option_of_a_reading_command_starts_a_program_or_writes() {
    let work = Work::new();
    let canary = work.canary();
    work.write("file", "x --end-of-options\n");
    work.config("diff.external", &canary);
    for option in [
        format!("grep -O{canary} x"),
        format!("grep -nO{canary} x"),
        format!("grep --open-files-in-p={canary} x"),
        format!("grep -e --end-of-options -O{canary}"),
        "log -p --ext-diff".to_owned(),
    ] {
        work.unguarded(&words(&option));
        assert!(work.take_fired(), "{option}");
        assert_eq!(
            work.ask(&option),
            Err(ProcessError::ArgumentsDenied),
            "{option}"
        );
        assert!(!work.fired().exists(), "{option}");
    }
    let written = work.site.root.join("written");
    for command in ["diff", "log -p", "show", "shortlog HEAD"] {
        let command = format!("{command} --output={}", written.display());
        work.unguarded(&words(&command));
        assert!(fs::remove_file(&written).is_ok(), "{command}");
        assert_eq!(work.ask(&command), Err(ProcessError::ArgumentsDenied));
        assert!(!written.exists(), "{command}");
    }
}

#[test]
fn line_ends_are_still_converted() {
    let work = Work::new();
    work.write(".gitattributes", "* text eol=crlf\n");
    work.commit("attributes");
    work.write("file", "x\r\n");
    let exit = work.ask("diff").unwrap();
    assert_eq!(text(&exit), "");
    work.write("file", "y\r\n");
    let exit = work.ask("diff").unwrap();
    assert!(text(&exit).ends_with("-x\n+y\n"), "{exit:?}");
}
