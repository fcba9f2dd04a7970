//! What a component asks of its host, read from its bytes without compiling it.
//!
//! Only the outermost component counts: what nested ones import, it must give them. The reader walks
//! sections and never recurses into types that nest deeper than any interface does.

use hydrant_base::excerpt;
use std::collections::BTreeSet;

use wasmparser::{
    ComponentAlias, ComponentExternalKind, ComponentImport, ComponentOuterAliasKind, ComponentType,
    ComponentTypeRef, InstanceTypeDeclaration, Parser, Payload, TypeBounds,
};

use super::WasmForm;

/// The package whose interfaces are capabilities.
const HOST_PACKAGE: &str = "hydrant:host/";
const HOST_VERSION: &str = "@0.1.0";
/// What the host provides inertly.
const INERT: [&str; 5] = [
    "wasi:cli/",
    "wasi:io/",
    "wasi:clocks/",
    "wasi:random/",
    "wasi:filesystem/",
];
/// The most types within types; reading them recurses.
pub const MAX_NESTED_TYPES: usize = 100;

/// An interface through which a component reaches something outside; each has one kind of capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HostInterface {
    /// Reading below a directory.
    FsRead,
    /// Writing below a directory.
    FsWrite,
    /// HTTP requests.
    Fetch,
    /// Starting programs.
    Process,
}

impl HostInterface {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::FsRead, Self::FsWrite, Self::Fetch, Self::Process];

    /// The kind of capability that a manifest must declare for it.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            Self::FsRead => "fs.read",
            Self::FsWrite => "fs.write",
            Self::Fetch => "net.http",
            Self::Process => "exec.safe",
        }
    }

    /// Its name in the package `hydrant:host`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::FsRead => "fs-read",
            Self::FsWrite => "fs-write",
            Self::Fetch => "fetch",
            Self::Process => "process",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

/// What a component imports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imports {
    /// The interfaces that need a capability.
    pub host: BTreeSet<HostInterface>,
    /// What no component may import, in the order of the file, escaped and cut.
    pub other: Vec<String>,
}

/// Some bytes are no component that parses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAComponent {
    /// The first 8 bytes are a core module's.
    #[error("skill.wasm is a core module, not a component")]
    CoreModule,
    /// The first 8 bytes are no wasm's.
    #[error("skill.wasm is not a component")]
    NotWasm,
    /// The rest cannot be read.
    #[error("skill.wasm does not parse: {0}")]
    Malformed(String),
    /// Types within types within types.
    #[error("skill.wasm does not parse: types nest deeper than {MAX_NESTED_TYPES}")]
    NestedTypes,
}

impl Imports {
    /// Those with these names, without those that only name types.
    pub(super) fn named(names: &[&str]) -> Self {
        let mut imports = Self::default();
        for name in names {
            match host_interface(name).and_then(HostInterface::named) {
                Some(interface) => _ = imports.host.insert(interface),
                None if is_inert(name) => {}
                None => imports.other.push(excerpt(name)),
            }
        }
        imports
    }
}

impl From<wasmparser::BinaryReaderError> for NotAComponent {
    fn from(error: wasmparser::BinaryReaderError) -> Self {
        Self::Malformed(excerpt(&error.to_string()))
    }
}

/// Reads what `component` imports.
///
/// # Errors
///
/// [`NotAComponent`]: another form, or bytes that do not parse.
pub fn imports(component: &[u8]) -> Result<Imports, NotAComponent> {
    match WasmForm::of(component) {
        WasmForm::Component => {}
        WasmForm::CoreModule => return Err(NotAComponent::CoreModule),
        WasmForm::Other => return Err(NotAComponent::NotWasm),
    }
    let mut reader = Reader::default();
    for payload in Parser::new(0).parse_all(component) {
        reader.take(payload?, component)?;
    }
    Ok(reader.imports)
}

#[derive(Default)]
struct Reader {
    /// Components and modules that have begun and not ended.
    open: usize,
    /// For each type of the outermost component, whether it is an interface without functions.
    types: Vec<bool>,
    imports: Imports,
}

