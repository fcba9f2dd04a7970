//! What the component of a bundle imports, declares and does.
//!
//! Every bundle is checked by its bytes first. Only then are components started, which may mean compiling them; [`Starts`] holds
//! the bundles that wait for that.

use std::collections::BTreeSet;

use super::bundle_checks::{Check, Checked, Subject};
use super::description;
use super::finding::{Finding, Findings, Row};
use super::{ComponentProbe, ProbeError, Progress};
use hydrant_policy::component_form;
use hydrant_trust::file_names::{MANIFEST, WASM};
use hydrant_trust::{
    Capability, HostInterface, Imports, Manifest, NotAComponent, VerifiedBundle, Wasm, WasmForm,
    imports,
};

/// How many bytes of components may wait to be started; the component that exceeds it makes all of them start.
pub(super) const MAX_WAITING: usize = 256 * 1024 * 1024;

/// A fault of a component or its declarations that was found without running it.
struct Fault {
    row: Row,
    file: &'static str,
    message: String,
}

/// Compares what the component imports with what its manifest declares. Returns whether it could be instantiated at all: whether
/// it is a component, and the host has all of its imports.
pub(super) fn check_imports(check: &mut Check<'_>, wasm: &Wasm, declared: &[Capability]) -> bool {
    check.ask(Row::TV_23);
    let faults = import_faults(wasm.imports(), declared);
    if faults.iter().all(|fault| fault.row != Row::TV_23) {
        check.ask(Row::TV_24);
        check.ask(Row::TV_25);
        check.ask(Row::TV_26);
    }
    let starts = faults.iter().all(|fault| fault.row > Row::TV_24);
    for fault in faults {
        let finding = Finding::new(fault.row, fault.message);
        check.report(fault.row, fault.file, finding);
    }
    starts
}

/// What `verify` and `lock` would find wrong with a component of this manifest, as far as its bytes tell: what it imports,
/// what the manifest declares, and the description, where that stands in the component as one text. Nothing is compiled.
///
/// A component without a single section, of which the examples of the format consist, is never wrong.
#[must_use]
pub fn check_component(wasm: &[u8], manifest: &Manifest) -> Findings {
    let mut findings = Findings::default();
    let is_empty = WasmForm::of(wasm) == WasmForm::Component && wasm.len() == 8;
    if is_empty || WasmForm::of(wasm) == WasmForm::CoreModule {
        return findings;
    }
    for fault in import_faults(imports(wasm), &manifest.capabilities) {
        findings.report(Finding::new(fault.row, fault.message).at(fault.file));
    }
    if let Some((at, fault)) = description::fault_within(wasm, &manifest.name) {
        let message = format!("{WASM}: describe: {fault} (the text at byte {at})");
        findings.report(Finding::new(Row::TV_28, message).at(WASM));
    }
    findings.sort();
    findings
}

fn import_faults(
    imports: Result<Imports, NotAComponent>,
    capabilities: &[Capability],
) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut report = |row, file, message| faults.push(Fault { row, file, message });
    let imports = match imports {
        Ok(imports) => imports,
        Err(error) => {
            report(Row::TV_23, WASM, error.to_string());
            return faults;
        }
    };
    for import in &imports.other {
        let message = format!("{WASM}: import not allowed: {import}");
        report(Row::TV_24, WASM, message);
    }
    let declared: BTreeSet<_> = capabilities.iter().map(|one| one.kind.as_str()).collect();
    for interface in &imports.host {
        let (name, kind) = (interface.name(), interface.kind());
        if !declared.contains(kind) {
            let message = format!(
                "{WASM}: import not declared: {name} needs a capability {kind} in {MANIFEST}"
            );
            report(Row::TV_25, WASM, message);
        }
    }
    let interface = |kind: &str| {
        HostInterface::ALL
            .into_iter()
            .find(|one| one.kind() == kind)
    };
    for kind in declared {
        let why = match interface(kind) {
            Some(used) if imports.host.contains(&used) => continue,
            Some(known) => format!("{kind}, but {WASM} does not import {}", known.name()),
            None => format!("no interface stands for {kind}"),
        };
        let message = format!("{MANIFEST}: capability not used: {why}");
        report(Row::TV_26, MANIFEST, message);
    }
    for capability in capabilities {
        let form = component_form(&capability.kind, &capability.value);
        if let (Some(_), Err(error)) = (interface(&capability.kind), form) {
            let message = format!("{MANIFEST}: {capability}: {error}");
            report(Row::TV_26, MANIFEST, message);
        }
    }
    faults
}

