//! Lines and words that the rules for Markdown recognise: labels, results, names of secrets, addresses.

/// Whether a line announces a result: `**Response**`, `Example outputs:`.
pub(crate) fn is_result_label(line: &str) -> bool {
    let mut words = line.split(|c| !is_word(c)).filter(|word| !word.is_empty());
    let is = |word: &str, names: &[&str]| names.iter().any(|name| word.eq_ignore_ascii_case(name));
    let first = words.next().unwrap_or_default();
    let word = if is(first, &["example"]) {
        words.next().unwrap_or_default()
    } else {
        first
    };
    is(
        word,
        &[
            "response",
            "responses",
            "return",
            "returns",
            "output",
            "outputs",
            "result",
            "results",
        ],
    )
}

/// How documents call the address that their endpoints are relative to, in lower case.
const BASE_LABELS: [&str; 27] = [
    "api base url",
    "api_base_url",
    "base url",
    "base_url",
    "base-url",
    "baseurl",
    "base api url",
    "base_api_url",
    "base uri",
    "base endpoint",
    "api base",
    "api_base",
    "apibase",
    "api endpoint",
    "api url",
    "api_url",
    "apiurl",
    "api host",
    "api root",
    "server url",
    "基础 url",
    "基础url",
    "基础地址",
    "api 地址",
    "api基础",
    "基本 url",
    "基本url",
];

/// Words that say of what follows that it is not, or no longer, so.
pub(crate) const DISCLAIMERS: [&str; 12] = [
    "old",
    "legacy",
    "deprecated",
    "former",
    "previous",
    "outdated",
    "no",
    "not",
    "never",
    "wrong",
    "internal",
    "retired",
];

/// What follows the first label of a base address on a line, and whether the label begins the line.
pub(crate) fn after_base_label(line: &str) -> Option<(&str, bool)> {
    let lower = line.to_ascii_lowercase();
    let is_bounded = |start: usize, end: usize| {
        let before = lower.get(..start).and_then(|text| text.chars().next_back());
        let after = lower.get(end..).and_then(|text| text.chars().next());
        !before.is_some_and(|c| c.is_ascii_alphanumeric())
            && !after.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let found = BASE_LABELS.iter().filter_map(|label| {
        let start = lower.find(label)?;
        let end = start.saturating_add(label.len());
        is_bounded(start, end).then_some((start, std::cmp::Reverse(end)))
    });
    // `- Server: http://…`
    let server = || {
        let label = lower.trim_start_matches(|c| !is_word(c));
        let start = lower.len().saturating_sub(label.len());
        let is_label = label.starts_with("server:") || label.starts_with("server**:");
        is_label.then_some((
            start,
            std::cmp::Reverse(start.saturating_add("server".len())),
        ))
    };
    let (start, std::cmp::Reverse(end)) = found.min().or_else(server)?;
    let before = lower.get(..start)?;
    let words: Vec<&str> = before
        .split(|c| !is_word(c))
        .filter(|word| !word.is_empty())
        .collect();
    let is_comment = before.rfind("<!--") > before.rfind("-->");
    if is_comment || words.iter().any(|word| DISCLAIMERS.contains(word)) {
        return None;
    }
    Some((line.get(end..)?, words.len() <= 2))
}

/// The `http` and `https` addresses in a text, each as far as a reader would say.
pub(crate) fn addresses(text: &str) -> impl Iterator<Item = &str> {
    places_of_addresses(text).map(|(_, address)| address)
}

/// The same, each with the offset at which it begins.
pub(crate) fn places_of_addresses(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let candidate = rest.get(rest.find("http")?..)?;
            rest = candidate.strip_prefix("http").unwrap_or_default();
            let host = rest.strip_prefix('s').unwrap_or(rest).strip_prefix("://");
            let begins = |first: char| first.is_alphanumeric() || first == '[';
            if host.is_some_and(|host| host.starts_with(begins)) {
                let end = candidate.find(ends_address).unwrap_or(candidate.len());
                let (address, after) = candidate.split_at_checked(end)?;
                rest = after;
                let place = text.len().saturating_sub(candidate.len());
                let ends = ['.', ',', ';', ':', '!', '?', '_', ']'];
                return Some((place, address.trim_end_matches(ends)));
            }
        }
    })
}

/// The end of a text, of about so many bytes.
pub(crate) fn tail(text: &str, bytes: usize) -> &str {
    let start = text.len().saturating_sub(bytes);
    text.get(text.floor_char_boundary(start)..).unwrap_or(text)
}

