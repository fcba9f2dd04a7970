//! What the component of a bundle imports, declares and does (TV-23 to TV-28).

use std::collections::BTreeSet;

use super::bundle_checks::{Check, MANIFEST, WASM};
use super::description;
use super::finding::{Finding, Row};
use super::{ComponentProbe, ProbeError};
use crate::policy::component_form;
use crate::trust::{Bundle, HostInterface, VerifiedBundle, imports};

/// TV-23 to TV-26. Whether it could be instantiated at all: a component, without imports that no host has.
pub(super) fn check_imports(check: &mut Check<'_>, bundle: &Bundle) -> bool {
    check.ask(Row::TV_23);
    let imports = match imports(bundle.wasm().bytes()) {
        Ok(imports) => imports,
        Err(error) => {
            check.report(Row::TV_23, WASM, Finding::new(Row::TV_23, error));
            return false;
        }
    };
    check.ask(Row::TV_24);
    for import in &imports.other {
        let finding = Finding::new(Row::TV_24, format!("{WASM}: import not allowed: {import}"));
        check.report(Row::TV_24, WASM, finding);
    }
    let capabilities = &bundle.manifest().capabilities;
    check.ask(Row::TV_25);
    let declared: BTreeSet<_> = capabilities
        .iter()
        .map(|capability| capability.kind.as_str())
        .collect();
    for interface in &imports.host {
        if !declared.contains(interface.kind()) {
            let (name, kind) = (interface.name(), interface.kind());
            let message = format!(
                "{WASM}: import not declared: {name} needs a capability {kind} in {MANIFEST}"
            );
            check.report(Row::TV_25, WASM, Finding::new(Row::TV_25, message));
        }
    }
    check.ask(Row::TV_26);
    let used: BTreeSet<_> = imports
        .host
        .iter()
        .map(|interface| interface.kind())
        .collect();
    for kind in declared.difference(&used) {
        let message = match HostInterface::ALL
            .iter()
            .find(|known| known.kind() == *kind)
        {
            Some(known) => {
                let name = known.name();
                format!(
                    "{MANIFEST}: capability not used: {kind}, but {WASM} does not import {name}"
                )
            }
            None => format!("{MANIFEST}: capability not used: no interface stands for {kind}"),
        };
        check.report(Row::TV_26, MANIFEST, Finding::new(Row::TV_26, message));
    }
    let is_known = |kind: &str| HostInterface::ALL.iter().any(|known| known.kind() == kind);
    for capability in capabilities.iter().filter(|one| is_known(&one.kind)) {
        if let Err(error) = component_form(&capability.kind, &capability.value) {
            let message = format!("{MANIFEST}: {capability}: {error}");
            check.report(Row::TV_26, MANIFEST, Finding::new(Row::TV_26, message));
        }
    }
    imports.other.is_empty()
}

/// TV-27, TV-28: it starts with nothing, and says what it is.
pub(super) fn check_behaviour(
    check: &mut Check<'_>,
    bundle: &VerifiedBundle,
    probe: &dyn ComponentProbe,
) {
    check.ask(Row::TV_27);
    let (row, problem) = match probe.instantiate_and_describe(bundle.wasm()) {
        Err(ProbeError::DoesNotInstantiate(why)) => {
            (Row::TV_27, format!("does not instantiate: {why}"))
        }
        Err(ProbeError::NoDescription(why)) => (Row::TV_28, format!("describe: {why}")),
        Ok(description) => {
            check.ask(Row::TV_28);
            match description::check(&description, check.subject.id) {
                Ok(()) => return,
                Err(fault) => (Row::TV_28, format!("describe: {fault}")),
            }
        }
    };
    check.report(row, WASM, Finding::new(row, format!("{WASM}: {problem}")));
}
