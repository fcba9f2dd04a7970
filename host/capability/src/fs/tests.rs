//! Reading and listing as a guest meets them, and as an attacker tries them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::*;
use crate::testing::{AMPLE, Server, Site, call, meter, respond};
use crate::{Budget, MeterBudgets};
use hydrant_policy::Grant;

fn one(call: &Call, path: &str, max_bytes: u32, overflow: Overflow) -> Result<File, FsError> {
    let request = ReadRequest {
        path: path.to_owned(),
        max_bytes,
        overflow,
        symlinks: Symlinks::Follow,
    };
    read(call, vec![request]).unwrap().remove(0)
}

fn refuse(call: &Call, path: &str) -> Result<File, FsError> {
    one(call, path, 1024, Overflow::Refuse)
}

fn whole(bytes: &[u8]) -> Result<File, FsError> {
    Ok(File {
        bytes: bytes.to_vec(),
        truncated: false,
        executable: false,
    })
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn what_is_outside_the_grant_is_denied_whether_or_not_it_exists() {
    let call = Site::new().call();
    for path in [
        "/etc/passwd",
        "/etc/missing",
        "/osx/a",
        "/proc/self/environ",
    ] {
        assert_eq!(refuse(&call, path), Err(FsError::Denied), "{path}");
    }
    for path in ["os/a", "/os/../etc/passwd", "/os//a", "/os/./a", "/os/a\0"] {
        assert_eq!(refuse(&call, path), Err(FsError::InvalidPath), "{path:?}");
    }
}

#[test]
fn links_that_stay_beneath_are_followed_and_others_leave_the_mount() {
    let site = Site::new();
    let os = site.os();
    fs::create_dir_all(os.join("a/b")).unwrap();
    fs::write(os.join("a/file"), "x").unwrap();
    fs::write(site.root.join("secret"), "s").unwrap();
    symlink("../file", os.join("a/b/stays")).unwrap();
    symlink("a/../../secret", os.join("leaves")).unwrap();
    symlink("../secret", os.join("parent")).unwrap();
    symlink("/etc/passwd", os.join("absolute")).unwrap();
    symlink(os.join("a/file"), os.join("absolute-inside")).unwrap();
    symlink("..", os.join("up")).unwrap();
    symlink("circle", os.join("circle")).unwrap();
    symlink("nowhere", os.join("dangling")).unwrap();
    let call = site.call();
    assert_eq!(refuse(&call, "/os/a/b/stays"), whole(b"x"));
    for path in [
        "leaves",
        "parent",
        "absolute",
        "absolute-inside",
        "up/secret",
        "circle",
    ] {
        assert_eq!(
            refuse(&call, &format!("/os/{path}")),
            Err(FsError::LeavesMount),
            "{path}"
        );
    }
    assert_eq!(refuse(&call, "/os/dangling"), Err(FsError::NotFound));
}

#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let site = Site::new();
    let os = site.os();
    fs::create_dir(os.join("directory")).unwrap();
    fs::write(os.join("file"), "x").unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, os.join("fifo"), rustix::fs::Mode::RWXU).unwrap();
    let _socket = UnixListener::bind(os.join("socket")).unwrap();
    symlink("/dev/zero", os.join("zero")).unwrap();
    let call = site.call();
    let started = Instant::now();
    assert_eq!(refuse(&call, "/os/directory"), Err(FsError::IsDirectory));
    assert_eq!(refuse(&call, "/os"), Err(FsError::IsDirectory));
    assert_eq!(refuse(&call, "/os/fifo"), Err(FsError::Special));
    assert_eq!(refuse(&call, "/os/socket"), Err(FsError::Special));
    assert_eq!(refuse(&call, "/os/zero"), Err(FsError::LeavesMount));
    assert_eq!(refuse(&call, "/os/file/below"), Err(FsError::NotFound));
    assert_eq!(
        refuse(&call, &format!("/os/{}", "n".repeat(300))),
        Err(FsError::NotFound)
    );
    assert!(started.elapsed() < Duration::from_secs(1));
}

#[test]
fn a_ten_gibibyte_file_is_not_read() {
    let site = Site::new();
    let file = fs::File::create(site.os().join("sparse")).unwrap();
    file.set_len(10 << 30).unwrap();
    let call = site.call();
    let started = Instant::now();
    let answer = one(&call, "/os/sparse", u32::MAX, Overflow::Refuse);
    assert_eq!(answer, Err(FsError::TooLarge));
    assert_eq!(call.meter.used().read_bytes, 0);
    let cut = one(&call, "/os/sparse", 1000, Overflow::Cut).unwrap();
    assert_eq!((cut.bytes.len(), cut.truncated), (1000, true));
    assert!(started.elapsed() < Duration::from_secs(1));
}

