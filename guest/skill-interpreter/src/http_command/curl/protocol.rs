//! `--proto` and `--proto-default`: which scheme a URL may have, and which it has if it has none.

use super::refused;
use crate::draft::{Schemeless, Template};
use crate::failure::Failure;
use crate::http_command::url::Begins;

/// What the options leave of `http` and `https`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Protocols {
    http: bool,
    https: bool,
    default: Schemeless,
}

impl Default for Protocols {
    fn default() -> Self {
        Self {
            http: true,
            https: true,
            default: Schemeless::Http,
        }
    }
}

impl Protocols {
    /// `--proto LIST`: names with `+`, `-` or `=` before them, in order.
    ///
    /// # Errors
    ///
    /// `curl-option-refused` for a list that is not literal.
    pub(super) fn allow(&mut self, option: &str, list: &Template) -> Result<(), Failure> {
        let list = list
            .as_literal()
            .ok_or_else(|| refused(option, "has a variable in it"))?;
        (self.http, self.https) = (true, true);
        for token in list.split(',') {
            let name = token.trim_start_matches(['+', '-', '=']);
            let sign = token
                .strip_suffix(name)
                .and_then(|signs| signs.chars().last());
            if sign == Some('=') {
                (self.http, self.https) = (false, false);
            }
            let allowed = sign != Some('-');
            match name.to_ascii_lowercase().as_str() {
                "all" => (self.http, self.https) = (allowed, allowed),
                "http" => self.http = allowed,
                "https" => self.https = allowed,
                _ => {}
            }
        }
        Ok(())
    }

    /// `--proto-default P`.
    ///
    /// # Errors
    ///
    /// `curl-option-refused` for anything but `http` and `https`.
    pub(super) fn set_default(&mut self, option: &str, name: &Template) -> Result<(), Failure> {
        let name = name.as_literal().unwrap_or_default();
        self.default = match name.to_ascii_lowercase().as_str() {
            "http" => Schemeless::Http,
            "https" => Schemeless::Https,
            _ => return Err(refused(option, "names neither http nor https")),
        };
        Ok(())
    }

    /// What a URL without scheme means.
    pub(super) fn schemeless(self) -> Schemeless {
        self.default
    }

    /// Whether curl would guess a scheme from the host's name.
    pub(super) fn guesses(self) -> bool {
        self.default == Schemeless::Http
    }

    /// Checks the scheme of a URL.
    ///
    /// # Errors
    ///
    /// `curl-option-refused` for a request that curl would not send.
    pub(super) fn check(self, begins: Begins) -> Result<(), Failure> {
        let allowed = match (begins, self.default) {
            (Begins::Http, _) | (Begins::Host, Schemeless::Http | Schemeless::Relative) => {
                self.http
            }
            (Begins::Https, _) | (Begins::Host, Schemeless::Https) => self.https,
            (Begins::Relative | Begins::Variable, _) => self.http || self.https,
        };
        if allowed {
            return Ok(());
        }
        Err(refused("--proto", "forbids the scheme of the URL"))
    }
}
