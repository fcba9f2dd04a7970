//! What `install` accepts and refuses, and that a refusal leaves nothing behind.

use std::fs;
use std::process::Command;

use super::super::archive::archive;
use super::super::archive::testing::{signed_package, with};
use super::super::vectors::{KEYS_DIGEST, ring_json};
use super::*;
use crate::BundleFiles;

/// An archive, a key file, and a home folder that does not exist yet.
struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    fn new(package: &Package) -> Self {
        Self::with_bytes(&archive(package).unwrap())
    }

    fn with_bytes(archive: &[u8]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("skill.tar.zst"), archive).unwrap();
        fs::write(directory.path().join("ring.json"), ring_json()).unwrap();
        Self { directory }
    }

    fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    fn source(&self) -> String {
        self.directory
            .path()
            .join("skill.tar.zst")
            .display()
            .to_string()
    }

    fn with_keys<'a>(&self) -> InstallOptions<'a> {
        InstallOptions {
            keys: Some(self.directory.path().join("ring.json")),
            keys_digest: Some(KEYS_DIGEST.to_owned()),
            ..InstallOptions::default()
        }
    }

    fn install(&self, options: &InstallOptions<'_>) -> Result<Installed, String> {
        install(&self.source(), options, &self.home()).map_err(|error| error.to_string())
    }

    #[track_caller]
    fn refuses(&self, options: &InstallOptions<'_>, message: &str) {
        let error = self.install(options).unwrap_err();
        assert!(error.contains(message), "{error}");
        assert!(!self.home().exists(), "nothing is written");
    }
}

fn unsigned() -> Package {
    with(&signed_package(), PackageFile::Signatures, |_| None)
}

fn changed(file: PackageFile, from: &str, to: &str) -> Package {
    with(&signed_package(), file, |text| {
        Some(text.replacen(from, to, 1))
    })
}

#[test]
fn what_is_installed_is_a_bundle_directory_named_by_the_archive() {
    let place = Place::new(&signed_package());
    let installed = place.install(&place.with_keys()).unwrap();
    let bytes = fs::read(place.source()).unwrap();
    assert_eq!(installed.skill, Digest::of(&bytes));
    assert_eq!(installed.source, place.source());
    assert_eq!(
        installed.store,
        place
            .home()
            .join("store/sha256")
            .join(installed.skill.hex())
    );
    let files = BundleFiles::read(&installed.store).unwrap();
    let bundle = Bundle::open(files, Experimental::Refused).unwrap();
    assert!(
        bundle
            .verify_with(ring_json().as_bytes(), KEYS_DIGEST)
            .is_ok()
    );

    let store = Store::new(&place.home()).unwrap();
    let index = store.index().unwrap();
    assert_eq!(index.entries().len(), 1);
    let entry = &index.entries()[0];
    assert_eq!(entry.skill, installed.skill);
    assert_eq!(entry.store, installed.store.to_str().unwrap());
    assert_eq!(
        (
            entry.manifest_name.as_str(),
            entry.manifest_version.as_str()
        ),
        ("example.null", "0.1.0")
    );
    assert!(now().abs_diff(entry.installed_at) < 100);
}

#[test]
fn without_keys_signatures_are_optional_and_their_digests_are_checked() {
    for package in [signed_package(), unsigned()] {
        let place = Place::new(&package);
        assert!(place.install(&InstallOptions::default()).is_ok());
    }
    let zeros = "sha256:0000000000";
    for (from, message) in [
        (
            "\"artifact\":\"sha256:24eaf3439a",
            "manifest.artifact must equal signatures.artifact",
        ),
        (
            "\"manifest_hash\":\"sha256:714af0b1ee",
            "signatures.manifest_hash must equal canonical manifest hash",
        ),
    ] {
        let to = format!("{}{zeros}", from.split("sha256").next().unwrap());
        let place = Place::new(&changed(PackageFile::Signatures, from, &to));
        place.refuses(&InstallOptions::default(), message);
    }
}

