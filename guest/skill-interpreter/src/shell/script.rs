//! K-117, K-124, K-130, K-131: text that only a shell can run, inside the jail.

use crate::assemble::secrets;
use crate::context::Context;
use crate::draft::{Code, Program, SandboxDraft, Trust};
use crate::model::Runtime;

/// Names that steer the shell or the loader, or that the shell sets itself.
const NEVER: [&str; 22] = [
    "PATH",
    "HOME",
    "TMPDIR",
    "IFS",
    "ENV",
    "CDPATH",
    "SHELLOPTS",
    "PS4",
    "PWD",
    "OLDPWD",
    "UID",
    "EUID",
    "PPID",
    "RANDOM",
    "SECONDS",
    "LINENO",
    "OPTARG",
    "OPTIND",
    "REPLY",
    "PIPESTATUS",
    "FUNCNAME",
    "_",
];
/// K-131, of loaders and of bash itself: never, whatever else the name says.
const NEVER_PREFIXES: [&str; 2] = ["LD_", "BASH"];
/// K-131, of programs: never an input. `GITHUB_TOKEN` is a secret, which another rule gives out.
const STEERING_PREFIXES: [&str; 4] = ["PYTHON", "NODE", "GO", "GIT"];

/// The stage of a script.
pub(super) fn stage(
    text: &str,
    line: u32,
    constructs: Vec<String>,
    free_variables: Vec<String>,
) -> SandboxDraft {
    let mut stage = SandboxDraft::new(
        Runtime::Shell,
        Program::Script(Code {
            text: text.to_owned(),
            line,
        }),
        Trust::Script { constructs },
    );
    stage.free_variables = free_variables;
    stage
}

/// K-131: the variables that come from outside.
pub(super) fn free(variables: &[String], assigned: &[String], context: &Context) -> Vec<String> {
    let assigned: std::collections::BTreeSet<&str> = assigned.iter().map(String::as_str).collect();
    variables
        .iter()
        .filter(|name| !assigned.contains(name.as_str()) && may_be_given(name, context))
        .cloned()
        .collect()
}

fn may_be_given(name: &str, context: &Context) -> bool {
    let upper = name.to_ascii_uppercase();
    if NEVER.contains(&name)
        || upper.ends_with("_PROXY")
        || NEVER_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    {
        return false;
    }
    !STEERING_PREFIXES
        .iter()
        .any(|prefix| name.starts_with(prefix))
        || secrets::is_secret_name(name, context)
}

/// K-131: whether `{name}` stands in the text, and not as `${name}`.
pub(super) fn has_placeholder(text: &str) -> bool {
    let mut pieces = text.split('{');
    let mut before = pieces.next().unwrap_or_default();
    for piece in pieces {
        let end = piece
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')))
            .unwrap_or(piece.len());
        if !before.ends_with('$')
            && piece.starts_with(|c: char| c.is_ascii_alphabetic())
            && piece.get(end..).is_some_and(|rest| rest.starts_with('}'))
        {
            return true;
        }
        before = piece;
    }
    false
}
