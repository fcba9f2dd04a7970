//! The options of wget (K-156 to K-159). What is in no row is refused as well.

use crate::http_command::option::Takes::{Nothing, Value, Whatever};
use crate::http_command::option::{Row, row};

/// What an option means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// K-156
    NoEffect,
    /// K-156: `-nv`; what stands after `-n` is its value.
    No,
    /// K-157
    Output,
    /// K-157
    Directory,
    /// K-158
    Header,
    /// K-158
    UserAgent,
    /// K-158
    Referer,
    /// K-158
    Method,
    /// K-158: `--post-data`, which sets the method.
    PostData,
    /// K-158: `--post-file`, which sets the method.
    PostFile,
    /// K-158: `--body-data`, which needs one.
    BodyData,
    /// K-158: `--body-file`, which needs one.
    BodyFile,
    /// K-158
    Timeout,
    /// K-158
    MaxRedirects,
    /// K-158: `--user`
    User,
    /// K-158: `--http-user`, which goes before `--user`.
    HttpUser,
    /// K-158: `--password`
    Password,
    /// K-158: `--http-password`, which goes before `--password`.
    HttpPassword,
    /// K-159
    Refused,
}

/// Every option that is known.
pub(super) const TABLE: &[Row<Role>] = &[
    // K-156
    row(
        &[
            "-q",
            "--quiet",
            "-S",
            "--server-response",
            "--no-verbose",
            "--show-progress",
        ],
        Nothing,
        Role::NoEffect,
    ),
    row(&["-n"], Value, Role::No),
    // K-157
    row(&["-O", "--output-document"], Value, Role::Output),
    row(&["-P", "--directory-prefix"], Value, Role::Directory),
    // K-158
    row(&["--header"], Value, Role::Header),
    row(&["-U", "--user-agent"], Value, Role::UserAgent),
    row(&["--referer"], Value, Role::Referer),
    row(&["--method"], Value, Role::Method),
    row(&["--post-data"], Value, Role::PostData),
    row(&["--post-file"], Value, Role::PostFile),
    row(&["--body-data"], Value, Role::BodyData),
    row(&["--body-file"], Value, Role::BodyFile),
    row(&["-T", "--timeout"], Value, Role::Timeout),
    row(&["-t", "--tries"], Value, Role::NoEffect),
    row(&["--max-redirect"], Value, Role::MaxRedirects),
    row(&["--user"], Value, Role::User),
    row(&["--http-user"], Value, Role::HttpUser),
    row(&["--password"], Value, Role::Password),
    row(&["--http-password"], Value, Role::HttpPassword),
    // K-159
    row(
        &[
            "--no-check-certificate",
            "-e",
            "--execute",
            "-i",
            "--input-file",
            "-r",
            "--recursive",
            "-m",
            "--mirror",
            "-p",
            "--page-requisites",
            "-k",
            "--convert-links",
            "-H",
            "--span-hosts",
            "-D",
            "--domains",
            "--load-cookies",
            "--save-cookies",
            "--ca-*",
            "--certificate*",
            "--private-key*",
            "--use-askpass",
            "--config",
        ],
        Whatever,
        Role::Refused,
    ),
];
