//! Mounts of tenant and run in place of the policy's.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::*;

/// A site with directories to narrow to.
fn scratch() -> Scratch {
    let scratch = Scratch::new();
    for name in ["ours/a/b", "ours/c", "os/lib", "beside"] {
        fs::create_dir_all(scratch.root.join(name)).unwrap();
    }
    scratch
}

fn with_mounts(mounts: &str) -> String {
    layer(WIDE, &format!("  mounts:\n{mounts}"))
}

fn mounting(at: &str, dir: &str, mode: &str) -> String {
    with_mounts(&format!("    - {{at: {at}, dir: {dir}, mode: {mode}}}\n"))
}

/// The real path behind a virtual one.
fn located(grant: &Grant, asked: &str) -> Result<PathBuf, Denial> {
    match grant.read(&path(asked))? {
        Location::Directory(found) => Ok(found.mount().real().join(found.relative())),
        Location::Https { url } => Ok(PathBuf::from(url.as_str())),
    }
}

#[test]
fn a_mount_of_a_layer_replaces_the_policys() {
    let scratch = scratch();
    for (tenant, run) in [
        (mounting("/workspace", "ours/a", "ro"), String::new()),
        (String::new(), mounting("/workspace", "ours/a", "ro")),
    ] {
        let grant = grant(scratch.layers(POLICY, &tenant, &run).unwrap());
        assert_eq!(
            located(&grant, "/workspace/x").unwrap(),
            scratch.root.join("ours/a/x")
        );
        let file = if run.is_empty() {
            "tenant.yaml"
        } else {
            "grant.yaml"
        };
        let denial = grant.write(&path("/workspace/x")).unwrap_err();
        assert_eq!(decided(&denial), format!("{file}:10"));
        // What it does not list is not mounted.
        let denial = located(&grant, "/os/x").unwrap_err();
        assert_eq!(decided(&denial), format!("{file}:9"));
        assert_eq!(denial.would_allow(), "list /os in host.mounts");
    }
    let same = grant(
        scratch
            .layers(POLICY, &mounting("/workspace", "./ours", "rw"), "")
            .unwrap(),
    );
    let leave = same.write(&path("/workspace/x")).unwrap();
    assert_eq!(
        (leave.mount.at().as_str(), leave.relative.as_str()),
        ("/workspace", "x")
    );
}

#[test]
fn a_layer_without_mounts_changes_none_and_one_with_an_empty_list_unmounts_all() {
    let scratch = scratch();
    let unchanged = grant(scratch.layers(POLICY, &layer(WIDE, ""), "").unwrap());
    assert!(located(&unchanged, "/os/x").is_ok() && located(&unchanged, "/os/lib/x").is_ok());
    let empty = layer(WIDE, "  mounts: []\n");
    let nothing = grant(scratch.layers(POLICY, &empty, "").unwrap());
    for asked in ["/os", "/os/x", "/os/lib/x", "/workspace/x"] {
        let denial = located(&nothing, asked).unwrap_err();
        assert_eq!(decided(&denial), "tenant.yaml:9", "{asked}");
        assert!(!nothing.is_remote(&path(asked)));
    }
}

#[test]
fn an_unlisted_mount_still_hides_what_lies_behind_it() {
    let scratch = scratch();
    // `/os/lib` is a URL for the policy; without it the directory `os/lib` must not appear in its place.
    let grant = grant(
        scratch
            .layers(POLICY, &mounting("/os", "os", "ro"), "")
            .unwrap(),
    );
    assert!(located(&grant, "/os/x").is_ok());
    let denial = located(&grant, "/os/lib/x").unwrap_err();
    assert_eq!(decided(&denial), "tenant.yaml:9");
    assert!(
        denial
            .to_string()
            .contains("host.mounts leaves out /os/lib")
    );
}

