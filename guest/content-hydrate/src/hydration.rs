//! The algorithm of RFC 0020 §5.3, level by level: from a request to everything an answer holds.

use kit::{SkillError, front_matter, yaml};

use crate::{
    Effects,
    budget::Budget,
    checksum,
    code::Code,
    lenient, reading, reason,
    reference::{Candidates, Reference, declared},
    request::{Format, Request},
    search::Search,
    skill::Skill,
    tool::{self, Tool},
    uri::{Resolver, Unresolved, Uri},
};

/// The keys that are read; what stands under others is only checked.
pub(crate) const USED_KEYS: [&str; 2] = ["skills", "tools"];

/// A resource that was read and parsed, and what it depends on.
#[derive(Debug)]
pub(crate) struct Hydration {
    pub(crate) uri: Uri,
    /// The whole file.
    pub(crate) text: String,
    pub(crate) checksum: Option<String>,
    /// Sorted; the sentinel that says that there were more, if any, is the last entry.
    pub(crate) skills: Vec<Skill>,
    /// Likewise.
    pub(crate) tools: Vec<Tool>,
    /// Documents that declare each other; none at depth 1.
    pub(crate) cycles: Option<Vec<Vec<String>>>,
}

/// The resource itself cannot be had or cannot be parsed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    /// The canonical URI, or what was asked for.
    pub(crate) uri: String,
    /// The whole text, front matter included, if there is any.
    pub(crate) content: String,
    pub(crate) checksum: Option<String>,
}

impl Failure {
    /// A resource of which nothing was read.
    fn unread(code: Code, uri: &str, request: &Request) -> Self {
        Self {
            code,
            uri: uri.to_owned(),
            content: String::new(),
            checksum: request.checksums.then(|| code.text()),
        }
    }
}

/// Hydrates: the resource, its declarations, the skills and then the tools. The outer error is hard; the inner one is an
/// answer of its own.
pub(crate) fn hydrate(
    effects: &mut impl Effects,
    request: &Request,
) -> Result<Result<Hydration, Failure>, SkillError> {
    let mut budget = Budget::default();
    let resolver = Resolver {
        allow_http_loopback: request.allow_http_loopback,
    };
    let uri = match resolver.resolve(&request.uri, None) {
        Ok(uri) => uri,
        Err(why) => {
            let code = match why {
                Unresolved::Scheme => Code::UnsupportedScheme,
                Unresolved::Failed | Unresolved::Escape => Code::FetchFailed,
            };
            return Ok(Err(Failure::unread(code, &request.uri, request)));
        }
    };
    let files = reading::read(effects, &mut budget, &[&uri])?;
    let Some(bytes) = files.into_iter().next().flatten() else {
        let code = Code::FetchFailed;
        return Ok(Err(Failure::unread(code, uri.as_str(), request)));
    };
    let checksum = request.checksums.then(|| checksum::of(&bytes));
    let (text, [skills, tools]) = match parse(bytes, &uri, resolver, request) {
        Ok(parsed) => parsed,
        Err(mut text) => {
            // A byte order mark is no content.
            text.drain(..front_matter::after_bom(&text));
            return Ok(Err(Failure {
                code: Code::ParseError,
                uri: uri.into_string(),
                content: text,
                checksum,
            }));
        }
    };
    let search = Search {
        request,
        resolver,
        resource: &uri,
        text: &text,
    };
    let mut found = search.run(effects, &mut budget, skills, tools)?;
    let cycles = (request.depth > 1).then(|| search.cycles(&found));
    let tools = tool::describe(effects, &mut budget, &uri, checksum.as_deref(), &mut found)?;
    Ok(Ok(Hydration {
        skills: found.into_entries(request.checksums),
        uri,
        checksum,
        text,
        tools,
        cycles,
    }))
}

/// Returns the text of a resource and the skills and tools that it declares; the text alone where it cannot be parsed.
fn parse(
    bytes: Vec<u8>,
    uri: &Uri,
    resolver: Resolver,
    request: &Request,
) -> Result<(String, [Candidates; 2]), String> {
    let text = String::from_utf8(bytes)
        .map_err(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())?;
    // A document that is printed again is not read otherwise than it stands there.
    let lenient = request.lenient && request.format == Format::Json;
    let declarations = lenient::read(&text, lenient, |front_matter| {
        let yaml = yaml::read_front_matter(front_matter, &USED_KEYS)?;
        Ok::<_, yaml::Error>(USED_KEYS.map(|key| {
            let mut candidates = Candidates::default();
            for text in declared(yaml.root().and_then(|root| root.get(key))) {
                candidates.push(Reference::new(text, uri, resolver), 0);
            }
            candidates
        }))
    });
    match declarations {
        Ok(declarations) => Ok((text, declarations)),
        Err(error) => {
            reason::log(uri.as_str(), &error.to_string());
            Err(text)
        }
    }
}
