//! Doors into the kernel: keyrings, rings, programs, faults, events, modules, other tables of system calls, devices.

use std::fs;

use crate::outcome::{Arguments, Errno, Failure, Outcome, any};
use crate::raw::{Word, call};

/// The attempts of this file.
pub(crate) const ATTEMPTS: &[(&str, crate::Run)] = &[
    ("add_key", add_key),
    ("keyctl", keyctl),
    ("request_key", request_key),
    ("io_uring", io_uring),
    ("bpf", bpf),
    ("userfaultfd", userfaultfd),
    ("perf_event", perf_event),
    ("fanotify", fanotify),
    ("kexec", kexec),
    ("load_module", load_module),
    ("unload_module", unload_module),
    ("personality", personality),
    ("kernel_log", kernel_log),
    ("name_to_handle", name_to_handle),
    ("system_call_of_32_bits", system_call_of_32_bits),
    ("system_call_of_x32", system_call_of_x32),
    ("open_device", open_device),
    ("make_device", make_device),
    ("ports", ports),
];

/// Into the keyring of the session.
fn add_key(_: &Arguments) -> Outcome {
    let words = &mut [
        Word::Text(c"user"),
        Word::Text(c"hydrant-jail"),
        Word::Bytes(b"secret"),
        Word::Number(6),
        // KEY_SPEC_PROCESS_KEYRING, which ends with this process.
        Word::Number(-2),
    ];
    Ok(format!("key {}", call(libc::SYS_add_key, words)?))
}

/// KEYCTL_GET_KEYRING_ID of the user's keyring, which is the host's.
fn keyctl(_: &Arguments) -> Outcome {
    let ring = call(
        libc::SYS_keyctl,
        &mut [Word::Null, Word::Number(-4), Word::Number(1)],
    )?;
    Ok(format!("keyring {ring}"))
}

/// A key that nobody has; past the filter the answer is `ENOKEY`.
fn request_key(_: &Arguments) -> Outcome {
    let words = &mut [
        Word::Text(c"user"),
        Word::Text(c"hydrant-none"),
        Word::Null,
        Word::Null,
    ];
    reached(call(libc::SYS_request_key, words), libc::ENOKEY)
}

fn io_uring(_: &Arguments) -> Outcome {
    let mut parameters = [0; 120];
    let ring = call(
        libc::SYS_io_uring_setup,
        &mut [Word::Number(1), Word::Room(&mut parameters)],
    )?;
    Ok(format!("ring {ring}"))
}

/// BPF_MAP_CREATE of an array of one.
fn bpf(_: &Arguments) -> Outcome {
    let mut attributes = [2_u32, 4, 4, 1].map(u32::to_ne_bytes).concat();
    attributes.resize(128, 0);
    let map = call(
        libc::SYS_bpf,
        &mut [Word::Null, Word::Bytes(&attributes), Word::Number(128)],
    )?;
    Ok(format!("map {map}"))
}

/// With and without UFFD_USER_MODE_ONLY.
fn userfaultfd(_: &Arguments) -> Outcome {
    any([0, 1].map(|flags| {
        let faults = call(libc::SYS_userfaultfd, &mut [Word::Number(flags)])?;
        Ok(format!("descriptor {faults}"))
    }))
}

/// PERF_COUNT_SW_TASK_CLOCK of this process, without the kernel.
fn perf_event(_: &Arguments) -> Outcome {
    // type PERF_TYPE_SOFTWARE, size, config 1; the bits exclude_kernel and exclude_hv.
    let mut attributes = [1_u32, 128, 1, 0].map(u32::to_ne_bytes).concat();
    attributes.resize(128, 0);
    attributes[40] = 0b0110_0000;
    let words = &mut [
        Word::Bytes(&attributes),
        Word::Null,
        Word::Number(-1),
        Word::Number(-1),
        Word::Null,
    ];
    Ok(format!(
        "descriptor {}",
        call(libc::SYS_perf_event_open, words)?
    ))
}

/// FAN_CLASS_NOTIF, and the kind that needs no privilege.
fn fanotify(_: &Arguments) -> Outcome {
    any([0, 0x200].map(|flags| {
        let group = call(
            libc::SYS_fanotify_init,
            &mut [Word::Number(flags), Word::Null],
        )?;
        Ok(format!("descriptor {group}"))
    }))
}

/// With a flag that no kernel knows, looked at after the right to do it.
fn kexec(_: &Arguments) -> Outcome {
    let words = &mut [Word::Null, Word::Null, Word::Null, Word::Number(0x4000)];
    reached(call(libc::SYS_kexec_load, words), libc::EINVAL)
}

