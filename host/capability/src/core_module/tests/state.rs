//! Values by key and queues by topic.

use super::*;
use std::time::Instant;

const ALL: [(&str, &str); 4] = [
    ("kv.read", "*"),
    ("kv.write", "*"),
    ("queue.publish", "*"),
    ("queue.consume", "*"),
];

/// sha256 of `a`.
const A: &str = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";

fn file(site: &Site, name: &str) -> PathBuf {
    site.root.join("home/runtime").join(name)
}

#[test]
fn a_value_is_kept_in_a_private_file_and_found_again() {
    let site = Site::new();
    let call = site.call(&ALL);
    assert_eq!(call.get(b"a", ROOM).unwrap(), None);
    assert!(!site.root.join("home").exists(), "reading makes nothing");
    assert_eq!(call.put(b"a", b"one").unwrap(), Some(()));
    assert_eq!(call.put(b"a", b"\0two").unwrap(), Some(()));
    assert_eq!(call.get(b"a", 4).unwrap(), Some(b"\0two".to_vec()));
    assert_eq!(call.get(b"a", 3).unwrap(), None);
    assert_eq!(call.get(b"b", ROOM).unwrap(), None);
    let path = file(&site, &format!("kv/{A}.bin"));
    assert_eq!(fs::read(&path).unwrap(), b"\0two");
    assert_eq!(mode(&path), 0o600);
    for directory in ["", "kv"] {
        assert_eq!(mode(file(&site, directory)), 0o700, "{directory}");
    }
    assert_eq!(fs::read_dir(file(&site, "kv")).unwrap().count(), 1);
}

#[test]
fn a_value_has_at_most_1_mib() {
    let site = Site::new();
    let call = site.call(&ALL);
    let mut value = vec![1; 1_048_576];
    assert_eq!(call.put(b"a", &value).unwrap(), Some(()));
    value.push(1);
    assert_eq!(call.put(b"a", &value).unwrap(), None);
    let kept = call.get(b"a", 2_000_000).unwrap().unwrap();
    assert_eq!(kept.len(), 1_048_576);
}

#[test]
fn messages_come_back_in_the_order_they_were_published() {
    let site = Site::new();
    let call = site.call(&ALL);
    assert_eq!(call.consume(b"a", ROOM).unwrap(), None);
    for message in [&b"hello"[..], b"", b"\n"] {
        assert_eq!(call.publish(b"a", message).unwrap(), Some(()));
    }
    let path = file(&site, &format!("queue/{A}.log"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "aGVsbG8=\n\nCg==\n");
    assert_eq!(mode(&path), 0o600);
    assert_eq!(call.consume(b"b", ROOM).unwrap(), None);
    assert_eq!(call.consume(b"a", 4).unwrap(), None, "too large: it stays");
    for message in [&b"hello"[..], b"", b"\n"] {
        assert_eq!(call.consume(b"a", ROOM).unwrap(), Some(message.to_vec()));
    }
    assert_eq!(call.consume(b"a", ROOM).unwrap(), None);
    assert_eq!(mode(&path), 0o600);
    assert_eq!(fs::read_dir(file(&site, "queue")).unwrap().count(), 1);
}

#[test]
fn messages_and_queues_are_bounded() {
    let site = Site::new();
    let call = site.call(&ALL);
    let mut message = vec![1; 262_144];
    for _ in 0..23 {
        assert_eq!(call.publish(b"a", &message).unwrap(), Some(()));
    }
    // 23 lines of 349,529 bytes are kept; another one would be more than 8 MiB.
    assert_eq!(call.publish(b"a", &message).unwrap(), None);
    let path = file(&site, &format!("queue/{A}.log"));
    assert_eq!(fs::metadata(&path).unwrap().len(), 23 * 349_529);
    message.push(1);
    assert_eq!(call.publish(b"b", &message).unwrap(), None);
    // One byte too many, and it is not read at all.
    let long = fs::OpenOptions::new().write(true).open(&path).unwrap();
    long.set_len(8_388_609).unwrap();
    assert_eq!(call.consume(b"a", 1_000_000).unwrap(), None);
}

#[test]
fn a_line_that_was_cut_off_does_not_spoil_the_next() {
    let site = Site::new();
    let call = site.call(&ALL);
    call.publish(b"a", b"x").unwrap();
    fs::write(file(&site, &format!("queue/{A}.log")), "aGVsb").unwrap();
    assert_eq!(call.publish(b"a", b"y").unwrap(), Some(()));
    assert_eq!(call.consume(b"a", ROOM).unwrap(), Some(b"y".to_vec()));
}

#[test]
fn keys_and_topics_are_denied_by_name() {
    let site = Site::new();
    let call = site.call(&[
        ("kv.read", "a"),
        ("kv.write", "a"),
        ("queue.publish", "a"),
        ("queue.consume", "a"),
    ]);
    call.put(b"a", b"1").unwrap();
    call.publish(b"a", b"1").unwrap();
    let shown = |denied: Ended| denied.to_string();
    for (name, value) in [
        (&b"b"[..], "b"),
        (b"", ""),
        (b"*", "*"),
        (b"a\n", "a\\u{a}"),
        (b"\xff", "\\u{fffd}"),
    ] {
        let text = |kind| format!("capability denied: {kind}:{value}");
        assert_eq!(shown(call.put(name, b"").unwrap_err()), text("kv.write"));
        assert_eq!(shown(call.get(name, 9).unwrap_err()), text("kv.read"));
        assert_eq!(
            shown(call.publish(name, b"").unwrap_err()),
            text("queue.publish")
        );
        assert_eq!(
            shown(call.consume(name, 9).unwrap_err()),
            text("queue.consume")
        );
    }
    let all = site.call(&ALL);
    assert_eq!(all.put(b"\xff", b"bytes").unwrap(), Some(()));
    assert_eq!(all.get(b"\xff", ROOM).unwrap(), Some(b"bytes".to_vec()));
    // A long key is cut in the message, not in the check.
    let long = call.get(&vec![b'x'; 100_000], 9).unwrap_err();
    assert!(shown(long).len() < 1100);
}

#[test]
fn without_a_home_there_is_no_state() {
    let site = Site::new();
    let mut call = site.call(&ALL);
    call.state = StateDirectories::default();
    assert_eq!(call.put(b"a", b"1").unwrap(), None);
    assert_eq!(call.get(b"a", ROOM).unwrap(), None);
    assert_eq!(call.publish(b"a", b"1").unwrap(), None);
    assert_eq!(call.consume(b"a", ROOM).unwrap(), None);
}

#[test]
fn a_directory_that_anybody_may_write_is_not_used() {
    let site = Site::new();
    let call = site.call(&ALL);
    for name in ["kv", "queue"] {
        let directory = file(&site, name);
        fs::create_dir_all(&directory).unwrap();
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o1777)).unwrap();
    }
    assert_eq!(call.put(b"a", b"1").unwrap(), None);
    assert_eq!(call.publish(b"a", b"1").unwrap(), None);
    fs::write(file(&site, &format!("kv/{A}.bin")), "planted").unwrap();
    assert_eq!(call.get(b"a", ROOM).unwrap(), None);
    assert_eq!(fs::read_dir(file(&site, "queue")).unwrap().count(), 0);
}

