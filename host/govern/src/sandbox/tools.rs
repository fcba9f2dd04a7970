//! Runtimes and tools that this system has. Looking for them starts nothing.

use std::path::{Path, PathBuf};

use super::has_script;
use hydrant_jail::is_of_the_system;
use hydrant_plan::{Program, Runtime, SandboxStage};

/// `PATH` inside.
pub(super) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Names of a declared runtime that may have a version.
const DECLARED: [(&str, Runtime); 11] = [
    ("python", Runtime::Python),
    ("python3", Runtime::Python),
    ("node", Runtime::Node),
    ("nodejs", Runtime::Node),
    ("javascript", Runtime::Node),
    ("js", Runtime::Node),
    ("go", Runtime::Go),
    ("golang", Runtime::Go),
    ("shell", Runtime::Shell),
    ("sh", Runtime::Shell),
    ("bash", Runtime::Shell),
];

/// Where the jail finds a program: by its name, or the absolute path that it is.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        // A relative one would be a file of the call, which never becomes code.
        return Some(PathBuf::from(name)).filter(|path| path.is_absolute() && is_there(path));
    }
    PATH.split(':')
        .map(|directory| Path::new(directory).join(name))
        .find(|path| is_there(path))
}

/// Whether it is executable, and lies in directories of the system by its name and really.
fn is_there(path: &Path) -> bool {
    is_of_the_system(path)
        && std::fs::canonicalize(path).is_ok_and(|real| is_of_the_system(&real) && real.is_file())
        && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// The program that runs code of this runtime.
pub(super) fn runtime(runtime: Runtime) -> &'static str {
    match runtime {
        Runtime::Python => "python3",
        Runtime::Node => "node",
        Runtime::Go => "go",
        Runtime::Shell => "/bin/sh",
    }
}

/// Whether the stage needs the runtime itself.
pub(super) fn needs_runtime(stage: &SandboxStage) -> bool {
    has_script(stage) || matches!(stage.program, Program::Module(_))
}

/// What a stage needs and this system does not have, in the words of `requires`: `sandbox:node`,
/// `tool:ffmpeg`, `file:run.py`. Starts nothing: a version that only the runtime itself could tell is taken as
/// right here; [`super::Sandbox::check`] asks.
#[must_use]
pub fn missing(stage: &SandboxStage) -> Vec<String> {
    let mut missing = Vec::new();
    if needs_runtime(stage) {
        let wrong = match (find(runtime(stage.runtime)), required(stage)) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(path), Some(wanted)) => {
                // The beginning of what is wanted may be all that can be seen.
                visible_version(stage.runtime, &path)
                    .is_some_and(|found| !fits(&found, wanted) && !fits(wanted, &found))
            }
        };
        if wrong {
            missing.push(format!("sandbox:{}", wanted_name(stage)));
        }
    }
    if let Program::File { name, digest: None } = &stage.program {
        missing.push(format!("file:{name}"));
    }
    let own = match &stage.program {
        Program::Argv(argv) => argv.first().and_then(|name| name.as_literal()),
        _ => None,
    };
    let tools = stage.tools.iter().map(String::as_str).chain(own);
    for tool in tools.filter(|tool| find(tool).is_none()) {
        let tool = format!("tool:{tool}");
        if !missing.contains(&tool) {
            missing.push(tool);
        }
    }
    missing
}

/// The version that the document asks for.
pub(super) fn required(stage: &SandboxStage) -> Option<&str> {
    let (name, version) = stage.declared_runtime.as_deref()?.split_once(':')?;
    let known = DECLARED
        .iter()
        .any(|(declared, runtime)| *declared == name && *runtime == stage.runtime);
    known
        .then_some(version.trim())
        .filter(|version| !version.is_empty())
}

pub(super) fn wanted_name(stage: &SandboxStage) -> String {
    match required(stage) {
        Some(version) => format!("{}:{version}", stage.runtime.as_str()),
        None => stage.runtime.as_str().to_owned(),
    }
}

