//! Changing the file view: another root, mounts made, moved, changed and taken away.

use crate::escape::Control::Root;
use crate::escape::escapes;

escapes! {
    chroot_is_refused: "chroot {tmp}" in Plain, "EPERM", Root;
    pivot_root_is_refused: "pivot_root {tmp} {own}" in Plain, "EPERM", Root;
    a_tmpfs_is_not_mounted: "mount_tmpfs {tmp} {own}" in Plain, "EPERM", Root;
    a_procfs_is_not_mounted: "mount_proc {tmp} {own}" in Plain, "EPERM", Root;
    a_directory_is_not_bound: "mount_bind {tmp} {own}" in Plain, "EPERM", Root;
    a_read_only_mount_is_not_remounted: "remount_writable {ro} {own}" in Plain, "EPERM", Root;
    a_read_only_attribute_is_not_cleared: "mount_setattr {ro} {own}" in Plain, "EPERM", Root;
    nothing_is_uncovered: "umount {tmp} {own}" in Plain, "EPERM", Root;
    the_library_mount_is_not_taken_away: "umount {ro} {own}" in Plain, "EPERM", Root;
    a_tree_is_not_copied: "open_tree {ro}" in Plain, "EPERM", Root;
    a_mount_is_not_moved: "move_mount {tmp} {own}" in Plain, "EPERM", Root;
    a_file_system_is_not_opened: "fsopen" in Plain, "EPERM", Root;
    a_file_system_is_not_reconfigured: "fspick /" in Plain, "EPERM", Root;
}
