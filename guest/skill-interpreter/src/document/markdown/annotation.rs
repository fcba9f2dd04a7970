//! What a document says about a fence for machines (section 7).
//!
//! Words of the info string, or one comment before the fence. An annotation names, describes, restricts and
//! requests; nothing in it grants (K-112), so that reading one twice or from a stranger does no harm.

use serde_json::Value;

/// What is said about one fence; all of it is optional.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Annotation {
    pub(crate) op: Option<String>,
    pub(crate) secrets: Vec<String>,
    pub(crate) egress: Vec<String>,
    /// 1 to 3; only raises.
    pub(crate) tier: Option<u8>,
    pub(crate) ignore: bool,
    pub(crate) example: bool,
    /// Whether the fence is an output example.
    pub(crate) is_output: bool,
    pub(crate) description: Option<String>,
    /// The schemas, in any form of K-84.
    pub(crate) input: Option<Value>,
    pub(crate) output: Option<Value>,
    pub(crate) data_classifications: Vec<String>,
    /// JSON Pointers.
    pub(crate) returns_secret: Vec<String>,
}

/// K-113: why an annotation cannot be used. Says nothing of what it holds but its own keys (K-38).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Invalid {
    #[error("the annotation is not one JSON object without duplicate names")]
    Json,
    #[error("the annotation has an unknown key {0:?}")]
    UnknownKey(String),
    #[error("{key} of the annotation is not {expected}")]
    Type {
        key: &'static str,
        expected: &'static str,
    },
}

/// The annotation of an info string's words after the language; none without such a word (K-109).
pub(crate) fn of_info<'i>(
    words: impl Iterator<Item = &'i str>,
) -> Result<Option<Annotation>, Invalid> {
    let mut annotation = Annotation::default();
    let mut any = false;
    for word in words.filter_map(|word| word.strip_prefix("skill:")) {
        any = true;
        match word.split_once('=') {
            Some(("op", id)) if !id.is_empty() => annotation.op = Some(id.to_owned()),
            Some(("secret", name)) if !name.is_empty() => annotation.secrets.push(name.to_owned()),
            Some(("egress", host)) if !host.is_empty() => annotation.egress.push(host.to_owned()),
            Some(("tier", number)) => annotation.tier = Some(tier(number.parse().ok())?),
            None if word == "ignore" => annotation.ignore = true,
            None if word == "example" => annotation.example = true,
            None if word == "output" => annotation.is_output = true,
            _ => return Err(Invalid::UnknownKey(shown(word))),
        }
    }
    Ok(any.then_some(annotation))
}

/// The annotation of a comment; none of one that is not meant for machines (K-110).
pub(crate) fn of_comment(comment: &str) -> Result<Option<Annotation>, Invalid> {
    let Some(text) = comment.trim().strip_prefix("skill:") else {
        return Ok(None);
    };
    let parsed = kit::members::parse(text.trim().as_bytes());
    let Ok(Value::Object(members)) = parsed else {
        return Err(Invalid::Json);
    };
    let mut annotation = Annotation::default();
    for (key, value) in members {
        match (key.replace('_', "-").as_str(), value) {
            (_, Value::Null) => {}
            ("op", value) => annotation.op = Some(string("op", value)?),
            ("secret", value) => annotation.secrets = strings("secret", value)?,
            ("egress", value) => annotation.egress = strings("egress", value)?,
            ("tier", value) => annotation.tier = Some(tier(value.as_u64())?),
            ("description", value) => {
                annotation.description = Some(string("description", value)?);
            }
            ("input", value) => annotation.input = Some(mapping("input", value)?),
            // The word of K-109, written as a member.
            ("output", Value::Bool(is_output)) => annotation.is_output = is_output,
            ("output", value) => annotation.output = Some(mapping("output", value)?),
            ("data-classifications", value) => {
                annotation.data_classifications = strings("data-classifications", value)?;
            }
            ("returns-secret", value) => {
                annotation.returns_secret = strings("returns-secret", value)?;
            }
            ("ignore", value) => annotation.ignore = flag("ignore", &value)?,
            ("example", value) => annotation.example = flag("example", &value)?,
            _ => return Err(Invalid::UnknownKey(shown(&key))),
        }
    }
    Ok(Some(annotation))
}

impl Annotation {
    /// Both forms at one fence: the comment's members win, requests of both are kept (K-110).
    pub(crate) fn merged(info: Self, comment: Self) -> Self {
        Self {
            op: comment.op.or(info.op),
            secrets: union(comment.secrets, info.secrets),
            egress: union(comment.egress, info.egress),
            // Neither lowers what the other asks for.
            tier: comment.tier.max(info.tier),
            ignore: comment.ignore || info.ignore,
            example: comment.example || info.example,
            is_output: comment.is_output || info.is_output,
            ..comment
        }
    }

    /// Whether it makes an operation of a code fence (K-107, K-111).
    pub(crate) fn describes_an_operation(&self) -> bool {
        !self.ignore && !self.example && !self.is_output
    }
}

