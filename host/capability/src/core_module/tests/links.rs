//! Paths that lead out of what is declared, by their text or by a link.

use super::*;

#[test]
fn outside_the_declared_values_existing_and_missing_answer_alike() {
    let site = Site::new();
    let (reader, writer) = (site.reader(), site.writer());
    for name in ["out/secret", "out/none", "out", "in2", "none/none"] {
        let path = site.at(name);
        assert_eq!(read(&reader, &path), denied_read(&path));
        assert_eq!(write(&writer, &path), denied_write(&path));
        let tree = reader.read_tree(path.as_bytes(), ROOM).unwrap_err();
        assert_eq!(
            tree.to_string(),
            format!("capability denied: fs.read:{path}")
        );
    }
    // The other kind does not count, and a refused check is no use.
    let path = site.at("in/a.txt");
    assert_eq!(read(&writer, &path), denied_read(&path));
    assert_eq!(write(&reader, &path), denied_write(&path));
    assert!(reader.caps_used().is_empty() && writer.caps_used().is_empty());
    assert!(!site.root.join("none").exists());
}

#[test]
fn what_is_no_path_has_no_answer_and_slashes_collapse() {
    let site = Site::new();
    let call = site.reader();
    let inside = site.at("in");
    for path in [
        String::new(),
        "in/a.txt".into(),
        format!("{inside}/../out/secret"),
        format!("{inside}/./a.txt"),
        format!("{inside}/a\n.txt"),
        format!("{inside}/a.txt\0"),
    ] {
        assert_eq!(read(&call, &path), Ok(None), "{path:?}");
        assert_eq!(write(&site.writer(), &path), Ok(None), "{path:?}");
        assert_eq!(call.read_tree(path.as_bytes(), ROOM).unwrap(), None);
    }
    let doubled = format!("/{inside}//a.txt");
    assert_eq!(read(&call, &doubled), Ok(Some("inside".into())));
    let denied = format!("//{}", site.at("out//secret"));
    assert_eq!(read(&call, &denied), denied_read(&site.at("out/secret")));
}

#[test]
fn a_link_out_of_the_declared_directory_is_denied_for_reading() {
    let site = Site::new();
    let call = site.reader();
    symlink(site.root.join("out"), site.root.join("in/absolute")).unwrap();
    symlink("../out", site.root.join("in/middle")).unwrap();
    symlink("../out/secret", site.root.join("in/leaf")).unwrap();
    symlink("../out/none", site.root.join("in/dangling")).unwrap();
    symlink("/proc/self/root/etc", site.root.join("in/magic")).unwrap();
    for name in [
        "absolute/secret",
        "middle/secret",
        "leaf",
        "dangling",
        "magic/passwd",
    ] {
        let path = site.at(&format!("in/{name}"));
        assert_eq!(read(&call, &path), denied_read(&path));
    }
    let path = site.at("in/middle");
    let tree = call.read_tree(path.as_bytes(), ROOM).unwrap_err();
    assert_eq!(
        tree.to_string(),
        format!("capability denied: fs.read:{path}")
    );
    // One that stays inside is followed.
    fs::create_dir(site.root.join("in/b")).unwrap();
    symlink("../a.txt", site.root.join("in/b/stays")).unwrap();
    assert_eq!(
        read(&call, &site.at("in/b/stays")),
        Ok(Some("inside".into()))
    );
}

#[test]
fn writing_follows_no_link_at_all() {
    let site = Site::new();
    let call = site.writer();
    fs::create_dir(site.root.join("in/b")).unwrap();
    symlink("../out", site.root.join("in/outside")).unwrap();
    symlink("b", site.root.join("in/inside")).unwrap();
    symlink("a.txt", site.root.join("in/leaf")).unwrap();
    symlink("../out/made", site.root.join("in/dangling")).unwrap();
    for name in ["outside/x", "outside/new/x", "inside/x", "leaf", "dangling"] {
        let path = site.at(&format!("in/{name}"));
        assert_eq!(write(&call, &path), denied_write(&path));
    }
    assert_eq!(fs::read(site.root.join("in/a.txt")).unwrap(), b"inside");
    assert_eq!(fs::read_dir(site.root.join("in/b")).unwrap().count(), 0);
    assert_eq!(fs::read_dir(site.root.join("out")).unwrap().count(), 1);
    assert!(call.caps_used().is_empty());
}

#[test]
fn a_declared_value_with_a_link_in_it_grants_nothing() {
    let site = Site::new();
    symlink("in", site.root.join("link")).unwrap();
    symlink("in/a.txt", site.root.join("file")).unwrap();
    fs::create_dir(site.root.join("in/b")).unwrap();
    fs::write(site.root.join("in/b/c"), "c").unwrap();
    for (value, name) in [
        ("link", "link/a.txt"),
        ("link/b", "link/b/c"),
        ("file", "file"),
    ] {
        let path = site.at(name);
        let call = site.call(&[("fs.read", &site.at(value)), ("fs.write", &site.at(value))]);
        assert_eq!(read(&call, &path), denied_read(&path));
        assert_eq!(write(&call, &path), denied_write(&path));
    }
    // Another value that covers the path still does, as far as it goes itself.
    let call = site.call(&[("fs.read", &site.at("link")), ("fs.read", &site.at(""))]);
    assert_eq!(
        read(&call, &site.at("link/a.txt")),
        Ok(Some("inside".into()))
    );
}

#[test]
fn a_declared_file_grants_that_file() {
    let site = Site::new();
    let file = site.at("in/a.txt");
    let call = site.call(&[("fs.read", &file), ("fs.write", &file)]);
    assert_eq!(read(&call, &file), Ok(Some("inside".into())));
    let beside = site.at("in/b.txt");
    assert_eq!(read(&call, &beside), denied_read(&beside));
    assert_eq!(call.read_tree(file.as_bytes(), ROOM).unwrap(), None);
    assert_eq!(write(&call, &file), Ok(Some(())));
    assert_eq!(write(&call, &beside), denied_write(&beside));
    assert_eq!(write(&call, &site.at("in/a.txt/x")), Ok(None));
    assert_eq!(fs::read(&file).unwrap(), b"new");
}

#[test]
fn missing_directories_of_a_declared_value_are_made_for_writes_only() {
    let site = Site::new();
    let value = site.at("in/x/y");
    let call = site.call(&[("fs.read", &value), ("fs.write", &value)]);
    let path = site.at("in/x/y/z/file");
    assert_eq!(read(&call, &path), Ok(None));
    assert!(!site.root.join("in/x").exists());
    assert_eq!(write(&call, &path), Ok(Some(())));
    assert_eq!(read(&call, &path), Ok(Some("new".into())));
}
