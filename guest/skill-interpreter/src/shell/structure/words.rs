//! What each word is: reserved, an assignment, the first of a command, or nothing but a word.

use super::{Named, Next, Open, Safe, Walker};
use crate::failure::Failure;
use crate::limits;
use crate::shell::expansion::name_length;
use crate::shell::lexer::{Kind, Token};

impl Walker<'_> {
    /// The first word of a command.
    fn names_command(&mut self, token: &Token, written: &str) {
        self.commands.push(super::CommandWord {
            start: token.start,
            after_pipe: self.after_pipe,
        });
        self.awaits_command = false;
        self.assigns_arguments = matches!(
            written,
            "read"
                | "mapfile"
                | "readarray"
                | "getopts"
                | "export"
                | "local"
                | "declare"
                | "typeset"
                | "readonly"
                | "unset"
                | "printf"
        );
    }

    pub(super) fn word(&mut self, token: &Token, after: Option<&Token>) -> Result<(), Failure> {
        let written = self.scan.text_of(token);
        if std::mem::take(&mut self.redirects) {
            self.emit(Safe::Word("w".to_owned()), token);
            return Ok(());
        }
        match (self.top(), self.next) {
            (Some(Open::Array), _) => self.emit(Safe::Word("w".to_owned()), token),
            (Some(Open::Test), _) => return self.test_word(token, written),
            (Some(Open::Parenthesis), Next::Argument) if self.within_test() => {
                return self.test_word(token, written);
            }
            (_, Next::Pattern) if written == "esac" => return self.close_case(token),
            (_, Next::Pattern | Next::MorePattern) => {
                self.emit(Safe::Word("w".to_owned()), token);
                self.next = Next::MorePattern;
            }
            (_, Next::Name(named)) => {
                if named == Named::Loop {
                    self.assigned.push(written.to_owned());
                }
                self.emit(Safe::Word("w".to_owned()), token);
                self.next = match named {
                    Named::Function => Next::Command,
                    Named::Loop | Named::Case => Next::In(named),
                };
            }
            (_, Next::In(named)) => match (named, written) {
                (Named::Case, "in") => {
                    self.emit(Safe::Word("in".to_owned()), token);
                    self.next = Next::Pattern;
                }
                (Named::Loop, "in") => {
                    self.emit(Safe::Word("in".to_owned()), token);
                    self.next = Next::Argument;
                }
                (Named::Loop, "do" | "{") => {
                    self.next = Next::Command;
                    return self.command_word(token, written, after);
                }
                _ => return Err(self.unexpected(token)),
            },
            (_, Next::Command) => return self.command_word(token, written, after),
            (_, Next::Argument) => self.argument(token, written, after),
        }
        Ok(())
    }

    fn within_test(&self) -> bool {
        self.open
            .iter()
            .rev()
            .find(|(open, _)| *open != Open::Parenthesis)
            .is_some_and(|(open, _)| *open == Open::Test)
    }

    fn argument(&mut self, token: &Token, written: &str, after: Option<&Token>) {
        let assignment = self.note_assignment(written);
        if self.awaits_command && !assignment {
            self.names_command(token, written);
        } else if self.assigns_arguments
            && name_length(written) == written.len()
            && !written.is_empty()
        {
            self.assigned.push(written.to_owned());
        }
        let shown = shown(written, token, after);
        self.emit(Safe::Word(shown), token);
    }

    fn note_assignment(&mut self, written: &str) -> bool {
        match written.split_at_checked(name_length(written)) {
            Some((name, after))
                if !name.is_empty()
                    && (after.starts_with('=')
                        || after.starts_with("+=")
                        || after.starts_with('[') && after.contains("]=")) =>
            {
                self.assigned.push(name.to_owned());
                true
            }
            _ => false,
        }
    }

    fn command_word(
        &mut self,
        token: &Token,
        written: &str,
        after: Option<&Token>,
    ) -> Result<(), Failure> {
        let (open, next) = match written {
            "if" => (Some(Open::If), Next::Command),
            "while" | "until" => (Some(Open::Loop), Next::Command),
            "for" | "select" => (Some(Open::Loop), Next::Name(Named::Loop)),
            "case" => (Some(Open::Case), Next::Name(Named::Case)),
            "{" => (Some(Open::Brace), Next::Command),
            "[[" => (Some(Open::Test), Next::Argument),
            "then" | "elif" | "else" | "do" => {
                let expected = if written == "do" {
                    Open::Loop
                } else {
                    Open::If
                };
                if self.top() != Some(expected) {
                    return Err(self.unexpected(token));
                }
                (None, Next::Command)
            }
            "fi" => return self.close(Open::If, written, token),
            "done" => return self.close(Open::Loop, written, token),
            "}" => return self.close(Open::Brace, written, token),
            "esac" => return self.close_case(token),
            "]]" | "in" => return Err(self.unexpected(token)),
            "!" | "time" => {
                self.constructs.add(format!("`{written}`"));
                (None, Next::Command)
            }
            "coproc" => {
                self.constructs.add("`coproc`");
                // Each is a level of its own for the grammar.
                self.negations += 1;
                if self.negations > limits::SHELL_NESTING {
                    return Err(limits::exceeded("shell nesting", limits::SHELL_NESTING)
                        .at_line(token.line));
                }
                (None, Next::Command)
            }
            "function" => {
                self.constructs.add("function");
                (None, Next::Name(Named::Function))
            }
            _ => {
                if self.note_assignment(written) {
                    self.awaits_command = true;
                } else {
                    self.names_command(token, written);
                }
                let shown = shown(written, token, after);
                self.emit(Safe::Word(shown), token);
                // After an assignment a command may still come, but no word is reserved.
                self.next = Next::Argument;
                return Ok(());
            }
        };
        if let Some(open) = open {
            self.constructs.add(match (open, written) {
                (Open::Loop, _) => format!("loop `{written}`"),
                (Open::If | Open::Case, _) => format!("conditional `{written}`"),
                (Open::Test, _) => "conditional `[[`".to_owned(),
                _ => "group".to_owned(),
            });
            self.push(open, Next::Command, token)?;
        }
        // The grammar has no `select`, which has the shape of `for`.
        let shown = if written == "select" { "for" } else { written };
        self.emit(Safe::Word(shown.to_owned()), token);
        self.next = next;
        Ok(())
    }

    fn close(&mut self, open: Open, written: &str, token: &Token) -> Result<(), Failure> {
        self.pop(open, token)?;
        self.emit_closer(Safe::Word(written.to_owned()), token);
        self.next = Next::Command;
        Ok(())
    }

    /// `esac`, always after `;;`: without it the last item of a `case` would be parsed twice.
    fn close_case(&mut self, token: &Token) -> Result<(), Failure> {
        if self.next != Next::Pattern {
            self.emit(Safe::Operator(";;"), token);
        }
        self.pop(Open::Case, token)?;
        self.emit_closer(Safe::Word("esac".to_owned()), token);
        // `esac )` would be tried as a pattern.
        self.next = Next::Command;
        if self.top() == Some(Open::Parenthesis) {
            self.emit(Safe::Operator("\n"), token);
        }
        Ok(())
    }

    fn test_word(&mut self, token: &Token, written: &str) -> Result<(), Failure> {
        if written == "]]" && self.top() == Some(Open::Test) {
            self.pop(Open::Test, token)?;
            self.emit_closer(Safe::Word("]]".to_owned()), token);
            self.next = Next::Command;
            return Ok(());
        }
        let operator = written == "!"
            || matches!(written, "=" | "==" | "!=" | "=~")
            || written.len() <= 3
                && written.starts_with('-')
                && written.bytes().skip(1).all(|b| b.is_ascii_alphabetic());
        if written == "!" {
            self.negations += 1;
            if self.negations > limits::SHELL_NESTING {
                return Err(
                    limits::exceeded("shell nesting", limits::SHELL_NESTING).at_line(token.line)
                );
            }
        }
        let shown = if operator { written } else { "w" };
        self.emit(Safe::Word(shown.to_owned()), token);
        Ok(())
    }
}

/// What the grammar is shown of a word: that it is an assignment or a file descriptor, and else nothing.
fn shown(written: &str, token: &Token, after: Option<&Token>) -> String {
    let is_descriptor = written.bytes().all(|b| b.is_ascii_digit())
        && written.len() <= 4
        && after.is_some_and(|after| {
            after.start == token.end
                && matches!(after.kind, Kind::Operator(operator) if operator.starts_with(['<', '>']))
        });
    if is_descriptor {
        return written.to_owned();
    }
    match written.split_at_checked(name_length(written)) {
        Some((name, after))
            if !name.is_empty() && (after.starts_with('=') || after.starts_with("+=")) =>
        {
            if after == "=" || after == "+=" {
                "w=".to_owned()
            } else {
                "w=w".to_owned()
            }
        }
        Some((name, after))
            if !name.is_empty() && after.starts_with('[') && after.ends_with("]=") =>
        {
            "w=".to_owned()
        }
        Some((name, after))
            if !name.is_empty() && after.starts_with('[') && after.contains("]=") =>
        {
            "w=w".to_owned()
        }
        _ => "w".to_owned(),
    }
}
