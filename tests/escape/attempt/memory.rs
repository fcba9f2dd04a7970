//! Using up memory in every form the kernel has: one's own, shared, in files without a disk, in the kernel's buffers.
//!
//! Each holds what it took for longer than the host may take to look, and stops at the number it is given.

use std::fs;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::outcome::{Arguments, Failure, Outcome, clean};
use crate::raw::{
    Mapping, Side, Word, call, descriptor, fill_segment, fork, give_huge_page, map, map_and_hide,
    map_sparsely, wait,
};

/// The attempts of this file.
pub(crate) const ATTEMPTS: &[(&str, crate::Run)] = &[
    ("take_anonymous", take_anonymous),
    ("take_by_children", take_by_children),
    ("take_behind_ended_threads", take_behind_ended_threads),
    ("take_shared", take_shared),
    ("take_shared_zero", take_shared_zero),
    ("take_memfd", take_memfd),
    ("take_memfd_unmapped", take_memfd_unmapped),
    ("take_secret", take_secret),
    ("take_segment", take_segment),
    ("take_pipes", take_pipes),
    ("take_sockets", take_sockets),
    ("take_spliced", take_spliced),
    ("take_truncated_by_splice", take_truncated_by_splice),
    ("take_truncated_by_sendfile", take_truncated_by_sendfile),
    ("take_page_tables", take_page_tables),
    ("lock", lock),
];

const WRITABLE: i32 = libc::PROT_READ | libc::PROT_WRITE;
const ANONYMOUS: i32 = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;

/// `BYTES`: private memory, written.
fn take_anonymous(arguments: &Arguments) -> Outcome {
    map(
        Mapping {
            protection: WRITABLE,
            flags: ANONYMOUS,
            file: -1,
        },
        arguments.number(0)?,
    )?;
    hold(arguments)
}

/// `BYTES COUNT`: in as many children, each below the limit of one process.
fn take_by_children(arguments: &Arguments) -> Outcome {
    let count: usize = arguments.number(1)?;
    let each = arguments
        .number::<usize>(0)?
        .checked_div(count)
        .unwrap_or_default();
    let mut children = Vec::new();
    for _ in 0..count {
        match fork()? {
            Side::Child => {
                let taken = map(
                    Mapping {
                        protection: WRITABLE,
                        flags: ANONYMOUS,
                        file: -1,
                    },
                    each,
                );
                std::thread::sleep(Duration::from_secs(1));
                std::process::exit(i32::from(taken.is_err()));
            }
            Side::Parent(child) => children.push(child),
        }
    }
    for child in children {
        if wait(child)? != 0 {
            return clean("a child got none");
        }
    }
    Ok(format!("{count} × {each} bytes"))
}

/// `BYTES COUNT`: in children whose first thread has ended, so that what `/proc` says of the process is nothing.
fn take_behind_ended_threads(arguments: &Arguments) -> Outcome {
    let count: usize = arguments.number(1)?;
    let each = arguments
        .number::<usize>(0)?
        .checked_div(count)
        .unwrap_or_default();
    let mut children = Vec::new();
    for _ in 0..count {
        match fork()? {
            Side::Child => {
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(20));
                    let taken = map(
                        Mapping {
                            protection: WRITABLE,
                            flags: ANONYMOUS,
                            file: -1,
                        },
                        each,
                    );
                    std::thread::sleep(Duration::from_secs(1));
                    std::process::exit(i32::from(taken.is_err()));
                });
                // The thread's own end, not the process's.
                call(libc::SYS_exit, &mut [Word::Null])?;
            }
            Side::Parent(child) => children.push(child),
        }
    }
    for child in children {
        if wait(child)? != 0 {
            return clean("a child got none");
        }
    }
    Ok(format!("{count} × {each} bytes"))
}

