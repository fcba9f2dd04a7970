//! What may be written.

use std::sync::LazyLock;

use super::*;

const WRITING: &str = r#"version: 1
trusted_signers: [a]
capability_ceiling:
  fs: {read: [/], write: [/workspace, /os, /data]}
  net: ["https://docs.example/"]
host:
  mounts:
    - {at: /workspace, dir: ".", mode: rw}
    - {at: /os, dir: os, mode: ro}
    - {at: /os/lib, url: "https://docs.example/v3/"}
    - {at: /data, dir: ours, mode: rw}
    - {at: /other, dir: ours, mode: rw}
"#;

const DECLARED: [&str; 4] = [
    "fs.read:/workspace",
    "fs.write:/workspace",
    "fs.write:/os",
    "fs.write:/other",
];

fn decided(grant: &Grant, asked: &str) -> (String, Option<u64>) {
    let denial = grant.write(&path(asked)).unwrap_err();
    assert_eq!(denial.capability(), format!("fs.write:{asked}"));
    let rule = denial.decided_by();
    (rule.source.clone(), rule.line)
}

#[test]
fn writing_takes_manifest_ceiling_and_a_writable_mount() {
    let grant = grant(WRITING, &DECLARED);
    let leave = grant.write(&path("/workspace/a/b")).unwrap();
    assert_eq!(
        (leave.mount.at().as_str(), leave.relative.as_str()),
        ("/workspace", "a/b")
    );
    assert_eq!(grant.write(&path("/workspace")).unwrap().relative, "");
    assert_eq!(
        grant.write(&path("/data/x")).unwrap_err().to_string(),
        "fs.write:/data/x is denied by the manifest (it declares fs.write for /workspace, /os, /other only); to allow \
         it, the skill must be signed with a manifest that declares fs.write:/data/x"
    );
    assert_eq!(
        grant.write(&path("/other/x")).unwrap_err().to_string(),
        "fs.write:/other/x is denied by policy.yaml:4 (capability_ceiling.fs.write does not cover it); to allow it, add \
         \"/other/x\" to capability_ceiling.fs.write"
    );
    assert_eq!(
        grant.write(&path("/os/x")).unwrap_err().to_string(),
        "fs.write:/os/x is denied by policy.yaml:9 (it lies in what /os mounts with mode: ro); to allow it, set \
         mode: rw for /os"
    );
    // Reading a path is no leave to write it, and writing none to read.
    let read_only = self::grant(WRITING, &["fs.read:/workspace"]);
    assert!(read_only.write(&path("/workspace/x")).is_err());
    assert!(grant.read(&path("/os/x")).is_err());
    assert!(Grant::nothing().write(&path("/workspace/x")).is_err());
}

#[test]
fn what_no_mount_holds_is_denied_before_any_file_is_touched() {
    let wide = WRITING.replace("write: [/workspace, /os, /data]", "write: [/]");
    let denial = grant(&wide, &["fs.write:/"])
        .write(&path("/etc/passwd"))
        .unwrap_err();
    assert_eq!(
        denial.to_string(),
        "fs.write:/etc/passwd is denied by policy.yaml:7 (no mount of host.mounts holds it); to allow it, add \
         {at: /etc, dir: DIR, mode: rw} to host.mounts"
    );
}

/// By whichever mount it is reached.
#[test]
fn nothing_below_the_directory_of_a_read_only_mount_is_written() {
    let grant = grant(WRITING, &DECLARED);
    for asked in ["/workspace/os", "/workspace/os/x", "/workspace/os/tools/t"] {
        let denial = grant.write(&path(asked)).unwrap_err();
        assert_eq!(denial.decided_by().line, Some(9), "{asked}");
        assert!(denial.decided_by().reason.contains("/os"), "{asked}");
    }
    // Next to it, and in a directory that two writable mounts share.
    assert!(grant.write(&path("/workspace/osx")).is_ok());
    assert!(grant.write(&path("/workspace/ours/x")).is_ok());
}

/// An https mount is read-only.
#[test]
fn nothing_is_written_behind_a_url() {
    let grant = grant(WRITING, &DECLARED);
    assert_eq!(
        decided(&grant, "/os/lib/x"),
        ("policy.yaml".to_owned(), Some(10))
    );
    let flag = CliMount::os_prefix("/kits/=https://docs.example/v3/", false).unwrap();
    let scratch = Scratch::new();
    let file = scratch.root.join("policy.yaml");
    std::fs::write(&file, WRITING).unwrap();
    let policy = Policy::load(&file, &[flag]).unwrap();
    let grant = Grant::new(policy, &capabilities(&DECLARED));
    assert_eq!(decided(&grant, "/os/kits/x"), ("--mount".to_owned(), None));
}

#[test]
fn nothing_in_a_git_directory_is_written() {
    let grant = grant(WRITING, &["fs.write:/workspace"]);
    for asked in [
        "/workspace/.git",
        "/workspace/.git/config",
        "/workspace/sub/.git/hooks/pre-commit",
        "/workspace/.GIT/config",
        "/workspace/.gIt",
    ] {
        let denial = grant.write(&path(asked)).unwrap_err();
        assert!(denial.decided_by().reason.contains(".git"), "{asked}");
    }
    for asked in [
        "/workspace/.gitignore",
        "/workspace/git",
        "/workspace/x.git",
        "/workspace/.git2/x",
    ] {
        assert!(grant.write(&path(asked)).is_ok(), "{asked}");
    }
}

#[test]
fn no_denial_of_a_write_shows_the_directory_of_a_mount() {
    let scratch = Scratch::new();
    let policy = scratch.policy(WRITING).unwrap();
    let grant = Grant::new(policy, &capabilities(&DECLARED));
    for asked in ["/workspace/os/x", "/os/lib/x", "/data/x", "/workspace/.git"] {
        let message = grant.write(&path(asked)).unwrap_err().to_string();
        assert!(
            !message.contains(scratch.root.to_str().unwrap()) && !message.contains("docs.example"),
            "{message}"
        );
    }
}

proptest! {
    /// Whatever is written lies in a writable directory and in no repository.
    #[test]
    fn what_is_written_is_neither_read_only_nor_of_a_repository(asked in "/(workspace|os|data)(/(a|os|\\.git|\\.GIT|ours)){0,3}") {
        static GRANT: LazyLock<Grant> = LazyLock::new(|| grant(WRITING, &["fs.write:/"]));
        let asked = path(&asked);
        if let Ok(leave) = GRANT.write(&asked) {
            prop_assert!(asked.segments().all(|name| name != ".git" && name != ".GIT"));
            prop_assert!(!asked.starts_with(&path("/os")) && !asked.starts_with(&path("/workspace/os")));
            prop_assert!(leave.mount.at().as_str() != "/os");
        }
    }
}
