//! The git guard: a hostile repository starts nothing, and leads nowhere.
//!
//! A canary is a script that leaves a file beside the mount. Wherever plain git starts it, the test first
//! shows that it does, so that its silence under hydrant means something.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::desk::Desk;
use crate::repository::Repository;

/// A repository with two commits, changes staged and not staged, and the canary.
struct Hostile {
    repository: Repository,
    canary: String,
}

impl Hostile {
    fn new() -> Self {
        let repository = Repository::unjailed(&[("a.txt", "1\n"), ("b.txt", "1\n")]);
        repository.desk.write("a.txt", "2\n");
        repository.commit("second");
        repository.desk.write("b.txt", "2\n");
        repository.git(&["add", "b.txt"]);
        repository.desk.write("a.txt", "3\n");
        let fired = repository.desk.beside("fired");
        let script = format!("#!/bin/sh\n: > '{}'\n", fired.display());
        let canary = repository.desk.script("canary", &script);
        Self { repository, canary }
    }

    fn desk(&self) -> &Desk {
        &self.repository.desk
    }

    fn fired(&self) -> bool {
        self.desk().beside("fired").exists()
    }

    /// Plain git starts it.
    fn assert_alive(&self, what: &str) {
        for path in ["a.txt", "b.txt"] {
            self.repository.age(path);
        }
        for arguments in [&["status"][..], &["diff"], &["diff", "--cached"], &["show"]] {
            self.repository.try_git(".", arguments);
        }
        assert!(
            self.fired(),
            "{what}: plain git does not start it, so this test shows nothing"
        );
        fs::remove_file(self.desk().beside("fired")).unwrap();
    }

    /// The git skills do not, and still answer.
    fn assert_silent(&self, what: &str) {
        for request in [
            ("git.status", json!({})),
            ("git.diff", json!({})),
            ("git.diff", json!({"target": "staged"})),
            ("git.diff", json!({"target": "commit"})),
            ("git.diff", json!({"target": "commit", "commit": "HEAD~1"})),
        ] {
            for path in ["a.txt", "b.txt"] {
                self.repository.age(path);
            }
            let answer = self.desk().ask(request.0, &request.1);
            assert!(!self.fired(), "{what} fired in {request:?}");
            if let Err(error) = answer {
                panic!("{what} {request:?}: {error}");
            }
        }
    }

    fn check(&self, what: &str) {
        self.assert_alive(what);
        self.assert_silent(what);
    }
}

#[test]
fn fsmonitor_and_hooks() {
    let hostile = Hostile::new();
    hostile.repository.config("core.fsmonitor", &hostile.canary);
    hostile.check("core.fsmonitor");
    let hostile = Hostile::new();
    fs::copy(
        &hostile.canary,
        hostile.desk().path(".git/hooks/post-index-change"),
    )
    .unwrap();
    hostile.check("hooks/post-index-change");
    let hostile = Hostile::new();
    hostile.desk().write("hooks/x", "");
    fs::copy(
        &hostile.canary,
        hostile.desk().path("hooks/post-index-change"),
    )
    .unwrap();
    hostile.repository.config("core.hooksPath", "hooks");
    hostile.check("core.hooksPath");
}

#[test]
fn diff_drivers() {
    let hostile = Hostile::new();
    hostile.repository.config("diff.external", &hostile.canary);
    hostile.check("diff.external");
    for driver in ["command", "textconv"] {
        let hostile = Hostile::new();
        hostile.desk().write(".gitattributes", "*.txt diff=evil\n");
        hostile
            .repository
            .config(&format!("diff.evil.{driver}"), &hostile.canary);
        hostile.check(driver);
    }
    // Attributes that are not in the work tree.
    let hostile = Hostile::new();
    hostile
        .desk()
        .write(".git/info/attributes", "*.txt diff=evil filter=evil\n");
    hostile
        .repository
        .config("diff.evil.textconv", &hostile.canary);
    hostile
        .repository
        .config("filter.evil.clean", &hostile.canary);
    hostile.check("info/attributes");
}

