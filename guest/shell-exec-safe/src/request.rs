//! The request: a program, its arguments, where it runs and its bounds.

use kit::SkillError;
use kit::host::process::{Command, Program, Target};
use kit::members::{Members, invalid, missing};
use kit::path::{MAX_PATH_BYTES, Path};

/// Words of a command, the program included.
const MAX_WORDS: usize = 256;

/// Bytes of all words of a command.
const MAX_BYTES: usize = 131_072;

/// Bytes of each stream that can be asked for.
const MAX_OUTPUT_BYTES: u32 = 1_048_576;

/// Bytes of a character that the limit may split, so that it is seen whole.
const LOOK_AHEAD: u32 = 3;

/// What is to run, checked.
#[derive(Debug)]
pub(crate) struct Request {
    /// `argv[0]`: a bare name.
    pub(crate) program: String,
    /// The working directory.
    pub(crate) directory: Path,
    /// Bytes of each stream that are answered.
    pub(crate) max_output_bytes: u32,
    arguments: Vec<String>,
    timeout_ms: u32,
}

impl Request {
    pub(crate) fn parse(request: &[u8]) -> Result<Self, SkillError> {
        let mut members = Members::parse(request)?;
        let words = members
            .strings("argv", 1..=MAX_WORDS, 0..=MAX_BYTES)?
            .ok_or_else(|| missing("argv"))?;
        let directory = members.optional_string("cwd", 0..=MAX_PATH_BYTES)?;
        let timeout_ms = members.integer("timeout_ms", 1..=600_000, 120_000)?;
        let max_output_bytes = members.integer("max_output_bytes", 1..=MAX_OUTPUT_BYTES, 65_536)?;
        members.finish()?;
        let bytes: usize = words.iter().map(String::len).sum();
        if bytes > MAX_BYTES {
            return Err(invalid(
                "argv",
                &format!("has {bytes} bytes, not at most {MAX_BYTES}"),
            ));
        }
        let mut words = words.into_iter();
        let program = words
            .next()
            .filter(|name| is_program(name))
            .ok_or_else(|| invalid("argv", "begins with no bare program name"))?;
        let directory = directory.as_deref().unwrap_or(".");
        let directory = Path::parse_directory(&program, "cwd", directory)?;
        Ok(Self {
            program,
            directory,
            max_output_bytes,
            arguments: words.collect(),
            timeout_ms,
        })
    }

    /// The hostcall's form.
    pub(crate) fn command(&self) -> Command {
        Command {
            target: Target::Program(Program {
                name: self.program.clone(),
                directory: self.directory.absolute().to_owned(),
            }),
            arguments: self.arguments.clone(),
            timeout_ms: self.timeout_ms,
            max_output_bytes: self.max_output_bytes.saturating_add(LOOK_AHEAD),
        }
    }
}

/// Whether a program name matches `^[A-Za-z0-9][A-Za-z0-9._+-]*$`.
fn is_program(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte))
}