#[test]
fn a_file_is_read_whole_up_to_its_cap() {
    let site = Site::new();
    fs::write(site.os().join("five"), "12345").unwrap();
    fs::write(site.os().join("none"), "").unwrap();
    let call = site.call();
    for overflow in [Overflow::Refuse, Overflow::Cut] {
        assert_eq!(one(&call, "/os/five", 5, overflow), whole(b"12345"));
        assert_eq!(one(&call, "/os/none", 0, overflow), whole(b""));
    }
    assert_eq!(
        one(&call, "/os/five", 4, Overflow::Refuse),
        Err(FsError::TooLarge)
    );
    let cut = one(&call, "/os/five", 4, Overflow::Cut).unwrap();
    assert_eq!(
        (cut.bytes.as_slice(), cut.truncated),
        (b"1234".as_slice(), true)
    );
}

#[test]
fn a_file_that_claims_no_length_is_capped_all_the_same() {
    // Files of /proc say that they are empty.
    let meter = meter(AMPLE);
    let open = || fs::File::open("/proc/self/maps").unwrap();
    let cut = contents::read(open(), 0, 10, Overflow::Cut, &meter)
        .unwrap()
        .unwrap();
    assert_eq!((cut.bytes.len(), cut.truncated), (10, true));
    let refused = contents::read(open(), 0, 10, Overflow::Refuse, &meter).unwrap();
    assert_eq!(refused, Err(FsError::TooLarge));
    let all = contents::read(open(), 0, 1 << 20, Overflow::Refuse, &meter)
        .unwrap()
        .unwrap();
    assert!(all.bytes.len() > 10 && !all.truncated);
}

#[test]
fn a_file_that_changed_its_length_since_it_was_found_is_read_as_it_is_now() {
    let site = Site::new();
    let path = site.os().join("f");
    fs::write(&path, "12345678").unwrap();
    let read = |length, max_bytes| {
        let file = fs::File::open(&path).unwrap();
        contents::read(file, length, max_bytes, Overflow::Refuse, &meter(AMPLE)).unwrap()
    };
    for found_with in [1, 7, 8, 9, 100] {
        assert_eq!(
            read(found_with, 100).unwrap().bytes,
            b"12345678",
            "{found_with}"
        );
    }
    assert_eq!(read(3, 7), Err(FsError::TooLarge));
}

#[test]
fn a_link_that_is_swapped_in_while_reading_never_leaves_the_mount() {
    let site = Site::new();
    let (os, secret) = (site.os(), site.root.join("secret"));
    fs::create_dir(&secret).unwrap();
    fs::write(secret.join("f"), "secret").unwrap();
    fs::create_dir(os.join("real")).unwrap();
    fs::write(os.join("real/f"), "public").unwrap();
    let call = site.call();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                for target in ["real", "../secret"] {
                    let _ = fs::remove_file(os.join("next"));
                    symlink(target, os.join("next")).unwrap();
                    fs::rename(os.join("next"), os.join("way")).unwrap();
                }
            }
        });
        let started = Instant::now();
        let (mut inside, mut outside) = (0, 0);
        // On until both targets have been met, which on a busy machine may take a while.
        while inside < 20 || outside < 20 {
            match refuse(&call, "/os/way/f") {
                Ok(file) => {
                    assert_eq!(file.bytes, b"public");
                    inside += 1;
                }
                Err(FsError::NotFound) => {}
                Err(error) => {
                    assert_eq!(error, FsError::LeavesMount);
                    outside += 1;
                }
            }
            if started.elapsed() > Duration::from_secs(5) {
                break;
            }
        }
        over.store(true, Ordering::Relaxed);
        assert!(inside > 0 && outside > 0, "the race was never run");
    });
}

#[test]
fn where_links_are_refused_one_in_any_component_is_told() {
    let site = Site::new();
    let os = site.os();
    fs::create_dir_all(os.join("a/b")).unwrap();
    fs::write(os.join("a/b/file"), "x").unwrap();
    symlink("a", os.join("link")).unwrap();
    symlink("a/b/file", os.join("last")).unwrap();
    symlink("/etc/passwd", os.join("absolute")).unwrap();
    symlink("nowhere", os.join("dangling")).unwrap();
    let call = site.call();
    let ask = |path: &str| ReadRequest {
        path: format!("/os/{path}"),
        max_bytes: 10,
        overflow: Overflow::Refuse,
        symlinks: Symlinks::Refuse,
    };
    for (path, answer) in [
        ("a/b/file", whole(b"x")),
        ("a/b/none", Err(FsError::NotFound)),
        ("a/b", Err(FsError::IsDirectory)),
        ("link/b/file", Err(FsError::Symlink)),
        ("link/none", Err(FsError::Symlink)),
        ("none/link", Err(FsError::NotFound)),
        ("last", Err(FsError::Symlink)),
        ("last/x", Err(FsError::Symlink)),
        ("absolute", Err(FsError::Symlink)),
        ("dangling", Err(FsError::Symlink)),
    ] {
        assert_eq!(read(&call, vec![ask(path)]).unwrap(), [answer], "{path}");
    }
}

#[test]
fn a_file_is_executable_if_its_owner_may_execute_it() {
    let site = Site::new();
    let call = site.call();
    let path = site.os().join("f");
    fs::write(&path, "x").unwrap();
    for (mode, executable) in [(0o644, false), (0o655, false), (0o744, true), (0o755, true)] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(
            refuse(&call, "/os/f").unwrap().executable,
            executable,
            "{mode:o}"
        );
    }
}

