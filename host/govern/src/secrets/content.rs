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

    /// The file. As much as it takes at most is reserved first, so that no copy is left behind where it grew.
    pub(super) fn written(&self) -> Zeroizing<String> {
        let mut most = Length(0);
        // Neither a count nor a string refuses a text.
        let _ = self.write(&mut most, |text| Quoted {
            text,
            longest: true,
        });
        let mut text = Zeroizing::new(String::with_capacity(most.0));
        let _ = self.write(&mut *text, |text| Quoted {
            text,
            longest: false,
        });
        text
    }

    fn write(&self, out: &mut dyn Write, quoted: fn(&str) -> Quoted<'_>) -> fmt::Result {
        out.write_str("# Values for skills; written by `hydrant secrets`.\n[secrets]\n")?;
        write_table(out, &self.global, quoted)?;
        for (id, table) in self.skills.iter().filter(|(_, table)| !table.is_empty()) {
            writeln!(out, "[skills.{}]", quoted(id))?;
            write_table(out, table, quoted)?;
        }
        out.write_str("[mappings]\n")?;
        for (expected, stored) in &self.mappings {
            writeln!(out, "{} = {}", quoted(expected), quoted(stored))?;
        }
        Ok(())
    }
}

fn write_table(out: &mut dyn Write, table: &Table, quoted: fn(&str) -> Quoted<'_>) -> fmt::Result {
    for (name, kept) in table.iter().filter(|(_, kept)| !kept.is_empty()) {
        write!(out, "{} = ", quoted(name))?;
        let value = kept.value.as_ref().map(SecretString::expose_secret);
        match value {
            Some(value) if kept.of.is_none() && kept.pending.is_empty() => {
                write!(out, "{}", quoted(value))?;
            }
            value => {
                let of = kept.of.as_deref().filter(|_| value.is_some());
                let mut before = "{ ";
                for (key, member) in [("value", value), ("of", of)] {
                    if let Some(member) = member {
                        write!(out, "{before}{key} = {}", quoted(member))?;
                        before = ", ";
                    }
                }
                if !kept.pending.is_empty() {
                    write!(out, "{before}pending = ")?;
                    before = "{ ";
                    for (request, value) in &kept.pending {
                        let value = quoted(value.expose_secret());
                        write!(out, "{before}{} = {value}", quoted(request))?;
                        before = ", ";
                    }
                    out.write_str(" }")?;
                }
                out.write_str(" }")?;
            }
        }
        out.write_char('\n')?;
    }
    Ok(())
}

/// Counts the bytes that are written.
struct Length(usize);

impl Write for Length {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = self.0.saturating_add(text.len());
        Ok(())
    }
}

/// Written as a basic string of TOML.
struct Quoted<'a> {
    text: &'a str,
    /// Whether it is only as long as the string could be.
    longest: bool,
}

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text;
        if self.longest {
            // The longest escape of one byte has six.
            return write!(f, "\"{text}{text}{text}{text}{text}{text}\"");
        }
        f.write_char('"')?;
        for c in text.chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                c if c.is_control() => write!(f, "\\u{:04X}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
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
        String::deserialize(deserializer).map(|text| Self(SecretString::from(text)))
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
                self.visit_string(text.to_owned())
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
