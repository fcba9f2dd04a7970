//! Executing what may not be executed: files from writable directories and programs that were not named.

use std::ffi::CString;
use std::fs;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::outcome::{Arguments, Failure, Outcome, clean};
use crate::raw::{Mapping, Word, call, descriptor, in_child, map};

/// The attempts of this file. `PROGRAM` is one that answers with status 0 to no arguments, such as `true`.
pub(crate) const ATTEMPTS: &[(&str, crate::Run)] = &[
    ("execute", execute),
    ("execute_copy", execute_copy),
    ("execute_script", execute_script),
    ("execute_by_loader", execute_by_loader),
    ("execute_copy_by_loader", execute_copy_by_loader),
    ("execute_memory_file", execute_memory_file),
    ("execute_open_file", execute_open_file),
    ("map_copy_executable", map_copy_executable),
];

/// `PROGRAM`: by its path.
fn execute(arguments: &Arguments) -> Outcome {
    run(Command::new(arguments.text(0)?))
}

/// `PROGRAM DIRECTORY`: copied to where files may be written.
fn execute_copy(arguments: &Arguments) -> Outcome {
    let copy = copy(arguments)?;
    run(Command::new(copy.path()))
}

/// `INTERPRETER DIRECTORY`: a script that is written there.
fn execute_script(arguments: &Arguments) -> Outcome {
    let path = Path::new(arguments.text(1)?).join("script");
    fs::write(&path, format!("#!{}\n", arguments.text(0)?))?;
    let script = Written(path);
    fs::set_permissions(script.path(), fs::Permissions::from_mode(0o755))?;
    run(Command::new(script.path()))
}

/// `PROGRAM LOADER`: a program that was not named, read by the loader, which is.
fn execute_by_loader(arguments: &Arguments) -> Outcome {
    let mut loader = Command::new(arguments.text(1)?);
    loader.arg(arguments.text(0)?);
    run(loader)
}

/// `PROGRAM DIRECTORY LOADER`: a copy, read by the loader.
fn execute_copy_by_loader(arguments: &Arguments) -> Outcome {
    let copy = copy(arguments)?;
    let mut loader = Command::new(arguments.text(2)?);
    loader.arg(copy.path());
    run(loader)
}

/// `PROGRAM`: copied into a file that only memory holds.
fn execute_memory_file(arguments: &Arguments) -> Outcome {
    let memory = descriptor(call(libc::SYS_memfd_create, &mut [Word::Text(c"jail")]))?;
    let mut file = fs::File::from(memory);
    file.write_all(&fs::read(arguments.text(0)?)?)?;
    execute_descriptor(&file)
}

/// `PROGRAM DIRECTORY`: a copy by its descriptor, without a path.
fn execute_open_file(arguments: &Arguments) -> Outcome {
    let copy = copy(arguments)?;
    execute_descriptor(&fs::File::open(copy.path())?)
}

/// `PROGRAM DIRECTORY`: a copy mapped as code, as a loader or `dlopen` does.
fn map_copy_executable(arguments: &Arguments) -> Outcome {
    let copy = copy(arguments)?;
    let file = fs::File::open(copy.path())?;
    let protection = libc::PROT_READ | libc::PROT_EXEC;
    map(
        Mapping {
            protection,
            flags: libc::MAP_PRIVATE,
            file: file.as_raw_fd(),
        },
        4096,
    )?;
    Ok("mapped".to_owned())
}

fn execute_descriptor(file: &fs::File) -> Outcome {
    // argv: one name and the null that ends it; no environment.
    let name = c"true";
    let name_at = u64::try_from(name.as_ptr().expose_provenance()).unwrap_or_default();
    let argv = crate::mounts::structure(&[name_at, 0]);
    let execveat = |file: i64| {
        let flags = Word::Number(libc::AT_EMPTY_PATH.into());
        let words = &mut [
            Word::Number(file),
            Word::Text(c""),
            Word::Bytes(&argv),
            Word::Null,
            flags,
        ];
        call(libc::SYS_execveat, words)
    };
    let number = file.as_raw_fd().into();
    let mut errno = None;
    let (mut reader, writer) = std::io::pipe()?;
    let ran = in_child(|| {
        if let Err(refused) = execveat(number) {
            drop((&writer).write_all(&refused.0.to_ne_bytes()));
        }
        false
    })?;
    drop(writer);
    let mut bytes = [0; 4];
    if std::io::Read::read_exact(&mut reader, &mut bytes).is_ok() {
        errno = Some(crate::outcome::Errno(i32::from_ne_bytes(bytes)));
    }
    match errno {
        Some(errno) => Err(errno.into()),
        None if ran => Ok("executed".to_owned()),
        None => clean("it failed"),
    }
}

fn run(mut command: Command) -> Outcome {
    if command.status()?.success() {
        Ok("executed".to_owned())
    } else {
        clean("it failed")
    }
}

/// A file that is removed in the end.
struct Written(std::path::PathBuf);

impl Written {
    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn copy(arguments: &Arguments) -> Result<Written, Failure> {
    let path = Path::new(arguments.text(1)?).join("copy");
    fs::write(&path, fs::read(arguments.text(0)?)?)?;
    let written = Written(path);
    let name = CString::new(written.path().as_os_str().as_bytes())
        .map_err(|error| Failure::Untried(error.to_string()))?;
    let mode = Word::Number(0o755);
    call(
        libc::SYS_fchmodat,
        &mut [Word::Number(libc::AT_FDCWD.into()), Word::Text(&name), mode],
    )?;
    Ok(written)
}
