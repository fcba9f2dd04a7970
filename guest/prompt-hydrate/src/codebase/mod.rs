//! What of the user's working tree has to do with the prompt, and how it is tested.
//!
//! Names are listed and compared; of contents only ignore files and two build files of the root are read, and nothing that
//! may hold a secret. A file is named only if it exists below the root.

mod inline;
mod rank;
mod test_command;
mod walk;
mod words;

use kit::host::ReadFiles;
use kit::path::Path;

use crate::request::{Codebase, Tree, WorkspaceMount};
use crate::text::Prompt;

pub use walk::Unreadable;

/// The root of the working tree.
const MOUNT: &str = "/workspace";

/// Looks through a tree.
///
/// # Errors
/// The root is no readable directory.
pub fn look(
    host: &mut impl ReadFiles,
    tree: &Tree<WorkspaceMount>,
    prompt: &Prompt,
) -> Result<Codebase, Unreadable> {
    match tree {
        Tree::Mount(WorkspaceMount::Workspace) => look_below(host, prompt),
        // The same walk over files by value.
        Tree::Inline(files) => look_below(&mut inline::Files::new(files), prompt),
    }
}

fn look_below(host: &mut impl ReadFiles, prompt: &Prompt) -> Result<Codebase, Unreadable> {
    let named = rank::Named::new(prompt);
    let root = Path::parse("workspace", ".").map_err(|_| Unreadable)?;
    let found = walk::walk(host, &root)?;
    let tests = test_command::find(host, &root, &found.root_files, &named);
    let files = rank::rank(host, &root, &found.entries, &named);
    Ok(Codebase { files, tests })
}

/// Whether a path names something that is never opened.
fn is_secret(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let is_secret = |name: &str| {
        let begins = |marks: &[&str]| marks.iter().any(|mark| name.starts_with(mark));
        let ends = |marks: &[&str]| marks.iter().any(|mark| name.ends_with(mark));
        [".env", ".ssh", ".aws", ".gnupg"].contains(&name)
            || begins(&[".env.", "id_rsa", "id_ed25519", "id_ecdsa"])
            || ends(&[".pem", ".key", ".p12", ".kdbx"])
    };
    path.split('/').any(is_secret)
}
