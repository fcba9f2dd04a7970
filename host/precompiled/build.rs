//! Compiles the pinned components to machine code for the target of the build.

#[path = "src/config.rs"]
#[allow(unreachable_pub)] // A module of the library, too.
mod config;

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use sha2::{Digest as _, Sha256};
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine, Store};

/// The instructions beyond the baseline of x86-64 that the code may use. Most server and desktop processors since 2013 have
/// them; on one that lacks any, the program compiles the components itself.
const X86_64_FEATURES: [&str; 10] = [
    "has_sse3",
    "has_ssse3",
    "has_sse41",
    "has_sse42",
    "has_popcnt",
    "has_avx",
    "has_avx2",
    "has_bmi1",
    "has_bmi2",
    "has_lzcnt",
];

/// The compression level of zstd for components: the highest that needs no more memory to decompress.
const COMPRESSION_LEVEL: i32 = 19;

/// Fuel and epoch ticks for asking a component what it is; it needs a small part of them.
const DESCRIBE_FUEL: u64 = 1_000_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let workspace = Path::new(&env::var("CARGO_MANIFEST_DIR")?)
        .join("../..")
        .canonicalize()?;
    let skills = workspace.join("skills");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/config.rs");
    println!("cargo::rerun-if-changed={}", skills.display());
    let target = target_engine()?;
    let native = Engine::new(&config::config())?;
    let is_native = env::var("TARGET")? == env::var("HOST")?;
    let mut components = String::from(
        "/// Every component of `skills/`, by path.\npub static COMPONENTS: &[Precompiled] = &[\n",
    );
    for file in component_files(&skills)? {
        let path = file.strip_prefix(&workspace)?;
        let wasm = fs::read(&file)?;
        let sha256: String = Sha256::digest(&wasm)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        // Descriptions come from running the components here, whatever the target is.
        let (machine_code, native) = match &target {
            Some(engine) if is_native => {
                let component = Component::new(engine, &wasm)?;
                (component.serialize()?, component)
            }
            Some(engine) => (
                engine.precompile_component(&wasm)?,
                Component::new(&native, &wasm)?,
            ),
            None => (Vec::new(), Component::new(&native, &wasm)?),
        };
        let description = describe(&native)
            .map_err(|error| format!("{}: describe: {error:#}", path.display()))?;
        let imports = imports(&native);
        let crc32 = crc32fast::hash(&machine_code);
        fs::write(out.join(format!("{sha256}.code")), machine_code)?;
        fs::write(out.join(format!("{sha256}.json")), description)?;
        fs::write(
            out.join(format!("{sha256}.zst")),
            zstd::bulk::compress(&wasm, COMPRESSION_LEVEL)?,
        )?;
        let made = |ending: &str| format!("concat!(env!(\"OUT_DIR\"), \"/{sha256}.{ending}\")");
        writeln!(
            components,
            "    Precompiled {{ path: {path:?}, digest: \"sha256:{sha256}\", compressed_wasm: include_bytes!({}), wasm_bytes: {}, \
             machine_code: {{ static CODE: &PageAligned<[u8]> = &PageAligned(*include_bytes!({})); &CODE.0 }}, \
             crc32: {crc32}, imports: &{imports:?}, \
             description: include_str!({}) }},",
            made("zst"),
            wasm.len(),
            made("code"),
            made("json"),
        )?;
    }
    components.push_str("];\n");
    fs::write(out.join("components.rs"), components)?;
    Ok(())
}

/// An engine that compiles for the target of the build; none where this build of wasmtime cannot.
#[allow(unsafe_code)]
fn target_engine() -> Result<Option<Engine>, Box<dyn Error>> {
    let (arch, triple) = (env::var("CARGO_CFG_TARGET_ARCH")?, env::var("TARGET")?);
    let mut config: Config = config::config();
    // Naming the target also turns the features of the machine that builds off.
    config.target(&triple)?;
    if arch == "x86_64" {
        for feature in X86_64_FEATURES {
            // SAFETY: the program checks that the processor has the feature before it runs the code.
            unsafe { config.cranelift_flag_enable(feature) };
        }
    }
    match Engine::new(&config) {
        Ok(engine) => Ok(Some(engine)),
        Err(error) => {
            println!(
                "cargo::warning=no machine code of the pinned components for {triple}: {error:#}"
            );
            Ok(None)
        }
    }
}

/// Every `<id>/<version>/skill.wasm` below `skills`, sorted.
fn component_files(skills: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = Vec::new();
    for id in fs::read_dir(skills)? {
        let id = id?.path();
        if !id.is_dir() {
            continue;
        }
        for version in fs::read_dir(id)? {
            let file = version?.path().join("skill.wasm");
            if file.is_file() {
                files.push(file);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The imports through which the component can do something: not those that only name types.
fn imports(component: &Component) -> Vec<String> {
    let engine = component.engine();
    let does_something = |item: &ComponentItem| match item {
        ComponentItem::ComponentInstance(interface) => interface
            .exports(engine)
            .any(|(_, export)| !matches!(export.ty, ComponentItem::Type(_))),
        ComponentItem::Type(_) => false,
        _ => true,
    };
    component
        .component_type()
        .imports(engine)
        .filter(|(_, import)| does_something(&import.ty))
        .map(|(name, _)| name.to_owned())
        .collect()
}

/// What the component says of itself. It gets no import: `describe` uses none.
fn describe(component: &Component) -> wasmtime::Result<String> {
    let engine = component.engine();
    let mut linker: Linker<()> = Linker::new(engine);
    linker.define_unknown_imports_as_traps(component)?;
    let mut store = Store::new(engine, ());
    store.set_fuel(DESCRIBE_FUEL)?;
    store.set_epoch_deadline(1);
    let instance = linker.instantiate(&mut store, component)?;
    let describe = instance.get_typed_func::<(), (String,)>(&mut store, "describe")?;
    Ok(describe.call(&mut store, ())?.0)
}
