//! Others that change the same files at the same time, by chance or on purpose.

use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::*;

/// Waits for a while that differs from round to round, up to the time a small transaction takes.
fn a_while(round: u32, longest: Duration) {
    let pause = longest * (round.wrapping_mul(37) % 101) / 100;
    let begun = Instant::now();
    while begun.elapsed() < pause {
        std::hint::spin_loop();
    }
}

/// How long one change takes here.
fn usual() -> Duration {
    let site = Site::new();
    write(&site, "a", "0", 0o644);
    let call = site.writer("");
    let begun = Instant::now();
    for round in 0..4 {
        let change = modify("a", &round.to_string(), &(round + 1).to_string());
        apply(&call, vec![change]).unwrap().unwrap();
    }
    begun.elapsed() / 4
}

/// No lost update, at whatever moment another file is put in place.
#[test]
fn what_another_puts_in_place_meanwhile_is_never_lost() {
    let usual = usual();
    let (mut done, mut conflicts) = (0, 0);
    for round in 0..150_u32 {
        let site = Site::new();
        let call = site.writer("");
        write(&site, "a", "old", 0o644);
        write(&site, "b", "old", 0o644);
        write(&site, "next", "theirs", 0o644);
        let list = vec![
            modify("b", "old", "ours"),
            match round % 2 {
                0 => modify("a", "old", "ours"),
                _ => delete("a", "old"),
            },
        ];
        let answer = std::thread::scope(|scope| {
            scope.spawn(|| {
                a_while(round, usual * 2);
                fs::rename(site.work().join("next"), site.work().join("a")).unwrap();
            });
            apply(&call, list).unwrap()
        });
        assert_eq!(read(&site, "a"), "theirs", "{round}: {answer:?}");
        assert_eq!(
            names(&contents(&site.work())),
            ["a", "b"],
            "{round}: {answer:?}"
        );
        assert_eq!(journals(&site), [""; 0], "{round}");
        match answer {
            Ok(()) => done += 1,
            Err(failure) => {
                assert!(failure.reason == FsError::Conflict, "{failure:?}");
                conflicts += 1;
            }
        }
        assert_eq!(
            read(&site, "b"),
            if answer.is_ok() { "ours" } else { "old" }
        );
    }
    assert!(
        done > 0 && conflicts > 0,
        "the race was never run: {done} {conflicts}"
    );
}

/// What somebody closes to others meanwhile stays closed.
#[test]
fn permissions_that_are_taken_away_meanwhile_never_come_back() {
    let usual = usual();
    let (mut done, mut conflicts) = (0, 0);
    for round in 0..150_u32 {
        let site = Site::new();
        let call = site.writer("");
        write(&site, "a", "old", 0o644);
        let path = site.work().join("a");
        let answer = std::thread::scope(|scope| {
            scope.spawn(|| {
                a_while(round, usual * 2);
                // The name is free for no moment.
                fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            });
            apply(&call, vec![modify("a", "old", "new")]).unwrap()
        });
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{round}: {answer:?}");
        match answer {
            Ok(()) => done += 1,
            Err(failure) => {
                assert_eq!(failure.reason, FsError::Conflict);
                conflicts += 1;
            }
        }
        assert_eq!(names(&contents(&site.work())), ["a"]);
        assert_eq!(journals(&site), [""; 0]);
    }
    assert!(
        done > 0 && conflicts > 0,
        "the race was never run: {done} {conflicts}"
    );
}

/// Of two that make the same file one wins.
#[test]
fn a_file_that_another_makes_meanwhile_is_never_replaced() {
    let usual = usual();
    for round in 0..100_u32 {
        let site = Site::new();
        let call = site.writer("");
        let path = site.work().join("a");
        let (ours, theirs) = std::thread::scope(|scope| {
            let theirs = scope.spawn(|| {
                a_while(round, usual * 2);
                fs::File::create_new(&path)
                    .and_then(|mut file| std::io::Write::write_all(&mut file, b"theirs"))
            });
            let ours = apply(&call, vec![create("a", "ours")]).unwrap();
            (ours, theirs.join().unwrap())
        });
        assert!(
            ours.is_ok() != theirs.is_ok(),
            "{round}: {ours:?} {theirs:?}"
        );
        assert_eq!(
            read(&site, "a"),
            if ours.is_ok() { "ours" } else { "theirs" }
        );
        assert_eq!(names(&contents(&site.work())), ["a"]);
    }
}

