//! What is in the jail, and which directories are refused.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use crate::cell::Cell;

#[test]
fn the_environment_is_the_fixed_one_and_the_socket() {
    let cell = Cell::new();
    let mut command = cell.command(&[], &["env"]);
    command
        .env("SECRET", "of the operator")
        .env("TERM", "xterm-256color")
        .env("http_proxy", "http://proxy.example:1");
    let run = crate::program::Run::of(&mut command);
    let mut lines: Vec<&str> = run.stdout.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "HOME=/tmp",
            "HYDRANT_SOCKET=/run/hydrant.sock",
            "LANG=C.UTF-8",
            "PATH=/run/hydrant/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "TERM=xterm-256color",
            "TMPDIR=/tmp",
            "TZ=UTC",
        ]
    );
}

#[test]
fn without_options_there_is_nothing_of_the_host_but_its_system() {
    let cell = Cell::new();
    let run = cell.with(&[], "pwd; ls /; ls -A /tmp; touch /x /run/x /usr/x; id -u");
    let out = run.stdout;
    assert!(
        out.starts_with("/tmp\n") && out.ends_with("\n65534\n"),
        "{out}"
    );
    for absent in ["workspace", "home", "root", "os", "var", "srv", "mnt"] {
        assert!(!out.lines().any(|line| line == absent), "{absent} in {out}");
    }
    assert_eq!(
        run.stderr.matches("Read-only file system").count(),
        3,
        "{}",
        run.stderr
    );
    // Nor by the socket: the default policy's workspace would be the working directory.
    cell.folder().put("secret", "of the working directory");
    let run = cell.with(
        &[],
        r#"hydrant run fs.read_text '{"path":"/workspace/secret"}'"#,
    );
    assert_eq!((run.status, run.stdout.as_str()), (5, ""), "{run:?}");
}

