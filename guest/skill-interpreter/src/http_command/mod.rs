//! curl, wget and the bare verb: argument vectors and text to requests.
//!
//! Each program has one table of its options (`option::Row`), which says what an option takes and what it means; what
//! stands in no table is refused, so that no option which would change a request is ever passed over. Nothing here decides
//! what a variable is, which header may be sent or which host is contacted: that is `assemble`'s.

mod curl;
mod header;
mod limit;
mod option;
mod url;
pub mod verb;
mod wget;

pub use curl::are_curl_options;
pub use header::is_token;

use crate::assemble::check_address;
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::{HttpDraft, Template, Word};
use crate::failure::{Code, Failure};

/// What a command reads on its standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdin<'a> {
    /// It is the first stage, and nothing is given.
    Nothing,
    /// A here-document or here-string.
    Text(&'a Template),
    /// What the stage before puts out.
    Previous,
}

/// A simple command.
#[derive(Debug, Clone, Copy)]
pub struct Invocation<'a> {
    /// `argv[0]` first; at least one word. Words are expanded: each is one argument.
    pub argv: &'a [Word],
    /// What it reads.
    pub stdin: Stdin<'a>,
    /// Its line.
    pub line: u32,
}

/// Whether this module knows the command.
#[must_use]
pub fn is_http(name: &str) -> bool {
    matches!(name, "curl" | "curl.exe" | "wget")
}

/// Reads a command of [`is_http`]. Several URLs make several requests.
///
/// # Errors
///
/// The codes of options, `header-refused` for what is no header, and those of [`check_address`].
pub fn parse(
    invocation: &Invocation<'_>,
    context: &Context,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<HttpDraft>, Failure> {
    let _ = context;
    let no_command = || Failure::new(Code::NotAnOperation, "no HTTP command");
    let Some((program, arguments)) = invocation.argv.split_first() else {
        return Err(no_command().at_line(invocation.line));
    };
    let arguments = Arguments {
        words: arguments,
        stdin: invocation.stdin,
        line: invocation.line,
    };
    let requests = match program.as_literal().as_deref() {
        Some("curl" | "curl.exe") => curl::parse(&arguments, diagnostics),
        Some("wget") => wget::parse(&arguments),
        _ => Err(no_command()),
    };
    requests
        .and_then(|requests| {
            requests.iter().try_for_each(check_address)?;
            Ok(requests)
        })
        .map_err(|failure| failure.at_line(invocation.line))
}

/// A command without its name.
#[derive(Debug, Clone, Copy)]
struct Arguments<'a> {
    words: &'a [Word],
    stdin: Stdin<'a>,
    line: u32,
}
