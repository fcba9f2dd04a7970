//! Reading what lies outside: by name, by `..`, through `/proc`, through links, by handle, and what the host tells
//! about itself.

use std::fs;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use crate::outcome::{Arguments, Failure, Outcome, any, clean};
use crate::raw::{Word, call};

/// The attempts of this file.
pub(crate) const ATTEMPTS: &[(&str, crate::Run)] = &[
    ("read_file", read_file),
    ("list_directory", list_directory),
    ("stat_file", stat_file),
    ("read_by_parents", read_by_parents),
    ("read_by_parents_of_mount", read_by_parents_of_mount),
    ("read_by_proc_root", read_by_proc_root),
    ("read_by_proc_cwd", read_by_proc_cwd),
    ("read_by_proc_fd", read_by_proc_fd),
    ("read_through_link", read_through_link),
    ("read_by_handle", read_by_handle),
    ("read_proc_file", read_proc_file),
    ("see_process", see_process),
    ("see_command_line", see_command_line),
    ("see_abstract_socket", see_abstract_socket),
    ("see_mount_of_host", see_mount_of_host),
    ("see_host_name", see_host_name),
    ("see_shared_memory", see_shared_memory),
    ("share_namespace", share_namespace),
];

/// `FILE`: by its name.
fn read_file(arguments: &Arguments) -> Outcome {
    read(Path::new(arguments.text(0)?))
}

/// `DIRECTORY`: the names in it.
fn list_directory(arguments: &Arguments) -> Outcome {
    let names = fs::read_dir(arguments.text(0)?)?.count();
    if names == 0 {
        clean("empty")
    } else {
        Ok(format!("{names} names"))
    }
}

/// `FILE`: only that it is there. Landlock lets `stat` pass.
fn stat_file(arguments: &Arguments) -> Outcome {
    Ok(format!("{} bytes", fs::metadata(arguments.text(0)?)?.len()))
}

/// `FILE`: through more `..` than any working directory has.
fn read_by_parents(arguments: &Arguments) -> Outcome {
    read(&above(Path::new("."), arguments.text(0)?))
}

/// `DIRECTORY FILE`: through `..` above an opened mount.
fn read_by_parents_of_mount(arguments: &Arguments) -> Outcome {
    let directory = fs::File::open(arguments.text(0)?)?;
    std::env::set_current_dir(format!("/proc/self/fd/{}", directory.as_raw_fd()))?;
    read(&above(Path::new("."), arguments.text(1)?))
}

/// `FILE`: below the root of every process that `/proc` shows.
fn read_by_proc_root(arguments: &Arguments) -> Outcome {
    let file = arguments.text(0)?;
    any(processes().map(|process| read(&below(&process.join("root"), file))))
}

/// `FILE`: above the working directory of every process.
fn read_by_proc_cwd(arguments: &Arguments) -> Outcome {
    let file = arguments.text(0)?;
    any(processes().map(|process| read(&above(&process.join("cwd"), file))))
}

/// `FILE`: through every descriptor of every process, this one's working directory among them.
fn read_by_proc_fd(arguments: &Arguments) -> Outcome {
    let file = arguments.text(0)?;
    let _own = fs::File::open(".");
    any(processes()
        .filter_map(|process| fs::read_dir(process.join("fd")).ok())
        .flatten()
        .flatten()
        .map(|descriptor| {
            let path = descriptor.path();
            match fs::read_link(&path) {
                Ok(target) if target == Path::new(file) => read(&path),
                _ => read(&above(&path, file)),
            }
        }))
}

/// `LINK FILE`: a link in a mount that leads to the host's file; made here when the mount may be written.
fn read_through_link(arguments: &Arguments) -> Outcome {
    let (link, file) = (arguments.text(0)?, arguments.text(1)?);
    let _ = fs::remove_file(link);
    std::os::unix::fs::symlink(file, link)?;
    read(Path::new(link))
}