#[test]
fn the_workspace_is_read_written_and_executed() {
    let cell = Cell::new();
    let run = cell.sh("pwd; cat a.txt; printf '#!/bin/sh\\necho built\\n' > build; chmod +x build; ./build; cp build /tmp; /tmp/build");
    assert_eq!(
        run.stdout, "/workspace\nof the workspace\nbuilt\nbuilt\n",
        "{}",
        run.stderr
    );
    assert!(cell.folder().exists("ws/build"));
    // What skills see there is the same.
    let run = cell.sh(r#"echo new > new; hydrant run fs.read_text '{"path":"new"}'"#);
    assert!(run.stdout.contains(r#""text":"new\n""#), "{run:?}");
}

#[test]
fn mounts_of_the_policy_have_their_modes() {
    let cell = Cell::new();
    let run = cell
        .governed("cat /more/b.txt; touch /more/x; touch /os/x; touch /workspace/x && echo wrote");
    assert_eq!(run.stdout, "of another mount\nwrote\n");
    assert_eq!(
        run.stderr.matches("Read-only file system").count(),
        2,
        "{}",
        run.stderr
    );
}

#[test]
fn what_is_mounted_for_reading_is_not_written_by_way_of_the_workspace() {
    let cell = Cell::new();
    cell.folder().put("ws/docs/inner/of.md", "as it is\n");
    let inner = cell.folder().argument("ws/docs/inner");
    let policy = format!(
        r#"{{"version": 1, "trusted_signers": ["hydrant.build"], "capability_ceiling": {{}},
            "host": {{"mounts": [{{"at": "/more", "dir": "{inner}", "mode": "ro"}}]}}}}"#
    );
    cell.folder().put("inner.json", policy);
    let run = cell.with(
        &["--policy", "inner.json", "--workspace", "ws"],
        "echo x > docs/inner/of.md; mv docs d; mv docs/inner docs/i; touch docs/beside && cat /more/of.md",
    );
    assert_eq!(run.stdout, "as it is\n", "{run:?}");
    assert!(cell.folder().exists("ws/docs/beside"));
    assert_eq!(cell.folder().text("ws/docs/inner/of.md"), "as it is\n");
}

#[test]
fn a_directory_around_or_in_the_home_is_refused_and_both_are_named() {
    let cell = Cell::new();
    let home = cell.folder().home();
    fs::create_dir_all(home.join("state/deep")).unwrap();
    symlink(home.parent().unwrap(), cell.folder().path("link")).unwrap();
    let around = home.parent().unwrap().to_str().unwrap().to_owned();
    let inner = home.join("state/deep").to_str().unwrap().to_owned();
    for workspace in [
        "/",
        "..",
        "../home",
        "link",
        "link/.hydrant",
        &around,
        &inner,
        "/proc/self/cwd/..",
    ] {
        let run = cell.with(&["--workspace", workspace], "echo ran");
        assert_eq!(
            (run.status, run.stdout.as_str()),
            (125, ""),
            "{workspace}: {run:?}"
        );
        assert!(run.stderr.contains(workspace), "{}", run.stderr);
        assert!(
            workspace == "/" || run.stderr.contains(".hydrant"),
            "{}",
            run.stderr
        );
    }
    for workspace in [
        "/proc",
        "/proc/self",
        "/sys",
        "/dev/shm",
        "missing",
        "ws/a.txt",
    ] {
        let run = cell.with(&["--workspace", workspace], "echo ran");
        assert_eq!(
            (run.status, run.stdout.as_str()),
            (125, ""),
            "{workspace}: {run:?}"
        );
    }
    // Not even for reading.
    let policy = format!(
        r#"{{"version": 1, "trusted_signers": ["hydrant.build"], "capability_ceiling": {{}},
            "host": {{"mounts": [{{"at": "/all", "dir": "{around}", "mode": "ro"}}]}}}}"#
    );
    cell.folder().put("all.json", policy);
    let run = cell.with(&["--policy", "all.json"], "echo ran");
    assert_eq!((run.status, run.stdout.as_str()), (125, ""), "{run:?}");
    assert!(
        run.stderr.contains("/all") && run.stderr.contains(".hydrant"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_home_that_is_not_there_yet_is_kept_from_the_workspace_too() {
    let cell = Cell::new();
    let mut command = cell.command(&["--workspace", "ws"], &["true"]);
    command.env("HYDRANT_HOME", cell.folder().path("ws/.hydrant"));
    let run = crate::program::Run::of(&mut command);
    assert_eq!(run.status, 125, "{run:?}");
    assert!(run.stderr.contains("ws/.hydrant"), "{}", run.stderr);
}

#[test]
fn what_is_hydrants_own_in_the_workspace_stays_as_it_is() {
    let cell = Cell::new();
    let folder = cell.folder();
    folder.put("ws/conf/deep/policy.json", folder.read("policy.json"));
    let before = folder.read("ws/conf/deep/policy.json");
    let options = ["--policy", "ws/conf/deep/policy.json", "--workspace", "ws"];
    let run = cell.with(
        &options,
        "cd conf/deep; echo x > policy.json; rm -f policy.json; mv policy.json y; echo y > y; mv y policy.json; cd ../..
         mv conf/deep conf/d; mv conf c; ln conf/deep/policy.json l; ls conf/deep; touch conf/deep/other && echo made",
    );
    assert!(run.stdout.ends_with("made\n"), "{run:?}");
    assert_eq!(folder.read("ws/conf/deep/policy.json"), before, "{run:?}");
    assert!(!folder.exists("ws/c") && !folder.exists("ws/l"), "{run:?}");
    // One that could be replaced, as it is a link or not there yet, is no jail.
    symlink("conf/deep/policy.json", folder.path("ws/link.json")).unwrap();
    for own in [["--policy", "ws/link.json"], ["--audit", "ws/audit.jsonl"]] {
        let run = cell.with(&[own[0], own[1], "--workspace", "ws"], "echo ran");
        assert_eq!((run.status, run.stdout.as_str()), (125, ""), "{run:?}");
        assert!(run.stderr.contains(own[1]), "{}", run.stderr);
    }
}

#[test]
fn the_binary_cannot_be_changed() {
    let cell = Cell::new();
    let run = cell.sh(
        "command -v hydrant; echo x >> /run/hydrant/bin/hydrant; chmod 777 /run/hydrant/bin/hydrant; rm -f /run/hydrant/bin/hydrant",
    );
    assert_eq!(run.stdout, "/run/hydrant/bin/hydrant\n");
    assert_eq!(run.stderr.lines().count(), 3, "{}", run.stderr);
}

#[test]
fn the_mode_of_a_file_at_a_standard_stream_stays_as_it_is() {
    let cell = Cell::new();
    let path = cell.folder().path("out");
    let mut command = cell.command(
        &[],
        &[
            "/usr/bin/python3",
            "-c",
            "
import os
for fd in 0, 1, 2:
    try: os.fchmod(fd, 0o777); os.ftruncate(fd, 0)
    except OSError: pass
print('written')",
        ],
    );
    command.stdin(fs::File::open(cell.folder().path("policy.json")).unwrap());
    command.stdout(fs::File::create(&path).unwrap());
    command.stderr(
        fs::OpenOptions::new()
            .append(true)
            .open(cell.folder().path("ws/a.txt"))
            .unwrap(),
    );
    assert!(command.status().unwrap().success());
    for (name, text) in [("out", "written\n"), ("ws/a.txt", "of the workspace\n")] {
        let metadata = fs::metadata(cell.folder().path(name)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o111, 0, "{name}");
        assert_eq!(cell.folder().text(name), text);
    }
    assert!(
        fs::metadata(cell.folder().path("policy.json"))
            .unwrap()
            .size()
            > 0
    );
}
