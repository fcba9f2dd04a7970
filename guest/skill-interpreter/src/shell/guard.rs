//! Checks that only print, stop or install: `if [ -z "$KEY" ]; then echo "no key"; exit 1; fi`.
//!
//! An author checks a variable, a file or an answer and says what is wrong, or installs what is missing. A caller gives what a
//! request needs and sees its answer, and installers are no operation, so such a check is none. It is read to its end, and it
//! counts as one only if it can do nothing else: a condition tests or searches, and what depends on it prints, stops or
//! installs.

use super::lexer::Lexer;
use super::plan;
use super::program::{Pieces, Program, Statement, Stop, Value, bare, construct};
use super::setup;
use super::statement::{is_setting, only_prints, prints_its_words, sets_constants};

/// A check that was left out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Guard {
    pub(super) line: u32,
    /// Where it stands in the text, in bytes.
    pub(super) position: usize,
    /// Whether what comes behind it depends on more than whether a value or a file is there.
    pub(super) decides: bool,
}

/// What checks do to what stands behind them.
#[derive(Debug, Clone, Copy, Default)]
struct Checks {
    /// Whether one asks more than whether something is there.
    ask_more: bool,
    /// Whether one stops.
    stop: bool,
}

impl Checks {
    fn join(&mut self, other: Self) {
        self.ask_more |= other.ask_more;
        self.stop |= other.stop;
    }

    fn decide(self) -> bool {
        self.ask_more && self.stop
    }
}

/// Operators of `test` that ask whether something is there.
const PRESENCE: [&str; 7] = ["-z", "-n", "-f", "-d", "-e", "-r", "-s"];

