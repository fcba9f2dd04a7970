//! The texts that an agent reads. What a manifest says freely is escaped and stands in a code
//! span that it cannot end.

use super::Skill;
use hydrant_base::excerpt;

/// `SKILL.md`
pub(super) fn skill_md(skill: &Skill) -> String {
    let name = &skill.manifest.name;
    // The check of names leaves no character in one that YAML or Markdown could see anything in.
    format!(
        "---
name: \"{name}\"
description: \"Run the verified skill {name} through hydrant, under the policy ide-safe.\"
---

Use this skill to run `{name}`: its signatures are verified, its capabilities are limited, and every run
leaves a receipt.

## Boundaries
- Do not run other commands in place of this skill.
- Always use the wrappers in `scripts/`.
- Do not change the policy in `references/`.

## Run
- macOS, Linux: `./scripts/run.sh <input.json> [receipt.json]`
- Windows: `./scripts/run.ps1 <input.json> [receipt.json]`

## Notes
- Skill digest: `{digest}`
- Manifest version: `{version}`
- Entrypoint: {entrypoint}
",
        digest = skill.digest,
        version = skill.manifest.version,
        entrypoint = code(&skill.manifest.entrypoint),
    )
}

/// `references/README.md`
pub(super) fn readme(skill: &Skill) -> String {
    let manifest = &skill.manifest;
    let mut capabilities: Vec<_> = manifest
        .capabilities
        .iter()
        .map(|capability| {
            format!(
                "- {}: {}\n",
                code(&capability.kind),
                code(&capability.value)
            )
        })
        .collect();
    capabilities.sort_unstable();
    if capabilities.is_empty() {
        capabilities.push("- none\n".to_owned());
    }
    format!(
        "# {name} reference

- skill digest: `{digest}`
- manifest version: `{version}`
- entrypoint: {entrypoint}

## Declared capabilities
{capabilities}
## Policy profile ide-safe
- reads what the skill declares
- writes below `/tmp/provenact-scratch` only
- no network, no programs, no environment, no clock, no randomness
- trusted signers are those of the manifest
",
        name = manifest.name,
        digest = skill.digest,
        version = manifest.version,
        entrypoint = code(&manifest.entrypoint),
        capabilities = capabilities.concat(),
    )
}

/// Foreign text as a code span of one line.
fn code(text: &str) -> String {
    format!("`{}`", excerpt(text).replace('`', "\\u{60}"))
}
