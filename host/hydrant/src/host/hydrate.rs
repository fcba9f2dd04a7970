//! Hydration: the pinned skill `content.hydrate`, with what the request and the flags of a run change.

use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::SkillCall;
use super::{Host, HostError};
use crate::capability::process::Scratch;
use crate::engine::{Budgets, CallError};
use crate::policy::{OwnMount, VirtualPath};

/// The skill behind [`Host::hydrate`].
pub(super) const HYDRATE: &str = "content.hydrate";
/// Bytes read in one hydration.
const HYDRATE_READ_BYTES: u64 = 64 * 1024 * 1024;

/// Where a document that declares skills is mounted for [`Host::hydrate_skills`]; no document of an operator is there.
const DECLARATION: &str = "/os/.hydrant-declaration";

/// The form of a hydrated document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// The payload of RFC 0020 v1.1.0, compact JSON.
    #[default]
    Json,
    /// The document with its lists replaced by hydrated objects (the older RFC 0020, §3.4).
    Link,
    /// As `Link`, with mappings keyed by URI (RFC 0020 v2.0.0).
    V2,
}

/// What to hydrate, and how.
#[derive(Debug, Clone, Serialize)]
pub struct HydrateRequest {
    /// `os://…`, `https://…`, or a path relative to `os://`; not empty.
    pub uri: String,
    /// The form of the answer.
    pub format: Format,
    /// Levels of dependencies, 1 to 16.
    pub depth: u8,
    /// Add the SHA-256 digest of every resource.
    pub checksums: bool,
    /// Read `name` and `description` of dependencies whose front matter cannot be parsed.
    pub lenient: bool,
    /// Development only: allow `http://` to loopback.
    pub allow_http_loopback: bool,
    /// Start no process, whatever the policy says.
    #[serde(skip)]
    pub no_exec: bool,
}

impl HydrateRequest {
    /// A request with the defaults of the protocol: JSON, depth 1, nothing optional.
    #[must_use]
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            format: Format::Json,
            depth: 1,
            checksums: false,
            lenient: false,
            allow_http_loopback: false,
            no_exec: false,
        }
    }
}

impl Host {
    /// Hydrates a resource: the payload without a final newline, or the document in link or v2 form.
    ///
    /// Problems of the resource and its dependencies are `ERROR: <CODE>` strings in the answer, not errors.
    ///
    /// # Errors
    ///
    /// [`HostError::Call`]: a budget ran out, the request is not valid, or there is no document to link.
    /// [`HostError::Pin`]: the component is not the pinned one.
    pub fn hydrate(&self, request: &HydrateRequest) -> Result<Vec<u8>, HostError> {
        self.answer(request.to_call(&request.to_bytes()?))?
            .map_err(HostError::of_failure)
    }

    /// The payload of a document that declares these URIs as its skills and nothing else: what `content.hydrate` reads of
    /// each of them. `request` says how; its own URI does not count.
    ///
    /// # Errors
    ///
    /// As [`hydrate`](Self::hydrate), and [`HostError::Temporary`].
    pub fn hydrate_skills(
        &self,
        request: &HydrateRequest,
        uris: &[String],
    ) -> Result<Vec<u8>, HostError> {
        let folder = Scratch::create().map_err(HostError::Temporary)?;
        let (uri, own) = declaration(folder.real(), uris).map_err(HostError::Temporary)?;
        let request = HydrateRequest {
            uri,
            format: Format::Json,
            ..request.clone()
        };
        self.answer(request.to_call(&request.to_bytes()?).with_mounts(own))?
            .map_err(HostError::of_failure)
    }
}

/// Writes a document that declares these skills into a folder, and mounts that; its URI and the mount.
fn declaration(folder: &Path, uris: &[String]) -> io::Result<(String, Arc<[OwnMount]>)> {
    // A list in JSON is one in YAML.
    let list = serde_json::json!(uris);
    fs::write(
        folder.join("skills.md"),
        format!("---\nskills: {list}\n---\n"),
    )?;
    let at = VirtualPath::parse(DECLARATION).map_err(io::Error::other)?;
    let uri = at.os_uri().unwrap_or_default() + "/skills.md";
    Ok((uri, Arc::new([OwnMount::granted(at, folder)?])))
}

impl HydrateRequest {
    /// What the component is asked.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, HostError> {
        serde_json::to_vec(self)
            .map_err(|error| HostError::Call(CallError::Trap(error.to_string())))
    }

    /// The call, with the bytes that [`to_bytes`](Self::to_bytes) returned.
    pub(super) fn to_call<'a>(&self, bytes: &'a [u8]) -> SkillCall<'a> {
        SkillCall::new(HYDRATE, bytes)
            .without_processes(self.no_exec)
            .with_http_loopback(self.allow_http_loopback)
            .limited(|budgets| Budgets {
                read_bytes: HYDRATE_READ_BYTES,
                ..budgets
            })
    }
}
