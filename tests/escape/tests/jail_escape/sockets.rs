//! Unix sockets of the host: abstract ones, ones with a path, and descriptors that come over them.

use hydrant_jail::Removed::Landlock;

use crate::escape::Control::{Nowhere, Outside, Without};
use crate::escape::escapes;

escapes! {
    an_abstract_socket_is_not_reached: "abstract_stream {abstract}" in Plain, "EPERM", Outside;
    an_abstract_datagram_socket_is_not_reached: "abstract_datagram {abstract_datagram}" in Plain, "EPERM", Outside;
    an_abstract_socket_is_not_reached_where_sockets_are_allowed: "abstract_stream {abstract}" in Socket, "ECONNREFUSED|EPERM", Outside;
    an_abstract_datagram_socket_is_not_reached_where_sockets_are_allowed: "abstract_datagram {abstract_datagram}" in Socket, "ECONNREFUSED|EPERM", Outside;
    a_path_socket_is_not_reached: "path_stream {stream}" in Plain, "EPERM", Outside;
    a_path_datagram_socket_is_not_reached: "path_datagram {datagram}" in Plain, "EPERM", Outside;
    a_path_socket_is_not_reached_where_sockets_are_allowed: "path_stream {stream}" in Socket, "ENOENT", Outside;
    a_socket_that_lies_in_a_mount_is_not_reached: "path_stream {stream_in_mount}" in Plain, "EPERM", Outside;
    a_datagram_socket_that_lies_in_a_mount_is_not_reached: "path_datagram {datagram_in_mount}" in Plain, "EPERM", Outside;
    a_socket_that_lies_in_a_mount_is_not_reached_where_sockets_are_allowed: "path_stream {stream_in_mount}" in Socket, "EACCES", Outside;
    a_datagram_socket_that_lies_in_a_mount_is_not_reached_where_sockets_are_allowed: "path_datagram {datagram_in_mount}" in Socket, "EPERM", Outside;
    a_pair_sends_nothing_to_a_socket_in_a_mount_where_sockets_are_allowed: "path_by_datagram_pair {datagram_in_mount}" in Socket, "EPERM", Outside;
    no_descriptor_comes_over_a_socket_in_a_mount_where_sockets_are_allowed: "receive_descriptor {giver_in_mount}" in Socket, "EACCES", Outside;
    who_connects_for_the_program_is_not_killed: "kill_any {others}" in Socket, "EPERM", Without(&[Landlock]);
    a_pair_is_not_connected_to_a_socket_in_a_mount: "path_by_pair {stream_in_mount}" in Plain, "EISCONN", Nowhere("a connected socket stays connected everywhere");
    a_pair_sends_nothing_to_a_socket_in_a_mount: "path_by_datagram_pair {datagram_in_mount}" in Plain, "EPERM", Outside;
    no_descriptor_comes_over_a_socket: "receive_descriptor {giver}" in Plain, "EPERM", Outside;
    no_descriptor_comes_over_a_socket_in_a_mount: "receive_descriptor {giver_in_mount}" in Plain, "EPERM", Outside;
}
