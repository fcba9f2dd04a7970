//! A program in the jail and the terminal.
