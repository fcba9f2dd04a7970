//! The lines of a transcript, from the last to the first.

use memchr::memmem;
use serde::Deserialize;
use serde_json::Value;

use super::Facts;
use super::collect::Collector;
use crate::hook;

/// Bytes that are read.
const MAX_BYTES: usize = 1024 * 1024;

/// One line.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Entry {
    #[serde(rename = "type")]
    kind: String,
    is_meta: bool,
    is_sidechain: bool,
    /// A summary that stands in a turn of the user.
    is_compact_summary: bool,
    message: Message,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message {
    /// A text or a list of blocks.
    content: Value,
}

/// Returns the facts of a transcript's end.
pub(super) fn read(tail: &str, prompt: &str) -> Facts {
    let mut collector = Collector::new(prompt);
    let calls = memmem::Finder::new("\"tool_use\"");
    let todo = memmem::Finder::new("\"TodoWrite\"");
    let task = memmem::Finder::new("\"Task");
    for line in last_lines(tail).rsplit('\n') {
        // Most lines are long and say nothing that is still missing; they need not be parsed.
        if collector.has_talk() {
            let bytes = line.as_bytes();
            let may_add = if !collector.has_tools() {
                calls.find(bytes).is_some()
            } else if collector.has_tasks() {
                break;
            } else {
                todo.find(bytes).is_some() || task.find(bytes).is_some()
            };
            if !may_add {
                continue;
            }
        }
        if let Ok(entry) = serde_json::from_str::<Entry>(&hook::without_lone_surrogates(line))
            && !(entry.is_meta || entry.is_sidechain || entry.is_compact_summary)
        {
            take(&mut collector, &entry);
        }
    }
    collector.finish()
}

/// The whole lines in the last MiB.
fn last_lines(tail: &str) -> &str {
    match tail.len().checked_sub(MAX_BYTES) {
        None | Some(0) => tail,
        Some(cut) => {
            let rest = tail.get(tail.ceil_char_boundary(cut)..).unwrap_or_default();
            rest.split_once('\n').map_or("", |(_, lines)| lines)
        }
    }
}

fn take(collector: &mut Collector<'_>, entry: &Entry) {
    let blocks = match &entry.message.content {
        Value::Array(blocks) => blocks.as_slice(),
        content => std::slice::from_ref(content),
    };
    let texts: Vec<&str> = blocks.iter().filter_map(text_of).collect();
    match entry.kind.as_str() {
        "user" => collector.user(&texts.join("\n")),
        "assistant" => {
            for block in blocks.iter().rev() {
                if block["type"] == "tool_use"
                    && let Some(name) = block["name"].as_str()
                {
                    collector.tool(name, &block["input"]);
                }
            }
            collector.reply(&texts.join("\n"));
        }
        _ => {}
    }
}

/// The text of a block; those of other types have none.
fn text_of(block: &Value) -> Option<&str> {
    match block {
        Value::String(text) => Some(text),
        block if block["type"] == "text" => block["text"].as_str(),
        _ => None,
    }
}
