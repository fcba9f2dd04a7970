//! How the project is tested, from the files of its root.

use kit::host::ReadFiles;
use kit::path::Path;
use serde_json::Value;

use super::rank::Named;
use super::walk::request;

/// Files of the root that are read for it, and bytes of each.
const BUILD_FILES: [&str; 2] = ["Makefile", "package.json"];
const MAX_FILE_BYTES: u32 = 64 * 1024;

/// What the root tells of how the project is tested.
struct Root<'a> {
    /// Names of its files.
    names: &'a [String],
    /// Those of [`BUILD_FILES`] that could be read.
    texts: Vec<(&'static str, String)>,
}

/// A language: the extensions of its files, and the command of a root that is in it.
type Language = (
    &'static [&'static str],
    fn(&Root<'_>) -> Option<&'static str>,
);

/// Languages in the order of trial.
const LANGUAGES: &[Language] = &[
    (&["rs"], |root| {
        has(root, &["Cargo.toml"]).then_some("cargo test")
    }),
    (&["py", "pyi"], |root| {
        let files = ["pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg"];
        has(root, &files).then_some("pytest")
    }),
    (
        &["js", "jsx", "ts", "tsx", "mjs", "cjs", "vue", "svelte"],
        node,
    ),
    (&["go"], |root| {
        has(root, &["go.mod"]).then_some("go test ./...")
    }),
    (&["c", "h", "cc", "cpp", "hpp"], make),
];

/// Returns the command of the language of a path that the prompt names, else the first that there is.
pub(super) fn find(
    host: &mut impl ReadFiles,
    path: &Path,
    names: &[String],
    named: &Named,
) -> Option<String> {
    let files = BUILD_FILES.into_iter();
    let files = files.filter(|file| names.iter().any(|name| name == file));
    let texts = files.filter_map(|file| {
        let answer = host.read_file(request(path, file, MAX_FILE_BYTES)).ok()?;
        Some((file, String::from_utf8_lossy(&answer.bytes).into_owned()))
    });
    let texts = texts.collect();
    let root = &Root { names, texts };
    let speaks = |path: &str| {
        let extension = path.rsplit_once('.')?.1.to_ascii_lowercase();
        let (_, command) = LANGUAGES
            .iter()
            .find(|(extensions, _)| extensions.contains(&extension.as_str()))?;
        command(root)
    };
    let first = named.paths().find_map(speaks);
    let command = first.or_else(|| LANGUAGES.iter().find_map(|(_, command)| command(root)));
    command.map(str::to_owned)
}

fn has(root: &Root<'_>, names: &[&str]) -> bool {
    root.names.iter().any(|name| names.contains(&name.as_str()))
}

fn text<'a>(root: &'a Root<'_>, name: &str) -> Option<&'a str> {
    let (_, text) = root.texts.iter().find(|(known, _)| *known == name)?;
    Some(text)
}

fn node(root: &Root<'_>) -> Option<&'static str> {
    let package: Value = serde_json::from_str(text(root, "package.json")?).ok()?;
    let script = package.pointer("/scripts/test")?.as_str()?;
    // What `npm init` writes is no test.
    if script.trim().is_empty() || script.contains("no test specified") {
        return None;
    }
    Some(if has(root, &["pnpm-lock.yaml"]) {
        "pnpm test"
    } else if has(root, &["yarn.lock"]) {
        "yarn test"
    } else {
        "npm test"
    })
}

fn make(root: &Root<'_>) -> Option<&'static str> {
    let is_rule = |line: &str| {
        let rest = line.strip_prefix("test").map(str::trim_start);
        let rest = rest.and_then(|rest| rest.strip_prefix(':'));
        rest.is_some_and(|rest| !rest.starts_with(['=', ':']))
    };
    let mut lines = text(root, "Makefile")?.lines();
    lines.any(is_rule).then_some("make test")
}
