//! Front ends that speak a protocol: for now the line protocol of `hydrant syscall`.

pub mod syscall;
