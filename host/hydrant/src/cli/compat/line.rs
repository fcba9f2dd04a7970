//! The success lines, which programs read: `OK <command>` and ` name=value` for each fact.

use std::ffi::OsStr;
use std::fmt::Display;
use std::os::unix::ffi::OsStrExt;

use hydrant::base::escaped;

use super::super::output::print;

/// A line that is being put together.
#[must_use]
pub(in crate::cli) struct Line(Vec<u8>);

impl Line {
    /// The line of a command that was successful.
    pub(in crate::cli) fn ok(command: &str) -> Self {
        Self(format!("OK {command}").into_bytes())
    }

    /// A fact, escaped: it may come from a file.
    pub(in crate::cli) fn fact(mut self, name: &str, value: impl Display) -> Self {
        let value = escaped(&value.to_string());
        self.0
            .extend_from_slice(format!(" {name}={value}").as_bytes());
        self
    }

    /// A path or source as the caller gave it, byte for byte.
    pub(in crate::cli) fn given(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.0.extend_from_slice(format!(" {name}=").as_bytes());
        self.0.extend_from_slice(value.as_ref().as_bytes());
        self
    }

    /// Writes it to stdout.
    pub(in crate::cli) fn print(self) -> anyhow::Result<()> {
        print(&self.into_bytes())
    }

    /// The line with its LF.
    pub(in crate::cli) fn into_bytes(mut self) -> Vec<u8> {
        self.0.push(b'\n');
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_echoed_byte_for_byte() {
        let line = Line::ok("pack").given("bundle", OsStr::from_bytes(b"./a b/\xff/"));
        assert_eq!(line.into_bytes(), b"OK pack bundle=./a b/\xff/\n");
    }

    #[test]
    fn a_fact_is_escaped() {
        let line = Line::ok("sign")
            .fact("signer", "a\nOK")
            .fact("signatures", 2);
        assert_eq!(
            line.into_bytes(),
            b"OK sign signer=a\\u{a}OK signatures=2\n"
        );
    }
}