impl Lexer<'_> {
    /// Reads a check that begins here. None, and nothing is read, if none does.
    pub(super) fn guard(&mut self) -> Option<Guard> {
        let (rest, position) = (self.source.rest(), self.source.position());
        if position < self.no_guard_before {
            return None;
        }
        let begins = |word: &&str| {
            rest.strip_prefix(*word)
                .is_some_and(|after| after.starts_with([' ', '\t', '\n']))
        };
        let word = ["if", "[", "[[", "test"].into_iter().find(begins)?;
        let mut trial = Lexer::new(rest);
        let checks = match word {
            "if" => trial.conditional(),
            _ => trial.list(),
        };
        let is_whole = checks.is_ok() && trial.constructs.is_empty() && trial.pending.is_empty();
        let length = trial.source.position();
        let behind = rest.get(length..)?.trim_start_matches([' ', '\t']);
        let is_whole = is_whole && (behind.is_empty() || behind.starts_with(['\n', ';', '#']));
        let (true, Ok(decides)) = (is_whole, checks) else {
            self.no_guard_before = position + length;
            return None;
        };
        let guard = Guard {
            line: self.source.line(),
            position,
            decides,
        };
        self.source.go_to(position + length);
        Some(guard)
    }

    /// How long the remark is that stands behind a request of a fence on its line: `; echo`, `|| true`, `&& echo done`. It only
    /// prints, whatever the request ends with.
    pub(super) fn remark_length(&self) -> Option<usize> {
        let rest = self.source.rest();
        let joins = ["&&", "||", ";"]
            .into_iter()
            .find(|join| rest.starts_with(join))?;
        let behind = rest.get(joins.len()..)?;
        let mut trial = Lexer::new(behind);
        let commands = trial.printing_pipeline().ok()?;
        let [command] = commands.as_slice() else {
            return None;
        };
        let name = command.first().and_then(bare)?;
        let is_remark = matches!(name, "true" | ":") || prints_its_words(command);
        let ends = matches!(trial.source.peek(), None | Some('\n' | ';' | '|'))
            || trial.source.rest().starts_with("&&");
        (self.is_fence && is_remark && ends && trial.constructs.is_empty())
            .then(|| joins.len() + trial.source.position())
    }

    /// `if …; then …; elif …; then …; else …; fi`: whether it stops, and for more than something that is missing.
    fn conditional(&mut self) -> Result<bool, Stop> {
        let mut checks = Checks::default();
        self.keyword(&["if"])?;
        loop {
            checks.ask_more |= self.conditions()?;
            self.separator()?;
            self.keyword(&["then"])?;
            let word = loop {
                checks.join(self.consequences()?);
                self.separator()?;
                if let Ok(word) = self.keyword(&["elif", "else", "fi"]) {
                    break word;
                }
            };
            match word {
                "elif" => {}
                "else" => loop {
                    checks.join(self.consequences()?);
                    self.separator()?;
                    if self.keyword(&["fi"]).is_ok() {
                        return Ok(checks.decide());
                    }
                },
                _ => return Ok(checks.decide()),
            }
        }
    }

    /// `[ -n "$KEY" ] || echo "no key"`
    fn list(&mut self) -> Result<bool, Stop> {
        let mut checks = Checks {
            ask_more: self.condition()?,
            stop: false,
        };
        let mut has_consequence = false;
        while self.joins() {
            match self.is_condition() {
                true => checks.ask_more |= self.condition()?,
                false => {
                    checks.join(self.group()?);
                    has_consequence = true;
                }
            }
        }
        match has_consequence {
            true => Ok(checks.decide()),
            false => construct("conditional"),
        }
    }

    /// Conditions joined by `&&` and `||`: whether one asks more than whether something is there.
    fn conditions(&mut self) -> Result<bool, Stop> {
        let mut asks_more = self.condition()?;
        while self.joins() {
            asks_more |= self.condition()?;
        }
        Ok(asks_more)
    }

    fn joins(&mut self) -> bool {
        self.blanks();
        let rest = self.source.rest();
        let joins = rest.starts_with("&&") || rest.starts_with("||");
        if joins {
            self.source.skip(2);
            while self.source.peek().is_some_and(char::is_whitespace) {
                self.source.next();
            }
        }
        joins
    }

    fn is_condition(&self) -> bool {
        let mut words = self.source.rest().split_whitespace();
        match words.next() {
            Some("[" | "[[" | "test" | "!") => true,
            Some("grep" | "rg") => words.next().is_some_and(|word| word.starts_with("-q")),
            _ => false,
        }
    }

    /// `[ … ]`, `[[ … ]]`, `test …`, or a search that prints nothing: whether it asks more than whether something is there.
    fn condition(&mut self) -> Result<bool, Stop> {
        self.blanks();
        if self.keyword(&["!"]).is_ok() {
            self.blanks();
        }
        let commands = self.printing_pipeline()?;
        let Some((last, before)) = commands.split_last() else {
            return construct("conditional");
        };
        let names: Vec<&str> = last.iter().map(|word| bare(word).unwrap_or("")).collect();
        match names.as_slice() {
            ["[", asked @ .., "]"] | ["[[", asked @ .., "]]"] | ["test", asked @ ..]
                if before.is_empty() && !asked.is_empty() =>
            {
                let operator = match asked {
                    [operator, _] | ["!", operator, _] => *operator,
                    _ => "",
                };
                Ok(!PRESENCE.contains(&operator))
            }
            ["grep" | "rg", option, ..] if option.starts_with("-q") => {
                let are_printing = before.iter().all(|command| only_prints(command));
                are_printing
                    .then_some(true)
                    .map_or_else(|| construct("conditional"), Ok)
            }
            _ => construct("conditional"),
        }
    }

    /// What prints, stops or installs, joined by `&&`.
    fn consequences(&mut self) -> Result<Checks, Stop> {
        let mut checks = self.consequence()?;
        while self.source.rest().starts_with("&&") && self.joins() {
            checks.join(self.consequence()?);
        }
        Ok(checks)
    }

    /// `( … )` around consequences, or one that stands alone.
    fn group(&mut self) -> Result<Checks, Stop> {
        if self.source.peek() != Some('(') {
            return self.consequence();
        }
        self.source.next();
        let checks = self.consequences()?;
        match self.source.next() {
            Some(')') => Ok(checks),
            _ => construct("conditional"),
        }
    }

    /// What prints, stops or installs. What prints some of what it reads may fail, as a search does, and so asks.
    fn consequence(&mut self) -> Result<Checks, Stop> {
        let commands = self.printing_pipeline()?;
        let checks = |ask_more, stop| Ok(Checks { ask_more, stop });
        if let [command] = commands.as_slice() {
            match command.first().and_then(bare) {
                Some("exit" | "return") => return checks(false, true),
                Some(":" | "true") => return checks(false, false),
                _ if prints_its_words(command) => return checks(false, false),
                _ => {}
            }
        }
        if commands.iter().all(|command| installs(command)) {
            return checks(false, false);
        }
        match commands.iter().all(|command| only_prints(command)) {
            true => checks(true, false),
            false => construct("conditional"),
        }
    }

    /// The words of commands joined by `|`.
    fn printing_pipeline(&mut self) -> Result<Vec<Vec<Pieces>>, Stop> {
        let mut commands = vec![Vec::new()];
        loop {
            self.blanks();
            let rest = self.source.rest();
            match self.source.peek() {
                Some('>') if rest.starts_with(">&2") => self.source.skip(3),
                Some('>') => self.output("")?,
                Some('|') if !rest.starts_with("||") && !rest.starts_with("|&") => {
                    self.source.next();
                    commands.push(Vec::new());
                }
                Some('2') if rest.starts_with("2>/dev/null") || rest.starts_with("2>&1") => {
                    self.source.next();
                    self.output("2")?;
                }
                None | Some('\n' | ';' | '&' | '|' | ')') => return Ok(commands),
                Some('#') => {
                    self.source.take_line();
                    return Ok(commands);
                }
                Some('(' | '<') => return construct("conditional"),
                Some(_) => {
                    let word = self.word()?;
                    if let Some(last) = commands.last_mut() {
                        last.push(word);
                    }
                }
            }
        }
    }

    /// `;` or the end of a line, and what may stand behind it.
    fn separator(&mut self) -> Result<(), Stop> {
        self.blanks();
        match self.source.peek() {
            Some(';') if !self.source.rest().starts_with(";;") => {
                self.source.next();
            }
            Some('\n' | '#') => {}
            _ => return construct("conditional"),
        }
        self.lines()
    }

    /// One of these words; nothing is read if none stands here.
    fn keyword(&mut self, words: &[&'static str]) -> Result<&'static str, Stop> {
        let rest = self.source.rest();
        let ends = |after: &str| after.is_empty() || after.starts_with([' ', '\t', '\n', ';', '#']);
        let found = words
            .iter()
            .find(|word| rest.strip_prefix(**word).is_some_and(ends));
        match found {
            Some(word) => {
                self.source.skip(word.len());
                if *word != "fi" {
                    self.lines()?;
                }
                Ok(word)
            }
            None => construct("conditional"),
        }
    }
}

/// Whether checks mean something to what stands beside them: anything but requests and values, or a request behind a check that
/// stops for more than something that is missing.
pub(super) fn decide(program: &Program) -> bool {
    let is_request = |statement: &Statement| match statement.commands.as_slice() {
        [one] if sets_constants(one) => one.assignments.iter().any(|assignment| {
            matches!(&assignment.value, Value::Output(commands)
                if commands.first().is_some_and(plan::is_http))
        }),
        commands => commands.first().is_some_and(plan::is_http),
    };
    let is_value = |statement: &Statement| match statement.commands.as_slice() {
        [one] => sets_constants(one) || is_setting(one) || only_prints(&one.words),
        commands => commands.iter().all(|command| only_prints(&command.words)),
    };
    let counts = |guard: &Guard| {
        let mut behind = (program.statements.iter()).filter(|one| one.start > guard.position);
        guard.decides && behind.any(is_request)
    };
    let is_beside = |statement: &Statement| is_request(statement) || is_value(statement);
    !program.guards.is_empty()
        && (program.guards.iter().any(counts) || !program.statements.iter().all(is_beside))
}

/// Whether a command goes to a directory or installs, which is left out wherever it stands.
fn installs(command: &[Pieces]) -> bool {
    let words: Vec<&str> = command.iter().filter_map(bare).collect();
    match words.as_slice() {
        ["cd", _] => true,
        words => words.len() == command.len() && setup::installs(words),
    }
}
