//! Unix sockets of the host (K-334, K-348): abstract ones, ones with a path, and descriptors that come over them.

use crate::escape::Control::{Nowhere, Outside};
use crate::escape::{Escape, escapes, report};
use crate::host::Host;
use crate::inside::{Ended, Shape};
use crate::objects;

escapes! {
    k_348_an_abstract_socket_is_not_reached: "abstract_stream {abstract}" in Plain, "EPERM", Outside;
    k_348_an_abstract_datagram_socket_is_not_reached: "abstract_datagram {abstract_datagram}" in Plain, "EPERM", Outside;
    k_334_an_abstract_socket_is_not_reached_where_sockets_are_allowed: "abstract_stream {abstract}" in Socket, "ECONNREFUSED|EPERM", Outside;
    k_334_an_abstract_datagram_socket_is_not_reached_where_sockets_are_allowed: "abstract_datagram {abstract_datagram}" in Socket, "ECONNREFUSED|EPERM", Outside;
    k_348_a_path_socket_is_not_reached: "path_stream {stream}" in Plain, "EPERM", Outside;
    k_348_a_path_datagram_socket_is_not_reached: "path_datagram {datagram}" in Plain, "EPERM", Outside;
    k_348_a_path_socket_is_not_reached_where_sockets_are_allowed: "path_stream {stream}" in Socket, "ENOENT", Outside;
    k_348_a_socket_that_lies_in_a_mount_is_not_reached: "path_stream {stream_in_mount}" in Plain, "EPERM", Outside;
    k_348_a_datagram_socket_that_lies_in_a_mount_is_not_reached: "path_datagram {datagram_in_mount}" in Plain, "EPERM", Outside;
    k_348_a_pair_is_not_connected_to_a_socket_in_a_mount: "path_by_pair {stream_in_mount}" in Plain, "EISCONN", Nowhere("a connected socket stays connected everywhere");
    k_348_a_pair_sends_nothing_to_a_socket_in_a_mount: "path_by_datagram_pair {datagram_in_mount}" in Plain, "EPERM", Outside;
    k_348_no_descriptor_comes_over_a_socket: "receive_descriptor {giver}" in Plain, "EPERM", Outside;
    k_348_no_descriptor_comes_over_a_socket_in_a_mount: "receive_descriptor {giver_in_mount}" in Plain, "EPERM", Outside;
}

/// The ABI of Landlock with rules for connecting to sockets that have a path.
const RESOLVE_UNIX: i32 = 9;

/// A known limit, stated at `Plan::sockets`: where a plan has sockets and the kernel has no rule for them, those that
/// lie in mounts are reached as well. This test fails when that changes, on either side.
#[test]
fn k_348_a_socket_in_a_mount_is_reached_only_below_abi_9_where_sockets_are_allowed() {
    let escape = Escape {
        test: "k_348_a_socket_in_a_mount_is_reached_only_below_abi_9_where_sockets_are_allowed",
        attempt: "path_stream {stream_in_mount}",
        shape: Shape::Socket,
        stopped: "EACCES|EPERM",
        control: Outside,
    };
    if objects::landlock_abi() >= RESOLVE_UNIX {
        return escape.check();
    }
    let ended = escape.try_in(&Host::new(), Shape::Socket, &[]);
    assert!(
        matches!(ended, Ended::Escaped(_)),
        "{ended:?}: the limit is gone"
    );
    report(&format!(
        "known limit: {}: Landlock ABI {}",
        escape.test,
        objects::landlock_abi()
    ));
}