#[test]
fn filter_drivers() {
    for name in ["evil", "EviL", "we.ird", "é"] {
        for kind in ["clean", "process"] {
            let hostile = Hostile::new();
            hostile
                .desk()
                .write(".gitattributes", format!("*.txt filter={name}\n"));
            hostile
                .repository
                .config(&format!("filter.{name}.{kind}"), &hostile.canary);
            hostile
                .repository
                .config(&format!("filter.{name}.smudge"), &hostile.canary);
            hostile.check(&format!("filter.{name}.{kind}"));
            hostile
                .repository
                .config(&format!("filter.{name}.required"), "true");
            hostile.assert_silent("filter.required");
        }
    }
}

#[test]
fn configuration_that_is_included() {
    let evil = |hostile: &Hostile, path: &str| {
        let canary = &hostile.canary;
        let config =
            format!("[core]\n\tfsmonitor = {canary}\n[filter \"evil\"]\n\tclean = {canary}\n");
        hostile
            .desk()
            .write(path, config)
            .write(".gitattributes", "*.txt filter=evil\n");
    };
    for key in ["include.path", "includeIf.onbranch:main.path"] {
        let hostile = Hostile::new();
        evil(&hostile, "evil.config");
        hostile.repository.config(key, "../evil.config");
        hostile.check(key);
    }
    let hostile = Hostile::new();
    hostile
        .repository
        .config("extensions.worktreeConfig", "true");
    evil(&hostile, ".git/config.worktree");
    hostile.check("config.worktree");
}

/// A submodule has a configuration of its own, which is never read.
#[test]
fn submodules_are_not_entered() {
    let hostile = Hostile::new();
    let (repository, desk) = (&hostile.repository, hostile.desk());
    desk.write("sub/f", "1\n");
    repository.git_in("sub", &["init", "-q"]);
    repository.git_in("sub", &["add", "f"]);
    repository.git_in("sub", &["commit", "-q", "-m", "s"]);
    desk.write(
        ".gitmodules",
        "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n",
    );
    repository.git(&["add", "sub", ".gitmodules"]);
    repository.git(&["commit", "-q", "-m", "sub"]);
    desk.write("sub/f", "2\n");
    desk.write("b.txt", "4\n").write("a.txt", "5\n");
    repository.git(&["add", "b.txt"]);
    for (key, value) in [
        ("submodule.sub.update", format!("!{}", hostile.canary)),
        ("submodule.recurse", "true".to_owned()),
        ("status.submoduleSummary", "true".to_owned()),
        ("diff.submodule", "diff".to_owned()),
        ("diff.ignoreSubmodules", "none".to_owned()),
        ("submodule.sub.ignore", "none".to_owned()),
    ] {
        repository.config(key, &value);
    }
    repository.git_in("sub", &["config", "core.fsmonitor", &hostile.canary]);
    hostile.check("core.fsmonitor of a submodule");
}

/// A blob is missing, and the remote that promises it is a command.
#[test]
fn promisor_remotes() {
    let hostile = Hostile::new();
    let repository = &hostile.repository;
    let blob = repository
        .git(&["rev-parse", "HEAD:a.txt"])
        .trim()
        .to_owned();
    fs::remove_file(
        hostile
            .desk()
            .path(&format!(".git/objects/{}/{}", &blob[..2], &blob[2..])),
    )
    .unwrap();
    for (key, value) in [
        ("core.repositoryFormatVersion", "1".to_owned()),
        ("extensions.partialClone", "origin".to_owned()),
        ("remote.origin.promisor", "true".to_owned()),
        ("remote.origin.url", format!("ext::{} %S", hostile.canary)),
        ("protocol.allow", "always".to_owned()),
        ("protocol.ext.allow", "always".to_owned()),
    ] {
        repository.config(key, &value);
    }
    hostile.assert_alive("ext::");
    for request in [json!({}), json!({"target": "commit"})] {
        // The blob stays missing, so there may be no answer.
        drop(hostile.desk().ask("git.diff", &request));
        drop(hostile.desk().ask("git.status", &json!({})));
        assert!(!hostile.fired(), "ext::");
    }
}

