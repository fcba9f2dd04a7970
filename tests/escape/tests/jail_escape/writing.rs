//! Writing outside, and changing what may only be read.

use crate::escape::Control::{Outside, Root};
use crate::escape::escapes;

escapes! {
    a_file_of_the_host_is_not_written: "write_file {secret}" in Plain, "ENOENT", Outside;
    a_read_only_mount_is_not_written: "write_file {ro}/file" in Plain, "EROFS|EACCES", Outside;
    a_file_is_not_opened_again_for_writing: "write_by_reopening {ro}/file" in Plain, "EROFS|EACCES", Outside;
    writing_through_a_link_leads_nowhere: "write_through_link {rw}/link {secret}" in Plain, "ENOENT", Outside;
    writing_through_a_link_to_a_read_only_mount_is_refused: "write_through_link {rw}/link {ro}/file" in Plain, "EROFS|EACCES", Outside;
    a_file_gets_no_second_name_where_it_could_be_written: "hard_link {ro}/file {rw}/link" in Plain, "EXDEV", Outside;
    a_file_of_the_host_gets_no_second_name: "hard_link {secret} {rw}/link" in Plain, "ENOENT", Outside;
    a_read_only_file_is_not_replaced: "rename_over {rw}/new {ro}/file" in Plain, "EXDEV|EROFS", Outside;
    a_read_only_file_is_not_moved_away: "rename_away {ro}/file {rw}/file" in Plain, "EXDEV|EROFS", Outside;
    a_read_only_file_is_not_removed: "remove_file {ro}/file" in Plain, "EROFS|EACCES", Outside;
    a_read_only_file_is_not_truncated: "truncate_file {ro}/file" in Plain, "EROFS|EACCES", Outside;
    the_mode_of_a_read_only_file_stays: "change_mode {ro}/file" in Plain, "EROFS", Outside;
    the_times_of_a_read_only_file_stay: "change_times {ro}/file" in Plain, "EROFS", Outside;
    a_read_only_file_gets_no_attribute: "set_attribute {ro}/file" in Plain, "EROFS", Outside;
    the_mode_of_a_file_of_the_host_stays: "change_mode {secret}" in Plain, "ENOENT", Outside;
    nothing_is_made_in_a_read_only_mount: "make_directory {ro}/new" in Plain, "EROFS|EACCES", Outside;
    usr_is_not_written: "write_in_directory /usr" in Plain, "EROFS|EACCES", Root;
    bin_is_not_written: "write_in_directory /usr/bin" in Plain, "EROFS|EACCES", Root;
    etc_is_not_written: "write_in_directory /etc" in Plain, "EROFS|EACCES", Root;
    the_root_is_not_written: "write_in_directory /" in Plain, "EROFS|EACCES", Root;
    run_is_not_written: "write_in_directory /run" in Plain, "EROFS|EACCES", Root;
    dev_is_not_written: "write_in_directory /dev" in Plain, "EROFS|EACCES", Root;
    certificates_are_not_written: "write_in_directory /etc/ssl/certs" in Plain, "EROFS|EACCES", Root;
    the_mode_of_a_device_stays: "change_times /dev/zero" in Plain, "EROFS", Root;
    settings_of_the_kernel_are_not_written: "open_for_writing /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sys/vm/drop_caches" in Plain, "ENOENT", Root;
    the_kernels_emergency_keys_are_not_pressed: "open_for_writing /proc/sysrq-trigger" in Plain, "ENOENT", Root;
    a_process_does_not_change_its_oom_score: "open_for_writing /proc/self/oom_score_adj /proc/self/mem" in Plain, "EROFS|EACCES", Outside;
    sys_is_not_written: "open_for_writing /sys/kernel/uevent_helper /sys/kernel/mm/ksm/run /sys/power/state" in Plain, "ENOENT", Root;
    no_setuid_program_is_left_in_a_mount: "plant_setuid {rw}/planted" in Plain, "EPERM|EACCES", Outside;
    no_setuid_program_is_born_in_a_mount: "plant_setuid_at_birth {rw}/planted" in Plain, "EPERM|EACCES|ENOSYS", Outside;
    no_setuid_program_without_a_name_gets_one: "plant_setuid_without_name {rw}" in Plain, "EPERM|EACCES", Outside;
    no_setuid_program_is_made_where_sockets_are_allowed: "plant_setuid {rw}/planted" in Socket, "EPERM|EACCES", Outside;
    no_lease_keeps_the_host_waiting: "take_lease {ro}/file" in Plain, "EPERM|EACCES", Outside;
}
