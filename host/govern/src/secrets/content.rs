//! What `secrets.toml` says.
//!
//! ```toml
//! [secrets]
//! "API_KEY" = "…"
//! [skills."moltbook"]
//! "MOLTBOOK_API_KEY" = "…"
//! "MOLTBOOK_TOKEN" = { value = "…", of = "ap-1", pending = { "ap-2" = "…" } }
//! [mappings]
//! "EXPECTED" = "STORED"
//! ```

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use secrecy::{ExposeSecret, SecretString};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

use crate::registry::fold;

/// Secrets by name.
pub(super) type Table = BTreeMap<String, StoredSecret>;

/// The whole store.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Content {
    #[serde(rename = "secrets")]
    pub(super) global: Table,
    /// By folded skill id.
    #[serde(deserialize_with = "folded")]
    pub(super) skills: BTreeMap<String, Table>,
    /// Expected name to stored name.
    pub(super) mappings: BTreeMap<String, String>,
}

/// A secret.
#[derive(Default)]
pub(super) struct StoredSecret {
    pub(super) value: Option<SecretString>,
    /// The request that the value was granted with; none: an operator set it.
    pub(super) of: Option<String>,
    /// Not granted yet, by the request that asks for it and no other.
    pub(super) pending: BTreeMap<String, SecretString>,
}

impl StoredSecret {
    /// Whether nothing is left of it.
    pub(super) fn is_empty(&self) -> bool {
        self.value.is_none() && self.pending.is_empty()
    }

    /// Bytes of what waits.
    pub(super) fn waiting_bytes(&self) -> usize {
        let waiting = self.pending.values();
        waiting.map(|value| value.expose_secret().len()).sum()
    }
}

impl Content {
    /// What a skill has, if it has any.
    pub(super) fn of_skill(&self, skill: &str) -> Option<&Table> {
        self.skills.get(&fold(skill))
    }

    /// What a skill has, or the global ones.
    pub(super) fn table(&mut self, skill: Option<&str>) -> &mut Table {
        match skill {
            Some(skill) => self.skills.entry(fold(skill)).or_default(),
            None => &mut self.global,
        }
    }

    /// The file. Reserved at once, so that no copy is left behind where it grew.
    pub(super) fn written(&self) -> Zeroizing<String> {
        let length = |table: &Table| -> usize {
            table
                .iter()
                .map(|(name, kept)| {
                    let value = kept.value.as_ref();
                    let value = value.map_or(0, |value| value.expose_secret().len());
                    let of = kept.of.as_ref().map_or(0, String::len);
                    let requests: usize = kept.pending.keys().map(|id| 16 + 6 * id.len()).sum();
                    // The longest escape of one byte has six.
                    256 + 6 * (name.len() + of + value + kept.waiting_bytes()) + requests
                })
                .sum()
        };
        let skills = self
            .skills
            .iter()
            .map(|(id, table)| 64 + 6 * id.len() + length(table));
        let mappings = self
            .mappings
            .iter()
            .map(|(a, b)| 64 + 6 * (a.len() + b.len()));
        let capacity = 256 + length(&self.global) + skills.sum::<usize>() + mappings.sum::<usize>();
        let mut text = Zeroizing::new(String::with_capacity(capacity));
        text.push_str("# Values for skills; written by `hydrant secrets`.\n");
        text.push_str("[secrets]\n");
        write_table(&mut text, &self.global);
        for (id, table) in self.skills.iter().filter(|(_, table)| !table.is_empty()) {
            text.push_str("[skills.");
            quote(&mut text, id);
            text.push_str("]\n");
            write_table(&mut text, table);
        }
        text.push_str("[mappings]\n");
        for (expected, stored) in &self.mappings {
            quote(&mut text, expected);
            text.push_str(" = ");
            quote(&mut text, stored);
            text.push('\n');
        }
        text
    }
}

