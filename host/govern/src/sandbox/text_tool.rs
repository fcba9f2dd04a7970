//! Text tools that the interpreter does not have built in: standard input to standard output, nothing else.

use std::ffi::OsString;
use std::path::PathBuf;

use hydrant_jail::{How, Launcher};
use serde_json::Map;

use super::resources::Allowed;
use super::supervise;
use super::tools::sandboxed;
use super::{Caps, End, Settings, plan, required};
use crate::chain::Used;
use crate::failure::{Code, Failure};

/// The tools that may transform text, with no files, network or secrets.
const TOOLS: [&str; 10] = [
    "cat", "head", "tail", "wc", "sort", "uniq", "cut", "tr", "grep", "sed",
];

/// Characters of a tool's own message that are shown.
const SHOWN: usize = 120;

/// The program of a tool, and whether it takes `--sandbox`.
pub(super) fn require(tool: &str) -> Result<(PathBuf, bool), Failure> {
    sandboxed(tool).ok_or_else(|| required::unavailable(vec![format!("tool:{tool}")]))
}

/// See [`super::Sandbox::text_tool`].
pub(super) fn run(
    launcher: &Launcher,
    settings: &Settings,
    tool: &str,
    args: &[String],
    stdin: &[u8],
    caps: Caps,
) -> Result<(Vec<u8>, Used), Failure> {
    if tool != "awk" && !TOOLS.contains(&tool) {
        let message = "it is no text tool of the interpreter";
        return Err(Failure::new(Code::InvalidPlan, message));
    }
    if args.iter().any(|argument| argument.contains('\0')) {
        let message = "an argument has a NUL character";
        return Err(Failure::new(Code::InvalidInput, message));
    }
    let (path, sandboxed) = require(tool)?;
    let mut arguments: Vec<OsString> = vec![tool.into()];
    if sandboxed {
        arguments.push("--sandbox".into());
    }
    arguments.extend(args.iter().map(OsString::from));
    let allowed = Allowed::new(&Map::new(), caps)?;
    let plan = plan::bare(&path, arguments, &allowed, settings)?;
    let ran = supervise::program(launcher, plan, stdin, &allowed, None)
        .map_err(|error| supervise::failed(error, tool))?;
    if let Some(dimension) = ran.exhausted {
        let message = format!("{tool}: the budget has nothing left ({dimension:?})");
        return Err(Failure {
            executed: true,
            ..Failure::new(Code::BudgetExhausted, message)
        });
    }
    let failure = |code, message: String| Failure {
        executed: true,
        ..Failure::new(code, message)
    };
    match (ran.end, ran.how) {
        (End::Exit, How::Exited(0)) if !ran.stdout.truncated => Ok((ran.stdout.bytes, ran.used)),
        // Nothing found.
        (End::Exit, How::Exited(1)) if tool == "grep" && ran.stderr.bytes.is_empty() => {
            Ok((ran.stdout.bytes, ran.used))
        }
        (End::Exit, How::Exited(0)) | (End::OutputLimit, _) => Err(failure(
            Code::Limit,
            format!("{tool} wrote more than {} bytes", supervise::KEPT_BYTES),
        )),
        (End::Timeout, _) => Err(failure(Code::Timeout, format!("{tool} took too long"))),
        (_, how) => {
            let said = String::from_utf8_lossy(&ran.stderr.bytes);
            let said: String = said
                .lines()
                .next()
                .unwrap_or_default()
                .chars()
                .filter(|c| !c.is_control())
                .take(SHOWN)
                .collect();
            let how = match how {
                How::Exited(code) => format!("exited with {code}"),
                other => format!("ended: {other:?}"),
            };
            Err(failure(Code::Transform, format!("{tool} {how}: {said}")))
        }
    }
}
