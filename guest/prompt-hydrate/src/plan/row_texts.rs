//! How commit and task items are told by their text, in our own plans as in a model's.

/// Whether an item's text is that of a commit.
pub(super) fn is_commit(text: &str) -> bool {
    first_word(text) == "commit"
}

/// Whether it opens the tracking task.
pub(super) fn is_task_open(text: &str, tracker: &str) -> bool {
    first_word(text) == "create" && names_task(text, tracker)
}

/// Whether it closes the tracking task.
pub(super) fn is_task_close(text: &str, tracker: &str) -> bool {
    let lower = text.to_lowercase();
    (first_word(&lower) == "close" || lower.starts_with("update and close"))
        && names_task(text, tracker)
}

fn names_task(text: &str, tracker: &str) -> bool {
    let lower = text.to_lowercase();
    let start: String = lower.chars().take(80).collect();
    !tracker.is_empty()
        && start.contains(&tracker.to_lowercase())
        && (start.contains("task") || start.contains("issue"))
}

/// Whether it reads as one of them.
pub(super) fn reads_as_row(text: &str, tracker: &str) -> bool {
    is_commit(text) || is_task_open(text, tracker) || is_task_close(text, tracker)
}

fn first_word(text: &str) -> String {
    text.split(|c: char| !c.is_alphanumeric())
        .find(|word| !word.is_empty())
        .unwrap_or_default()
        .to_lowercase()
}
