//! What stands in the home folder after an installation.

use std::os::unix::fs::{MetadataExt, symlink};

use super::super::archive::testing::{package, signed_package};
use super::*;

fn installation(skill: &str) -> IndexEntry {
    IndexEntry {
        skill: Digest::of(skill.as_bytes()),
        store: String::new(),
        source: "https://***@example.org/skill.tar.zst".to_owned(),
        installed_at: 1_767_225_600,
        manifest_name: "example.null".to_owned(),
        manifest_version: "0.1.0".to_owned(),
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_directory_is_named_by_the_digest_and_holds_the_files_and_meta() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::new(home.path()).unwrap();
    let one = installation("one");
    let directory = store.install(&signed_package(), &one).unwrap();
    let expected = home.path().join("store/sha256").join(one.skill.hex());
    assert_eq!(directory, expected);
    assert_eq!(
        names(&directory),
        [
            "manifest.json",
            "meta.json",
            "signatures.json",
            "skill.wasm"
        ]
    );
    for (file, bytes) in signed_package().files() {
        let path = directory.join(file.name());
        assert_eq!(fs::read(&path).unwrap(), bytes);
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
    }
    // Nothing is left of the filling, and of the lock.
    assert_eq!(names(&home.path().join("store/sha256")), [one.skill.hex()]);
    assert_eq!(names(home.path()), ["index.json", "store"]);
}

#[test]
fn meta_is_written_alphabetically_and_without_a_final_newline() {
    let home = tempfile::tempdir().unwrap();
    let one = installation("one");
    let store = Store::new(home.path()).unwrap();
    let directory = store.install(&signed_package(), &one).unwrap();
    let expected = format!(
        "{{\n  \"installed_at\": 1767225600,\n  \"manifest_name\": \"example.null\",\n  \
         \"manifest_version\": \"0.1.0\",\n  \"schema_version\": \"1.0.0\",\n  \
         \"skill\": \"{}\",\n  \"source\": \"https://***@example.org/skill.tar.zst\"\n}}",
        one.skill
    );
    assert_eq!(
        fs::read_to_string(directory.join("meta.json")).unwrap(),
        expected
    );
}

#[test]
fn the_index_is_sorted_and_has_one_entry_for_each_skill() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::new(home.path()).unwrap();
    let mut all = ["one", "two", "three"].map(installation);
    for one in &all {
        store.install(&signed_package(), one).unwrap();
    }
    let mut again = installation("two");
    again.installed_at += 5;
    again.source = "elsewhere".to_owned();
    store.install(&signed_package(), &again).unwrap();

    all[1] = again;
    all.sort_by(|one, other| one.skill.cmp(&other.skill));
    let entries: Vec<_> = all
        .iter()
        .map(|one| {
            format!(
                "    {{\n      \"skill\": \"{skill}\",\n      \"source\": \"{source}\",\n      \
                 \"store\": \"{home}/store/sha256/{hex}\",\n      \"installed_at\": {at},\n      \
                 \"manifest_name\": \"example.null\",\n      \"manifest_version\": \"0.1.0\"\n    }}",
                skill = one.skill,
                source = one.source,
                home = home.path().display(),
                hex = one.skill.hex(),
                at = one.installed_at,
            )
        })
        .collect();
    let expected = format!(
        "{{\n  \"schema_version\": \"1.0.0\",\n  \"entries\": [\n{}\n  ]\n}}",
        entries.join(",\n")
    );
    let path = home.path().join("index.json");
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
}

