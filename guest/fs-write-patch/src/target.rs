//! Which paths the sections read and write, and the refusal of names that may not be written.
//!
//! With `strip: auto` the names of a section may be read in several ways. What both sides share, and which files exist,
//! tells which one is meant; where that leaves two, the call ends.

use std::collections::{BTreeMap, BTreeSet};

use kit::SkillError;
use kit::host::ReadFiles;
use kit::path::{MAX_PATH_BYTES, Path};
use serde_json::json;

use crate::diff::{Kind, Name, Section, malformed};
use crate::files::{Files, Need};
use crate::request::{Request, Strip};

/// What git puts before the names of both sides, in either order: by default, with `diff.mnemonicPrefix` for the index,
/// the work tree, a commit and an object, and for two files outside a repository.
const PREFIXES: [(&str, &str); 6] = [
    ("a", "b"),
    ("i", "w"),
    ("c", "i"),
    ("c", "w"),
    ("o", "w"),
    ("1", "2"),
];

const BACKSLASHES: &str = "the backslashes of the name are taken for slashes";

/// A file, and the sections that change it in their order.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    /// What the first section does.
    pub(crate) kind: Kind,
    /// Where the first section begins: the line of the diff, from 1.
    line: usize,
    pub(crate) sections: Vec<&'a Section<'a>>,
    /// What is written or deleted.
    pub(crate) path: Path,
    /// What a rename or copy makes it of.
    pub(crate) source: Option<Path>,
    /// Other paths that the names may mean.
    others: Vec<Path>,
    /// They are as likely as `path`.
    unsure: bool,
    /// How the names were read, where that is not plain.
    pub(crate) notes: Vec<String>,
}

impl Target<'_> {
    /// Whether its first section makes the file if there is none.
    pub(crate) fn may_create(&self) -> bool {
        self.sections
            .first()
            .is_some_and(|section| section.may_create())
    }

    /// The path whose content the hunks apply to.
    pub(crate) fn content_path(&self) -> &Path {
        self.source.as_ref().unwrap_or(&self.path)
    }

    /// How much has to be known of its paths.
    fn needs(&self) -> impl Iterator<Item = (&Path, Need)> {
        let content = self.source.iter().map(|source| (source, Need::Content));
        let need = match (self.kind, &self.source) {
            (Kind::Create, _) | (_, Some(_)) => Need::Existence,
            (_, None) => Need::Content,
        };
        content.chain([(&self.path, need)])
    }

    /// Whether the files have to tell which path is meant.
    fn is_open(&self, files: &Files) -> bool {
        !self.others.is_empty() && (self.unsure || files.is_missing(&self.path))
    }

    /// Takes the one path that names a file; true if it is not the most likely one.
    fn choose(&mut self, files: &Files) -> Result<bool, SkillError> {
        let paths = std::iter::once(&self.path).chain(&self.others);
        let existing: Vec<_> = paths.filter(|path| !files.is_missing(path)).collect();
        match existing.as_slice() {
            [one, other, ..] if self.unsure => {
                let (one, other) = (one.shown(), other.shown());
                let what = format!("the names may mean {one} or {other}: `strip` has to say which");
                Err(malformed(self.line, &what))
            }
            [path] if **path != self.path => {
                let (line, shown) = (self.line, path.shown());
                // Instead of how the names were read before.
                self.notes.retain(|note| note == BACKSLASHES);
                self.notes.push(format!(
                    "the names at line {line} of the diff are taken for {shown}"
                ));
                self.path = (*path).clone();
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

/// The targets of all sections, and the old state of their paths.
///
/// # Errors
/// `denied` for a name that may not be written; `malformed` where the names of a section contradict each other or may
/// mean several files, or a path would be changed in two ways; what [`Files::read`] answers.
pub(crate) fn resolve<'a>(
    host: &mut impl ReadFiles,
    sections: &'a [Section<'a>],
    request: &Request,
) -> Result<(Vec<Target<'a>>, Files), SkillError> {
    let names = Names::new(sections, request);
    let targets = sections.iter().map(|section| names.target(section));
    let mut targets = targets.collect::<Result<Vec<_>, _>>()?;
    let mut files = Files::default();
    files.read(host, targets.iter().flat_map(Target::needs), false)?;
    let open: Vec<_> = targets
        .iter_mut()
        .filter(|target| target.is_open(&files))
        .collect();
    let others = open.iter().flat_map(|target| &target.others);
    files.read(host, others.map(|path| (path, Need::Content)), true)?;
    let mut other = None;
    for target in open {
        if target.choose(&files)? {
            other = Some((target.line, names.is_whole(target)));
        }
    }
    if let Some((line, whole)) = other {
        names.refuse_mixture(&targets, line, whole)?;
    }
    let targets = merge(targets)?;
    check_nesting(&targets)?;
    Ok((targets, files))
}

/// How names become paths.
struct Names<'r> {
    base: &'r Path,
    strip: Strip,
    /// Prefixes that both sides of some section differ in.
    prefixes: BTreeSet<&'r str>,
    /// Some section has the same name on both sides, so that a name alone has no prefix either.
    unprefixed: bool,
}

