//! What the host could leave in its child's hands.

use crate::escape::Control::{Nowhere, Outside, Socket, Terminal};
use crate::escape::escapes;

escapes! {
    no_descriptor_of_the_host_is_open: "use_descriptor {leak}" in Plain, "none is open", Outside;
    no_descriptor_of_the_host_is_open_beside_the_relay: "use_descriptor {leak}" in Relay, "none is open", Outside;
    the_socket_to_the_host_is_not_inherited: "use_standard_socket" in Plain, "ENOTSOCK", Socket;
    no_variable_of_the_host_is_inherited: "read_environment {variable}" in Plain, "no variable holds it", Outside;
    no_variable_of_the_host_is_seen_in_another_process: "read_environment_of_others {variable}" in Plain, "EACCES|no process has it", Outside;
    nor_in_the_relay: "read_environment_of_others {variable}" in Relay, "EACCES|no process has it", Outside;
    nothing_is_typed_into_a_terminal_of_the_host: "push_terminal_input" in Terminal, "EPERM", Terminal;
    there_is_no_controlling_terminal: "open_terminal" in Terminal, "ENOENT|ENXIO", Nowhere("a test has no controlling terminal");
}
