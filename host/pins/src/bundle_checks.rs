//! The checks of one bundle (`TV-07`, `TV-11` to `TV-21`, then those of its component).
//!
//! One function serves three callers: `verify`, which wants every finding; a start of a skill; and `lock --update`, whose
//! bundle has no entry yet. A check that fails does not stop the checks that are still possible. Nothing here needs an engine. A
//! component may be started only if [`Checked::may_start`] says so, which it does for pinned and signed bundles alone.

use std::collections::BTreeSet;
use std::fmt;

use super::component_checks;
use super::finding::{Finding, Findings, Row};
use super::folder::{FileFault, Folder};
use super::root::{Root, SKILLS};
use hydrant_trust::file_names::{MANIFEST, SIGNATURES, WASM};
use hydrant_trust::limits::MAX_JSON_BYTES;
use hydrant_trust::{
    Bundle, BundleError, Experimental, KeyRing, LockEntry, Manifest, ManifestError, Signatures,
    SignaturesError, Step, VerifiedBundle, Wasm, verify_entry,
};

/// Which bundle is checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) id: &'a str,
    pub(super) version: &'a str,
    /// None for `lock --update`: then `TV-13` to `TV-15` and the lock's side of `TV-17` and `TV-20` are not evaluated.
    pub(super) pin: Option<&'a LockEntry>,
}

impl<'a> Subject<'a> {
    pub(super) fn pinned(entry: &'a LockEntry) -> Self {
        Self {
            id: &entry.id,
            version: &entry.version,
            pin: Some(entry),
        }
    }

    /// `id@version`
    pub(super) fn skill(&self) -> String {
        format!("{}@{}", self.id, self.version)
    }

    pub(super) fn bundle_dir(&self) -> String {
        self.pin.map_or_else(
            || format!("{SKILLS}/{}/{}", self.id, self.version),
            |pin| pin.bundle_dir.clone(),
        )
    }
}

/// The result of the checks, besides findings.
#[derive(Debug, Default)]
pub(super) struct Checked {
    /// If it parses.
    pub(super) manifest: Option<Manifest>,
    /// The names in `signatures.json`, sorted, if it parses.
    pub(super) signers: Option<Vec<String>>,
    /// The bundle if every signature verifies; it may have findings all the same.
    pub(super) verified: Option<VerifiedBundle>,
    /// Whether the component of `verified` may run, if only to describe itself: it is a component, it is pinned, and enough
    /// signers signed it.
    pub(super) may_start: bool,
    /// Whether nothing is wrong.
    pub(super) is_sound: bool,
}

impl Checked {
    /// The bundle, if nothing is wrong with it.
    pub(super) fn sound(&self) -> Option<&VerifiedBundle> {
        self.verified.as_ref().filter(|_| self.is_sound)
    }

    /// Bytes of the component that are held in memory.
    pub(super) fn wasm_bytes(&self) -> usize {
        let bundle = self.verified.as_ref();
        bundle.map_or(0, |bundle| bundle.wasm().held_bytes())
    }
}

/// Checks one bundle.
pub(super) fn check_bundle(
    root: &Root,
    ring: &KeyRing,
    min_signers: usize,
    subject: Subject<'_>,
    findings: &mut Findings,
) -> Checked {
    let mut check = Check {
        ring,
        min_signers,
        subject,
        skill: subject.skill(),
        directory: subject.bundle_dir(),
        failed: BTreeSet::new(),
        findings,
    };
    check.ask(Row::TV_07);
    match root.folder(&check.directory) {
        Ok(folder) => check.run(&folder),
        Err(fault) => {
            check.report_fault(Row::TV_07, &fault);
            Checked::default()
        }
    }
}

/// The checks of one bundle, under way.
pub(super) struct Check<'a> {
    pub(super) ring: &'a KeyRing,
    min_signers: usize,
    pub(super) subject: Subject<'a>,
    skill: String,
    directory: String,
    failed: BTreeSet<Row>,
    findings: &'a mut Findings,
}