/// Places that status and diff do not come to, all at once.
#[test]
fn every_other_place() {
    let hostile = Hostile::new();
    let canary = &hostile.canary;
    for key in [
        "core.pager",
        "core.editor",
        "sequence.editor",
        "core.sshCommand",
        "core.gitProxy",
        "core.askPass",
        "core.alternateRefsCommand",
        "credential.helper",
        "gpg.program",
        "gpg.ssh.program",
        "pager.status",
        "pager.diff",
        "alias.diff",
        "diff.tool",
        "difftool.x.cmd",
        "merge.evil.driver",
        "interactive.diffFilter",
        "uploadpack.packObjectsHook",
        "remote.origin.uploadpack",
        "trailer.x.command",
        "man.x.cmd",
        "web.browser",
        "gc.recentObjectsHook",
    ] {
        hostile.repository.config(key, canary);
    }
    for (key, value) in [
        ("alias.status", format!("!{canary}")),
        ("alias.st", format!("!{canary}")),
    ] {
        hostile.repository.config(key, &value);
    }
    hostile.repository.config("log.showSignature", "true");
    for hook in [
        "pre-commit",
        "post-checkout",
        "reference-transaction",
        "fsmonitor-watchman",
        "post-merge",
    ] {
        fs::copy(canary, hostile.desk().path(&format!(".git/hooks/{hook}"))).unwrap();
    }
    hostile.assert_silent("every other place");
}

/// `exec.safe:*` with a rule for git is guarded like the git skills.
#[test]
fn a_rule_for_git_is_guarded_as_well() {
    let hostile = Hostile::new();
    let canary = hostile.canary.clone();
    hostile
        .desk()
        .write(".gitattributes", "*.txt filter=evil diff=evil\n");
    for key in [
        "core.fsmonitor",
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
        "filter.evil.clean",
        "filter.evil.smudge",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "gpg.program",
        "credential.helper",
    ] {
        hostile.repository.config(key, &canary);
    }
    hostile.repository.config("alias.st", &format!("!{canary}"));
    for hook in [
        "post-index-change",
        "pre-commit",
        "prepare-commit-msg",
        "post-commit",
        "post-checkout",
    ] {
        fs::copy(&canary, hostile.desk().path(&format!(".git/hooks/{hook}"))).unwrap();
    }
    hostile.assert_alive("all of them");
    let commands: [&[&str]; 11] = [
        &["status"],
        &["diff"],
        &["diff", "--cached"],
        &["show", "--show-signature"],
        &["log", "-p", "-2"],
        &["blame", "a.txt"],
        &["st"],
        &["add", "-A"],
        &[
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@example.org",
            "commit",
            "-m",
            "x",
        ],
        &["checkout", "-q", "HEAD~1"],
        &["fetch", "ssh://127.0.0.1:1/x"],
    ];
    for command in commands {
        for path in ["a.txt", "b.txt"] {
            hostile.repository.age(path);
        }
        let argv = [&["git"], command].concat();
        let answer = hostile.desk().ask(
            "shell.exec_safe",
            &json!({"argv": argv, "timeout_ms": 20_000}),
        );
        assert!(!hostile.fired(), "fired in {command:?}: {answer:?}");
    }
}

