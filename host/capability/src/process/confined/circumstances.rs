//! What a tool could tell of its jail: a description that was kept is that of a tool in the same one.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use super::Confined;
use crate::fs::descriptor_path;
use crate::process::executable;
use crate::process::kept::Circumstances;
use hydrant_jail::Program;

impl Confined<'_> {
    /// Adds what a tool could tell of its jail, but for what files hold; `own` is where the tool itself is shown. Answers
    /// the programs of the system that are started with it. None if it could answer by what comes over the network.
    ///
    /// # Errors
    /// What the system says.
    pub(in crate::process) fn add_to(
        &self,
        circumstances: &mut Circumstances,
        own: &Path,
    ) -> io::Result<Option<Vec<PathBuf>>> {
        // Every field is looked at, so that none that is added is forgotten.
        let Self {
            call: _,
            launcher: _,
            program,
            execute,
            mounts,
            hidden,
            pins,
            scratch,
            egress,
            memory_bytes,
            processes,
            jails: _,
        } = self;
        if !egress.is_empty() {
            return Ok(None);
        }
        let programs = match program {
            Program::Path(path) => {
                let path = path.as_path();
                circumstances.add_path("program", path);
                let mut programs = vec![path.to_owned()];
                programs.extend(executable::needs(path));
                programs
            }
            Program::Descriptor { file, at } => {
                circumstances.add_path("program", at.as_path());
                executable::needs(Path::new(&descriptor_path(file)))
            }
        };
        for path in execute {
            circumstances.add_path("execute", path);
        }
        for shown in mounts.iter().chain(pins) {
            circumstances.add_path("mount", shown.at.as_path());
            circumstances.add("access", format!("{:?} {}", shown.access, shown.executable));
            // Of the tool itself the bytes count, and not where it was kept when it was fetched.
            if shown.at.as_path() != own {
                add_identity(circumstances, "source", &shown.source)?;
            }
        }
        for hidden in hidden {
            circumstances.add_path("hidden", &hidden.at);
        }
        circumstances.add("scratch", scratch);
        circumstances.add("memory", memory_bytes.to_le_bytes());
        circumstances.add("processes", processes.to_le_bytes());
        Ok(Some(programs))
    }
}

/// Adds where a file or directory lies, and which one it is; not what is in it.
fn add_identity(circumstances: &mut Circumstances, name: &str, opened: &OwnedFd) -> io::Result<()> {
    circumstances.add_path(name, &std::fs::read_link(descriptor_path(opened))?);
    let stat = rustix::fs::fstat(opened)?;
    circumstances.add(name, stat.st_dev.to_le_bytes());
    circumstances.add(name, stat.st_ino.to_le_bytes());
    Ok(())
}
