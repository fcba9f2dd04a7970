//! Compiles the contract, the pins and the bundles into the program: a lone `hydrant` file runs its skills anywhere,
//! and knows which host world and which key ring it was built with.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// What is compiled in, below the workspace: its name and its directories, in byte order.
const TREES: [(&str, &[&str]); 2] = [("WIT", &["wit"]), ("ROOT", &["pins", "skills"])];

fn main() -> Result<(), Box<dyn Error>> {
    let workspace = Path::new(&env::var("CARGO_MANIFEST_DIR")?)
        .join("..")
        .canonicalize()?;
    let mut code = String::new();
    for (name, directories) in TREES {
        let mut files = Vec::new();
        for directory in directories {
            let root = workspace.join(directory);
            println!("cargo::rerun-if-changed={}", root.display());
            if root.is_dir() {
                collect(&root, &mut files)?;
            }
        }
        files.sort();
        // No constant, which would be in the program once for each place that uses it.
        writeln!(code, "pub(crate) static {name}: &[(&str, &[u8])] = &[")?;
        for file in files {
            let path = file
                .strip_prefix(&workspace)?
                .to_str()
                .ok_or("a path is not UTF-8")?;
            let absolute = file.to_str().ok_or("a path is not UTF-8")?;
            writeln!(code, "    ({path:?}, include_bytes!({absolute:?})),")?;
        }
        writeln!(code, "];")?;
    }
    fs::write(Path::new(&env::var("OUT_DIR")?).join("embedded.rs"), code)?;
    Ok(())
}

/// All regular files below `directory`, but the components: `host/precompiled` carries those.
fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            collect(&entry.path(), files)?;
        } else if kind.is_file() && entry.file_name() != "skill.wasm" {
            files.push(entry.path());
        }
    }
    Ok(())
}