/// Git under another name is git.
#[test]
fn git_under_another_name_is_guarded() {
    let repository = Repository::unjailed(&[("a", "1\n")]);
    let desk = &repository.desk;
    fs::create_dir_all(desk.beside("tools")).unwrap();
    let git = ["/usr/local/bin/git", "/usr/bin/git"]
        .into_iter()
        .find(|git| std::path::Path::new(git).exists())
        .unwrap();
    std::os::unix::fs::symlink(git, desk.beside("tools/vcs")).unwrap();
    let program = desk.beside("tools/vcs");
    desk.rules(
        &json!([{"program": program, "args": [["..."]], "cwd": ["/workspace"]}]),
        &json!({}),
    );
    let refused = json!({"argv": ["vcs", "-c", "alias.x=!touch fired", "x"]});
    let details = desk.error("shell.exec_safe", &refused, "denied");
    assert_eq!(details["capability"], "exec.safe:vcs");
    assert!(!desk.exists("fired"));
    let allowed = desk.ok("shell.exec_safe", &json!({"argv": ["vcs", "status"]}));
    assert_eq!(allowed["exit_code"], 0, "{allowed}");
}

/// A program of this name sees what git would see.
#[test]
fn the_environment_of_git() {
    let repository = Repository::unjailed(&[("a", "1\n")]);
    let desk = &repository.desk;
    let script = "#!/bin/sh\ncase \" $* \" in *' status '*) env ;; *) exec git \"$@\" ;; esac\n";
    let git = desk.script("git", script);
    desk.rules(
        &json!([{"program": git, "args": [["..."]], "cwd": ["/workspace"]}]),
        &json!({}),
    );
    let answer = desk.ok(
        "shell.exec_safe",
        &json!({"argv": ["git", "--no-pager", "status"]}),
    );
    let stdout = answer["stdout"].as_str().unwrap();
    let value = |name: &str| {
        let start = format!("{name}=");
        let mut lines = stdout.lines();
        lines
            .find_map(|line| line.strip_prefix(&start))
            .unwrap_or_else(|| panic!("no {name} in {stdout}"))
    };
    for (name, expected) in [
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_NO_REPLACE_OBJECTS", "1"),
        ("GIT_ALLOW_PROTOCOL", "none"),
        ("GIT_PAGER", "cat"),
        ("GIT_EDITOR", "false"),
        (
            "GIT_CEILING_DIRECTORIES",
            desk.beside("").to_str().unwrap().trim_end_matches('/'),
        ),
    ] {
        assert_eq!(value(name), expected, "{name}");
    }
    let count: usize = value("GIT_CONFIG_COUNT").parse().unwrap();
    let pairs: Vec<(String, &str)> = (0..count)
        .map(|number| {
            let key = value(&format!("GIT_CONFIG_KEY_{number}")).to_lowercase();
            (key, value(&format!("GIT_CONFIG_VALUE_{number}")))
        })
        .collect();
    for (key, expected) in [
        ("core.fsmonitor", "false"),
        ("core.hookspath", "/dev/null"),
        ("core.untrackedcache", "false"),
        ("core.quotepath", "true"),
        ("core.attributesfile", "/dev/null"),
        ("core.alternaterefscommand", ""),
        ("diff.orderfile", "/dev/null"),
        ("diff.suppressblankempty", "false"),
        ("protocol.allow", "never"),
        ("safe.directory", "*"),
    ] {
        assert!(
            pairs.iter().any(|(k, v)| k == key && *v == expected),
            "{key}={expected} in {pairs:?}"
        );
    }
}

/// Nothing of the caller's environment reaches git.
#[test]
fn the_callers_variables_do_not_reach_git() {
    let repository = Repository::unjailed(&[("a", "1\n")]);
    let mut command = repository.desk.command("git.status");
    command
        .env("GIT_DIR", "/nowhere")
        .env("GIT_WORK_TREE", "/")
        .env("GIT_EXTERNAL_DIFF", "false")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "core.bare")
        .env("GIT_CONFIG_VALUE_0", "true");
    let run = crate::desk::finish(command, b"{}");
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(run.json()["branch"], "main");
}

