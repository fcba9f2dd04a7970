//! Policies as an operator meets them: files on disk, directories that exist or do not, flags.

use std::os::unix::fs::symlink;

use proptest::prelude::*;

use super::*;

/// A directory with `os/`, `os/tools/`, `ours/` and whatever policies a test writes.
pub(super) struct Scratch {
    _directory: tempfile::TempDir,
    pub(super) root: PathBuf,
}

impl Scratch {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        for name in ["os/tools", "ours"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        Self {
            _directory: directory,
            root,
        }
    }

    /// The policy with this text, named `policy.yaml` in its messages.
    pub(super) fn policy(&self, text: &str) -> Result<Policy, PolicyError> {
        let document = Document::parse("policy.yaml", text.as_bytes())?;
        let (file, root) = ("policy.yaml", self.root.as_path());
        let origins = Origins {
            file,
            directory: root,
            working_directory: root,
            flags: &[],
        };
        Policy::assemble(document, text.as_bytes(), origins)
    }
}

fn path(text: &str) -> VirtualPath {
    VirtualPath::parse(text).unwrap()
}

const HEAD: &str =
    "version: 1\ntrusted_signers: [a]\ncapability_ceiling: {fs: {read: [/]}, exec: true}\n";

#[test]
fn a_policy_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Policy>();
    shared::<Grant>();
    shared::<Denial>();
}

#[test]
fn tp_39_the_default_policy_reads_workspace_and_os_and_nothing_else() {
    let scratch = Scratch::new();
    let policy = Policy::built_in(&scratch.root, &[]).unwrap();
    assert_eq!(policy.source(), "the default policy");
    assert_eq!(
        policy.trusted_signers(),
        ["hydrant.build", "hydrant.release"]
    );
    assert_eq!(policy.tools(), Tools::Describe);
    assert_eq!(policy.limits(), Limits::default());
    assert!(policy.mounts.mounts_at(&path("/workspace"), &scratch.root));
    assert!(
        policy
            .mounts
            .mounts_at(&path("/os"), &scratch.root.join("os"))
    );
    assert!(policy.programs.is_empty() && !policy.document.ceiling.exec.value);
}

#[test]
fn tp_39_without_os_directory_there_is_no_os_mount() {
    let scratch = Scratch::new();
    let policy = Policy::built_in(&scratch.root.join("ours"), &[]).unwrap();
    assert!(policy.mounts.holding(&path("/os/x")).is_none());
    fs::write(scratch.root.join("ours/os"), "a file").unwrap();
    assert!(Policy::built_in(&scratch.root.join("ours"), &[]).is_ok());
}

#[test]
fn cli_01_root_and_mount_flags_replace_the_default_mounts() {
    let scratch = Scratch::new();
    let root = CliMount::root(Path::new("ours"));
    let lib = CliMount::os_prefix("/lib/=https://cdn.example/v3/", false).unwrap();
    let policy = Policy::built_in(&scratch.root, &[root.clone(), lib]).unwrap();
    assert!(
        policy
            .mounts
            .mounts_at(&path("/os"), &scratch.root.join("ours"))
    );
    assert!(
        Policy::built_in(&scratch.root, &[root.clone(), root])
            .unwrap_err()
            .is_usage()
    );
    let missing = CliMount::root(Path::new("none"));
    assert!(
        Policy::built_in(&scratch.root, &[missing])
            .unwrap_err()
            .is_usage()
    );
    let data = CliMount {
        at: path("/data"),
        target: MountTarget::Directory("ours".into()),
    };
    assert!(
        Policy::built_in(&scratch.root, &[data])
            .unwrap_err()
            .is_usage()
    );
}

#[test]
fn tp_22_directories_are_relative_to_the_policy_file() {
    let scratch = Scratch::new();
    let file = scratch.root.join("ours/policy.yaml");
    let text = format!(
        "{HEAD}host:\n  mounts:\n    - {{at: /os, dir: ../os, mode: ro}}\n  tls_roots: [ca.pem, /etc/ca.pem]\n"
    );
    fs::write(&file, text).unwrap();
    let policy = Policy::load(&file, &[]).unwrap();
    assert!(
        policy
            .mounts
            .mounts_at(&path("/os"), &scratch.root.join("os"))
    );
    assert_eq!(
        policy.tls_roots(),
        [
            scratch.root.join("ours/ca.pem"),
            PathBuf::from("/etc/ca.pem")
        ]
    );
    assert_eq!(policy.source(), file.to_str().unwrap());
}

#[test]
fn tp_22_a_directory_with_a_link_or_without_existence_refuses_the_policy() {
    let scratch = Scratch::new();
    symlink("os", scratch.root.join("link")).unwrap();
    for (directory, said) in [("link", "os"), ("link/tools", "os/tools"), ("none", "none")] {
        let text =
            format!("{HEAD}host:\n  mounts:\n    - {{at: /os, dir: {directory}, mode: ro}}\n");
        let message = scratch.policy(&text).unwrap_err().to_string();
        let resolved = scratch.root.join(said);
        assert!(
            message.starts_with("policy constraint violation: the mount /os "),
            "{message}"
        );
        assert!(
            message.contains(resolved.to_str().unwrap()) && message.ends_with("(policy.yaml:6)"),
            "{message}"
        );
    }
}

#[test]
fn tp_27_a_program_inside_a_mount_refuses_the_policy() {
    let scratch = Scratch::new();
    let text = format!(
        "{HEAD}host:\n  mounts: [{{at: /bin, dir: /, mode: ro}}]\n  process: [{{program: sh, args: [[]], cwd: [/bin]}}]\n"
    );
    let message = scratch.policy(&text).unwrap_err().to_string();
    assert!(
        message.contains("the program sh must not lie inside the mount /bin"),
        "{message}"
    );
}

#[test]
fn tp_32_writable_directories_lie_in_writable_mounts() {
    let scratch = Scratch::new();
    let text = |writable| {
        format!(
            "{HEAD}host:\n  mounts:\n    - {{at: /os, dir: os, mode: ro}}\n    - {{at: /w, dir: ours, mode: rw}}\n  \
             process: [{{program: sh, args: [[]], cwd: [/w], writable: [{writable}]}}]\n"
        )
    };
    assert!(scratch.policy(&text("/w/x")).is_ok());
    for wrong in ["/os/x", "/none"] {
        let message = scratch.policy(&text(wrong)).unwrap_err().to_string();
        assert!(
            message.starts_with("policy constraint violation: ") && message.contains("mode: rw"),
            "{message}"
        );
    }
}

#[test]
fn tp_01_a_policy_has_at_most_1048576_bytes() {
    let scratch = Scratch::new();
    let file = scratch.root.join("policy.yaml");
    fs::write(&file, format!("{HEAD}#{}", " ".repeat(1_048_576))).unwrap();
    let message = Policy::load(&file, &[]).unwrap_err().to_string();
    assert!(
        message.contains("exceeds maximum size (") && message.contains("bytes > 1048576 bytes)"),
        "{message}"
    );
    fs::write(
        &file,
        format!("{HEAD}#{}", " ".repeat(1_048_576 - HEAD.len() - 1)),
    )
    .unwrap();
    assert!(Policy::load(&file, &[]).is_ok());
    assert!(matches!(
        Policy::load(&scratch.root.join("none"), &[]),
        Err(PolicyError::Unreadable { .. })
    ));
    assert!(matches!(
        Policy::load(&scratch.root, &[]),
        Err(PolicyError::Unreadable { .. })
    ));
}

proptest! {
    #[test]
    fn any_file_is_a_policy_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        let _ = Document::parse("policy.yaml", &bytes);
    }
}
