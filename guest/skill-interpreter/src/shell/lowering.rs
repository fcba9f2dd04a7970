//! From text to drafts: which statements there are, which are dropped, and whether what is left is plans or a script.

use super::construct::Constructs;
use super::grammar::{self, Command, Statement};
use super::lexer::{self, Kind, Scan};
use super::plan::{self, Outcome, document_line, text_at};
use super::statement::{extent, is_printing, is_setting};
use super::structure::{self, Structure};
use super::word::{Budget, Reader};
use super::{Constants, Statements, free_variables, script};
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::{Draft, DraftStage, Template};
use crate::failure::{Code, Failure};
use crate::http_command;
use crate::limits;
use crate::tools;

/// A text on its way.
pub(super) struct Lowering<'a> {
    pub(super) text: &'a str,
    pub(super) start_line: u32,
    pub(super) context: &'a Context,
    pub(super) budget: Budget,
}

/// A statement that is to become an operation.
struct Remaining {
    commands: Vec<plan::Read>,
    /// Where it stands in [`Scan::text`].
    place: (usize, usize),
    line: u32,
    /// What its words and redirections hold that no plan has.
    found: Constructs,
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
        statements: Statements,
        constants: &mut Constants,
        diagnostics: &mut Diagnostics,
    ) -> Result<Vec<Draft>, Failure> {
        if self.text.len() > limits::COMMAND_BYTES {
            return Err(limits::exceeded(
                "bytes of command text",
                limits::COMMAND_BYTES,
            ));
        }
        self.refuse_what_is_no_command()?;
        let scan = lexer::scan(self.text)?;
        let mut structure = structure::walk(&scan)?;
        let parsed = grammar::parse(&scan, &structure.tokens)?;
        self.note_ampersands(&scan, diagnostics);
        let mut found = scan.constructs.clone();
        found.append(std::mem::take(&mut structure.constructs));
        if parsed.contains(&Statement::Other) && found.is_empty() {
            found.add("compound command");
        }
        if found.is_empty() && !grammar::second_opinion_agrees(&scan) {
            found.add("quoting that can be read in two ways");
        }
        if !found.is_empty() {
            note_commands(&scan, &structure, &mut found);
            note_redirections(&scan, &mut found);
            return Ok(vec![self.script(&scan, &structure, found, diagnostics)]);
        }
        if statements == Statements::Command && parsed.len() > 1 {
            found.add("several statements");
            return Ok(vec![self.script(&scan, &structure, found, diagnostics)]);
        }
        // What is said of commands that end as a script is not said.
        let mut said = Diagnostics::default();
        let remaining = self.remaining(&parsed, &scan, constants, &mut said);
        if self.budget.is_exceeded() {
            return Err(limits::exceeded(
                "bytes that constants stand for",
                limits::COMMAND_BYTES,
            ));
        }
        match self.operations(remaining, &scan, &mut said, &mut found) {
            Some(drafts) => {
                for one in said.as_slice() {
                    diagnostics.add(one.severity, one.code, one.line, one.message.clone());
                }
                Ok(drafts)
            }
            None => Ok(vec![self.script(&scan, &structure, found, diagnostics)]),
        }
    }

    /// K-132
    fn refuse_what_is_no_command(&self) -> Result<(), Failure> {
        if self.text.contains('\0') {
            return Err(lexer::syntax(1, "a NUL character"));
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
            Some(word) if word.ends_with(':') => Err(Failure::new(
                Code::NotAnOperation,
                "a header or label, not a command",
            )),
            _ => Ok(()),
        }
    }

    /// K-125
    fn note_ampersands(&self, scan: &Scan, diagnostics: &mut Diagnostics) {
        for pair in scan.tokens.windows(2) {
            if let [word, operator] = pair
                && word.kind == Kind::Word
                && operator.kind == Kind::Operator("&")
                && word.end == operator.start
                && scan.text_of(word).contains("://")
            {
                diagnostics.warn(
                    Code::SuspiciousAmpersand,
                    document_line(self.start_line, operator.line),
                    "`&` in an address that is not quoted begins a background job",
                );
            }
        }
    }

    /// K-114: what is left once comments, settings, constants and printed text are dropped.
    fn remaining(
        &self,
        parsed: &[Statement],
        scan: &Scan,
        constants: &mut Constants,
        diagnostics: &mut Diagnostics,
    ) -> Vec<Remaining> {
        let mut remaining = Vec::new();
        let mut printed = Vec::new();
        for statement in parsed {
            let Statement::Pipeline(commands) = statement else {
                continue;
            };
            if let [command] = commands.as_slice() {
                if is_setting(command, scan)
                    || self.keeps_constants(command, scan, constants, diagnostics)
                {
                    continue;
                }
                if is_printing(command, scan) {
                    printed.push(self.one(commands, scan, constants, diagnostics));
                    continue;
                }
            }
            remaining.push(self.one(commands, scan, constants, diagnostics));
        }
        if remaining.is_empty() {
            remaining = printed;
        }
        remaining
    }

    /// K-120
    fn keeps_constants(
        &self,
        command: &Command,
        scan: &Scan,
        constants: &mut Constants,
        diagnostics: &mut Diagnostics,
    ) -> bool {
        let assignments = match command.words.split_first() {
            None => command.assignments.as_slice(),
            Some((first, rest))
                if command.assignments.is_empty() && text_at(scan, *first) == "export" =>
            {
                rest
            }
            Some(_) => return false,
        };
        command.redirects.is_empty()
            && !assignments.is_empty()
            && super::constants::keep(
                assignments,
                scan,
                self.start_line,
                constants,
                self.context,
                &self.budget,
                diagnostics,
            )
    }

    fn one(
        &self,
        commands: &[Command],
        scan: &Scan,
        constants: &mut Constants,
        diagnostics: &mut Diagnostics,
    ) -> Remaining {
        let mut found = Constructs::default();
        let mut read = Vec::with_capacity(commands.len());
        for command in commands {
            // K-129
            if !command.assignments.is_empty() {
                let is_http = command
                    .words
                    .first()
                    .is_some_and(|place| http_command::is_http(text_at(scan, *place)));
                if !is_http
                    || !super::constants::keep(
                        &command.assignments,
                        scan,
                        self.start_line,
                        constants,
                        self.context,
                        &self.budget,
                        diagnostics,
                    )
                {
                    found.add("assignment before a command");
                }
            }
            let mut reader = Reader::new(constants, self.context, &self.budget);
            let one = plan::read(command, scan, self.start_line, &mut reader, &mut found);
            let (used, positions) = (reader.used, reader.positions);
            for name in used {
                diagnostics.info(
                    Code::Constant,
                    one.line,
                    format!("{name} stands for a constant of the document"),
                );
            }
            for name in positions {
                diagnostics.warn(
                    Code::LiteralCredential,
                    one.line,
                    format!("the value of {name} was dropped; it stands where a credential does"),
                );
                constants.values.remove(&name);
                constants.secrets.insert(name);
            }
            read.push(one);
        }
        let place = extent(commands, scan);
        Remaining {
            line: read.first().map_or(self.start_line, |first| first.line),
            commands: read,
            place,
            found,
        }
    }

    /// K-115, K-116: the operations; none if it is a script (K-117).
    fn operations(
        &self,
        remaining: Vec<Remaining>,
        scan: &Scan,
        diagnostics: &mut Diagnostics,
        found: &mut Constructs,
    ) -> Option<Vec<Draft>> {
        let only = remaining.len() == 1;
        let mut drafts = Vec::with_capacity(remaining.len());
        for statement in remaining {
            if !statement.found.is_empty() {
                found.append(statement.found);
                return None;
            }
            if statement
                .commands
                .iter()
                .all(|command| command.argv.is_empty())
            {
                found.add("assignment");
                return None;
            }
            let is_http = statement
                .commands
                .first()
                .and_then(|command| command.argv.first())
                .and_then(Template::as_literal)
                .is_some_and(|name| http_command::is_http(&name));
            let outcome = plan::plan(statement.commands, self.context, diagnostics, found);
            let plans: Vec<Result<Vec<DraftStage>, Failure>> = match outcome {
                Outcome::Script => return None,
                Outcome::Unusable(failure) if only || is_http => vec![Err(failure)],
                Outcome::Plans(plans)
                    if only || plans.iter().all(|plan| plan::is_http_pipeline(plan)) =>
                {
                    plans.into_iter().map(Ok).collect()
                }
                Outcome::Plans(_) | Outcome::Unusable(_) => {
                    found.add("several statements");
                    return None;
                }
            };
            let (start, end) = statement.place;
            let text = scan.text.get(start..end).unwrap_or_default().trim_end();
            for plan in plans {
                drafts.push(Draft {
                    line: statement.line,
                    comment: self.comment_above(statement.line, scan),
                    text: text.to_owned(),
                    plan,
                });
            }
            if drafts.len() > limits::FENCE_OPERATIONS {
                break;
            }
        }
        Some(drafts)
    }

    fn comment_above(&self, line: u32, scan: &Scan) -> Option<String> {
        let above = line.checked_sub(self.start_line)?;
        scan.comments
            .get(&above)
            .filter(|comment| !comment.is_empty())
            .cloned()
    }

    /// K-117, K-124: the whole text, verbatim.
    fn script(
        &self,
        scan: &Scan,
        structure: &Structure,
        found: Constructs,
        diagnostics: &mut Diagnostics,
    ) -> Draft {
        let line = scan
            .tokens
            .iter()
            .find(|token| token.kind != Kind::Operator("\n"))
            .map_or(1, |token| token.line);
        if scan.rewritten || script::has_placeholder(self.text) {
            diagnostics.warn(
                Code::ScriptPlaceholder,
                document_line(self.start_line, line),
                "a placeholder in a script stays as it is written",
            );
        }
        let free = free_variables(scan, structure, self.context);
        let stage = script::stage(self.text, self.start_line, found.into_list(), free);
        Draft {
            line: document_line(self.start_line, line),
            comment: self.comment_above(document_line(self.start_line, line), scan),
            text: self.text.to_owned(),
            plan: Ok(vec![DraftStage::Sandbox(Box::new(stage))]),
        }
    }
}

