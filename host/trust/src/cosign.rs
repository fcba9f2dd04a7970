//! The check of a container image's signature by `cosign`, a program of others.
//!
//! It runs after everything else about a bundle was verified and adds a condition; it never replaces one. The program
//! is `PROVENACT_COSIGN_BIN`, else the `cosign` of an absolute directory on `PATH`. It gets the environment, because
//! that is where it finds the credentials of registries; nothing of its output is believed but its exit status.

use hydrant_base::escaped;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of what cosign says on stderr that are looked at.
const MAX_STDERR: u64 = 65_536;
/// How long cosign may take, registries included.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often to look whether it has ended.
const POLL: Duration = Duration::from_millis(10);
/// How long to wait for the rest of its stderr once it has ended.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// The most characters of stderr that an error repeats.
const MAX_REASON: usize = 1024;

/// What an image must be signed with, and by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CosignCheck {
    /// The image.
    pub oci_ref: String,
    /// The public key file.
    pub key: PathBuf,
    /// Whom the certificate must name.
    pub certificate_identity: String,
    /// Who must have issued it.
    pub certificate_oidc_issuer: String,
}

/// The environment variables that choose the program.
#[derive(Debug, Clone, Default)]
pub struct CosignEnvironment {
    /// `PROVENACT_COSIGN_BIN`
    pub program: Option<OsString>,
    /// `PATH`
    pub path: Option<OsString>,
    /// `PROVENACT_ALLOW_PATH_COSIGN`
    pub allow_path: Option<OsString>,
}

/// Why the image does not count as signed.
#[derive(Debug, thiserror::Error)]
pub enum CosignError {
    /// The variable is set to nothing.
    #[error("PROVENACT_COSIGN_BIN must not be empty")]
    EmptyProgram,
    /// The variable names a program that is not found.
    #[error(
        "PROVENACT_COSIGN_BIN must be an absolute path or resolvable on PATH; set PROVENACT_ALLOW_PATH_COSIGN=1 to permit direct PATH lookup fallback"
    )]
    UnknownProgram,
    /// No program is named, and none is found.
    #[error(
        "cosign verification requires cosign to be present on PATH or PROVENACT_COSIGN_BIN set; set PROVENACT_ALLOW_PATH_COSIGN=1 to opt into unresolved PATH lookup"
    )]
    NoProgram,
    /// cosign would take it for a flag.
    #[error("invalid --oci-ref: {}", escaped(.0))]
    Reference(String),
    /// The program cannot be started.
    #[error("cosign verify invocation failed: {0}")]
    Start(std::io::Error),
    /// It took too long.
    #[error("cosign verify failed for {}: no answer within {} s", escaped(.0), PATIENCE.as_secs())]
    Timeout(String),
    /// It says no.
    #[error("cosign verify failed for {}{}", escaped(.oci_ref), reason(.stderr))]
    Refused {
        /// The image.
        oci_ref: String,
        /// What it says.
        stderr: String,
    },
}

/// What cosign said, in one line and no longer than a reader would read.
fn reason(stderr: &str) -> String {
    if stderr.is_empty() {
        return String::new();
    }
    let line = escaped(&stderr.replace('\n', " "));
    format!(": {}", line.chars().take(MAX_REASON).collect::<String>())
}

impl CosignEnvironment {
    /// The variables of this process.
    #[must_use]
    pub fn of_process() -> Self {
        Self {
            program: std::env::var_os("PROVENACT_COSIGN_BIN"),
            path: std::env::var_os("PATH"),
            allow_path: std::env::var_os("PROVENACT_ALLOW_PATH_COSIGN"),
        }
    }

    /// The program to start.
    fn resolve(&self) -> Result<PathBuf, CosignError> {
        let Some(named) = &self.program else {
            let name = Path::new("cosign");
            return self.find(name).ok_or(CosignError::NoProgram);
        };
        let named = match named.to_str() {
            Some(text) => Path::new(text.trim()),
            None => Path::new(named),
        };
        if named.as_os_str().is_empty() {
            return Err(CosignError::EmptyProgram);
        }
        if named.is_absolute() {
            return Ok(named.to_owned());
        }
        self.find(named).ok_or(CosignError::UnknownProgram)
    }

    /// The program of this name in an absolute directory on `PATH`: a relative one means whatever lies in the working
    /// directory. What is found nowhere is left to the system only where the variable allows that.
    fn find(&self, name: &Path) -> Option<PathBuf> {
        let path = self.path.as_deref().unwrap_or_default();
        let found = std::env::split_paths(path)
            .filter(|directory| directory.is_absolute())
            .map(|directory| directory.join(name))
            .find(|candidate| candidate.is_file());
        let allowed = |value: &OsStr| {
            let words = ["1", "true", "yes"];
            words.iter().any(|word| value.eq_ignore_ascii_case(word))
        };
        found.or_else(|| {
            let anywhere = self.allow_path.as_deref().is_some_and(allowed);
            anywhere.then(|| name.to_owned())
        })
    }
}

impl CosignCheck {
    /// Runs `cosign verify`, for at most two minutes.
    ///
    /// # Errors
    /// [`CosignError`]: there is no cosign, or it does not accept the image.
    pub fn run(&self, environment: &CosignEnvironment) -> Result<(), CosignError> {
        if self.oci_ref.starts_with('-') {
            return Err(CosignError::Reference(self.oci_ref.clone()));
        }
        let mut child = Command::new(environment.resolve()?)
            .arg("verify")
            .arg("--key")
            .arg(&self.key)
            .arg("--certificate-identity")
            .arg(&self.certificate_identity)
            .arg("--certificate-oidc-issuer")
            .arg(&self.certificate_oidc_issuer)
            .arg(&self.oci_ref)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(CosignError::Start)?;
        let said = child.stderr.take().map(listen);
        let deadline = Instant::now() + PATIENCE;
        // Its exit decides, not the end of its stderr, which a child of its own may hold open.
        let status = loop {
            if let Some(status) = child.try_wait().map_err(CosignError::Start)? {
                break Some(status);
            }
            if Instant::now() >= deadline {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            thread::sleep(POLL);
        };
        match status {
            Some(status) if status.success() => Ok(()),
            None => Err(CosignError::Timeout(self.oci_ref.clone())),
            Some(_) => {
                let said = said.and_then(|said| said.recv_timeout(LAST_WORDS).ok());
                let stderr = said.unwrap_or_default();
                Err(CosignError::Refused {
                    oci_ref: self.oci_ref.clone(),
                    stderr: String::from_utf8_lossy(&stderr).trim().to_owned(),
                })
            }
        }
    }
}

/// The first bytes of a stream; the rest is read as well, so that the program does not wait for a reader.
fn listen(mut stream: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (tell, told) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let mut start = Vec::new();
        let read = stream.by_ref().take(MAX_STDERR).read_to_end(&mut start);
        // The receiver is gone if cosign accepted the image.
        let _ = tell.send(start);
        if read.is_ok() {
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        }
    });
    told
}

#[cfg(test)]
mod tests;
