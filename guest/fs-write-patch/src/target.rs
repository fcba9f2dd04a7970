//! Which paths each section reads and writes, and the refusal of names that may not be written (TS-46, TS-47).

use std::collections::BTreeMap;

use kit::SkillError;
use kit::path::{MAX_PATH_BYTES, Path};
use serde_json::json;

use crate::diff::{Form, Kind, Name, Section, malformed};
use crate::request::{Request, Strip};

/// A section and its paths.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    pub(crate) section: &'a Section<'a>,
    /// What is written or deleted.
    pub(crate) path: Path,
    /// What a rename or copy makes it of.
    pub(crate) source: Option<Path>,
}

impl Target<'_> {
    /// The path whose content the hunks apply to.
    pub(crate) fn content_path(&self) -> &Path {
        self.source.as_ref().unwrap_or(&self.path)
    }

    /// The paths that are changed: the destination, then the source of a rename.
    fn changed(&self) -> impl Iterator<Item = &str> {
        let removed = match self.section.kind {
            Kind::Rename => self.source.as_ref(),
            Kind::Modify | Kind::Create | Kind::Delete | Kind::Copy => None,
        };
        std::iter::once(&self.path)
            .chain(removed)
            .map(Path::absolute)
    }

    /// The path that comes to exist, if one does.
    fn made(&self) -> Option<&str> {
        let makes = match self.section.kind {
            Kind::Create | Kind::Rename | Kind::Copy => true,
            Kind::Modify => self.section.may_create(),
            Kind::Delete => false,
        };
        makes.then(|| self.path.absolute())
    }
}

/// The paths of all sections.
///
/// # Errors
/// `denied` for a name that may not be written; `malformed` where the names of a section contradict each other, or a
/// path would be changed by two sections.
pub(crate) fn resolve<'a>(
    sections: &'a [Section<'a>],
    request: &Request,
) -> Result<Vec<Target<'a>>, SkillError> {
    let strip = match request.strip {
        Strip::Auto => prefixed(sections),
        Strip::None => false,
        Strip::One => true,
    };
    let names = Names {
        base: &request.base,
        strip,
    };
    let targets = sections
        .iter()
        .map(|section| names.target(section))
        .collect::<Result<Vec<_>, _>>()?;
    check_once(&targets)?;
    check_nesting(&targets)?;
    Ok(targets)
}

/// TS-46, `auto`: every old name begins with `a/` and every new one with `b/`.
fn prefixed(sections: &[Section<'_>]) -> bool {
    let begins = |name: &Option<Name<'_>>, prefix| {
        name.as_ref()
            .is_none_or(|name| name.text.starts_with(prefix))
    };
    sections
        .iter()
        .all(|section| begins(&section.old, "a/") && begins(&section.new, "b/"))
}

/// How names become paths.
struct Names<'r> {
    base: &'r Path,
    strip: bool,
}

impl Names<'_> {
    fn target<'a>(&self, section: &'a Section<'a>) -> Result<Target<'a>, SkillError> {
        let side = |name: &Option<Name<'_>>| {
            let stripped = name.as_ref().map(|name| self.path(name, self.strip));
            stripped.transpose()
        };
        let (old, new) = (side(&section.old)?, side(&section.new)?);
        let line = section.line;
        if let Some((from, to)) = &section.moved {
            let (source, path) = (self.path(from, false)?, self.path(to, false)?);
            let differs = |side: Option<Path>, path: &Path| side.is_some_and(|side| side != *path);
            if differs(old, &source) || differs(new, &path) {
                let what = "the --- and +++ lines name other files than the rename or copy lines";
                return Err(malformed(line, what));
            }
            let source = Some(source);
            return Ok(Target {
                section,
                path,
                source,
            });
        }
        let path = match (old, new) {
            (Some(old), Some(new)) => one_of(section, old, new)?,
            (Some(path), None) | (None, Some(path)) => path,
            (None, None) => return Err(malformed(line, "the section names no file")),
        };
        Ok(Target {
            section,
            path,
            source: None,
        })
    }

    /// The path that a name stands for; TS-47 for the name itself.
    fn path(&self, name: &Name<'_>, strip: bool) -> Result<Path, SkillError> {
        let text = &*name.text;
        if text.starts_with('/') {
            return Err(refused(text, name.line, "an absolute name"));
        }
        let stripped = match text.split_once('/') {
            Some((_, rest)) if strip => rest,
            None if strip => {
                let what =
                    format!("nothing is left of the name {text} without its first component");
                return Err(malformed(name.line, &what));
            }
            _ => text,
        };
        let mut kept = Vec::new();
        for segment in stripped.split('/') {
            match segment {
                "" | "." => {}
                ".." => return Err(refused(text, name.line, "a `..` in a name")),
                segment => kept.push(segment),
            }
        }
        if kept.is_empty() {
            return Err(malformed(
                name.line,
                &format!("the name {text} names no file"),
            ));
        }
        let path = self.base.join(&kept.join("/"));
        let absolute = path.absolute();
        if absolute.len() > MAX_PATH_BYTES {
            return Err(malformed(name.line, "a path is longer than 4096 bytes"));
        }
        if absolute.chars().any(char::is_control) {
            return Err(refused(
                absolute,
                name.line,
                "a control character in a name",
            ));
        }
        let repository = |segment: &str| segment.eq_ignore_ascii_case(".git");
        if absolute.split('/').any(repository) {
            return Err(refused(absolute, name.line, "the repository's own folder"));
        }
        Ok(path)
    }
}

/// The file that both sides of a section name.
///
/// Bare sections compare a file with a copy under another name, `x.orig` and `x`: the new name is meant, unless
/// it is the old one and something behind it.
fn one_of(section: &Section<'_>, old: Path, new: Path) -> Result<Path, SkillError> {
    match section.form {
        Form::Git if old != new => Err(malformed(
            section.line,
            &format!(
                "the two sides name different files without rename or copy lines: {} and {}",
                old.shown(),
                new.shown()
            ),
        )),
        Form::Git => Ok(new),
        Form::Plain if new.absolute().starts_with(old.absolute()) => Ok(old),
        Form::Plain => Ok(new),
    }
}

/// `denied` by TS-47.
fn refused(name: &str, line: usize, what: &str) -> SkillError {
    SkillError::new(
        "denied",
        &format!("line {line} of the diff: {what}: {name}"),
    )
    .with_details(json!({ "capability": format!("fs.write:{name}") }).to_string())
}

/// TS-45: every path is changed by one section only, and a rename changes both of its paths.
fn check_once(targets: &[Target<'_>]) -> Result<(), SkillError> {
    let mut changed = BTreeMap::new();
    for target in targets {
        let line = target.section.line;
        for path in target.changed() {
            if let Some(before) = changed.insert(path, line) {
                let what = format!("{path} is changed by the section at line {before} already");
                return Err(malformed(line, &what));
            }
        }
    }
    Ok(())
}

/// What is made as a file is not made as a directory too.
fn check_nesting(targets: &[Target<'_>]) -> Result<(), SkillError> {
    let mut made: Vec<_> = targets
        .iter()
        .filter_map(|target| Some((target.made()?, target.section.line)))
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
