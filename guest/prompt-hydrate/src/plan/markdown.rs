//! A plan as Markdown.

use super::Plan;

impl Plan {
    /// Returns the plan as Markdown. Every text of a plan is one line already.
    #[must_use]
    pub fn markdown(&self) -> String {
        let guardrails = if self.guardrails.is_empty() {
            "none".to_owned()
        } else {
            self.guardrails.join(", ")
        };
        let context = self.relevant_context.iter();
        let context: String = context.map(|line| format!("- {line}\n")).collect();
        let items = self.todos.iter().map(|todo| {
            let (content, active) = (quoted(&todo.content), quoted(&todo.active_form));
            let status = todo.status;
            format!("  {{content: {content}, status: \"{status}\", activeForm: {active}}}")
        });
        let items = items.collect::<Vec<_>>().join(",\n");
        let (intent, workflow, gate) = (&self.intent, &self.workflow, &self.quality_gate);
        format!(
            "## Prompt Hydration\n\n**Intent**: {intent}\n**Workflow**: {workflow} ({gate})\n\
             **Guardrails**: {guardrails}\n\n### Relevant Context\n\n{context}\n\
             ### TodoWrite Plan\n\n```javascript\nTodoWrite(todos=[\n{items}\n])\n```\n"
        )
    }
}

/// A JSON string, non-ASCII as it is.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}
