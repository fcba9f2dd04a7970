//! Where in an answer a value stands, as documents write it.

use serde_json::Value;

/// Steps into a JSON value; none: the whole of it. Written as JSON Pointer (`/user/api_key`) or with dots
/// (`user.api_key`, `$.keys[0].value`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path(Vec<String>);

impl Path {
    /// None where it is neither.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.starts_with('/') {
            let steps = text.split('/').skip(1);
            let plain = |step: &str| step.replace("~1", "/").replace("~0", "~");
            return Some(Self(steps.map(plain).collect()));
        }
        let dotted = match text.strip_prefix('$') {
            Some("") => return Some(Self(Vec::new())),
            Some(rest) if rest.starts_with('[') => rest,
            Some(rest) => rest.strip_prefix('.')?,
            None if text.is_empty() => return Some(Self(Vec::new())),
            None => text,
        };
        let mut steps = Vec::new();
        for (number, part) in dotted.split('.').enumerate() {
            let (name, mut indexes) = part.split_at(part.find('[').unwrap_or(part.len()));
            // `$[0]` begins with an index.
            if !name.is_empty() {
                steps.push(name.to_owned());
            } else if number > 0 || indexes.is_empty() {
                return None;
            }
            while !indexes.is_empty() {
                let (index, rest) = indexes.strip_prefix('[')?.split_once(']')?;
                // As JSON Pointer writes it, or it would find nothing.
                index
                    .parse::<usize>()
                    .ok()
                    .filter(|number| number.to_string() == index)?;
                steps.push(index.to_owned());
                indexes = rest;
            }
        }
        Some(Self(steps))
    }

    /// As JSON Pointer.
    #[must_use]
    pub fn pointer(&self) -> String {
        let escaped = |step: &String| format!("/{}", step.replace('~', "~0").replace('/', "~1"));
        self.0.iter().map(escaped).collect()
    }

    /// Whether it leads to this place or into it.
    #[must_use]
    pub fn begins_with(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }

    /// Whether a step is `*`, which stands for every element elsewhere.
    #[must_use]
    pub fn has_star(&self) -> bool {
        self.0.iter().any(|step| step == "*")
    }

    /// What stands there.
    #[must_use]
    pub fn get<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        value.pointer(&self.pointer())
    }

    /// The same, to be changed.
    pub fn get_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        value.pointer_mut(&self.pointer())
    }
}
