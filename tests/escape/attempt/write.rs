//! Writing outside: the host's files, read-only mounts, links, the system's directories and the kernel's files.

use std::fs;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use crate::outcome::{Arguments, Outcome, any};
use crate::raw::{Word, call};

/// The attempts of this file.
pub(crate) const ATTEMPTS: &[(&str, crate::Run)] = &[
    ("write_file", write_file),
    ("write_by_reopening", write_by_reopening),
    ("write_through_link", write_through_link),
    ("hard_link", hard_link),
    ("rename_over", rename_over),
    ("rename_away", rename_away),
    ("remove_file", remove_file),
    ("truncate_file", truncate_file),
    ("change_mode", change_mode),
    ("change_times", change_times),
    ("set_attribute", set_attribute),
    ("make_directory", make_directory),
    ("write_in_directory", write_in_directory),
    ("open_for_writing", open_for_writing),
    ("plant_setuid", plant_setuid),
    ("plant_setuid_at_birth", plant_setuid_at_birth),
    ("plant_setuid_without_name", plant_setuid_without_name),
    ("take_lease", take_lease),
];

/// What an attempt leaves in a file.
const MARK: &[u8] = b"written from the jail\n";

/// `FILE`: opened for writing by its name, and written.
fn write_file(arguments: &Arguments) -> Outcome {
    fs::OpenOptions::new()
        .write(true)
        .open(arguments.text(0)?)?
        .write_all(MARK)?;
    Ok("written".to_owned())
}

/// `FILE`: opened for reading, then again for writing through `/proc/self/fd`.
fn write_by_reopening(arguments: &Arguments) -> Outcome {
    let read = fs::File::open(arguments.text(0)?)?;
    let path = format!("/proc/self/fd/{}", read.as_raw_fd());
    fs::OpenOptions::new()
        .write(true)
        .open(path)?
        .write_all(MARK)?;
    Ok("written".to_owned())
}

/// `LINK FILE`: through a symbolic link made in a mount that may be written.
fn write_through_link(arguments: &Arguments) -> Outcome {
    let (link, file) = (arguments.text(0)?, arguments.text(1)?);
    std::os::unix::fs::symlink(file, link)?;
    fs::OpenOptions::new()
        .write(true)
        .open(link)?
        .write_all(MARK)?;
    Ok("written".to_owned())
}

/// `FILE LINK`: a second name, where it may be written, for a file that may not.
fn hard_link(arguments: &Arguments) -> Outcome {
    let (file, link) = (arguments.text(0)?, arguments.text(1)?);
    fs::hard_link(file, link)?;
    fs::OpenOptions::new()
        .write(true)
        .open(link)?
        .write_all(MARK)?;
    Ok("written".to_owned())
}

/// `FROM TO`: a file made where that is allowed, renamed over one that may not be written.
fn rename_over(arguments: &Arguments) -> Outcome {
    let (from, to) = (arguments.text(0)?, arguments.text(1)?);
    fs::write(from, MARK)?;
    fs::rename(from, to)?;
    Ok("replaced".to_owned())
}

/// `FROM TO`: a file that may only be read, renamed to where it may be written.
fn rename_away(arguments: &Arguments) -> Outcome {
    fs::rename(arguments.text(0)?, arguments.text(1)?)?;
    Ok("moved".to_owned())
}

/// `FILE`
fn remove_file(arguments: &Arguments) -> Outcome {
    fs::remove_file(arguments.text(0)?)?;
    Ok("removed".to_owned())
}

/// `FILE`: by `truncate`, which opens nothing.
fn truncate_file(arguments: &Arguments) -> Outcome {
    let path = arguments.c_text(0)?;
    call(libc::SYS_truncate, &mut [Word::Text(&path)])?;
    Ok("truncated".to_owned())
}

/// `FILE`: its mode. Landlock lets this pass.
fn change_mode(arguments: &Arguments) -> Outcome {
    fs::set_permissions(arguments.text(0)?, fs::Permissions::from_mode(0o666))?;
    Ok("mode 666".to_owned())
}

/// `FILE`: its times. Landlock lets this pass.
fn change_times(arguments: &Arguments) -> Outcome {
    let path = arguments.c_text(0)?;
    call(
        libc::SYS_utimensat,
        &mut [
            Word::Number(libc::AT_FDCWD.into()),
            Word::Text(&path),
            Word::Null,
            Word::Null,
        ],
    )?;
    Ok("touched".to_owned())
}

/// `FILE`: an extended attribute. Landlock lets this pass.
fn set_attribute(arguments: &Arguments) -> Outcome {
    let path = arguments.c_text(0)?;
    call(
        libc::SYS_setxattr,
        &mut [
            Word::Text(&path),
            Word::Text(c"user.jail"),
            Word::Bytes(MARK),
            Word::Number(4),
            Word::Null,
        ],
    )?;
    Ok("attribute set".to_owned())
}

/// `DIRECTORY`: made and, when that went, removed again.
fn make_directory(arguments: &Arguments) -> Outcome {
    let path = Path::new(arguments.text(0)?);
    fs::create_dir(path)?;
    fs::remove_dir(path)?;
    Ok("made".to_owned())
}