/// The version, where it can be seen without starting anything.
pub(super) fn visible_version(kind: Runtime, path: &Path) -> Option<String> {
    let real = std::fs::canonicalize(path).ok()?;
    match kind {
        // `python3` is a link to `python3.11`, whose name is the version as far as documents name it.
        Runtime::Python => {
            let name = real.file_name()?.to_str()?.strip_prefix("python")?;
            name.contains('.').then(|| name.to_owned())
        }
        // `bin/go` of a directory that has a file of that name.
        Runtime::Go => {
            let file = real.parent()?.parent()?.join("VERSION");
            version_in(&std::fs::read_to_string(file).ok()?)
        }
        // It is `/bin/sh`, whose version nobody tells.
        Runtime::Shell => Some(String::new()),
        Runtime::Node => None,
    }
}

/// A dotted prefix. `3.11` is the beginning of `3.11.2`, not of `3.110`.
pub(super) fn fits(found: &str, wanted: &str) -> bool {
    let mut found = found.split('.');
    wanted.split('.').all(|part| found.next() == Some(part))
}

/// The first version in what a runtime says of itself: `Python 3.11.2`, `v20.1.0`, `go1.22.1`.
pub(super) fn version_in(text: &str) -> Option<String> {
    let line = text.lines().next()?;
    let digits = line.get(line.find(|c: char| c.is_ascii_digit())?..)?;
    let end = digits
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(digits.len());
    Some(digits.get(..end)?.trim_end_matches('.').to_owned())
}

/// Whether this system's `sed` or `awk` can be told to touch no file and start no program. For other tools there
/// is nothing to tell. Where it is false the governor raises the operation to Tier 2, reason `no-tool-sandbox`. Starts
/// nothing.
#[must_use]
pub fn has_own_sandbox(tool: &str) -> bool {
    match tool {
        "sed" | "awk" => sandboxed(tool).is_some_and(|(_, sandboxed)| sandboxed),
        _ => true,
    }
}

/// What a text tool that is never built in needs and this system does not have.
#[must_use]
pub fn missing_tool(tool: &str) -> Option<String> {
    (matches!(tool, "sed" | "awk") && sandboxed(tool).is_none()).then(|| format!("tool:{tool}"))
}

/// The program for a tool, and whether it takes `--sandbox`.
pub(super) fn sandboxed(tool: &str) -> Option<(PathBuf, bool)> {
    let is = |path: &PathBuf, name: &str| {
        std::fs::canonicalize(path).is_ok_and(|real| real.file_name() == Some(name.as_ref()))
    };
    if tool == "awk" {
        if let Some(gawk) = find("gawk").filter(|path| is(path, "gawk")) {
            return Some((gawk, true));
        }
        let awk = find("awk")?;
        let gnu = is(&awk, "gawk");
        return Some((awk, gnu));
    }
    let path = find(tool)?;
    // GNU's; that of busybox is a link to something of another name. A GNU sed before 4.3, which is from before 2016,
    // refuses the option and does nothing.
    let gnu = tool == "sed" && is(&path, "sed");
    Some((path, gnu))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_a_dotted_prefix() {
        for (found, wanted, right) in [
            ("3.11.2", "3.11", true),
            ("3.11", "3.11", true),
            ("3.11.2", "3", true),
            ("3.110.0", "3.11", false),
            ("3.1", "3.11", false),
            ("3.11", "3.11.2", false),
        ] {
            assert_eq!(fits(found, wanted), right, "{found} {wanted}");
        }
    }

    #[test]
    fn what_runtimes_say_of_themselves_is_understood() {
        for (said, version) in [
            ("Python 3.11.2\n", Some("3.11.2")),
            ("v20.19.1\n", Some("20.19.1")),
            ("go1.22.1\ntime 2024", Some("1.22.1")),
            ("3.12.0rc1", Some("3.12.0")),
            ("no version", None),
            ("", None),
        ] {
            assert_eq!(version_in(said).as_deref(), version, "{said}");
        }
    }

    #[test]
    fn only_what_a_jail_has_is_found() {
        assert!(find("sh").is_some());
        assert_eq!(find("/bin/sh"), Some("/bin/sh".into()));
        for wrong in [
            "no-such-tool",
            "./sh",
            "bin/sh",
            "/etc/passwd",
            "/usr/bin",
            "",
            "/proc/self/exe",
        ] {
            assert_eq!(find(wrong), None, "{wrong}");
        }
    }
}
