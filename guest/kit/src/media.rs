//! Media types (`content-type`), as the MIME Sniffing Standard parses them.

/// Spaces of HTTP.
const SPACE: [char; 4] = ['\t', '\n', '\r', ' '];

/// A media type that is well formed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaType {
    essence: String,
    charset: Option<String>,
}

impl MediaType {
    /// Reads `type/subtype`, and of its parameters `charset`, whose first occurrence counts.
    ///
    /// None for what has no type and subtype, or characters in them that are not those of a token.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim_matches(SPACE);
        let (essence, parameters) = text.split_once(';').unwrap_or((text, ""));
        let essence = essence.trim_end_matches(SPACE);
        let (kind, subtype) = essence.split_once('/')?;
        (is_token(kind) && is_token(subtype)).then(|| Self {
            essence: essence.to_ascii_lowercase(),
            charset: charset(parameters),
        })
    }

    /// Type and subtype in lower case.
    #[must_use]
    pub fn essence(&self) -> &str {
        &self.essence
    }

    /// The parameter `charset`, as it was given and not empty.
    #[must_use]
    pub fn charset(&self) -> Option<&str> {
        self.charset.as_deref()
    }
}

fn charset(mut rest: &str) -> Option<String> {
    while !rest.is_empty() {
        rest = rest.trim_start_matches(SPACE);
        let (name, value) = rest.split_at(rest.find([';', '=']).unwrap_or(rest.len()));
        let Some(value) = value.strip_prefix('=') else {
            rest = value.strip_prefix(';').unwrap_or_default();
            continue;
        };
        let (value, after) = match value.strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => {
                let (value, after) = value.split_once(';').unwrap_or((value, ""));
                (value.trim_end_matches(SPACE).to_owned(), after)
            }
        };
        if name.eq_ignore_ascii_case("charset") && !value.is_empty() {
            return Some(value);
        }
        rest = after;
    }
    None
}

/// A quoted value without its quotes and escapes, and what follows the next `;`.
fn unquoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => break,
            '\\' => value.push(characters.next().unwrap_or('\\')),
            character => value.push(character),
        }
    }
    let after = characters.as_str().split_once(';');
    (value, after.map_or("", |(_, after)| after))
}

/// RFC 9110, 5.6.2.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn type_and_subtype_are_tokens_in_lower_case() {
        for (text, essence) in [
            ("text/html", Some("text/html")),
            (" Text/HTML ; charset=x", Some("text/html")),
            ("application/ld+json;", Some("application/ld+json")),
            ("text", None),
            ("text/", None),
            ("/html", None),
            ("", None),
            ("text /html", None),
            ("text/ html", None),
            ("text/html, text/plain", None),
            ("text/htmé", None),
            (";text/html", None),
        ] {
            let media = MediaType::parse(text);
            assert_eq!(media.as_ref().map(MediaType::essence), essence, "{text:?}");
        }
    }

    #[test]
    fn the_first_charset_counts() {
        for (parameters, charset) in [
            ("", None),
            ("; charset=utf-8", Some("utf-8")),
            (";CHARSET=UTF-8 ;charset=x", Some("UTF-8")),
            ("; a=b;charset=\"shift\\_jis\" junk; c", Some("shift_jis")),
            ("; a=\"x;charset=no\";charset=yes", Some("yes")),
            (";charset", None),
            (";charset=", None),
            (";charset=;charset=b", Some("b")),
            (";charset=\"a", Some("a")),
            (";;;x;charset=a", Some("a")),
            ("; charset =a", None),
            (";charset= a", Some(" a")),
        ] {
            let media = MediaType::parse(&format!("text/plain{parameters}")).unwrap();
            assert_eq!(media.charset(), charset, "{parameters:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(text/x)?[;= \"\\\\a-c]{0,40}|\\PC{0,40}") {
            let _ = MediaType::parse(&text);
        }
    }
}
