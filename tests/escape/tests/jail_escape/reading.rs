//! Reading what lies outside.

use crate::escape::Control::{Outside, Root};
use crate::escape::escapes;

escapes! {
    a_file_of_the_host_has_no_name: "read_file {secret}" in Plain, "ENOENT", Outside;
    the_shadow_file_is_not_there: "read_file /etc/shadow" in Plain, "ENOENT", Root;
    the_machine_id_is_not_there: "read_file /etc/machine-id" in Plain, "ENOENT", Outside;
    the_home_directory_is_not_there: "list_directory {home}" in Plain, "ENOENT", Outside;
    a_directory_of_the_host_is_not_listed: "list_directory {host}" in Plain, "ENOENT", Outside;
    a_file_of_the_host_is_not_even_seen: "stat_file {secret}" in Plain, "ENOENT", Outside;
    parents_of_the_working_directory_end_at_the_root: "read_by_parents {secret}" in Plain, "ENOENT", Outside;
    parents_of_a_mount_end_at_the_root: "read_by_parents_of_mount {ro} {secret}" in Plain, "ENOENT", Outside;
    parents_of_a_writable_mount_end_at_the_root: "read_by_parents_of_mount {rw} {secret}" in Plain, "ENOENT", Outside;
    the_root_of_no_process_is_the_hosts: "read_by_proc_root {secret}" in Plain, "ENOENT", Outside;
    the_working_directory_of_no_process_is_the_hosts: "read_by_proc_cwd {secret}" in Plain, "ENOENT", Outside;
    no_descriptor_of_any_process_leads_out: "read_by_proc_fd {secret}" in Plain, "ENOTDIR|ENOENT|ENXIO|EACCES", Outside;
    a_link_in_a_mount_leads_nowhere: "read_through_link {rw}/link {secret}" in Plain, "ENOENT", Outside;
    a_link_in_scratch_leads_nowhere: "read_through_link {tmp}/link {secret}" in Plain, "ENOENT", Outside;
    a_handle_opens_no_file_of_the_host: "read_by_handle {rw} {handle}" in Plain, "EPERM", Root;
    no_handle_is_given_out: "name_to_handle" in Plain, "EPERM", Outside;
    symbols_of_the_kernel_are_not_there: "read_proc_file /proc/kallsyms" in Plain, "ENOENT", Outside;
    settings_of_the_kernel_are_not_there: "read_proc_file /proc/sys/kernel/version" in Plain, "ENOENT", Outside;
    keys_of_the_user_are_not_listed: "read_proc_file /proc/keys" in Plain, "ENOENT", Outside;
    interfaces_of_the_host_are_not_listed: "list_directory /sys/class" in Plain, "ENOENT", Outside;
    temporary_files_of_the_host_are_not_listed: "list_directory /tmp" in Plain, "empty", Outside;
    shared_memory_of_the_host_is_not_there: "stat_file /dev/shm" in Plain, "ENOENT", Outside;
    terminals_of_the_host_are_not_there: "stat_file /dev/ptmx" in Plain, "ENOENT", Outside;
    a_process_of_the_host_is_not_seen: "see_process {victim}" in Plain, "ESRCH", Outside;
    the_tests_own_process_is_not_seen: "see_process {test}" in Plain, "ESRCH", Outside;
    command_lines_of_the_host_are_not_seen: "see_command_line jail_ escape" in Plain, "not listed|EACCES", Outside;
    sockets_of_the_host_are_not_listed: "see_abstract_socket {abstract}" in Plain, "not listed|ENOENT", Outside;
    mounts_of_the_host_are_not_listed: "see_mount_of_host /sys" in Plain, "not listed|ENOENT", Outside;
    the_host_does_not_tell_its_name: "see_host_name {name}" in Plain, "this is `hydrant`|this is `jail`", Outside;
    shared_segments_of_the_host_are_not_seen: "see_shared_memory {segment}" in Plain, "EPERM", Outside;
    message_queues_of_the_host_are_not_opened: "see_message_queue {queue}" in Plain, "EPERM", Outside;
    the_user_namespace_is_its_own: "share_namespace user {user_namespace}" in Plain, "its own", Outside;
    the_mount_namespace_is_its_own: "share_namespace mnt {mnt_namespace}" in Plain, "its own", Outside;
    the_pid_namespace_is_its_own: "share_namespace pid {pid_namespace}" in Plain, "its own", Outside;
    the_network_namespace_is_its_own: "share_namespace net {net_namespace}" in Plain, "its own", Outside;
    the_ipc_namespace_is_its_own: "share_namespace ipc {ipc_namespace}" in Plain, "its own", Outside;
    the_uts_namespace_is_its_own: "share_namespace uts {uts_namespace}" in Plain, "its own", Outside;
    the_cgroup_namespace_is_its_own: "share_namespace cgroup {cgroup_namespace}" in Plain, "its own", Outside;
    the_relay_opens_no_file: "read_by_proc_fd {secret}" in Relay, "ENOTDIR|ENOENT|ENXIO|EACCES", Outside;
}
