//! `hydrant keys generate` and `public`: keys for a root of one's own.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::SigningKey;
use serde_json::Value;

use crate::program::{Folder, Run, mode};

fn keys(folder: &Folder, arguments: &[&str]) -> Run {
    let mut command = folder.command(&[&["keys"], arguments].concat());
    Run::of(command.env("HYDRANT_SIGNING_KEYS", folder.path("../keys")))
}

fn folder() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("../keys")).unwrap();
    folder
}

/// What is made is a seed in base64, and its public half makes a ring in the form of pins.
#[test]
fn generated_keys_make_a_ring_for_pins() {
    let folder = folder();
    for signer in ["team.release", "team.build"] {
        let made = keys(&folder, &["generate", signer]);
        assert_eq!(made.status, 0, "{made:?}");
        let file = format!("../keys/{signer}.key");
        assert_eq!(mode(&folder.path(&file)), 0o600);
        let seed = STANDARD.decode(folder.text(&file)).unwrap();
        let public = SigningKey::from_bytes(&seed.try_into().unwrap()).verifying_key();
        assert_eq!(made.json()[signer], STANDARD.encode(public.as_bytes()));
        assert!(
            !made.stdout.contains(&folder.text(&file)),
            "the secret half is not shown"
        );
    }
    let ring = keys(&folder, &["public", "team.release", "team.build"]);
    let value: Value = ring.json();
    let names: Vec<_> = value.as_object().unwrap().keys().collect();
    assert_eq!(names, ["team.build", "team.release"]);
    assert_eq!(
        ring.stdout,
        format!("{}\n", serde_json::to_string_pretty(&value).unwrap())
    );
}

#[test]
fn a_key_is_never_replaced_and_none_is_made_inside_a_root() {
    let folder = folder();
    assert_eq!(keys(&folder, &["generate", "team.build"]).status, 0);
    let before = folder.text("../keys/team.build.key");
    let again = keys(&folder, &["generate", "team.build"]);
    assert_eq!(again.status, 1, "{again:?}");
    assert!(again.stderr.contains("is there already"), "{again:?}");
    assert_eq!(folder.text("../keys/team.build.key"), before);

    folder.write("pins/skills.lock.json", "{}");
    std::fs::create_dir(folder.path("keys")).unwrap();
    let mut command = folder.command(&["keys", "generate", "team.release"]);
    let inside = Run::of(command.env("HYDRANT_SIGNING_KEYS", folder.path("keys")));
    assert_eq!(inside.status, 1, "{inside:?}");
    assert!(!folder.exists("keys/team.release.key"));
    for bad in ["../team", "a/b", "", "a\nb"] {
        assert_eq!(keys(&folder, &["generate", bad]).status, 1, "{bad:?}");
    }
}
