//! The draft of the next manifest, which can be validated and nothing else.

use hydrant_base::{Digest, JsonError, excerpt, parse_json};
use serde::Deserialize;
use serde_json::Value;

use super::Capability;
use super::manifest::DRAFT;

/// A manifest of the v1 draft.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestV1 {
    /// `1.0.0-draft`
    pub schema_version: String,
    /// The skill's id.
    pub id: String,
    /// A name for people.
    pub name: Option<String>,
    /// Its version.
    pub version: String,
    /// What is called.
    pub entrypoint: EntryPointV1,
    /// The digest of `skill.wasm`.
    pub artifact: Digest,
    /// An object, or an absolute URI.
    pub inputs_schema: Value,
    /// An object, or an absolute URI.
    pub outputs_schema: Value,
    /// What it may be granted.
    pub capabilities: Vec<Capability>,
    /// Who may sign.
    pub signers: Vec<String>,
    /// Anything.
    #[serde(default)]
    pub provenance: Value,
    /// Where it runs.
    pub compatibility: Option<CompatibilityV1>,
}

/// What a v1 manifest's `entrypoint` is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum EntryPointV1 {
    /// The name of an export.
    Name(String),
    /// A WASI program.
    Wasi(WasiEntryPointV1),
}

/// A WASI program within the bundle.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WasiEntryPointV1 {
    /// `wasi-command` or `wasi-reactor`.
    pub kind: String,
    /// Its file.
    pub path: String,
}

/// Where a skill runs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompatibilityV1 {
    /// Names of runtimes.
    pub runtime_profiles: Option<Vec<String>>,
    /// Names of adapters.
    pub adapter_profiles: Option<Vec<String>>,
}

