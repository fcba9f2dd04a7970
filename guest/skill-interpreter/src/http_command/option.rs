//! Argument vectors against a table of options: clusters, glued values, `--opt=value`, `--`.

use crate::draft::{Part, Template, Word};

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// Nothing.
    Nothing,
    /// A value, glued or as the next word.
    Value,
    /// Of an option that is refused: whatever it takes, reading ends there.
    Whatever,
}

/// A row of a table of options.
#[derive(Debug)]
pub(super) struct Row<R: 'static> {
    /// All its names, in full; one that ends `*` stands for every name that begins so and has no row of its own.
    pub(super) names: &'static [&'static str],
    /// What it takes.
    pub(super) takes: Takes,
    /// What it means.
    pub(super) role: R,
}

/// A row.
pub(super) const fn row<R>(names: &'static [&'static str], takes: Takes, role: R) -> Row<R> {
    Row { names, takes, role }
}

/// A word, or several, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item<R> {
    /// An option.
    Option {
        /// As it is called in full, `--insecure` or `-k`.
        name: String,
        /// What it means.
        role: R,
        /// Its value; empty if it takes none.
        value: Template,
    },
    /// Anything else.
    Operand(Template),
}

/// Why a word is neither.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unfit {
    /// It is in no row.
    #[error("{0} is not an option that is known")]
    Unknown(String),
    /// There is no word left for its value.
    #[error("{0} needs a value")]
    NoValue(String),
    /// `--silent=yes`
    #[error("{0} takes no value")]
    UnwantedValue(String),
}

/// What is left of a cluster such as `-sSL`: a word, and how far it was read, so that no letter copies the rest.
#[derive(Default)]
struct Cluster {
    word: Template,
    /// The part that the next letter stands in, and the bytes of it that were read.
    part: usize,
    read: usize,
}

impl Cluster {
    fn new(word: Template) -> Self {
        Self {
            word,
            part: 0,
            read: 0,
        }
    }

    fn is_empty(&self) -> bool {
        self.part >= self.word.parts.len()
    }

    /// Takes the next letter; none where a variable stands.
    fn next_letter(&mut self) -> Option<char> {
        let Some(Part::Literal(literal)) = self.word.parts.get(self.part) else {
            return None;
        };
        let letter = literal.text.get(self.read..)?.chars().next()?;
        self.read = self.read.saturating_add(letter.len_utf8());
        if self.read >= literal.text.len() {
            (self.part, self.read) = (self.part.saturating_add(1), 0);
        }
        Some(letter)
    }

    /// What was not read.
    fn rest(mut self) -> Template {
        let parts = self.word.parts.split_off(self.part);
        Template { parts }.without_leading(self.read)
    }
}

/// Reads an argument vector. The items are in order, and options may stand after operands.
pub(super) struct Scan<'a, R: 'static> {
    table: &'static [Row<R>],
    words: std::slice::Iter<'a, Word>,
    /// The cluster that is being read.
    cluster: Cluster,
    /// After `--`.
    only_operands: bool,
}

impl<'a, R: Copy> Scan<'a, R> {
    /// Reads these words by this table.
    pub(super) fn new(table: &'static [Row<R>], words: &'a [Word]) -> Self {
        Self {
            table,
            words: words.iter(),
            cluster: Cluster::default(),
            only_operands: false,
        }
    }

    /// The first option of the cluster.
    fn short(&mut self) -> Result<Item<R>, Unfit> {
        let mut cluster = std::mem::take(&mut self.cluster);
        let Some(c) = cluster.next_letter() else {
            return Err(Unfit::Unknown("-, followed by a variable,".to_owned()));
        };
        let name = format!("-{}", printable(c));
        let row = find(self.table, &name).ok_or_else(|| Unfit::Unknown(name.clone()))?;
        let value = match row.takes {
            Takes::Value if cluster.is_empty() => self.next_word(&name)?,
            Takes::Value => cluster.rest(),
            Takes::Nothing | Takes::Whatever => {
                self.cluster = cluster;
                Template::default()
            }
        };
        Ok(Item::Option {
            name,
            role: row.role,
            value,
        })
    }

    fn long(&mut self, word: &Template) -> Result<Item<R>, Unfit> {
        let (name, glued) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.clone(), None),
        };
        let shown: String = name.display().chars().take(40).map(printable).collect();
        let row = name
            .as_literal()
            .and_then(|name| find(self.table, &name))
            .ok_or_else(|| Unfit::Unknown(shown.clone()))?;
        let value = match (row.takes, glued) {
            (Takes::Nothing, None) | (Takes::Whatever, _) => Template::default(),
            (Takes::Nothing, Some(_)) => return Err(Unfit::UnwantedValue(shown)),
            (Takes::Value, Some(value)) => value,
            (Takes::Value, None) => self.next_word(&shown)?,
        };
        Ok(Item::Option {
            name: shown,
            role: row.role,
            value,
        })
    }

    fn next_word(&mut self, option: &str) -> Result<Template, Unfit> {
        self.words
            .next()
            .cloned()
            .ok_or_else(|| Unfit::NoValue(option.to_owned()))
    }
}

impl<R: Copy> Iterator for Scan<'_, R> {
    type Item = Result<Item<R>, Unfit>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.cluster.is_empty() {
            return Some(self.short());
        }
        loop {
            let word = self.words.next()?;
            let rest = match word.strip_prefix('-') {
                Some(rest) if !self.only_operands && !rest.is_empty() => rest,
                _ => return Some(Ok(Item::Operand(word.clone()))),
            };
            if rest.first_character() != Some('-') {
                self.cluster = Cluster::new(rest);
                return Some(self.short());
            }
            if rest.as_literal().as_deref() == Some("-") {
                self.only_operands = true;
                continue;
            }
            return Some(self.long(word));
        }
    }
}

/// The row of an option's name.
fn find<R>(table: &'static [Row<R>], name: &str) -> Option<&'static Row<R>> {
    let by = |fits: fn(&str, &str) -> bool| {
        table
            .iter()
            .find(|row| row.names.iter().any(|known| fits(known, name)))
    };
    by(|known, name| known == name).or_else(|| {
        by(|known, name| {
            known
                .strip_suffix('*')
                .is_some_and(|begin| name.starts_with(begin))
        })
    })
}

/// What a message may show of an option's name.
fn printable(c: char) -> char {
    if c.is_control() { '\u{FFFD}' } else { c }
}
