use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, "earlier").unwrap();
        path
    }
}

fn take(output: &Path, receipt: &Path, read: &[&Path]) -> Result<Slots, SlotError> {
    Slots::take(Some(output), Some(receipt), read)
}

fn refusal(output: &Path, receipt: &Path, read: &[&Path]) -> String {
    take(output, receipt, read).unwrap_err().to_string()
}

#[test]
fn earlier_files_are_removed_at_the_start() {
    let folder = Folder::new();
    let (output, receipt) = (folder.file("output"), folder.file("receipt"));
    let slots = take(&output, &receipt, &[]).unwrap();
    assert!(!output.exists() && !receipt.exists());
    drop(slots);
    assert!(!output.exists() && !receipt.exists());
}

#[test]
fn a_symlink_or_directory_is_refused_and_nothing_is_removed() {
    let folder = Folder::new();
    let earlier = folder.file("earlier");
    let target = folder.file("target");
    let link = folder.path("link");
    symlink(&target, &link).unwrap();
    let dangling = folder.path("dangling");
    symlink(folder.path("nowhere"), &dangling).unwrap();
    let directory = folder.path("directory");
    fs::create_dir(&directory).unwrap();
    let pipe = folder.path("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    for (bad, kind) in [
        (&link, "symlink"),
        (&dangling, "symlink"),
        (&directory, "directory"),
        (&pipe, "special file"),
    ] {
        assert!(refusal(&earlier, bad, &[]).ends_with(kind));
        assert!(refusal(bad, &earlier, &[]).contains("refusing to write the output"));
        assert!(earlier.exists() && target.exists());
        assert!(fs::symlink_metadata(bad).is_ok());
    }
}

#[test]
fn a_file_that_the_run_reads_is_refused_under_any_name() {
    let folder = Folder::new();
    let earlier = folder.file("earlier");
    let input = folder.file("input");
    let hard_link = folder.path("hard-link");
    fs::hard_link(&input, &hard_link).unwrap();
    let spelled = folder.0.path().join(".").join("input");
    let missing = folder.path("missing");
    for bad in [&input, &hard_link, &spelled] {
        let error = refusal(&earlier, bad, &[&missing, &input]);
        assert!(error.contains("is the same file as"), "{error}");
        assert!(input.exists() && earlier.exists());
    }
}

#[test]
fn an_input_that_is_reached_by_a_symlink_is_the_same_file() {
    let folder = Folder::new();
    let real = folder.file("real");
    let link = folder.path("link");
    symlink(&real, &link).unwrap();
    let other = folder.path("other");
    assert!(refusal(&other, &real, &[&link]).contains("is the same file as"));
    assert!(real.exists());
}

#[test]
fn output_and_receipt_at_one_path_are_refused() {
    let folder = Folder::new();
    let existing = folder.file("existing");
    let spelled = folder.0.path().join(".").join("existing");
    assert!(refusal(&existing, &spelled, &[]).contains("cannot both be"));
    assert!(existing.exists());
    let new = folder.path("new");
    assert!(refusal(&new, &new, &[]).contains("cannot both be"));
}

#[test]
fn what_was_written_stays_only_when_kept() {
    let folder = Folder::new();
    let (output, receipt) = (folder.path("output"), folder.path("new/receipt"));
    let mut slots = take(&output, &receipt, &[]).unwrap();
    slots.write_output(b"out").unwrap();
    slots.write_receipt(b"{}").unwrap();
    assert_eq!(fs::read(&output).unwrap(), b"out");
    drop(slots);
    assert!(!output.exists() && !receipt.exists());

    let mut slots = take(&output, &receipt, &[]).unwrap();
    slots.write_output(b"out").unwrap();
    slots.write_receipt(b"{}").unwrap();
    slots.keep();
    assert_eq!(fs::read(&output).unwrap(), b"out");
    assert_eq!(fs::read(&receipt).unwrap(), b"{}");
}

#[test]
fn a_receipt_that_cannot_be_written_takes_the_output_back() {
    let folder = Folder::new();
    let output = folder.path("output");
    let receipt = folder.path("blocked/receipt");
    let mut slots = take(&output, &receipt, &[]).unwrap();
    slots.write_output(b"out").unwrap();
    fs::write(folder.path("blocked"), "a file").unwrap();
    assert!(slots.write_receipt(b"{}").is_err());
    drop(slots);
    assert!(!output.exists());
}

#[test]
fn a_receipt_of_a_failure_is_kept_without_an_output() {
    let folder = Folder::new();
    let (output, receipt) = (folder.path("output"), folder.path("receipt"));
    let mut slots = take(&output, &receipt, &[]).unwrap();
    slots.write_receipt(b"{}").unwrap();
    slots.keep();
    assert!(receipt.exists() && !output.exists());
}

#[test]
fn files_are_private() {
    let folder = Folder::new();
    let (output, receipt) = (folder.path("output"), folder.path("receipt"));
    let mut slots = take(&output, &receipt, &[]).unwrap();
    slots.write_output(b"out").unwrap();
    slots.write_receipt(b"{}").unwrap();
    slots.keep();
    for path in [&output, &receipt] {
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o600);
    }
}

#[test]
fn what_a_guest_puts_at_the_receipt_path_does_not_survive() {
    let folder = Folder::new();
    let (output, receipt) = (folder.path("output"), folder.path("receipt"));
    let slots = take(&output, &receipt, &[]).unwrap();
    fs::write(&receipt, "forged").unwrap();
    drop(slots);
    assert!(!receipt.exists());

    // Nor is a symlink that it puts there followed.
    let mut slots = take(&output, &receipt, &[]).unwrap();
    let victim = folder.file("victim");
    symlink(&victim, &receipt).unwrap();
    let error = slots.write_receipt(b"{}").unwrap_err().to_string();
    assert!(
        error.contains("refusing to write through symlink"),
        "{error}"
    );
    drop(slots);
    assert!(fs::symlink_metadata(&receipt).is_err());
    assert_eq!(fs::read(&victim).unwrap(), b"earlier");
}

#[test]
fn a_run_without_paths_needs_no_slots() {
    let mut slots = Slots::take(None, None, &[]).unwrap();
    assert!(slots.write_output(b"x").is_ok());
    assert!(slots.write_receipt(b"x").is_ok());
    slots.keep();
}
