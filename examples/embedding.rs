//! How a runtime embeds hydrant: load a bundle from a directory, from an archive and from the store, run it under a
//! policy, and print its receipt.
//!
//!     cargo run --release --example embedding
//!
//! The bundle here is hydrant's own `content.hydrate`; any bundle that your key ring signs works alike.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::path::Path;

use hydrant::audit::{AuditTarget, ReceiptFormat};
use hydrant::base::Digest;
use hydrant::trust::archive::write_archive;
use hydrant::trust::install::{InstallOptions, install};
use hydrant::trust::{KeyRing, VerifiedBundle};
use hydrant::{Host, SkillCall, keys_digest};

fn main() -> Result<(), Box<dyn Error>> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let work = std::env::temp_dir().join(format!("hydrant-embedding-{}", std::process::id()));
    std::fs::create_dir(&work)?;
    let result = demonstrate(&workspace, &work);
    let removed = std::fs::remove_dir_all(&work);
    result.and(removed.map_err(Into::into))
}

fn demonstrate(workspace: &Path, work: &Path) -> Result<(), Box<dyn Error>> {
    // Whom you trust. The digest is what you decided to believe: write it down in your program, never take it from where
    // the ring lies. Here it is the one compiled into hydrant.
    let ring = std::fs::read(workspace.join("pins/public-keys.json"))?;
    let keys = KeyRing::open(&ring, keys_digest().as_str())?;

    // One skill, from three places. Each is verified; what is not signed by the ring is an error.
    let directory = workspace.join("skills/content.hydrate/0.1.0");
    let archive = work.join("content.hydrate.tar.zst");
    write_archive(&directory, &archive)?;
    let home = work.join("home");
    let source = archive.to_str().ok_or("the path is not UTF-8")?;
    let installed = install(source, &InstallOptions::default(), &home)?;
    let skill: Digest = installed.skill;
    let bundles = [
        (
            "directory",
            VerifiedBundle::from_directory(&directory, &keys)?,
        ),
        ("archive", VerifiedBundle::from_archive(&archive, &keys)?),
        ("store", VerifiedBundle::from_store(&home, &skill, &keys)?),
    ];

    // What may happen: the policy, and nothing that it does not name. Every call is recorded.
    let policy = workspace.join("examples/policies/embedding.yaml");
    let host = Host::builder()
        .policy(policy)
        .os_root(workspace.join("examples/os"))
        .audit(AuditTarget::Required(work.join("audit.jsonl")))
        .build()?;

    for (place, bundle) in &bundles {
        let run = host.call(SkillCall::bundle(
            bundle,
            br#"{"uri":"os://agents/docs-gardener.md"}"#,
        ))?;
        match &run.result {
            Ok(response) => println!("from the {place}: {} bytes of response", response.len()),
            Err(failure) => println!("from the {place}: {failure}"),
        }
        // A receipt of the draft form exists for failed runs too.
        if let Some(receipt) = run.receipt(ReceiptFormat::V1Draft) {
            println!("{}", String::from_utf8(receipt.to_bytes())?);
        }
    }
    print!("{}", std::fs::read_to_string(work.join("audit.jsonl"))?);
    Ok(())
}
