//! Which statements of a text are to become operations, and which are dropped: settings, constants, printed text, and what
//! only prepares the skill.

use std::collections::BTreeSet;

use super::Constants;
use super::constants::{self, Surroundings};
use super::construct::Constructs;
use super::lowering::{LEFT_OUT, Lowering};
use super::plan::{self, document_line};
use super::program::{Command, Program, Statement, Value};
use super::setup::{self, Step};
use super::statement::{is_no_command, is_printing, is_setting, sets_constants};
use super::word::Reader;
use crate::diagnostic::{Diagnostics, excerpt};
use crate::draft::Template;
use crate::failure::Code;
use crate::limits;

/// A statement that is to become an operation.
pub(super) struct Remaining<'s> {
    pub(super) statement: &'s Statement,
    pub(super) commands: Vec<plan::Read>,
    /// What its words and redirections hold that no plan has.
    pub(super) found: Constructs,
}

/// What the statements of a text are.
#[derive(Default)]
pub(super) struct Sorted<'s> {
    pub(super) remaining: Vec<Remaining<'s>>,
    /// `echo` and `printf` alone, and what shows the answer of a request.
    pub(super) printed: Vec<Remaining<'s>>,
    /// Whether a value is computed that later statements use.
    pub(super) has_computed: bool,
}

impl Lowering<'_> {
    /// What is left once settings, constants and printed text are dropped; in a fence, also what is no command and what only
    /// prepares the skill.
    pub(super) fn sorted<'s>(
        &self,
        program: &'s Program,
        constants: &mut Constants,
        diagnostics: &mut Diagnostics,
    ) -> Sorted<'s> {
        let mut sorted = Sorted::default();
        let mut answers = BTreeSet::new();
        let steps: Vec<Option<Step>> = match self.is_fence() {
            true => program.statements.iter().map(setup::step).collect(),
            false => vec![None; program.statements.len()],
        };
        let prepares = setup::is_all(&steps);
        let fetches_code = steps
            .iter()
            .any(|step| matches!(step, Some(Step::Installs | Step::Fetches | Step::Downloads)));
        let are_requests = (program.statements.iter().zip(&steps)).all(|(statement, step)| {
            step.is_some()
                || statement.commands.first().is_some_and(|first| {
                    plan::is_http(first) || is_setting(first) || sets_constants(first)
                })
        });
        for (statement, step) in program.statements.iter().zip(steps) {
            if self.is_fence() && is_no_command(statement) {
                let lines = [statement.line];
                self.note(diagnostics, Code::NotAnOperation, &lines, LEFT_OUT);
                continue;
            }
            if let [command] = statement.commands.as_slice()
                && statement.constructs.is_empty()
            {
                if is_setting(command) {
                    continue;
                }
                if sets_constants(command) {
                    if let [one] = command.assignments.as_slice()
                        && let Value::Output(commands) = &one.value
                        && commands.first().is_some_and(plan::is_http)
                    {
                        answers.insert(one.name.as_str());
                        constants.values.remove(&one.name);
                        sorted.remaining.push(self.one(
                            statement,
                            commands,
                            program,
                            constants,
                            diagnostics,
                        ));
                        continue;
                    }
                    let around = Surroundings {
                        start_line: self.start_line,
                        context: self.context,
                        budget: &self.budget,
                    };
                    if constants::keep(&command.assignments, constants, &around, diagnostics) {
                        sorted.has_computed |= command
                            .assignments
                            .iter()
                            .any(|assignment| matches!(assignment.value, Value::Output(_)));
                        continue;
                    }
                }
            }
            let is_left_out = match step {
                Some(Step::Installs | Step::Directory | Step::Configures) => true,
                Some(Step::Idle) => prepares || are_requests,
                Some(Step::Sources) => are_requests && !fetches_code,
                _ => prepares,
            };
            if is_left_out {
                let line = document_line(self.start_line, statement.line);
                let shown = excerpt(&setup::shown(statement, step));
                diagnostics.info(
                    Code::CommandIgnored,
                    line,
                    format!("prepares the skill and is no operation: {shown}"),
                );
                continue;
            }
            let one = self.one(
                statement,
                &statement.commands,
                program,
                constants,
                diagnostics,
            );
            if is_printing(statement, &answers) {
                sorted.printed.push(one);
            } else {
                sorted.remaining.push(one);
            }
        }
        // A value that is computed only to be shown is one that a caller has.
        if self.is_fence()
            && sorted.remaining.is_empty()
            && sorted.has_computed
            && let Some(first) = sorted.printed.first()
        {
            let line = document_line(self.start_line, first.statement.line);
            let message = "computes a value to show it, and is no operation";
            diagnostics.info(Code::CommandIgnored, line, message);
            sorted.printed.clear();
        }
        if sorted.remaining.is_empty() || program.shares_lines {
            sorted.remaining.append(&mut sorted.printed);
            sorted
                .remaining
                .sort_by_key(|remaining| remaining.statement.start);
        }
        sorted.has_computed |= !answers.is_empty();
        sorted
    }

    /// Whether the text names again what is assigned before a command of the statement, in it or behind it.
    fn names_again(&self, program: &Program, statement: &Statement, command: &Command) -> bool {
        // Each such command looks through the text.
        if program.statements.len() > limits::FENCE_OPERATIONS {
            return true;
        }
        let behind = self.text.get(statement.start..).unwrap_or(self.text);
        command.assignments.iter().any(|assignment| {
            let is_name = |word: &&str| *word == assignment.name;
            let words = behind.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            words.filter(is_name).nth(1).is_some()
        })
    }

    fn one<'s>(
        &self,
        statement: &'s Statement,
        commands: &[Command],
        program: &Program,
        constants: &mut Constants,
        diagnostics: &mut Diagnostics,
    ) -> Remaining<'s> {
        let mut found = Constructs::default();
        for construct in &statement.constructs {
            found.add(construct.clone());
        }
        let mut read = Vec::with_capacity(commands.len());
        for command in commands {
            if !command.assignments.is_empty() {
                let around = Surroundings {
                    start_line: self.start_line,
                    context: self.context,
                    budget: &self.budget,
                };
                // It ends with the command, and the words of the command were made before it.
                let means_nothing = plan::is_http(command)
                    && constants::are_texts(&command.assignments, constants, &around)
                    && !self.names_again(program, statement, command);
                if !means_nothing {
                    found.add("assignment before a command");
                }
            }
            let mut reader = Reader::new(constants, self.context, &self.budget);
            let one = plan::read(
                command,
                &program.documents,
                self.start_line,
                &mut reader,
                &mut found,
            );
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
        Remaining {
            statement,
            commands: read,
            found,
        }
    }
}

/// Whether a statement uses a file that another one writes, or changes what the shell is for others.
pub(super) fn depend(remaining: &[Remaining<'_>]) -> bool {
    let names = |command: &plan::Read| -> Vec<String> {
        command.argv.iter().map(Template::display).collect()
    };
    let changes_shell = remaining.iter().any(|one| {
        one.statement.commands.iter().any(|command| {
            command.name().is_none_or(crate::tools::is_builtin) || !command.assignments.is_empty()
        })
    });
    let written: BTreeSet<&String> = remaining
        .iter()
        .flat_map(|one| &one.statement.written)
        .collect();
    changes_shell
        || remaining
            .iter()
            .flat_map(|one| one.commands.iter().flat_map(names))
            .any(|word| written.contains(&word))
}
