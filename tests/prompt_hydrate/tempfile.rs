//! The folder and the file, and who wants to get in between.

use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use crate::desk::Desk;
use crate::program::mode;

/// Stopped, with the words of the seed, and nothing written anywhere.
fn stopped(desk: &Desk, flags: &[&str], status: i32) -> String {
    let input = desk.input("rename the flag").to_string();
    let run = desk.raw(flags, input.as_bytes());
    assert_eq!(run.status, status, "{run:?}");
    assert_eq!(run.stdout, "");
    assert!(
        run.stderr
            .contains("ERROR: tempfile: temp file write failed: "),
        "{run:?}"
    );
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    run.stderr
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

#[test]
fn the_folder_and_the_file_are_the_users_alone() {
    let desk = Desk::new();
    let hydrated = desk.prompt("rename the flag");
    assert_eq!(mode(&desk.tmp()), 0o700);
    assert_eq!(mode(&hydrated.path), 0o600);
    let name = hydrated.path.file_name().unwrap().to_str().unwrap();
    let random = name
        .strip_prefix("hydrate_")
        .and_then(|rest| rest.strip_suffix(".md"))
        .unwrap();
    assert!(
        random.len() == 8
            && random
                .chars()
                .all(|one| one.is_ascii_lowercase() || one.is_ascii_digit())
    );
}

#[test]
fn a_folder_that_others_may_write_is_closed_and_used() {
    let desk = Desk::new();
    fs::create_dir(desk.tmp()).unwrap();
    fs::set_permissions(desk.tmp(), Permissions::from_mode(0o777)).unwrap();
    desk.prompt("rename the flag");
    assert_eq!(mode(&desk.tmp()), 0o700);
}

#[test]
fn a_file_in_the_place_of_the_folder_stops_the_prompt() {
    let desk = Desk::new();
    fs::write(desk.tmp(), "mine").unwrap();
    stopped(&desk, &[], 2);
    stopped(&desk, &["--io-error-exit", "1"], 1);
    assert_eq!(fs::read(desk.tmp()).unwrap(), b"mine");
}

#[test]
fn a_link_in_the_place_of_the_folder_stops_the_prompt() {
    let desk = Desk::new();
    let target = desk.folder().path("../target");
    fs::create_dir(&target).unwrap();
    symlink(&target, desk.tmp()).unwrap();
    assert!(stopped(&desk, &[], 2).contains("HYDRANT_TMPDIR"));
    let slashed = format!("{}/", desk.tmp().display());
    stopped(&desk, &["--tmp-dir", &slashed], 2);
    assert_eq!(fs::read_dir(&target).unwrap().count(), 0);
}

#[test]
fn a_folder_that_cannot_be_written_stops_the_prompt() {
    let desk = Desk::new();
    fs::create_dir(desk.tmp()).unwrap();
    fs::set_permissions(desk.tmp(), Permissions::from_mode(0o500)).unwrap();
    if !is_root() {
        stopped(&desk, &[], 2);
    }
    // As root the same with a folder that nobody can write.
    stopped(&desk, &["--tmp-dir", "/proc/hydrant"], 2);
    stopped(&desk, &["--tmp-dir", "relative"], 2);
}

#[test]
fn a_folder_of_somebody_else_stops_the_prompt() {
    let desk = Desk::new();
    let (place, is_ours) = if is_root() {
        fs::create_dir(desk.tmp()).unwrap();
        std::os::unix::fs::chown(desk.tmp(), Some(65534), Some(65534)).unwrap();
        (desk.tmp(), true)
    } else {
        ("/".into(), false)
    };
    if is_ours {
        let stderr = stopped(&desk, &[], 2);
        assert!(
            stderr.contains("another user") && stderr.contains("HYDRANT_TMPDIR"),
            "{stderr}"
        );
        assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
    } else {
        stopped(&desk, &["--tmp-dir", "/usr"], 2);
    }
}

/// The first user of a machine who has the hook keeps no other one out.
#[test]
fn the_usual_folder_is_that_of_one_user() {
    let desk = Desk::new();
    let mut command = desk.command(&["--mode", "subagent"]);
    command.env_remove("HYDRANT_TMPDIR");
    let input = desk.input("rename the flag").to_string();
    let instruction = crate::desk::context(&crate::desk::feed(&mut command, input.as_bytes()));
    let user = fs::metadata(desk.folder().path("..")).unwrap().uid();
    let folder = format!("/tmp/claude-hydrator-{user}/");
    let at = instruction.find(&folder).expect(&instruction);
    let file = instruction[at..].split(".md").next().unwrap();
    fs::remove_file(format!("{file}.md")).unwrap();
}

/// Flag, variable, configuration.
#[test]
fn the_strongest_place_counts() {
    let desk = Desk::new();
    let place = |name: &str| desk.folder().path(&format!("../{name}"));
    desk.configure(&format!("[hydrate]\ntmp_dir = {:?}\n", place("configured")));
    let input = desk.input("rename the flag").to_string();
    let count = |name: &str| fs::read_dir(place(name)).map_or(0, Iterator::count);
    let flag = place("flag");
    desk.raw(&["--tmp-dir", flag.to_str().unwrap()], input.as_bytes());
    assert_eq!(
        (count("flag"), count("tmp"), count("configured")),
        (1, 0, 0)
    );
    desk.raw(&[], input.as_bytes());
    assert_eq!(
        (count("flag"), count("tmp"), count("configured")),
        (1, 1, 0)
    );
    let mut command = desk.command(&[]);
    command
        .env("HYDRANT_TMPDIR", "")
        .env("TMPDIR", place("ignored"));
    crate::desk::feed(&mut command, input.as_bytes());
    assert_eq!(
        (count("flag"), count("tmp"), count("configured")),
        (1, 1, 1)
    );
    assert!(!place("ignored").exists());
}

#[test]
fn each_run_takes_old_files_away_and_nothing_else() {
    let desk = Desk::new();
    desk.prompt("rename the flag");
    let aged = |name: &str, minutes: u64| {
        let file = File::create(desk.tmp().join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(minutes * 60))
            .unwrap();
    };
    aged("hydrate_old.md", 120);
    aged("hydrate_young.md", 30);
    aged("other.md", 120);
    symlink(
        desk.tmp().join("other.md"),
        desk.tmp().join("hydrate_link.md"),
    )
    .unwrap();
    // One that cannot be taken away, as a directory cannot.
    fs::create_dir(desk.tmp().join("hydrate_stuck.md")).unwrap();
    // Also on a run that writes nothing.
    desk.hook(&desk.input("/compact"));
    let files = desk.files();
    assert!(!files.contains(&"hydrate_old.md".to_owned()), "{files:?}");
    for kept in [
        "hydrate_young.md",
        "other.md",
        "hydrate_link.md",
        "hydrate_stuck.md",
    ] {
        assert!(files.contains(&kept.to_owned()), "{kept}: {files:?}");
    }
    // What is unsuitable for writing is no trouble for who does not write.
    let other = Desk::new();
    fs::write(other.tmp(), "x").unwrap();
    assert_eq!(other.hook(&other.input("/compact")).status, 0);
}

#[test]
fn fifty_runs_at_once_give_fifty_whole_files() {
    let desk = Desk::new();
    desk.prompt("warm up");
    let results: Vec<_> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..50)
            .map(|number| {
                let desk = &desk;
                scope.spawn(move || {
                    let prompt = format!("rename flag number {number} of fifty");
                    let run = desk.hook(&desk.input(&prompt));
                    (prompt, crate::desk::context(&run))
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let mut paths = BTreeSet::new();
    for (prompt, instruction) in results {
        let (_, rest) = instruction.split_once("hydrate_").unwrap();
        let (name, _) = rest.split_once(".md").unwrap();
        let text = fs::read_to_string(desk.tmp().join(format!("hydrate_{name}.md"))).unwrap();
        assert!(text.contains(&prompt));
        assert!(text.contains("## Return Format"));
        paths.insert(name.to_owned());
    }
    assert_eq!(paths.len(), 50);
    assert_eq!(desk.files().len(), 51);
}
