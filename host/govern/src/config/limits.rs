//! What a sandbox stage may ask for, and what a run may use.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// The most that a sandbox stage may ask for; a higher wish is capped. The defaults are what a command gets that asks for
/// nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(transform = allow_underscores)]
pub struct Limits {
    /// Seconds of processor time. Default: 60.
    #[serde(alias = "cpu_seconds")]
    pub cpu_seconds: u64,
    /// Memory in mebibytes. Default: 512.
    #[serde(alias = "memory_mb")]
    pub memory_mb: u64,
    /// Milliseconds from start to end. Default: 30000.
    #[serde(alias = "wall_clock_ms")]
    pub wall_clock_ms: u64,
    /// Processes and threads at one time. Default: 64.
    pub pids: u64,
    /// Bytes that are written. Default: 52428800.
    #[serde(alias = "output_bytes")]
    pub output_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            cpu_seconds: 60,
            memory_mb: 512,
            wall_clock_ms: 30_000,
            pids: 64,
            output_bytes: 52_428_800,
        }
    }
}

impl Limits {
    /// By its name in a policy's `resources`; none of another name.
    #[must_use]
    pub fn of(&self, resource: &str) -> Option<u64> {
        Some(match resource {
            "cpu-seconds" => self.cpu_seconds,
            "memory-mb" => self.memory_mb,
            "wall-clock-ms" => self.wall_clock_ms,
            "pids" => self.pids,
            "output-bytes" => self.output_bytes,
            _ => return None,
        })
    }
}

/// How much of a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// That much; 0 is nothing.
    AtMost(u64),
    /// `"unlimited"`, from configuration only.
    Unlimited,
}

/// What happens at the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetPolicy {
    /// The call is refused.
    #[default]
    HardStop,
    /// The call is refused and a `budget` request opened.
    ApprovalRequired,
    /// The call goes on with a warning.
    SoftWarn,
}

/// One dimension: in `hydrant.toml` a number, `"unlimited"`, or a table of `limit` and `policy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DimensionBudget {
    /// None: the default of its dimension.
    pub limit: Option<Limit>,
    /// What happens at the limit.
    pub policy: BudgetPolicy,
}

/// What a run may use, by dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(transform = allow_underscores)]
pub struct Budgets {
    /// Calls. Default: 50.
    pub steps: Option<DimensionBudget>,
    /// Milliseconds. Default: 60000.
    #[serde(alias = "wall_clock_ms")]
    pub wall_clock_ms: Option<DimensionBudget>,
    /// Bytes sent and received. Default: 10485760.
    #[serde(alias = "network_bytes")]
    pub network_bytes: Option<DimensionBudget>,
    /// Bytes written. Default: 52428800.
    #[serde(alias = "storage_bytes")]
    pub storage_bytes: Option<DimensionBudget>,
    /// Milliseconds of processor time. Default: 120000.
    #[serde(alias = "cpu_ms")]
    pub cpu_ms: Option<DimensionBudget>,
    /// Mebibytes at the peak. Default: 512.
    #[serde(alias = "memory_mb")]
    pub memory_mb: Option<DimensionBudget>,
    /// Tokens, where a frontend reports them. Default: unlimited.
    #[serde(alias = "llm_tokens")]
    pub llm_tokens: Option<DimensionBudget>,
    /// Whole dollars, where a frontend reports them. Default: unlimited.
    #[serde(alias = "cost_usd", deserialize_with = "dollars")]
    pub cost_usd: Option<DimensionBudget>,
}

/// The aliases with `_` in place of `-`, which a schema has no word for. They only lead to the names that they stand for.
fn allow_underscores(schema: &mut Schema) {
    let Some(properties) = schema
        .get_mut("properties")
        .and_then(serde_json::Value::as_object_mut)
    else {
        return;
    };
    let aliases: Vec<_> = properties
        .keys()
        .filter(|name| name.contains('-'))
        .map(|name| {
            let property = json_schema!({"description": format!("The same as `{name}`.")});
            (name.replace('-', "_"), property.to_value())
        })
        .collect();
    properties.extend(aliases);
}

impl JsonSchema for Limit {
    fn schema_name() -> Cow<'static, str> {
        "Limit".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [{"type": "integer", "minimum": 0}, {"const": "unlimited"}]})
    }
}

impl JsonSchema for DimensionBudget {
    fn schema_name() -> Cow<'static, str> {
        "DimensionBudget".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let limit = generator.subschema_for::<Limit>();
        let table = generator.subschema_for::<Table>();
        json_schema!({"anyOf": [limit, table]})
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl Visitor<'_> for Either {
            type Value = Limit;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number that is not negative, or \"unlimited\"")
            }

            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Limit, E> {
                u64::try_from(value)
                    .map(Limit::AtMost)
                    .map_err(|_| E::invalid_value(serde::de::Unexpected::Signed(value), &self))
            }

            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Limit, E> {
                Ok(Limit::AtMost(value))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Limit, E> {
                match text {
                    "unlimited" => Ok(Limit::Unlimited),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }
        }

        deserializer.deserialize_any(Either)
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Table {
    /// How much: a number, or `unlimited`. Default: that of the dimension.
    limit: Option<Limit>,
    /// What happens at the limit: `hard-stop` (default), `approval-required` or `soft-warn`.
    #[serde(default)]
    policy: BudgetPolicy,
}

impl<'de> Deserialize<'de> for DimensionBudget {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = DimensionBudget;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number, \"unlimited\", or a table of limit and policy")
            }

            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<DimensionBudget, E> {
                limited(serde::de::value::I64Deserializer::<E>::new(value))
            }

            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<DimensionBudget, E> {
                limited(serde::de::value::U64Deserializer::<E>::new(value))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<DimensionBudget, E> {
                limited(serde::de::value::StrDeserializer::<E>::new(text))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<DimensionBudget, A::Error> {
                let table = Table::deserialize(MapAccessDeserializer::new(map))?;
                Ok(DimensionBudget {
                    limit: table.limit,
                    policy: table.policy,
                })
            }
        }

        deserializer.deserialize_any(Either)
    }
}

fn dollars<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<DimensionBudget>, D::Error> {
    let mut budget = DimensionBudget::deserialize(deserializer)?;
    if let Some(Limit::AtMost(dollars)) = &mut budget.limit {
        // Held in millionths.
        *dollars = dollars.saturating_mul(1_000_000);
    }
    Ok(Some(budget))
}

fn limited<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DimensionBudget, D::Error> {
    Ok(DimensionBudget {
        limit: Some(Limit::deserialize(deserializer)?),
        policy: BudgetPolicy::HardStop,
    })
}