/// Without an image, looked at after the right to do it.
fn load_module(_: &Arguments) -> Outcome {
    let by_memory = call(
        libc::SYS_init_module,
        &mut [Word::Null, Word::Null, Word::Text(c"")],
    );
    let by_file = call(
        libc::SYS_finit_module,
        &mut [Word::Number(-1), Word::Text(c""), Word::Null],
    );
    any([
        reached(by_memory, libc::ENOEXEC),
        reached(by_file, libc::EBADF),
    ])
}

/// One that is not loaded.
fn unload_module(_: &Arguments) -> Outcome {
    let words = &mut [
        Word::Text(c"hydrant_none"),
        Word::Number(libc::O_NONBLOCK.into()),
    ];
    reached(call(libc::SYS_delete_module, words), libc::ENOENT)
}

/// ADDR_NO_RANDOMIZE, for what is executed next.
fn personality(_: &Arguments) -> Outcome {
    let before = call(libc::SYS_personality, &mut [Word::Number(0x0004_0000)])?;
    Ok(format!("was {before:x}"))
}

/// The size of the log and what is in it.
fn kernel_log(_: &Arguments) -> Outcome {
    let mut room = vec![0; 4096];
    // SYSLOG_ACTION_READ_ALL
    let read = call(
        libc::SYS_syslog,
        &mut [Word::Number(3), Word::Room(&mut room), Word::Number(4096)],
    )?;
    Ok(format!("{read} bytes of the log"))
}

/// The first half of an escape by handle.
fn name_to_handle(_: &Arguments) -> Outcome {
    let mut handle = [0_u8; 136];
    handle[..4].copy_from_slice(&128_u32.to_ne_bytes());
    let mut mount = [0; 4];
    call(
        libc::SYS_name_to_handle_at,
        &mut [
            Word::Number(libc::AT_FDCWD.into()),
            Word::Text(c"/usr"),
            Word::Room(&mut handle),
            Word::Room(&mut mount),
            Word::Null,
        ],
    )?;
    Ok("a handle".to_owned())
}

/// `getpid` by the 32-bit table.
fn system_call_of_32_bits(_: &Arguments) -> Outcome {
    #[cfg(target_arch = "x86_64")]
    {
        let pid = crate::raw::getpid_of_32_bits();
        if pid == i64::from(std::process::id()) {
            Ok(format!("pid {pid}"))
        } else {
            Err(refused(pid))
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    Err(Failure::Untried(
        "this machine has one table of system calls".to_owned(),
    ))
}

/// `getpid` by the x32 numbers, which many kernels leave out: then there is nothing to try.
fn system_call_of_x32(_: &Arguments) -> Outcome {
    match call(0x4000_0000 | libc::SYS_getpid, &mut []) {
        Ok(pid) => Ok(format!("pid {pid}")),
        Err(Errno(libc::ENOSYS)) => Err(Failure::Untried("ENOSYS".to_owned())),
        Err(errno) => Err(errno.into()),
    }
}

/// `DEVICE…`: any of them.
fn open_device(arguments: &Arguments) -> Outcome {
    arguments.text(0)?;
    any(arguments.0.iter().map(|device| {
        fs::File::open(device)?;
        Ok(format!("{device} is open"))
    }))
}

/// `FILE`: a device node that is `/dev/zero`, made and opened; removed again.
fn make_device(arguments: &Arguments) -> Outcome {
    let path = arguments.c_text(0)?;
    let number = i64::try_from(libc::makedev(1, 5)).unwrap_or_default();
    let mode = Word::Number(i64::from(libc::S_IFCHR | 0o666));
    call(
        libc::SYS_mknodat,
        &mut [
            Word::Number(libc::AT_FDCWD.into()),
            Word::Text(&path),
            mode,
            Word::Number(number),
        ],
    )?;
    let opened = fs::File::open(arguments.text(0)?);
    fs::remove_file(arguments.text(0)?)?;
    opened?;
    Ok("a device of its own".to_owned())
}

/// The machine's input and output ports.
fn ports(_: &Arguments) -> Outcome {
    #[cfg(target_arch = "x86_64")]
    {
        let words = &mut [Word::Number(0x80), Word::Number(1), Word::Number(1)];
        reached(call(libc::SYS_ioperm, words), libc::EIO)
    }
    #[cfg(not(target_arch = "x86_64"))]
    Err(Failure::Untried("this machine has no ports".to_owned()))
}

/// The kernel's answer to a call that it refuses only after it has let the caller make it.
pub(crate) fn reached(answer: Result<i64, Errno>, after: i32) -> Outcome {
    match answer {
        Ok(number) => Ok(number.to_string()),
        Err(errno) if errno.0 == after => {
            Ok(format!("{errno}, after the right to do it was checked"))
        }
        Err(Errno(libc::ENOSYS)) => Err(Failure::Untried("ENOSYS".to_owned())),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(target_arch = "x86_64")]
fn refused(answer: i64) -> Failure {
    i32::try_from(-answer).map_or_else(
        |_| Failure::Clean(answer.to_string()),
        |number| Errno(number).into(),
    )
}
