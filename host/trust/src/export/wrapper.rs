//! The scripts that run an exported skill.
//!
//! The only text that is put into them is the path of the store, which may hold any character a directory
//! can have; it stands in single quotes, where a shell looks at nothing but the closing one.

use super::policy::WorkspaceMount;

/// `scripts/run.sh`, for any POSIX shell.
pub(super) fn run_sh(store: &str, mount: WorkspaceMount) -> String {
    let bundle = posix_quoted(store);
    let mount = match mount {
        WorkspaceMount::Present => " \\\n  --mount /workspace=\"$PWD\"",
        WorkspaceMount::Absent => "",
    };
    format!(
        r#"#!/bin/sh
set -eu

if [ "$#" -lt 1 ] || [ "$#" -gt 2 ]; then
  echo "usage: $0 <input.json> [receipt.json]" >&2
  exit 64
fi
if [ -z "${{PROVENACT_KEYS:-}}" ] || [ -z "${{PROVENACT_KEYS_DIGEST:-}}" ]; then
  echo "set PROVENACT_KEYS and PROVENACT_KEYS_DIGEST before running this wrapper" >&2
  exit 64
fi

bundle={bundle}
scripts=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
if [ -n "${{PROVENACT_BIN:-}}" ]; then
  program=$PROVENACT_BIN
elif command -v hydrant >/dev/null 2>&1; then
  program=hydrant
else
  program=provenact-cli
fi

exec "$program" run \
  --bundle "$bundle" \
  --keys "$PROVENACT_KEYS" \
  --keys-digest "$PROVENACT_KEYS_DIGEST" \
  --policy "$scripts/../references/ide-safe.policy.json" \
  --input "$1" \
  --receipt "${{2:-./receipt.json}}"{mount}
"#
    )
}

/// `scripts/run.ps1`
pub(super) fn run_ps1(store: &str, mount: WorkspaceMount) -> String {
    let bundle = powershell_quoted(store);
    let mount = match mount {
        WorkspaceMount::Present => "$Arguments += @('--mount', \"/workspace=$PWD\")\n",
        WorkspaceMount::Absent => "",
    };
    format!(
        r#"param(
  [Parameter(Mandatory=$true)][string]$InputPath,
  [Parameter(Mandatory=$false)][string]$ReceiptPath = './receipt.json'
)

if ([string]::IsNullOrEmpty($env:PROVENACT_KEYS) -or [string]::IsNullOrEmpty($env:PROVENACT_KEYS_DIGEST)) {{
  [Console]::Error.WriteLine('set PROVENACT_KEYS and PROVENACT_KEYS_DIGEST before running this wrapper')
  exit 64
}}

$Bundle = {bundle}
$Scripts = Split-Path -Parent $MyInvocation.MyCommand.Path
$Policy = Join-Path (Join-Path (Split-Path -Parent $Scripts) 'references') 'ide-safe.policy.json'
if (-not [string]::IsNullOrEmpty($env:PROVENACT_BIN)) {{
  $Program = $env:PROVENACT_BIN
}} elseif (Get-Command hydrant -CommandType Application -ErrorAction SilentlyContinue) {{
  $Program = 'hydrant'
}} else {{
  $Program = 'provenact-cli'
}}

$Arguments = @('run', '--bundle', $Bundle, '--keys', $env:PROVENACT_KEYS)
$Arguments += @('--keys-digest', $env:PROVENACT_KEYS_DIGEST, '--policy', $Policy)
$Arguments += @('--input', $InputPath, '--receipt', $ReceiptPath)
{mount}& $Program @Arguments
exit $LASTEXITCODE
"#
    )
}

fn posix_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// PowerShell takes the typographic single quotes for quotes as well.
fn powershell_quoted(text: &str) -> String {
    let mut quoted = String::from("'");
    for character in text.chars() {
        if matches!(character, '\'' | '\u{2018}'..='\u{201b}') {
            quoted.push(character);
        }
        quoted.push(character);
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powershell_quotes_of_every_kind_are_doubled() {
        assert_eq!(powershell_quoted("a'b"), "'a''b'");
        assert_eq!(
            powershell_quoted("\u{2018}\u{2019}\u{201a}\u{201b}$(x)`\"\u{201c}"),
            "'\u{2018}\u{2018}\u{2019}\u{2019}\u{201a}\u{201a}\u{201b}\u{201b}$(x)`\"\u{201c}'"
        );
        let script = run_ps1("/h'; exit 0; '/store", WorkspaceMount::Absent);
        assert!(
            script.contains("\n$Bundle = '/h''; exit 0; ''/store'\n"),
            "{script}"
        );
    }

    #[test]
    fn a_posix_shell_reads_a_quoted_text_as_it_was() {
        for text in [
            "",
            "'",
            "''",
            "a'b'c",
            "$(exit 7)`exit 7`",
            "\\",
            "\\'",
            "\"",
            "-n",
            "a\nb\n",
            "*?[",
            "é",
        ] {
            let script = format!("printf %s {}", posix_quoted(text));
            let output = std::process::Command::new("sh")
                .args(["-c", &script])
                .output()
                .unwrap();
            assert!(output.status.success());
            assert_eq!(str::from_utf8(&output.stdout).unwrap(), text);
        }
    }

    #[test]
    fn both_scripts_pass_the_workspace_only_where_the_policy_mounts_it() {
        for script in [
            run_sh("/s", WorkspaceMount::Present),
            run_ps1("/s", WorkspaceMount::Present),
        ] {
            assert!(
                script.contains("--mount") && script.contains("/workspace="),
                "{script}"
            );
        }
        for script in [
            run_sh("/s", WorkspaceMount::Absent),
            run_ps1("/s", WorkspaceMount::Absent),
        ] {
            assert!(!script.contains("mount"), "{script}");
        }
    }
}
