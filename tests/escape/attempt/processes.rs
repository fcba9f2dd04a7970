//! Other processes: their memory, descriptors, scheduling, and signals to them.

use std::fs;
use std::time::Duration;

use crate::outcome::{Arguments, Outcome, any};
use crate::raw::{Side, Word, call, fork, wait};

/// The attempts of this file. `PID` is a process of the host, the jail's init, or `child`: one forked here.
pub(crate) const ATTEMPTS: &[(&str, crate::Run)] = &[
    ("ptrace_attach", ptrace_attach),
    ("ptrace_seize", ptrace_seize),
    ("read_process_memory", read_process_memory),
    ("write_process_memory", write_process_memory),
    ("open_process_memory", open_process_memory),
    ("take_descriptor", take_descriptor),
    ("compare_processes", compare_processes),
    ("kill", kill),
    ("kill_any", kill_any),
    ("kill_every_process", kill_every_process),
    ("signal_by_pidfd", signal_by_pidfd),
    ("queue_signal", queue_signal),
    ("set_affinity_of", set_affinity_of),
    ("set_priority_of", set_priority_of),
    ("set_limits_of", set_limits_of),
];

const PTRACE_ATTACH: i64 = 16;
const PTRACE_DETACH: i64 = 17;
const PTRACE_SEIZE: i64 = 0x4206;

/// `PID`
fn ptrace_attach(arguments: &Arguments) -> Outcome {
    with(arguments, |pid| {
        call(
            libc::SYS_ptrace,
            &mut [Word::Number(PTRACE_ATTACH), Word::Number(pid)],
        )?;
        let child = i32::try_from(pid).unwrap_or_default();
        wait(child).ok();
        call(
            libc::SYS_ptrace,
            &mut [Word::Number(PTRACE_DETACH), Word::Number(pid)],
        )
        .ok();
        Ok("attached".to_owned())
    })
}

/// `PID`
fn ptrace_seize(arguments: &Arguments) -> Outcome {
    with(arguments, |pid| {
        call(
            libc::SYS_ptrace,
            &mut [Word::Number(PTRACE_SEIZE), Word::Number(pid)],
        )?;
        Ok("seized".to_owned())
    })
}

/// `PID`: bytes at the address where this program's own name lies, which a child shares.
fn read_process_memory(arguments: &Arguments) -> Outcome {
    with(arguments, |pid| {
        let mut room = [0_u8; 8];
        let local = span(room.as_mut_ptr().expose_provenance(), room.len());
        let remote = span(SHARED.as_ptr().expose_provenance(), room.len());
        call(
            libc::SYS_process_vm_readv,
            &mut [
                Word::Number(pid),
                Word::Bytes(&local),
                Word::Number(1),
                Word::Bytes(&remote),
                Word::Number(1),
            ],
        )?;
        Ok("memory read".to_owned())
    })
}

/// `PID`: a byte of its stack; a child's copy, so nothing of this process changes.
fn write_process_memory(arguments: &Arguments) -> Outcome {
    let target = [0_u8; 8];
    with(arguments, |pid| {
        let bytes = *b"written!";
        let local = span(bytes.as_ptr().expose_provenance(), bytes.len());
        let remote = span(target.as_ptr().expose_provenance(), target.len());
        call(
            libc::SYS_process_vm_writev,
            &mut [
                Word::Number(pid),
                Word::Bytes(&local),
                Word::Number(1),
                Word::Bytes(&remote),
                Word::Number(1),
            ],
        )?;
        Ok("memory written".to_owned())
    })
}

/// `PID`: its `/proc/PID/mem`.
fn open_process_memory(arguments: &Arguments) -> Outcome {
    with(arguments, |pid| {
        fs::File::open(format!("/proc/{pid}/mem"))?;
        Ok("memory open".to_owned())
    })
}

/// `PID`: a copy of its first descriptor.
fn take_descriptor(arguments: &Arguments) -> Outcome {
    with(arguments, |pid| {
        let process = call(libc::SYS_pidfd_open, &mut [Word::Number(pid)])?;
        let taken = call(
            libc::SYS_pidfd_getfd,
            &mut [Word::Number(process), Word::Null],
        )?;
        Ok(format!("descriptor {taken}"))
    })
}

/// `PID`: which kernel objects it shares with this one.
fn compare_processes(arguments: &Arguments) -> Outcome {
    with(arguments, |pid| {
        let own = i64::from(std::process::id());
        // KCMP_FS
        let order = call(
            libc::SYS_kcmp,
            &mut [Word::Number(own), Word::Number(pid), Word::Number(3)],
        )?;
        Ok(format!("order {order}"))
    })
}

/// `PID SIGNAL`
fn kill(arguments: &Arguments) -> Outcome {
    call(
        libc::SYS_kill,
        &mut [
            Word::Number(arguments.number(0)?),
            Word::Number(arguments.number(1)?),
        ],
    )?;
    Ok("signalled".to_owned())
}

