//! Which skills there are, and what they say, level by level. Depth 1 is one level.

use std::collections::{BTreeMap, BTreeSet};

use kit::SkillError;

use crate::{
    Effects,
    budget::Budget,
    code::Code,
    cycles,
    reading::{self, BATCH},
    reference::{Candidate, Candidates, MAX_DEPENDENCIES, Reference},
    request::Request,
    skill::Skill,
    uri::{Resolver, Unresolved, Uri},
};

/// What a search starts from.
pub(crate) struct Search<'s> {
    pub(crate) request: &'s Request,
    pub(crate) resolver: Resolver,
    pub(crate) resource: &'s Uri,
    /// The resource's text, for a resource that declares itself: no URI is read twice.
    pub(crate) text: &'s str,
}

/// What it found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Level by level. The skill at `i` is document `i + 1`; document 0 is the resource.
    pub(crate) skills: Vec<Skill>,
    /// How many of `skills` the resource declares itself.
    first_level: usize,
    /// There were more.
    cut: bool,
    /// Every tool that was declared within reach.
    pub(crate) tools: Candidates,
}

impl Found {
    /// The URI of a document by its number; none for the resource.
    pub(crate) fn document(&self, number: usize) -> Option<&str> {
        let skill = self.skills.get(number.checked_sub(1)?)?;
        Some(&skill.uri)
    }

    /// The entries in order, the sentinel that says that there were more last.
    pub(crate) fn into_entries(mut self, checksums: bool) -> Vec<Skill> {
        self.skills.sort_by(|a, b| a.uri.cmp(&b.uri));
        if self.cut {
            let code = Code::LimitExceeded;
            self.skills.push(Skill::failed(
                code.text(),
                code,
                checksums.then(|| code.text()),
            ));
        }
        self.skills
    }
}

