//! Addresses that a program and a WHATWG parser could read differently are refused, before `assemble` parses them.
//!
//! curl and wget read addresses by rules of their own: they guess schemes, take one slash or three for two, and
//! keep a backslash where a WHATWG parser sees a slash. What is left after these checks names one host for all of them.

use crate::draft::{Literal, Origin, Part, Spelling, Template};
use crate::failure::{Code, Failure};

/// Stands for a variable while an address is looked at; no address of a document needs it.
const VARIABLE: char = '\u{FFFC}';

/// What curl takes from the first label of a host where no scheme stands.
const GUESSED_SCHEMES: [&str; 6] = ["ftp", "dict", "ldap", "imap", "smtp", "pop3"];

/// How an address begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begins {
    /// `http://`
    Http,
    /// `https://`
    Https,
    /// A host.
    Host,
    /// One slash: it is relative.
    Relative,
    /// A variable.
    Variable,
}

/// Whose address it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader {
    /// What a scheme other than `http` and `https` gives.
    pub(super) scheme_refused: Code,
    /// Whether the scheme is guessed from names such as `ftp.example.org`.
    pub(super) guesses: bool,
}

/// Looks at the whole address.
///
/// # Errors
///
/// `url-invalid`, `url-userinfo`, or the reader's code for a scheme that is neither `http` nor `https`.
pub(super) fn check(url: &Template, reader: Reader) -> Result<Begins, Failure> {
    let text = flat(url);
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(invalid("it holds a blank or a control character"));
    }
    let (begins, rest) = beginning(&text, reader)?;
    let before_query = rest.split(['?', '#']).next().unwrap_or(rest);
    if before_query.contains('\\') {
        return Err(invalid("it holds a backslash"));
    }
    let (authority, path) = match begins {
        Begins::Relative => ("", before_query),
        _ => before_query.split_once('/').unwrap_or((before_query, "")),
    };
    if authority.contains('@') {
        return Err(Failure::new(
            Code::UrlUserinfo,
            "an address must not hold a user name or password",
        ));
    }
    if authority.contains('%') {
        return Err(invalid("its host is percent-encoded"));
    }
    if authority.is_empty() && begins != Begins::Relative {
        return Err(invalid("it has no host"));
    }
    if begins == Begins::Host && authority.ends_with(':') {
        // wget reads `host:/path` as an address of ftp.
        return Err(invalid("its port is empty"));
    }
    if path.split('/').any(is_hidden_dots) {
        return Err(invalid("`.` or `..` stands percent-encoded in its path"));
    }
    Ok(begins)
}

/// With an input for each query value that only shows what belongs there: words with blanks between them, which no client
/// sends (`?q=your query here`), or alternatives (`?unit={day|hour}`).
pub(super) fn with_query_placeholders(url: Template) -> Template {
    let mut found = Template::default();
    let mut in_query = false;
    let mut parts = url.parts.into_iter().peekable();
    while let Some(part) = parts.next() {
        let literal = match part {
            Part::Literal(literal) if literal.origin == Origin::Written => literal,
            part => {
                found.push(part);
                continue;
            }
        };
        let mut rest = literal.text.as_str();
        while let Some((before, after)) = rest.split_once(if in_query { '&' } else { '?' }) {
            push_pair(&mut found, &literal, before, in_query);
            found.push(Part::Literal(literal.with_text(if in_query {
                "&"
            } else {
                "?"
            })));
            in_query = true;
            rest = after;
        }
        push_pair(
            &mut found,
            &literal,
            rest,
            in_query && parts.peek().is_none(),
        );
    }
    found
}

/// Adds a pair of a query, or text that is none.
fn push_pair(found: &mut Template, literal: &Literal, text: &str, is_pair: bool) {
    let shown = text.split_once('=').filter(|(name, value)| {
        let value = value.trim();
        let is_words =
            value.contains(' ') && value.chars().all(|c| c == ' ' || c.is_alphanumeric());
        let is_choice = value
            .strip_prefix('{')
            .and_then(|value| value.strip_suffix('}'))
            .is_some_and(|choice| {
                !choice.contains(['{', '}', ',', '"'])
                    && (choice.contains('|') || choice.bytes().all(|b| b.is_ascii_digit()))
            });
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        is_pair && (is_words || is_choice) && !name.is_empty() && name.chars().all(is_name)
    });
    match shown {
        Some((name, _)) => {
            found.push(Part::Literal(literal.with_text(format!("{name}="))));
            found.append(Template::variable(name, Spelling::Brace));
        }
        None => found.push(Part::Literal(literal.with_text(text))),
    }
}

