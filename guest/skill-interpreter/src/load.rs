//! The op `load`: a document to a skill.
//!
//! Here a document's bytes are bounded and told apart, and what its reader found becomes operations with ids of their own.
//! Readers say what is wrong with what they read; what is wrong with the skill as a whole is found here.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::assemble::{self, secrets::is_secret_name};
use crate::context::Context;
use crate::diagnostic::{Diagnostic, Diagnostics, excerpt};
use crate::document::detect::{Detected, detect};
use crate::document::markdown::naming::Unnamed;
use crate::document::{Document, SkillDeclaration, markdown, openapi, structured};
use crate::draft::Identity;
use crate::failure::{Code, Failure};
use crate::identifier::{fold, is_id, is_reserved};
use crate::limits;
use crate::mapping::registry;
use crate::model::{Format, Operation, Skill, Status};
use crate::request::LoadRequest;

/// What is answered.
#[derive(Debug, serde::Serialize)]
pub struct Answer<'a> {
    ok: bool,
    /// What the digests of the operations cover.
    #[serde(rename = "mapping-version")]
    mapping_version: &'static str,
    skill: &'a Skill,
    diagnostics: &'a [Diagnostic],
}

impl<'a> Answer<'a> {
    /// The answer that is a skill.
    #[must_use]
    pub fn of(skill: &'a Skill) -> Self {
        Self {
            ok: true,
            mapping_version: registry::VERSION,
            skill,
            diagnostics: &skill.diagnostics,
        }
    }
}

/// Reads a document: what it is, what it says, its operations; ids, collisions and limits.
///
/// # Errors
///
/// The codes of documents and operations; `invalid-request` for a member of the request that is not what it has to be.
pub fn skill(request: &LoadRequest, diagnostics: &mut Diagnostics) -> Result<Skill, Failure> {
    check(request)?;
    let bytes = content(request)?;
    let detected = detect(&bytes, &request.source_url, request.content_type.as_deref());
    if !matches!(&detected, Ok(detected) if detected.format == Format::Openapi) {
        // A byte order mark does not count.
        let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
        check_skill_document(text.len(), request)?;
    }
    let detected = detected?;
    let (mut skill, context, unnamed) = assembled(&detected, request, diagnostics)?;
    let id = skill_id(&context)?;
    let mut operations = match skill.format {
        Format::Markdown => {
            let operations = markdown::naming::name(unnamed);
            // Which steps name an operation is known only now that operations have ids.
            markdown::onboarding::link(skill.onboarding.as_mut(), &operations);
            operations
        }
        // A structured document names its operations, each of which is one.
        _ => unnamed.into_iter().map(verbatim).collect(),
    };
    if operations.len() > limits::OPERATIONS {
        return Err(Failure::exceeded(
            "operations of the skill",
            limits::OPERATIONS,
        ));
    }
    refuse_ids(&operations)?;
    drop_aliases(&mut operations, diagnostics);
    let asked = asked_tools(&skill);
    for operation in &mut operations {
        operation.notes.extend(asked.clone());
    }
    Ok(answer(id, skill, &context, operations, diagnostics))
}

/// What the author asks for in `allowed-tools`, for the approver; it permits nothing.
fn asked_tools(skill: &SkillDeclaration) -> Option<String> {
    let tools = match skill.recorded.get("allowed-tools")? {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(list) => {
            let names: Vec<&str> = list.iter().filter_map(serde_json::Value::as_str).collect();
            names.join(", ")
        }
        _ => return None,
    };
    let tools = excerpt(tools.trim());
    (!tools.is_empty()).then(|| format!("the author asks for the tools {tools} (allowed-tools)"))
}

