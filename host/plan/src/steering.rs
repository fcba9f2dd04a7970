//! Environment variables that steer a shell, a runtime or the loader.

/// Names that a shell, the C library or the host looks at.
const NAMES: [&str; 10] = [
    "PATH",
    "HOME",
    "TMPDIR",
    "LANG",
    "TZ",
    "IFS",
    "ENV",
    "CDPATH",
    "SHELLOPTS",
    "PS4",
];
/// Beginnings of names of the loader, of bash, and of runtimes.
const BEGINNINGS: [&str; 6] = ["LD_", "BASH", "PYTHON", "NODE", "GO", "GIT"];

/// Whether a variable of this name changes what a program does in ways that its caller does not see: no input ever sets one,
/// and what the interpreter leaves out the host leaves out again.
#[must_use]
pub fn steers(name: &str) -> bool {
    NAMES.contains(&name)
        || BEGINNINGS
            .iter()
            .any(|beginning| name.starts_with(beginning))
        || name.to_ascii_uppercase().ends_with("_PROXY")
}