fn write_table(text: &mut String, table: &Table) {
    for (name, kept) in table {
        if kept.is_empty() {
            continue;
        }
        quote(text, name);
        text.push_str(" = ");
        match &kept.value {
            Some(value) if kept.of.is_none() && kept.pending.is_empty() => {
                quote(text, value.expose_secret());
            }
            value => {
                let of = kept.of.as_deref().filter(|_| value.is_some());
                let value = value.as_ref().map(SecretString::expose_secret);
                let members = [("value", value), ("of", of)];
                let mut before = "{ ";
                for (key, member) in members {
                    let Some(member) = member else { continue };
                    text.push_str(before);
                    text.push_str(key);
                    text.push_str(" = ");
                    quote(text, member);
                    before = ", ";
                }
                if !kept.pending.is_empty() {
                    text.push_str(before);
                    text.push_str("pending = ");
                    before = "{ ";
                    for (request, value) in &kept.pending {
                        text.push_str(before);
                        quote(text, request);
                        text.push_str(" = ");
                        quote(text, value.expose_secret());
                        before = ", ";
                    }
                    text.push_str(" }");
                }
                text.push_str(" }");
            }
        }
        text.push('\n');
    }
}

/// A basic string of TOML.
fn quote(text: &mut String, value: &str) {
    text.push('"');
    for c in value.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            c if c.is_control() => {
                // Writing to a string does not fail.
                let _ = write!(text, "\\u{:04X}", u32::from(c));
            }
            c => text.push(c),
        }
    }
    text.push('"');
}

fn folded<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, Table>, D::Error> {
    let written = BTreeMap::<String, Table>::deserialize(deserializer)?;
    let mut tables = BTreeMap::new();
    for (id, table) in written {
        if tables.insert(fold(&id), table).is_some() {
            return Err(serde::de::Error::custom("two tables are of one skill"));
        }
    }
    Ok(tables)
}

/// A `String` that becomes a secret at once.
struct Hidden(SecretString);

impl<'de> Deserialize<'de> for Hidden {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = Hidden;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Hidden, E> {
                Ok(Hidden(SecretString::from(text)))
            }

            fn visit_string<E: serde::de::Error>(self, text: String) -> Result<Hidden, E> {
                Ok(Hidden(SecretString::from(text)))
            }
        }

        deserializer.deserialize_str(Text)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Staged {
    value: Option<Hidden>,
    of: Option<String>,
    #[serde(default)]
    pending: Waiting,
    /// Of a `pending` that is no table.
    pending_of: Option<String>,
}

/// Values by request; one that was kept without, by none.
#[derive(Default)]
struct Waiting(BTreeMap<String, SecretString>);

impl<'de> Deserialize<'de> for Waiting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = Waiting;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of requests and values")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Waiting, E> {
                Ok(Waiting(BTreeMap::from([(
                    String::new(),
                    SecretString::from(text),
                )])))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Waiting, A::Error> {
                let mut waiting = BTreeMap::new();
                while let Some((request, value)) = map.next_entry::<String, Hidden>()? {
                    waiting.insert(request, value.0);
                }
                Ok(Waiting(waiting))
            }
        }

        deserializer.deserialize_any(Either)
    }
}

impl<'de> Deserialize<'de> for StoredSecret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = StoredSecret;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, or a table of value and pending")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<StoredSecret, E> {
                Ok(StoredSecret {
                    value: Some(SecretString::from(text)),
                    ..StoredSecret::default()
                })
            }

            fn visit_string<E: serde::de::Error>(self, text: String) -> Result<StoredSecret, E> {
                Ok(StoredSecret {
                    value: Some(SecretString::from(text)),
                    ..StoredSecret::default()
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<StoredSecret, A::Error> {
                let staged = Staged::deserialize(MapAccessDeserializer::new(map))?;
                let mut pending = staged.pending.0;
                if let Some(request) = staged.pending_of
                    && let Some(value) = pending.remove("")
                {
                    pending.insert(request, value);
                }
                Ok(StoredSecret {
                    value: staged.value.map(|hidden| hidden.0),
                    of: staged.of,
                    pending,
                })
            }
        }

        deserializer.deserialize_any(Either)
    }
}
