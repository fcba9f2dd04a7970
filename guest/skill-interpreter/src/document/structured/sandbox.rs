//! `sandbox` of an operation: a request, of which a policy is made later.

use super::field::Field;
use crate::draft::SandboxDeclaration;
use crate::failure::{Code, Failure};

/// What may be limited.
const RESOURCES: [&str; 5] = [
    "cpu-seconds",
    "memory-mb",
    "wall-clock-ms",
    "pids",
    "output-bytes",
];

/// Reads it. An unknown key has no meaning and could be a restriction: it is refused.
///
/// # Errors
///
/// `schema`, `unknown-op-key`, with path.
pub(super) fn read(field: Field<'_, '_>) -> Result<SandboxDeclaration, Failure> {
    const OF: &str = "a sandbox";
    let field = field.known_keys(&["network", "filesystem", "resources"], OF)?;
    let mut sandbox = SandboxDeclaration {
        line: field.node.line(),
        ..SandboxDeclaration::default()
    };
    if let Some(network) = field.get("network") {
        let network = network.known_keys(&["egress"], OF)?;
        let egress = network.read("egress", |egress| match egress.node.as_text() {
            Some("none") => Ok(Vec::new()),
            _ if egress.node.is_list() => egress.strings(),
            _ => Err(egress.wrong("none or list")),
        });
        sandbox.egress = egress?.unwrap_or_default();
    }
    if let Some(filesystem) = field.get("filesystem") {
        let filesystem = filesystem.known_keys(&["read", "write"], OF)?;
        sandbox.read = filesystem.read("read", Field::strings)?.unwrap_or_default();
        sandbox.write = filesystem
            .read("write", Field::strings)?
            .unwrap_or_default();
    }
    if let Some(resources) = field.read("resources", Field::map)? {
        for (key, value) in resources.entries() {
            let name = key.replace('_', "-");
            if !RESOURCES.contains(&name.as_str()) {
                return Err(value.failure(Code::UnknownOpKey, "unknown resource"));
            }
            if !value.node.is_null() {
                lower(&mut sandbox, (name, value.count()?));
            }
        }
    }
    Ok(sandbox)
}

/// Adds a limit; of two for one resource the lower one stays.
pub(super) fn lower(sandbox: &mut SandboxDeclaration, (name, value): (String, u64)) {
    match sandbox.resources.iter_mut().find(|(key, _)| *key == name) {
        Some((_, present)) => *present = value.min(*present),
        None => sandbox.resources.push((name, value)),
    }
}
