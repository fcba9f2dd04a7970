//! How deep and how often schemas apply schemas: what a check would need of the stack and of time, before it runs.

use std::collections::HashMap;

use kit::SkillError;
use serde_json::{Map, Value, json};

use crate::document::Document;

/// Values of a schema at most.
const VALUES: usize = 200_000;

/// Regular expressions of a schema at most.
const PATTERNS: usize = 20_000;

/// Schemas that apply one another to one value at most, in a row.
const CHAIN: usize = 200;

/// Schemas that apply one another down to the deepest value of an instance at most, in a row.
const NESTED: usize = 1000;

/// Ways at most in which a schema leads to others that apply to the same value.
const WAYS: usize = 1_000_000;

/// Which schemas apply which, by position.
pub(crate) struct Chains {
    schemas: Vec<Applied>,
    /// Each schema behind those that it applies to the same value, but for those that lead back to it.
    order: Vec<usize>,
    /// Where in `order` each schema is.
    rank: Vec<usize>,
}

/// What a schema applies.
#[derive(Default)]
struct Applied {
    /// To the same value.
    here: Vec<usize>,
    /// To values in it.
    inner: Vec<usize>,
}

impl Chains {
    /// # Errors
    /// `too_large`: a schema that is larger, or leads further, than a check can follow.
    pub(crate) fn of(schema: &Value) -> Result<Self, SkillError> {
        let found = Found::walk(schema)?;
        let schemas = found.applied();
        let order = order(&schemas);
        let mut rank = vec![usize::MAX; schemas.len()];
        for (position, at) in order.iter().enumerate() {
            set(&mut rank, *at, position);
        }
        let chains = Self {
            schemas,
            order,
            rank,
        };
        let longest = chains.layer(&vec![0; chains.schemas.len()]);
        if longest.iter().any(|length| *length > CHAIN) {
            return Err(too_large("depth", "schemas refer on to schemas too often"));
        }
        if chains.ways().iter().any(|ways| *ways > WAYS) {
            return Err(too_large(
                "work",
                "schemas lead to schemas in too many ways",
            ));
        }
        Ok(chains)
    }

    /// # Errors
    /// `too_large` when a check would go deeper than the stack holds.
    pub(crate) fn bear(&self, document: &Document) -> Result<(), SkillError> {
        let mut below = vec![0; self.schemas.len()];
        for _ in 0..=document.depth() {
            let next = self.layer(&below);
            if next.first().is_some_and(|length| *length > NESTED) {
                return Err(too_large(
                    "depth",
                    "`json` is nested too deep for a schema that applies so many to each level",
                ));
            }
            if next == below {
                break;
            }
            below = next;
        }
        Ok(())
    }

    /// The longest row that each schema begins, when `below` has those for the values in the value.
    fn layer(&self, below: &[usize]) -> Vec<usize> {
        let mut longest = vec![0; self.schemas.len()];
        for at in &self.order {
            let here = self.behind(*at).map(|next| get(&longest, next));
            let inner = self.schemas.get(*at).into_iter().flat_map(|a| &a.inner);
            let inner = inner.map(|next| get(below, *next));
            let most = here.chain(inner).max().unwrap_or(0);
            set(&mut longest, *at, most.saturating_add(1));
        }
        longest
    }

    /// In how many ways each schema leads to others that apply to the same value.
    fn ways(&self) -> Vec<usize> {
        let mut ways = vec![0; self.schemas.len()];
        for at in &self.order {
            let sum = self
                .behind(*at)
                .fold(1_usize, |sum, next| sum.saturating_add(get(&ways, next)));
            set(&mut ways, *at, sum);
        }
        ways
    }

    /// What a schema applies to the same value, without what leads back.
    fn behind(&self, at: usize) -> impl Iterator<Item = usize> {
        let own = get(&self.rank, at);
        let here = self.schemas.get(at).into_iter().flat_map(|a| &a.here);
        here.copied()
            .filter(move |next| get(&self.rank, *next) < own)
    }
}

fn get(list: &[usize], at: usize) -> usize {
    list.get(at).copied().unwrap_or(0)
}

fn set(list: &mut [usize], at: usize, value: usize) {
    if let Some(place) = list.get_mut(at) {
        *place = value;
    }
}

/// Depth first, without recursion.
fn order(schemas: &[Applied]) -> Vec<usize> {
    let mut seen = vec![0_usize; schemas.len()];
    let mut order = Vec::with_capacity(schemas.len());
    for start in 0..schemas.len() {
        if get(&seen, start) != 0 {
            continue;
        }
        set(&mut seen, start, 1);
        let mut open = vec![(start, 0_usize)];
        while let Some((at, tried)) = open.last_mut() {
            let next = schemas.get(*at).and_then(|a| a.here.get(*tried)).copied();
            *tried = tried.saturating_add(1);
            match next {
                Some(next) if get(&seen, next) == 0 => {
                    set(&mut seen, next, 1);
                    open.push((next, 0));
                }
                Some(_) => {}
                None => {
                    order.push(*at);
                    open.pop();
                }
            }
        }
    }
    order
}