#[test]
fn a_file_that_the_system_refuses_is_not_accessible() {
    if is_root() {
        return;
    }
    let site = Site::new();
    fs::write(site.os().join("locked"), "x").unwrap();
    fs::set_permissions(site.os().join("locked"), fs::Permissions::from_mode(0o0)).unwrap();
    assert_eq!(
        refuse(&site.call(), "/os/locked"),
        Err(FsError::NotAccessible)
    );
}

#[test]
fn exceeded_budgets_end_the_call_and_say_how() {
    let site = Site::new();
    fs::write(site.os().join("f"), vec![b'x'; 600]).unwrap();
    let request = || ReadRequest {
        path: "/os/f".to_owned(),
        max_bytes: 1024,
        overflow: Overflow::Refuse,
        symlinks: Symlinks::Follow,
    };
    let with = |budgets| {
        let mut call = site.call();
        call.meter = meter(budgets);
        read(&call, vec![request(), request()]).unwrap_err()
    };
    let exceeded = with(MeterBudgets {
        hostcalls: 1,
        ..AMPLE
    });
    assert_eq!(
        exceeded.to_string(),
        "budget hostcalls exceeded: limit 1, used 2"
    );
    let exceeded = with(MeterBudgets {
        read_bytes: 1000,
        ..AMPLE
    });
    assert_eq!(
        exceeded.to_string(),
        "budget read-bytes exceeded: limit 1000, used 1200"
    );
    let exceeded = with(MeterBudgets {
        wall_clock: Duration::ZERO,
        ..AMPLE
    });
    assert_eq!((exceeded.budget, exceeded.limit), (Budget::WallClock, 0));
}

#[test]
fn a_list_is_answered_in_the_order_asked_and_each_answer_stands_alone() {
    let site = Site::new();
    let requests: Vec<_> = (0..200)
        .map(|number| {
            if number % 7 != 0 {
                fs::write(site.os().join(number.to_string()), number.to_string()).unwrap();
            }
            ReadRequest {
                path: format!("/os/{number}"),
                max_bytes: 10,
                overflow: Overflow::Refuse,
                symlinks: Symlinks::Follow,
            }
        })
        .collect();
    let answers = read(&site.call(), requests).unwrap();
    for (number, answer) in answers.into_iter().enumerate() {
        let expected = match number % 7 {
            0 => Err(FsError::NotFound),
            _ => whole(number.to_string().as_bytes()),
        };
        assert_eq!(answer, expected);
    }
}

#[test]
fn an_https_mount_is_read_by_a_fetch_that_the_allowlist_must_allow() {
    let server = Server::start(|line, stream| match line {
        "GET /base/rope%20ladder.md HTTP/1.1" => respond(stream, "HTTP/1.1 200 OK", b"Rope."),
        _ => respond(stream, "HTTP/1.1 404 Not Found", b"no"),
    });
    let site = Site::new();
    let base = server.url("/base/");
    let flag = format!("/lib/={base}");
    let file = site.root.join("policy.yaml");
    fs::write(
        &file,
        format!(
            "version: 1\ntrusted_signers: [a]\n\
             capability_ceiling: {{fs: {{read: [/os]}}, net: [\"{base}\"]}}\n\
             host: {{net: [{{url: \"{base}\", methods: [GET]}}]}}\n"
        ),
    )
    .unwrap();
    let mount = hydrant_policy::CliMount::os_prefix(&flag, true).unwrap();
    let policy = hydrant_policy::Policy::load(&file, &[mount]).unwrap();
    let declare = |kind: &str, value: &str| hydrant_trust::Capability {
        kind: kind.to_owned(),
        value: value.to_owned(),
    };
    let grant = Grant::new(
        std::sync::Arc::new(policy),
        &[declare("fs.read", "/os"), declare("net.http", "*")],
    )
    .with_http_loopback();
    let call = call(grant);
    assert_eq!(refuse(&call, "/os/lib/rope ladder.md"), whole(b"Rope."));
    assert_eq!(refuse(&call, "/os/lib/gone.md"), Err(FsError::FetchFailed));
    assert_eq!(
        one(&call, "/os/lib/rope ladder.md", 4, Overflow::Refuse),
        Err(FsError::TooLarge)
    );
    let asked = server.asked().remove(0);
    for header in [
        concat!("user-agent: hydrant/", env!("CARGO_PKG_VERSION"), "\r\n"),
        "accept: text/markdown, text/plain;q=0.9, */*;q=0.1\r\n",
        "accept-encoding: identity\r\n",
    ] {
        assert!(asked.contains(header), "{asked}");
    }
    assert_eq!(asked.matches("\r\n").count(), 6, "{asked}");
    let request = TreeRequest {
        root: "/os/lib/kits".to_owned(),
        max_entries: 10,
        max_depth: 1,
        include_hidden: false,
    };
    assert_eq!(
        tree(&call, vec![request]).unwrap(),
        [Err(FsError::FetchFailed)]
    );
}
