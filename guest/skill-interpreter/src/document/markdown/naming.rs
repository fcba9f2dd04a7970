//! Which candidates are one operation, and what each is called.

use std::collections::{BTreeMap, BTreeSet};

use super::numbering::Taken;
use crate::assemble::{self, Assembled, Endpoint};
use crate::draft::{Example, Identity, Importance, TextIdentity};
use crate::identifier::{fold, slug};
use crate::model::{Operation, Stage, Status};

/// Characters of a comment that may be a name.
const COMMENT_CHARACTERS: usize = 60;

/// An operation, and what its id may be made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Unnamed {
    /// Its `id` and `aliases` are still empty.
    pub operation: Assembled,
    /// What its id may be made of.
    pub identity: Identity,
}

/// Joins duplicates ([`assemble::absorb`]), gives ids and aliases.
///
/// Ids that the document gives itself are kept as they are, even if two are the same (`load` refuses them then). Aliases
/// may still collide with ids.
#[must_use]
pub fn name(operations: Vec<Unnamed>) -> Vec<Operation> {
    let mut known = join(operations);
    let mut taken = given_ids(&known);
    for (position, known) in known.iter_mut().enumerate() {
        known.operation.id = match given(&known.identity) {
            Some(id) => id.to_owned(),
            None => make_id(
                &mut taken,
                &known.identity,
                known.endpoint.as_ref(),
                position,
            ),
        };
    }
    add_aliases(&mut known);
    alias_duplicates(&mut known);
    known
        .into_iter()
        .map(|known| known.operation.operation)
        .collect()
}

/// An operation that is no duplicate.
struct Known {
    operation: Assembled,
    identity: Identity,
    endpoint: Option<Endpoint>,
    /// What its duplicates would be called.
    also: Vec<String>,
}

/// The id that a document gives itself: in front matter, or by an annotation.
fn given(identity: &Identity) -> Option<&str> {
    match identity {
        Identity::Verbatim(id) => Some(id),
        Identity::Text(text) if text.importance == Importance::Fence => text.annotated.as_deref(),
        Identity::Text(_) | Identity::Nameless => None,
    }
}

fn importance(identity: &Identity) -> Importance {
    match identity {
        Identity::Verbatim(_) => Importance::Frontmatter,
        Identity::Text(text) => text.importance,
        Identity::Nameless => Importance::Fence,
    }
}

/// Makes examples of duplicates. What is left is in the order of the document.
fn join(operations: Vec<Unnamed>) -> Vec<Known> {
    let mut ordered: Vec<(usize, Unnamed)> = operations.into_iter().enumerate().collect();
    // A fence before what is listed, whatever their order; the sort is stable.
    ordered.sort_by_key(|(_, unnamed)| importance(&unnamed.identity));
    let mut known: Vec<(usize, Known)> = Vec::new();
    // Positions in `known`, by what has to be equal of two duplicates at least.
    let mut by_path: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    let mut by_id: BTreeMap<String, usize> = BTreeMap::new();
    for (position, unnamed) in ordered {
        let endpoint = unnamed.operation.endpoint.clone();
        let paths = endpoint.as_ref().map(paths);
        let mut alike = paths
            .iter()
            .flatten()
            .filter_map(|path| by_path.get(path))
            .flatten()
            .copied();
        let same = alike.find(|other| {
            let other = known.get(*other).map(|(_, other)| other);
            other
                .and_then(|other| Some((other, other.endpoint.as_ref()?, endpoint.as_ref()?)))
                .is_some_and(|(known, one, other)| {
                    one.is_same(other) && does_the_same(known, &unnamed)
                })
        });
        // The same folded id as an operation of front matter.
        let named = || {
            let name = proposed(&unnamed.identity)?;
            by_id.get(&fold(&name)).copied()
        };
        if let Some((_, first)) = same.and_then(|same| known.get_mut(same)) {
            assemble::absorb(&mut first.operation, &unnamed.operation);
            first.also.extend(own_name(&unnamed.identity));
            continue;
        }
        if let Some((_, first)) = named().and_then(|named| known.get_mut(named)) {
            first.operation.examples.push(Example {
                line: Some(unnamed.operation.line),
                ..Example::default()
            });
            continue;
        }
        let at = known.len();
        for path in paths.into_iter().flatten() {
            by_path.entry(path).or_default().push(at);
        }
        if let Identity::Verbatim(id) = &unnamed.identity {
            by_id.entry(fold(id)).or_insert(at);
        }
        let Unnamed {
            operation,
            identity,
        } = unnamed;
        known.push((
            position,
            Known {
                operation,
                identity,
                endpoint,
                also: Vec::new(),
            },
        ));
    }
    known.sort_by_key(|(position, _)| *position);
    known.into_iter().map(|(_, known)| known).collect()
}

