//! The key-value store and the queues of core modules.

use std::os::unix::fs::PermissionsExt;

use crate::canonical::digest;
use crate::core_modules::{get, give, granted};
use crate::guests::core;
use crate::program::{Folder, Run, listing};

#[test]
fn state_survives_the_run_and_keeps_its_order() {
    let folder = Folder::new();
    let step = |folder: Folder, wasm: &[u8], kind: &str, value: &str| {
        let execution = granted(folder, wasm, kind, value);
        let run = execution.run(&["--output", "output"]);
        (execution.folder, run)
    };
    let put = core("key", "value", &give("kv_put", "key", "value"));
    let (folder, run) = step(folder, &put, "kv.write", "key");
    assert_eq!(run.status, 0, "{run:?}");
    let (folder, _) = step(
        folder,
        &core("key", "", &get("kv_get", "key")),
        "kv.read",
        "*",
    );
    assert_eq!(folder.read("output"), b"value");
    let (folder, run) = step(
        folder,
        &core("no", "", &get("kv_get", "no")),
        "kv.read",
        "*",
    );
    run.assert_failed("skill failed: nonzero_return 7");
    let (folder, run) = step(
        folder,
        &core("no", "", &get("kv_get", "no")),
        "kv.read",
        "key",
    );
    run.assert_failed("capability denied: kv.read:no");
    let mut folder = folder;
    for message in ["one", "two"] {
        let publish = core("topic", message, &give("queue_publish", "topic", message));
        let run;
        (folder, run) = step(folder, &publish, "queue.publish", "topic");
        assert_eq!(run.status, 0, "{run:?}");
    }
    let consume = core("topic", "", &get("queue_consume", "topic"));
    for message in ["one", "two"] {
        (folder, _) = step(folder, &consume, "queue.consume", "topic");
        assert_eq!(folder.text("output"), message);
    }
    let (folder, run) = step(folder, &consume, "queue.consume", "topic");
    run.assert_failed("skill failed: nonzero_return 7");
    let runtime = folder.home().join("runtime");
    let names = listing(&runtime);
    let key = format!("kv/{}.bin", &digest("key")[7..]);
    let topic = format!("queue/{}.log", &digest("topic")[7..]);
    assert!(names.contains(&key), "{names:?}");
    // A topic whose messages are all consumed may have no file any more.
    let logs = names.iter().filter(|name| name.ends_with(".log"));
    assert!(
        logs.eq(names.iter().filter(|name| **name == topic)),
        "{names:?}"
    );
}

#[test]
fn without_a_home_there_is_no_state() {
    let put = core("key", "value", &give("kv_put", "key", "value"));
    let execution = granted(Folder::new(), &put, "kv.write", "key");
    let mut command = execution.command(&[]);
    command.env_remove("HOME").env_remove("HYDRANT_HOME");
    Run::of(&mut command).assert_failed("skill failed: nonzero_return -1");
    // A directory that everyone may write to is none.
    std::fs::create_dir(execution.folder.path("open")).unwrap();
    std::fs::set_permissions(
        execution.folder.path("open"),
        PermissionsExt::from_mode(0o777),
    )
    .unwrap();
    let mut command = execution.command(&[]);
    command.env("PROVENACT_KV_DIR", execution.folder.path("open"));
    assert_eq!(Run::of(&mut command).status, 1);
    std::fs::create_dir(execution.folder.path("own")).unwrap();
    std::fs::set_permissions(
        execution.folder.path("own"),
        PermissionsExt::from_mode(0o700),
    )
    .unwrap();
    let mut command = execution.command(&[]);
    command.env("PROVENACT_KV_DIR", execution.folder.path("own"));
    assert_eq!(Run::of(&mut command).status, 0);
    let name = format!("{}.bin", &digest("key")[7..]);
    assert_eq!(execution.folder.text(&format!("own/{name}")), "value");
}
