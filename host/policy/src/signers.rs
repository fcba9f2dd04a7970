//! Whose skills run: the trusted-signer rule.

use super::Policy;

/// Why none of the signers is trusted. Where several layers are present, every one has to trust a signer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UntrustedSigner {
    /// The manifest names nobody whom the policy trusts.
    #[error("no trusted signer declared in manifest.signers ({layer})")]
    Manifest {
        /// The file that trusts none of them, as the operator named it.
        layer: String,
    },
    /// Somebody signed whom the manifest does not name.
    #[error("signature signer is not declared in manifest.signers: {}", .0.escape_default())]
    Undeclared(String),
    /// Somebody trusted is named, and nobody trusted has signed.
    #[error("no trusted signer present in signatures.json ({layer})")]
    Signatures {
        /// The file that trusts none of them, as the operator named it.
        layer: String,
    },
}

impl Policy {
    /// Checks that somebody this policy trusts is named by the manifest and has signed, and that only those have signed
    /// whom the manifest names. That the signatures are genuine is checked before, by `trust`.
    ///
    /// # Errors
    /// The first part of the rule that does not hold.
    pub fn check_signers(
        &self,
        manifest_signers: &[impl AsRef<str>],
        signature_signers: &[impl AsRef<str>],
    ) -> Result<(), UntrustedSigner> {
        let trusts = |name: &str| self.trusted_signers().iter().any(|trusted| trusted == name);
        let declares = |name: &str| {
            manifest_signers
                .iter()
                .any(|signer| signer.as_ref() == name)
        };
        if !manifest_signers.iter().any(|name| trusts(name.as_ref())) {
            let layer = self.source().to_owned();
            return Err(UntrustedSigner::Manifest { layer });
        }
        let undeclared = signature_signers
            .iter()
            .find(|name| !declares(name.as_ref()));
        if let Some(name) = undeclared {
            return Err(UntrustedSigner::Undeclared(name.as_ref().to_owned()));
        }
        if !signature_signers.iter().any(|name| trusts(name.as_ref())) {
            let layer = self.source().to_owned();
            return Err(UntrustedSigner::Signatures { layer });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::Scratch;

    /// The message of the check under `trusted_signers: [a, b]`; empty if it passes.
    fn check(manifest: &[&str], signatures: &[&str]) -> String {
        let text = "version: 1\ntrusted_signers: [a, b]\ncapability_ceiling: {}\n";
        let policy = Scratch::new().policy(text).unwrap();
        policy
            .check_signers(manifest, signatures)
            .map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn one_trusted_signer_is_declared_and_has_signed() {
        assert_eq!(check(&["a"], &["a"]), "");
        assert_eq!(check(&["a", "x"], &["a"]), "");
        assert_eq!(check(&["a", "x"], &["x", "a"]), "");
        assert_eq!(check(&["a", "b"], &["b"]), "");
    }

    #[test]
    fn anything_else_is_refused_with_the_reason() {
        let undeclared = "no trusted signer declared in manifest.signers";
        let unsigned = "no trusted signer present in signatures.json";
        let foreign = "signature signer is not declared in manifest.signers: ";
        for (manifest, signatures, said) in [
            (&[][..], &[][..], undeclared),
            (&["x"], &["x"], undeclared),
            (&["x"], &["a"], undeclared),
            (&["A"], &["A"], undeclared),
            (&["a"], &[], unsigned),
            (&["a", "x"], &["x"], unsigned),
            (&["a"], &["b"], foreign),
            (&["a"], &["a", "x\u{1b}"], foreign),
        ] {
            let message = check(manifest, signatures);
            assert!(
                message.starts_with(said),
                "{manifest:?} {signatures:?}: {message}"
            );
            assert!(!message.contains('\u{1b}'), "{message}");
        }
    }
}
