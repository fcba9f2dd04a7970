//! Where objects stand: cross-reference tables and streams, newest first (ISO 32000-2, 7.5.4 to 7.5.8).

use std::collections::{HashMap, HashSet};

use super::filter::Failure;
use super::lexer::{Lexer, Place};
use super::object::{Dict, Object};
use super::scan;
use super::streams;

/// Bytes at the end in which `startxref` is looked for.
const TAIL: usize = 2_048;

/// Objects at most; each has a line of some bytes in the file.
const MAX_OBJECTS: usize = 1_000_000;

/// Values of one dictionary of a section at most.
const MAX_NODES: usize = 10_000;

/// Where an object stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// At a byte of the file.
    At(usize),
    /// In an object stream.
    In(u32),
    /// Deleted: older sections do not count.
    Free,
}

/// All objects and the trailer.
#[derive(Debug, Default)]
pub(super) struct Xref {
    pub(super) entries: HashMap<u32, Entry>,
    pub(super) trailer: Dict,
}

impl Xref {
    /// Reads the sections that the end of the file leads to; where they are wrong, looks for the objects themselves.
    ///
    /// # Errors
    /// A cross-reference stream that is larger than the budget.
    pub(super) fn read(file: &[u8], budget: &mut usize) -> Result<Self, Failure> {
        let mut xref = Self::default();
        let complete = xref.read_sections(file, budget)?;
        if !complete || xref.trailer.get("Root").is_none() {
            return Ok(Self::rebuilt(file, Some(&xref.trailer)));
        }
        xref.repair(file);
        Ok(xref)
    }

    /// What a look through the whole file finds.
    pub(super) fn rebuilt(file: &[u8], trailer: Option<&Dict>) -> Self {
        let found = scan::scan(file);
        let mut xref = Self::default();
        for (number, at) in found.objects {
            xref.entries.insert(number, Entry::At(at));
        }
        for dict in found.trailers.iter().rev().chain(trailer) {
            xref.add_trailer(dict);
        }
        xref
    }

    /// Replaces entries that lead nowhere by what a look through the file finds.
    fn repair(&mut self, file: &[u8]) {
        let wrong: Vec<u32> = self
            .entries
            .iter()
            .filter(|(number, entry)| match entry {
                Entry::At(at) => !scan::is_object(file, *at, **number),
                _ => false,
            })
            .map(|(number, _)| *number)
            .collect();
        if wrong.is_empty() {
            return;
        }
        let found: HashMap<u32, usize> = scan::scan(file).objects.into_iter().collect();
        for number in wrong {
            let entry = found.get(&number).map_or(Entry::Free, |at| Entry::At(*at));
            self.entries.insert(number, entry);
        }
    }

    /// Whether all sections could be read.
    fn read_sections(&mut self, file: &[u8], budget: &mut usize) -> Result<bool, Failure> {
        let mut next = start(file);
        let mut visited = HashSet::new();
        if next.is_none() {
            return Ok(false);
        }
        while let Some(at) = next {
            if !visited.insert(at) {
                break;
            }
            let mut lexer = Lexer::new(file, at, Place::File, MAX_NODES);
            let section = if lexer.eat(b"xref") {
                let table = self.read_table(&mut lexer);
                spend(budget, lexer.position().saturating_sub(at))?;
                table
            } else {
                self.read_stream(file, at, budget)?
            };
            let Some(dict) = section else {
                return Ok(false);
            };
            // Of a hybrid file the stream counts before older sections (7.5.8.4).
            let offset = |key| dict.get(key).and_then(Object::integer);
            let offset = |key| offset(key).and_then(|at| usize::try_from(at).ok());
            if let Some(at) = offset("XRefStm")
                && visited.insert(at)
                && let Some(dict) = self.read_stream(file, at, budget)?
            {
                self.add_trailer(&dict);
            }
            next = offset("Prev");
            self.add_trailer(&dict);
        }
        Ok(true)
    }

    /// Keys of a newer trailer stay.
    fn add_trailer(&mut self, dict: &Dict) {
        for key in ["Root", "Info", "Encrypt"] {
            if let (None, Some(value)) = (self.trailer.get(key), dict.get(key)) {
                self.trailer.insert(key.as_bytes().into(), value.clone());
            }
        }
    }

    /// An entry of a newer section stays.
    fn add(&mut self, number: u32, entry: Entry) {
        if self.entries.len() < MAX_OBJECTS {
            self.entries.entry(number).or_insert(entry);
        }
    }

