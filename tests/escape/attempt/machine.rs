//! What belongs to the whole machine: its name, clock, swap, accounting, power, the scheduler's privileges.
//!
//! As root outside a jail none of these changes anything: a value is set to itself, or an argument is refused after
//! the right to make the call was checked.

use crate::kernel::reached;
use crate::outcome::{Arguments, Outcome, any};
use crate::raw::{Word, call};

/// The attempts of this file.
pub(crate) const ATTEMPTS: &[(&str, crate::Run)] = &[
    ("set_host_name", set_host_name),
    ("set_domain_name", set_domain_name),
    ("set_time_zone", set_time_zone),
    ("adjust_clock", adjust_clock),
    ("reboot", reboot),
    ("swap_on", swap_on),
    ("accounting", accounting),
    ("quota", quota),
    ("schedule_real_time", schedule_real_time),
    ("schedule_deadline", schedule_deadline),
    ("be_less_nice", be_less_nice),
    ("io_real_time", io_real_time),
];

/// To what it is.
fn set_host_name(_: &Arguments) -> Outcome {
    let name = rustix::system::uname().nodename().to_bytes().to_vec();
    let length = i64::try_from(name.len()).unwrap_or_default();
    call(
        libc::SYS_sethostname,
        &mut [Word::Bytes(&name), Word::Number(length)],
    )?;
    Ok("set".to_owned())
}

/// To what it is.
fn set_domain_name(_: &Arguments) -> Outcome {
    let name = rustix::system::uname().domainname().to_bytes().to_vec();
    let length = i64::try_from(name.len()).unwrap_or_default();
    call(
        libc::SYS_setdomainname,
        &mut [Word::Bytes(&name), Word::Number(length)],
    )?;
    Ok("set".to_owned())
}

/// The kernel's time zone, to what it is.
fn set_time_zone(_: &Arguments) -> Outcome {
    let mut zone = [0; 8];
    call(
        libc::SYS_gettimeofday,
        &mut [Word::Null, Word::Room(&mut zone)],
    )?;
    call(
        libc::SYS_settimeofday,
        &mut [Word::Null, Word::Bytes(&zone)],
    )?;
    Ok("set".to_owned())
}

/// ADJ_FREQUENCY, to what it is.
fn adjust_clock(_: &Arguments) -> Outcome {
    let mut state = [0; 208];
    call(libc::SYS_adjtimex, &mut [Word::Room(&mut state)])?;
    state[..4].copy_from_slice(&2_u32.to_ne_bytes());
    call(libc::SYS_adjtimex, &mut [Word::Room(&mut state)])?;
    Ok("adjusted".to_owned())
}

/// With wrong magic numbers, looked at after the right to do it.
fn reboot(_: &Arguments) -> Outcome {
    reached(call(libc::SYS_reboot, &mut []), libc::EINVAL)
}

/// A file that is not there.
fn swap_on(_: &Arguments) -> Outcome {
    reached(
        call(
            libc::SYS_swapon,
            &mut [Word::Text(c"/hydrant-none"), Word::Null],
        ),
        libc::ENOENT,
    )
}

/// Into a file that is not there.
fn accounting(_: &Arguments) -> Outcome {
    reached(
        call(libc::SYS_acct, &mut [Word::Text(c"/hydrant-none")]),
        libc::ENOENT,
    )
}

/// Q_SETQUOTA on a device that is not there: past the filter that is what is said.
fn quota(_: &Arguments) -> Outcome {
    let command = (0x80_0008 << 8) & 0xffff_ffff_i64;
    let words = &mut [
        Word::Number(command),
        Word::Text(c"/hydrant-none"),
        Word::Null,
        Word::Null,
    ];
    reached(call(libc::SYS_quotactl, words), libc::ENOENT)
}

/// SCHED_FIFO and SCHED_RR, of the lowest priority.
fn schedule_real_time(_: &Arguments) -> Outcome {
    let priority = 1_i32.to_ne_bytes();
    any([libc::SCHED_FIFO, libc::SCHED_RR].map(|policy| {
        let words = &mut [
            Word::Null,
            Word::Number(policy.into()),
            Word::Bytes(&priority),
        ];
        call(libc::SYS_sched_setscheduler, words)?;
        Ok("real time".to_owned())
    }))
}

/// SCHED_DEADLINE: a millisecond of every second.
fn schedule_deadline(_: &Arguments) -> Outcome {
    // struct sched_attr: size, policy 6, flags, nice, priority, runtime, deadline, period.
    let mut attributes = [48_u32, 6, 0, 0, 0, 0].map(u32::to_ne_bytes).concat();
    attributes.extend(
        [1_000_000_u64, 1_000_000_000, 1_000_000_000]
            .map(u64::to_ne_bytes)
            .concat(),
    );
    call(
        libc::SYS_sched_setattr,
        &mut [Word::Null, Word::Bytes(&attributes), Word::Null],
    )?;
    Ok("deadline".to_owned())
}

/// A niceness below that which it has.
fn be_less_nice(_: &Arguments) -> Outcome {
    // The kernel answers 20 - niceness.
    let niceness = 20 - call(libc::SYS_getpriority, &mut [])?;
    call(
        libc::SYS_setpriority,
        &mut [Word::Null, Word::Null, Word::Number(niceness - 1)],
    )?;
    Ok(format!("niceness {}", niceness - 1))
}

/// IOPRIO_CLASS_RT for this process.
fn io_real_time(_: &Arguments) -> Outcome {
    call(
        libc::SYS_ioprio_set,
        &mut [Word::Number(1), Word::Null, Word::Number(1 << 13)],
    )?;
    Ok("real time".to_owned())
}