/// `BYTES`: memory shared with nobody, which is no data of this process, and is let go of without being freed.
fn take_shared(arguments: &Arguments) -> Outcome {
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
    map_and_hide(
        Mapping {
            protection: WRITABLE,
            flags,
            file: -1,
        },
        arguments.number(0)?,
    )?;
    hold(arguments)
}

/// `BYTES`: the same by a shared mapping of `/dev/zero`, for which reading is enough.
fn take_shared_zero(arguments: &Arguments) -> Outcome {
    let zero = fs::File::open("/dev/zero")?;
    let mapping = Mapping {
        protection: libc::PROT_READ,
        flags: libc::MAP_SHARED,
        file: zero.as_raw_fd(),
    };
    map_and_hide(mapping, arguments.number(0)?)?;
    hold(arguments)
}

/// `BYTES`: a file in memory, mapped.
fn take_memfd(arguments: &Arguments) -> Outcome {
    let file = memfd()?;
    let bytes: usize = arguments.number(0)?;
    file.set_len(u64::try_from(bytes).unwrap_or_default())?;
    map(
        Mapping {
            protection: WRITABLE,
            flags: libc::MAP_SHARED,
            file: file.as_raw_fd(),
        },
        bytes,
    )?;
    hold(arguments)
}

/// `BYTES`: files in memory, written and never mapped, each smaller than a file may be.
fn take_memfd_unmapped(arguments: &Arguments) -> Outcome {
    let bytes: usize = arguments.number(0)?;
    let mut files = Vec::new();
    for _ in 0..bytes.div_ceil(1 << 22) {
        let mut file = memfd()?;
        file.write_all(&vec![7; 1 << 22])?;
        files.push(file);
    }
    hold(arguments)
}

/// `BYTES`: memory that even the kernel does not map.
fn take_secret(arguments: &Arguments) -> Outcome {
    let file = descriptor(call(libc::SYS_memfd_secret, &mut []))?;
    let bytes: usize = arguments.number(0)?;
    fs::File::from(file.try_clone()?).set_len(u64::try_from(bytes).unwrap_or_default())?;
    map(
        Mapping {
            protection: WRITABLE,
            flags: libc::MAP_SHARED,
            file: file.as_raw_fd(),
        },
        bytes,
    )?;
    hold(arguments)
}

/// `BYTES`: a System V segment, detached.
fn take_segment(arguments: &Arguments) -> Outcome {
    let bytes: usize = arguments.number(0)?;
    let size = Word::Number(arguments.number(0)?);
    let id = call(
        libc::SYS_shmget,
        &mut [Word::Null, size, Word::Number(0o600)],
    )?;
    let id = i32::try_from(id).map_err(|error| Failure::Untried(error.to_string()))?;
    let filled = fill_segment(id, bytes);
    let held = hold(arguments);
    call(
        libc::SYS_shmctl,
        &mut [Word::Number(id.into()), Word::Number(libc::IPC_RMID.into())],
    )?;
    filled?;
    held
}

/// `BYTES`: in the buffers of pipes.
fn take_pipes(arguments: &Arguments) -> Outcome {
    let bytes: usize = arguments.number(0)?;
    let mut pipes = Vec::new();
    let mut left = bytes;
    while left > 0 {
        let (reader, mut writer) = std::io::pipe()?;
        let size = rustix::pipe::fcntl_setpipe_size(&writer, 1 << 20).unwrap_or(4096);
        writer.write_all(&vec![7; size])?;
        left = left.saturating_sub(size);
        pipes.push((reader, writer));
    }
    hold(arguments)
}

/// `BYTES`: in the buffers of sockets.
fn take_sockets(arguments: &Arguments) -> Outcome {
    let bytes: usize = arguments.number(0)?;
    let mut pairs = Vec::new();
    let mut left = bytes;
    while left > 0 {
        let (near, far) = UnixStream::pair()?;
        for mut end in [&near, &far] {
            end.set_nonblocking(true)?;
            while let Ok(written) = end.write(&[7; 65536]) {
                left = left.saturating_sub(written);
            }
        }
        pairs.push((near, far));
    }
    hold(arguments)
}

