//! The payload of §3, written straight into one buffer.

use kit::{
    front_matter,
    json::{write_string, write_strings},
};

use crate::{
    hydration::{Failure, Hydration},
    request::Request,
    skill::Skill,
    tool::Tool,
};

/// J-01: compact, members in the order of §3.
pub(crate) fn write(answer: &Result<Hydration, Failure>, request: &Request) -> Vec<u8> {
    match answer {
        Ok(hydration) => write_hydration(hydration),
        Err(failure) => write_failure(failure, request),
    }
}

fn write_hydration(hydration: &Hydration) -> Vec<u8> {
    let text = &hydration.text;
    let content = text
        .get(front_matter::split(text).content..)
        .unwrap_or_default();
    let mut out = Vec::with_capacity(content.len().saturating_add(1_024));
    out.extend_from_slice(b"{\"content\":");
    write_string(&mut out, content);
    out.extend_from_slice(b",\"metadata\":{\"uri\":");
    write_string(&mut out, hydration.uri.as_str());
    write_checksum(&mut out, hydration.checksum.as_deref());
    out.extend_from_slice(b",\"dependencies\":{\"skills\":");
    write_list(&mut out, &hydration.skills, write_skill);
    out.extend_from_slice(b",\"tools\":");
    write_list(&mut out, &hydration.tools, write_tool);
    out.push(b'}');
    if let Some(cycles) = &hydration.cycles {
        out.extend_from_slice(b",\"cycles\":[");
        for (position, group) in cycles.iter().enumerate() {
            if position > 0 {
                out.push(b',');
            }
            write_strings(&mut out, group.iter().map(String::as_str));
        }
        out.push(b']');
    }
    out.extend_from_slice(b"}}");
    out
}

/// H-01, H-02
fn write_failure(failure: &Failure, request: &Request) -> Vec<u8> {
    let mut out = Vec::with_capacity(failure.content.len().saturating_add(256));
    out.extend_from_slice(b"{\"content\":");
    write_string(&mut out, &failure.content);
    out.extend_from_slice(b",\"metadata\":{\"uri\":");
    write_string(&mut out, failure.code.as_str());
    write_checksum(&mut out, failure.checksum.as_deref());
    out.extend_from_slice(b",\"dependencies\":{\"skills\":[],\"tools\":[]}");
    if request.depth > 1 {
        out.extend_from_slice(b",\"cycles\":[]");
    }
    out.extend_from_slice(b"}}");
    out
}

fn write_list<T>(out: &mut Vec<u8>, entries: &[T], write: fn(&mut Vec<u8>, &T)) {
    out.push(b'[');
    for (position, entry) in entries.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        write(out, entry);
    }
    out.push(b']');
}

fn write_skill(out: &mut Vec<u8>, skill: &Skill) {
    out.extend_from_slice(b"{\"uri\":");
    write_string(out, &skill.uri);
    out.extend_from_slice(b",\"name\":");
    write_string(out, &skill.name);
    out.extend_from_slice(b",\"description\":");
    write_string(out, &skill.description);
    out.extend_from_slice(b",\"skills\":");
    write_strings(out, skill.skills.strings());
    out.extend_from_slice(b",\"tools\":");
    write_strings(out, skill.tools.strings());
    write_checksum(out, skill.checksum.as_deref());
    out.push(b'}');
}

fn write_tool(out: &mut Vec<u8>, tool: &Tool) {
    out.extend_from_slice(b"{\"uri\":");
    write_string(out, &tool.uri);
    out.extend_from_slice(b",\"description\":");
    write_string(out, &tool.description);
    write_checksum(out, tool.checksum.as_deref());
    out.push(b'}');
}

/// C-01
fn write_checksum(out: &mut Vec<u8>, checksum: Option<&str>) {
    if let Some(checksum) = checksum {
        out.extend_from_slice(b",\"checksum\":");
        write_string(out, checksum);
    }
}