/// The conversion that is built in goes on; a driver that is switched off passes the bytes through.
#[test]
fn line_ends_are_still_converted() {
    let repository = Repository::unjailed(&[
        ("a.txt", "1\n2\n"),
        (".gitattributes", "*.txt text eol=crlf filter=off\n"),
    ]);
    repository.config("filter.off.clean", "tr 1 x");
    repository.config("filter.off.required", "true");
    repository.desk.write("a.txt", "1\r\n2\r\n");
    // `git status` goes by the length alone and reports the file; the diff is what tells.
    assert_eq!(repository.desk.ok("git.diff", &json!({}))["diff"], "");
    repository.desk.write("a.txt", "1\r\n3\r\n");
    let diff = repository.desk.ok("git.diff", &json!({}));
    assert!(
        diff["diff"].as_str().unwrap().ends_with(" 1\n-2\n+3\n"),
        "{diff}"
    );
}

#[test]
fn a_repository_that_leads_out_of_the_mounts() {
    let elsewhere = Repository::unjailed(&[("secret", "1\n")]);
    let outside = elsewhere.desk.path("");
    let outside = outside.to_str().unwrap().trim_end_matches('/').to_owned();
    let denied = |repository: &Repository, what: &str| {
        for request in [
            ("git.status", json!({})),
            ("git.diff", json!({})),
            ("git.diff", json!({"target": "commit"})),
        ] {
            let details: Value = repository.desk.error(request.0, &request.1, "denied");
            assert!(!details.to_string().contains(&outside), "{what}: {details}");
        }
    };
    let fresh = || Repository::unjailed(&[("a", "1\n")]);
    let without = || {
        let repository = fresh();
        fs::remove_dir_all(repository.desk.path(".git")).unwrap();
        repository
    };

    let repository = without();
    repository
        .desk
        .write(".git", format!("gitdir: {outside}/.git\n"));
    denied(&repository, ".git file");

    let repository = without();
    repository.desk.link(&format!("{outside}/.git"), ".git");
    denied(&repository, ".git link");

    let repository = fresh();
    repository.config("core.worktree", &outside);
    denied(&repository, "core.worktree");

    let repository = fresh();
    repository.config("core.worktree", "../../..");
    denied(&repository, "core.worktree upward");

    let repository = fresh();
    repository
        .desk
        .write(".git/commondir", format!("{outside}/.git\n"));
    denied(&repository, "commondir");
}

/// A work tree whose repository lies elsewhere in the mount is none of these.
#[test]
fn work_trees_inside_the_mount() {
    let repository = Repository::unjailed(&[("a", "1\n")]);
    repository.git(&["worktree", "add", "-q", "-b", "side", "tree"]);
    repository.desk.write("tree/new", "");
    let answer = repository.desk.ok("git.status", &json!({"path": "tree"}));
    assert_eq!(
        (&answer["branch"], &answer["untracked"]),
        (&json!("side"), &json!(["new"]))
    );
}

#[test]
fn nothing_below_git_is_written() {
    let hostile = Hostile::new();
    let repository = &hostile.repository;
    repository.config("core.untrackedCache", "true");
    repository.config("core.splitIndex", "true");
    for path in ["a.txt", "b.txt"] {
        repository.age(path);
    }
    let before = repository.state();
    hostile.assert_silent("reading");
    let after = repository.state();
    let names: Vec<&String> = after
        .iter()
        .filter(|file| !before.contains(file))
        .map(|file| &file.0)
        .collect();
    assert!(
        names.is_empty() && after.len() == before.len(),
        "changed: {names:?}"
    );
}

/// Nor does anything else appear, in the work tree or beside it.
#[test]
fn values_of_requests_are_no_options() {
    let repository = Repository::unjailed(&[("--output=out/f", "1\n"), ("-x/f", "1\n")]);
    let answer = repository
        .desk
        .ok("git.status", &json!({"path": "--output=out"}));
    assert_eq!(answer["branch"], "main");
    repository.desk.ok("git.diff", &json!({"path": "-x"}));
    let request = json!({"target": "commit", "commit": "--output=../out"});
    repository.desk.invalid("git.diff", &request, "commit");
    let out: PathBuf = repository.desk.beside("out");
    assert!(!out.exists());
}