/// Reads the document and assembles its operations. Where a name turns out to be a secret in one place, it is read again,
/// for in every other place it is one too.
fn assembled(
    detected: &Detected<'_>,
    request: &LoadRequest,
    diagnostics: &mut Diagnostics,
) -> Result<(SkillDeclaration, Context, Vec<Unnamed>), Failure> {
    let mut request = Cow::Borrowed(request);
    let mut may_assume = true;
    let mut assumed: Option<SharedOrigin> = None;
    loop {
        let mut noticed = diagnostics.clone();
        let Document {
            skill,
            context,
            candidates,
        } = read(detected, &request, &mut noticed)?;
        let unnamed: Vec<Unnamed> = candidates
            .into_iter()
            .map(|candidate| Unnamed {
                operation: assemble::operation(
                    &candidate.draft,
                    &candidate.declaration,
                    &context,
                    &mut noticed,
                ),
                identity: candidate.declaration.identity,
            })
            .collect();
        let mut found = other_secrets(&unnamed, &context);
        // A name that is no input and stands there once, or was named here, has no other meaning, unless an escape hides it.
        let may_hide = has_escapes(detected);
        found.retain(|name, _| {
            may_hide || is_input(&unnamed, name) || detected.text.matches(*name).nth(1).is_some()
        });
        if may_assume
            && request.shared_origin.is_none()
            && context.base_url.is_none()
            && let Some(shared) = shared_origin(&unnamed)
        {
            request.to_mut().shared_origin = Some(shared.base.clone());
            assumed = Some(shared);
            continue;
        }
        if let Some(shared) = &assumed
            && would_leak(shared, &unnamed)
        {
            request.to_mut().shared_origin = None;
            assumed = None;
            may_assume = false;
            continue;
        }
        if found.is_empty() {
            *diagnostics = noticed;
            if let Some(SharedOrigin { base, line, .. }) = assumed {
                let message = format!(
                    "the document says no base URL; {base} is taken, as most operations have it"
                );
                diagnostics.warn(Code::BaseAssumed, line, message);
            }
            return Ok((skill, context, unnamed));
        }
        for (name, line) in found {
            let name_shown = excerpt(name);
            diagnostics.info(
                Code::SecretName,
                line,
                format!("{name_shown} is a secret here, and so in the whole skill"),
            );
            request.to_mut().found_secrets.insert(name.to_owned());
        }
    }
}

/// Whether JSON or YAML of the document has escapes, so that a name may stand there in other letters.
fn has_escapes(detected: &Detected<'_>) -> bool {
    let text = detected.text;
    let data = match detected.format {
        Format::Markdown => kit::front_matter::split(text)
            .front_matter
            .and_then(|range| text.get(range))
            .unwrap_or_default(),
        _ => text,
    };
    data.contains('\\')
}

/// A base that a document does not say, and most of its operations have.
struct SharedOrigin {
    origin: String,
    /// The origin, with the version that the paths of all those operations begin with.
    base: String,
    /// Whether no operation names another origin.
    is_unanimous: bool,
    /// The line of the first operation that lacks an origin.
    line: u32,
}

/// The origin that at least two operations and nine of ten name, or at least four and two of three.
fn shared_origin(unnamed: &[Unnamed]) -> Option<SharedOrigin> {
    let operations = || unnamed.iter().map(|unnamed| &unnamed.operation);
    let lacking = operations().find(|operation| {
        matches!(
            &operation.status,
            Status::Unusable {
                code: Code::NoBaseUrl,
                ..
            }
        )
    })?;
    let mut paths: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for operation in operations().filter(|operation| operation.status == Status::Ok) {
        if let Some(endpoint) = &operation.endpoint
            && let Some(origin) = &endpoint.origin
        {
            paths.entry(origin).or_default().push(&endpoint.path);
        }
    }
    let all: usize = paths.values().map(Vec::len).sum();
    let (origin, paths) = paths.into_iter().max_by_key(|(_, paths)| paths.len())?;
    let is_share =
        |least: usize, of: usize| paths.len().saturating_mul(of) >= all.saturating_mul(least);
    if !(paths.len() >= 2 && is_share(9, 10) || paths.len() >= 4 && is_share(2, 3)) {
        return None;
    }
    let is_unanimous = paths.len() == all;
    let version = assemble::base::shared_version(paths.into_iter());
    let base = format!("{}{version}", origin.trim_end_matches('/'));
    Some(SharedOrigin {
        base,
        is_unanimous,
        origin: origin.to_owned(),
        line: lacking.line,
    })
}

