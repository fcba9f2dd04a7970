//! Numbers are sent as they were written.