#[test]
fn an_existing_directory_is_brought_back_to_what_the_archive_says() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::new(home.path()).unwrap();
    let package = package(&[
        (PackageFile::Manifest, b"m".as_slice()),
        (PackageFile::Wasm, b"w"),
        (PackageFile::Sbom, b"s"),
    ]);
    let mut one = installation("one");
    let directory = store.install(&package, &one).unwrap();
    let untouched = directory.join("sbom.spdx.json").metadata().unwrap().ino();
    fs::write(directory.join("skill.wasm"), "changed").unwrap();
    fs::remove_file(directory.join("manifest.json")).unwrap();
    fs::write(directory.join("signatures.json"), "not in the archive").unwrap();
    one.installed_at += 1;
    store.install(&package, &one).unwrap();

    for file in PackageFile::ALL {
        let found = fs::read(directory.join(file.name())).ok();
        assert_eq!(found.as_deref(), package.get(file), "{file}");
    }
    let meta = fs::read_to_string(directory.join("meta.json")).unwrap();
    assert!(meta.contains("1767225601"), "{meta}");
    assert_eq!(
        directory.join("sbom.spdx.json").metadata().unwrap().ino(),
        untouched,
        "a file that is right is not written again"
    );
}

#[test]
fn nothing_is_written_through_a_link() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::new(home.path()).unwrap();
    let one = installation("one");
    let directory = store.install(&signed_package(), &one).unwrap();
    let victim = home.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    fs::remove_file(directory.join("skill.wasm")).unwrap();
    symlink(&victim, directory.join("skill.wasm")).unwrap();
    let error = store
        .install(&signed_package(), &one)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("refusing to write through symlink"),
        "{error}"
    );
    assert_eq!(fs::read(&victim).unwrap(), b"precious");

    // A link in place of the whole directory.
    let elsewhere = home.path().join("elsewhere");
    fs::rename(&directory, &elsewhere).unwrap();
    symlink(&elsewhere, &directory).unwrap();
    let error = store.install(&signed_package(), &one).unwrap_err();
    assert!(matches!(error, StoreError::NotADirectory(_)), "{error}");
}

#[test]
fn an_index_that_is_none_is_refused_and_left_alone() {
    for (text, expected) in [
        ("", "index.json parse failed"),
        (
            r#"{"schema_version":"1.0.0","entries":[],"extra":1}"#,
            "index.json parse failed",
        ),
        (
            r#"{"schema_version":"2.0.0","entries":[]}"#,
            "unsupported index.json schema version: 2.0.0",
        ),
    ] {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("index.json"), text).unwrap();
        let store = Store::new(home.path()).unwrap();
        let error = store
            .install(&signed_package(), &installation("one"))
            .unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(
            fs::read_to_string(home.path().join("index.json")).unwrap(),
            text
        );
        assert_eq!(
            names(home.path()),
            ["index.json", "store"],
            "the lock is gone"
        );
    }
}

#[test]
fn an_index_never_grows_beyond_what_can_be_read_again() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::new(home.path()).unwrap();
    let mut large = installation("large");
    large.source = "s".repeat(1_048_000);
    store.install(&signed_package(), &large).unwrap();
    let before = fs::read(home.path().join("index.json")).unwrap();
    let error = store
        .install(&signed_package(), &installation("more"))
        .unwrap_err();
    assert!(matches!(error, StoreError::IndexFull { .. }), "{error}");
    assert_eq!(fs::read(home.path().join("index.json")).unwrap(), before);
    assert_eq!(store.index().unwrap().entries().len(), 1);
}

#[test]
fn parallel_installs_all_end_up_in_the_index() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::new(home.path()).unwrap();
    for round in 0..5 {
        std::thread::scope(|scope| {
            for thread in ["a", "b"] {
                let one = installation(&format!("{thread}{round}"));
                let store = &store;
                scope.spawn(move || store.install(&signed_package(), &one).unwrap());
            }
        });
    }
    assert_eq!(store.index().unwrap().entries().len(), 10);
}

#[test]
fn parallel_installs_of_one_archive_leave_one_whole_directory() {
    for _ in 0..5 {
        let home = tempfile::tempdir().unwrap();
        let store = Store::new(home.path()).unwrap();
        let one = installation("one");
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| store.install(&signed_package(), &one).unwrap());
            }
        });
        assert_eq!(names(&home.path().join("store/sha256")), [one.skill.hex()]);
        assert_eq!(names(&store.directory(&one.skill)).len(), 4);
        assert_eq!(store.index().unwrap().entries().len(), 1);
    }
}
