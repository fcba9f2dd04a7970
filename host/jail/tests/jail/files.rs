//! What is there, and what can be written.

use std::fs;

use hydrant_jail::{Access, File, How, Link, Mount, StartError, Step};

use crate::support::{inside, run, script, source, start, try_each};

#[test]
fn nothing_of_the_host_is_there() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("secret"), "x").unwrap();
    let secret = format!("cat {}/secret", home.path().display());
    let attempts = [
        &secret,
        "cat /etc/shadow",
        "ls /root",
        "ls /home",
        "ls /sys",
        "ls /proc/sys",
        "ls /dev/kmsg",
    ];
    assert_eq!(try_each(script, &attempts), ["no"; 7]);
}

#[test]
fn only_scratch_and_writable_mounts_can_be_written() {
    let (writable, readable) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(readable.path().join("input"), "x").unwrap();
    let plan = |text: &str| {
        let mut plan = script(text);
        let mount = |directory: &tempfile::TempDir, at, access| Mount {
            source: source(directory),
            at: inside(at),
            access,
            executable: false,
        };
        plan.mounts
            .push(mount(&readable, "/input", Access::ReadOnly));
        plan.mounts
            .push(mount(&writable, "/site/deep", Access::ReadWrite));
        plan
    };
    let attempts = [
        "echo x > /tmp/a",
        "echo x > /site/deep/b",
        "cat /input/input",
        "mkdir /tmp/d && mv /tmp/a /tmp/d/",
    ];
    assert_eq!(try_each(plan, &attempts), ["yes"; 4]);
    let attempts = [
        "echo x > /c",
        "echo x > /usr/c",
        "echo x > /etc/c",
        "echo x > /site/c",
        "echo x > /input/c",
        "chmod 777 /input/input",
        "touch /input/input",
        "rm /input/input",
        "echo x > /proc/self/oom_score_adj",
    ];
    assert_eq!(try_each(plan, &attempts), ["no"; 9]);
    assert_eq!(fs::read(writable.path().join("b")).unwrap(), b"x\n");
    assert_eq!(fs::read(readable.path().join("input")).unwrap(), b"x");
}

#[test]
fn files_and_links_of_the_plan_are_there() {
    let mut plan = script("cat /run/script/a /tmp/link; echo x > /run/script/a");
    plan.files.push(File {
        at: inside("/run/script/a"),
        bytes: b"text\n".to_vec(),
        mode: 0o444,
    });
    plan.links.push(Link {
        at: inside("/tmp/link"),
        to: "/run/script/a".into(),
    });
    let ran = run(plan);
    assert!(ran.output.starts_with("text\ntext\n"), "{}", ran.output);
    assert_ne!(ran.how, How::Exited(0));
}

#[test]
fn nothing_is_created_in_a_directory_of_the_host() {
    let directory = tempfile::tempdir().unwrap();
    let mut plan = script("true");
    let mount = |at| Mount {
        source: source(&directory),
        at: inside(at),
        access: Access::ReadWrite,
        executable: false,
    };
    plan.mounts = vec![mount("/site"), mount("/site/below")];
    let Err(StartError::Refused(refused)) = start(plan, "") else {
        panic!("not refused")
    };
    assert_eq!(refused.step, Step::Plan);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_link_in_a_mounted_directory_is_not_followed_for_a_mount_point() {
    let directory = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/etc", directory.path().join("link")).unwrap();
    let mut plan = script("true");
    let mount = |at| Mount {
        source: source(&directory),
        at: inside(at),
        access: Access::ReadOnly,
        executable: false,
    };
    plan.mounts = vec![mount("/site"), mount("/site/link")];
    assert!(
        matches!(start(plan, ""), Err(StartError::Refused(refused)) if refused.step == Step::Plan)
    );
}

#[test]
fn a_source_whose_name_leads_elsewhere_by_now_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (name, other) = (
        directory.path().join("name"),
        directory.path().join("other"),
    );
    fs::create_dir(&name).unwrap();
    let opened = source(&name);
    fs::remove_dir(&name).unwrap();
    std::os::unix::fs::symlink("/etc", &other).unwrap();
    let mut plan = script("ls /site");
    plan.mounts = vec![Mount {
        source: opened,
        at: inside("/site"),
        access: Access::ReadOnly,
        executable: false,
    }];
    assert!(
        matches!(start(plan, ""), Err(StartError::Refused(refused)) if refused.step == Step::Plan)
    );
}

#[test]
fn no_set_user_id_file_is_left_in_a_directory_of_the_host() {
    let directory = tempfile::tempdir().unwrap();
    let plan = |text: &str| {
        let mut plan = script(text);
        plan.mounts = vec![Mount {
            source: source(&directory),
            at: inside("/site"),
            access: Access::ReadWrite,
            executable: true,
        }];
        plan
    };
    let attempts = [
        "cp /bin/sh /site/a && chmod 4755 /site/a",
        "cp /bin/sh /site/b && chmod g+s /site/b",
        "mkdir -m 2755 /site/c",
        "perl -e 'use Fcntl; sysopen(F, \"/site/d\", O_CREAT|O_WRONLY, 04755) or exit 1'",
        "mkfifo -m 4644 /site/e",
    ];
    assert_eq!(try_each(plan, &attempts), ["no"; 5]);
    assert_eq!(
        try_each(
            plan,
            &[
                "chmod 700 /site/a",
                "perl -e 'use Fcntl; sysopen(F, \"/site/f\", O_CREAT|O_WRONLY, 0755) or exit 1'"
            ]
        ),
        ["yes"; 2]
    );
    for entry in fs::read_dir(directory.path()).unwrap() {
        let mode = std::os::unix::fs::PermissionsExt::mode(
            &entry.unwrap().metadata().unwrap().permissions(),
        );
        assert_eq!(mode & 0o6000, 0);
    }
}
