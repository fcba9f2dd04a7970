//! Sockets of the network, without any and with the relay.

use crate::escape::Control::{Outside, Root};
use crate::escape::escapes;

escapes! {
    a_tcp_listener_of_the_host_is_not_reached: "tcp_connect {tcp}" in Plain, "EPERM", Outside;
    nor_without_blocking: "tcp_connect_without_blocking {port}" in Plain, "EPERM", Outside;
    nor_by_a_fast_open: "tcp_fast_open {port}" in Plain, "EPERM", Outside;
    a_udp_socket_of_the_host_is_not_reached: "udp_send {udp}" in Plain, "EPERM", Outside;
    no_name_is_resolved: "dns_query {udp}" in Plain, "EPERM", Outside;
    no_port_is_bound: "tcp_bind 0" in Plain, "EPERM", Outside;
    no_udp_port_is_bound: "udp_bind 0" in Plain, "EPERM", Outside;
    loopback_is_not_there: "own_loopback" in Plain, "EPERM", Outside;
    there_is_no_icmp_socket: "socket 2 2 1" in Plain, "EPERM", Outside;
    there_is_no_raw_socket: "socket 2 3 1" in Plain, "EPERM", Root;
    there_is_no_raw_socket_of_version_6: "socket 10 3 58" in Plain, "EPERM", Root;
    there_is_no_packet_socket: "socket 17 3 768" in Plain, "EPERM", Root;
    there_is_no_netlink_socket: "netlink_list" in Plain, "EPERM", Outside;
    there_is_no_vsock: "vsock_connect" in Plain, "EPERM", Outside;
    there_is_no_socket_of_the_kernels_ciphers: "socket 38 5 0" in Plain, "EPERM", Outside;
    there_is_no_can_socket: "socket 29 3 1" in Plain, "EPERM", Outside;
    there_is_no_multipath_socket: "socket 2 1 262" in Plain, "EPERM", Outside;
    beside_the_relay_no_listener_is_reached: "tcp_connect {tcp}" in Relay, "EACCES|ECONNREFUSED", Outside;
    nor_by_a_relay_without_blocking: "tcp_connect_without_blocking {port}" in Relay, "EACCES|ECONNREFUSED", Outside;
    nor_by_a_relay_by_a_fast_open: "tcp_fast_open {port}" in Relay, "EACCES|ECONNREFUSED|EPIPE", Outside;
    beside_the_relay_there_is_no_udp: "udp_send {udp}" in Relay, "EPERM", Outside;
    beside_the_relay_no_name_is_resolved: "dns_query {udp}" in Relay, "EPERM", Outside;
    beside_the_relay_no_port_is_bound: "tcp_bind 0" in Relay, "EACCES", Outside;
    beside_the_relay_there_is_no_multipath_socket: "socket 2 1 262" in Relay, "EPERM", Outside;
    beside_the_relay_there_is_no_raw_socket: "socket 2 3 1" in Relay, "EPERM", Root;
    beside_the_relay_there_is_no_netlink_socket: "netlink_list" in Relay, "EPERM", Outside;
    beside_the_relay_there_is_no_unix_socket: "path_stream {stream_in_mount}" in Relay, "EPERM", Outside;
}
