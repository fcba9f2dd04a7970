//! A plan as Markdown and as JSON.

use serde::Serialize;

use super::{Plan, Todo};

impl Plan {
    /// The plan as Markdown. Every text of a plan is one line already.
    #[must_use]
    pub fn markdown(&self) -> String {
        let guardrails = if self.guardrails.is_empty() {
            "none".to_owned()
        } else {
            self.guardrails.join(", ")
        };
        let context: String = self
            .relevant_context
            .iter()
            .map(|line| format!("- {line}\n"))
            .collect();
        let items: Vec<String> = self
            .todos
            .iter()
            .map(|todo| {
                format!(
                    "  {{content: {}, status: \"pending\", activeForm: {}}}",
                    quoted(&todo.content),
                    quoted(&todo.active_form)
                )
            })
            .collect();
        format!(
            "## Prompt Hydration\n\n**Intent**: {}\n**Workflow**: {} ({})\n**Guardrails**: {guardrails}\n\n\
             ### Relevant Context\n\n{context}\n\
             ### TodoWrite Plan\n\n```javascript\nTodoWrite(todos=[\n{}\n])\n```\n",
            self.intent,
            self.workflow,
            self.quality_gate,
            items.join(",\n")
        )
    }

    /// The plan as one line of JSON, with its final newline.
    #[must_use]
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string(&self.object()).unwrap_or_default();
        text.push('\n');
        text
    }

    /// The plan as a member of a response.
    #[must_use]
    pub fn object(&self) -> impl Serialize + use<> {
        Object {
            schema: "hydrant.plan/1",
            intent: self.intent.clone(),
            workflow: self.workflow.clone(),
            quality_gate: self.quality_gate.clone(),
            guardrails: self.guardrails.clone(),
            relevant_context: self.relevant_context.clone(),
            todos: self.todos.iter().map(Item::of).collect(),
            commit_required: self.commit_required,
            confidence: two_places(self.confidence),
            abstained: self.abstained,
            alternatives: self
                .alternatives
                .iter()
                .map(|(workflow, score)| Alternative {
                    workflow: workflow.clone(),
                    score: two_places(*score),
                })
                .collect(),
            skill: self.skill.clone(),
            planner: self.planner,
            degraded: self.degraded.clone(),
        }
    }
}

/// The members of a plan, in their order.
#[derive(Serialize)]
struct Object {
    schema: &'static str,
    intent: String,
    workflow: String,
    quality_gate: String,
    guardrails: Vec<String>,
    relevant_context: Vec<String>,
    todos: Vec<Item>,
    commit_required: bool,
    confidence: f64,
    abstained: bool,
    alternatives: Vec<Alternative>,
    skill: Option<String>,
    planner: &'static str,
    degraded: Vec<String>,
}

/// Exactly the schema of `TodoWrite`.
#[derive(Serialize)]
struct Item {
    content: String,
    status: &'static str,
    #[serde(rename = "activeForm")]
    active_form: String,
}

impl Item {
    fn of(todo: &Todo) -> Self {
        Self {
            content: todo.content.clone(),
            status: "pending",
            active_form: todo.active_form.clone(),
        }
    }
}

#[derive(Serialize)]
struct Alternative {
    workflow: String,
    score: f64,
}

/// A JSON string, non-ASCII as it is.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// 0 to 1, rounded; what is no number is 0.
fn two_places(number: f64) -> f64 {
    if number.is_finite() {
        (number.clamp(0.0, 1.0) * 100.0).round() / 100.0
    } else {
        0.0
    }
}
