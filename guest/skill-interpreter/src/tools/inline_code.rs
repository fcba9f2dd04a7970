//! K-130: code that stands in a command line itself (`perl -e`, `awk PROGRAM f g`), where the command is run as it is written.
//!
//! A caller's text never becomes a part of it: what looks like a placeholder is code, and a variable of the shell makes the
//! command a script. In doubt a word is code.

use super::{Tool, install};
use crate::draft::{Literal, Part, Quoting, Template, Word};
use crate::http_command::{Invocation, Stdin};

/// Interpreters, the letters of the options whose value is code, and such options in full.
const LANGUAGES: [(&str, &str, &[&str]); 23] = [
    ("python", "c", &[]),
    ("node", "ep", &["--eval", "--print"]),
    ("tsx", "ep", &["--eval", "--print"]),
    ("bun", "ep", &["--eval", "--print"]),
    ("deno", "", &["eval"]),
    ("perl", "eE", &[]),
    ("ruby", "e", &[]),
    (
        "php",
        "rBRE",
        &[
            "--run",
            "--process-begin",
            "--process-code",
            "--process-end",
        ],
    ),
    ("lua", "e", &[]),
    ("luajit", "e", &[]),
    ("R", "e", &[]),
    ("Rscript", "e", &[]),
    ("julia", "eE", &["--eval", "--print"]),
    ("elixir", "e", &["--eval"]),
    ("groovy", "e", &[]),
    ("osascript", "e", &[]),
    ("pwsh", "c", &["-Command", "-command"]),
    ("sh", "c", &[]),
    ("bash", "c", &[]),
    ("dash", "c", &[]),
    ("zsh", "c", &[]),
    ("ksh", "c", &[]),
    ("fish", "c", &["--command"]),
];

type Language = (&'static str, &'static str, &'static [&'static str]);

/// An invocation, its code literal.
pub(super) struct Guarded {
    pub(super) argv: Vec<Word>,
    pub(super) stdin: Option<Template>,
}

/// Makes code of an invocation literal; a script if a variable is in it.
pub(super) fn guard(invocation: &Invocation<'_>) -> Result<Guarded, Tool> {
    let argv = invocation.argv;
    let guarded = argv_of(argv)?;
    let name = argv.first().and_then(Template::as_literal);
    let is_program = name.is_some_and(|name| language(&name).is_some())
        && argv
            .iter()
            .skip(1)
            .all(|word| word.display().starts_with('-'));
    let stdin = match invocation.stdin {
        Stdin::Text(text) if is_program => Some(exact(text)?),
        Stdin::Text(text) => Some(text.clone()),
        Stdin::Previous | Stdin::Nothing => None,
    };
    Ok(Guarded {
        argv: guarded,
        stdin,
    })
}

fn argv_of(argv: &[Word]) -> Result<Vec<Word>, Tool> {
    let installs = argv
        .first()
        .and_then(Template::as_literal)
        .is_some_and(|name| install::is_installer(&name));
    let mut guarded = Vec::with_capacity(argv.len());
    let mut known: Option<Language> = None;
    let mut is_code = false;
    let mut words = argv.iter();
    while let Some(word) = words.next() {
        if std::mem::take(&mut is_code) {
            guarded.push(exact(word)?);
            continue;
        }
        let name = word.as_literal().unwrap_or_default();
        if !installs && let Some(editor) = Editor::of(&name) {
            guarded.push(word.clone());
            editor.rest(words, &mut guarded)?;
            break;
        }
        if let Some(language) = language(&name) {
            known = Some(language);
        }
        match known.map_or(Holds::Nothing, |language| holds(language, word)) {
            Holds::Nothing => guarded.push(word.clone()),
            Holds::Code => guarded.push(exact(word)?),
            Holds::CodeNext => {
                guarded.push(word.clone());
                is_code = true;
            }
        }
    }
    Ok(guarded)
}

fn language(name: &str) -> Option<Language> {
    let name = name.rsplit('/').next().unwrap_or_default();
    // `python3.12`
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    LANGUAGES.into_iter().find(|(known, ..)| *known == name)
}

enum Holds {
    Nothing,
    /// `-ecode`, `--eval=code`
    Code,
    /// `-e`, `-lane`
    CodeNext,
}

