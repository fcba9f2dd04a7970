//! The files of a bundle by themselves: there, regular, within limits, and no others.

use std::borrow::Cow;

use super::RING;
use super::bundle_checks::{Check, Parsed};
use super::finding::{Finding, Row};
use super::folder::{Folder, MemberKind, Reason};
use hydrant_base::Digest;
use hydrant_trust::file_names::{BUNDLE_META, WASM};
use hydrant_trust::limits::{MAX_JSON_BYTES, MAX_WASM_BYTES};
use hydrant_trust::{BUNDLE_FILES, BundleMeta, OPAQUE_FILES, Wasm};

impl Check<'_> {
    /// Reads a file that must be there.
    pub(super) fn required(
        &mut self,
        folder: &Folder,
        name: &str,
        maximum: u64,
    ) -> Option<Cow<'static, [u8]>> {
        folder
            .read(name, maximum)
            .map_err(|fault| self.report_fault(Row::TV_11, &fault))
            .ok()
    }

    /// As [`required`](Self::required), for `skill.wasm`.
    pub(super) fn required_wasm(&mut self, folder: &Folder) -> Option<Wasm> {
        folder
            .read_wasm(WASM, MAX_WASM_BYTES)
            .map_err(|fault| self.report_fault(Row::TV_11, &fault))
            .ok()
    }

    /// Checks the optional files that nothing reads (`TV-11`).
    pub(super) fn opaque_files(&mut self, folder: &Folder) {
        for name in OPAQUE_FILES {
            match folder.check(name, MAX_JSON_BYTES) {
                Err(fault) if fault.reason != Reason::Missing => {
                    self.report_fault(Row::TV_11, &fault);
                }
                _ => {}
            }
        }
    }

    /// Checks that the bundle's copy of the ring is the ring (`TV-13`).
    pub(super) fn ring_copy(&mut self, folder: &Folder) {
        let Some(pin) = self.subject.pin else { return };
        let row = Row::TV_13;
        self.ask(row);
        match folder.read(&pin.keys_file, MAX_JSON_BYTES) {
            Err(fault) => self.report_fault(row, &fault),
            Ok(bytes) => {
                let actual = Digest::of(&bytes);
                let (file, rule) = (&pin.keys_file, "keys_digest mismatch");
                self.compare(row, file, rule, &pin.keys_digest, &actual);
                if *bytes != *self.ring.bytes() {
                    let rule = format!("is not byte-identical to {RING}");
                    let expected = self.ring.digest();
                    self.report_difference(row, file, &rule, expected, &actual);
                }
            }
        }
    }

    /// Checks that the unsigned summary agrees with what is pinned (`TV-20`).
    pub(super) fn bundle_meta(&mut self, folder: &Folder, parsed: &Parsed) {
        let row = Row::TV_20;
        self.ask(row);
        let bytes = match folder.read(BUNDLE_META, MAX_JSON_BYTES) {
            Ok(bytes) => bytes,
            Err(fault) => return self.report_fault(row, &fault),
        };
        let meta = match BundleMeta::parse(&bytes) {
            Ok(meta) => meta,
            Err(error) => {
                let finding = Finding::new(row, format!("{BUNDLE_META}: {error}"));
                return self.report(row, BUNDLE_META, finding);
            }
        };
        let expected = match (self.subject.pin, &parsed.manifest) {
            (Some(pin), _) => (pin.artifact.clone(), pin.manifest_hash.clone()),
            (None, Some(manifest)) => (manifest.artifact.clone(), manifest.hash()),
            (None, None) => return,
        };
        for (rule, expected, actual) in [
            ("artifact mismatch", &expected.0, &meta.artifact),
            ("manifest_hash mismatch", &expected.1, &meta.manifest_hash),
        ] {
            self.compare(row, BUNDLE_META, rule, expected, actual);
        }
    }

    /// Reports every file that no bundle has (`TV-21`).
    pub(super) fn extra_files(&mut self, folder: &Folder) {
        let row = Row::TV_21;
        self.ask(row);
        let members = match folder.members() {
            Ok(members) => members,
            Err(fault) => return self.report_fault(row, &fault),
        };
        for member in members {
            // A known name that is no regular file was reported by the check that wanted to read it.
            if !BUNDLE_FILES.contains(&member.name.as_str()) {
                let path = folder.path_of(&member.name);
                let what = match member.kind {
                    MemberKind::Directory => "extra file (a directory)",
                    MemberKind::File | MemberKind::Other => "extra file",
                };
                let finding = Finding::new(row, format!("{what}: {path}"));
                self.report(row, &member.name, finding);
            }
        }
    }
}
