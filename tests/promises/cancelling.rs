//! A cancelled call ends with everything that it started.
