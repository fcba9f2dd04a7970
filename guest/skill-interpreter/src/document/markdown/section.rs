//! What the text of a document says of its skill: who it is, which secrets it asks for, and where
//! its API is.

use url::Url;

use super::annotation::Annotation;
use super::info;
use super::lines::Lines;
use super::outline::{Block, Fence, Kind, Outline, Span, plain};
use super::wording::{
    after_base_label, is_constant_name, is_local, places_of_addresses, says_example, tail,
};
use crate::assemble::secrets::looks_secret;
use crate::document::SkillDeclaration;
use crate::identifier::slug;

/// Sections whose code spans name secrets.
const SECRET_SECTIONS: [&str; 5] = [
    "authentication",
    "authorization",
    "secrets",
    "setup",
    "requirements",
];

/// Lines of a labelled fence that are looked at for a base URL.
const LABELLED_LINES: u32 = 20;

/// Bytes before an address in which words may say that it is an example.
const EXAMPLE_BYTES: usize = 200;

/// Words that may stand between `all endpoints` and their address.
const BEFORE_ENDPOINTS: [&str; 10] = [
    "are",
    "at",
    "under",
    "below",
    "start",
    "with",
    "use",
    "base",
    "url",
    "的地址",
];

/// Who the skill is, as far as front matter does not say.
pub(crate) fn identify(skill: &mut SkillDeclaration, outline: &Outline) {
    let Some(first) = outline
        .sections
        .iter()
        .position(|section| section.level == 1)
    else {
        return;
    };
    if skill.name.is_empty()
        && let Some(section) = outline.sections.get(first)
    {
        section.title.clone_into(&mut skill.name);
    }
    if skill.description.is_empty() {
        let after = outline
            .blocks
            .iter()
            .skip_while(|block| !(block.section == first && matches!(block.kind, Kind::Heading(_))))
            .skip(1);
        let paragraph = after
            .take_while(|block| !matches!(block.kind, Kind::Heading(_) | Kind::Fence(_)))
            .find_map(|block| match &block.kind {
                Kind::Text(spans) if block.item.is_none() => Some(plain(spans)),
                _ => None,
            });
        skill.description = paragraph.unwrap_or_default();
    }
}

/// Names of secrets, in order: in code spans of the sections that are about credentials, and in annotations.
pub(crate) fn secrets(outline: &Outline) -> Vec<String> {
    // A section's parent comes before it, so that one pass tells for all.
    let mut about: Vec<bool> = Vec::with_capacity(outline.sections.len());
    for section in &outline.sections {
        let inherited = section.parent.and_then(|parent| about.get(parent).copied());
        let named =
            slug(&section.title).is_some_and(|slug| SECRET_SECTIONS.contains(&slug.as_str()));
        about.push(named || inherited.unwrap_or_default());
    }
    let inside = |block: &&Block| about.get(block.section).copied().unwrap_or_default();
    outline
        .blocks
        .iter()
        .filter(inside)
        .flat_map(|block| match &block.kind {
            Kind::Heading(spans) | Kind::Text(spans) => vec![spans],
            Kind::Row(cells) => cells.iter().collect(),
            _ => Vec::new(),
        })
        .flatten()
        .filter_map(|span| match span {
            Span::Code(text) if is_constant_name(text) && looks_secret(text) => Some(text.clone()),
            _ => None,
        })
        .chain(outline.blocks.iter().flat_map(annotated))
        .collect()
}

/// The secrets that a fence's annotation asks for.
fn annotated(block: &Block) -> Vec<String> {
    match &block.kind {
        Kind::Fence(fence) => {
            Annotation::read(&fence.info)
                .ok()
                .flatten()
                .unwrap_or_default()
                .secrets
        }
        _ => Vec::new(),
    }
}

/// Returns the address that the document calls its base: the first one behind such a label, on its line or in the lines of
/// a fence or the line that follows. A comment does not count; a sentence, an example in JSON and an address of endpoints that
/// goes on with dots (`https://shop.example/v1/...`) do where nothing else says it.
pub(crate) fn base_url(outline: &Outline, lines: &Lines<'_>) -> Option<String> {
    let mut within = None;
    for number in lines.holding("http") {
        let line = lines.get(number)?;
        let block = outline.block_at(number);
        let fence = match block.map(|block| (&block.kind, block.line)) {
            Some((Kind::Comment(_), _)) => continue,
            Some((Kind::Fence(fence), first)) => Some((fence, first)),
            _ => None,
        };
        if let Some((rest, begins_line)) = after_base_label(line) {
            let is_data = fence.is_some_and(|(fence, _)| is_data(fence));
            match base_in(rest) {
                Some(found) if begins_line && !is_data => return Some(found),
                found => within = within.or(found),
            }
            continue;
        }
        if fence.is_none() && says_endpoints(line) {
            within = within.or_else(|| base_in(line));
        }
        let label = match fence {
            Some((_, first)) if number > first.saturating_add(LABELLED_LINES) => None,
            Some((_, first)) => lines.above(first),
            None => lines.above(number),
        };
        if let Some((_, label)) = label
            && let Some((rest, true)) = after_base_label(label)
            && base_in(rest).is_none()
            && let Some(found) = base_in(line)
        {
            return Some(found);
        }
    }
    within
}

/// Whether a line begins by telling of the one address that all endpoints stand behind:
/// `All endpoints: https://shop.example/v1/...`. A sentence that says more may say that it is another one's.
fn says_endpoints(line: &str) -> bool {
    let mut all = places_of_addresses(line);
    let (Some((place, address)), None) = (all.next(), all.next()) else {
        return false;
    };
    let (before, behind) = line.split_at_checked(place).unwrap_or_default();
    let rest = behind.get(address.len()..).unwrap_or_default();
    let goes_on = address.ends_with('/') && rest.starts_with("...") || address.ends_with("/…");
    let lower = before.to_ascii_lowercase();
    let label = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let between = ["all endpoints", "所有端点"]
        .iter()
        .find_map(|words| label.strip_prefix(words));
    let is_plain = |between: &str| {
        between
            .split(|c: char| !c.is_alphanumeric())
            .all(|word| word.is_empty() || BEFORE_ENDPOINTS.contains(&word))
    };
    goes_on && between.is_some_and(is_plain)
}

/// Whether a fence shows data that is sent or answered.
fn is_data(fence: &Fence) -> bool {
    let (language, _) = info::split(&fence.info);
    matches!(language.as_str(), "json" | "jsonc" | "json5" | "xml")
}

/// The first address of a text that a request can be sent to, without user information; of one whose path goes on with a
/// variable, what stands before it.
fn base_in(text: &str) -> Option<String> {
    places_of_addresses(text).find_map(|(place, address)| {
        let end = ["{", "$", "<", "...", "…"]
            .iter()
            .filter_map(|mark| address.find(mark))
            .min();
        let literal = match end {
            Some(end) => address.get(..end)?.rsplit_once('/')?.0,
            None => address,
        };
        let url = Url::parse(literal).ok()?;
        if !url.has_host() || !url.username().is_empty() || url.password().is_some() {
            return None;
        }
        // `https://us-xxxxx.api.example` is to be filled in.
        let host = url.host_str()?;
        let is_machine = host.parse::<std::net::Ipv4Addr>().is_ok() && !is_local(address);
        let is_nobodys = is_machine || host.contains("example") || host.contains("your");
        let is_example =
            || says_example(tail(text.get(..place).unwrap_or_default(), EXAMPLE_BYTES));
        let is_whole = !(host.contains("xxx") || is_nobodys && is_example());
        is_whole.then(|| literal.to_owned())
    })
}
