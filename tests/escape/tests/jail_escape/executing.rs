//! Executing what may not be executed: files that can be written, and programs that were not named.

use crate::escape::Control::{In, Outside};
use crate::escape::escapes;
use crate::inside::Shape::{Executable, Plain};

escapes! {
    a_program_that_was_not_named_is_not_executed: "execute /usr/bin/true" in Alone, "EACCES", In(Plain);
    a_shell_that_was_not_named_is_not_executed: "execute /bin/sh" in Alone, "EACCES", Outside;
    the_loader_executes_no_program_that_was_not_named: "execute_by_loader /usr/bin/true {loader}" in Alone, "EACCES|it failed", In(Plain);
    a_copy_in_scratch_is_not_executed: "execute_copy /usr/bin/true {tmp}" in Plain, "EACCES", Outside;
    a_copy_in_a_mount_is_not_executed: "execute_copy /usr/bin/true {rw}" in Plain, "EACCES", In(Executable);
    a_script_in_a_mount_is_not_executed: "execute_script /bin/sh {rw}" in Plain, "EACCES", In(Executable);
    a_script_in_scratch_is_not_executed: "execute_script /bin/sh {tmp}" in Plain, "EACCES", Outside;
    the_loader_executes_no_copy: "execute_copy_by_loader /usr/bin/true {tmp} {loader}" in Plain, "it failed", Outside;
    the_loader_executes_no_copy_in_a_mount: "execute_copy_by_loader /usr/bin/true {rw} {loader}" in Plain, "it failed", In(Executable);
    no_file_in_memory_is_executed: "execute_memory_file /usr/bin/true" in Plain, "EPERM", Outside;
    no_open_file_is_executed: "execute_open_file /usr/bin/true {rw}" in Plain, "EACCES", In(Executable);
    no_copy_is_mapped_as_code: "map_copy_executable /usr/bin/true {tmp}" in Plain, "EPERM", Outside;
    no_copy_in_a_mount_is_mapped_as_code: "map_copy_executable /usr/bin/true {rw}" in Plain, "EPERM", In(Executable);
}
