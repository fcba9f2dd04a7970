//! Front ends that speak a protocol: the line protocol of `hydrant syscall`, and the same on the socket of a jail.

#[cfg(target_os = "linux")]
pub mod jail;
pub mod syscall;
