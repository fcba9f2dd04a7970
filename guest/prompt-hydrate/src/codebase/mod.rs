//! What of the user's working tree has to do with the prompt, and how it is tested.
//!
//! Names are listed and compared; of contents only ignore files and two build files of the root are read, and nothing that
//! may hold a secret. A file is named only if it exists below the root.

mod ignore_file;
mod inline;
mod rank;
mod test_command;
mod walk;
mod words;

use kit::host::ReadFiles;

use crate::request::{Codebase, Mount, Tree};
use crate::text::Prompt;

pub use walk::Unreadable;

/// Looks through a tree.
///
/// # Errors
/// The root is no readable directory.
pub fn look(
    host: &mut impl ReadFiles,
    tree: &Tree,
    prompt: &Prompt,
) -> Result<Codebase, Unreadable> {
    match tree {
        Tree::Mount(mount) => look_below(host, *mount, prompt),
        // the same walk over files by value.
        Tree::Inline(files) => look_below(&mut inline::Files::new(files), Mount::Workspace, prompt),
    }
}

fn look_below(
    host: &mut impl ReadFiles,
    mount: Mount,
    prompt: &Prompt,
) -> Result<Codebase, Unreadable> {
    let named = rank::Named::of(prompt);
    let found = walk::walk(host, mount.path())?;
    let tests = test_command::of(&found.root, &named);
    let files = rank::rank(host, mount.path(), &found.entries, &named);
    Ok(Codebase { files, tests })
}

/// whether a path names something that is never opened.
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