    fn read_table(&mut self, lexer: &mut Lexer<'_>) -> Option<Dict> {
        while !lexer.eat(b"trailer") {
            let first = lexer.unsigned()?;
            let count = lexer.unsigned()?;
            for index in 0..count {
                let at = lexer.unsigned();
                let (Some(at), Some(generation)) = (at, lexer.unsigned()) else {
                    break;
                };
                let number = first.checked_add(index)?;
                if lexer.eat(b"n") {
                    let at = usize::try_from(at).ok()?;
                    self.add(number, Entry::At(at));
                } else if lexer.eat(b"f") {
                    // Some writers call every object free by mistake, at no generation.
                    if generation > 0 || at > 0 || number == 0 {
                        self.add(number, Entry::Free);
                    }
                } else {
                    return None;
                }
            }
        }
        match lexer.object()? {
            Object::Dict(dict) => Some(dict),
            _ => None,
        }
    }

    fn read_stream(
        &mut self,
        file: &[u8],
        at: usize,
        budget: &mut usize,
    ) -> Result<Option<Dict>, Failure> {
        let Some(stream) = streams::read_at(file, at) else {
            return Ok(None);
        };
        // Its end may have been looked for, and sections may stand within each other.
        spend(budget, stream.bytes.end.saturating_sub(at))?;
        if !stream.dict.is("Type", "XRef") {
            return Ok(None);
        }
        let bytes = match streams::decode(file, &stream, |object| object.clone(), budget) {
            Ok(bytes) => bytes,
            Err(Failure::TooLarge) => return Err(Failure::TooLarge),
            Err(Failure::Unknown) => return Ok(None),
        };
        if self.read_entries(&stream.dict, &bytes).is_none() {
            return Ok(None);
        }
        Ok(Some(stream.dict))
    }

    fn read_entries(&mut self, dict: &Dict, mut bytes: &[u8]) -> Option<()> {
        let numbers = |key| -> Option<Vec<usize>> {
            let array = dict.get(key)?.array()?.iter();
            let number = |object: &Object| usize::try_from(object.integer()?).ok();
            array.map(number).collect()
        };
        let widths: [usize; 3] = numbers("W")?.get(..3)?.try_into().ok()?;
        let index = match numbers("Index") {
            Some(index) => index,
            None => vec![0, usize::try_from(dict.get("Size")?.integer()?).ok()?],
        };
        if widths.iter().any(|width| *width > 8) || widths == [0; 3] {
            return None;
        }
        let [kind_width, second_width, third_width] = widths;
        let (ranges, _) = index.as_chunks::<2>();
        for [first, count] in ranges {
            for number in *first..first.saturating_add(*count) {
                let Some((kind, rest)) = field(bytes, kind_width) else {
                    return Some(());
                };
                let Some((second, rest)) = field(rest, second_width) else {
                    return Some(());
                };
                let Some((_, rest)) = field(rest, third_width) else {
                    return Some(());
                };
                bytes = rest;
                let number = u32::try_from(number).ok()?;
                match if kind_width == 0 { 1 } else { kind } {
                    0 => self.add(number, Entry::Free),
                    1 => self.add(number, Entry::At(usize::try_from(second).ok()?)),
                    2 => self.add(number, Entry::In(u32::try_from(second).ok()?)),
                    _ => {}
                }
            }
        }
        Some(())
    }
}

/// Takes bytes that were read from the budget.
fn spend(budget: &mut usize, bytes: usize) -> Result<(), Failure> {
    *budget = budget.checked_sub(bytes).ok_or(Failure::TooLarge)?;
    Ok(())
}

fn field(bytes: &[u8], width: usize) -> Option<(u64, &[u8])> {
    let (field, rest) = bytes.split_at_checked(width)?;
    let value = field
        .iter()
        .fold(0, |value, byte| value << 8 | u64::from(*byte));
    Some((value, rest))
}

/// What the last `startxref` says.
fn start(file: &[u8]) -> Option<usize> {
    let tail = file.get(file.len().saturating_sub(TAIL)..)?;
    let word = b"startxref";
    let at = tail
        .windows(word.len())
        .rposition(|window| window == word)?;
    let mut lexer = Lexer::new(tail, at.saturating_add(word.len()), Place::File, MAX_NODES);
    usize::try_from(lexer.unsigned()?).ok()
}