/// Why a v1 manifest is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestV1Error {
    /// Not the JSON of one.
    #[error("invalid manifest v1 draft JSON: {0}")]
    Json(#[from] JsonError),
    /// A member has another schema version than the draft's.
    #[error("invalid draft field: manifest.schema_version: unsupported manifest schema version: {}", excerpt(.0))]
    SchemaVersion(String),
    /// A string is empty.
    #[error("invalid draft field: manifest.{0} must be non-empty")]
    Empty(&'static str),
    /// Another kind of program.
    #[error("invalid draft field: manifest.entrypoint.kind must be wasi-command or wasi-reactor: {}", excerpt(.0))]
    EntryPointKind(String),
    /// Neither an object nor an absolute URI.
    #[error("invalid draft field: manifest.{0} must be an object or an absolute URI")]
    SchemaReference(&'static str),
}

impl ManifestV1 {
    /// Reads and validates one.
    ///
    /// # Errors
    ///
    /// [`ManifestV1Error`] names the member.
    pub fn parse(bytes: &[u8]) -> Result<Self, ManifestV1Error> {
        let manifest: Self = parse_json(bytes)?;
        manifest.check()?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), ManifestV1Error> {
        if self.schema_version != DRAFT {
            return Err(ManifestV1Error::SchemaVersion(self.schema_version.clone()));
        }
        filled("id", [&self.id])?;
        filled("name", &self.name)?;
        filled("version", [&self.version])?;
        match &self.entrypoint {
            EntryPointV1::Name(name) => filled("entrypoint", [name])?,
            EntryPointV1::Wasi(program) => {
                if !matches!(program.kind.as_str(), "wasi-command" | "wasi-reactor") {
                    return Err(ManifestV1Error::EntryPointKind(program.kind.clone()));
                }
                filled("entrypoint.path", [&program.path])?;
            }
        }
        schema_reference("inputs_schema", &self.inputs_schema)?;
        schema_reference("outputs_schema", &self.outputs_schema)?;
        for capability in &self.capabilities {
            filled("capabilities[].kind", [&capability.kind])?;
            filled("capabilities[].value", [&capability.value])?;
        }
        filled("signers[]", &self.signers)?;
        let Some(compatibility) = &self.compatibility else {
            return Ok(());
        };
        let profiles = compatibility.runtime_profiles.iter().flatten();
        filled("compatibility.runtime_profiles[]", profiles)?;
        let profiles = compatibility.adapter_profiles.iter().flatten();
        filled("compatibility.adapter_profiles[]", profiles)
    }
}

fn filled<'a>(
    member: &'static str,
    texts: impl IntoIterator<Item = &'a String>,
) -> Result<(), ManifestV1Error> {
    if texts.into_iter().any(String::is_empty) {
        return Err(ManifestV1Error::Empty(member));
    }
    Ok(())
}

fn schema_reference(member: &'static str, schema: &Value) -> Result<(), ManifestV1Error> {
    let fits = match schema {
        Value::Object(_) => true,
        Value::String(uri) => url::Url::parse(uri).is_ok(),
        _ => false,
    };
    if fits {
        Ok(())
    } else {
        Err(ManifestV1Error::SchemaReference(member))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = r#"{"schema_version":"1.0.0-draft","id":"a.b","name":"A","version":"1",
        "entrypoint":"run","artifact":"sha256:24eaf3439a60c96764c4f2c92a0a81b52bd4fe5d5b91f090184a0f6486b1bf29",
        "inputs_schema":{},"outputs_schema":"https://example.com/out.json",
        "capabilities":[{"kind":"fs.read","value":"/a"}],"signers":["s"],"provenance":[1,null],
        "compatibility":{"runtime_profiles":["core"],"adapter_profiles":[]}}"#;

    fn message(from: &str, to: &str) -> String {
        assert!(EXAMPLE.contains(from), "{from}");
        let changed = EXAMPLE.replacen(from, to, 1);
        ManifestV1::parse(changed.as_bytes())
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn objects_and_absolute_uris_are_schemas() {
        let manifest = ManifestV1::parse(EXAMPLE.as_bytes()).unwrap();
        assert_eq!(
            (manifest.id.as_str(), manifest.version.as_str()),
            ("a.b", "1")
        );
        let program = EXAMPLE.replacen(r#""run""#, r#"{"kind":"wasi-reactor","path":"x"}"#, 1);
        assert!(ManifestV1::parse(program.as_bytes()).is_ok());
        for wrong in [r#""out.json""#, "true", "[]", "null"] {
            assert_eq!(
                message(r#""https://example.com/out.json""#, wrong),
                "invalid draft field: manifest.outputs_schema must be an object or an absolute URI"
            );
        }
    }

    #[test]
    fn optional_members_may_be_left_out() {
        let start = EXAMPLE.find(r#","provenance""#).unwrap();
        let short = format!("{}}}", EXAMPLE.get(..start).unwrap()).replace(r#""name":"A","#, "");
        assert!(ManifestV1::parse(short.as_bytes()).is_ok());
    }

    #[test]
    fn strings_must_not_be_empty() {
        for (from, to, member) in [
            (r#""a.b""#, r#""""#, "id"),
            (r#""A""#, r#""""#, "name"),
            (r#""version":"1""#, r#""version":"""#, "version"),
            (r#""run""#, r#""""#, "entrypoint"),
            (
                r#""run""#,
                r#"{"kind":"wasi-command","path":""}"#,
                "entrypoint.path",
            ),
            (r#""fs.read""#, r#""""#, "capabilities[].kind"),
            (r#""/a""#, r#""""#, "capabilities[].value"),
            (r#"["s"]"#, r#"["s",""]"#, "signers[]"),
            (r#""core""#, r#""""#, "compatibility.runtime_profiles[]"),
            ("[]}}", "[\"\"]}}", "compatibility.adapter_profiles[]"),
        ] {
            let expected = format!("invalid draft field: manifest.{member} must be non-empty");
            assert_eq!(message(from, to), expected);
        }
    }

    #[test]
    fn other_shapes_are_no_draft() {
        for (from, to) in [
            ("{", r#"{"extra":1,"#),
            ("{", r#"{"id":"x","#),
            (r#""id":"a.b","#, ""),
            (
                r#""run""#,
                r#"{"kind":"wasi-command","path":"x","extra":1}"#,
            ),
            (r#""run""#, "1"),
            ("sha256:24", "sha256:zz"),
            ("[1,null]", r#"{"a":1,"a":2}"#),
        ] {
            let error = message(from, to);
            assert!(
                error.starts_with("invalid manifest v1 draft JSON: "),
                "{error}"
            );
        }
        assert!(message("1.0.0-draft", "1.1.0-draft").ends_with(
            "invalid draft field: manifest.schema_version: unsupported manifest schema version: 1.1.0-draft"
        ));
        let kind = message(r#""run""#, r#"{"kind":"exe","path":"x"}"#);
        assert!(
            kind.starts_with("invalid draft field: manifest.entrypoint.kind"),
            "{kind}"
        );
    }
}