#[test]
fn what_is_no_narrower_mount_refuses_the_layer() {
    let scratch = scratch();
    symlink("ours", scratch.root.join("link")).unwrap();
    for (mounts, said) in [
        (
            mounting("/data", "ours", "ro"),
            "must be a mount of the policy",
        ),
        (
            mounting("/os/kits", "os", "ro"),
            "must be a mount of the policy",
        ),
        (mounting("/workspace", "beside", "ro"), "or lie below it"),
        (mounting("/workspace", ".", "ro"), "or lie below it"),
        (mounting("/workspace", "ours/..", "ro"), "or lie below it"),
        (mounting("/workspace", "link", "ro"), "symbolic link"),
        (mounting("/workspace", "none", "ro"), "does not exist"),
        (mounting("/os", "os", "rw"), "must not have mode: rw"),
        (mounting("/os/lib", "os/lib", "ro"), "or lie below it"),
        (
            with_mounts("    - {at: /os, url: \"https://docs.example/v3/\"}\n"),
            "or lie below it",
        ),
        (
            with_mounts("    - {at: /os/lib, url: \"https://docs.example/v2/\"}\n"),
            "or lie below it",
        ),
        (
            with_mounts("    - {at: /os/lib, url: \"https://docs.example/v3/../\"}\n"),
            "or lie below it",
        ),
    ] {
        for (tenant, run, file) in [(&*mounts, "", "tenant"), ("", &*mounts, "grant")] {
            let message = scratch.layers(POLICY, tenant, run).unwrap_err().to_string();
            assert!(
                message.starts_with("policy constraint violation: the mount /")
                    && message.contains(said)
                    && message.ends_with(&format!("({file}.yaml:10)")),
                "{mounts}{message}"
            );
        }
    }
}

#[test]
fn a_url_may_be_narrowed_like_a_directory() {
    let scratch = scratch();
    let tenant = with_mounts("    - {at: /os/lib, url: \"https://docs.example/v3/kits/\"}\n");
    let grant = grant(scratch.layers(POLICY, &tenant, "").unwrap());
    assert_eq!(
        located(&grant, "/os/lib/x").unwrap(),
        PathBuf::from("https://docs.example/v3/kits/x")
    );
    assert!(grant.is_remote(&path("/os/lib/x")));
}

/// Both layers are checked against the policy, and what holds is what both allow.
#[test]
fn tenant_and_run_narrow_each_other() {
    let scratch = scratch();
    let both = |tenant: (&str, &str), run: (&str, &str)| {
        scratch.layers(
            POLICY,
            &mounting("/workspace", tenant.0, tenant.1),
            &mounting("/workspace", run.0, run.1),
        )
    };
    for (tenant, run, directory, writable) in [
        (("ours/a", "rw"), ("ours/a/b", "rw"), "ours/a/b", true),
        (("ours/a/b", "rw"), ("ours", "rw"), "ours/a/b", true),
        (("ours/a", "ro"), ("ours/a", "rw"), "ours/a", false),
        (("ours", "rw"), ("ours/a", "ro"), "ours/a", false),
        (("ours/a/b", "ro"), ("ours", "rw"), "ours/a/b", false),
    ] {
        let layers = both(tenant, run).unwrap();
        assert_eq!(layers.is_writable(&path("/workspace/x")), writable);
        let grant = grant(layers);
        assert_eq!(
            located(&grant, "/workspace").unwrap(),
            scratch.root.join(directory).join("")
        );
        assert_eq!(grant.write(&path("/workspace/x")).is_ok(), writable);
    }
    let message = both(("ours/a", "rw"), ("ours/c", "rw"))
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("within what the tenant layer mounts"),
        "{message}"
    );
    // What the tenant leaves out, a run cannot mount again.
    let (tenant, run) = (
        mounting("/workspace", "ours", "rw"),
        mounting("/os", "os", "ro"),
    );
    let grant = grant(scratch.layers(POLICY, &tenant, &run).unwrap());
    assert_eq!(
        decided(&located(&grant, "/os/x").unwrap_err()),
        "tenant.yaml:9"
    );
    assert_eq!(
        decided(&located(&grant, "/workspace/x").unwrap_err()),
        "grant.yaml:9"
    );
}

/// A read-only mount of the policy protects its directory also where a layer does not mount it.
#[test]
fn what_any_layer_mounts_read_only_is_not_written() {
    let scratch = scratch();
    let policy = POLICY.replace("dir: os,", "dir: ours/a,");
    let tenant = mounting("/workspace", "ours", "rw");
    let grant_under = |tenant: &str| grant(scratch.layers(&policy, tenant, "").unwrap());
    for grant in [grant_under(""), grant_under(&tenant)] {
        assert!(grant.write(&path("/workspace/c/x")).is_ok());
        let denial = grant.write(&path("/workspace/a/x")).unwrap_err();
        assert_eq!(decided(&denial), "policy.yaml:10");
    }
}
