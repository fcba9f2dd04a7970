//! What kind of executable a tool is, and under which path it is started.
//!
//! A binary is started through the descriptor of the file that was looked up, so that it is that file.
//! A script cannot be: its interpreter opens it once more, by name, when the descriptor is closed; and
//! `$0` has to be its path. So its path is checked to be still that file, right before it is used.
//!
//! A program of the policy has been looked up when the policy was loaded and lies outside of all mounts; of it only
//! the format is asked. For the C library hands a file that the system does not know to a shell.

use std::path::{Path, PathBuf};

use crate::fs::Found;

/// Bytes of the first line of a script that the system reads.
#[cfg(target_os = "linux")]
const LINE: usize = 256;

/// Interpreters and loaders of one program, at most.
#[cfg(target_os = "linux")]
const MOST_NEEDED: usize = 16;

/// What is to be executed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// A binary, or a file that we may execute but not read, or one that begins with `#!`: where it is started.
    Known(PathBuf),
    /// Neither: no system call is made that might hand it to a shell.
    #[cfg(target_os = "linux")]
    Unknown,
    /// Its path no longer names the file that was found.
    Moved,
}

/// Looks at the file that was `found` at the real path `path`.
#[cfg(target_os = "linux")]
pub(super) fn format_of(found: &Found, path: &Path) -> Format {
    use crate::fs::descriptor_path;

    match found.first_bytes().as_ref().map(|bytes| known(bytes)) {
        Some(Some(Known::Script)) if found.is_still_at(path) => Format::Known(path.to_owned()),
        Some(Some(Known::Script)) => Format::Moved,
        Some(Some(Known::Binary)) | None => {
            Format::Known(descriptor_path(found.reference()).into())
        }
        Some(None) => Format::Unknown,
    }
}

/// Whether the system knows how to execute a file that was found, or nobody may read it.
#[cfg(target_os = "linux")]
pub(super) fn is_known_file(found: &Found) -> bool {
    found
        .first_bytes()
        .is_none_or(|bytes| known(&bytes).is_some())
}

/// Elsewhere nothing is confined.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_known_file(_: &Found) -> bool {
    true
}

/// Whether the system knows how to execute the program at `path`, or nobody may read it, so that no shell could either.
#[cfg(target_os = "linux")]
pub(super) fn is_known(path: &Path) -> bool {
    use std::fs::OpenOptions;
    use std::io::Read;
    use std::os::unix::fs::OpenOptionsExt;

    let mut bytes = [0; 4];
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path);
    match opened.and_then(|mut file| file.read(&mut bytes)) {
        Ok(read) => known(bytes.get(..read).unwrap_or_default()).is_some(),
        Err(_) => true,
    }
}

/// Elsewhere there are formats that are not known here.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_known(_: &Path) -> bool {
    true
}

/// What has to be executable besides the program at `path`: the loader of a binary; the interpreter of a script, and what
/// that needs. Empty for what cannot be read.
#[cfg(target_os = "linux")]
pub(super) fn needs(path: &Path) -> Vec<PathBuf> {
    use std::os::unix::fs::OpenOptionsExt;

    let mut needs = Vec::new();
    let mut pending = vec![path.to_owned()];
    while let Some(path) = pending.pop() {
        // Without NONBLOCK, opening a FIFO would wait for somebody to write to it.
        let opened = std::fs::OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(&path);
        let Ok(file) = opened else { continue };
        if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            continue;
        }
        needs.extend(loader(&file));
        for interpreter in interpreters(&file) {
            if needs.len() < MOST_NEEDED && !needs.contains(&interpreter) {
                needs.push(interpreter.clone());
                pending.push(interpreter);
            }
        }
    }
    needs
}

/// `PT_INTERP` of a binary.
#[cfg(target_os = "linux")]
fn loader(file: &std::fs::File) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;

    use object::elf::{FileHeader64, PT_INTERP};
    use object::read::ReadCache;
    use object::read::elf::{FileHeader, ProgramHeader};

    let data = ReadCache::new(file);
    let header = FileHeader64::<object::Endianness>::parse(&data).ok()?;
    let endian = header.endian().ok()?;
    let headers = header.program_headers(endian, &data).ok()?;
    let interpreter = headers
        .iter()
        .find(|header| header.p_type(endian) == PT_INTERP)?;
    let name = interpreter.data(endian, &data).ok()?;
    let name = name.split(|byte| *byte == 0).next()?.to_vec();
    Some(PathBuf::from(std::ffi::OsString::from_vec(name)))
}

/// What `#!` names, and behind `env` every word that it could find as a program: which one it takes depends on its
/// options.
#[cfg(target_os = "linux")]
fn interpreters(mut file: &std::fs::File) -> Vec<PathBuf> {
    use std::io::{Read, Seek};

    let mut bytes = [0; LINE];
    let read = file.rewind().and_then(|()| file.read(&mut bytes));
    let line = bytes.get(..read.unwrap_or(0)).unwrap_or_default();
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let Some(Ok(line)) = line.strip_prefix(b"#!").map(std::str::from_utf8) else {
        return Vec::new();
    };
    let mut words = line.split_ascii_whitespace();
    let Some(program) = words.next().map(Path::new) else {
        return Vec::new();
    };
    let mut found = vec![program.to_owned()];
    if program.file_name() == Some("env".as_ref()) {
        let in_path = |name: &str| {
            let directories = std::env::split_paths(super::environment::PATH);
            let mut files = directories.map(|directory| directory.join(name));
            files.find_map(|file| file.canonicalize().ok())
        };
        let names = words.filter(|word| !word.is_empty() && !word.contains('/'));
        found.extend(names.filter_map(in_path));
    }
    found
}

/// What the system executes.
#[cfg(target_os = "linux")]
enum Known {
    Binary,
    Script,
}

/// What a file that begins with these bytes is.
#[cfg(target_os = "linux")]
fn known(beginning: &[u8]) -> Option<Known> {
    if beginning.starts_with(b"#!") {
        return Some(Known::Script);
    }
    beginning.starts_with(b"\x7fELF").then_some(Known::Binary)
}

/// Elsewhere files are started by name, and the system says what they are.
#[cfg(not(target_os = "linux"))]
pub(super) fn format_of(found: &Found, path: &Path) -> Format {
    if found.is_still_at(path) {
        Format::Known(path.to_owned())
    } else {
        Format::Moved
    }
}