/// Whether an assumed base would get a secret by a guess: operations that lack an origin have secrets, and not all others
/// agree on the origin, or none of those that name it sends it the secret.
fn would_leak(shared: &SharedOrigin, unnamed: &[Unnamed]) -> bool {
    let names = |is_relative: bool| {
        unnamed
            .iter()
            .map(|unnamed| &unnamed.operation)
            .filter(|operation| {
                operation.endpoint.as_ref().is_some_and(|endpoint| {
                    endpoint.origin.as_ref() == Some(&shared.origin)
                        && endpoint.relative_path.is_some() == is_relative
                })
            })
            .flat_map(|operation| &operation.secrets)
            .map(|secret| secret.name.as_str())
            .collect::<BTreeSet<_>>()
    };
    let guessed = names(true);
    !(guessed.is_empty() || shared.is_unanimous && guessed.is_subset(&names(false)))
}

/// Whether a name is that of an input of an operation.
fn is_input(unnamed: &[Unnamed], name: &str) -> bool {
    unnamed.iter().any(|unnamed| {
        let inputs = unnamed.operation.input_schema.pointer("/properties");
        inputs.is_some_and(|inputs| inputs.get(name).is_some())
    })
}

/// Names that are secrets of an operation and may be something else in another one, each with a line where it is a secret.
fn other_secrets<'a>(unnamed: &'a [Unnamed], context: &Context) -> BTreeMap<&'a str, u32> {
    let operations = unnamed.iter().map(|unnamed| &unnamed.operation);
    let secrets = operations.flat_map(|operation| {
        let names = operation.secrets.iter().map(|secret| secret.name.as_str());
        names.map(|name| (name, operation.line))
    });
    secrets
        .filter(|(name, _)| !context.is_secret(name))
        .filter(|(name, _)| !is_secret_name(name, context) || is_input(unnamed, name))
        .collect()
}

/// Members of a request that are not just read: a bad request is one whatever the document is.
fn check(request: &LoadRequest) -> Result<(), Failure> {
    assemble::base::choose(request.base_url.as_deref(), None, None)?;
    let digest = |text: &str| {
        text.strip_prefix("sha256:").is_some_and(|digits| {
            let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            digits.len() == 64 && digits.bytes().all(is_digit)
        })
    };
    match request.files.iter().find(|(_, value)| !digest(value)) {
        // `sha256:` and 64 lower-case hex digits.
        Some((name, _)) => Err(Failure::new(
            Code::InvalidRequest,
            format!("files.{}: expected a digest", excerpt(name)),
        )),
        None => Ok(()),
    }
}

/// Checks what holds for every document but an OpenAPI description.
fn check_skill_document(length: usize, request: &LoadRequest) -> Result<(), Failure> {
    if length > limits::DOCUMENT_BYTES {
        let message = format!("the document: more than {} bytes", limits::DOCUMENT_BYTES);
        return Err(Failure::new(Code::TooLarge, message));
    }
    if request.only.is_empty() {
        return Ok(());
    }
    let message = "only: the document is no OpenAPI description";
    Err(Failure::new(Code::InvalidRequest, message).at_path("only"))
}

/// The document's bytes.
fn content(request: &LoadRequest) -> Result<Vec<u8>, Failure> {
    // Four characters are three bytes; a byte order mark does not count.
    let most = limits::DESCRIPTION_BYTES
        .saturating_add(8)
        .saturating_mul(4)
        / 3;
    if request.content_b64.len() > most {
        let message = format!(
            "the document: more than {} bytes",
            limits::DESCRIPTION_BYTES
        );
        return Err(Failure::new(Code::TooLarge, message));
    }
    STANDARD
        .decode(&request.content_b64)
        .map_err(|_| Failure::new(Code::InvalidRequest, "content-b64: not base64"))
}

fn read(
    detected: &Detected<'_>,
    request: &LoadRequest,
    diagnostics: &mut Diagnostics,
) -> Result<Document, Failure> {
    let text = detected.text;
    match detected.format {
        Format::Markdown => markdown::read(text, request, diagnostics),
        Format::Openapi => openapi::read(text, detected.is_json, request, diagnostics),
        format => structured::read(text, format, request, diagnostics),
    }
}