/// K-124: commands that make a script, and what stands at the end of a pipe, for the reason list.
pub(super) fn note_commands(scan: &Scan, structure: &Structure, found: &mut Constructs) {
    for command in &structure.commands {
        let name = text_at(scan, command.start);
        if tools::is_script_word(name) {
            found.add(format!("`{name}`"));
        } else if tools::is_shell(name) && !command.after_pipe {
            found.add(format!("shell `{name}`"));
        } else if command.after_pipe && !tools::may_follow_pipe(name) {
            let name: String = name.chars().take(32).collect();
            found.add(format!("pipe into `{name}`"));
        }
    }
}

/// K-124: redirections that no plan has, for the reason list of a text that is a script anyway.
fn note_redirections(scan: &Scan, found: &mut Constructs) {
    for pair in scan.tokens.windows(2) {
        let [operator, target] = pair else {
            continue;
        };
        let Kind::Operator(operator) = operator.kind else {
            continue;
        };
        match (operator, scan.text_of(target)) {
            (">" | "&>", "/dev/null") => {}
            // `<(b)` is no redirection.
            ("<" | ">", "(") => {}
            (">" | ">>" | ">|" | "&>" | "&>>" | "<>", _) => found.add("redirection to a file"),
            ("<", _) => found.add("redirection from a file"),
            _ => {}
        }
    }
}