#[test]
fn with_keys_signatures_are_verified() {
    Place::new(&unsigned()).refuses(
        &Place::new(&unsigned()).with_keys(),
        "signatures.json is required for this install mode",
    );
    let forged = Place::new(&changed(PackageFile::Signatures, "7h7cBluOw", "7h7cBluOx"));
    forged.refuses(
        &forged.with_keys(),
        "signature verification failed for signer: ",
    );
    let stranger = Place::new(&changed(PackageFile::Signatures, "example.a", "example.c"));
    stranger.refuses(
        &stranger.with_keys(),
        "missing public key for signer: example.c",
    );

    let place = Place::new(&signed_package());
    let mut options = place.with_keys();
    options.keys_digest = Some(Digest::of(b"another ring").to_string());
    place.refuses(&options, "public keys digest mismatch");
    options.keys_digest = Some("sha256:x".to_owned());
    place.refuses(&options, "invalid --keys-digest format");
    options = place.with_keys();
    options.keys = Some(place.directory.path().join("missing"));
    place.refuses(&options, "missing");
}

#[test]
fn requiring_signatures_needs_keys_and_signatures() {
    let place = Place::new(&signed_package());
    let required = InstallOptions {
        signatures: SignatureMode::Required,
        ..InstallOptions::default()
    };
    let message = "--keys and --keys-digest are required when --require-signatures is set";
    place.refuses(&required, message);
    let unsigned = Place::new(&unsigned());
    let mut options = unsigned.with_keys();
    options.signatures = SignatureMode::Required;
    unsigned.refuses(
        &options,
        "signatures.json is required for this install mode",
    );
    let mut options = place.with_keys();
    options.signatures = SignatureMode::Required;
    assert!(place.install(&options).is_ok());
}

#[test]
fn keys_and_their_digest_come_together() {
    let place = Place::new(&signed_package());
    let message = "--keys and --keys-digest must be provided together";
    let mut options = place.with_keys();
    options.keys = None;
    place.refuses(&options, message);
    options = place.with_keys();
    options.keys_digest = None;
    place.refuses(&options, message);
}

#[test]
fn remote_sources_need_keys_and_signatures() {
    let place = Place::new(&signed_package());
    for source in ["https://example.org/x", "http://127.0.0.1:9/x"] {
        let options = InstallOptions {
            insecure_http: InsecureHttp::Allowed,
            ..InstallOptions::default()
        };
        let error = install(source, &options, &place.home())
            .unwrap_err()
            .to_string();
        assert_eq!(error, "remote artifacts require --keys and --keys-digest");
    }
    let refused = install("http://127.0.0.1:9/x", &place.with_keys(), &place.home());
    let error = refused.unwrap_err().to_string();
    assert!(
        error.contains("http:// artifacts are disabled by default"),
        "{error}"
    );
    assert!(!place.home().exists());
}

