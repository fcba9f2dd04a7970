//! Files and trees below declared directories.

use super::*;

#[test]
fn a_file_is_read_whole_or_not_at_all() {
    let site = Site::new();
    let call = site.reader();
    let file = site.at("in/a.txt");
    assert_eq!(read(&call, &file), Ok(Some("inside".into())));
    assert_eq!(
        call.read_file(file.as_bytes(), 6).unwrap().unwrap(),
        b"inside"
    );
    assert_eq!(call.read_file(file.as_bytes(), 5).unwrap(), None);
    assert_eq!(read(&call, &site.at("in/none")), Ok(None));
    assert_eq!(read(&call, &site.at("in")), Ok(None));
    assert_eq!(read(&call, &site.at("in/a.txt/x")), Ok(None));
}

/// What would block or act when it is opened is never opened.
#[test]
fn special_files_are_not_read() {
    let site = Site::new();
    let fifo = site.root.join("in/fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    assert_eq!(read(&site.reader(), &site.at("in/fifo")), Ok(None));
    let declared = site.call(&[("fs.read", &site.at("in/fifo"))]);
    assert_eq!(read(&declared, &site.at("in/fifo")), Ok(None));
    assert_eq!(write(&site.writer(), &site.at("in/fifo")), Ok(None));
    let devices = site.call(&[("fs.read", "/dev")]);
    assert_eq!(read(&devices, "/dev/zero"), Ok(None));
}

#[test]
fn files_are_replaced_whole_and_keep_their_permissions() {
    let site = Site::new();
    let call = site.writer();
    let (old, new) = (site.root.join("in/a.txt"), site.root.join("in/new/b"));
    fs::set_permissions(&old, fs::Permissions::from_mode(0o750)).unwrap();
    let held = fs::File::open(&old).unwrap();
    assert_eq!(write(&call, old.to_str().unwrap()), Ok(Some(())));
    assert_eq!(write(&call, new.to_str().unwrap()), Ok(Some(())));
    assert_eq!((mode(&old), mode(&new)), (0o750, 0o644));
    assert_eq!(
        std::io::read_to_string(held).unwrap(),
        "inside",
        "not in place"
    );
    assert_eq!(fs::read(&old).unwrap(), b"new");
    assert_eq!(write(&call, &site.at("in/new")), Ok(None), "a directory");
    assert_eq!(write(&call, &site.at("in")), Ok(None));
    assert_eq!(fs::read_dir(site.root.join("in")).unwrap().count(), 2);
    let everything = site.call(&[("fs.write", "/")]);
    assert_eq!(write(&everything, "/"), Ok(None));
}

#[test]
fn git_directories_are_never_written() {
    let site = Site::new();
    let call = site.writer();
    for name in [
        "in/.git",
        "in/.git/config",
        "in/b/.GIT/hooks/x",
        "in/.Git/x",
    ] {
        let path = site.at(name);
        assert_eq!(write(&call, &path), denied_write(&path));
    }
    assert_eq!(write(&call, &site.at("in/.gitignore")), Ok(Some(())));
    assert_eq!(fs::read_dir(site.root.join("in")).unwrap().count(), 2);
}

#[test]
fn a_tree_is_compact_json_in_the_order_of_paths() {
    let site = Site::new();
    fs::create_dir_all(site.root.join("in/b/c")).unwrap();
    fs::create_dir_all(site.root.join("in/b-")).unwrap();
    fs::write(site.root.join("in/b/n.md"), "123456789").unwrap();
    symlink("a.txt", site.root.join("in/link")).unwrap();
    symlink("../out", site.root.join("in/outside")).unwrap();
    let call = site.reader();
    let path = site.at("in");
    let asked = format!("{path}//");
    let tree = call.read_tree(asked.as_bytes(), ROOM).unwrap().unwrap();
    let expected = format!(
        "{{\"entries\":[{},{},{},{},{}],\"root\":\"{path}\",\"truncated\":false}}",
        r#"{"bytes":6,"kind":"file","path":"a.txt"}"#,
        r#"{"kind":"dir","path":"b"}"#,
        r#"{"kind":"dir","path":"b-"}"#,
        r#"{"kind":"dir","path":"b/c"}"#,
        r#"{"bytes":9,"kind":"file","path":"b/n.md"}"#,
    );
    assert_eq!(String::from_utf8(tree.clone()).unwrap(), expected);
    let room = tree.len();
    assert!(call.read_tree(path.as_bytes(), room).unwrap().is_some());
    assert!(call.read_tree(path.as_bytes(), room - 1).unwrap().is_none());
    assert_eq!(
        call.read_tree(site.at("in/a.txt").as_bytes(), ROOM)
            .unwrap(),
        None
    );
    assert_eq!(
        call.read_tree(site.at("in/none").as_bytes(), ROOM).unwrap(),
        None
    );
}

#[test]
fn a_tree_stops_at_10000_entries_and_64_mib() {
    let site = Site::new();
    for index in 0..10_001 {
        fs::File::create(site.root.join(format!("out/{index:05}"))).unwrap();
    }
    fs::File::create(site.root.join("in/b"))
        .unwrap()
        .set_len(64 * 1024 * 1024 - 6)
        .unwrap();
    let call = site.call(&[("fs.read", &site.at(""))]);
    let tree = |name: &str| -> serde_json::Value {
        let answer = call.read_tree(site.at(name).as_bytes(), 10_000_000);
        serde_json::from_slice(&answer.unwrap().unwrap()).unwrap()
    };
    let many = tree("out");
    assert_eq!(many["truncated"], true);
    let entries = many["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 10_000);
    assert_eq!(entries[9_999]["path"], "09999", "the first ones by name");
    assert_eq!(tree("in")["truncated"], false);
    fs::write(site.root.join("in/c"), "1").unwrap();
    let large = tree("in");
    assert_eq!(large["truncated"], true);
    assert_eq!(large["entries"].as_array().unwrap().len(), 2);
}