impl Check<'_> {
    pub(super) fn ask(&mut self, row: Row) {
        self.findings.evaluate(row, Some(&self.skill));
    }

    /// Reports what is wrong with a file of the bundle.
    pub(super) fn report(&mut self, row: Row, file: &str, finding: Finding) {
        self.failed.insert(row);
        let path = format!("{}/{file}", self.directory);
        self.findings
            .report(finding.of(Some(&self.skill)).at(&path));
    }

    pub(super) fn report_fault(&mut self, row: Row, fault: &FileFault) {
        self.failed.insert(row);
        let finding = Finding::new(row, fault).of(Some(&self.skill));
        self.findings.report(finding.at(&fault.path));
    }

    /// A comparison that failed: `<file>: <rule>: expected …, got …`.
    pub(super) fn report_difference(
        &mut self,
        row: Row,
        file: &str,
        rule: &str,
        expected: impl fmt::Display,
        actual: impl fmt::Display,
    ) {
        let message = format!("{file}: {rule}: expected {expected}, got {actual}");
        self.report(
            row,
            file,
            Finding::new(row, message).because(expected, actual),
        );
    }

    /// Reports a difference, if there is one.
    pub(super) fn compare<T: PartialEq + fmt::Display>(
        &mut self,
        row: Row,
        file: &str,
        rule: &str,
        expected: &T,
        actual: &T,
    ) {
        if expected != actual {
            self.report_difference(row, file, rule, expected, actual);
        }
    }

    /// Whether no row up to and including `last` failed.
    pub(super) fn kept(&self, last: Row) -> bool {
        self.failed.iter().all(|row| *row > last)
    }

    fn run(mut self, folder: &Folder) -> Checked {
        self.ask(Row::TV_11);
        let wasm = self.required_wasm(folder);
        let manifest = self.required(folder, MANIFEST, MAX_JSON_BYTES);
        let signatures = self.required(folder, SIGNATURES, MAX_JSON_BYTES);
        self.opaque_files(folder);
        let manifest = manifest.map(|bytes| Manifest::parse(&bytes));
        let signatures = signatures.map(|bytes| Signatures::parse(&bytes));
        let bundle = match (wasm, &manifest, &signatures) {
            (Some(wasm), Some(manifest), Some(signatures)) => {
                self.open(wasm, manifest.clone(), signatures.clone())
            }
            _ => None,
        };
        let parsed = Parsed {
            manifest: manifest.and_then(Result::ok),
            signatures: signatures.and_then(Result::ok),
        };
        self.ring_copy(folder);
        if let Some(manifest) = &parsed.manifest {
            self.manifest(manifest);
        }
        if let Some(signatures) = &parsed.signatures {
            self.signers(signatures);
        }
        self.bundle_meta(folder, &parsed);
        self.extra_files(folder);
        let (verified, may_start) = self.component(bundle, &parsed);
        Checked {
            signers: parsed.signatures.as_ref().map(owned_signers),
            manifest: parsed.manifest,
            verified,
            may_start,
            is_sound: self.failed.is_empty(),
        }
    }

    /// Checks that the files name each other (`TV-12`).
    fn open(
        &mut self,
        wasm: Wasm,
        manifest: Result<Manifest, ManifestError>,
        signatures: Result<Signatures, SignaturesError>,
    ) -> Option<Bundle> {
        self.ask(Row::TV_12);
        let open = || {
            let manifest = manifest.map_err(BundleError::Manifest)?;
            Bundle::from_parts(wasm, manifest, signatures?, Experimental::Allowed)
        };
        match open() {
            Ok(bundle) => Some(bundle),
            // A pinned manifest has no schema version at all, which `TV-19` says.
            Err(error) if error.step() == Step::Schema => None,
            Err(error) => {
                let file = match error {
                    BundleError::Manifest(_) => MANIFEST,
                    BundleError::OtherWasm { .. } => WASM,
                    _ => SIGNATURES,
                };
                let finding = Finding::new(Row::TV_12, format!("{file}: {error}"));
                self.report(Row::TV_12, file, finding);
                None
            }
        }
    }

    /// Checks what the manifest says of the skill (`TV-14`, `TV-16`, `TV-19`).
    fn manifest(&mut self, manifest: &Manifest) {
        if let Some(pin) = self.subject.pin {
            self.ask(Row::TV_14);
            let rule = "artifact mismatch";
            self.compare(
                Row::TV_14,
                MANIFEST,
                rule,
                &pin.artifact,
                &manifest.artifact,
            );
        }
        self.ask(Row::TV_16);
        if manifest.name != self.subject.id || manifest.version != self.subject.version {
            let actual = format!("{}@{}", manifest.name, manifest.version);
            let (rule, expected) = ("id/version binding", self.skill.clone());
            self.report_difference(Row::TV_16, MANIFEST, rule, expected, actual);
        }
        self.ask(Row::TV_19);
        let names: Vec<_> = self.ring.names().collect();
        if let Err(error) = manifest.check_profile(&names, self.min_signers) {
            let finding = Finding::new(Row::TV_19, format!("{MANIFEST}: {error}"));
            self.report(Row::TV_19, MANIFEST, finding);
        }
    }

    /// Checks what the signatures claim before any is verified: `TV-15`, `TV-18` and the lock's side of `TV-17`.
    fn signers(&mut self, signatures: &Signatures) {
        let signers = signatures.signers();
        if let Some(pin) = self.subject.pin {
            self.ask(Row::TV_15);
            let (rule, pinned) = ("manifest_hash mismatch", &pin.manifest_hash);
            self.compare(
                Row::TV_15,
                SIGNATURES,
                rule,
                pinned,
                &signatures.manifest_hash,
            );
            if pin.signers != signers {
                let (expected, actual) = (pin.signers.join(", "), signers.join(", "));
                let rule = "signer set mismatch";
                self.report_difference(Row::TV_17, SIGNATURES, rule, expected, actual);
            }
        }
        self.ask(Row::TV_18);
        let keys: BTreeSet<_> = signers
            .iter()
            .filter_map(|name| self.ring.get(name))
            .collect();
        let minimum = self.min_signers;
        for (rule, actual) in [
            ("signer count", signers.len()),
            ("unique signer keys", keys.len()),
        ] {
            if actual < minimum {
                let message = format!("{SIGNATURES}: {rule}: at least {minimum}, got {actual}");
                let finding = Finding::new(Row::TV_18, message).because(minimum, actual);
                self.report(Row::TV_18, SIGNATURES, finding);
            }
        }
    }

    /// Checks the imports and every signature. Returns the verified bundle, and whether its component may run.
    fn component(
        &mut self,
        bundle: Option<Bundle>,
        parsed: &Parsed,
    ) -> (Option<VerifiedBundle>, bool) {
        let Some(bundle) = bundle else {
            self.verify_apart(parsed);
            return (None, false);
        };
        let declared = &bundle.manifest().capabilities;
        let runs = component_checks::check_imports(self, bundle.wasm(), declared);
        self.ask(Row::TV_17);
        match bundle.verify(self.ring) {
            // Nothing unpinned runs, not even to describe itself.
            Ok(bundle) => (Some(bundle), runs && self.kept(Row::TV_18)),
            Err(error) => {
                let finding = Finding::new(Row::TV_17, format!("{SIGNATURES}: {error}"));
                self.report(Row::TV_17, SIGNATURES, finding);
                (None, false)
            }
        }
    }

    /// Verifies the signatures of a bundle that is not whole (`TV-17`): they may be genuine all the same.
    fn verify_apart(&mut self, parsed: &Parsed) {
        let Some(signatures) = &parsed.signatures else {
            return;
        };
        self.ask(Row::TV_17);
        let message = signatures.manifest_hash.as_str().as_bytes();
        for entry in &signatures.signatures {
            let declares = |manifest: &Manifest| manifest.signers.contains(&entry.signer);
            let problem = match verify_entry(entry, message, self.ring) {
                Err(error) => error.to_string(),
                Ok(_) if parsed.manifest.as_ref().is_none_or(declares) => continue,
                Ok(_) => BundleError::UndeclaredSigner(entry.signer.clone()).to_string(),
            };
            let message = format!("{SIGNATURES}: {}: {problem}", entry.signer);
            self.report(Row::TV_17, SIGNATURES, Finding::new(Row::TV_17, message));
        }
    }
}

/// What could be parsed, whether or not it fits together.
pub(super) struct Parsed {
    pub(super) manifest: Option<Manifest>,
    pub(super) signatures: Option<Signatures>,
}

/// The names of all signers, as the lock lists them.
pub(super) fn owned_signers(signatures: &Signatures) -> Vec<String> {
    signatures
        .signers()
        .into_iter()
        .map(str::to_owned)
        .collect()
}