/// `[address](address)`, as text with links has it, without its link.
fn without_link(text: &str) -> Option<String> {
    let (shown, rest) = text.strip_prefix('[')?.split_once("](")?;
    let (address, rest) = rest.split_once(')')?;
    (shown == address).then(|| format!("{address}{rest}"))
}

/// With `[name]` as a variable where it stands for a whole value or segment: to curl it is no range, and no address that
/// it would send.
pub(super) fn with_placeholders(url: Template) -> Template {
    let mut url = with_query_placeholders(url);
    if let Some(Part::Literal(first)) = url.parts.first_mut()
        && let Some(text) = without_link(&first.text)
    {
        first.text = text;
    }
    let mut found = Template::default();
    for part in url.parts {
        let Part::Literal(literal) = part else {
            found.push(part);
            continue;
        };
        let mut rest = literal.text.as_str();
        while let Some((before, after)) = rest.split_once('[') {
            let name = after.split(']').next().unwrap_or_default();
            let is_name = before.ends_with(['=', '/'])
                && after.len() > name.len()
                && !name.is_empty()
                && name.chars().all(|c| c.is_alphabetic() || c == '_');
            if !is_name {
                break;
            }
            found.push(Part::Literal(literal.with_text(before)));
            let name = if name.is_ascii() { name } else { "value" };
            found.append(Template::variable(name, Spelling::Brace));
            rest = after.split_once(']').map_or("", |(_, rest)| rest);
        }
        found.push(Part::Literal(literal.with_text(rest)));
    }
    found
}

/// Whether a file could be named after the address: it has a last path segment, or it may have one.
pub(super) fn names_a_file(url: &Template) -> bool {
    if url.as_variable().is_some() {
        return true;
    }
    let text = flat(url);
    let before_query = text.split(['?', '#']).next().unwrap_or(&text);
    let rest = before_query
        .split_once("://")
        .map_or(before_query, |(_, rest)| rest);
    rest.rsplit_once('/')
        .is_some_and(|(_, segment)| !segment.is_empty())
}

/// How it begins, and what follows the scheme.
fn beginning(text: &str, reader: Reader) -> Result<(Begins, &str), Failure> {
    if let Some((scheme, rest)) = text.split_once(':')
        && is_scheme(scheme)
        && rest.starts_with('/')
    {
        let begins = match scheme.to_ascii_lowercase().as_str() {
            "http" => Begins::Http,
            "https" => Begins::Https,
            _ => return Err(scheme_refused(scheme, reader)),
        };
        // Two slashes, neither one nor three: a WHATWG parser and these programs part there.
        return match rest.strip_prefix("//") {
            Some(rest) if !rest.starts_with(['/', '\\']) => Ok((begins, rest)),
            _ => Err(invalid("its scheme is not followed by `//` and a host")),
        };
    }
    if let Some(rest) = text.strip_prefix('/') {
        return if rest.starts_with(['/', '\\']) {
            Err(invalid("it begins with two slashes"))
        } else {
            Ok((Begins::Relative, text))
        };
    }
    if text.starts_with([VARIABLE, '{', '<']) {
        return Ok((Begins::Variable, text));
    }
    if reader.guesses {
        let host = text.to_ascii_lowercase();
        if let Some(scheme) = GUESSED_SCHEMES.iter().find(|scheme| {
            host.strip_prefix(**scheme)
                .is_some_and(|rest| rest.starts_with('.'))
        }) {
            return Err(scheme_refused(scheme, reader));
        }
    }
    Ok((Begins::Host, text))
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// A dot segment that only a WHATWG parser sees.
fn is_hidden_dots(segment: &str) -> bool {
    let shown = segment.to_ascii_lowercase();
    shown.contains("%2e") && matches!(shown.replace("%2e", ".").as_str(), "." | "..")
}

fn flat(url: &Template) -> String {
    let mut text = String::new();
    for part in &url.parts {
        match part {
            Part::Literal(literal) => text.push_str(&literal.text),
            Part::Variable(_) => text.push(VARIABLE),
        }
    }
    text
}

fn invalid(why: &str) -> Failure {
    Failure::new(Code::UrlInvalid, format!("the address is refused: {why}"))
}

fn scheme_refused(scheme: &str, reader: Reader) -> Failure {
    let scheme: String = scheme.chars().take(40).collect();
    Failure::new(
        reader.scheme_refused,
        format!("the scheme {scheme} is refused; only http and https are read"),
    )
}
