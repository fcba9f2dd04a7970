//! The cosign flags, which `verify --bundle` and `run --bundle` share.

use std::ffi::OsStr;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use hydrant::trust::{CosignCheck, CosignEnvironment};

// See the module. Any one of them demands all that have a value. No doc comment, which clap would print.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Verification by cosign")]
pub(in crate::cli) struct Flags {
    /// Demand that cosign verifies the image; needs the four flags below
    #[arg(long)]
    require_cosign: bool,

    /// The image that cosign verifies
    #[arg(long, value_name = "REF")]
    oci_ref: Option<String>,

    /// The public key that cosign verifies it with
    #[arg(long, value_name = "FILE")]
    cosign_key: Option<PathBuf>,

    /// Whom the certificate must name
    #[arg(long, value_name = "IDENTITY")]
    cosign_cert_identity: Option<String>,

    /// Who must have issued the certificate
    #[arg(long, value_name = "ISSUER")]
    cosign_cert_oidc_issuer: Option<String>,
}

impl Flags {
    /// Runs cosign if any flag asks for it; after every other check of the bundle.
    pub(in crate::cli) fn verify(&self) -> anyhow::Result<()> {
        match self.check()? {
            Some(check) => Ok(check.run(&CosignEnvironment::of_process())?),
            None => Ok(()),
        }
    }

    /// The check that the flags ask for.
    fn check(&self) -> anyhow::Result<Option<CosignCheck>> {
        let asked = self.require_cosign
            || self.oci_ref.is_some()
            || self.cosign_key.is_some()
            || self.cosign_cert_identity.is_some()
            || self.cosign_cert_oidc_issuer.is_some();
        if !asked {
            return Ok(None);
        }
        // The order of these errors is the row's.
        Ok(Some(CosignCheck {
            oci_ref: required("--oci-ref", &self.oci_ref)?,
            key: required("--cosign-key", &self.cosign_key)?,
            certificate_identity: required("--cosign-cert-identity", &self.cosign_cert_identity)?,
            certificate_oidc_issuer: required(
                "--cosign-cert-oidc-issuer",
                &self.cosign_cert_oidc_issuer,
            )?,
        }))
    }
}

fn required<T: Clone + AsRef<OsStr>>(flag: &str, value: &Option<T>) -> anyhow::Result<T> {
    // An empty one is what an unset variable leaves of a flag.
    value
        .clone()
        .filter(|value| !value.as_ref().is_empty())
        .with_context(|| format!("{flag} is required when cosign verification is configured"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Flags {
        Flags {
            require_cosign: false,
            oci_ref: Some("registry.example/skill:1".into()),
            cosign_key: Some("cosign.pub".into()),
            cosign_cert_identity: Some("who".into()),
            cosign_cert_oidc_issuer: Some("https://issuer.example".into()),
        }
    }

    #[test]
    fn without_a_flag_there_is_no_check() {
        assert!(Flags::default().check().unwrap().is_none());
    }

    #[test]
    fn with_all_values_there_is_a_check() {
        let check = all().check().unwrap().unwrap();
        assert_eq!(check.oci_ref, "registry.example/skill:1");
        assert_eq!(check.key, PathBuf::from("cosign.pub"));
        assert_eq!(check.certificate_identity, "who");
        assert_eq!(check.certificate_oidc_issuer, "https://issuer.example");
    }

    #[test]
    fn any_flag_demands_all_values_in_the_order_of_the_row() {
        let mut flags = Flags {
            require_cosign: true,
            ..Flags::default()
        };
        let missing = |flags: &Flags| flags.check().unwrap_err().to_string();
        let text = |flag| format!("{flag} is required when cosign verification is configured");
        assert_eq!(missing(&flags), text("--oci-ref"));
        flags.oci_ref = all().oci_ref;
        assert_eq!(missing(&flags), text("--cosign-key"));
        flags.cosign_key = all().cosign_key;
        assert_eq!(missing(&flags), text("--cosign-cert-identity"));
        flags.cosign_cert_identity = all().cosign_cert_identity;
        assert_eq!(missing(&flags), text("--cosign-cert-oidc-issuer"));
    }

    #[test]
    fn an_empty_value_is_a_missing_one() {
        let flags = Flags {
            cosign_cert_identity: Some(String::new()),
            ..all()
        };
        let error = flags.check().unwrap_err().to_string();
        assert!(
            error.starts_with("--cosign-cert-identity is required"),
            "{error}"
        );
    }

    #[test]
    fn each_flag_alone_asks_for_cosign() {
        let none = Flags::default;
        for flags in [
            Flags {
                require_cosign: true,
                ..none()
            },
            Flags {
                oci_ref: all().oci_ref,
                ..none()
            },
            Flags {
                cosign_key: all().cosign_key,
                ..none()
            },
            Flags {
                cosign_cert_identity: all().cosign_cert_identity,
                ..none()
            },
            Flags {
                cosign_cert_oidc_issuer: all().cosign_cert_oidc_issuer,
                ..none()
            },
        ] {
            assert!(flags.check().is_err(), "{flags:?}");
        }
    }
}
