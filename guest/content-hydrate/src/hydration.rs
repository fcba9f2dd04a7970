//! The algorithm of §4, with the levels of §14.3: from a request to everything an answer holds.

use kit::{
    SkillError, front_matter,
    yaml::{self, Yaml},
};

use crate::{
    Effects,
    budget::Budget,
    checksum,
    code::Code,
    lenient, reading,
    reference::{Candidates, Reference, declared},
    request::{Format, Request},
    search::Search,
    skill::Skill,
    tool::{self, Tool},
    uri::{Resolver, Unresolved, Uri},
};

/// Y-03
pub(crate) const USED_KEYS: [&str; 2] = ["skills", "tools"];

/// A resource that was read and parsed, and what it depends on.
#[derive(Debug)]
pub(crate) struct Hydration {
    pub(crate) uri: Uri,
    /// The whole file.
    pub(crate) text: String,
    pub(crate) checksum: Option<String>,
    /// Sorted; the sentinel of H-35, if any, is the last entry.
    pub(crate) skills: Vec<Skill>,
    /// Likewise.
    pub(crate) tools: Vec<Tool>,
    /// D-06; none at depth 1.
    pub(crate) cycles: Option<Vec<Vec<String>>>,
}

/// H-01, H-02: the resource itself cannot be had or cannot be parsed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    /// The canonical URI, or what was asked for.
    pub(crate) uri: String,
    /// The whole text, front matter included, if there is any.
    pub(crate) content: String,
    pub(crate) checksum: Option<String>,
}

/// Hydrates. The outer error is hard; the inner one is an answer of its own.
pub(crate) fn hydrate(
    effects: &mut impl Effects,
    request: &Request,
) -> Result<Result<Hydration, Failure>, SkillError> {
    let mut budget = Budget::default();
    let resource = match fetch(effects, &mut budget, request)? {
        Ok(resource) => resource,
        Err(failure) => return Ok(Err(failure)),
    };
    match parse(resource, request) {
        Err(failure) => Ok(Err(failure)),
        Ok(resource) => depend(effects, budget, resource, request).map(Ok),
    }
}

/// The resource, and its declarations once it is parsed.
struct Resource<T, D> {
    uri: Uri,
    /// Its bytes, and after P-2 its text.
    file: T,
    declared: D,
}

/// What a resource declares.
struct Declarations {
    skills: Candidates,
    tools: Candidates,
}

/// P-1
fn fetch(
    effects: &mut impl Effects,
    budget: &mut Budget,
    request: &Request,
) -> Result<Result<Resource<Vec<u8>, ()>, Failure>, SkillError> {
    let failure = |code: Code, uri: &str| Failure {
        code,
        uri: uri.to_owned(),
        content: String::new(),
        checksum: request.checksums.then(|| code.text()),
    };
    let uri = match resolver(request).resolve(&request.uri, None) {
        Ok(uri) => uri,
        Err(why) => {
            let code = match why {
                Unresolved::Scheme => Code::UnsupportedScheme,
                Unresolved::Failed | Unresolved::Escape => Code::FetchFailed,
            };
            return Ok(Err(failure(code, &request.uri)));
        }
    };
    let bytes = reading::read(effects, budget, &[&uri])?;
    Ok(match bytes.into_iter().next().flatten() {
        Some(file) => Ok(Resource {
            uri,
            file,
            declared: (),
        }),
        None => Err(failure(Code::FetchFailed, uri.as_str())),
    })
}

/// P-2
fn parse(
    resource: Resource<Vec<u8>, ()>,
    request: &Request,
) -> Result<Resource<String, Declarations>, Failure> {
    let Resource { uri, file, .. } = resource;
    let failure = |mut text: String, uri: Uri| {
        // H-02: a byte order mark is no content.
        text.drain(..front_matter::after_bom(&text));
        Failure {
            code: Code::ParseError,
            uri: uri.into_string(),
            checksum: None,
            content: text,
        }
    };
    let text = match String::from_utf8(file) {
        Ok(text) => text,
        Err(error) => {
            // H-20
            let checksum = request.checksums.then(|| checksum::of(error.as_bytes()));
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            return Err(Failure {
                checksum,
                ..failure(text, uri)
            });
        }
    };
    let front_matter = front_matter::split(&text).front_matter;
    let front_matter = front_matter
        .and_then(|range| text.get(range))
        .unwrap_or_default();
    let rewritten;
    let yaml = match yaml::parse(front_matter, &USED_KEYS) {
        // Y-13: a document that is printed again is not read otherwise than it stands there.
        Err(_) if request.lenient && request.format == Format::Json => {
            rewritten = lenient::quote_values(front_matter);
            yaml::parse(&rewritten, &USED_KEYS)
        }
        parsed => parsed,
    };
    match yaml {
        Ok(yaml) => Ok(Resource {
            declared: declarations(&yaml, &uri, resolver(request)),
            file: text,
            uri,
        }),
        Err(_) => {
            let checksum = request.checksums.then(|| checksum::of(text.as_bytes()));
            Err(Failure {
                checksum,
                ..failure(text, uri)
            })
        }
    }
}

/// P-3a
fn declarations(yaml: &Yaml<'_>, uri: &Uri, resolver: Resolver) -> Declarations {
    let [skills, tools] = USED_KEYS.map(|key| {
        let mut candidates = Candidates::default();
        for text in declared(yaml.get(key)) {
            candidates.push(Reference::new(text, uri, resolver), 0);
        }
        candidates
    });
    Declarations { skills, tools }
}

/// P-3b and P-3c
fn depend(
    effects: &mut impl Effects,
    mut budget: Budget,
    resource: Resource<String, Declarations>,
    request: &Request,
) -> Result<Hydration, SkillError> {
    let Resource {
        uri,
        file: text,
        declared: Declarations { skills, tools },
    } = resource;
    let checksum = request.checksums.then(|| checksum::of(text.as_bytes()));
    let search = Search {
        request,
        resolver: resolver(request),
        resource: &uri,
        text: &text,
    };
    let mut found = search.run(effects, &mut budget, skills, tools)?;
    let cycles = (request.depth > 1).then(|| search.cycles(&found));
    let tools = tool::describe(effects, &mut budget, &uri, checksum.as_deref(), &mut found)?;
    Ok(Hydration {
        skills: found.into_entries(request.checksums),
        uri,
        checksum,
        text,
        tools,
        cycles,
    })
}

fn resolver(request: &Request) -> Resolver {
    Resolver {
        allow_http_loopback: request.allow_http_loopback,
    }
}
