//! The options of curl (K-133 to K-150). What is in no row is `curl-option-unknown` (K-151).

use crate::http_command::option::Takes::{Nothing, Value, Whatever};
use crate::http_command::option::{Row, row};

/// What an option means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// K-133
    Method,
    /// K-134 to K-136
    Data(Data),
    /// K-137
    Form,
    /// K-137
    FormString,
    /// K-138
    Get,
    /// K-139
    Head,
    /// K-140
    Header,
    /// K-141
    User,
    /// K-142
    Bearer,
    /// K-142
    UserAgent,
    /// K-142
    Referer,
    /// K-142
    Range,
    /// K-142
    Compressed,
    /// K-143
    Cookie,
    /// K-144
    Location,
    /// K-145
    MaxTime,
    /// K-145
    ConnectTimeout,
    /// K-145
    MaxFilesize,
    /// K-145
    MaxRedirects,
    /// K-146
    Output,
    /// K-146
    RemoteName,
    /// K-146
    OutputDirectory,
    /// K-147
    Url,
    /// K-147
    UrlQuery,
    /// K-148: `--proto`, which may forbid the scheme of the URL.
    Protocols,
    /// K-148: `--proto-default`, the scheme of a URL without one.
    DefaultProtocol,
    /// Nothing that a request shows, or that the host does not decide anyway.
    NoEffect,
    /// K-149
    Noted,
    /// K-149, with `-` as its value; K-150 with any other.
    NotedToStdout,
    /// K-150
    Refused,
}

/// How the options of data differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Data {
    /// `@file` without CR, LF and NUL.
    Plain,
    /// `@` is text.
    Raw,
    /// `@file` as it is.
    Binary,
    /// K-135
    Encoded,
    /// K-136
    Json,
}

/// Every option that is known.
pub(super) const TABLE: &[Row<Role>] = &[
    // K-133
    row(&["-X", "--request"], Value, Role::Method),
    // K-134
    row(
        &["-d", "--data", "--data-ascii"],
        Value,
        Role::Data(Data::Plain),
    ),
    row(&["--data-raw"], Value, Role::Data(Data::Raw)),
    row(&["--data-binary"], Value, Role::Data(Data::Binary)),
    // K-135
    row(&["--data-urlencode"], Value, Role::Data(Data::Encoded)),
    // K-136
    row(&["--json"], Value, Role::Data(Data::Json)),
    // K-137
    row(&["-F", "--form"], Value, Role::Form),
    row(&["--form-string"], Value, Role::FormString),
    // K-138
    row(&["-G", "--get"], Nothing, Role::Get),
    // K-139
    row(&["-I", "--head"], Nothing, Role::Head),
    // K-140
    row(&["-H", "--header"], Value, Role::Header),
    // K-141
    row(&["-u", "--user"], Value, Role::User),
    // K-142
    row(&["--oauth2-bearer"], Value, Role::Bearer),
    row(&["-A", "--user-agent"], Value, Role::UserAgent),
    row(&["-e", "--referer"], Value, Role::Referer),
    row(&["-r", "--range"], Value, Role::Range),
    row(&["--compressed"], Nothing, Role::Compressed),
    // K-143
    row(&["-b", "--cookie"], Value, Role::Cookie),
    // K-144
    row(&["-L", "--location"], Nothing, Role::Location),
    // K-145
    row(&["-m", "--max-time"], Value, Role::MaxTime),
    row(&["--connect-timeout"], Value, Role::ConnectTimeout),
    row(&["--max-filesize"], Value, Role::MaxFilesize),
    row(&["--max-redirs"], Value, Role::MaxRedirects),
    row(
        &[
            "--retry",
            "--retry-delay",
            "--retry-max-time",
            "--limit-rate",
        ],
        Value,
        Role::NoEffect,
    ),
    row(
        &["--retry-all-errors", "--retry-connrefused"],
        Nothing,
        Role::NoEffect,
    ),
    // K-146
    row(&["-o", "--output"], Value, Role::Output),
    row(&["-O", "--remote-name"], Nothing, Role::RemoteName),
    row(&["--output-dir"], Value, Role::OutputDirectory),
    row(
        &[
            "-J",
            "--remote-header-name",
            "--create-dirs",
            "--remove-on-error",
        ],
        Nothing,
        Role::NoEffect,
    ),
    // K-147
    row(&["--url"], Value, Role::Url),
    row(&["--url-query"], Value, Role::UrlQuery),
    // K-148
    row(
        &[
            "-s",
            "--silent",
            "-S",
            "--show-error",
            "-f",
            "--fail",
            "--fail-early",
            "--fail-with-body",
            "-N",
            "--no-buffer",
            "-g",
            "--globoff",
            "-#",
            "--progress-bar",
            "--no-progress-meter",
            "-q",
            "--disable",
            "-Z",
            "--parallel",
            "-0",
            "--http1.0",
            "--http1.1",
            "--http2",
            "--http2-prior-knowledge",
            "--http3",
            "--http3-only",
            "-4",
            "--ipv4",
            "-6",
            "--ipv6",
            "--tlsv1.2",
            "--tlsv1.3",
            "--ssl-reqd",
            "--tcp-fastopen",
            "--tcp-nodelay",
            "-j",
            "--junk-session-cookies",
        ],
        Nothing,
        Role::NoEffect,
    ),
    row(&["--proto"], Value, Role::Protocols),
    row(&["--proto-default"], Value, Role::DefaultProtocol),
    row(&["--proto-redir"], Value, Role::NoEffect),
    // K-149
    row(
        &[
            "-i",
            "--include",
            "-v",
            "--verbose",
            "--trace-time",
            "--trace-ids",
        ],
        Nothing,
        Role::Noted,
    ),
    row(&["-w", "--write-out", "--trace-config"], Value, Role::Noted),
    row(
        &["-D", "--dump-header", "--trace", "--trace-ascii"],
        Value,
        Role::NotedToStdout,
    ),
    // K-150. Whatever these take: reading ends at the first of them.
    row(
        &[
            "-k",
            "--insecure",
            "-x",
            "--proxy*",
            "-p",
            "--preproxy",
            "--socks*",
            "-U",
            "-K",
            "--config",
            "--resolve",
            "--connect-to",
            "--unix-socket",
            "--abstract-unix-socket",
            "--interface",
            "--dns-*",
            "--doh*",
            "--cacert",
            "--capath",
            "-E",
            "--cert",
            "--key",
            "--pinnedpubkey",
            "-n",
            "--netrc*",
            "-T",
            "--upload-file",
            "-a",
            "--append",
            "-Q",
            "--quote",
            "-P",
            "--ftp*",
            "-c",
            "--cookie-jar",
            "--location-trusted",
            "--digest",
            "--ntlm",
            "--negotiate",
            "--anyauth",
            "--aws-sigv4",
            "--delegation",
            "-:",
            "--next",
            "--variable",
            "--expand-*",
            "--request-target",
            "--path-as-is",
            "--haproxy*",
            "--stderr",
            "--etag-*",
            "-z",
            "--time-cond",
            "-C",
            "--continue-at",
        ],
        Whatever,
        Role::Refused,
    ),
];