/// `BYTES`: huge pages of which one small page is given to a pipe each, and which are let go of then: the pipe holds
/// the whole of them, and no process has them.
fn take_spliced(arguments: &Arguments) -> Outcome {
    let bytes: usize = arguments.number(0)?;
    let mut pipes = Vec::new();
    for _ in 0..bytes.div_ceil(32 << 20) {
        let (reader, writer) = std::io::pipe()?;
        // A pipe has room for 16 pages.
        for _ in 0..16 {
            give_huge_page(writer.as_raw_fd())?;
        }
        pipes.push((reader, writer));
    }
    hold(arguments)
}

/// `BYTES DIRECTORY`: large pages of a file, given to a pipe in the same way, after which the file is truncated.
fn take_truncated_by_splice(arguments: &Arguments) -> Outcome {
    take_truncated(arguments, |file, pipe| {
        let (file, pipe) = (Word::Number(file.into()), Word::Number(pipe.into()));
        let mut offset = [0; 8];
        let words = &mut [
            file,
            Word::Room(&mut offset),
            pipe,
            Word::Null,
            Word::Number(4096),
        ];
        call(libc::SYS_splice, words)
    })
}

/// `BYTES DIRECTORY`: the same by `sendfile`, which does what `splice` does.
fn take_truncated_by_sendfile(arguments: &Arguments) -> Outcome {
    take_truncated(arguments, |file, pipe| {
        let (file, pipe) = (Word::Number(file.into()), Word::Number(pipe.into()));
        let mut offset = [0; 8];
        let words = &mut [pipe, file, Word::Room(&mut offset), Word::Number(4096)];
        call(libc::SYS_sendfile, words)
    })
}

fn take_truncated(
    arguments: &Arguments,
    give: impl Fn(i32, i32) -> Result<i64, crate::outcome::Errno>,
) -> Outcome {
    let bytes: usize = arguments.number(0)?;
    let path = format!("{}/truncated", arguments.text(1)?);
    let mut options = fs::OpenOptions::new();
    let file = options
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path)?;
    fs::remove_file(path)?;
    let large = vec![7; 2 << 20];
    let mut pipes = Vec::new();
    for _ in 0..bytes.div_ceil(32 << 20) {
        let (reader, writer) = std::io::pipe()?;
        for _ in 0..16 {
            std::os::unix::fs::FileExt::write_all_at(&file, &large, 0)?;
            give(file.as_raw_fd(), writer.as_raw_fd())?;
            file.set_len(0)?;
        }
        pipes.push((reader, writer));
    }
    hold(arguments)
}

/// `BYTES`: in the tables of pages: one page of 2 MiB is read, which needs no memory but its table.
fn take_page_tables(arguments: &Arguments) -> Outcome {
    let tables = arguments.number::<usize>(0)?.div_ceil(4096);
    let flags = ANONYMOUS | libc::MAP_NORESERVE;
    map_sparsely(
        Mapping {
            protection: libc::PROT_READ,
            flags,
            file: -1,
        },
        tables << 21,
    )?;
    hold(arguments)
}

/// `BYTES`: memory that cannot be swapped.
fn lock(arguments: &Arguments) -> Outcome {
    call(
        libc::SYS_mlockall,
        &mut [Word::Number((libc::MCL_CURRENT | libc::MCL_FUTURE).into())],
    )?;
    take_anonymous(arguments)
}

fn memfd() -> Result<fs::File, Failure> {
    Ok(fs::File::from(descriptor(call(
        libc::SYS_memfd_create,
        &mut [Word::Text(c"jail")],
    ))?))
}

fn hold(arguments: &Arguments) -> Outcome {
    std::thread::sleep(Duration::from_secs(1));
    Ok(format!("{} bytes held", arguments.text(0)?))
}
