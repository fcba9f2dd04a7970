//! What a program sees of the host.

use hydrant_govern::failure::Code;
use hydrant_govern::sandbox::{Sandbox, Settings};
use hydrant_plan::{Encoding, Program, Runtime, Segments};
use serde_json::json;

use crate::support::{Case, launcher, policy, python, sandbox, script, stage, text, tool};

#[test]
fn secrets_are_files_and_nothing_else() {
    let mut case = Case::of(script(
        "stat -c %a /run/secrets/API_KEY; cat /run/secrets/API_KEY; env; cat /proc/self/cmdline /input/*",
    ));
    case.policy.secrets = vec!["API_KEY".to_owned()];
    case.secrets = vec![("API_KEY".to_owned(), "sk-hunter22".to_owned().into())];
    let shown = case.stdout();
    assert!(shown.starts_with("400\nsk-hunter22"), "{shown}");
    assert_eq!(shown.matches("hunter").count(), 1, "{shown}");
}

#[test]
fn a_secret_that_the_policy_does_not_list_is_not_there() {
    let mut case = Case::of(script("ls -A /run"));
    case.secrets = vec![("API_KEY".to_owned(), "sk-hunter22".to_owned().into())];
    let refused = case.refused();
    assert_eq!(refused.code, Code::SecretUnbound);
    assert!(!refused.message.contains("hunter"));
    case.policy.secrets = vec!["../../output/x".to_owned()];
    case.secrets = vec![("../../output/x".to_owned(), "v".to_owned().into())];
    assert_eq!(case.refused().code, Code::SecretUnbound);
}

#[test]
fn a_secret_is_never_an_argument() {
    let with_secret = || Segments::secret("API_KEY", Encoding::Argv);
    let mut argument = python("print(1)");
    argument.args = vec![with_secret()];
    let argv = Program::Argv(vec![Segments::literal("echo"), with_secret()]);
    for stage in [argument, stage(Runtime::Shell, argv)] {
        let refused = sandbox().check(&stage, &policy()).unwrap_err();
        assert_eq!(refused.code, Code::SecretUnbound);
        let mut case = Case::of(stage);
        case.args = vec!["sk-hunter22".to_owned()];
        case.policy.secrets = vec!["API_KEY".to_owned()];
        assert_eq!(case.refused().code, Code::SecretUnbound);
    }
}

#[test]
fn the_host_is_not_there() {
    let secret = tempfile::NamedTempFile::new().unwrap();
    let code = format!(
        "import os\n\
         for path in ('/root/.ssh', '/home', '/etc/shadow', '/etc/hostname', '/var', '/sys', {:?}, '/proc/1/root/etc/shadow'):\n\
         \x20   try: os.stat(path); print('there', path)\n\
         \x20   except OSError: pass\n\
         for path in ('/usr/x', '/etc/x', '/run/x', '/x', '/input/x', '/dev/x'):\n\
         \x20   try: open(path, 'w'); print('written', path)\n\
         \x20   except OSError: pass\n",
        secret.path()
    );
    assert_eq!(Case::of(python(&code)).stdout(), "");
}

#[test]
fn without_egress_there_is_no_network() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let code = format!(
        "import socket\n\
         for address in (('127.0.0.1', {}), ('192.0.2.1', 443), ('127.0.0.1', 3128)):\n\
         \x20   try: socket.create_connection(address, 1); print('connected', address)\n\
         \x20   except OSError: pass\n",
        listener.local_addr().unwrap().port()
    );
    assert_eq!(Case::of(python(&code)).stdout(), "");
}

#[test]
fn directories_of_the_configuration_can_be_mounted_and_no_others() {
    let host = tempfile::tempdir().unwrap();
    let root = host.path().canonicalize().unwrap();
    for name in ["read", "write", "other", "read/home"] {
        std::fs::create_dir(root.join(name)).unwrap();
        std::fs::write(root.join(name).join("f"), name).unwrap();
    }
    std::os::unix::fs::symlink(root.join("other"), root.join("read/link")).unwrap();
    std::os::unix::fs::symlink("sub", root.join("read/near")).unwrap();
    let shown = |name: &str| root.join(name).to_str().unwrap().to_owned();
    let mut case = Case::of(script(&format!(
        "cat {0}/f; echo x 2>/dev/null >{0}/g || echo refused; echo y >{1}/g; ls {2} 2>/dev/null",
        shown("read/sub"),
        shown("write"),
        shown("other"),
    )));
    std::fs::create_dir(root.join("read/sub")).unwrap();
    std::fs::write(root.join("read/sub/f"), "inside\n").unwrap();
    case.settings = Settings {
        fs_read: vec![root.join("read"), root.join("not-there")],
        fs_write: vec![root.join("write")],
        protected: vec![root.join("read/home")],
        landlock_min_abi: 1,
    };
    case.policy.filesystem = json!({
        "read": ["/input", "/input/sub", "/output", shown("read/sub")],
        "write": ["/output", "/output/sub", "/tmp", shown("write")],
    });
    let end = case.run().unwrap();
    assert_eq!(text(&end.stdout), "inside\nrefused\n");
    assert_eq!(std::fs::read(root.join("write/g")).unwrap(), b"y\n");

    for (list, path) in [
        ("read", shown("other")),
        ("read", shown("read/link")),
        ("read", shown("read/near")),
        ("read", shown("not-there")),
        ("read", shown("read/home")),
        // It contains what is hydrant's own.
        ("read", shown("read")),
        ("write", shown("read/sub")),
        ("read", format!("{}/../other", shown("read"))),
        ("read", "relative".to_owned()),
        ("read", "/".to_owned()),
        ("read", "/etc".to_owned()),
        ("read", "/proc/self/root".to_owned()),
        ("write", "/usr/local".to_owned()),
        ("write", "/input".to_owned()),
        ("read", "/inputs".to_owned()),
    ] {
        case.policy.filesystem = json!({list: [path]});
        let refused = case.refused();
        assert_eq!(refused.code, Code::PathNotAllowed, "{list} {path}");
        assert_eq!(
            refused.path.as_deref(),
            Some(format!("sandbox.filesystem.{list}").as_str())
        );
    }
    case.policy.filesystem = json!({"read": "/input"});
    assert_eq!(case.refused().code, Code::InvalidPlan);
}

#[test]
fn without_a_jail_nothing_runs_and_that_stays_so() {
    let mut case = Case::of(script("echo ran"));
    case.settings.landlock_min_abi = 200;
    let refused = case.refused();
    assert_eq!(refused.code, Code::JailUnavailable);
    assert!(refused.message.contains("landlock"), "{refused}");

    // Until restart.
    let home = tempfile::tempdir().unwrap();
    let binary = home.path().join("launcher");
    let sandbox = Sandbox::new(hydrant_jail::Launcher::at(&binary), Settings::default());
    let check = || sandbox.check(&tool(&["true"]), &policy()).unwrap_err().code;
    assert_eq!(check(), Code::JailUnavailable);
    std::os::unix::fs::symlink(launcher().binary(), &binary).unwrap();
    assert_eq!(check(), Code::JailUnavailable);
    let sandbox = Sandbox::new(
        hydrant_jail::Launcher::at(&binary).checked(),
        Settings::default(),
    );
    sandbox.check(&tool(&["true"]), &policy()).unwrap();
}