#[test]
fn state_goes_through_no_link() {
    let site = Site::new();
    let call = site.call(&ALL);
    call.put(b"a", b"1").unwrap();
    call.publish(b"a", b"1").unwrap();
    let secret = site.root.join("out/secret");
    for name in [format!("kv/{A}.bin"), format!("queue/{A}.log")] {
        fs::remove_file(file(&site, &name)).unwrap();
        symlink(&secret, file(&site, &name)).unwrap();
    }
    assert_eq!(call.put(b"a", b"2").unwrap(), None);
    assert_eq!(call.get(b"a", ROOM).unwrap(), None);
    assert_eq!(call.publish(b"a", b"2").unwrap(), None);
    assert_eq!(call.consume(b"a", ROOM).unwrap(), None);
    assert_eq!(fs::read(&secret).unwrap(), b"secret");
    // Nor does the directory itself, with a slash at its end or without.
    symlink(file(&site, "kv"), site.root.join("link")).unwrap();
    for name in ["link", "link/", "link/."] {
        let mut call = site.call(&ALL);
        call.state.kv = Some(site.root.join(name));
        assert_eq!(call.put(b"b", b"1").unwrap(), None, "{name}");
        assert_eq!(call.get(b"b", ROOM).unwrap(), None, "{name}");
    }
}

#[test]
fn a_locked_file_is_waited_for_but_not_past_the_time() {
    let site = Site::new();
    let call = site.call(&ALL);
    call.put(b"a", b"1").unwrap();
    let lock = file(&site, &format!("kv/{A}.bin.lock"));
    fs::write(&lock, "").unwrap();
    let started = Instant::now();
    assert_eq!(call.put(b"a", b"2").unwrap(), None);
    assert!(started.elapsed() >= Duration::from_millis(400));
    assert_eq!(call.put(b"b", b"2").unwrap(), Some(()), "another file");
    let short = site.call_for(&ALL, Duration::from_millis(50));
    assert!(matches!(short.get(b"a", ROOM), Err(Ended::Budget(_))));
    fs::remove_file(&lock).unwrap();
    assert_eq!(call.get(b"a", ROOM).unwrap(), Some(b"1".to_vec()));
}

#[test]
fn parallel_writers_lose_no_message() {
    let site = Site::new();
    let call = site.call(&ALL);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    while call.publish(b"a", b"m").unwrap().is_none() {}
                }
            });
        }
    });
    let taken = (0..30).filter(|_| call.consume(b"a", ROOM).unwrap().is_some());
    assert_eq!(taken.count(), 20);
}
