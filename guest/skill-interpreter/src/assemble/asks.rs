//! What a document asks for besides what its stages say: tier, effects, approval, and what a sandbox is to get.

use ::url::Url;

use crate::context::Context;
use crate::draft::{ApprovalWish, Declaration, DraftStage, Program, SandboxDraft};
use crate::model::judge::pair_of;
use crate::model::{Asks, EgressWish};

/// What is asked for.
pub(super) fn of(
    stages: &[DraftStage],
    line: u32,
    declaration: &Declaration,
    context: &Context,
) -> Asks {
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
    let mut has_sandbox = false;
    for stage in stages {
        if let DraftStage::Sandbox(draft) = stage {
            has_sandbox = true;
            let hosts = texts(draft, line).into_iter();
            let hosts = hosts.flat_map(|(text, line)| hosts_in(&text, line));
            asks.egress
                .extend(hosts.map(|(host, line)| EgressWish { host, line }));
        }
    }
    if has_sandbox {
        for_sandbox(&mut asks, line, declaration, context);
    }
    asks
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

/// The texts in which literal URLs are looked for, and where they begin.
fn texts(draft: &SandboxDraft, line: u32) -> Vec<(String, u32)> {
    let stage = &draft.stage;
    let (argv, code) = match &stage.program {
        Program::Argv(argv) => (argv.as_slice(), None),
        Program::Code(code) | Program::Script(code) => (&[][..], Some(code)),
        Program::File { .. } | Program::Module(_) => (&[][..], None),
    };
    let words = stage.args.iter().chain(&stage.stdin).chain(argv);
    words
        .map(|word| (word.display(), line))
        .chain(code.map(|code| (code.clone(), draft.line)))
        .collect()
}

/// Hosts of literal `http` and `https` URLs, with their lines. A host that is not literal is not derived.
fn hosts_in(text: &str, first_line: u32) -> Vec<(String, u32)> {
    let is_authority = |c: char| c.is_alphanumeric() || ".-:[]${}<%@_*".contains(c);
    let mut hosts = Vec::new();
    for (line, number) in text.split('\n').zip(first_line..) {
        for (position, mark) in line.match_indices("://") {
            let (before, after) = line.split_at(position);
            let before = before.to_ascii_lowercase();
            let Some(scheme) = ["https", "http"]
                .into_iter()
                .find(|scheme| before.ends_with(scheme))
            else {
                continue;
            };
            let after = after.get(mark.len()..).unwrap_or_default();
            let end = after.find(|c| !is_authority(c)).unwrap_or(after.len());
            let authority = after.get(..end).unwrap_or_default();
            if authority.contains(['$', '{', '}', '<', '%', '@', '*']) {
                continue;
            }
            let authority = authority.trim_end_matches(['.', ':']);
            let url = Url::parse(&format!("{scheme}://{authority}/"));
            hosts.extend(
                url.ok()
                    .as_ref()
                    .and_then(pair_of)
                    .map(|host| (host, number)),
            );
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
