//! New namespaces, and those of others.

use crate::escape::Control::{Outside, Root};
use crate::escape::escapes;

escapes! {
    a_user_namespace_is_not_unshared: "unshare user" in Plain, "EPERM", Outside;
    a_user_namespace_is_not_made_by_clone: "clone user" in Plain, "EPERM", Outside;
    a_user_namespace_is_not_made_by_clone3: "clone3 user" in Plain, "ENOSYS", Outside;
    a_mount_namespace_is_not_unshared: "unshare mount" in Plain, "EPERM", Outside;
    a_mount_namespace_is_not_made_by_clone: "clone mount" in Plain, "EPERM", Outside;
    a_mount_namespace_is_not_made_by_clone3: "clone3 mount" in Plain, "ENOSYS", Outside;
    a_pid_namespace_is_not_unshared: "unshare pid" in Plain, "EPERM", Outside;
    a_pid_namespace_is_not_made_by_clone: "clone pid" in Plain, "EPERM", Outside;
    a_pid_namespace_is_not_made_by_clone3: "clone3 pid" in Plain, "ENOSYS", Outside;
    a_network_namespace_is_not_unshared: "unshare net" in Plain, "EPERM", Outside;
    a_network_namespace_is_not_made_by_clone: "clone net" in Plain, "EPERM", Outside;
    a_network_namespace_is_not_made_by_clone3: "clone3 net" in Plain, "ENOSYS", Outside;
    an_ipc_namespace_is_not_unshared: "unshare ipc" in Plain, "EPERM", Outside;
    an_ipc_namespace_is_not_made_by_clone: "clone ipc" in Plain, "EPERM", Outside;
    an_ipc_namespace_is_not_made_by_clone3: "clone3 ipc" in Plain, "ENOSYS", Outside;
    a_uts_namespace_is_not_unshared: "unshare uts" in Plain, "EPERM", Outside;
    a_uts_namespace_is_not_made_by_clone: "clone uts" in Plain, "EPERM", Outside;
    a_uts_namespace_is_not_made_by_clone3: "clone3 uts" in Plain, "ENOSYS", Outside;
    a_cgroup_namespace_is_not_unshared: "unshare cgroup" in Plain, "EPERM", Outside;
    a_cgroup_namespace_is_not_made_by_clone: "clone cgroup" in Plain, "EPERM", Outside;
    a_cgroup_namespace_is_not_made_by_clone3: "clone3 cgroup" in Plain, "ENOSYS", Outside;
    a_time_namespace_is_not_unshared: "unshare time" in Plain, "EPERM", Outside;
    a_time_namespace_is_not_made_by_clone3: "clone3 time" in Plain, "ENOSYS", Outside;
    the_namespaces_of_init_are_not_entered: "setns {process}" in Plain, "EACCES|EPERM", Root;
    the_namespaces_of_a_process_are_not_entered: "setns self" in Plain, "EPERM", Root;
    a_process_descriptor_leads_into_no_namespace: "setns_by_pidfd {process_id}" in Plain, "EPERM", Root;
    a_program_does_not_become_root_of_a_namespace: "write_id_map" in Plain, "not mapped", Outside;
}
