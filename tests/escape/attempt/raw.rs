//! System calls by number, fork and two instructions: the whole of the program's unsafe code.
//!
//! The attempts call the kernel as an attacker would, past libc's wrappers and their checks. A pointer reaches the
//! kernel only as a `Word` that borrows what it points to.
#![allow(
    unsafe_code,
    reason = "an attacker's system calls are made by number; each block says why it is sound"
)]

use std::ffi::CStr;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::raw::{c_int, c_long};

use crate::outcome::{Errno, Failure};

/// One argument of a system call.
pub(crate) enum Word<'a> {
    /// A number, flags or a descriptor.
    Number(i64),
    /// A path or a name.
    Text(&'a CStr),
    /// A structure the kernel reads.
    Bytes(&'a [u8]),
    /// A structure the kernel writes, at least as long as the call demands.
    Room(&'a mut [u8]),
    /// The null pointer.
    Null,
}

/// Makes the system call `number`; unnamed arguments are 0.
///
/// Callers pass only calls that do not change this process's own mappings; a buffer is as long as the call says.
pub(crate) fn call(number: c_long, words: &mut [Word<'_>]) -> Result<i64, Errno> {
    let mut registers = [0_i64; 6];
    for (register, word) in registers.iter_mut().zip(words) {
        *register = match word {
            Word::Number(number) => *number,
            Word::Text(text) => address(text.as_ptr().addr()),
            Word::Bytes(bytes) => address(bytes.as_ptr().expose_provenance()),
            Word::Room(room) => address(room.as_mut_ptr().expose_provenance()),
            Word::Null => 0,
        };
    }
    let [a, b, c, d, e, f] = registers;
    // SAFETY: every pointer is borrowed by its `Word` until this returns, and no attempt uses a call that unmaps or
    // remaps memory of this process.
    let answer = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    if answer == -1 {
        Err(Errno::last())
    } else {
        Ok(answer)
    }
}

fn address(pointer: usize) -> i64 {
    pointer.cast_signed().try_into().unwrap_or_default()
}

/// Which side of a fork this is.
pub(crate) enum Side {
    /// The new process.
    Child,
    /// The old one, with the id of the new.
    Parent(i32),
}

/// `fork`; the program has no threads when it is called.
pub(crate) fn fork() -> Result<Side, Errno> {
    // SAFETY: single-threaded, so the child may do whatever its parent may.
    match unsafe { libc::fork() } {
        -1 => Err(Errno::last()),
        0 => Ok(Side::Child),
        child => Ok(Side::Parent(child)),
    }
}

/// Waits for `child`: its wait status.
pub(crate) fn wait(child: i32) -> Result<c_int, Errno> {
    let mut status = 0;
    loop {
        // SAFETY: `status` lives until the call returns.
        match unsafe { libc::waitpid(child, &raw mut status, 0) } {
            -1 if Errno::last() == Errno(libc::EINTR) => {}
            -1 => return Err(Errno::last()),
            _ => return Ok(status),
        }
    }
}

/// Runs `body` in a child: true when it answered true. A child that was killed answered nothing.
pub(crate) fn in_child(body: impl FnOnce() -> bool) -> Result<bool, Failure> {
    match fork()? {
        Side::Child => std::process::exit(i32::from(!body())),
        Side::Parent(child) => {
            let status = wait(child)?;
            if libc::WIFSIGNALED(status) {
                return Err(Failure::Clean(format!("signal {}", libc::WTERMSIG(status))));
            }
            Ok(libc::WEXITSTATUS(status) == 0)
        }
    }
}

/// Ignores a signal, so that the call that would raise it answers an errno.
pub(crate) fn ignore(signal: c_int) {
    // SAFETY: SIG_IGN runs no code of this program.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// What a mapping holds.
#[derive(Clone, Copy)]
pub(crate) struct Mapping {
    /// `PROT_*`.
    pub protection: c_int,
    /// `MAP_*`.
    pub flags: c_int,
    /// The mapped file, or -1.
    pub file: c_int,
}

/// Maps `bytes` and, when they may be written, touches every page. Never unmapped.
pub(crate) fn map(mapping: Mapping, bytes: usize) -> Result<(), Errno> {
    // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
    let start = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            mapping.protection,
            mapping.flags,
            mapping.file,
            0,
        )
    };
    if start == libc::MAP_FAILED {
        return Err(Errno::last());
    }
    if mapping.protection & libc::PROT_WRITE != 0 {
        for offset in (0..bytes).step_by(4096) {
            // SAFETY: inside the mapping of `bytes` bytes that was just made and is never unmapped.
            unsafe { start.cast::<u8>().add(offset).write_volatile(1) };
        }
    }
    Ok(())
}

/// Maps `bytes` of shared memory, reads every page, so that it exists, and takes them out of this process's tables,
/// so that they are no part of its resident set any more. Never unmapped.
pub(crate) fn map_and_hide(mapping: Mapping, bytes: usize) -> Result<(), Errno> {
    // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
    let start = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            mapping.protection,
            mapping.flags,
            mapping.file,
            0,
        )
    };
    if start == libc::MAP_FAILED {
        return Err(Errno::last());
    }
    const STEP: usize = 1 << 20;
    for block in (0..bytes).step_by(STEP) {
        for offset in (block..bytes.min(block + STEP)).step_by(4096) {
            // SAFETY: inside the mapping that was just made, which may be read and is never unmapped.
            unsafe { start.cast::<u8>().add(offset).read_volatile() };
        }
        // SAFETY: nothing refers into the mapping; its pages stay in the object behind it.
        unsafe {
            libc::madvise(
                start.cast::<u8>().add(block).cast(),
                STEP.min(bytes - block),
                libc::MADV_DONTNEED,
            )
        };
    }
    Ok(())
}