impl Reader {
    fn take(&mut self, payload: Payload<'_>, component: &[u8]) -> Result<(), NotAComponent> {
        match payload {
            Payload::Version { .. } => self.open = self.open.saturating_add(1),
            Payload::End(_) => self.open = self.open.saturating_sub(1),
            // Those of inner components count too: a compiler reads all of them.
            Payload::ComponentTypeSection(ref section)
                if nested_types(component.get(section.range()).unwrap_or_default())
                    > MAX_NESTED_TYPES =>
            {
                return Err(NotAComponent::NestedTypes);
            }
            _ if self.open != 1 => {}
            Payload::ComponentTypeSection(section) => {
                for declared in section {
                    self.types.push(has_no_functions(&declared?));
                }
            }
            Payload::ComponentAliasSection(section) => {
                for alias in section {
                    if is_type(&alias?) {
                        self.types.push(false);
                    }
                }
            }
            Payload::ComponentExportSection(section) => {
                for export in section {
                    if export?.kind == ComponentExternalKind::Type {
                        self.types.push(false);
                    }
                }
            }
            Payload::ComponentImportSection(section) => {
                for import in section {
                    self.import(&import?);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn import(&mut self, import: &ComponentImport<'_>) {
        let name = import.name.name;
        // A name that stands for another interface than it spells is none of ours.
        let plain = import.name.implements.is_none() && import.name.version_suffix.is_none();
        let inert_type = match import.ty {
            ComponentTypeRef::Instance(index) if plain => {
                let index = usize::try_from(index).unwrap_or(usize::MAX);
                self.types.get(index).copied()
            }
            // A name for a type that is known: the world's `use types.{skill-error}` becomes one.
            ComponentTypeRef::Type(TypeBounds::Eq(_)) => {
                self.types.push(false);
                return;
            }
            ComponentTypeRef::Type(TypeBounds::SubResource) => {
                self.types.push(false);
                None
            }
            _ => None,
        };
        let host = host_interface(name);
        match (inert_type, host) {
            (Some(_), Some(interface)) if HostInterface::named(interface).is_some() => {
                self.imports.host.extend(HostInterface::named(interface));
            }
            (Some(true), Some(_)) => {}
            (Some(_), None) if is_inert(name) => {}
            _ => self.imports.other.push(excerpt(name)),
        }
    }
}

/// `fs-read` of `hydrant:host/fs-read@0.1.0`.
fn host_interface(name: &str) -> Option<&str> {
    name.strip_prefix(HOST_PACKAGE)?.strip_suffix(HOST_VERSION)
}

/// One of the inert packages, of WASI 0.2.
fn is_inert(name: &str) -> bool {
    let Some((interface, version)) = name.split_once('@') else {
        return false;
    };
    let patch = version.strip_prefix("0.2.").unwrap_or_default();
    INERT.iter().any(|package| interface.starts_with(package))
        && !patch.is_empty()
        && patch.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_type(alias: &ComponentAlias<'_>) -> bool {
    matches!(
        alias,
        ComponentAlias::InstanceExport {
            kind: ComponentExternalKind::Type,
            ..
        } | ComponentAlias::Outer {
            kind: ComponentOuterAliasKind::Type,
            ..
        }
    )
}

/// An interface that exports types only.
fn has_no_functions(declared: &ComponentType<'_>) -> bool {
    let ComponentType::Instance(declarations) = declared else {
        return false;
    };
    declarations.iter().all(|declaration| match declaration {
        InstanceTypeDeclaration::Export { ty, .. } => matches!(ty, ComponentTypeRef::Type(_)),
        _ => true,
    })
}

/// At least the depth of types within types in the bytes of a component's type section: a component type (41) or an instance type
/// (42) in another one is a declaration (01) of it. Other bytes may look alike, so this is an upper bound.
#[must_use]
pub fn nested_types(section: &[u8]) -> usize {
    let pairs = section.iter().zip(section.iter().skip(1));
    pairs
        .filter(|pair| matches!(pair, (0x01, 0x41 | 0x42)))
        .count()
}

#[cfg(test)]
mod tests;
