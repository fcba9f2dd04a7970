//! The system calls that a program may make: whatever their arguments are, or with rules for the mode of a new
//! file. A few others have rules of their own in `filter`; everything else is refused.
//!
//! Left out beside what changes namespaces or mounts, reaches into other processes or loads code into the kernel:
//!
//! | call | stops |
//! |---|---|
//! | `memfd_create`, `memfd_secret` | executing a file that Landlock has no path for; memory that no process shows |
//! | `vmsplice`, `splice`, `tee` | leaving memory in pipes, whose pages no process shows |
//! | `shmget`, `msgget`, `semget`, `mq_open` | memory that no process shows and that outlives its maker |
//! | `io_setup` | using up a resource that is counted for the whole host (`fs.aio-max-nr`) |
//! | `sync`, `syncfs` | making the whole host wait for its disks |
//! | `kcmp`, `process_madvise`, `process_mrelease`, `move_pages`, `migrate_pages` | reaching into other processes |
//! | `modify_ldt`, `iopl`, `ioperm`, `vm86` | old parts of the kernel that nobody needs |
//! | `name_to_handle_at`, `statmount`, `listmount` | learning what is mounted where on the host |
//! | `syslog`, `acct`, `quotactl`, `swapon`, `reboot`, clocks and names that are set | the host's own settings |

use std::ffi::c_long;

/// On every architecture.
#[rustfmt::skip] // One line for each is ten screens.
pub(super) const PLAIN: &[c_long] = &[
    // Files and directories
    libc::SYS_close, libc::SYS_close_range, libc::SYS_read, libc::SYS_write,
    libc::SYS_readv, libc::SYS_writev, libc::SYS_pread64, libc::SYS_pwrite64, libc::SYS_preadv, libc::SYS_pwritev,
    libc::SYS_preadv2, libc::SYS_pwritev2, libc::SYS_lseek, libc::SYS_newfstatat, libc::SYS_fstat, libc::SYS_statx,
    libc::SYS_statfs, libc::SYS_fstatfs, libc::SYS_faccessat, libc::SYS_faccessat2, libc::SYS_readlinkat,
    libc::SYS_getdents64, libc::SYS_getcwd, libc::SYS_chdir, libc::SYS_fchdir, 
    libc::SYS_unlinkat, libc::SYS_linkat, libc::SYS_symlinkat, libc::SYS_renameat, libc::SYS_renameat2,
    libc::SYS_truncate, libc::SYS_ftruncate, libc::SYS_fallocate, libc::SYS_fadvise64, libc::SYS_readahead,
    libc::SYS_fchown, libc::SYS_fchownat,
    libc::SYS_utimensat, libc::SYS_umask, libc::SYS_flock, libc::SYS_dup, libc::SYS_dup3,
    libc::SYS_fsync, libc::SYS_fdatasync, libc::SYS_sync_file_range,
    libc::SYS_copy_file_range, libc::SYS_getxattr,
    libc::SYS_lgetxattr, libc::SYS_fgetxattr, libc::SYS_listxattr, libc::SYS_llistxattr, libc::SYS_flistxattr,
    libc::SYS_setxattr, libc::SYS_lsetxattr, libc::SYS_fsetxattr, libc::SYS_removexattr, libc::SYS_lremovexattr,
    libc::SYS_fremovexattr, libc::SYS_inotify_init1, libc::SYS_inotify_add_watch, libc::SYS_inotify_rm_watch,
    // Pipes, events, waiting
    libc::SYS_pipe2, libc::SYS_eventfd2, libc::SYS_signalfd4, libc::SYS_timerfd_create, libc::SYS_timerfd_settime,
    libc::SYS_timerfd_gettime, libc::SYS_epoll_create1, libc::SYS_epoll_ctl, libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2, libc::SYS_ppoll, libc::SYS_pselect6,
    // Sockets that are there: which ones can be made is in `filter`
    libc::SYS_bind, libc::SYS_connect, libc::SYS_listen, libc::SYS_accept, libc::SYS_accept4, libc::SYS_getsockname,
    libc::SYS_getpeername, libc::SYS_getsockopt, libc::SYS_setsockopt, libc::SYS_shutdown, 
    libc::SYS_recvfrom, libc::SYS_recvmsg, libc::SYS_recvmmsg,
    // Memory
    libc::SYS_brk, libc::SYS_munmap, libc::SYS_mremap, libc::SYS_mprotect, libc::SYS_madvise,
    libc::SYS_mincore, libc::SYS_msync, libc::SYS_mlock, libc::SYS_mlock2, libc::SYS_munlock, libc::SYS_mlockall,
    libc::SYS_munlockall, libc::SYS_mbind, libc::SYS_get_mempolicy, libc::SYS_set_mempolicy, libc::SYS_membarrier,
    libc::SYS_pkey_alloc, libc::SYS_pkey_free, libc::SYS_pkey_mprotect, libc::SYS_mseal,
    // Processes, threads, signals
    libc::SYS_execve, libc::SYS_execveat, libc::SYS_exit, libc::SYS_exit_group, libc::SYS_wait4, libc::SYS_waitid,
    libc::SYS_pidfd_open, libc::SYS_pidfd_send_signal, libc::SYS_getpid, libc::SYS_getppid, libc::SYS_gettid,
    libc::SYS_getpgid, libc::SYS_setpgid, libc::SYS_getsid, libc::SYS_setsid, libc::SYS_set_tid_address,
    libc::SYS_set_robust_list, libc::SYS_get_robust_list, libc::SYS_rseq, libc::SYS_futex, libc::SYS_futex_waitv,
    libc::SYS_kill, libc::SYS_tkill, libc::SYS_tgkill, libc::SYS_rt_sigaction, libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn, libc::SYS_rt_sigsuspend, libc::SYS_rt_sigpending, libc::SYS_rt_sigtimedwait,
    libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo, libc::SYS_sigaltstack, libc::SYS_restart_syscall,
    libc::SYS_prctl, libc::SYS_getpriority, libc::SYS_setpriority, libc::SYS_ioprio_get, libc::SYS_ioprio_set,
    libc::SYS_sched_yield, libc::SYS_sched_getaffinity, libc::SYS_sched_setaffinity, libc::SYS_sched_getparam,
    libc::SYS_sched_setparam, libc::SYS_sched_getscheduler, libc::SYS_sched_setscheduler, libc::SYS_sched_getattr,
    libc::SYS_sched_setattr, libc::SYS_sched_get_priority_max, libc::SYS_sched_get_priority_min,
    libc::SYS_sched_rr_get_interval, libc::SYS_getcpu, libc::SYS_getrusage, libc::SYS_getrlimit, libc::SYS_setrlimit,
    libc::SYS_times,
    // Users and privileges: of which there are none
    libc::SYS_getuid, libc::SYS_geteuid, libc::SYS_getgid, libc::SYS_getegid, libc::SYS_getresuid, libc::SYS_getresgid,
    libc::SYS_getgroups, libc::SYS_setuid, libc::SYS_setgid, libc::SYS_setreuid, libc::SYS_setregid,
    libc::SYS_setresuid, libc::SYS_setresgid, libc::SYS_setfsuid, libc::SYS_setfsgid, libc::SYS_capget,
    libc::SYS_capset,
    // A program's own further restrictions
    libc::SYS_seccomp, libc::SYS_landlock_create_ruleset, libc::SYS_landlock_add_rule, libc::SYS_landlock_restrict_self,
    // Time and system
    libc::SYS_clock_gettime, libc::SYS_clock_getres, libc::SYS_clock_nanosleep, libc::SYS_nanosleep,
    libc::SYS_gettimeofday, libc::SYS_getitimer, libc::SYS_setitimer, libc::SYS_timer_create, libc::SYS_timer_settime,
    libc::SYS_timer_gettime, libc::SYS_timer_getoverrun, libc::SYS_timer_delete, libc::SYS_uname, libc::SYS_sysinfo,
    libc::SYS_getrandom,
];

