//! Objects of the host that the standard library has no names for.
#![allow(
    unsafe_code,
    reason = "System V segments, message queues and file handles are calls of libc"
)]

use std::ffi::CString;
use std::fs;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

static NEXT: AtomicI32 = AtomicI32::new(1);

/// A number that no other test of this machine has.
fn unique() -> i32 {
    let process = i32::try_from(std::process::id() & 0xffff).unwrap();
    (process << 12) + NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A System V segment of the host.
pub(crate) struct Segment {
    key: i32,
    id: i32,
}

impl Segment {
    pub(crate) fn new() -> Self {
        let key = unique();
        // SAFETY: three numbers.
        let id = unsafe { libc::shmget(key, 4096, libc::IPC_CREAT | 0o600) };
        Self { key, id }
    }

    pub(crate) fn key(&self) -> i32 {
        self.key
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: this command reads no structure.
        unsafe { libc::shmctl(self.id, libc::IPC_RMID, std::ptr::null_mut()) };
    }
}

/// A POSIX message queue of the host.
pub(crate) struct Queue(String);

impl Queue {
    pub(crate) fn new() -> Self {
        let name = format!("hydrant-{}", unique());
        let path = CString::new(format!("/{name}")).unwrap();
        // SAFETY: a C string, a mode, and no attributes.
        let queue = unsafe {
            libc::mq_open(
                path.as_ptr(),
                libc::O_CREAT | libc::O_RDWR,
                0o600,
                std::ptr::null::<libc::mq_attr>(),
            )
        };
        // SAFETY: the descriptor was just made.
        unsafe { libc::mq_close(queue) };
        Self(name)
    }

    /// As the system call takes it, without a slash.
    pub(crate) fn name(&self) -> &str {
        &self.0
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let path = CString::new(format!("/{}", self.0)).unwrap();
        // SAFETY: a C string.
        unsafe { libc::mq_unlink(path.as_ptr()) };
    }
}

/// The handle of a file, as `TYPE HEXADECIMAL`.
pub(crate) fn handle(path: &Path) -> String {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    let mut handle = [0_u8; 136];
    handle[..4].copy_from_slice(&128_u32.to_ne_bytes());
    let mut mount = 0;
    // SAFETY: the buffer has the 8 bytes of the header and the 128 that it announces.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_name_to_handle_at,
            libc::AT_FDCWD,
            path.as_ptr(),
            handle.as_mut_ptr(),
            &raw mut mount,
            0,
        )
    };
    assert_eq!(answer, 0, "a handle: {}", std::io::Error::last_os_error());
    let number = |at: usize| i32::from_ne_bytes(handle[at..at + 4].try_into().unwrap());
    let length = usize::try_from(number(0)).unwrap();
    let bytes: String = handle[8..8 + length]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{} {bytes}", number(4))
}

/// CAP_NET_RAW, permitted and effective, in the attribute of a file. Only root can.
pub(crate) fn give_capability(path: &Path) {
    // struct vfs_cap_data of version 2, effective.
    let data = [0x0200_0001_u32, 1 << 13, 0, 0, 0]
        .map(u32::to_le_bytes)
        .concat();
    let _ = rustix::fs::setxattr(
        path,
        "security.capability",
        &data,
        rustix::fs::XattrFlags::empty(),
    );
}

/// Hands out `file` to one who connects.
pub(crate) fn give(listener: UnixListener, file: fs::File) {
    std::thread::spawn(move || {
        let Ok((stream, _)) = listener.accept() else {
            return;
        };
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let files = [file.as_fd()];
        ancillary.push(SendAncillaryMessage::ScmRights(&files));
        let _ = sendmsg(
            &stream,
            &[IoSlice::new(b"x")],
            &mut ancillary,
            SendFlags::empty(),
        );
    });
}

/// This machine's name.
pub(crate) fn host_name() -> String {
    rustix::system::uname()
        .nodename()
        .to_str()
        .unwrap()
        .to_owned()
}
