//! `sandbox` of an operation (K-89): a request, which section 21 makes a policy of.

use super::field::Field;
use crate::draft::SandboxDeclaration;
use crate::failure::{Code, Failure};

/// K-323: what may be limited.
const RESOURCES: [&str; 5] = [
    "cpu-seconds",
    "memory-mb",
    "wall-clock-ms",
    "pids",
    "output-bytes",
];

/// Reads it. Nothing beside what K-89 names has a meaning, and an unknown key could be a restriction: it is refused.
///
/// # Errors
///
/// `schema`, `unknown-op-key`, with path.
pub(super) fn read(field: &Field<'_, '_>) -> Result<SandboxDeclaration, Failure> {
    let field = known_keys(field, &["network", "filesystem", "resources"])?;
    let mut sandbox = SandboxDeclaration {
        line: field.node.line(),
        ..SandboxDeclaration::default()
    };
    if let Some(network) = field.get("network") {
        let network = known_keys(&network, &["egress"])?;
        if let Some(egress) = network.get("egress") {
            sandbox.egress = match egress.node.as_text() {
                Some("none") => Vec::new(),
                _ if egress.node.is_list() => egress.strings()?,
                _ => return Err(egress.wrong("none or list")),
            };
        }
    }
    if let Some(filesystem) = field.get("filesystem") {
        let filesystem = known_keys(&filesystem, &["read", "write"])?;
        let paths = |key| {
            let paths = filesystem.get(key).map(Field::strings);
            Ok(paths.transpose()?.unwrap_or_default())
        };
        sandbox.read = paths("read")?;
        sandbox.write = paths("write")?;
    }
    if let Some(resources) = field.get("resources") {
        let resources = resources.map()?;
        for (key, value) in resources.entries() {
            // K-323
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

/// K-90: adds a limit; of two for one resource the lower one stays.
pub(super) fn lower(sandbox: &mut SandboxDeclaration, (name, value): (String, u64)) {
    match sandbox.resources.iter_mut().find(|(key, _)| *key == name) {
        Some((_, present)) => *present = value.min(*present),
        None => sandbox.resources.push((name, value)),
    }
}

fn known_keys<'p, 't>(field: &Field<'p, 't>, keys: &[&str]) -> Result<Field<'p, 't>, Failure> {
    let field = field.map()?;
    match field.entries().find(|(key, _)| !keys.contains(key)) {
        Some((_, value)) => Err(value.failure(Code::UnknownOpKey, "unknown key of a sandbox")),
        None => Ok(field),
    }
}
