//! Redirections and here-documents.

use super::lexer::{Lexer, Pending};
use super::placeholder;
use super::program::{Command, Input, Piece, Pieces, Stop, bare, construct};
use crate::draft::Quoting;

impl Lexer<'_> {
    /// `>`, `>&`, `&>` and their kin: what throws output away, and what is noted.
    pub(super) fn output(&mut self, before: &str) -> Result<(), Stop> {
        if before == "&" {
            self.source.next();
        }
        self.source.next();
        let rest = self.source.rest();
        if rest.starts_with('(') {
            return construct("process substitution");
        }
        if before == "2" && rest.starts_with("&1") {
            self.source.skip(2);
            return match self.source.peek() {
                None | Some(' ' | '\t' | '\n' | '|' | ';' | ')' | '&' | '<' | '>') => Ok(()),
                _ => construct("redirection of a descriptor"),
            };
        }
        let appends = rest.starts_with(['>', '|', '&']);
        let is_descriptor = rest.starts_with('&');
        if appends {
            self.source.next();
        }
        self.blanks();
        match self.source.peek() {
            None | Some('\n' | '|' | ';' | '&' | '(' | ')' | '<' | '>' | '#') => {
                return construct("redirection");
            }
            Some(_) => {}
        }
        let target = self.word()?;
        let text = bare(&target);
        let is_thrown_away =
            !appends && matches!(before, "" | "1" | "2" | "&") && text == Some("/dev/null");
        if is_descriptor {
            self.note("redirection of a descriptor");
        } else if !is_thrown_away {
            self.note("redirection to a file");
            let is_only = self.written.is_empty() && !appends && matches!(before, "" | "1");
            self.output_file = is_only.then(|| target.clone());
            self.written.extend(text.map(str::to_owned));
            if text.is_none() {
                return construct("redirection to a file");
            }
        }
        Ok(())
    }

    pub(super) fn note(&mut self, construct: &str) {
        if !self.constructs.iter().any(|known| known == construct) {
            self.constructs.push(construct.to_owned());
        }
    }

    pub(super) fn input(&mut self, command: &mut Command) -> Result<(), Stop> {
        let rest = self.source.rest();
        if command.input.is_some() || rest.starts_with("<&") || rest.starts_with("<>") {
            return construct("redirection");
        }
        if rest.starts_with("<(") {
            return construct("process substitution");
        }
        let (kind, length) = if rest.starts_with("<<<") {
            ("<<<", 3)
        } else if rest.starts_with("<<-") {
            ("<<-", 3)
        } else if rest.starts_with("<<") {
            ("<<", 2)
        } else {
            ("<", 1)
        };
        self.source.skip(length);
        self.blanks();
        if kind.starts_with("<<") && kind != "<<<" {
            command.input = Some(self.mark(kind == "<<-")?);
            return Ok(());
        }
        let is_placeholder = placeholder::name_at(self.source.rest()).is_some();
        match self.source.peek() {
            Some('<') if is_placeholder => {}
            None | Some('\n' | '|' | ';' | '&' | '(' | ')' | '<' | '>' | '#') => {
                return construct("redirection");
            }
            Some(_) => {}
        }
        let word = self.word()?;
        command.input = Some(if kind == "<" {
            Input::File(word)
        } else {
            Input::Word(word)
        });
        Ok(())
    }

    /// The mark of a here-document: a plain word, or one in quotes.
    pub(super) fn mark(&mut self, tabs: bool) -> Result<Input, Stop> {
        let rest = self.source.rest();
        let is_end = |c: char| c.is_ascii_whitespace() || ";&|<>()".contains(c);
        let written = rest.split(is_end).next().unwrap_or_default();
        let mark = ['\'', '"']
            .iter()
            .find_map(|quote| written.strip_prefix(*quote)?.strip_suffix(*quote))
            .unwrap_or(written);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '!');
        if mark.is_empty() || !mark.chars().all(is_plain) {
            return construct("here-document");
        }
        let index = self.program.documents.len();
        self.program.documents.push(Pieces::new());
        self.pending.push(Pending {
            index,
            mark: mark.to_owned(),
            expands: mark == written,
            tabs,
        });
        self.source.skip(written.len());
        Ok(Input::Document(index))
    }

    /// The bodies of the here-documents of the line that has just ended.
    pub(super) fn documents(&mut self) -> Result<(), Stop> {
        for pending in std::mem::take(&mut self.pending) {
            let mut body = String::new();
            loop {
                let Some(written) = self.source.next_line() else {
                    return Err(self.syntax("a here-document is not closed"));
                };
                let content = if pending.tabs {
                    written.trim_start_matches('\t')
                } else {
                    written
                };
                if content == pending.mark {
                    break;
                }
                body.push_str(content);
                body.push('\n');
            }
            self.documents_end = self.source.position();
            let pieces = if pending.expands {
                // A shell joins lines before it looks for the mark.
                if body.contains("\\\n") {
                    return construct("here-document");
                }
                let mut pieces = Pieces::new();
                Lexer::new(&body).double(&mut pieces, None)?;
                pieces
            } else {
                vec![Piece::Literal {
                    text: body,
                    quoting: Quoting::Single,
                }]
            };
            if let Some(document) = self.program.documents.get_mut(pending.index) {
                *document = pieces;
            }
        }
        Ok(())
    }
}