/// The id of the skill, which keeps to the grammar of ids and is not reserved.
fn skill_id(context: &Context) -> Result<String, Failure> {
    let id = context.skill_id.clone();
    let id = id.ok_or_else(|| Failure::new(Code::NameMissing, "the skill has no name"))?;
    if !is_id(&id) {
        return Err(invalid_id("the skill's id", &id));
    }
    if is_reserved(&id) {
        let message = format!("the skill's id {} is reserved", excerpt(&id));
        return Err(Failure::new(Code::IdReserved, message));
    }
    Ok(id)
}

fn invalid_id(what: &str, id: &str) -> Failure {
    let message = format!(
        "{what} {:?}: expected 1 to 64 letters, digits, `_`, `.` and `-`",
        excerpt(id)
    );
    Failure::new(Code::IdInvalid, message)
}

/// An id that the document gives is kept.
fn verbatim(unnamed: Unnamed) -> Operation {
    let mut operation = unnamed.operation.operation;
    if let Identity::Verbatim(id) = unnamed.identity {
        operation.id = id;
    }
    operation
}

/// Refuses an id outside the grammar, and two that are equal once folded.
fn refuse_ids(operations: &[Operation]) -> Result<(), Failure> {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for operation in operations {
        let id = operation.id.as_str();
        if !is_id(id) {
            return Err(invalid_id("the operation id", id).at_line(operation.line));
        }
        if let Some(other) = seen.insert(fold(id), id) {
            let message = format!("the operations {other} and {id} have one name");
            return Err(Failure::new(Code::OpCollision, message).at_line(operation.line));
        }
    }
    Ok(())
}

/// An alias that is an id or another's alias goes.
fn drop_aliases(operations: &mut [Operation], diagnostics: &mut Diagnostics) {
    let ids: BTreeSet<String> = operations.iter().map(|one| fold(&one.id)).collect();
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    for operation in operations.iter_mut() {
        let mut own = BTreeSet::from([fold(&operation.id)]);
        // A name given twice to one operation collides with nothing.
        operation.aliases.retain(|alias| own.insert(fold(alias)));
        for alias in &operation.aliases {
            let count = uses.entry(fold(alias)).or_default();
            *count = count.saturating_add(1);
        }
    }
    for operation in operations {
        let line = operation.line;
        operation.aliases.retain(|alias| {
            let folded = fold(alias);
            let collides = ids.contains(&folded) || uses.get(&folded).is_some_and(|uses| *uses > 1);
            if collides || !is_id(alias) {
                let alias = excerpt(alias);
                diagnostics.warn(
                    Code::AliasDropped,
                    line,
                    format!("the alias {alias} is not used"),
                );
                return false;
            }
            true
        });
    }
}

fn answer(
    id: String,
    skill: SkillDeclaration,
    context: &Context,
    operations: Vec<Operation>,
    diagnostics: &Diagnostics,
) -> Skill {
    // Every name that is asked for: those that the document declares first.
    let mut secrets = skill.secrets;
    let mut seen: BTreeSet<String> = secrets.iter().cloned().collect();
    for secret in operations.iter().flat_map(|one| &one.secrets) {
        if seen.insert(secret.name.clone()) {
            secrets.push(secret.name.clone());
        }
    }
    let name = if skill.name.is_empty() {
        id.clone()
    } else {
        skill.name
    };
    Skill {
        id,
        name,
        version: skill.version,
        description: skill.description,
        instructions: skill.instructions,
        format: skill.format,
        format_version: skill.format_version,
        data_classifications: skill.data_classifications,
        declared_capabilities: skill.declared_capabilities,
        secrets,
        base_url: context.base_url.as_ref().map(url::Url::to_string),
        onboarding: skill.onboarding,
        approval: skill.approval,
        domains: skill.domains,
        tools: skill.tools,
        recorded: skill.recorded,
        operations,
        mapping_version: String::new(),
        diagnostics: diagnostics.as_slice().to_vec(),
    }
}
