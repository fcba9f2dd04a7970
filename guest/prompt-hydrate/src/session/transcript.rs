//! The lines of a transcript, from the last to the first.

use std::fmt;

use memchr::memmem;
use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::Facts;
use super::collect::Collector;
use crate::hook;

/// bytes that are read.
const MAX_BYTES: usize = 1024 * 1024;

/// One line.
#[derive(Debug, Deserialize)]
struct Entry {
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(default, rename = "isMeta")]
    is_meta: bool,
    #[serde(default, rename = "isSidechain")]
    is_sidechain: bool,
    /// A summary that stands in a turn of the user.
    #[serde(default, rename = "isCompactSummary")]
    is_summary: bool,
    message: Message,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    User,
    Assistant,
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct Message {
    content: Content,
}

#[derive(Debug)]
enum Content {
    Text(String),
    Blocks(Vec<Block>),
}

/// A block of a message; those of other types are passed over.
#[derive(Debug)]
enum Block {
    Text(String),
    ToolUse { name: String, input: Value },
    Other,
}

/// The facts of a transcript's end.
pub(super) fn read(tail: &str, prompt: &str) -> Facts {
    let cut = tail.len().checked_sub(MAX_BYTES);
    let tail = match cut.filter(|cut| *cut > 0) {
        // The first line of what is left is a part of one.
        Some(cut) => {
            let rest = tail.get(tail.ceil_char_boundary(cut)..).unwrap_or_default();
            rest.split_once('\n').map_or("", |(_, lines)| lines)
        }
        None => tail,
    };
    let mut collector = Collector::new(prompt);
    let calls = memmem::Finder::new("\"tool_use\"");
    let todo = memmem::Finder::new("\"TodoWrite\"");
    let task = memmem::Finder::new("\"Task");
    for line in tail.rsplit('\n') {
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
        if let Ok(entry) = serde_json::from_str::<Entry>(&hook::repaired(line)) {
            take(&mut collector, entry);
        }
    }
    collector.finish()
}

fn take(collector: &mut Collector<'_>, entry: Entry) {
    if entry.is_meta || entry.is_sidechain || entry.is_summary {
        return;
    }
    let blocks = match entry.message.content {
        Content::Text(text) => vec![Block::Text(text)],
        Content::Blocks(blocks) => blocks,
    };
    let text = || {
        let texts = blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            Block::ToolUse { .. } | Block::Other => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    };
    match entry.kind {
        Kind::User => collector.user(&text()),
        Kind::Assistant => {
            for block in blocks.iter().rev() {
                if let Block::ToolUse { name, input } = block {
                    collector.tool(name, input);
                }
            }
            collector.reply(&text());
        }
        Kind::Other => {}
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of blocks")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Content, E> {
        Ok(Content::Text(text.to_owned()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Content, E> {
        Ok(Content::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Content, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = seq.next_element()? {
            blocks.push(block);
        }
        Ok(Content::Blocks(blocks))
    }
}

/// The members of a block that are used; results of tools, which are most of a transcript, are passed over unread.
#[derive(Debug, Deserialize)]
struct Members {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<String>,
    name: Option<String>,
    input: Option<Value>,
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BlockVisitor)
    }
}

struct BlockVisitor;

impl<'de> Visitor<'de> for BlockVisitor {
    type Value = Block;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a block")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Block, E> {
        Ok(Block::Text(text.to_owned()))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Block, E> {
        Ok(Block::Other)
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Block, E> {
        Ok(Block::Other)
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Block, E> {
        Ok(Block::Other)
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Block, E> {
        Ok(Block::Other)
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Block, E> {
        Ok(Block::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Block, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Block::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Block, A::Error> {
        let members = Members::deserialize(de::value::MapAccessDeserializer::new(map))?;
        Ok(match members {
            Members {
                kind: Some(kind),
                text: Some(text),
                ..
            } if kind == "text" => Block::Text(text),
            Members {
                kind: Some(kind),
                name: Some(name),
                input,
                ..
            } if kind == "tool_use" => Block::ToolUse {
                name,
                input: input.unwrap_or_default(),
            },
            _ => Block::Other,
        })
    }
}