/// `PID…`: whether any of these can be signalled that is not this process; the signal is 0.
fn kill_any(arguments: &Arguments) -> Outcome {
    let own = std::process::id().to_string();
    any(arguments
        .0
        .iter()
        .enumerate()
        .filter(|(_, pid)| **pid != own)
        .map(|(index, pid)| {
            call(
                libc::SYS_kill,
                &mut [Word::Number(arguments.number(index)?), Word::Null],
            )?;
            Ok(format!("{pid} can be signalled"))
        }))
}

/// Whether `kill(-1)` finds any process; the signal is 0. It answers 0 as well when all that it finds is refused.
fn kill_every_process(_: &Arguments) -> Outcome {
    call(libc::SYS_kill, &mut [Word::Number(-1), Word::Null])?;
    Ok("there are processes to kill".to_owned())
}

/// `PID SIGNAL`
fn signal_by_pidfd(arguments: &Arguments) -> Outcome {
    let process = call(
        libc::SYS_pidfd_open,
        &mut [Word::Number(arguments.number(0)?)],
    )?;
    call(
        libc::SYS_pidfd_send_signal,
        &mut [
            Word::Number(process),
            Word::Number(arguments.number(1)?),
            Word::Null,
            Word::Null,
        ],
    )?;
    Ok("signalled".to_owned())
}

/// `PID SIGNAL`: `tgkill` and `rt_sigqueueinfo`, which are other ways to the same.
fn queue_signal(arguments: &Arguments) -> Outcome {
    let pid = || arguments.number(0).map(Word::Number);
    let signal = || arguments.number(1).map(Word::Number);
    let mut information = [0_u8; 128];
    // si_signo, si_errno, si_code = SI_QUEUE
    let members: [i32; 3] = [arguments.number(1)?, 0, -1];
    for (room, member) in information.chunks_mut(4).zip(members) {
        room.copy_from_slice(&member.to_ne_bytes());
    }
    any([
        call(libc::SYS_tgkill, &mut [pid()?, pid()?, signal()?]),
        call(
            libc::SYS_rt_sigqueueinfo,
            &mut [pid()?, signal()?, Word::Bytes(&information)],
        ),
    ]
    .map(|answer| Ok(answer.map(|_| "signalled".to_owned())?)))
}

/// `PID`: the processors it may run on; any one that is there, so only the right to do it is tested.
fn set_affinity_of(arguments: &Arguments) -> Outcome {
    let pid = arguments.number(0)?;
    let mut mask = [0_u8; 128];
    call(
        libc::SYS_sched_getaffinity,
        &mut [Word::Number(pid), Word::Number(128), Word::Room(&mut mask)],
    )?;
    call(
        libc::SYS_sched_setaffinity,
        &mut [Word::Number(pid), Word::Number(128), Word::Bytes(&mask)],
    )?;
    Ok("affinity set".to_owned())
}

/// `PID`: made as nice as can be.
fn set_priority_of(arguments: &Arguments) -> Outcome {
    call(
        libc::SYS_setpriority,
        &mut [
            Word::Null,
            Word::Number(arguments.number(0)?),
            Word::Number(19),
        ],
    )?;
    Ok("priority set".to_owned())
}

/// `PID`: its limit of core files, set to what it is.
fn set_limits_of(arguments: &Arguments) -> Outcome {
    let pid = arguments.number(0)?;
    let core = || Word::Number(4);
    let mut limit = [0_u8; 16];
    call(
        libc::SYS_prlimit64,
        &mut [
            Word::Number(pid),
            core(),
            Word::Null,
            Word::Room(&mut limit),
        ],
    )?;
    call(
        libc::SYS_prlimit64,
        &mut [Word::Number(pid), core(), Word::Bytes(&limit), Word::Null],
    )?;
    Ok("limits set".to_owned())
}

/// Memory that a forked child has at the same address.
static SHARED: [u8; 8] = *b"hydrant\0";

/// struct iovec
fn span(address: usize, length: usize) -> Vec<u8> {
    [address, length]
        .iter()
        .flat_map(|member| u64::try_from(*member).unwrap_or_default().to_ne_bytes())
        .collect()
}

/// Runs `attack` on the process that the first argument names.
fn with(arguments: &Arguments, attack: impl FnOnce(i64) -> Outcome) -> Outcome {
    if arguments.text(0)? != "child" {
        return attack(arguments.number(0)?);
    }
    match fork()? {
        Side::Child => {
            std::thread::sleep(Duration::from_secs(5));
            std::process::exit(0);
        }
        Side::Parent(child) => {
            let outcome = attack(child.into());
            call(
                libc::SYS_kill,
                &mut [
                    Word::Number(child.into()),
                    Word::Number(libc::SIGKILL.into()),
                ],
            )?;
            wait(child)?;
            outcome
        }
    }
}
