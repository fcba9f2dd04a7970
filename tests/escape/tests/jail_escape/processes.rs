//! Other processes: those of the host, and the jail's init, which has the same user.

use hydrant_jail::Removed::{Landlock, Seccomp};

use crate::escape::Control::{Outside, Without};
use crate::escape::escapes;

escapes! {
    init_is_not_attached_to: "ptrace_attach {init}" in Plain, "EPERM", Outside;
    init_is_not_seized: "ptrace_seize {init}" in Plain, "EPERM", Outside;
    not_even_an_own_child_is_traced: "ptrace_seize child" in Plain, "EPERM", Outside;
    a_process_of_the_host_is_not_attached_to: "ptrace_attach {victim}" in Plain, "EPERM", Outside;
    memory_of_init_is_not_read: "read_process_memory {init}" in Plain, "EPERM", Outside;
    memory_of_a_child_is_not_read: "read_process_memory child" in Plain, "EPERM", Outside;
    memory_of_init_is_not_written: "write_process_memory {init}" in Plain, "EPERM", Outside;
    memory_of_init_is_not_opened: "open_process_memory {init}" in Plain, "EACCES|EPERM", Outside;
    no_descriptor_of_init_is_taken: "take_descriptor {init}" in Plain, "EPERM", Outside;
    no_descriptor_of_the_host_is_taken: "take_descriptor {victim}" in Plain, "ESRCH", Outside;
    processes_are_not_compared: "compare_processes {init}" in Plain, "EPERM", Outside;
    a_process_of_the_host_is_not_killed: "kill {victim} 9" in Plain, "ESRCH", Outside;
    the_tests_own_process_is_not_signalled: "kill {test} 0" in Plain, "ESRCH", Outside;
    init_is_not_signalled: "kill 1 0" in Plain, "EPERM", Without(&[Landlock]);
    there_is_nobody_to_kill: "kill_every_process" in Plain, "ESRCH", Outside;
    the_relay_is_not_killed: "kill_any {others}" in Relay, "EPERM", Without(&[Landlock]);
    no_process_of_the_host_is_signalled_by_descriptor: "signal_by_pidfd {victim} 9" in Plain, "ESRCH", Outside;
    init_is_not_signalled_by_descriptor: "signal_by_pidfd 1 0" in Plain, "EPERM", Without(&[Landlock]);
    no_signal_is_queued_for_the_host: "queue_signal {victim} 9" in Plain, "ESRCH", Outside;
    no_process_of_the_host_is_bound_to_a_processor: "set_affinity_of {victim}" in Plain, "ESRCH", Outside;
    no_process_of_the_host_is_made_nice: "set_priority_of {victim}" in Plain, "ESRCH", Outside;
    no_process_of_the_host_is_limited: "set_limits_of {victim}" in Plain, "EPERM", Outside;
    init_is_not_limited: "set_limits_of 1" in Plain, "EPERM", Without(&[Seccomp]);
}
