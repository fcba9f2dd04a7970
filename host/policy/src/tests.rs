//! Policies as an operator meets them: files on disk, directories that exist or do not, flags.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;

use super::mount::Origins;
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
        self.layer("policy.yaml", text, None)
    }

    /// A policy, and above it the tenant and the run where they are not empty: `tenant.yaml`, `grant.yaml`.
    pub(super) fn layers(
        &self,
        policy: &str,
        tenant: &str,
        run: &str,
    ) -> Result<Layers, PolicyError> {
        let policy = Arc::new(self.policy(policy)?);
        let above = |file, text: &str| {
            let text = Some(text).filter(|text| !text.is_empty());
            text.map(|text| self.layer(file, text, Some(&policy)))
                .transpose()
        };
        let (tenant, run) = (above("tenant.yaml", tenant)?, above("grant.yaml", run)?);
        Layers::stack(Arc::clone(&policy), tenant, run)
    }

    fn layer(
        &self,
        file: &str,
        text: &str,
        policy: Option<&Policy>,
    ) -> Result<Policy, PolicyError> {
        let document = Document::parse(file, text.as_bytes())?;
        let root = self.root.as_path();
        let origins = Origins {
            file,
            directory: root,
            working_directory: root,
            flags: &[],
        };
        Policy::assemble(document, text.as_bytes(), origins, policy)
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
fn the_default_policy_reads_and_lets_tools_and_git_run_in_the_jail() {
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
    let [git] = policy.programs.as_slice() else {
        panic!("one program, not {:?}", policy.programs);
    };
    assert_eq!(git.rule.program.name(), "git");
    assert!(!git.rule.network && git.rule.writable.is_empty() && git.rule.env.is_empty());
    let discovery = &policy.document.host.discovery;
    assert_eq!(discovery.run.value.len(), 1);
    assert!(policy.runners.is_empty() && !discovery.remote.value);
    assert_eq!(policy.document.host.jail.process, Confinement::Required);
}

/// Whoever can write the working directory cannot choose what is started.
#[test]
fn a_program_below_the_working_directory_is_not_there() {
    let policy = Policy::built_in(Path::new("/usr"), &[]).unwrap();
    assert!(policy.programs.iter().all(|git| git.executable.is_none()));
}

#[test]
fn without_os_directory_there_is_no_os_mount() {
    let scratch = Scratch::new();
    let policy = Policy::built_in(&scratch.root.join("ours"), &[]).unwrap();
    assert!(policy.mounts.holding(&path("/os/x")).is_none());
    fs::write(scratch.root.join("ours/os"), "a file").unwrap();
    assert!(Policy::built_in(&scratch.root.join("ours"), &[]).is_ok());
}

#[test]
fn root_and_mount_flags_replace_the_default_mounts() {
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
    let data = CliMount::of_policy("/data=ours").unwrap();
    assert!(
        Policy::built_in(&scratch.root, &[data])
            .unwrap_err()
            .is_usage()
    );
}

#[test]
fn a_flag_of_run_fills_a_mount_of_the_default_policy_and_adds_none() {
    let scratch = Scratch::new();
    let built_in = |directory: &Path, flags: &[&str]| {
        let flags: Vec<_> = flags
            .iter()
            .map(|flag| CliMount::of_policy(flag).unwrap())
            .collect();
        Policy::built_in(directory, &flags)
    };
    let policy = built_in(&scratch.root, &["/workspace=ours", "/os=os/tools"]).unwrap();
    let mounts = &policy.mounts;
    assert!(mounts.mounts_at(&path("/workspace"), &scratch.root.join("ours")));
    assert!(mounts.mounts_at(&path("/os"), &scratch.root.join("os/tools")));
    // Both stay read-only.
    assert!(
        mounts
            .read_only_over(&scratch.root.join("ours/x"))
            .is_some()
    );
    // `/os` is a mount of the default policy also where there is no ./os.
    let ours = scratch.root.join("ours");
    assert!(built_in(&ours, &["/os=../os"]).is_ok());
    for refused in [
        &["/data=ours"][..],
        &["/os/lib=ours"],
        &["/workspace=ours", "/workspace=os"],
        &["/workspace=none"],
    ] {
        let error = built_in(&scratch.root, refused).unwrap_err();
        assert!(error.is_usage(), "{error}");
    }
}

#[test]
fn a_flag_of_run_fills_what_a_policy_file_leaves_to_it_and_nothing_else() {
    let scratch = Scratch::new();
    let file = scratch.root.join("policy.yaml");
    let mounts = "host:\n  mounts:\n    - {at: /os, dir: os, mode: ro}\n    - {at: /workspace, dir: \"@cli\", mode: rw}\n";
    fs::write(&file, format!("{HEAD}{mounts}")).unwrap();
    let load = |flags: &[String]| {
        let flags: Vec<_> = flags
            .iter()
            .map(|flag| CliMount::of_policy(flag).unwrap())
            .collect();
        Policy::load(&file, &flags)
    };
    let workspace = format!("/workspace={}", scratch.root.join("ours").display());
    let policy = load(std::slice::from_ref(&workspace)).unwrap();
    assert!(
        policy
            .mounts
            .mounts_at(&path("/workspace"), &scratch.root.join("ours"))
    );
    let error = load(&[]).unwrap_err();
    assert!(
        !error.is_usage()
            && error
                .to_string()
                .contains("must be given by --mount /workspace=DIR"),
        "{error}"
    );
    for extra in ["/os=.", "/os/lib=.", "/data=."] {
        let error = load(&[workspace.clone(), extra.to_owned()]).unwrap_err();
        assert!(error.is_usage(), "{error}");
    }
}

#[test]
fn directories_are_relative_to_the_policy_file() {
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
fn a_directory_with_a_link_or_without_existence_refuses_the_policy() {
    let scratch = Scratch::new();
    symlink("os", scratch.root.join("link")).unwrap();
    for (directory, said) in [("link", "os"), ("link/tools", "os/tools"), ("none", "none")] {
        let text =
            format!("{HEAD}host:\n  mounts:\n    - {{at: /os, dir: {directory}, mode: ro}}\n");
        let message = scratch.policy(&text).unwrap_err().to_string();
        // The message names the path that a link leads to.
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
fn a_program_inside_a_mount_refuses_the_policy() {
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
fn a_mount_is_not_where_every_process_has_something_else() {
    let scratch = Scratch::new();
    let text = |at: &str, more: &str| {
        format!("{HEAD}host:\n  mounts:\n    - {{at: {at}, dir: ours, mode: ro}}\n{more}")
    };
    let programs = "  process: [{program: sh, args: [[]], cwd: [/os]}]\n";
    for at in ["/usr", "/etc", "/proc", "/dev", "/run", "/tmp", "/lib64"] {
        let message = scratch.policy(&text(at, programs)).unwrap_err().to_string();
        assert!(
            message.contains(&format!("the mount {at} must not lie where"))
                && message.ends_with("(policy.yaml:6)"),
            "{message}"
        );
        // Nothing is started: nothing is hidden.
        assert!(scratch.policy(&text(at, "")).is_ok(), "{at}");
        let unjailed = format!("{programs}  jail: {{process: unjailed}}\n");
        assert!(scratch.policy(&text(at, &unjailed)).is_ok(), "{at}");
    }
    assert!(scratch.policy(&text("/users", programs)).is_ok());
}

#[test]
fn writable_directories_lie_in_writable_mounts() {
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
fn a_policy_has_at_most_1048576_bytes() {
    let scratch = Scratch::new();
    let file = scratch.root.join("policy.yaml");
    fs::write(&file, format!("{HEAD}#{}", " ".repeat(1_048_576))).unwrap();
    let message = Policy::load(&file, &[]).unwrap_err().to_string();
    assert!(
        message.starts_with("policy exceeds maximum size (1048")
            && message.contains(" bytes > 1048576 bytes)"),
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

/// What is only reviewed is not opened.
#[test]
fn a_policy_can_be_reviewed_where_its_directories_are_not() {
    let scratch = Scratch::new();
    let file = scratch.root.join("policy.yaml");
    let host = "host:\n  mounts:\n    - {at: /workspace, dir: \"@cli\", mode: rw}\n    - {at: /os, dir: none, mode: ro}\n  \
                process: [{program: ls, args: [[]], cwd: [/os], writable: [/workspace]}]\n  \
                discovery: {run: [/os], runners: {.sh: [sh]}}\n";
    fs::write(&file, format!("{HEAD}{host}")).unwrap();
    assert!(Policy::load(&file, &[]).is_err());
    let text = format!("{HEAD}{host}");
    let hash = Document::parse("", text.as_bytes()).unwrap().hash;
    let policy = Policy::load_unmounted(&file).unwrap();
    assert_eq!(policy.check_signers(&["a"], &["a"]), Ok(()));
    assert_eq!(*policy.hash(), hash);
    let everything =
        [("fs.read", "/"), ("exec.safe", "*")].map(|(kind, value)| hydrant_trust::Capability {
            kind: kind.to_owned(),
            value: value.to_owned(),
        });
    let form = hydrant_trust::WasmForm::Component;
    assert!(policy.denied_by_ceiling(&everything, form).is_empty());
    let grant = Grant::new(policy, &everything);
    assert!(grant.read(&path("/os/x")).is_err());
    assert!(grant.program("ls", &[], &path("/os")).is_err());
    // What is wrong with the document is still refused.
    fs::write(&file, format!("{HEAD}host: {{mounts: [{{at: /x}}]}}\n")).unwrap();
    assert!(Policy::load_unmounted(&file).is_err());
}

#[test]
fn only_a_regular_file_is_read_and_none_is_waited_for() {
    let scratch = Scratch::new();
    let fifo = scratch.root.join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    for file in [
        fifo.as_path(),
        Path::new("/dev/null"),
        Path::new("/dev/zero"),
    ] {
        let error = Policy::load(file, &[]).unwrap_err();
        assert!(matches!(error, PolicyError::Unreadable { .. }), "{error}");
    }
    // A link to a policy is a policy.
    fs::write(scratch.root.join("policy.yaml"), HEAD).unwrap();
    symlink("policy.yaml", scratch.root.join("link.yaml")).unwrap();
    assert!(Policy::load(&scratch.root.join("link.yaml"), &[]).is_ok());
}

/// Looked up once, so what is installed later is not started.
#[test]
fn a_program_is_looked_up_when_the_policy_is_loaded() {
    use std::os::unix::fs::PermissionsExt;

    let scratch = Scratch::new();
    let file = scratch.root.join("tool");
    let text = format!(
        "{HEAD}host:\n  mounts: [{{at: /os, dir: os, mode: ro}}]\n  \
         process: [{{program: {}, args: [[]], cwd: [/os]}}]\n",
        file.display()
    );
    let before = scratch.policy(&text).unwrap();
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    let after = scratch.policy(&text).unwrap();
    let start = |policy: Policy| {
        let everything = hydrant_trust::Capability {
            kind: "exec.safe".to_owned(),
            value: "*".to_owned(),
        };
        // The name is the last component of the path.
        Grant::new(policy, &[everything]).program("tool", &[], &path("/os"))
    };
    assert!(matches!(start(before), Err(ProgramDenial::NotFound)));
    assert_eq!(start(after).unwrap().executable, file);
}

proptest! {
    #[test]
    fn any_file_is_a_policy_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        let _ = Document::parse("policy.yaml", &bytes);
    }
}
