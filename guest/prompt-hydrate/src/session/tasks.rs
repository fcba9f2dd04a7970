//! The task state, from `TodoWrite` or from `TaskCreate` and `TaskUpdate`.

use serde::Deserialize;
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
    single: Vec<Call>,
}

/// A call of `TaskCreate` or `TaskUpdate`.
#[derive(Debug)]
struct Call {
    creates: bool,
    id: String,
    status: Option<Status>,
    text: String,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
    Deleted,
}

impl TaskCalls {
    /// Nothing older can change the state.
    pub(super) fn are_known(&self) -> bool {
        self.list.is_some()
    }

    pub(super) fn call(&mut self, name: &str, input: &Value) {
        let creates = name == "TaskCreate";
        if self.are_known() || self.single.len() >= MAX_CALLS {
        } else if name == "TodoWrite" && self.single.is_empty() {
            let todos = input["todos"].as_array().into_iter().flatten();
            let todos = todos.filter_map(|todo| Some((status(todo)?, text(todo, &["content"]))));
            self.list = count(todos);
        } else if creates || name == "TaskUpdate" {
            let ids = ["taskId", "task_id", "id"];
            let id = ids.iter().find_map(|key| input.get(key));
            let texts = ["subject", "title", "content", "description"];
            self.single.push(Call {
                creates,
                id: match id {
                    Some(Value::String(id)) => id.clone(),
                    id => id.map(Value::to_string).unwrap_or_default(),
                },
                status: status(input),
                text: text(input, if creates { &texts } else { &texts[..3] }),
            });
        }
    }

    /// Returns the state; `None` where no task was ever named.
    pub(super) fn state(self) -> Option<Tasks> {
        if self.single.is_empty() {
            return self.list;
        }
        let mut items: Vec<Call> = Vec::new();
        let mut created = 0_usize;
        for mut call in self.single.into_iter().rev() {
            if call.creates {
                // Ids count from 1 in the order of creation.
                created = created.saturating_add(1);
                call.id = created.to_string();
                call.status = Some(Status::Pending);
            }
            let known = items
                .iter_mut()
                .find(|item| item.id == call.id && (!call.creates || item.text.is_empty()));
            match known {
                Some(item) => {
                    if !call.creates {
                        item.status = call.status.or(item.status);
                    }
                    if !call.text.is_empty() {
                        item.text = call.text;
                    }
                }
                // One that is only updated was created before what was read begins.
                None => items.push(call),
            }
        }
        let items = items.into_iter();
        count(items.filter_map(|item| Some((item.status?, item.text))))
    }
}

fn status(input: &Value) -> Option<Status> {
    Status::deserialize(&input["status"]).ok()
}

fn text(input: &Value, keys: &[&str]) -> String {
    let text = keys.iter().find_map(|key| input[*key].as_str());
    redact::excerpt(text.unwrap_or_default(), CURRENT_CHARS, "...")
}

/// Counts tasks; `None` where there is none.
fn count(items: impl Iterator<Item = (Status, String)>) -> Option<Tasks> {
    let mut tasks = Tasks::default();
    let mut is_empty = true;
    for (status, text) in items {
        let counter = match status {
            Status::Pending => &mut tasks.pending,
            Status::InProgress => {
                if tasks.current.is_none() && !text.is_empty() {
                    tasks.current = Some(text);
                }
                &mut tasks.in_progress
            }
            Status::Completed => &mut tasks.completed,
            Status::Deleted => continue,
        };
        is_empty = false;
        *counter = counter.saturating_add(1);
    }
    (!is_empty).then_some(tasks)
}
