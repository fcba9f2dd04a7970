//! Front matter as JSON, for types that serde reads: each scalar is its text, so that a type may read `yes`, `5` or `2024`
//! as it needs.

use serde_json::{Map, Value};

use super::tree::Kind;
use super::{Yaml, YamlError, keys, reader};

/// Reads front matter; an empty one has no members.
///
/// Aliases are refused: they let a small file say a lot.
///
/// # Errors
///
/// See [`YamlError`].
pub fn to_json(text: &str) -> Result<Map<String, Value>, YamlError> {
    let yaml = reader::read(text)?;
    keys::refuse_duplicates(&yaml)?;
    match yaml.root.map(|root| yaml.json(root)).transpose()? {
        Some(Value::Object(members)) => Ok(members),
        _ => Ok(Map::new()),
    }
}

impl Yaml<'_> {
    /// Recurses as deep as the reader lets collections nest.
    fn json(&self, position: usize) -> Result<Value, YamlError> {
        Ok(match self.nodes.get(position).map(|node| &node.kind) {
            Some(Kind::Scalar { text, null: false }) => Value::String(text.to_string()),
            Some(Kind::Sequence) => {
                let items = self.children(position);
                Value::Array(
                    items
                        .map(|item| self.json(item))
                        .collect::<Result<_, _>>()?,
                )
            }
            Some(Kind::Mapping(_)) => {
                let member = |(key, value)| match self.json(key)? {
                    Value::String(key) => Ok((key, self.json(value)?)),
                    _ => Err(YamlError::Key),
                };
                let members = self.pairs(position).map(member);
                Value::Object(members.collect::<Result<_, _>>()?)
            }
            Some(Kind::Alias(_)) => return Err(YamlError::Alias),
            Some(Kind::Scalar { null: true, .. }) | None => Value::Null,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_texts_and_collections_keep_their_order() {
        let text = "b: yes\na: [1, 'it''s', ~]\nc:\n  - x: &anchor {y: \"two\\n\"}\nd:\n";
        let expected = r#"{"b":"yes","a":["1","it's",null],"c":[{"x":{"y":"two\n"}}],"d":null}"#;
        let json = Value::Object(to_json(text).unwrap());
        assert_eq!(json.to_string(), expected);
        assert_eq!(to_json("").unwrap(), Map::new());
    }

    #[test]
    fn what_no_type_can_read_is_refused() {
        assert_eq!(to_json("a: &x 1\nb: *x"), Err(YamlError::Alias));
        assert_eq!(to_json("? [a]\n: 1"), Err(YamlError::Key));
        assert_eq!(to_json("- a"), Err(YamlError::RootIsNoMapping));
        assert!(matches!(
            to_json("a: 1\nb: [\n"),
            Err(YamlError::Syntax { line: 2, .. })
        ));
        assert!(to_json(&format!("a: {}", "[".repeat(60_000))).is_err());
    }
}