/// Whether words say that the address behind them is an example.
pub(crate) fn says_example(text: &str) -> bool {
    ["e.g.", "xample", "such as", "例如", "示例"]
        .iter()
        .any(|words| text.contains(words))
}

/// Whether an address is one of the reader's own machine: where a server is unless it was moved.
pub(crate) fn is_local(address: &str) -> bool {
    ["//localhost", "//127.0.0.1"]
        .iter()
        .any(|host| address.contains(host))
}

fn ends_address(character: char) -> bool {
    character.is_whitespace()
        || matches!(
            character,
            '`' | '"'
                | '\''
                | '<'
                | '>'
                | '('
                | ')'
                | '|'
                | ','
                | '*'
                | '\\'
                | '（'
                | '）'
                | '，'
                | '。'
                | '；'
                | '：'
                | '、'
                | '“'
                | '”'
                | '「'
                | '」'
        )
}

/// A name in the style of constants: `[A-Z][A-Z0-9_]{3,}`, the whole text.
pub(crate) fn is_constant_name(text: &str) -> bool {
    text.len() >= 4
        && text.starts_with(|first: char| first.is_ascii_uppercase())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// A line `Required: true`.
pub(crate) fn is_required_line(line: &str) -> bool {
    let is = |text: &str, expected: &str| {
        let text = text.trim_matches(|c| !is_word(c));
        text.eq_ignore_ascii_case(expected)
    };
    line.split_once(':')
        .is_some_and(|(name, value)| is(name, "required") && is(value, "true"))
}

/// What `\w` matches, but for marks.
fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_announce_a_result() {
        for line in [
            "Response:",
            "**Response**",
            "- Returns",
            "### Example response (200)",
            "> returns:",
            "RESULTS",
            "Output",
            "Example   outputs:",
            "  ✅ Result: ok",
            "return",
            "Responses",
        ] {
            assert!(is_result_label(line), "{line}");
        }
        for line in [
            "",
            "The response:",
            "Responsed",
            "Exampleresponse",
            "Example",
            "outputs_of",
            "response_1",
            "Request",
            "Resultat",
            "Returning",
            "```",
        ] {
            assert!(!is_result_label(line), "{line}");
        }
    }

    #[test]
    fn lines_labelled_with_a_base() {
        for (line, rest) in [
            ("Base URL: https://a.example", ": https://a.example"),
            ("**Base URL:** `x`", ":** `x`"),
            ("| base url | x |", " | x |"),
            ("- API Base URL", ""),
            ("## Base-URL", ""),
            ("The base API URL is x", " is x"),
            ("BASE_URL=x", "=x"),
            ("API Endpoint: x", ": x"),
            ("基础 URL：`x`", "：`x`"),
            ("Requests go to the base URL x", " x"),
        ] {
            assert_eq!(
                after_base_label(line).map(|(rest, _)| rest),
                Some(rest),
                "{line}"
            );
        }
        for line in [
            "",
            "Base",
            "URL base",
            "Base URLs",
            "Database URL: x",
            "url",
        ] {
            assert_eq!(after_base_label(line), None, "{line}");
        }
    }

    #[test]
    fn the_first_address_of_a_text() {
        for (text, address) in [
            (": `https://api.a.example/v1`", "https://api.a.example/v1"),
            (
                " is <http://a.example:8080/x/>.",
                "http://a.example:8080/x/",
            ),
            ("=\"https://a.example\"", "https://a.example"),
            ("http or https://a.example. Then", "https://a.example"),
            ("[docs](https://a.example/d)", "https://a.example/d"),
            ("https://[::1]:80/x", "https://[::1]:80/x"),
            ("**https://a.example/v1/**", "https://a.example/v1/"),
        ] {
            assert_eq!(addresses(text).next(), Some(address), "{text}");
        }
        for text in ["", "http", "https://", "ftp://a.example", "http:/a"] {
            assert_eq!(addresses(text).next(), None, "{text}");
        }
    }

    #[test]
    fn names_of_constants() {
        assert!(
            ["API_KEY", "A1_B", "TOKEN"]
                .into_iter()
                .all(is_constant_name)
        );
        assert!(
            !["KEY", "Api_KEY", "1KEY", "_KEY", "API-KEY", "API_KEY=", ""]
                .into_iter()
                .any(is_constant_name)
        );
    }

    #[test]
    fn required_lines() {
        assert!(
            [
                "Required: true",
                "- **Required:** True",
                "required : `true`"
            ]
            .into_iter()
            .all(is_required_line)
        );
        assert!(
            ![
                "Required: false",
                "Required true",
                "Not required: true",
                "Required: truest"
            ]
            .into_iter()
            .any(is_required_line)
        );
    }
}