/// Those of them that change how other processes of the same user are scheduled, init among them.
pub(super) const SCHEDULING: &[c_long] = &[
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setattr,
];

/// The older forms that x86-64 still has.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
pub(super) const ARCHITECTURE: &[c_long] = &[
    libc::SYS_stat, libc::SYS_lstat, libc::SYS_access, libc::SYS_readlink,
    libc::SYS_getdents, libc::SYS_rmdir, libc::SYS_unlink, libc::SYS_link,
    libc::SYS_symlink, libc::SYS_rename, libc::SYS_chown, libc::SYS_lchown, libc::SYS_utime,
    libc::SYS_utimes, libc::SYS_futimesat, libc::SYS_dup2, libc::SYS_pipe, libc::SYS_eventfd, libc::SYS_signalfd,
    libc::SYS_epoll_create, libc::SYS_epoll_wait, libc::SYS_poll, libc::SYS_select, libc::SYS_inotify_init,
    libc::SYS_fork, libc::SYS_vfork, libc::SYS_getpgrp, libc::SYS_pause, libc::SYS_alarm, libc::SYS_time,
    libc::SYS_arch_prctl,
];

/// arm64 has only the newer forms.
#[cfg(target_arch = "aarch64")]
pub(super) const ARCHITECTURE: &[c_long] = &[];

/// The same number on every architecture; `libc` has it for musl on x86-64 only.
const FCHMODAT2: c_long = 452;

/// Calls that set a mode, and which argument that is.
pub(super) const MODES: &[(c_long, u8)] = &[
    (libc::SYS_mkdirat, 2),
    (libc::SYS_mknodat, 2),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
];

/// Calls that open, and which argument the flags are; the mode is the next one.
pub(super) const OPENS: &[(c_long, u8)] = &[(libc::SYS_openat, 2)];

/// As [`MODES`], in their older forms.
#[cfg(target_arch = "x86_64")]
pub(super) const ARCHITECTURE_MODES: &[(c_long, u8)] = &[
    (libc::SYS_mkdir, 1),
    (libc::SYS_mknod, 1),
    (libc::SYS_chmod, 1),
    (libc::SYS_creat, 1),
];
#[cfg(target_arch = "aarch64")]
pub(super) const ARCHITECTURE_MODES: &[(c_long, u8)] = &[];

/// As [`OPENS`], in their older forms.
#[cfg(target_arch = "x86_64")]
pub(super) const ARCHITECTURE_OPENS: &[(c_long, u8)] = &[(libc::SYS_open, 1)];
#[cfg(target_arch = "aarch64")]
pub(super) const ARCHITECTURE_OPENS: &[(c_long, u8)] = &[];
