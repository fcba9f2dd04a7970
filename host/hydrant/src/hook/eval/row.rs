//! The rows of an evaluation file: JSON Lines.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Bytes of a file.
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// A labelled prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Where it stands in the file, from 1 on.
    pub line: usize,
    /// What reports call it.
    pub id: Option<String>,
    /// What the user typed.
    pub prompt: String,
    /// The label.
    pub expected: String,
    /// Every route that counts as right.
    pub acceptable: Vec<String>,
    /// Routes that are worse than wrong.
    pub forbidden: Vec<String>,
    /// Whether it asks for a change.
    pub mutating: Option<bool>,
    /// The session before it.
    pub turns: Option<Vec<Turn>>,
    /// Whether the hook has to skip it; rows that say so are scored on that alone.
    pub skip: Option<bool>,
    /// Installed skills, as the planner takes them.
    pub skills: Option<Value>,
}

/// One turn of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// `user` or `assistant`.
    pub role: String,
    /// What was said.
    pub text: String,
}

/// A line that is no row.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct MalformedRow {
    /// From 1 on.
    pub line: usize,
    /// Why.
    pub reason: String,
}

/// Other members, such as notes of who labelled it, are nobody's business here.
#[derive(Deserialize)]
struct Members {
    prompt: String,
    #[serde(alias = "primary")]
    expected: Option<String>,
    acceptable: Option<Vec<String>>,
    #[serde(default)]
    forbidden: Vec<String>,
    mutating: Option<bool>,
    session_context: Option<Vec<Turn>>,
    skip_hydration: Option<bool>,
    skills: Option<Value>,
    id: Option<Value>,
}

/// The rows of a file; blank lines are none.
///
/// # Errors
/// [`MalformedRow`]: the first line that is none.
pub fn read_rows(text: &str) -> Result<Vec<Row>, MalformedRow> {
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| {
            let number = index.saturating_add(1);
            row(number, line).map_err(|reason| MalformedRow {
                line: number,
                reason,
            })
        })
        .collect()
}

fn row(line: usize, text: &str) -> Result<Row, String> {
    let members: Members = serde_json::from_str(text).map_err(|error| error.to_string())?;
    // Of a row that is only to be skipped nobody needs to know where it would go.
    let skipped = members.skip_hydration == Some(true);
    let expected = match (members.expected, &members.acceptable) {
        (Some(expected), _) => expected,
        (None, Some(acceptable)) if !acceptable.is_empty() => {
            acceptable.first().cloned().unwrap_or_default()
        }
        (None, _) if skipped => String::new(),
        (None, _) => return Err("expected or primary is missing".to_owned()),
    };
    let acceptable = match members.acceptable {
        Some(acceptable) if acceptable.is_empty() && !skipped => {
            return Err("acceptable is empty".to_owned());
        }
        Some(acceptable) => acceptable,
        None => vec![expected.clone()],
    };
    if let Some(turn) = members
        .session_context
        .iter()
        .flatten()
        .find(|turn| !matches!(turn.role.as_str(), "user" | "assistant" | "agent"))
    {
        return Err(format!("the role {:?} is not known", turn.role));
    }
    if let Some(skills) = &members.skills
        && !(skills.is_array() || skills.is_null())
    {
        return Err("skills is no list".to_owned());
    }
    Ok(Row {
        line,
        id: members.id.map(|id| match id {
            Value::String(id) => id,
            other => other.to_string(),
        }),
        prompt: members.prompt,
        expected,
        acceptable,
        forbidden: members.forbidden,
        mutating: members.mutating,
        turns: members.session_context,
        skip: members.skip_hydration,
        skills: members.skills.filter(|skills| !skills.is_null()),
    })
}

impl Row {
    /// As the planner takes it.
    #[must_use]
    pub fn request(&self) -> Value {
        let mut members = serde_json::Map::new();
        members.insert("prompt".into(), self.prompt.clone().into());
        if let Some(turns) = &self.turns {
            members.insert("turns".into(), serde_json::json!(turns));
        }
        if let Some(skills) = &self.skills {
            members.insert("skills".into(), skills.clone());
        }
        Value::Object(members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_its_label_under_either_name() {
        let rows = read_rows(
            "{\"prompt\":\"a\",\"expected\":\"x\"}\n\n{\"prompt\":\"b\",\"primary\":\"y\",\"acceptable\":[\"y\",\"z\"],\"id\":7}\n",
        )
        .unwrap();
        let labels: Vec<_> = rows
            .iter()
            .map(|row| (row.line, row.expected.as_str(), row.acceptable.len()))
            .collect();
        assert_eq!(labels, [(1, "x", 1), (3, "y", 2)]);
        assert_eq!(rows.last().unwrap().id.as_deref(), Some("7"));
    }

    #[test]
    fn a_malformed_row_is_told_with_its_line() {
        for bad in [
            "{}",
            "[]",
            "{\"prompt\":\"a\"}",
            "{\"prompt\":1,\"expected\":\"x\"}",
            "{\"prompt\":\"a\",\"expected\":\"x\",\"acceptable\":[]}",
            "{\"prompt\":\"a\",\"expected\":\"x\",\"mutating\":\"yes\"}",
            "{\"prompt\":\"a\",\"expected\":\"x\",\"skills\":\"s\"}",
            "{\"prompt\":\"a\",\"expected\":\"x\",\"session_context\":[{\"role\":\"god\",\"text\":\"\"}]}",
            "{\"prompt\":\"a\",\"expected\":\"x\"",
        ] {
            let file = format!("{{\"prompt\":\"a\",\"expected\":\"x\"}}\n\n{bad}\n");
            assert_eq!(read_rows(&file).unwrap_err().line, 3, "{bad}");
        }
    }

    #[test]
    fn a_row_that_is_to_be_skipped_needs_no_label() {
        let rows = read_rows("{\"prompt\":\"/x\",\"skip_hydration\":true}").unwrap();
        assert_eq!(rows.first().unwrap().skip, Some(true));
    }
}