fn union(first: Vec<String>, second: Vec<String>) -> Vec<String> {
    let mut all = first;
    for name in second {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

fn tier(number: Option<u64>) -> Result<u8, Invalid> {
    number
        .and_then(|number| u8::try_from(number).ok())
        .filter(|tier| (1..=3).contains(tier))
        .ok_or(Invalid::Type {
            key: "tier",
            expected: "a number from 1 to 3",
        })
}

fn string(key: &'static str, value: Value) -> Result<String, Invalid> {
    match value {
        Value::String(text) if !text.is_empty() => Ok(text),
        _ => Err(Invalid::Type {
            key,
            expected: "a string with something in it",
        }),
    }
}

/// A list of strings, or one string.
fn strings(key: &'static str, value: Value) -> Result<Vec<String>, Invalid> {
    let list = match value {
        Value::Array(values) => values,
        value => vec![value],
    };
    let all: Result<Vec<String>, Invalid> =
        list.into_iter().map(|value| string(key, value)).collect();
    all.map_err(|_| Invalid::Type {
        key,
        expected: "a list of strings",
    })
}

fn mapping(key: &'static str, value: Value) -> Result<Value, Invalid> {
    if value.is_object() {
        return Ok(value);
    }
    Err(Invalid::Type {
        key,
        expected: "an object",
    })
}

fn flag(key: &'static str, value: &Value) -> Result<bool, Invalid> {
    value.as_bool().ok_or(Invalid::Type {
        key,
        expected: "true or false",
    })
}

/// A key as a message may show it.
fn shown(key: &str) -> String {
    key.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn info(words: &str) -> Result<Option<Annotation>, Invalid> {
        of_info(words.split_whitespace())
    }

    #[test]
    fn k_109_words_of_the_info_string() {
        assert_eq!(info("title=x {.cls}"), Ok(None));
        let all = info(
            "skill:op=find skill:secret=A_KEY skill:secret=B_KEY skill:egress=a.example skill:tier=2 skill:ignore skill:example skill:output",
        );
        let expected = Annotation {
            op: Some("find".to_owned()),
            secrets: vec!["A_KEY".to_owned(), "B_KEY".to_owned()],
            egress: vec!["a.example".to_owned()],
            tier: Some(2),
            ignore: true,
            example: true,
            is_output: true,
            ..Annotation::default()
        };
        assert_eq!(all, Ok(Some(expected)));
    }

    #[test]
    fn k_110_members_of_the_comment() {
        let comment = r#" skill: {"op":"search","secret":["API_KEY"],"input":{"q":"str"},"output":{"r":"list"},
            "description":"Find","egress":["a.example"],"tier":2,"data-classifications":["pii"],
            "returns_secret":["/token"],"ignore":false} "#;
        let expected = Annotation {
            op: Some("search".to_owned()),
            secrets: vec!["API_KEY".to_owned()],
            egress: vec!["a.example".to_owned()],
            tier: Some(2),
            description: Some("Find".to_owned()),
            input: Some(json!({"q": "str"})),
            output: Some(json!({"r": "list"})),
            data_classifications: vec!["pii".to_owned()],
            returns_secret: vec!["/token".to_owned()],
            ..Annotation::default()
        };
        assert_eq!(of_comment(comment), Ok(Some(expected)));
        assert_eq!(of_comment(" TODO: more "), Ok(None));
    }

    #[test]
    fn k_110_of_two_annotations_the_comment_wins_and_requests_add_up() {
        let merged = Annotation::merged(
            info("skill:op=a skill:secret=X skill:tier=3 skill:example")
                .unwrap()
                .unwrap(),
            of_comment(r#"skill: {"op":"b","secret":["Y","X"],"tier":2}"#)
                .unwrap()
                .unwrap(),
        );
        assert_eq!(merged.op.as_deref(), Some("b"));
        assert_eq!(merged.secrets, ["Y", "X"]);
        assert_eq!(merged.tier, Some(3));
        assert!(merged.example && !merged.ignore);
    }

    #[test]
    fn k_113_what_is_malformed_or_unknown_is_refused() {
        for words in [
            "skill:",
            "skill:op",
            "skill:op=",
            "skill:opp=x",
            "skill:ignore=1",
            "skill:tier=0",
            "skill:tier=4",
            "skill:tier=two",
            "skill:method=GET",
        ] {
            assert!(info(words).is_err(), "{words}");
        }
        for json in [
            "",
            "{",
            "[]",
            "{\"op\":1}",
            "{\"op\":\"\"}",
            "{\"op\":\"a\",\"op\":\"b\"}",
            "{\"url\":\"x\"}",
            "{\"tier\":true}",
            "{\"tier\":2.5}",
            "{\"secret\":[1]}",
            "{\"ignore\":\"yes\"}",
            "{\"input\":[]}",
            "{} {}",
        ] {
            assert!(of_comment(&format!("skill: {json}")).is_err(), "{json}");
        }
    }
}