impl<'r> Names<'r> {
    fn new(sections: &'r [Section<'r>], request: &'r Request) -> Self {
        let mut names = Self {
            base: &request.base,
            strip: request.strip,
            prefixes: BTreeSet::new(),
            unprefixed: false,
        };
        for section in sections {
            if let (Some(old), Some(new)) = (&section.old, &section.new) {
                names.unprefixed |= old.text == new.text;
                if let (Some((a, rest)), Some((b, same))) = (split(old), split(new))
                    && a != b
                    && rest == same
                {
                    names.prefixes.extend([a, b]);
                }
            }
        }
        names
    }

    /// The target of a section by the most likely reading of its names.
    fn target<'a>(&self, section: &'a Section<'a>) -> Result<Target<'a>, SkillError> {
        let mut target = Target {
            kind: section.kind,
            line: section.line,
            sections: vec![section],
            path: self.base.clone(),
            source: None,
            others: Vec::new(),
            unsure: false,
            notes: Vec::new(),
        };
        if let Some((from, to)) = &section.moved {
            let agrees = |side: &Option<Name<'_>>, name: &Name<'_>| {
                side.as_ref().is_none_or(|side| {
                    side.text == name.text || split(side).is_some_and(|(_, rest)| rest == name.text)
                })
            };
            if !agrees(&section.old, from) || !agrees(&section.new, to) {
                let what = "the --- and +++ lines name other files than the rename or copy lines";
                return Err(malformed(section.line, what));
            }
            target.source = Some(self.path(from, false)?);
            target.path = self.path(to, false)?;
        } else {
            let mut paths = self.readings(section, &mut target)?.into_iter();
            target.path = paths.next().unwrap_or(target.path);
            if matches!(section.kind, Kind::Modify | Kind::Delete) {
                target.others = paths.filter(|path| *path != target.path).collect();
            }
        }
        let sides = section.old.iter().chain(&section.new);
        let moved = section.moved.iter().flat_map(|(from, to)| [from, to]);
        if sides.chain(moved).any(|name| name.windows) {
            target.notes.push(BACKSLASHES.to_owned());
        }
        Ok(target)
    }

    /// Whether a path is one of the names of its sections with all of its components.
    fn is_whole(&self, target: &Target<'_>) -> bool {
        target.sections.iter().any(|section| {
            let mut names = section.old.iter().chain(&section.new);
            names.any(|name| self.path(name, false).is_ok_and(|path| path == target.path))
        })
    }

    /// Refuses a new file of which the name may have a prefix, and was not read as the names at line `other` were:
    /// `whole` or without their first component.
    fn refuse_mixture(
        &self,
        targets: &[Target<'_>],
        other: usize,
        whole: bool,
    ) -> Result<(), SkillError> {
        let prefixed = |section: &&Section<'_>| {
            let first = section
                .new
                .as_ref()
                .and_then(|name| split(name))
                .map(|(first, _)| first);
            first.is_some_and(|first| ["a", "b"].contains(&first) || self.prefixes.contains(first))
        };
        let otherwise = |target: &&Target<'_>| {
            target.kind == Kind::Create
                && target.sections.iter().any(prefixed)
                && self.is_whole(target) != whole
        };
        match targets.iter().find(otherwise) {
            None => Ok(()),
            Some(target) => {
                let what = format!(
                    "the first component of the name is taken for a prefix here and not at line {other}, or the other way round: `strip` has to say"
                );
                Err(malformed(target.line, &what))
            }
        }
    }

    /// The paths that the names of a section may mean, the most likely one first; never none.
    fn readings(
        &self,
        section: &Section<'_>,
        target: &mut Target<'_>,
    ) -> Result<Vec<Path>, SkillError> {
        let (old, new) = match (&section.old, &section.new) {
            (Some(old), Some(new)) => (old, new),
            (Some(name), None) | (None, Some(name)) => {
                let usual = if section.old.is_some() { "a" } else { "b" };
                let strip = match self.strip {
                    Strip::Auto => split(name).is_some_and(|(first, _)| {
                        self.prefixes.contains(first) || (first == usual && !self.unprefixed)
                    }),
                    fixed => fixed == Strip::One,
                };
                let mut paths = vec![self.path(name, strip)?];
                if strip && self.strip == Strip::Auto {
                    paths.push(self.path(name, false)?);
                }
                return Ok(paths);
            }
            (None, None) => return Err(malformed(section.line, "the section names no file")),
        };
        let both = |strip| Ok::<_, SkillError>((self.path(old, strip)?, self.path(new, strip)?));
        if self.strip != Strip::Auto {
            return one_of(section, both(self.strip == Strip::One)?);
        }
        let as_they_are = both(false)?;
        let (Some((a, rest)), Some((b, same))) = (split(old), split(new)) else {
            return one_of(section, as_they_are);
        };
        let known = PREFIXES
            .iter()
            .any(|pair| [*pair, (pair.1, pair.0)].contains(&(a, b)));
        if a != b && (known || rest == same) {
            target.unsure = !known;
            if (a, b) != ("a", "b") {
                let note = format!("{a}/ and {b}/ are taken for prefixes of the names");
                target.notes.push(note);
            }
            let mut paths = one_of(section, both(true)?)?;
            paths.extend([as_they_are.1, as_they_are.0]);
            return Ok(paths);
        }
        let mut paths = one_of(section, as_they_are)?;
        if a == b && ["a", "b"].contains(&a) {
            paths.push(both(true)?.1);
        }
        Ok(paths)
    }

    /// The path that a name stands for, which may be written as far as its text tells.
    fn path(&self, name: &Name<'_>, strip: bool) -> Result<Path, SkillError> {
        let (text, line) = (&*name.text, name.line);
        let drive = name.windows && text.get(1..2) == Some(":");
        if text.starts_with('/') || drive {
            return Err(refused(text, line, "an absolute name"));
        }
        let stripped = match text.split_once('/') {
            Some((_, rest)) if strip => rest,
            None if strip => {
                let what =
                    format!("nothing is left of the name {text} without its first component");
                return Err(malformed(line, &what));
            }
            _ => text,
        };
        let mut kept = Vec::new();
        for segment in stripped.split('/') {
            match segment {
                "" | "." => {}
                ".." => return Err(refused(text, line, "a `..` in a name")),
                segment => kept.push(segment),
            }
        }
        if kept.is_empty() {
            return Err(malformed(line, &format!("the name {text} names no file")));
        }
        let path = self.base.join(&kept.join("/"));
        let absolute = path.absolute();
        if absolute.len() > MAX_PATH_BYTES {
            return Err(malformed(line, "a path is longer than 4096 bytes"));
        }
        if absolute.chars().any(char::is_control) {
            return Err(refused(absolute, line, "a control character in a name"));
        }
        let repository = |segment: &str| segment.eq_ignore_ascii_case(".git");
        if absolute.split('/').any(repository) {
            return Err(refused(absolute, line, "the repository's own folder"));
        }
        Ok(path)
    }
}

