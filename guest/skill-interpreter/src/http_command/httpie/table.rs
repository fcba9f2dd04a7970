//! The options of httpie (K-160 to K-163). What is in no row is refused as well.

use crate::http_command::option::Takes::{Nothing, Value, Whatever};
use crate::http_command::option::{Row, row};

/// What an option means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// K-162: the default, said.
    Json,
    /// K-162
    Form,
    /// K-162
    Multipart,
    /// K-163: `--raw`
    Raw,
    /// K-163
    Auth,
    /// K-163
    AuthType,
    /// K-163
    Follow,
    /// K-163
    Timeout,
    /// K-163
    Output,
    /// K-163
    Download,
    /// K-163: standard input is not the body.
    IgnoreStdin,
    /// K-163
    NoEffect,
    /// K-163
    Refused,
}

/// Every option that is known.
pub(super) const TABLE: &[Row<Role>] = &[
    // K-162
    row(&["-j", "--json"], Nothing, Role::Json),
    row(&["-f", "--form"], Nothing, Role::Form),
    row(&["--multipart"], Nothing, Role::Multipart),
    // K-163
    row(&["--raw"], Value, Role::Raw),
    row(&["-a", "--auth"], Value, Role::Auth),
    row(&["-A", "--auth-type"], Value, Role::AuthType),
    row(&["-F", "--follow"], Nothing, Role::Follow),
    row(&["--timeout"], Value, Role::Timeout),
    row(&["-o", "--output"], Value, Role::Output),
    row(&["-d", "--download"], Nothing, Role::Download),
    row(&["-I", "--ignore-stdin"], Nothing, Role::IgnoreStdin),
    row(
        &[
            "-b",
            "--body",
            "-h",
            "--headers",
            "-v",
            "--verbose",
            "--check-status",
        ],
        Nothing,
        Role::NoEffect,
    ),
    row(&["-p", "--print", "--pretty"], Value, Role::NoEffect),
    row(
        &[
            "--verify",
            "--cert*",
            "--proxy",
            "--session*",
            "--path-as-is",
        ],
        Whatever,
        Role::Refused,
    ),
];
