//! What a document asks for besides what its stages say: tier, effects, approval, and what a sandbox is to get.

use ::url::Url;

use crate::context::Context;
use crate::draft::{ApprovalWish, Declaration, DraftStage, Program, SandboxDraft, Template};
use crate::model::judge::pair_of;
use crate::model::{Asks, EgressWish};

/// What is asked for, and what an approver may want to know of the code.
pub(super) fn of(
    stages: &[DraftStage],
    line: u32,
    declaration: &Declaration,
    context: &Context,
) -> (Asks, Vec<String>) {
    let mut asks = Asks {
        tier: declaration.tier,
        effects: [&context.effects, &declaration.effects]
            .into_iter()
            .flatten()
            .cloned()
            .collect(),
        approval: context.approval == ApprovalWish::Required
            || declaration.approval == ApprovalWish::Required,
        ..Asks::default()
    };
    let sandboxes = stages.iter().filter_map(|stage| match stage {
        DraftStage::Sandbox(draft) => Some(draft.as_ref()),
        _ => None,
    });
    let mut notes = Vec::new();
    let mut has_sandbox = false;
    for draft in sandboxes {
        has_sandbox = true;
        for (text, line) in texts(draft, line) {
            let hosts = hosts_in(&text, line).into_iter();
            asks.egress
                .extend(hosts.map(|(host, line)| EgressWish { host, line }));
        }
        if let Program::Code(code) | Program::Script(code) = &draft.program {
            notes.extend(super::notes::of(&code.text));
        }
    }
    if has_sandbox {
        for_sandbox(&mut asks, line, declaration, context);
    }
    notes.sort();
    notes.dedup();
    (asks, notes)
}

/// Adds what the document declares for its sandbox.
fn for_sandbox(asks: &mut Asks, line: u32, declaration: &Declaration, context: &Context) {
    let wishes = declaration.sandbox.as_ref();
    let wish_line = wishes.map_or(line, |wishes| wishes.line);
    let declared = wishes.into_iter().flat_map(|wishes| &wishes.egress);
    let declared = declared
        .map(|name| (name, wish_line))
        .chain(declaration.egress.iter().map(|name| (name, line)))
        .chain(context.domains.iter().map(|name| (name, 0)));
    asks.egress.extend(declared.filter_map(|(name, line)| {
        let host = declared_host(name)?;
        Some(EgressWish { host, line })
    }));
    if let Some(wishes) = wishes {
        asks.read.clone_from(&wishes.read);
        asks.write.clone_from(&wishes.write);
        asks.resources = wishes.resources.iter().cloned().collect();
        asks.line = Some(wish_line);
    }
}

/// K-321: the texts in which literal URLs are looked for, and where they begin.
fn texts(draft: &SandboxDraft, line: u32) -> Vec<(String, u32)> {
    let mut texts: Vec<(String, u32)> = draft
        .args
        .iter()
        .chain(&draft.stdin)
        .map(|word| (word.display(), line))
        .collect();
    match &draft.program {
        Program::Argv(argv) => {
            texts.extend(argv.iter().map(|word: &Template| (word.display(), line)));
        }

        Program::Code(code) | Program::Script(code) => texts.push((code.text.clone(), code.line)),
        Program::File(_) | Program::Module(_) => {}
    }
    texts
}

/// Hosts of literal `http` and `https` URLs, with their lines.
fn hosts_in(text: &str, first_line: u32) -> Vec<(String, u32)> {
    let mut hosts = Vec::new();
    for (index, line) in text.split('\n').enumerate() {
        for (position, _) in line.match_indices("://") {
            let (before, after) = line.split_at(position);
            let lower = |text: &str| text.to_ascii_lowercase();
            let scheme = ["https", "http"].into_iter().find(|scheme| {
                before
                    .get(before.len().saturating_sub(scheme.len())..)
                    .is_some_and(|end| lower(end) == *scheme)
            });
            let Some(scheme) = scheme else {
                continue;
            };
            let after = after.trim_start_matches("://");
            let end = after
                .find(|c: char| {
                    !(c.is_alphanumeric()
                        || matches!(
                            c,
                            '.' | '-'
                                | ':'
                                | '['
                                | ']'
                                | '$'
                                | '{'
                                | '}'
                                | '<'
                                | '%'
                                | '@'
                                | '_'
                                | '*'
                        ))
                })
                .unwrap_or(after.len());
            let authority = after.get(..end).unwrap_or_default();
            // A host that is not literal is not derived.
            if authority.contains(['$', '{', '}', '<', '%', '@', '*']) {
                continue;
            }
            let authority = authority.trim_end_matches(['.', ':']);
            if let Some(host) = Url::parse(&format!("{scheme}://{authority}/"))
                .ok()
                .as_ref()
                .and_then(pair_of)
            {
                let index = u32::try_from(index).unwrap_or(u32::MAX);
                hosts.push((host, first_line.saturating_add(index)));
            }
        }
    }
    hosts
}

/// `host`, `host:port` or a URL; no patterns.
fn declared_host(name: &str) -> Option<String> {
    let name = name.trim();
    if name.is_empty() || name.eq_ignore_ascii_case("none") || name.contains(['*', '@']) {
        return None;
    }
    let url = if name.contains("://") {
        Url::parse(name)
    } else {
        Url::parse(&format!("https://{name}/"))
    };
    pair_of(&url.ok()?)
}