/// The first component of a name, and the rest.
fn split<'n>(name: &'n Name<'_>) -> Option<(&'n str, &'n str)> {
    name.text
        .split_once('/')
        .filter(|(first, rest)| !first.is_empty() && !rest.is_empty())
}

/// The files that both sides of a section may mean, the most likely one first.
///
/// Bare sections compare a file with a copy under another name, `x.orig` and `x`: the new name is meant, unless
/// it is the old one and something behind it.
fn one_of(section: &Section<'_>, (old, new): (Path, Path)) -> Result<Vec<Path>, SkillError> {
    if section.git && old != new {
        let (old, new) = (old.shown(), new.shown());
        let what = format!(
            "the two sides name different files without rename or copy lines: {old} and {new}"
        );
        return Err(malformed(section.line, &what));
    }
    if new.absolute().starts_with(old.absolute()) {
        return Ok(vec![old, new]);
    }
    Ok(vec![new, old])
}

/// `denied` for a name.
fn refused(name: &str, line: usize, what: &str) -> SkillError {
    let message = format!("line {line} of the diff: {what}: {name}");
    SkillError::new("denied", &message)
        .with_details(json!({ "capability": format!("fs.write:{name}") }).to_string())
}

/// Joins the sections that change one file after the other; every other path is changed by one section only, and a
/// rename changes both of its paths.
fn merge(targets: Vec<Target<'_>>) -> Result<Vec<Target<'_>>, SkillError> {
    let mut merged: Vec<Target<'_>> = Vec::new();
    let mut changed = BTreeMap::new();
    for target in targets {
        let index = changed.get(target.path.absolute());
        let before = index.and_then(|index: &usize| merged.get_mut(*index));
        if let Some(before) = before
            && target.kind == Kind::Modify
            && before.kind != Kind::Delete
            && before.path == target.path
        {
            before.sections.extend(target.sections);
            before.notes.extend(target.notes);
            continue;
        }
        let source = target.source.iter().filter(|_| target.kind == Kind::Rename);
        for path in source.chain([&target.path]).map(Path::absolute) {
            if let Some(before) = changed.insert(path.to_owned(), merged.len()) {
                let before = merged.get(before).map_or(target.line, |before| before.line);
                let what = format!("{path} is changed by the section at line {before} already");
                return Err(malformed(target.line, &what));
            }
        }
        merged.push(target);
    }
    Ok(merged)
}

/// What is made as a file is not made as a directory too.
fn check_nesting(targets: &[Target<'_>]) -> Result<(), SkillError> {
    let makes = |target: &&Target<'_>| target.kind.makes_file() || target.may_create();
    let mut made: Vec<_> = targets
        .iter()
        .filter(makes)
        .map(|target| (target.path.absolute(), target.line))
        .collect();
    // By segments, so that what lies below a path follows it at once.
    made.sort_by(|(a, _), (b, _)| a.split('/').cmp(b.split('/')));
    for ((above, _), (below, line)) in made.iter().zip(made.iter().skip(1)) {
        let rest = below.strip_prefix(above);
        if rest.is_some_and(|rest| rest.starts_with('/')) {
            let what = format!("{above} is made as a file and as a directory");
            return Err(malformed(*line, &what));
        }
    }
    Ok(())
}