/// Maps `bytes` and reads one page of every 2 MiB. Never unmapped.
pub(crate) fn map_sparsely(mapping: Mapping, bytes: usize) -> Result<(), Errno> {
    // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
    let start = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            mapping.protection,
            mapping.flags,
            mapping.file,
            0,
        )
    };
    if start == libc::MAP_FAILED {
        return Err(Errno::last());
    }
    // SAFETY: the whole of the new mapping; huge pages would need memory where tables are meant to.
    unsafe { libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE) };
    for offset in (0..bytes).step_by(1 << 21) {
        // SAFETY: inside the mapping that was just made, which may be read and is never unmapped.
        unsafe { start.cast::<u8>().add(offset).read_volatile() };
    }
    Ok(())
}

/// Makes a huge page, gives a small page of it to a pipe, and lets go of it.
pub(crate) fn give_huge_page(pipe: c_int) -> Result<(), Errno> {
    const HUGE: usize = 2 << 20;
    // SAFETY: a new mapping, twice as long as a huge page, so that an aligned one lies in it.
    let start = unsafe {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        libc::mmap(std::ptr::null_mut(), 2 * HUGE, protection, flags, -1, 0)
    };
    if start == libc::MAP_FAILED {
        return Err(Errno::last());
    }
    let skip = start.addr().next_multiple_of(HUGE) - start.addr();
    // SAFETY: all addresses lie in the mapping, which nothing refers to when it is taken away.
    unsafe {
        let page = start.cast::<u8>().add(skip);
        libc::madvise(page.cast(), HUGE, libc::MADV_HUGEPAGE);
        page.write_volatile(1);
        let part = libc::iovec {
            iov_base: page.cast(),
            iov_len: 4096,
        };
        let given = libc::vmsplice(pipe, &raw const part, 1, libc::SPLICE_F_NONBLOCK);
        let errno = Errno::last();
        libc::munmap(start, 2 * HUGE);
        if given == 4096 { Ok(()) } else { Err(errno) }
    }
}

/// Attaches the System V segment `id` and writes `bytes` of it, then detaches: its pages stay.
pub(crate) fn fill_segment(id: c_int, bytes: usize) -> Result<(), Errno> {
    // SAFETY: the segment is attached at an address of the kernel's choice.
    let start = unsafe { libc::shmat(id, std::ptr::null(), 0) };
    if start.addr() == usize::MAX {
        return Err(Errno::last());
    }
    for offset in (0..bytes).step_by(4096) {
        // SAFETY: the segment was made with `bytes` bytes and is attached.
        unsafe { start.cast::<u8>().add(offset).write_volatile(1) };
    }
    // SAFETY: nothing keeps a pointer into the segment.
    unsafe { libc::shmdt(start) };
    Ok(())
}

/// A descriptor that a call has just made, owned.
pub(crate) fn descriptor(answer: Result<i64, Errno>) -> Result<OwnedFd, Failure> {
    let number = i32::try_from(answer?).map_err(|error| Failure::Untried(error.to_string()))?;
    // SAFETY: the number is a new descriptor that nothing else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// `getpid` through the 32-bit entry, whose numbers a filter for 64 bits does not know.
#[cfg(target_arch = "x86_64")]
pub(crate) fn getpid_of_32_bits() -> i64 {
    let mut register: i64 = 20;
    // SAFETY: number 20 of the 32-bit table is `getpid`, which has no arguments; the entry clobbers r8 to r11.
    unsafe {
        std::arch::asm!("int 0x80", inout("rax") register, out("r8") _, out("r9") _, out("r10") _, out("r11") _);
    }
    register
}
