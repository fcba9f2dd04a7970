//! The task state, from `TodoWrite` or from `TaskCreate` and `TaskUpdate`.

use serde_json::Value;

use super::Tasks;
use crate::redact;

const CURRENT_CHARS: usize = 200;

/// Calls of one tail that are kept.
const MAX_CALLS: usize = 2_000;

/// The calls so far; the newest come first.
#[derive(Debug, Default)]
pub(super) struct TaskCalls {
    /// The newest list that is not empty, if no single call is newer.
    list: Option<Tasks>,
    /// Newest first.
    single: Vec<Call>,
}

#[derive(Debug)]
enum Call {
    Create {
        text: String,
    },
    Update {
        id: String,
        status: Option<Status>,
        text: Option<String>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Pending,
    InProgress,
    Completed,
    Deleted,
}

impl Status {
    fn parse(value: Option<&Value>) -> Option<Self> {
        match value?.as_str()? {
            "pending" => Some(Self::Pending),
            "in_progress" => Some(Self::InProgress),
            "completed" => Some(Self::Completed),
            "deleted" => Some(Self::Deleted),
            _ => None,
        }
    }
}

impl TaskCalls {
    /// Nothing older can change the state.
    pub(super) fn are_known(&self) -> bool {
        self.list.is_some()
    }

    pub(super) fn call(&mut self, name: &str, input: &Value) {
        if self.list.is_some() {
            return;
        }
        let text = |keys: &[&str]| {
            let text = keys.iter().find_map(|key| input.get(key)?.as_str());
            text.map(|text| redact::excerpt(text, CURRENT_CHARS, "..."))
        };
        let call = match name {
            "TodoWrite" if self.single.is_empty() => {
                self.list = list(input);
                return;
            }
            "TaskCreate" => Call::Create {
                text: text(&["subject", "title", "content", "description"]).unwrap_or_default(),
            },
            "TaskUpdate" => {
                let id = ["taskId", "task_id", "id"]
                    .iter()
                    .find_map(|key| input.get(key));
                Call::Update {
                    id: id.map(identifier).unwrap_or_default(),
                    status: Status::parse(input.get("status")),
                    text: text(&["subject", "title", "content"]),
                }
            }
            _ => return,
        };
        if self.single.len() < MAX_CALLS {
            self.single.push(call);
        }
    }

    /// `None`: no task was ever named.
    pub(super) fn state(self) -> Option<Tasks> {
        if self.single.is_empty() {
            return self.list;
        }
        let mut items: Vec<(String, Status, String)> = Vec::new();
        let mut created = 0_usize;
        for call in self.single.into_iter().rev() {
            match call {
                // Ids count from 1 in the order of creation.
                Call::Create { text } => {
                    created = created.saturating_add(1);
                    let id = created.to_string();
                    match items
                        .iter_mut()
                        .find(|(known, _, known_text)| *known == id && known_text.is_empty())
                    {
                        Some(item) => item.2 = text,
                        None => items.push((id, Status::Pending, text)),
                    }
                }
                Call::Update { id, status, text } => {
                    let known = items.iter_mut().find(|(known, _, _)| *known == id);
                    match (known, status) {
                        (Some(item), status) => {
                            item.1 = status.unwrap_or(item.1);
                            item.2 = text.unwrap_or_else(|| std::mem::take(&mut item.2));
                        }
                        // Created before what was read begins.
                        (None, Some(status)) => items.push((id, status, text.unwrap_or_default())),
                        (None, None) => {}
                    }
                }
            }
        }
        let items = items
            .iter()
            .map(|(_, status, text)| (*status, text.as_str()));
        count(items)
    }
}

fn identifier(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

/// Of `TodoWrite`; none of an empty list.
fn list(input: &Value) -> Option<Tasks> {
    let todos = input.get("todos")?.as_array()?;
    let items: Vec<(Status, String)> = todos
        .iter()
        .filter_map(|todo| {
            let status = Status::parse(todo.get("status"))?;
            let text = todo
                .get("content")
                .and_then(Value::as_str)
                .unwrap_or_default();
            Some((status, redact::excerpt(text, CURRENT_CHARS, "...")))
        })
        .collect();
    count(items.iter().map(|(status, text)| (*status, text.as_str())))
}

fn count<'a>(items: impl Iterator<Item = (Status, &'a str)>) -> Option<Tasks> {
    let mut tasks = Tasks::default();
    let mut any = false;
    for (status, text) in items {
        let counter = match status {
            Status::Pending => &mut tasks.pending,
            Status::InProgress => {
                if tasks.current.is_none() && !text.is_empty() {
                    tasks.current = Some(text.to_owned());
                }
                &mut tasks.in_progress
            }
            Status::Completed => &mut tasks.completed,
            Status::Deleted => continue,
        };
        any = true;
        *counter = counter.saturating_add(1);
    }
    any.then_some(tasks)
}
