//! Which clients have to come through a jail.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::client::{Client, Frontend};

/// What a client that did not come through a jail socket may not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JailedMode {
    /// Nothing is refused; it is recorded that the client was not jailed.
    Warn,
    /// Operations with secrets are refused.
    Secrets,
    /// Every operation is refused.
    All,
}

/// The mode of each frontend: in `hydrant.toml` one word for all of them, or a table of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JailedClients {
    /// Default: `warn`.
    pub cli: JailedMode,
    /// Default: `secrets`.
    pub syscall: JailedMode,
    /// Default: `secrets`.
    pub mcp: JailedMode,
    /// Of clients of `hydrant serve`, over the Model Context Protocol too: they are on other machines, or of other users, and
    /// cannot read a secret without hydrant. Default: `warn`.
    pub http: JailedMode,
}

impl Default for JailedClients {
    fn default() -> Self {
        Self {
            cli: JailedMode::Warn,
            syscall: JailedMode::Secrets,
            mcp: JailedMode::Secrets,
            http: JailedMode::Warn,
        }
    }
}

impl JailedClients {
    /// Of a frontend.
    #[must_use]
    pub fn of(&self, frontend: Frontend) -> JailedMode {
        match frontend {
            Frontend::Cli => self.cli,
            Frontend::Syscall => self.syscall,
            Frontend::Mcp => self.mcp,
            Frontend::Http => self.http,
        }
    }

    /// Whether a client may call an operation.
    #[must_use]
    pub fn permits(&self, client: Client, has_secrets: bool) -> bool {
        client.jailed
            || match self.of(client.frontend) {
                JailedMode::Warn => true,
                JailedMode::Secrets => !has_secrets,
                JailedMode::All => false,
            }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Table {
    /// Callers of the command line. Default: `warn`.
    cli: Option<JailedMode>,
    /// Callers of `hydrant syscall`. Default: `secrets`.
    syscall: Option<JailedMode>,
    /// Callers of `hydrant mcp`. Default: `secrets`.
    mcp: Option<JailedMode>,
    /// Callers of `hydrant serve`, over the Model Context Protocol too; none of them is ever in a jail. Default: `warn`.
    http: Option<JailedMode>,
}

impl JsonSchema for JailedClients {
    fn schema_name() -> Cow<'static, str> {
        "JailedClients".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let word = generator.subschema_for::<JailedMode>();
        let table = generator.subschema_for::<Table>();
        json_schema!({"anyOf": [word, table]})
    }
}

impl<'de> Deserialize<'de> for JailedClients {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = JailedClients;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("warn, secrets or all, or a table of them by frontend")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<JailedClients, E> {
                let mode = match text {
                    "warn" => JailedMode::Warn,
                    "secrets" => JailedMode::Secrets,
                    "all" => JailedMode::All,
                    _ => return Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                };
                Ok(JailedClients {
                    cli: mode,
                    syscall: mode,
                    mcp: mode,
                    http: mode,
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<JailedClients, A::Error> {
                let table = Table::deserialize(MapAccessDeserializer::new(map))?;
                let default = JailedClients::default();
                Ok(JailedClients {
                    cli: table.cli.unwrap_or(default.cli),
                    syscall: table.syscall.unwrap_or(default.syscall),
                    mcp: table.mcp.unwrap_or(default.mcp),
                    http: table.http.unwrap_or(default.http),
                })
            }
        }

        deserializer.deserialize_any(Either)
    }
}
