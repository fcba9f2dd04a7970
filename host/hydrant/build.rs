//! Compiles the contract, the pins and the bundles into the program: a lone `hydrant` file runs its skills anywhere,
//! and knows which host world and which key ring it was built with. Links it so that it starts quickly.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The first glibc that reads packed relative relocations.
const GLIBC_WITH_PACKED_RELOCATIONS: (u32, u32) = (2, 36);

/// What is compiled in, below the workspace: its name and its directories, in byte order.
const TREES: [(&str, &[&str]); 2] = [("WIT", &["wit"]), ("ROOT", &["pins", "skills"])];

fn main() -> Result<(), Box<dyn Error>> {
    let workspace = Path::new(&env::var("CARGO_MANIFEST_DIR")?)
        .join("../..")
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
    println!("cargo::rerun-if-changed=build.rs");
    if loader_reads_packed_relocations()? {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    Ok(())
}

/// Whether the dynamic loader of the machines that the program is for reads packed relative relocations. The program has
/// 60,000 relocations, which are applied at each start: packed, that takes half the time. musl's loader has read them since
/// 1.2.4, which is older than the one that comes with Rust; that of glibc is asked, because the program may run where it is
/// built, or where glibc is newer.
fn loader_reads_packed_relocations() -> Result<bool, Box<dyn Error>> {
    if env::var("CARGO_CFG_TARGET_OS")? != "linux" {
        return Ok(false);
    }
    if env::var("CARGO_CFG_TARGET_ENV")? != "gnu" {
        return Ok(true);
    }
    let version = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let is_new = |text: &str| {
        let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?) >= GLIBC_WITH_PACKED_RELOCATIONS)
    };
    Ok(env::var("HOST")? == env::var("TARGET")?
        && version.is_ok_and(|text| is_new(&text).unwrap_or(false)))
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