/// The objects of a schema; each may be a schema.
struct Found<'a> {
    /// With the root of the resource it is in.
    objects: Vec<(&'a Map<String, Value>, &'a Value)>,
    places: HashMap<*const Value, usize>,
    /// Anchors and identifiers, with the objects that have them.
    names: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Found<'a> {
    fn walk(schema: &'a Value) -> Result<Self, SkillError> {
        let mut found = Self {
            objects: Vec::new(),
            places: HashMap::new(),
            names: HashMap::new(),
        };
        let (mut values, mut patterns) = (0_usize, 0_usize);
        let mut pending = vec![(schema, schema)];
        while let Some((value, root)) = pending.pop() {
            values = values.saturating_add(1);
            match value {
                Value::Array(items) => pending.extend(items.iter().map(|item| (item, root))),
                Value::Object(members) => {
                    let named = members.get("patternProperties").and_then(Value::as_object);
                    patterns = patterns
                        .saturating_add(usize::from(members.contains_key("pattern")))
                        .saturating_add(named.map_or(0, Map::len));
                    let root = found.add(value, members, root);
                    pending.extend(members.values().map(|member| (member, root)));
                }
                _ => {}
            }
            if values > VALUES || patterns > PATTERNS {
                return Err(too_large(
                    "work",
                    "`schema` has too many values or patterns",
                ));
            }
        }
        Ok(found)
    }

    /// The root of the resource that the object is in.
    fn add(
        &mut self,
        value: &'a Value,
        members: &'a Map<String, Value>,
        root: &'a Value,
    ) -> &'a Value {
        let at = self.objects.len();
        let mut root = root;
        for keyword in ["$anchor", "$dynamicAnchor", "$id", "id"] {
            let Some(Value::String(name)) = members.get(keyword) else {
                continue;
            };
            self.names.entry(name).or_default().push(at);
            if keyword.ends_with("id") && !name.starts_with('#') {
                root = value;
            }
        }
        self.places.insert(std::ptr::from_ref(value), at);
        self.objects.push((members, root));
        root
    }

    /// One entry for each object, and behind them one for each name, which stands for all that have it.
    fn applied(mut self) -> Vec<Applied> {
        let names = std::mem::take(&mut self.names);
        let mut groups = HashMap::new();
        let mut behind = Vec::new();
        for (name, here) in names {
            let at = self.objects.len().saturating_add(behind.len());
            groups.insert(name.trim_start_matches('#'), at);
            let inner = Vec::new();
            behind.push(Applied { here, inner });
        }
        let of_object = |(members, root): &(&Map<String, Value>, &Value)| {
            let mut applied = Applied::default();
            for (keyword, value) in *members {
                self.apply(&mut applied, keyword, value, root, &groups);
            }
            applied
        };
        let mut schemas: Vec<Applied> = self.objects.iter().map(of_object).collect();
        schemas.append(&mut behind);
        schemas
    }

    fn apply(
        &self,
        applied: &mut Applied,
        keyword: &str,
        value: &Value,
        root: &Value,
        groups: &HashMap<&str, usize>,
    ) {
        match (keyword, value) {
            ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
                applied.here.extend(self.target(reference, root, groups));
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(list)) => {
                applied.here.extend(list.iter().filter_map(|s| self.at(s)));
            }
            ("not" | "if" | "then" | "else", schema) => applied.here.extend(self.at(schema)),
            ("dependentSchemas" | "dependencies", Value::Object(map)) => {
                applied.here.extend(map.values().filter_map(|s| self.at(s)));
            }
            ("properties" | "patternProperties", Value::Object(map)) => {
                applied
                    .inner
                    .extend(map.values().filter_map(|s| self.at(s)));
            }
            ("items" | "prefixItems", Value::Array(list)) => {
                applied.inner.extend(list.iter().filter_map(|s| self.at(s)));
            }
            (
                "items"
                | "additionalItems"
                | "contains"
                | "additionalProperties"
                | "propertyNames"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                schema,
            ) => applied.inner.extend(self.at(schema)),
            _ => {}
        }
    }

    fn at(&self, value: &Value) -> Option<usize> {
        self.places.get(&std::ptr::from_ref(value)).copied()
    }

    /// What a reference leads to, when that is in the schema.
    fn target(
        &self,
        reference: &str,
        root: &Value,
        groups: &HashMap<&str, usize>,
    ) -> Option<usize> {
        match reference.strip_prefix('#') {
            Some("") => self.at(root),
            Some(pointer) if pointer.starts_with('/') => self.at(root.pointer(pointer)?),
            Some(anchor) => groups.get(anchor).copied(),
            None => groups.get(reference).copied(),
        }
    }
}

fn too_large(reason: &str, message: &str) -> SkillError {
    SkillError::new("too_large", message).with_details(json!({"reason": reason}).to_string())
}
