//! Tables of mounts: which path lies where, and which flags a policy takes.

use super::*;
use crate::document::Document;
use std::path::PathBuf;

fn path(text: &str) -> VirtualPath {
    VirtualPath::parse(text).unwrap()
}

struct Scratch {
    _directory: tempfile::TempDir,
    root: PathBuf,
}

fn scratch() -> Scratch {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    for name in ["os/lib", "ours"] {
        std::fs::create_dir_all(root.join(name)).unwrap();
    }
    Scratch {
        _directory: directory,
        root,
    }
}

fn open(
    scratch: &Scratch,
    rules: &[MountRule],
    flags: &[CliMount],
) -> Result<MountTable, PolicyError> {
    let rules: Vec<_> = rules
        .iter()
        .map(|rule| Lined {
            line: 7,
            value: rule.clone(),
        })
        .collect();
    let (root, file) = (scratch.root.as_path(), "policy.yaml");
    MountTable::open(
        &rules,
        Origins {
            file,
            directory: root,
            working_directory: root,
            flags,
        },
    )
}

/// The rule that maps `at` to a directory, read only.
fn rule(at: &str, directory: &str) -> MountRule {
    let text = format!(
        "{{version: 1, trusted_signers: [a], capability_ceiling: {{}}, host: {{mounts: [{{at: {at}, dir: '{directory}', mode: ro}}]}}}}"
    );
    let document = Document::parse("policy.yaml", text.as_bytes()).unwrap();
    document.host.mounts.value[0].value.clone()
}

fn flag(flag: &str) -> CliMount {
    CliMount::os_prefix(flag, false).unwrap()
}

#[test]
fn the_longest_prefix_by_whole_segments_wins() {
    let scratch = scratch();
    let flags = [
        flag("/=./os"),
        flag("/lib/=https://cdn.example/v3/"),
        flag("/lib/ours/=ours"),
    ];
    let table = open(&scratch, &[], &flags).unwrap();
    for (virtual_path, source) in [
        ("/os/crew/pilot.md", "os:crew/pilot.md"),
        (
            "/os/lib/rope ladder.md",
            "https://cdn.example/v3/rope%20ladder.md",
        ),
        ("/os/lib/ours/rope.md", "ours:rope.md"),
        ("/os/library/rope.md", "os:library/rope.md"),
        ("/os/lib/rope.md", "https://cdn.example/v3/rope.md"),
        ("/os/lib", "os:lib"),
        ("/os", "os:"),
        ("/os/lib/ours", "ours:"),
    ] {
        let virtual_path = path(virtual_path);
        let found = match table
            .holding(&virtual_path)
            .unwrap()
            .locate(&virtual_path, Vec::new())
            .unwrap()
        {
            Location::Https { url } => url.to_string(),
            Location::Directory(found) => {
                let relative = found.relative();
                let name = found
                    .mount()
                    .real()
                    .strip_prefix(&scratch.root)
                    .unwrap()
                    .to_str()
                    .unwrap();
                format!("{name}:{relative}")
            }
        };
        assert_eq!(found, source, "{virtual_path}");
    }
    assert!(table.holding(&path("/workspace/x")).is_none());
    assert!(table.holding(&path("/osx")).is_none());
    assert!(table.holding(&path("/")).is_none());
}

#[test]
fn what_the_policy_maps_no_flag_maps_again() {
    let scratch = scratch();
    let mapped = rule("/os", "os");
    let error = open(&scratch, std::slice::from_ref(&mapped), &[flag("/=ours")]).unwrap_err();
    assert!(
        error.is_usage() && error.to_string().contains("policy.yaml:7 maps it already"),
        "{error}"
    );
    assert!(
        open(
            &scratch,
            std::slice::from_ref(&mapped),
            &[flag("/lib/=ours")]
        )
        .is_ok()
    );
    let mapped = rule("/os", "@cli");
    assert!(open(&scratch, std::slice::from_ref(&mapped), &[flag("/=ours")]).is_ok());
    let error = open(&scratch, &[mapped], &[]).unwrap_err();
    assert!(
        error.to_string().contains("must be given by --root DIR"),
        "{error}"
    );
}

#[test]
fn flags_fill_cli_mounts_and_add_below_os_only() {
    let scratch = scratch();
    let data = CliMount::of_policy("/data=ours").unwrap();
    // A flag of `run` adds nothing, not even below /os.
    for adds in [&data, &CliMount::of_policy("/os/lib=ours").unwrap()] {
        let error = open(&scratch, &[], std::slice::from_ref(adds)).unwrap_err();
        assert!(error.is_usage(), "{error}");
    }
    assert!(open(&scratch, &[rule("/data", "@cli")], &[data]).is_ok());
    assert!(
        open(&scratch, &[], &[flag("/a/=os"), flag("/a/=ours")])
            .unwrap_err()
            .is_usage()
    );
    assert!(
        open(&scratch, &[], &[flag("/a/=none")])
            .unwrap_err()
            .is_usage()
    );
}

#[test]
fn a_file_inside_a_mount_is_found() {
    let scratch = scratch();
    let table = open(&scratch, &[], &[flag("/=os")]).unwrap();
    assert!(table.containing(&scratch.root.join("os/lib/git")).is_some());
    assert!(table.containing(&scratch.root.join("ours/git")).is_none());
}