impl Search<'_> {
    /// Breadth first, the new URIs of a level in sorted order.
    pub(crate) fn run(
        &self,
        effects: &mut impl Effects,
        budget: &mut Budget,
        skills: Candidates,
        tools: Candidates,
    ) -> Result<Found, SkillError> {
        let mut found = Found {
            tools,
            ..Found::default()
        };
        // What is an entry already. The resource becomes one only if it declares itself.
        let mut seen = BTreeSet::from([self.resource.as_str().to_owned()]);
        let mut candidates = skills;
        for distance in 1..=self.request.depth {
            // At the limit the search goes on without new skills; tools of the last ones count.
            let room = MAX_DEPENDENCIES.saturating_sub(found.skills.len());
            let (level, cut) = candidates.take(room);
            found.cut |= cut;
            let known = found.skills.len();
            self.read_level(effects, budget, level, &mut found)?;
            if distance == 1 {
                found.first_level = found.skills.len();
            }
            if distance == self.request.depth || known == found.skills.len() {
                break;
            }
            let new = found.skills.get(known..).unwrap_or_default();
            seen.extend(new.iter().map(|skill| skill.uri.clone()));
            candidates = self.follow(known, &mut found, &seen);
        }
        Ok(found)
    }

    /// What the skills from `first` on declare that is not known yet.
    fn follow(&self, first: usize, found: &mut Found, seen: &BTreeSet<String>) -> Candidates {
        let mut candidates = Candidates::default();
        let Found { skills, tools, .. } = found;
        for (document, skill) in (1..).zip(&*skills).skip(first) {
            // A skill that failed declares nothing.
            let Some(base) = &skill.base else {
                continue;
            };
            for declared in skill.skills.declared() {
                let reference = Reference::new(declared, base, self.resolver);
                if !seen.contains(reference.emitted()) {
                    candidates.push(reference, document);
                }
            }
            for declared in skill.tools.declared() {
                tools.push(Reference::new(declared, base, self.resolver), document);
            }
        }
        candidates
    }

    /// Reads the skills of one level, a batch at a time, so that one batch of files is alive at most.
    fn read_level(
        &self,
        effects: &mut impl Effects,
        budget: &mut Budget,
        level: Vec<Candidate>,
        found: &mut Found,
    ) -> Result<(), SkillError> {
        let mut level = level.into_iter().map(|candidate| candidate.reference);
        loop {
            let batch: Vec<Reference> = level.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return Ok(());
            }
            let wanted: Vec<&Uri> = batch
                .iter()
                .filter_map(|skill| self.to_read(skill))
                .collect();
            let mut files = reading::read(effects, budget, &wanted)?.into_iter();
            for reference in batch {
                let read = self.to_read(&reference).map(|_| files.next().flatten());
                let skill = self.skill(&reference, read, budget)?;
                let base = match reference {
                    Reference::Resolved(uri) => Some(uri),
                    Reference::NotAScalar | Reference::Unresolved(..) => None,
                };
                found.skills.push(Skill { base, ..skill });
            }
        }
    }

    /// The URI that has to be read for a reference, if any.
    fn to_read<'r>(&self, reference: &'r Reference) -> Option<&'r Uri> {
        match reference {
            Reference::Resolved(uri) if uri != self.resource => Some(uri),
            _ => None,
        }
    }

    /// The entry of a reference; `read` is what reading it gave, if it had to be read.
    fn skill(
        &self,
        reference: &Reference,
        read: Option<Option<Vec<u8>>>,
        budget: &mut Budget,
    ) -> Result<Skill, SkillError> {
        let uri = reference.emitted().to_owned();
        let code = match reference {
            Reference::NotAScalar => Code::ParseError,
            Reference::Unresolved(_, Unresolved::Scheme) => Code::UnsupportedScheme,
            Reference::Unresolved(_, Unresolved::Failed | Unresolved::Escape) => Code::FetchFailed,
            Reference::Resolved(_) => match &read {
                Some(Some(bytes)) => return Skill::read(uri, bytes, self.request, budget),
                Some(None) => Code::FetchFailed,
                None => return Skill::read(uri, self.text.as_bytes(), self.request, budget),
            },
        };
        let checksum = self.request.checksums.then(|| code.text());
        Ok(Skill::failed(uri, code, checksum))
    }

    /// The groups of documents that declare each other, over the resource and the skills that have a canonical URI.
    pub(crate) fn cycles(&self, found: &Found) -> Vec<Vec<String>> {
        let mut vertices = BTreeMap::from([(self.resource.as_str(), 0_usize)]);
        let mut uris = vec![self.resource.as_str()];
        for skill in found.skills.iter().filter(|skill| skill.base.is_some()) {
            // A resource that declares itself is one vertex and not two.
            vertices.entry(&skill.uri).or_insert_with(|| {
                uris.push(&skill.uri);
                uris.len().saturating_sub(1)
            });
        }
        let mut edges = vec![Vec::new(); uris.len()];
        let first_level = found.skills.iter().take(found.first_level);
        if let Some(edges) = edges.first_mut() {
            edges.extend(first_level.filter_map(|skill| vertices.get(&*skill.uri).copied()));
        }
        for skill in &found.skills {
            let vertex = vertices.get(&*skill.uri).filter(|vertex| **vertex != 0);
            let (Some(base), Some(edges)) = (&skill.base, vertex.and_then(|v| edges.get_mut(*v)))
            else {
                continue;
            };
            for declared in skill.skills.declared().flatten() {
                if let Ok(target) = self.resolver.resolve(declared, Some(base)) {
                    edges.extend(vertices.get(target.as_str()).copied());
                }
            }
        }
        let name = |vertex: usize| uris.get(vertex).copied().unwrap_or_default().to_owned();
        let mut groups: Vec<Vec<String>> = cycles::groups(&edges)
            .into_iter()
            .map(|group| group.into_iter().map(name).collect())
            .collect();
        for group in &mut groups {
            group.sort();
        }
        groups.sort();
        groups
    }
}
