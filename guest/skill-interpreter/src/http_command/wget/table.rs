//! The options of wget. What is in no row is refused as well.

use crate::http_command::option::Takes::{Nothing, Value, Whatever};
use crate::http_command::option::{Row, row};

/// What an option means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    NoEffect,
    /// `-nv`; what stands after `-n` is its value.
    No,
    Output,
    Directory,
    Header,
    UserAgent,
    Referer,
    Method,
    /// `--post-data`, which sets the method.
    PostData,
    /// `--post-file`, which sets the method.
    PostFile,
    /// `--body-data`, which needs one.
    BodyData,
    /// `--body-file`, which needs one.
    BodyFile,
    Timeout,
    MaxRedirects,
    /// `--user`
    User,
    /// `--http-user`, which goes before `--user`.
    HttpUser,
    /// `--password`
    Password,
    /// `--http-password`, which goes before `--password`.
    HttpPassword,
    Refused,
}

/// Every option that is known.
pub(super) const TABLE: &[Row<Role>] = &[
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
    row(&["-O", "--output-document"], Value, Role::Output),
    row(&["-P", "--directory-prefix"], Value, Role::Directory),
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
