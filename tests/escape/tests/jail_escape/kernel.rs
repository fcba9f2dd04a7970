//! Doors into the kernel and what belongs to the whole machine.

use crate::escape::Control::{Outside, Root};
use crate::escape::escapes;

escapes! {
    no_key_is_added: "add_key" in Plain, "EPERM", Outside;
    no_keyring_is_reached: "keyctl" in Plain, "EPERM", Outside;
    no_key_is_asked_for: "request_key" in Plain, "EPERM", Outside;
    there_is_no_io_uring: "io_uring" in Plain, "EPERM", Outside;
    there_is_no_bpf: "bpf" in Plain, "EPERM", Outside;
    there_is_no_userfaultfd: "userfaultfd" in Plain, "EPERM", Outside;
    there_are_no_performance_events: "perf_event" in Plain, "EPERM", Outside;
    there_is_no_fanotify: "fanotify" in Plain, "EPERM", Outside;
    no_kernel_is_loaded: "kexec" in Plain, "EPERM", Root;
    no_module_is_loaded: "load_module" in Plain, "EPERM", Root;
    no_module_is_unloaded: "unload_module" in Plain, "EPERM", Root;
    the_personality_stays: "personality" in Plain, "EPERM", Outside;
    the_log_of_the_kernel_is_not_read: "kernel_log" in Plain, "EPERM", Outside;
    system_calls_of_32_bits_are_killed: "system_call_of_32_bits" in Plain, "Signaled(31)", Outside;
    system_calls_of_x32_are_killed: "system_call_of_x32" in Plain, "Signaled(31)", Outside;
    no_port_is_opened: "ports" in Plain, "EPERM", Root;
    no_device_of_the_machine_is_there: "open_device /dev/kmsg /dev/mem /dev/port /dev/vda /dev/sda /dev/fuse /dev/net/tun /dev/kvm /dev/loop-control" in Plain, "ENOENT", Root;
    no_device_is_made_in_scratch: "make_device {tmp}/device" in Plain, "EPERM|EACCES", Root;
    no_device_is_made_in_a_mount: "make_device {rw}/device" in Plain, "EPERM|EACCES", Root;
    the_host_name_is_not_set: "set_host_name" in Plain, "EPERM", Root;
    the_domain_name_is_not_set: "set_domain_name" in Plain, "EPERM", Root;
    the_time_zone_is_not_set: "set_time_zone" in Plain, "EPERM", Root;
    the_clock_is_not_adjusted: "adjust_clock" in Plain, "EPERM", Root;
    the_machine_is_not_rebooted: "reboot" in Plain, "EPERM", Root;
    there_is_no_swapping: "swap_on" in Plain, "EPERM", Root;
    there_is_no_accounting: "accounting" in Plain, "EPERM", Root;
    no_quota_is_set: "quota" in Plain, "EPERM", Outside;
    nothing_runs_in_real_time: "schedule_real_time" in Plain, "EPERM", Root;
    nothing_runs_to_a_deadline: "schedule_deadline" in Plain, "EPERM", Root;
    nothing_is_less_nice: "be_less_nice" in Plain, "EACCES|EPERM", Root;
    nothing_reads_in_real_time: "io_real_time" in Plain, "EPERM", Root;
}
