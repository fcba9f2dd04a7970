//! What stands around a run: the hosts it asks, the directories the planner sees, the memory source, the templates.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::gather::Memory;
use super::memory::{HttpMemory, Notes};
use super::message::{Source, Warning};
use super::mounts::PlannerMounts;
use super::planner::{Material, Missing, Templates};
use super::settings::{MemorySettings, Settings, TemplateFiles};
use crate::Host;
use hydrant_base::read_bounded;

/// The longest template.
const MAX_TEMPLATE_BYTES: u64 = 64 * 1024;

/// Makes a host; an error is told in words.
pub type MakeHost = Box<dyn FnOnce() -> Result<Arc<Host>, String> + Send>;

/// Everything that a run is told beside its prompt.
pub struct Surroundings {
    /// `[hydrate]`, flags and variables.
    pub settings: Settings,
    /// What is wrong with the configuration.
    pub warnings: Vec<Warning>,
    /// The host of the planner, which has no mounts and no network.
    pub host: MakeHost,
    /// The host of what goes out, for a server of notes or a language model; asked for only if there is one.
    pub net: MakeHost,
    /// `notes` in hydrant's home.
    pub notes: Option<PathBuf>,
    /// When the process began.
    pub started: Instant,
}

/// The host of what goes out, made when it is first needed.
pub struct Outward {
    make: Option<MakeHost>,
    made: Option<Result<Arc<Host>, String>>,
}

impl Outward {
    /// Not made yet.
    #[must_use]
    pub fn new(make: MakeHost) -> Self {
        Self {
            make: Some(make),
            made: None,
        }
    }

    /// The host.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub fn host(&mut self) -> Result<Arc<Host>, String> {
        if let Some(make) = self.make.take() {
            self.made = Some(make());
        }
        match &self.made {
            Some(made) => made.clone(),
            None => Err("there is no host".to_owned()),
        }
    }
}

/// A template cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TemplateError(String);

/// Opens what the planner may see. What cannot be opened is left out, and said so.
pub fn mounts(
    settings: &Settings,
    working_tree: Option<&Path>,
    material: &mut Material,
    warnings: &mut Vec<Warning>,
) -> PlannerMounts {
    let mut mounts = PlannerMounts::default();
    if let Some(catalog) = &settings.catalog {
        match mounts.clone().with_catalog(catalog) {
            Ok(with) => mounts = with,
            Err(error) => {
                let message = format!("{}: {error}; the embedded one is used", catalog.display());
                warnings.push(Warning::new(Source::Catalog, message));
                material.missing.insert(Missing::Catalog);
            }
        }
    }
    if let Some(directory) = working_tree {
        match mounts.clone().with_workspace(directory) {
            Ok(with) => mounts = with,
            Err(error) => {
                let message = format!("{}: {error}", directory.display());
                warnings.push(Warning::new(Source::Codebase, message));
                material.missing.insert(Missing::Codebase);
            }
        }
    }
    mounts
}

/// Where remembered text comes from; none where there is nowhere to look.
pub fn memory(
    settings: &Settings,
    notes: Option<&Path>,
    net: &mut Outward,
    material: &mut Material,
    warnings: &mut Vec<Warning>,
) -> Option<Memory> {
    match &settings.memory {
        MemorySettings::Off => None,
        MemorySettings::Notes(named) => {
            let directory = named.as_deref().or(notes)?;
            Some(Memory::local(Notes::new(directory)))
        }
        MemorySettings::Http(url) => match net.host() {
            Ok(host) => Some(Memory::remote(HttpMemory::new(host, url.clone()))),
            Err(reason) => {
                warnings.push(Warning::new(Source::Memory, reason));
                material.missing.insert(Missing::Memory);
                None
            }
        },
    }
}

/// Reads the templates that replace the embedded ones.
///
/// # Errors
/// [`TemplateError`]: missing, not UTF-8, or longer than 64 KiB.
pub fn templates(files: &TemplateFiles) -> Result<Templates, TemplateError> {
    let read = |file: &Option<PathBuf>| file.as_deref().map(template).transpose();
    Ok(Templates {
        context: read(&files.context)?,
        instruction: read(&files.instruction)?,
    })
}

fn template(file: &Path) -> Result<String, TemplateError> {
    let bytes =
        read_bounded(file, MAX_TEMPLATE_BYTES).map_err(|error| TemplateError(error.to_string()))?;
    String::from_utf8(bytes)
        .map_err(|_| TemplateError(format!("{}: it is not UTF-8", file.display())))
}
