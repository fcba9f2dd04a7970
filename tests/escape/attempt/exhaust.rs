//! Using up what the host has: processes, threads, descriptors, disk, files, output, time.
//!
//! Each stops at the number it is given, which is above the limit that the jail has.

use std::fs;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use crate::outcome::{Arguments, Failure, Outcome, any, clean};
use crate::raw::{Side, Word, call, fork, ignore, wait};

/// The attempts of this file.
pub(crate) const ATTEMPTS: &[(&str, crate::Run)] = &[
    ("fork_many", fork_many),
    ("fork_deep", fork_deep),
    ("start_threads", start_threads),
    ("open_descriptors", open_descriptors),
    ("raise_limit", raise_limit),
    ("fill_directory", fill_directory),
    ("make_files", make_files),
    ("write_large_file", write_large_file),
    ("extend_file", extend_file),
    ("flood_output", flood_output),
    ("burn_processor", burn_processor),
    ("sleep", sleep),
    ("dump_core", dump_core),
    ("feed_core_handler", feed_core_handler),
];

static BLOCK: [u8; 65536] = [7; 65536];

/// `COUNT`: children that are all alive at once.
fn fork_many(arguments: &Arguments) -> Outcome {
    let count: usize = arguments.number(0)?;
    let mut children = Vec::new();
    let mut refused = None;
    while children.len() < count {
        match fork() {
            Ok(Side::Child) => {
                std::thread::sleep(Duration::from_secs(3));
                std::process::exit(0);
            }
            Ok(Side::Parent(child)) => children.push(child),
            Err(errno) => {
                refused = Some(errno);
                break;
            }
        }
    }
    // Longer than the host may take to look.
    std::thread::sleep(Duration::from_millis(300));
    for child in &children {
        call(
            libc::SYS_kill,
            &mut [
                Word::Number((*child).into()),
                Word::Number(libc::SIGKILL.into()),
            ],
        )?;
        wait(*child)?;
    }
    refused.map_or_else(
        || Ok(format!("{count} children")),
        |errno| Err(errno.into()),
    )
}

/// `COUNT`: each child forks the next, so that no process has many; all are alive when the last one is.
fn fork_deep(arguments: &Arguments) -> Outcome {
    let count: usize = arguments.number(0)?;
    let (mut reader, mut writer) = std::io::pipe()?;
    if let Side::Parent(first) = fork()? {
        drop(writer);
        let mut text = String::new();
        std::io::Read::read_to_string(&mut reader, &mut text)?;
        wait(first)?;
        let deep = text.len();
        return if deep == count {
            Ok(format!("{count} deep"))
        } else {
            clean("the chain ends before")
        };
    }
    drop(reader);
    for _ in 1..count {
        writer.write_all(b".")?;
        match fork() {
            Ok(Side::Child) => {}
            Ok(Side::Parent(next)) => {
                wait(next)?;
                std::process::exit(0);
            }
            Err(_) => std::process::exit(1),
        }
    }
    // Longer than the host may take to look.
    std::thread::sleep(Duration::from_millis(300));
    writer.write_all(b".")?;
    std::process::exit(0)
}

/// `COUNT`: threads that all live at once.
fn start_threads(arguments: &Arguments) -> Outcome {
    let count: usize = arguments.number(0)?;
    for _ in 0..count {
        std::thread::Builder::new()
            .stack_size(16384)
            .spawn(|| std::thread::sleep(Duration::from_secs(3)))?;
    }
    std::thread::sleep(Duration::from_millis(300));
    Ok(format!("{count} threads"))
}

/// `COUNT`: descriptors of this process.
fn open_descriptors(arguments: &Arguments) -> Outcome {
    let count: usize = arguments.number(0)?;
    let files = (0..count)
        .map(|_| fs::File::open("/dev/null"))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(format!("{} descriptors", files.len()))
}

/// `RESOURCE VALUE`: a hard limit, raised.
fn raise_limit(arguments: &Arguments) -> Outcome {
    let resource: i64 = arguments.number(0)?;
    let value: u64 = arguments.number(1)?;
    let limit = crate::mounts::structure(&[value, value]);
    call(
        libc::SYS_prlimit64,
        &mut [
            Word::Null,
            Word::Number(resource),
            Word::Bytes(&limit),
            Word::Null,
        ],
    )?;
    Ok("raised".to_owned())
}

