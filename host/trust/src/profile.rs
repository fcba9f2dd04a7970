//! What a manifest must be to be pinned: the narrow form that needs no judgement to read.

use super::manifest::is_lower_name;
use super::{Capability, Manifest};
use hydrant_base::excerpt;

/// The member of a manifest that does not fit the profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// Drafts are never pinned.
    #[error("manifest has a schema_version: {}", excerpt(.0))]
    SchemaVersion(String),
    /// Not `^[a-z0-9][a-z0-9._-]*$`.
    #[error("manifest {member} is not of lower-case letters, digits, `.`, `_` and `-`: {}", excerpt(.value))]
    Name {
        /// `name` or `version`.
        member: &'static str,
        /// What stands there.
        value: String,
    },
    /// Not a SemVer version.
    #[error("manifest version is no SemVer: {}", excerpt(.0))]
    NotSemVer(String),
    /// Components export `run`.
    #[error("manifest entrypoint is not run: {}", excerpt(.0))]
    Entrypoint(String),
    /// Unsorted or repeated.
    #[error("manifest signers are not sorted and unique at: {}", excerpt(.0))]
    SignerOrder(String),
    /// Too few.
    #[error("manifest declares {actual} signers, at least {minimum} are needed")]
    TooFewSigners {
        /// How many there are.
        actual: usize,
        /// How many there must be.
        minimum: usize,
    },
    /// Not in the ring.
    #[error("manifest signer is not in the pins ring: {}", excerpt(.0))]
    UnknownSigner(String),
    /// Unsorted or repeated.
    #[error("manifest capabilities are not sorted and unique at: {}", excerpt(&.0.to_string()))]
    CapabilityOrder(Capability),
}

pub(super) fn check(
    manifest: &Manifest,
    ring_names: &[&str],
    min_signers: usize,
) -> Result<(), ProfileError> {
    if let Some(version) = &manifest.schema_version {
        return Err(ProfileError::SchemaVersion(version.clone()));
    }
    for (member, value) in [("name", &manifest.name), ("version", &manifest.version)] {
        if !is_lower_name(value) {
            return Err(ProfileError::Name {
                member,
                value: value.clone(),
            });
        }
    }
    if semver::Version::parse(&manifest.version).is_err() {
        return Err(ProfileError::NotSemVer(manifest.version.clone()));
    }
    if manifest.entrypoint != "run" {
        return Err(ProfileError::Entrypoint(manifest.entrypoint.clone()));
    }
    if let Some(signer) = out_of_order(&manifest.signers) {
        return Err(ProfileError::SignerOrder(signer.clone()));
    }
    if manifest.signers.len() < min_signers {
        return Err(ProfileError::TooFewSigners {
            actual: manifest.signers.len(),
            minimum: min_signers,
        });
    }
    let unknown = |signer: &&String| !ring_names.contains(&signer.as_str());
    if let Some(signer) = manifest.signers.iter().find(unknown) {
        return Err(ProfileError::UnknownSigner(signer.clone()));
    }
    match out_of_order(&manifest.capabilities) {
        Some(capability) => Err(ProfileError::CapabilityOrder(capability.clone())),
        None => Ok(()),
    }
}

/// The first item that is not greater than the one before it.
fn out_of_order<T: Ord>(items: &[T]) -> Option<&T> {
    let mut pairs = items.iter().zip(items.iter().skip(1));
    pairs.find(|(one, next)| one >= next).map(|(_, next)| next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors;

    const RING: [&str; 2] = ["example.a", "example.b"];

    #[test]
    fn the_worked_example_fits() {
        assert_eq!(vectors::manifest().check_profile(&RING, 2), Ok(()));
    }

    #[test]
    fn each_member_out_of_form_is_named() {
        type Change = fn(&mut Manifest);
        let cases: [(Change, &str); 11] = [
            (
                |m| m.schema_version = Some("1.0.0-draft".to_owned()),
                "schema_version",
            ),
            (|m| m.name = "Example".to_owned(), "manifest name is not"),
            (|m| m.name = String::new(), "manifest name is not"),
            (
                |m| m.version = "1.0.0-RC".to_owned(),
                "manifest version is not",
            ),
            (|m| m.version = "1.0".to_owned(), "no SemVer: 1.0"),
            (
                |m| m.entrypoint = "main".to_owned(),
                "entrypoint is not run: main",
            ),
            (
                |m| m.signers.reverse(),
                "signers are not sorted and unique at: example.a",
            ),
            (
                |m| m.signers[1] = "example.a".to_owned(),
                "signers are not sorted and unique",
            ),
            (|m| m.signers.truncate(1), "declares 1 signers, at least 2"),
            (
                |m| m.signers[1] = "example.c".to_owned(),
                "not in the pins ring: example.c",
            ),
            (
                |m| m.capabilities.push(m.capabilities[0].clone()),
                "capabilities are not sorted and unique at: fs.read:/workspace",
            ),
        ];
        for (change, expected) in cases {
            let mut manifest = vectors::manifest();
            change(&mut manifest);
            let error = manifest.check_profile(&RING, 2).unwrap_err().to_string();
            assert!(error.contains(expected), "{error} without {expected}");
        }
    }

    #[test]
    fn capabilities_are_sorted_by_kind_and_then_value() {
        let capability = |kind: &str, value: &str| Capability {
            kind: kind.to_owned(),
            value: value.to_owned(),
        };
        let mut manifest = vectors::manifest();
        manifest.capabilities = vec![
            capability("fs.read", "/os"),
            capability("fs.read", "/workspace"),
            capability("net.http", "*"),
        ];
        assert_eq!(manifest.check_profile(&RING, 2), Ok(()));
        manifest.capabilities.swap(0, 1);
        assert_eq!(
            manifest.check_profile(&RING, 2),
            Err(ProfileError::CapabilityOrder(capability("fs.read", "/os")))
        );
    }
}
