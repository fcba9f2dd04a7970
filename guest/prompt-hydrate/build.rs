//! Compiles the default catalogue and its packs into the component: every file of `examples/catalog/`.
//!
//! The front matter of workflow files is parsed here, by the reader that parses it in other catalogues: a plan without a
//! catalogue directory then needs no YAML at run time.

#[path = "../kit/src/front_matter.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the splitter of kit, of which one function is used"
)]
mod front_matter;
#[path = "src/catalogue/yaml.rs"]
#[allow(unreachable_pub, reason = "public in the component")]
mod yaml;

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../examples/catalog");
    println!("cargo::rerun-if-changed={}", root.display());
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/catalogue/yaml.rs");
    let mut files = Vec::new();
    if root.is_dir() {
        collect(&root, &mut files)?;
    }
    files.sort();
    let mut code = String::from("static FILES: &[(&str, &str, &str)] = &[\n");
    for file in files {
        let path = file
            .strip_prefix(&root)?
            .to_str()
            .ok_or("a path is not UTF-8")?;
        let absolute = file.canonicalize()?;
        let absolute = absolute.to_str().ok_or("a path is not UTF-8")?;
        let front = if path.contains("workflows/") {
            front(&fs::read_to_string(&file)?)?
        } else {
            String::new()
        };
        writeln!(
            code,
            "    ({path:?}, include_str!({absolute:?}), {front:?}),"
        )?;
    }
    code.push_str("];\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("catalogue.rs"), code)?;
    Ok(())
}

/// The front matter as JSON; empty where it does not load, so that the component says why.
fn front(text: &str) -> Result<String, Box<dyn Error>> {
    let entries = front_matter::split(text)
        .front_matter
        .and_then(|range| text.get(range))
        .and_then(|front| yaml::parse(front).ok());
    match entries {
        Some(entries) => Ok(serde_json::to_string(&entries)?),
        None => Ok(String::new()),
    }
}

/// All Markdown and text files below `directory`.
fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        // What the model is trained with is no part of the catalogue.
        if path.ends_with("catalog/training") {
            continue;
        }
        if path.is_dir() {
            collect(&path, files)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "md" || extension == "txt")
        {
            files.push(path);
        }
    }
    Ok(())
}
