//! The configuration file: `hydrant.toml` in the home folder, or `--config FILE`. Never a file that merely
//! lies in the working tree.
//!
//! Flags go before `HYDRANT_*` variables, these before the file. One key is read so far: `policy`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use serde::Deserialize;

/// Bytes of a configuration file.
const MAX_BYTES: u64 = 1024 * 1024;

/// The options that say under which policy a command works.
#[derive(Args)]
pub(super) struct PolicyOptions {
    /// Policy file [default: `policy` of the configuration, else reading /os and /workspace, nothing else]
    #[arg(long, value_name = "FILE", env = "HYDRANT_POLICY")]
    policy: Option<PathBuf>,

    /// Configuration file [default: hydrant.toml in $HYDRANT_HOME, else in $HOME/.hydrant]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    policy: Option<PathBuf>,
}

impl PolicyOptions {
    /// The policy file to use, or none for the default policy.
    pub(super) fn policy_file(&self) -> anyhow::Result<Option<PathBuf>> {
        if self.policy.is_some() {
            return Ok(self.policy.clone());
        }
        let file = match &self.config {
            Some(file) => file.clone(),
            None => match home().map(|home| home.join("hydrant.toml")) {
                Some(file) if file.exists() => file,
                _ => return Ok(None),
            },
        };
        let config = read(&file).with_context(|| format!("configuration {}", file.display()))?;
        // A relative path means a file beside the configuration.
        let folder = file.parent().unwrap_or(Path::new(""));
        Ok(config.policy.map(|policy| folder.join(policy)))
    }
}

fn read(file: &Path) -> anyhow::Result<Config> {
    if fs::metadata(file)?.len() > MAX_BYTES {
        bail!("over {MAX_BYTES} bytes");
    }
    Ok(toml::from_str(&fs::read_to_string(file)?)?)
}

/// `$HYDRANT_HOME`, else `$HOME/.hydrant`.
fn home() -> Option<PathBuf> {
    let absolute = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("HYDRANT_HOME").or_else(|| absolute("HOME").map(|home| home.join(".hydrant")))
}
