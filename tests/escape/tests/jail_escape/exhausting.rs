//! Using up what the host has. Each attempt asks for more than its jail has, and stops
//! at that by itself.

use crate::escape::Control::{In, Outside, Root};
use crate::escape::escapes;
use crate::inside::Shape::{Boundless, Plain, Roomy};

escapes! {
    a_fork_bomb_ends: "fork_many 200" in Plain, "EAGAIN|Processes", In(Boundless);
    a_chain_of_forks_ends: "fork_deep 200" in Plain, "Processes|the chain ends before", In(Boundless);
    threads_are_processes: "start_threads 200" in Plain, "EAGAIN|Processes", In(Boundless);
    processes_are_counted_beside_the_relay: "fork_many 200" in Relay, "EAGAIN|Processes", Outside;
    descriptors_end: "open_descriptors 400" in Plain, "EMFILE", In(Boundless);
    a_limit_is_not_raised: "raise_limit 7 400" in Plain, "EPERM", In(Boundless);
    the_limit_of_data_is_not_raised: "raise_limit 2 1000000000" in Plain, "EPERM", In(Boundless);
    no_core_is_dumped: "dump_core {tmp}" in Plain, "EPERM", Outside;
    no_handler_of_the_host_gets_a_core: "feed_core_handler" in Plain, "the limit is 1", Outside;
    a_file_ends: "write_large_file 33554432 {rw}/large" in Plain, "EFBIG", In(Boundless);
    a_file_is_not_extended: "extend_file 1000000000 {rw}/large" in Plain, "EFBIG", In(Boundless);
    output_into_a_file_ends: "flood_output 33554432" in File, "8388608 bytes", Outside;
    scratch_is_full: "fill_directory 67108864 {tmp}" in Plain, "ENOSPC", In(Roomy);
    scratch_has_no_more_files: "make_files 3000 {tmp}" in Plain, "ENOSPC", In(Roomy);
    no_other_directory_in_memory_is_filled: "fill_directory 16777216 / /dev /dev/shm /run /proc /etc /input /usr" in Plain, "EROFS|EACCES", Root;
    processor_time_ends: "burn_processor 1500" in Patient, "Signaled(24)|Signaled(9)", In(Boundless);
    time_ends: "sleep 1000" in Hurried, "TimedOut", In(Plain);
    memory_of_a_process_ends: "take_anonymous 100663296" in Plain, "ENOMEM", In(Boundless);
    memory_is_counted_without_the_limit_of_a_process: "take_by_children 100663296 4" in Plain, "Memory", In(Boundless);
    memory_is_counted_behind_a_thread_that_ended: "take_behind_ended_threads 100663296 4" in Plain, "Memory", In(Boundless);
    shared_memory_is_bounded: "take_shared 100663296" in Plain, "EPERM|ENOMEM|Memory", In(Boundless);
    shared_memory_of_a_device_is_bounded: "take_shared_zero 100663296" in Plain, "EPERM|ENODEV|EACCES|Memory", In(Boundless);
    files_in_memory_are_refused: "take_memfd 100663296" in Plain, "EPERM", Outside;
    files_in_memory_that_are_not_mapped_are_refused: "take_memfd_unmapped 100663296" in Plain, "EPERM", Outside;
    secret_memory_is_refused: "take_secret 4194304" in Plain, "EPERM", Outside;
    segments_are_refused: "take_segment 67108864" in Plain, "EPERM", Outside;
    page_tables_are_memory: "take_page_tables 83886080" in Plain, "Memory", In(Boundless);
    pipes_are_bounded: "take_pipes 100663296" in Plain, "EMFILE|EPERM|Memory", In(Boundless);
    sockets_are_bounded: "take_sockets 67108864" in Plain, "EMFILE|EPERM|Memory", In(Boundless);
    huge_pages_are_not_left_in_pipes: "take_spliced 134217728" in Plain, "EPERM|EINVAL", Outside;
    pages_of_a_truncated_file_are_not_left_in_pipes: "take_truncated_by_splice 134217728 {rw}" in Plain, "EPERM|EINVAL", Outside;
    nor_by_sendfile: "take_truncated_by_sendfile 134217728 {rw}" in Plain, "EPERM|EINVAL", Outside;
    locked_memory_is_bounded: "lock 100663296" in Plain, "ENOMEM|EPERM|EAGAIN", Root;
}