/// `DIRECTORY`: a file in it that never gets a name, so that nothing is left of it.
fn write_in_directory(arguments: &Arguments) -> Outcome {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .mode(0o600)
        .custom_flags(libc::O_TMPFILE)
        .open(arguments.text(0)?)?;
    file.write_all(MARK)?;
    Ok("written".to_owned())
}

/// `FILE…`: any of the kernel's or the system's files, opened for writing; nothing is written.
fn open_for_writing(arguments: &Arguments) -> Outcome {
    arguments.text(0)?;
    any(arguments.0.iter().map(|path| {
        fs::OpenOptions::new().write(true).open(path)?;
        Ok(format!("{path} is open for writing"))
    }))
}

/// `FILE`: a program in a directory of the host that runs as its owner, for another user of the host to start.
fn plant_setuid(arguments: &Arguments) -> Outcome {
    let path = arguments.text(0)?;
    fs::write(path, MARK)?;
    let name = arguments.c_text(0)?;
    let here = || Word::Number(libc::AT_FDCWD.into());
    let mode = || Word::Number(0o6755);
    let file = fs::File::open(path)?;
    let by_calls = [
        call(libc::SYS_fchmodat, &mut [here(), Word::Text(&name), mode()]),
        call(
            libc::SYS_fchmodat2,
            &mut [here(), Word::Text(&name), mode()],
        ),
        call(
            libc::SYS_fchmod,
            &mut [Word::Number(file.as_raw_fd().into()), mode()],
        ),
        // The high half is not looked at by the kernel, but by a filter that compares 64 bits.
        call(
            libc::SYS_fchmod,
            &mut [
                Word::Number(file.as_raw_fd().into()),
                Word::Number(0o4755 | 1 << 32),
            ],
        ),
    ];
    planted(path, by_calls.into_iter().find_map(Result::err))
}

/// `FILE`: the same by the calls that make a file.
fn plant_setuid_at_birth(arguments: &Arguments) -> Outcome {
    let path = arguments.text(0)?;
    let name = arguments.c_text(0)?;
    let here = || Word::Number(libc::AT_FDCWD.into());
    let create = libc::O_CREAT | libc::O_WRONLY;
    // struct open_how: flags, mode, resolve.
    let how = crate::mounts::structure(&[u64::from(create.unsigned_abs()), 0o6755, 0]);
    let mode = || Word::Number(0o6755);
    let regular = || Word::Number((libc::S_IFREG | 0o6755).into());
    let create = || Word::Number(create.into());
    let words = || Word::Text(&name);
    let mut ways: Vec<(i64, Vec<Word<'_>>)> = vec![
        (libc::SYS_openat, vec![here(), words(), create(), mode()]),
        (
            libc::SYS_openat2,
            vec![here(), words(), Word::Bytes(&how), Word::Number(24)],
        ),
        (
            libc::SYS_mknodat,
            vec![here(), words(), regular(), Word::Null],
        ),
    ];
    #[cfg(target_arch = "x86_64")]
    ways.extend([
        (libc::SYS_open, vec![words(), create(), mode()]),
        (libc::SYS_creat, vec![words(), mode()]),
        (libc::SYS_mknod, vec![words(), regular(), Word::Null]),
    ]);
    any(ways.into_iter().map(|(number, mut words)| {
        let outcome = planted(path, call(number, &mut words).err());
        let _ = fs::remove_file(path);
        outcome
    }))
}

/// `DIRECTORY`: the same for a file without a name, which gets one afterwards.
fn plant_setuid_without_name(arguments: &Arguments) -> Outcome {
    let directory = arguments.c_text(0)?;
    let path = format!("{}/planted", arguments.text(0)?);
    let here = || Word::Number(libc::AT_FDCWD.into());
    let flags = Word::Number((libc::O_TMPFILE | libc::O_WRONLY).into());
    let words = &mut [here(), Word::Text(&directory), flags, Word::Number(0o6755)];
    let file = call(libc::SYS_openat, words)?;
    let from = std::ffi::CString::new(format!("/proc/self/fd/{file}")).unwrap_or_default();
    let to = std::ffi::CString::new(path.as_str()).unwrap_or_default();
    let follow = Word::Number(libc::AT_SYMLINK_FOLLOW.into());
    call(
        libc::SYS_linkat,
        &mut [here(), Word::Text(&from), here(), Word::Text(&to), follow],
    )?;
    planted(&path, None)
}

/// `FILE`: a lease, for which everybody who opens the file otherwise waits most of a minute.
fn take_lease(arguments: &Arguments) -> Outcome {
    let file = fs::File::open(arguments.text(0)?)?;
    let word = |number: i32| Word::Number(number.into());
    call(
        libc::SYS_fcntl,
        &mut [
            word(file.as_raw_fd()),
            word(libc::F_SETLEASE),
            word(libc::F_RDLCK),
        ],
    )?;
    Ok("leased".to_owned())
}

/// Whether the file has one of the bits now; `refused` is what was said on the way.
fn planted(path: &str, refused: Option<crate::outcome::Errno>) -> Outcome {
    let mode = fs::metadata(path).map(|metadata| metadata.permissions().mode());
    match (mode, refused) {
        (Ok(mode), _) if mode & 0o6000 != 0 => Ok(format!("mode {mode:o}")),
        (_, Some(errno)) => Err(errno.into()),
        (Err(error), None) => Err(error.into()),
        (Ok(mode), None) => crate::outcome::clean(format!("mode {mode:o}")),
    }
}