/// A directory on the way that becomes a link, again and again.
#[test]
fn a_link_that_is_swapped_in_never_leads_a_write_outside() {
    let site = Site::new();
    let outside = site.root.join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("f"), "0").unwrap();
    write(&site, "real/f", "0", 0o644);
    symlink(&outside, site.work().join("link")).unwrap();
    fs::create_dir(site.work().join("way")).unwrap();
    let call = site.writer("");
    let over = AtomicBool::new(false);
    let (mut done, mut links) = (0_u32, 0_u32);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            let work = site.work();
            // The name is always a directory or a link, and never free.
            for (one, other) in [("way", "real"), ("way", "link")].into_iter().cycle() {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                let (one, other) = (work.join(one), work.join(other));
                renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
                std::thread::sleep(Duration::from_micros(700));
            }
        });
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(20) && (done < 20 || links < 20) {
            let content = done.to_string();
            let list = vec![
                modify("way/f", &content, &(done + 1).to_string()),
                create("way/new/g", "x"),
            ];
            match apply(&call, list).unwrap() {
                Ok(()) => {
                    done += 1;
                    for place in ["way", "real", "link"] {
                        let _ = fs::remove_dir_all(site.work().join(place).join("new"));
                    }
                }
                Err(Failure {
                    reason: FsError::Symlink,
                    ..
                }) => links += 1,
                Err(Failure { reason, .. }) => assert!(
                    matches!(reason, FsError::NotFound | FsError::Conflict),
                    "{reason}"
                ),
            }
        }
        over.store(true, Ordering::Relaxed);
    });
    assert_eq!(fs::read(outside.join("f")).unwrap(), b"0");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    let left = contents(&site.work());
    assert!(
        !names(&left).iter().any(|name| name.contains(".hydrant")),
        "{:?}",
        names(&left)
    );
    assert!(
        done > 0 && links > 0,
        "the race was never run: {done} {links}"
    );
}

/// Names like those of staged files are files like any other.
#[test]
fn planted_names_are_left_alone() {
    let site = Site::new();
    let planted: Vec<_> = (0..50)
        .map(|number| format!(".hydrant-{number:024x}.tmp"))
        .collect();
    for name in &planted {
        symlink("/etc/passwd", site.work().join(name)).unwrap();
    }
    write(&site, "a", "old", 0o644);
    let call = site.writer("");
    let list = vec![modify("a", "old", "new"), create("b", "b")];
    assert_eq!(apply(&call, list).unwrap(), Ok(()));
    recover(&call).unwrap();
    assert_eq!(contents(&site.work()).len(), planted.len() + 2);
}

/// Many at once: each change is made once, in some order.
#[test]
fn lists_of_many_threads_are_made_one_after_the_other() {
    let site = Site::new();
    write(&site, "n", "0", 0o644);
    let each = 10;
    let calls: Vec<_> = (0..4).map(|_| site.writer("")).collect();
    std::thread::scope(|scope| {
        for call in &calls {
            let site = &site;
            scope.spawn(move || {
                let mut made = 0;
                while made < each {
                    let now: u32 = read(site, "n").parse().unwrap();
                    let list = vec![modify("n", &now.to_string(), &(now + 1).to_string())];
                    match apply(call, list).unwrap() {
                        Ok(()) => made += 1,
                        Err(failure) => assert_eq!(failure.reason, FsError::Conflict),
                    }
                }
            });
        }
    });
    assert_eq!(read(&site, "n"), "40");
    assert_eq!(names(&contents(&site.work())), ["n"]);
}
