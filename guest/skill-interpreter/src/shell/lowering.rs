//! From text to drafts: which statements there are, which are dropped, and whether what is left is plans or a script.

use super::construct::Constructs;
use super::guard;
use super::lexer;
use super::plan::{self, Outcome, document_line};
use super::program::{self, Piece, Program, Statement, Stop};
use super::sorting::{Remaining, Sorted, depend};
use super::statement::is_label;
use super::word::Budget;
use super::{Constants, Statements, script};
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::{Draft, DraftStage, Template};
use crate::failure::{Code, Failure};
use crate::limits;

/// What is said of lines that are no commands.
pub(super) const LEFT_OUT: &str = "no command stands here; it was left out";

/// A text on its way.
pub(super) struct Lowering<'a> {
    pub(super) text: &'a str,
    pub(super) start_line: u32,
    pub(super) context: &'a Context,
    pub(super) budget: Budget,
    pub(super) statements: Statements,
}

impl Lowering<'_> {
    /// One draft that says why.
    pub(super) fn unusable(&self, failure: Failure) -> Draft {
        Draft {
            line: failure.line.unwrap_or(self.start_line),
            comment: None,
            text: self.text.chars().take(limits::COMMAND_BYTES).collect(),
            plan: Err(failure),
        }
    }

    /// The drafts; a failure has the line of the text, and is of the text as a whole.
    pub(super) fn run(
        &self,
        constants: &mut Constants,
        diagnostics: &mut Diagnostics,
    ) -> Result<Vec<Draft>, Failure> {
        if self.text.len() > limits::COMMAND_BYTES {
            return Err(Failure::exceeded(
                "bytes of command text",
                limits::COMMAND_BYTES,
            ));
        }
        self.refuse_what_is_no_command()?;
        let program = match lexer::read(self.text, self.is_fence()) {
            Ok(program) => program,
            Err(Stop::Syntax(failure)) => match self.with_closed_body(diagnostics) {
                Some(program) => program,
                None => return Err(failure),
            },
            Err(Stop::Construct(construct)) => {
                self.note_ampersand(diagnostics);
                let mut found = Constructs::default();
                found.add(construct);
                return Ok(vec![self.script(found, diagnostics)]);
            }
        };
        let mut found = Constructs::default();
        if self.statements == Statements::Command && program.statements.len() > 1 {
            found.add("several statements");
            return Ok(vec![self.script(found, diagnostics)]);
        }
        if guard::decide(&program) {
            found.add("conditional");
            return Ok(vec![self.script(found, diagnostics)]);
        }
        // `${X:+…}` is nothing where the document says that X is.
        let says = |name: &String| {
            constants.values.contains_key(name)
                || (program.statements.iter())
                    .flat_map(|statement| &statement.commands)
                    .flat_map(|command| &command.assignments)
                    .any(|assignment| assignment.name == *name)
        };
        if program.given.iter().any(|(_, name)| says(name)) {
            found.add("expansion");
            return Ok(vec![self.script(found, diagnostics)]);
        }
        // What is said of commands that end as a script is not said.
        let mut said = Diagnostics::default();
        let sorted = self.sorted(&program, constants, &mut said);
        if self.budget.is_exceeded() {
            return Err(Failure::exceeded(
                "bytes that constants stand for",
                limits::COMMAND_BYTES,
            ));
        }
        match self.operations(sorted, &program, &mut said, &mut found) {
            Some(drafts) => {
                for line in &program.ampersands {
                    diagnostics.warn(
                        Code::SuspiciousAmpersand,
                        document_line(self.start_line, *line),
                        "an address with `&` is not quoted; `&` was taken for a part of it",
                    );
                }
                self.note(
                    diagnostics,
                    Code::ShellSyntax,
                    &program.joined,
                    "a line begins with an option; it was read as a part of the command above",
                );
                self.note(
                    diagnostics,
                    Code::NotAnOperation,
                    &program.left_out,
                    LEFT_OUT,
                );
                let given: Vec<u32> = program.given.iter().map(|(line, _)| *line).collect();
                self.note(
                    diagnostics,
                    Code::ShellSyntax,
                    &given,
                    "`${NAME:+…}` was read as if NAME were given",
                );
                let guards: Vec<u32> = program.guards.iter().map(|guard| guard.line).collect();
                self.note(
                    diagnostics,
                    Code::NotAnOperation,
                    &guards,
                    "a check that only prints, stops or installs was left out",
                );
                diagnostics.append(&said);
                Ok(drafts)
            }
            None => Ok(vec![self.script(found, diagnostics)]),
        }
    }

    pub(super) fn is_fence(&self) -> bool {
        self.statements == Statements::Fence
    }

    fn refuse_what_is_no_command(&self) -> Result<(), Failure> {
        if self.text.contains('\0') {
            return Err(program::syntax(1, "a NUL character"));
        }
        if self.text.trim().is_empty() {
            return Err(Failure::new(Code::EmptyCommand, "the command is empty"));
        }
        let first = self
            .text
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty() && !line.starts_with('#'))
            .and_then(|line| line.split_whitespace().next());
        match first {
            Some(word) if is_label(word) && !self.is_fence() => Err(Failure::new(
                Code::NotAnOperation,
                "a header or label, not a command",
            )),
            _ => Ok(()),
        }
    }

    /// The text with the quote that is missing at its end, after a body of JSON.
    fn with_closed_body(&self, diagnostics: &mut Diagnostics) -> Option<Program> {
        let program = lexer::read(&format!("{}'", self.text.trim_end()), false).ok()?;
        let last = program.statements.last()?.commands.last()?;
        let body = match last.words.last()?.last()? {
            Piece::Literal { text, .. } => text.trim_start(),
            _ => return None,
        };
        if !plan::is_http(last) || !body.starts_with(['{', '[']) {
            return None;
        }
        diagnostics.warn(
            Code::ShellSyntax,
            document_line(self.start_line, last.line),
            "a single quote is not closed; the body was taken to end with the text",
        );
        Some(program)
    }

    /// Warns of `https://a.example/?b=1&c=2` without quotes.
    fn note_ampersand(&self, diagnostics: &mut Diagnostics) {
        for (index, line) in self.text.lines().enumerate() {
            let has_one = line
                .split_whitespace()
                .any(|word| word.starts_with("http") && word.contains("://") && word.contains('&'));
            if has_one {
                let line = u32::try_from(index + 1).unwrap_or(u32::MAX);
                diagnostics.warn(
                    Code::SuspiciousAmpersand,
                    document_line(self.start_line, line),
                    "`&` in an address that is not quoted begins a background job",
                );
            }
        }
    }

    /// Says what holds for some lines, which are in order, at the first of them.
    pub(super) fn note(
        &self,
        diagnostics: &mut Diagnostics,
        code: Code,
        lines: &[u32],
        message: &str,
    ) {
        let mut lines = lines
            .iter()
            .map(|line| document_line(self.start_line, *line));
        let Some(first) = lines.next() else {
            return;
        };
        let others: Vec<String> = lines.map(|line| line.to_string()).collect();
        let message = match others.as_slice() {
            [] => message.to_owned(),
            others => format!("{message}; the same holds for line {}", others.join(", ")),
        };
        diagnostics.warn(code, first, message);
    }

    /// The operations; none if the text is a script.
    ///
    /// Requests beside each other are operations of their own, and so are calls of code files where none uses what another one
    /// does. Of other commands each is one only where comments or empty lines tell them apart besides.
    fn operations(
        &self,
        sorted: Sorted<'_>,
        program: &Program,
        diagnostics: &mut Diagnostics,
        found: &mut Constructs,
    ) -> Option<Vec<Draft>> {
        let only = sorted.remaining.len() == 1;
        let has_computed = sorted.has_computed;
        let are_independent = !program.shares_lines && !has_computed && !depend(&sorted.remaining);
        let are_alternatives = are_independent
            && sorted
                .remaining
                .iter()
                .skip(1)
                .all(|remaining| remaining.statement.is_apart);
        let mut drafts = Vec::with_capacity(sorted.remaining.len());
        for Remaining {
            statement,
            commands,
            found: mut of_statement,
        } in sorted.remaining
        {
            if commands.iter().all(|command| command.argv.is_empty()) {
                of_statement.add("assignment");
            }
            let is_http = commands
                .first()
                .and_then(|command| command.argv.first())
                .and_then(Template::as_literal)
                .is_some_and(|name| crate::http_command::is_http(&name));
            let outcome = if of_statement.is_empty() {
                plan::plan(commands, self.context, diagnostics, &mut of_statement)
            } else {
                Outcome::Script
            };
            let may_be_any = (only && !has_computed) || are_alternatives;
            let plans: Vec<Result<Vec<DraftStage>, Failure>> = match outcome {
                Outcome::Script if are_alternatives && !only => {
                    let (draft, mut text) = (self.text_of(statement), Constructs::default());
                    text.append(of_statement);
                    let stage = script::stage(
                        draft,
                        document_line(self.start_line, statement.line),
                        text.into_list(),
                    );
                    vec![Ok(vec![DraftStage::Sandbox(Box::new(stage))])]
                }
                Outcome::Script => {
                    found.append(of_statement);
                    return None;
                }
                Outcome::Unusable(failure) if may_be_any || is_http => vec![Err(failure)],
                Outcome::Plans(plans)
                    if may_be_any
                        || plans.iter().all(|plan| {
                            plan::is_http_pipeline(plan)
                                || are_independent && plan::is_code_file(plan)
                        }) =>
                {
                    plans.into_iter().map(Ok).collect()
                }
                Outcome::Plans(_) | Outcome::Unusable(_) => {
                    found.add("several statements");
                    return None;
                }
            };
            let line = document_line(self.start_line, statement.line);
            for plan in plans {
                drafts.push(Draft {
                    line,
                    comment: self.comment_above(line, program),
                    text: self.text_of(statement).to_owned(),
                    plan,
                });
            }
            if drafts.len() > limits::FENCE_OPERATIONS {
                break;
            }
        }
        Some(drafts)
    }

    fn text_of(&self, statement: &Statement) -> &str {
        self.text
            .get(statement.start..statement.end.min(self.text.len()))
            .unwrap_or_default()
            .trim_end()
    }

    fn comment_above(&self, line: u32, program: &Program) -> Option<String> {
        // Its line counts from 1 in the text.
        let above = line.checked_sub(self.start_line)?;
        program
            .comments
            .get(&above)
            .filter(|comment| !comment.is_empty())
            .cloned()
    }

    /// The whole text, verbatim.
    fn script(&self, found: Constructs, diagnostics: &mut Diagnostics) -> Draft {
        let mut lines = (1..).zip(self.text.lines());
        let first = lines
            .by_ref()
            .find(|(_, line)| !line.trim().is_empty() && !line.trim().starts_with('#'))
            .map_or(1, |(number, _)| number);
        let line = document_line(self.start_line, first);
        if script::has_placeholder(self.text) {
            diagnostics.warn(
                Code::ScriptPlaceholder,
                line,
                "a placeholder in a script stays as it is written",
            );
        }
        let stage = script::stage(self.text, self.start_line, found.into_list());
        let above = usize::try_from(first).unwrap_or(1).checked_sub(2);
        let comment = above
            .and_then(|above| self.text.lines().nth(above))
            .and_then(|line| line.trim().strip_prefix('#'))
            .map(|comment| comment.trim_start_matches('#').trim().to_owned())
            .filter(|comment| !comment.is_empty());
        Draft {
            line,
            comment,
            text: self.text.to_owned(),
            plan: Ok(vec![DraftStage::Sandbox(Box::new(stage))]),
        }
    }
}
