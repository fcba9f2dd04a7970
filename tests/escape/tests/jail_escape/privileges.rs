//! Privileges, and files that give them.

use crate::escape::Control::{Nobody, Outside, Root};
use crate::escape::escapes;

escapes! {
    no_capability_is_held: "hold_capabilities" in Plain, "none is held", Root;
    the_bounding_set_is_empty: "hold_bounding_set" in Plain, "none is left", Outside;
    no_capability_becomes_ambient: "hold_ambient_set" in Plain, "EPERM", Root;
    execution_gives_no_privileges: "gain_privileges" in Plain, "no_new_privs", Outside;
    there_is_no_root: "become_root" in Plain, "EINVAL|EPERM", Root;
    groups_are_not_set: "set_groups" in Plain, "EPERM", Root;
    the_user_is_nobody: "see_own_id" in Plain, "65534", Outside;
    a_setuid_program_runs_as_its_caller: "run_setuid_program {setuid}" in Executable, "the same ids", Root;
    a_program_with_capabilities_gets_none: "run_program_with_capabilities {capable}" in Executable, "none is held", Nobody;
    no_file_is_given_away: "change_owner {rw}" in Plain, "EINVAL|EPERM", Root;
}
