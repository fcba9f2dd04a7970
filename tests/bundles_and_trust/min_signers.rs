//! How many signers a root needs.

use crate::canonical::{digest, pretty_line};
use crate::keys;
use crate::program::Run;
use crate::root::{LOCK, RING, Root, SIGNATURE};

#[test]
fn only_the_flag_lowers_the_number_of_signers() {
    let root = Root::new();
    let verify = |flag: &[&str], variable: Option<&str>| {
        let mut command = root.command(&["verify"]);
        if let Some(value) = variable {
            command.env("MIN_SIGNERS", value);
        }
        Run::of(command.args(flag))
    };
    assert_eq!(verify(&["--min-signers", "2"], Some("2")).status, 0);
    for (flag, variable) in [(&["--min-signers", "3"][..], None), (&[], Some("3"))] {
        let run = verify(flag, variable);
        assert_eq!(run.status, 3, "{run:?}");
    }
    for variable in ["1", "0", "x", "-1"] {
        let run = verify(&[], Some(variable));
        assert_eq!(run.status, 1, "{variable}: {run:?}");
    }
    assert_eq!(verify(&["--min-signers", "0"], None).status, 1);
    let lowered = verify(&["--min-signers", "1"], None);
    assert_eq!(lowered.status, 0, "{lowered:?}");
    let output = lowered.stdout + &lowered.stderr;
    assert!(output.contains("min-signers=1"), "{output}");
}

/// A root with one signer.
#[test]
fn a_root_with_one_signer_needs_the_flag() {
    let one = [keys::build()];
    let wasm = crate::guests::echo("demo.echo");
    let mut bundle = crate::bundle::Bundle::new(("demo.echo", "0.1.0"), &wasm, &[], &one);
    bundle.ring = keys::ring(&one);
    let root = Root::unpinned(vec![bundle]);
    root.folder.write(RING, keys::ring(&one));
    let lock = pretty_line(&root.lock_of(&root.bundles));
    root.folder
        .write(LOCK, &lock)
        .write(SIGNATURE, keys::lock_signature(&lock, &one));
    let digest = digest(keys::ring(&one));
    let anchor = ["--keys-digest", digest.as_str()];
    assert_eq!(root.verify(&anchor).run.status, 3);
    let lowered = root.verify(&[&anchor[..], &["--min-signers", "1"]].concat());
    assert_eq!(lowered.run.status, 0, "{:?}", lowered.run);
}
