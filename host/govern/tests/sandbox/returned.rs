//! What comes back of `/output`.

use std::os::unix::fs::PermissionsExt;

use hydrant_govern::budget::Dimension;
use hydrant_govern::digest;
use hydrant_govern::sandbox::{Caps, End};
use serde_json::json;

use crate::support::{Case, python, script};

#[test]
fn files_come_back_with_name_length_digest_and_path() {
    let case = Case::of(script(
        "printf abc >b.txt; mkdir -p sub/deep; printf '' >sub/deep/a; chmod 4777 b.txt",
    ));
    let end = case.run().unwrap();
    let found: Vec<_> = end
        .files
        .iter()
        .map(|file| (file.name.as_str(), file.bytes, file.digest.clone()))
        .collect();
    assert_eq!(
        found,
        [
            ("b.txt", 3, digest::of_bytes(b"abc")),
            ("sub/deep/a", 0, digest::of_bytes(b"")),
        ]
    );
    let path = case.output().join("b.txt");
    assert_eq!(end.files[0].path, path);
    assert_eq!(std::fs::read(&path).unwrap(), b"abc");
    let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(path), 0o600);
    assert_eq!(mode(case.output()), 0o700);
    assert_eq!(end.used.storage_bytes, 3);
    assert!(end.warnings.is_empty(), "{:?}", end.warnings);
}

#[test]
fn only_regular_files_come_back() {
    let case = Case::of(python(
        "import os, socket\n\
         os.symlink('/etc/passwd', 'link')\n\
         os.symlink('..', 'up')\n\
         os.symlink('/proc/self/root', 'root')\n\
         os.mkfifo('pipe')\n\
         try: socket.socket(socket.AF_UNIX).bind('socket')\n\
         except OSError: pass\n\
         os.mkdir('d'); os.symlink('/etc', 'd/etc')\n\
         open('real', 'w').write('r'); os.link('real', 'second')\n",
    ));
    let end = case.run().unwrap();
    assert_eq!(end.exit_code, Some(0));
    let names: Vec<_> = end.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["real", "second"]);
    let mut on_disk: Vec<_> = std::fs::read_dir(case.output())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    on_disk.sort();
    assert_eq!(on_disk, ["real", "second"]);
}

#[test]
fn names_that_are_no_text_and_endless_directories_are_left_behind() {
    let case = Case::of(python(
        "import os\n\
         open(b'\\xff\\xfe', 'w'); open('a\\nb', 'w'); open('\\x1b[31m', 'w'); open('-rf', 'w')\n\
         deep = '/'.join(['d'] * 40); os.makedirs(deep); open(deep + '/f', 'w')\n\
         open('none', 'w').write('x'); os.chmod('none', 0)\n",
    ));
    let end = case.run().unwrap();
    assert_eq!(end.exit_code, Some(0));
    assert!(end.files.iter().any(|file| file.name == "-rf"));
    let plain = |name: &str| name == "-rf" || name == "none";
    assert!(
        end.files.iter().all(|file| plain(&file.name)),
        "{:?}",
        end.files
    );
    assert!(end.warnings.len() >= 4, "{:?}", end.warnings);
    assert!(
        end.warnings
            .iter()
            .all(|warning| !warning.contains(char::is_control)),
        "{:?}",
        end.warnings
    );
}

#[test]
fn many_files_are_not_endless() {
    let case = Case::of(python(
        "try:\n    for n in range(100000): open(f'{n}', 'w')\nexcept OSError as e: print(e.errno)\n",
    ));
    let end = case.run().unwrap();
    assert_eq!(end.stdout, b"28\n");
    assert!(
        (1000..=4096).contains(&end.files.len()),
        "{}",
        end.files.len()
    );
}

#[test]
fn files_that_say_they_are_long_do_not_fill_the_disk() {
    // Each takes no room in memory.
    let case = Case::of(python(
        "import os\nfor n in range(8): os.truncate(os.open(f'{n}', os.O_CREAT | os.O_WRONLY), 900_000)\n",
    ))
    .limited(json!({"output-bytes": 1_000_000}));
    let end = case.run().unwrap();
    let names: Vec<_> = end.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["0"]);
    assert_eq!(end.warnings.len(), 7);
    assert_eq!(end.exhausted, None);
}

#[test]
fn the_budget_for_storage_is_the_limit_of_output() {
    let mut case = Case::of(script("head -c 900 /dev/zero >a; head -c 900 /dev/zero >b"));
    case.caps = Caps {
        storage_bytes: Some(1000),
        ..Caps::default()
    };
    let end = case.run().unwrap();
    assert_eq!(end.end, End::Exit);
    assert_eq!(end.exhausted, Some(Dimension::StorageBytes));
    assert_eq!(end.used.storage_bytes, 900);
    // Room that is left is no limit that was hit.
    case.caps.storage_bytes = Some(1 << 20);
    assert_eq!(case.run().unwrap().exhausted, None);
}

#[test]
fn a_link_of_an_input_can_be_replaced_by_a_file() {
    let mut case = Case::of(script("rm a.txt; printf new >a.txt"));
    case.files = vec![("a.txt".to_owned(), b"old".to_vec())];
    let end = case.run().unwrap();
    assert_eq!(end.files[0].digest, digest::of_bytes(b"new"));
}

#[test]
fn what_an_earlier_call_left_is_replaced_and_no_link_on_the_host_is_followed() {
    let case = Case::of(script("printf new >a; mkdir -p sub; printf new >sub/b"));
    let outside = case.home().join("outside");
    std::fs::create_dir_all(case.output()).unwrap();
    std::fs::write(&outside, "kept").unwrap();
    std::os::unix::fs::symlink(&outside, case.output().join("a")).unwrap();
    let end = case.run().unwrap();
    assert_eq!(end.files.len(), 2);
    assert_eq!(std::fs::read(&outside).unwrap(), b"kept");
    assert_eq!(std::fs::read(case.output().join("a")).unwrap(), b"new");

    std::fs::remove_dir_all(case.output().join("sub")).unwrap();
    std::os::unix::fs::symlink(case.home(), case.output().join("sub")).unwrap();
    let failure = case.run().unwrap_err();
    assert!(failure.executed);
    assert!(!case.home().join("b").exists());
}

#[test]
fn files_are_searched_for_injected_values() {
    let mut case = Case::of(script(
        "cat /run/secrets/API_KEY >a; head -c 2000000 /dev/zero >big",
    ));
    case.policy.secrets = vec!["API_KEY".to_owned()];
    case.secrets = vec![("API_KEY".to_owned(), "sk-hunter22".to_owned().into())];
    case.redacted = "sk-hunter22";
    let end = case.run().unwrap();
    assert_eq!(
        std::fs::read(case.output().join("a")).unwrap(),
        b"***REDACTED***"
    );
    assert_eq!(end.files[0].digest, digest::of_bytes(b"***REDACTED***"));
    let unscanned: Vec<_> = end.files.iter().map(|file| file.unscanned).collect();
    assert_eq!(unscanned, [false, true]);
}

#[test]
fn files_come_back_of_a_program_that_was_ended() {
    let case = Case::of(script("printf half >a; sleep 50")).limited(json!({"wall-clock-ms": 1000}));
    let end = case.run().unwrap();
    assert_eq!(end.end, End::Timeout);
    assert_eq!(end.files[0].digest, digest::of_bytes(b"half"));
}