#[test]
fn a_download_is_verified_and_recorded_without_credentials() {
    use std::io::{BufRead, BufReader, Write};
    for (package, expected) in [(signed_package(), None), (unsigned(), Some("is required"))] {
        let place = Place::new(&package);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let body = archive(&package).unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            while !lines.next().unwrap().unwrap().is_empty() {}
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(&body).unwrap();
        });
        let mut options = place.with_keys();
        options.insecure_http = InsecureHttp::Allowed;
        let source = format!("http://user:secret@{address}/skill.tar.zst");
        let installed = install(&source, &options, &place.home());
        server.join().unwrap();
        match expected {
            Some(message) => {
                let error = installed.unwrap_err().to_string();
                assert!(error.contains(message), "{error}");
                assert!(!place.home().exists());
            }
            None => {
                let installed = installed.unwrap();
                let recorded = format!("http://***@{address}/skill.tar.zst");
                assert_eq!(installed.source, recorded);
                for file in [
                    installed.store.join("meta.json"),
                    place.home().join("index.json"),
                ] {
                    let text = fs::read_to_string(file).unwrap();
                    assert!(
                        text.contains(&recorded) && !text.contains("secret"),
                        "{text}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_policy_sees_manifest_and_signatures_and_can_refuse() {
    let place = Place::new(&signed_package());
    let refusing = |manifest: &Manifest, signatures: &Signatures, form: WasmForm| {
        assert_eq!(manifest.name, "example.null");
        assert_eq!(signatures.signers(), ["example.a", "example.b"]);
        assert_eq!(form, WasmForm::Component);
        Err("no trusted signer declared in manifest.signers".into())
    };
    let mut options = place.with_keys();
    options.policy = Some(&refusing);
    place.refuses(&options, "no trusted signer declared in manifest.signers");
    options.keys = None;
    options.keys_digest = None;
    place.refuses(&options, "--policy requires --keys and --keys-digest");

    // A policy that agrees does not replace the signatures.
    let agreeing = |_: &Manifest, _: &Signatures, _: WasmForm| Ok(());
    for (package, message) in [
        (unsigned(), "signatures.json is required"),
        (
            changed(PackageFile::Signatures, "7h7cB", "7h7cC"),
            "signature verification failed",
        ),
    ] {
        let place = Place::new(&package);
        let mut options = place.with_keys();
        options.policy = Some(&agreeing);
        place.refuses(&options, message);
    }
    let mut options = place.with_keys();
    options.policy = Some(&agreeing);
    assert!(place.install(&options).is_ok());
}

#[test]
fn the_manifest_is_checked_before_anything_is_written() {
    let draft = "{\n  \"schema_version\": \"1.0.0-draft\",";
    for (from, to, message) in [
        ("\"name\"", "\"nom\"", "invalid manifest JSON"),
        ("{", draft, "requires --allow-experimental"),
        ("example.null", "../example", "invalid manifest name"),
        ("example.null", "a\\nb", "invalid manifest name"),
        ("\"0.1.0\"", "\"\"", "invalid manifest version"),
        ("\"example.b\"", "\"example b\"", "invalid manifest signer"),
        (
            "sha256:24",
            "sha256:25",
            "manifest.artifact must match bundled skill.wasm digest (expected sha256:25eaf",
        ),
    ] {
        let place = Place::new(&changed(PackageFile::Manifest, from, to));
        place.refuses(&InstallOptions::default(), message);
    }
    let unsigned = with(&unsigned(), PackageFile::Manifest, |text| {
        Some(text.replacen('{', draft, 1))
    });
    let allowed = InstallOptions {
        experimental: Experimental::Allowed,
        ..InstallOptions::default()
    };
    assert!(Place::new(&unsigned).install(&allowed).is_ok());
}

/// The reader's own tests say which archives are hostile.
#[test]
fn of_a_hostile_archive_nothing_is_written() {
    let good = archive(&signed_package()).unwrap();
    let trailing = [good.as_slice(), b"x"].concat();
    let place = Place::with_bytes(&trailing);
    place.refuses(&InstallOptions::default(), "trailing data in archive");
    let place = Place::with_bytes(&good[..good.len() - 4]);
    place.refuses(&InstallOptions::default(), "artifact is truncated");
    let place = Place::with_bytes(b"");
    place.refuses(&InstallOptions::default(), "artifact is truncated");
}

/// Processes instead of threads: this test starts itself twice.
#[test]
fn parallel_installs_of_two_processes_both_end_up_in_the_index() {
    const HOME: &str = "HYDRANT_TEST_INSTALL_HOME";
    const SOURCE: &str = "HYDRANT_TEST_INSTALL_SOURCE";
    if let (Some(home), Ok(source)) = (std::env::var_os(HOME), std::env::var(SOURCE)) {
        install(&source, &InstallOptions::default(), Path::new(&home)).unwrap();
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let places = [Place::new(&signed_package()), Place::new(&unsigned())];
    let name = std::thread::current().name().unwrap().to_owned();
    let children: Vec<_> = places
        .iter()
        .map(|place| {
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args(["--exact", &name, "--test-threads=1"]);
            child.env(HOME, home.path()).env(SOURCE, place.source());
            child.stdout(std::process::Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let store = Store::new(home.path()).unwrap();
    assert_eq!(store.index().unwrap().entries().len(), 2);
}