/// What an option holds, given by the literal that the word begins with.
fn holds((_, letters, long): Language, word: &Word) -> Holds {
    let Some(Part::Literal(first)) = word.parts.first() else {
        return Holds::Nothing;
    };
    let text = first.text.as_str();
    let is_whole = word.parts.len() == 1;
    if is_whole && long.contains(&text) {
        return Holds::CodeNext;
    }
    if text.starts_with("--") {
        let name = text.split_once('=').map(|(name, _)| name);
        return match name {
            Some(name) if long.contains(&name) => Holds::Code,
            _ => Holds::Nothing,
        };
    }
    let Some(cluster) = text.strip_prefix('-') else {
        return Holds::Nothing;
    };
    if is_whole && cluster.ends_with(|c| letters.contains(c)) {
        Holds::CodeNext
    } else if cluster.contains(|c| letters.contains(c)) {
        Holds::Code
    } else {
        Holds::Nothing
    }
}

/// Tools whose first operand is a program, unless an option gives it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Editor {
    Awk,
    Sed,
}

impl Editor {
    fn of(name: &str) -> Option<Self> {
        match name.rsplit('/').next()? {
            "awk" | "gawk" | "mawk" | "nawk" => Some(Self::Awk),
            "sed" | "gsed" => Some(Self::Sed),
            _ => None,
        }
    }

    /// The letters of options with a value that is no code, and those with a file of code.
    fn letters(self) -> (&'static str, &'static str) {
        match self {
            Self::Awk => ("Fv", "fE"),
            Self::Sed => ("l", "f"),
        }
    }

    /// What follows the tool's name.
    fn rest<'a>(
        self,
        mut words: impl Iterator<Item = &'a Word>,
        guarded: &mut Vec<Word>,
    ) -> Result<(), Tool> {
        let (values, files) = self.letters();
        let mut has_program = false;
        // What an option that is not known takes could be what comes next.
        let mut is_doubtful = false;
        let mut options = true;
        while let Some(word) = words.next() {
            let text = word.display();
            if !options || text == "-" || !text.starts_with('-') {
                guarded.push(if has_program {
                    word.clone()
                } else {
                    exact(word)?
                });
                has_program |= !is_doubtful;
                continue;
            }
            if let Some(long) = text.strip_prefix("--") {
                options = !long.is_empty();
                has_program |= long.starts_with("file=");
                let is_code = long.starts_with("expression") || long.starts_with("source");
                is_doubtful |= !is_code && self == Self::Awk && !long.is_empty();
                guarded.push(if is_code { exact(word)? } else { word.clone() });
                if is_code && !long.contains('=') {
                    guarded.extend(words.next().map(exact).transpose()?);
                }
                has_program |= is_code;
                continue;
            }
            let mut cluster = text.strip_prefix('-').unwrap_or_default().chars();
            let mut pushed = word.clone();
            while let Some(letter) = cluster.next() {
                let is_last = cluster.as_str().is_empty();
                if letter == 'e' || files.contains(letter) || values.contains(letter) {
                    has_program |= !values.contains(letter);
                    if letter == 'e' {
                        pushed = exact(word)?;
                    }
                    guarded.push(pushed);
                    if is_last && let Some(value) = words.next() {
                        let value = if letter == 'e' {
                            exact(value)?
                        } else {
                            value.clone()
                        };
                        guarded.push(value);
                    }
                    pushed = Template::default();
                    break;
                }
                // Of sed, the rest is what a copy's name ends with.
                if self == Self::Sed && letter == 'i' {
                    break;
                }
                is_doubtful |= self == Self::Awk;
            }
            if !pushed.is_empty() {
                guarded.push(pushed);
            }
        }
        Ok(())
    }
}

/// Text in which nothing is looked for.
fn exact(word: &Template) -> Result<Template, Tool> {
    let mut exact = Template::default();
    for part in &word.parts {
        let Part::Literal(literal) = part else {
            return Err(Tool::Script("variable in code".to_owned()));
        };
        exact.push(Part::Literal(Literal {
            quoting: Quoting::Exact,
            ..literal.clone()
        }));
    }
    Ok(exact)
}