/// The bundles whose components are started when all other checks of all bundles are done.
pub(super) struct Starts<'a> {
    probe: &'a dyn ComponentProbe,
    progress: Option<&'a dyn Progress>,
    waiting: Vec<Waiting>,
    bytes: usize,
}

struct Waiting {
    id: String,
    skill: String,
    directory: String,
    /// None if it is not verified, or could never start.
    bundle: Option<VerifiedBundle>,
}

impl<'a> Starts<'a> {
    pub(super) fn new(probe: &'a dyn ComponentProbe, progress: Option<&'a dyn Progress>) -> Self {
        Self {
            probe,
            progress,
            waiting: Vec::new(),
            bytes: 0,
        }
    }

    /// Takes the bundle of `checked`, which waits for [`finish`](Self::finish) unless too many bytes do.
    pub(super) fn push(
        &mut self,
        subject: Subject<'_>,
        checked: &mut Checked,
        findings: &mut Findings,
    ) {
        let wasm_bytes = checked.wasm_bytes();
        let bundle = checked.verified.take().filter(|_| checked.may_start);
        self.bytes = self.bytes.saturating_add(wasm_bytes);
        self.waiting.push(Waiting {
            id: subject.id.to_owned(),
            skill: subject.skill(),
            directory: subject.bundle_dir(),
            bundle,
        });
        if self.bytes > MAX_WAITING {
            self.start(findings);
        }
    }

    /// Starts those that still wait.
    pub(super) fn finish(mut self, findings: &mut Findings) {
        self.start(findings);
    }

    fn start(&mut self, findings: &mut Findings) {
        self.bytes = 0;
        for waiting in self.waiting.drain(..) {
            if let Some(bundle) = &waiting.bundle {
                if let Some(progress) = self.progress {
                    progress.starts(&waiting.skill);
                }
                check_behaviour(&waiting, bundle, self.probe, findings);
            }
            if let Some(progress) = self.progress {
                progress.done(&waiting.skill);
            }
        }
    }
}

/// Checks that the component starts without any grant and describes itself.
fn check_behaviour(
    waiting: &Waiting,
    bundle: &VerifiedBundle,
    probe: &dyn ComponentProbe,
    findings: &mut Findings,
) {
    let skill = Some(waiting.skill.as_str());
    findings.evaluate(Row::TV_27, skill);
    let described = match bundle.wasm().description() {
        Some(known) => Ok(known.to_owned()),
        None => probe.instantiate_and_describe(bundle.wasm()),
    };
    let (row, problem) = match described {
        Err(ProbeError::DoesNotInstantiate(why)) => {
            (Row::TV_27, format!("does not instantiate: {why}"))
        }
        Err(ProbeError::NoDescription(why)) => (Row::TV_28, format!("describe: {why}")),
        Ok(description) => {
            findings.evaluate(Row::TV_28, skill);
            match description::check(&description, &waiting.id) {
                Ok(()) => return,
                Err(fault) => (Row::TV_28, format!("describe: {fault}")),
            }
        }
    };
    let finding = Finding::new(row, format!("{WASM}: {problem}")).of(skill);
    findings.report(finding.at(&format!("{}/{WASM}", waiting.directory)));
}