/// Of two with one endpoint: whether nothing is lost where one is an example of the other.
///
/// Method and URL alone are not enough. Another filter makes another answer, and with another secret the request would go
/// out under the first one's name, so such two are two operations.
fn does_the_same(known: &Known, other: &Unnamed) -> bool {
    let (one, two) = (&known.operation, &other.operation);
    let is_mention = importance(&other.identity) == Importance::Listed
        && two.secrets.is_empty()
        && after_request(two).is_empty();
    // Front matter has the last word. What cannot be used does nothing, and a list item only says where.
    importance(&known.identity) == Importance::Frontmatter
        || two.status != Status::Ok
        || is_mention
        || after_request(one) == after_request(two) && secret_names(one).eq(secret_names(two))
}

/// What is done with the answer of the first request. What stands before it is its body, which may differ.
fn after_request(operation: &Operation) -> &[Stage] {
    let mut stages = operation.stages.iter();
    let _ = stages.find(|stage| matches!(stage, Stage::Http(_)));
    stages.as_slice()
}

/// Sorted.
fn secret_names(operation: &Operation) -> impl Iterator<Item = &str> {
    operation.secrets.iter().map(|secret| secret.name.as_str())
}

/// The method with the path, and with the path as written where that is relative: two that are the same share one of them.
fn paths(endpoint: &Endpoint) -> Vec<(String, String)> {
    let relative = endpoint.relative_path.iter();
    std::iter::once(&endpoint.path)
        .chain(relative.filter(|relative| **relative != endpoint.path))
        .map(|path| (endpoint.method.clone(), path.clone()))
        .collect()
}

/// The id that an operation of the body would have if nothing else had it.
fn proposed(identity: &Identity) -> Option<String> {
    let Identity::Text(text) = identity else {
        return None;
    };
    let comment = || text.one_of_several.then(|| comment(text)).flatten();
    let annotated = text.annotated.clone();
    annotated
        .or_else(comment)
        .or_else(|| text.heading.as_deref().and_then(slug))
}

/// What a duplicate in a fence is called, if nothing else in its fence is called so too.
fn own_name(identity: &Identity) -> Option<String> {
    match identity {
        Identity::Text(text) if text.importance == Importance::Fence => {
            let is_own =
                !text.one_of_several || text.annotated.is_some() || comment(text).is_some();
            proposed(identity).filter(|_| is_own)
        }
        _ => None,
    }
}

/// The comment's slug, if it is a name and not a text.
fn comment(identity: &TextIdentity) -> Option<String> {
    let comment = identity.comment.as_deref()?.trim();
    let is_name = comment.chars().count() <= COMMENT_CHARACTERS;
    slug(comment).filter(|_| is_name)
}

/// Ids that a document gives itself, folded: none is ever made of something else.
fn given_ids(operations: &[Known]) -> Taken {
    let mut taken = Taken::default();
    for known in operations {
        if let Some(id) = given(&known.identity) {
            taken.take(fold(id));
        }
    }
    taken
}

/// The id of an operation at this position that the document gives no id.
fn make_id(
    taken: &mut Taken,
    identity: &Identity,
    endpoint: Option<&Endpoint>,
    position: usize,
) -> String {
    let nothing = TextIdentity::default();
    let identity = match identity {
        Identity::Text(text) => text,
        Identity::Verbatim(_) | Identity::Nameless => &nothing,
    };
    // What is listed is called after its request.
    if let Some(slug) = &identity.annotated {
        return taken.numbered(slug);
    }
    let heading = identity.heading.as_deref().and_then(slug);
    let heading_is_taken = heading.as_ref().is_some_and(|heading| taken.has(heading));
    if (identity.one_of_several || heading_is_taken)
        && let Some(comment) = comment(identity)
        && taken.take(comment.clone())
    {
        return comment;
    }
    let segment = || endpoint?.last_segment.as_deref().and_then(slug);
    match heading.or_else(segment) {
        Some(id) => taken.numbered(&id),
        None => {
            let number = position.saturating_add(1);
            taken.numbered(&format!("op-{number}"))
        }
    }
}

/// As an alias: the last literal segment of the path, when exactly one operation has it.
fn add_aliases(operations: &mut [Known]) {
    let segment = |known: &Known| {
        let endpoint = known.endpoint.as_ref()?;
        endpoint.last_segment.as_deref().and_then(slug)
    };
    let mut having: BTreeMap<String, usize> = BTreeMap::new();
    for known in operations.iter() {
        if let Some(segment) = segment(known) {
            let count = having.entry(segment).or_default();
            *count = count.saturating_add(1);
        }
    }
    for known in operations {
        let Some(alias) = segment(known) else {
            continue;
        };
        if having.get(&alias) == Some(&1) && fold(&known.operation.id) != alias {
            known.operation.aliases.push(alias);
        }
    }
}

/// Who looks for a duplicate by its heading finds the operation that it is an example of, where the name is free.
fn alias_duplicates(operations: &mut [Known]) {
    if operations.iter().all(|known| known.also.is_empty()) {
        return;
    }
    let names = |known: &Known| {
        let operation = &known.operation;
        let all = std::iter::once(&operation.id).chain(&operation.aliases);
        all.map(|name| fold(name)).collect::<Vec<_>>()
    };
    let mut taken: BTreeSet<String> = operations.iter().flat_map(names).collect();
    for known in operations {
        for name in std::mem::take(&mut known.also) {
            if taken.insert(fold(&name)) {
                known.operation.aliases.push(name);
            }
        }
    }
}
