//! The template grammar of `examples/catalog/training/grammar.txt`, expanded into prompts; the file's head has the rules.

use std::collections::{BTreeMap, BTreeSet};

use super::random::Random;

/// Rounds over the templates of one workflow, at most.
const MOST_ROUNDS: usize = 20;
/// One of so many misspellable words is misspelt.
const MISSPELT: usize = 10;

/// A grammar that was read.
#[derive(Default)]
pub struct Grammar {
    lists: BTreeMap<String, Vec<String>>,
    registers: BTreeMap<String, Vec<String>>,
    misspellings: BTreeMap<String, Vec<String>>,
    /// Workflow, its templates: register and text.
    templates: Vec<(String, Vec<(String, String)>)>,
}

/// Splits at bars outside parentheses.
fn alternatives(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            '|' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(letter);
        }
    }
    parts
        .into_iter()
        .map(|part| part.trim().to_owned())
        .collect()
}

impl Grammar {
    /// Reads the file.
    pub fn read(text: &str) -> Self {
        let mut grammar = Self::default();
        let mut open: Option<(char, String)> = None;
        for line in text.lines() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(more) = line.strip_prefix('|') {
                if let Some((kind, name)) = &open {
                    let lists = if *kind == '$' {
                        &mut grammar.lists
                    } else {
                        &mut grammar.registers
                    };
                    lists
                        .entry(name.clone())
                        .or_default()
                        .extend(alternatives(more));
                }
            } else if line.starts_with(['$', '@']) {
                let (kind, rest) = line.split_at(1);
                let (name, body) = rest.split_once('=').unwrap_or((rest, ""));
                let name = name.trim().to_owned();
                let kind = if kind == "$" { '$' } else { '@' };
                let lists = if kind == '$' {
                    &mut grammar.lists
                } else {
                    &mut grammar.registers
                };
                lists.insert(name.clone(), alternatives(body));
                open = Some((kind, name));
            } else if let Some(rest) = line.strip_prefix('~') {
                let (word, body) = rest.split_once('=').unwrap_or((rest, ""));
                grammar
                    .misspellings
                    .insert(word.trim().to_owned(), alternatives(body));
            } else if let Some(id) = line
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'))
            {
                grammar.templates.push((id.to_owned(), Vec::new()));
            } else if let Some((_, templates)) = grammar.templates.last_mut() {
                let (register, text) = line.split_once(' ').unwrap_or((line, ""));
                templates.push((register.to_owned(), text.trim().to_owned()));
            }
        }
        grammar
    }

    /// Up to `wanted` distinct prompts of each workflow, with the number of the template each came from.
    pub fn expand(&self, wanted: usize, seed: u64) -> Vec<(String, usize, String)> {
        let mut random = Random::new(seed);
        let mut prompts = Vec::new();
        for (id, templates) in &self.templates {
            let mut seen = BTreeSet::new();
            'rounds: for _ in 0..MOST_ROUNDS {
                for (place, (register, template)) in templates.iter().enumerate() {
                    if seen.len() >= wanted {
                        break 'rounds;
                    }
                    let mut text = self.draw(template, &mut random, 0);
                    if let Some(forms) = self.registers.get(register) {
                        let form = forms
                            .get(random.below(forms.len()))
                            .map_or("{}", String::as_str);
                        text = self.draw(form, &mut random, 0).replace("{}", &text);
                    }
                    let text = tidy(&self.misspell(&text, &mut random));
                    if seen.insert(text.clone()) {
                        prompts.push((id.clone(), place, text));
                    }
                }
            }
        }
        prompts
    }

    /// One expansion of a text.
    fn draw(&self, text: &str, random: &mut Random, depth: usize) -> String {
        if depth > 12 {
            return String::new();
        }
        let mut drawn = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['<', '(']) {
            drawn.push_str(&rest[..at]);
            let close = if rest[at..].starts_with('<') {
                '>'
            } else {
                ')'
            };
            let Some(length) = rest[at..].find(close) else {
                break;
            };
            let inner = &rest[at + 1..at + length];
            if close == '>' {
                let list = self.lists.get(inner).map_or(&[][..], Vec::as_slice);
                let chosen = list
                    .get(random.below(list.len()))
                    .map_or("", String::as_str);
                drawn.push_str(&self.draw(chosen, random, depth + 1));
            } else {
                let parts: Vec<&str> = inner.split('|').collect();
                let chosen = parts
                    .get(random.below(parts.len()))
                    .copied()
                    .unwrap_or_default();
                drawn.push_str(&self.draw(chosen, random, depth + 1));
            }
            rest = &rest[at + length + 1..];
        }
        drawn.push_str(rest);
        drawn
    }

    fn misspell(&self, text: &str, random: &mut Random) -> String {
        text.split(' ')
            .map(|word| match self.misspellings.get(word) {
                Some(forms) if random.below(MISSPELT) == 0 => forms
                    .get(random.below(forms.len()))
                    .cloned()
                    .unwrap_or_default(),
                _ => word.to_owned(),
            })
            .collect::<Vec<_>>()
            .join(" ")
    }
}

fn tidy(text: &str) -> String {
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for mark in [" ,", " .", " ?", " !"] {
        text = text.replace(mark, mark.trim_start());
    }
    text
}