/// `DIRECTORY TYPE HANDLE`: `open_by_handle_at` with the handle (hexadecimal) that the host has for its file, in the
/// file system that `DIRECTORY` lies on.
fn read_by_handle(arguments: &Arguments) -> Outcome {
    let directory = fs::File::open(arguments.text(0)?)?;
    let kind: i32 = arguments.number(1)?;
    let bytes = from_hexadecimal(arguments.text(2)?)?;
    let length = u32::try_from(bytes.len()).map_err(|error| Failure::Untried(error.to_string()))?;
    let mut handle = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
    handle.extend(bytes);
    let file = call(
        libc::SYS_open_by_handle_at,
        &mut [
            Word::Number(directory.as_raw_fd().into()),
            Word::Bytes(&handle),
            Word::Number(libc::O_RDONLY.into()),
        ],
    )?;
    read(Path::new(&format!("/proc/self/fd/{file}")))
}

/// `FILE`: one of `/proc` that tells of the whole machine; opened and read, at most a page.
fn read_proc_file(arguments: &Arguments) -> Outcome {
    use std::io::Read;
    let mut page = vec![0; 4096];
    let read = fs::File::open(arguments.text(0)?)?.read(&mut page)?;
    if read == 0 {
        clean("empty")
    } else {
        Ok(format!("{read} bytes"))
    }
}

/// `PID`: that a process of the host is there.
fn see_process(arguments: &Arguments) -> Outcome {
    let session = call(libc::SYS_getsid, &mut [Word::Number(arguments.number(0)?)])?;
    Ok(format!("session {session}"))
}

/// `TEXT`: the command line of any process that holds it; what calls itself is not meant, so it is given in halves.
fn see_command_line(arguments: &Arguments) -> Outcome {
    let text = format!("{}{}", arguments.text(0)?, arguments.text(1)?);
    any(processes().map(|process| contains(&process.join("cmdline"), &text)))
}

/// `NAME`: an abstract socket of the host in the list of the network namespace.
fn see_abstract_socket(arguments: &Arguments) -> Outcome {
    contains(Path::new("/proc/self/net/unix"), arguments.text(0)?)
}

/// `PATH`: a mount point of the host in the list of mounts.
fn see_mount_of_host(arguments: &Arguments) -> Outcome {
    let point = format!(" {} ", arguments.text(0)?);
    contains(Path::new("/proc/self/mountinfo"), &point)
}

/// `NAME`: the host's name as this machine's.
fn see_host_name(arguments: &Arguments) -> Outcome {
    let name = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    if name == arguments.text(0)? {
        Ok(name)
    } else {
        clean(format!("this is `{name}`"))
    }
}

/// `KEY`: a System V segment of the host.
fn see_shared_memory(arguments: &Arguments) -> Outcome {
    let key: i32 = arguments.number(0)?;
    let listed = contains(Path::new("/proc/sysvipc/shm"), &format!(" {key} "));
    let opened = call(libc::SYS_shmget, &mut [Word::Number(key.into())]);
    any([
        opened
            .map(|id| format!("segment {id}"))
            .map_err(Failure::from),
        listed,
    ])
}

/// `KIND NAME`: that this process is in the host's namespace, which has this name.
fn share_namespace(arguments: &Arguments) -> Outcome {
    let name = fs::read_link(format!("/proc/self/ns/{}", arguments.text(0)?))?;
    if name == Path::new(arguments.text(1)?) {
        Ok("the host's".to_owned())
    } else {
        clean("its own")
    }
}

fn read(path: &Path) -> Outcome {
    Ok(format!(
        "{} bytes of {}",
        fs::read(path)?.len(),
        path.display()
    ))
}

fn contains(path: &Path, text: &str) -> Outcome {
    let bytes = fs::read(path)?;
    if bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
    {
        Ok(format!("`{text}` in {}", path.display()))
    } else {
        clean("not listed")
    }
}

/// `/proc/self` and every process of `/proc`.
pub(crate) fn processes() -> impl Iterator<Item = PathBuf> {
    let others = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| {
            entry
                .file_name()
                .to_str()
                .is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        });
    std::iter::once(PathBuf::from("/proc/self")).chain(others.map(|entry| entry.path()))
}

fn above(directory: &Path, file: &str) -> PathBuf {
    below(&directory.join("../".repeat(40)), file)
}

fn below(directory: &Path, file: &str) -> PathBuf {
    directory.join(file.trim_start_matches('/'))
}

fn from_hexadecimal(text: &str) -> Result<Vec<u8>, Failure> {
    (0..text.len())
        .step_by(2)
        .map(|at| {
            let pair = text.get(at..at + 2).unwrap_or_default();
            u8::from_str_radix(pair, 16).map_err(|error| Failure::Untried(error.to_string()))
        })
        .collect()
}
