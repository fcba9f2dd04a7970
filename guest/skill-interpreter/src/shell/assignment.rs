//! `NAME=value`, and the substitutions that may be all of a value.

use super::lexer::Lexer;
use super::program::{Assignment, Command, Piece, Pieces, Stop, Value, construct, name_length};

/// Substitutions within substitutions that are read.
pub(super) const NESTING: usize = 4;

impl Lexer<'_> {
    pub(super) fn assignment(&mut self) -> Result<Option<Assignment>, Stop> {
        let (line, rest) = (self.source.line(), self.source.rest());
        let Some((name, after)) = rest.split_at_checked(name_length(rest)) else {
            return Ok(None);
        };
        if name.is_empty() || !after.starts_with('=') {
            let is_other = after.starts_with("+=") || after.starts_with('[');
            return if is_other && !name.is_empty() {
                construct("assignment")
            } else {
                Ok(None)
            };
        }
        self.source.skip(name.len() + 1);
        let value = match after.get(1..).unwrap_or_default() {
            array if array.starts_with('(') => return construct("array"),
            output if is_output(output.strip_prefix('"').unwrap_or(output)) => {
                self.output_of_pipeline(output.starts_with('"'))?
            }
            _ => match self.word()? {
                word if is_arithmetic(&word, after) => Value::Output(Vec::new()),
                word => Value::Word(word),
            },
        };
        Ok(Some(Assignment {
            name: name.to_owned(),
            value,
            line,
        }))
    }

    /// `$(pipeline)` or `"$(pipeline)"` as the whole value; a value that goes on is a word.
    pub(super) fn output_of_pipeline(&mut self, is_quoted: bool) -> Result<Value, Stop> {
        let start = self.source.clone();
        let commands = self.nested_pipeline(if is_quoted { 3 } else { 2 })?;
        let is_closed = !is_quoted || self.source.next() == Some('"');
        match self.source.peek() {
            None | Some(' ' | '\t' | '\n' | ';' | '&' | '|' | ')') if is_closed => {
                Ok(Value::Output(commands))
            }
            // A here-document would be read twice.
            _ if !self.pending.is_empty() => construct("command substitution"),
            _ => {
                self.source = start;
                Ok(Value::Word(self.word()?))
            }
        }
    }

    /// A pipeline in `$( … )`, whose mark has so many bytes.
    pub(super) fn nested_pipeline(&mut self, mark: usize) -> Result<Vec<Command>, Stop> {
        self.depth += 1;
        if self.depth > NESTING {
            return construct("command substitution");
        }
        self.source.skip(mark);
        let noted = std::mem::take(&mut self.constructs);
        let commands = self.pipeline(true)?;
        self.source.next();
        self.depth -= 1;
        if !std::mem::replace(&mut self.constructs, noted).is_empty() {
            return construct("command substitution");
        }
        Ok(commands)
    }
}

/// Whether the word of `=$((…))` holds nothing else.
fn is_arithmetic(word: &Pieces, written: &str) -> bool {
    let is_one = |piece: &Piece| match piece {
        Piece::Literal { text, .. } => text.is_empty(),
        Piece::Output { .. } => true,
        Piece::Variable { .. } => false,
    };
    let starts = ["=$((", "=\"$(("];
    starts.iter().any(|start| written.starts_with(start)) && word.iter().all(is_one)
}

fn is_output(text: &str) -> bool {
    text.starts_with("$(") && !text.starts_with("$((")
}