/// `BYTES DIRECTORY…`: as many bytes in any of the directories; removed afterwards.
fn fill_directory(arguments: &Arguments) -> Outcome {
    ignore(libc::SIGXFSZ);
    let bytes: usize = arguments.number(0)?;
    any(arguments.0.iter().skip(1).map(|directory| {
        let mut left = bytes;
        let mut made = Vec::new();
        let mut fill = || {
            // In files of 4 MiB, so that the limit of one file is not what stops it.
            while left > 0 {
                let path = format!("{directory}/fill-{left}");
                let mut file = fs::File::create(&path)?;
                made.push(path);
                for _ in 0..64 {
                    file.write_all(&BLOCK)?;
                    left = left.saturating_sub(BLOCK.len());
                }
            }
            Ok(format!("{bytes} bytes in {directory}"))
        };
        let outcome = fill();
        made.iter().for_each(|path| drop(fs::remove_file(path)));
        outcome
    }))
}

/// `COUNT DIRECTORY`: empty files; removed afterwards.
fn make_files(arguments: &Arguments) -> Outcome {
    let count: usize = arguments.number(0)?;
    let directory = arguments.text(1)?;
    let path = |number: usize| format!("{directory}/file-{number}");
    let made = (0..count).try_for_each(|number| fs::File::create(path(number)).map(drop));
    (0..count).for_each(|number| drop(fs::remove_file(path(number))));
    made?;
    Ok(format!("{count} files"))
}

/// `BYTES FILE`: written from its start.
fn write_large_file(arguments: &Arguments) -> Outcome {
    ignore(libc::SIGXFSZ);
    let bytes: usize = arguments.number(0)?;
    let mut file = fs::File::create(arguments.text(1)?)?;
    for _ in 0..bytes.div_ceil(BLOCK.len()) {
        file.write_all(&BLOCK)?;
    }
    Ok(format!("{bytes} bytes"))
}

/// `OFFSET FILE`: one byte far out, by every call that makes a file longer.
fn extend_file(arguments: &Arguments) -> Outcome {
    ignore(libc::SIGXFSZ);
    let offset: u64 = arguments.number(0)?;
    let file = fs::File::create(arguments.text(1)?)?;
    any([
        file.set_len(offset).map(|()| "extended"),
        file.write_at(b"x", offset).map(|_| "written far out"),
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), offset, 1)
            .map(|()| "allocated")
            .map_err(std::io::Error::from),
    ]
    .map(|way| way.map(str::to_owned).map_err(Failure::from)))
}

/// `BYTES`: to stdout.
fn flood_output(arguments: &Arguments) -> Outcome {
    ignore(libc::SIGXFSZ);
    let bytes: usize = arguments.number(0)?;
    let mut stdout = std::io::stdout();
    for _ in 0..bytes.div_ceil(BLOCK.len()) {
        stdout.write_all(&BLOCK)?;
    }
    stdout.flush()?;
    Ok(format!("{bytes} bytes"))
}

/// `MILLISECONDS`: of the processor.
fn burn_processor(arguments: &Arguments) -> Outcome {
    let budget = Duration::from_millis(arguments.number(0)?);
    let used = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Duration::try_from(time).unwrap_or_default()
    };
    while used() < budget {
        std::hint::spin_loop();
    }
    Ok(format!("{budget:?} used"))
}

/// `MILLISECONDS`
fn sleep(arguments: &Arguments) -> Outcome {
    let duration = Duration::from_millis(arguments.number(0)?);
    let start = Instant::now();
    // SIGTERM is not the end of it.
    ignore(libc::SIGTERM);
    while start.elapsed() < duration {
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(format!("{duration:?} slept"))
}

/// `DIRECTORY`: the memory of a child in a file there.
fn dump_core(arguments: &Arguments) -> Outcome {
    std::env::set_current_dir(arguments.text(0)?)?;
    let limit = crate::mounts::structure(&[1 << 24, 1 << 24]);
    // RLIMIT_CORE
    call(
        libc::SYS_prlimit64,
        &mut [Word::Null, Word::Number(4), Word::Bytes(&limit), Word::Null],
    )?;
    match fork()? {
        Side::Child => std::process::abort(),
        Side::Parent(child) => {
            let status = wait(child)?;
            if libc::WCOREDUMP(status) {
                Ok("core dumped".to_owned())
            } else {
                clean("no core")
            }
        }
    }
}

/// Whether a handler of core dumps, if the host's `core_pattern` starts one, would be started as the host's root with
/// this process's memory. The kernel asks the limit for files only; for handlers there is one value that stops it, 1.
fn feed_core_handler(_: &Arguments) -> Outcome {
    let mut limit = [0_u8; 16];
    call(
        libc::SYS_prlimit64,
        &mut [
            Word::Null,
            Word::Number(4),
            Word::Null,
            Word::Room(&mut limit),
        ],
    )?;
    let one = crate::mounts::structure(&[1, 1]);
    if limit.as_slice() == one.as_slice() {
        clean("the limit is 1")
    } else {
        Ok("a handler would get it".to_owned())
    }
}
