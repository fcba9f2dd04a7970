//! Defects of the original, one negative test for each. Most lie where their subject is; the others are below.
//!
//! | defect | test |
//! |---|---|
//! | `run` does not deliver the output | `run_bundle::tk_24_the_output_is_delivered`, `core_modules::th_03_input_goes_in_and_output_comes_out` |
//! | a failed run counts as a success and has a receipt | `core_outcomes::th_27_what_a_return_value_means`, `core_modules::th_10_only_a_2xx_body_is_delivered`, `receipts::tr_15_a_failed_execution_has_a_failure_receipt` |
//! | an earlier receipt stays when a later run fails | `run_bundle::tr_04_no_earlier_receipt_survives` |
//! | a pinned component that cannot be instantiated passes | `pinned_components::tv_27_a_component_that_does_not_instantiate` |
//! | a module that imports `inactu` cannot run | `core_modules::th_03_input_goes_in_and_output_comes_out` (module `inactu`) |
//! | a default skill does nothing | `own_pins::tb_14_hydrants_own_ring_holds_its_two_signers`; that all ten work is tested in `default_skills` |
//! | a manifest names absolute paths of the host | [`a_manifest_names_virtual_roots`] |
//! | `exec` allows every program and argument | [`a_policy_names_programs_and_arguments`], [`only_the_stated_arguments_start`] |
//! | network access without a list of methods | [`only_the_stated_methods_are_sent`], [`a_rule_names_its_methods`] |
//! | a publicly known key is a signer | `pinned_lock::tb_15_a_ring_with_a_publicly_known_key_is_refused` |
//! | one signer has several keys across bundles | `pinned_bundles::tv_13_the_copy_of_the_ring_is_the_ring` |
//! | the lock is not signed | `pinned_lock::tv_04_the_lock_signature_has_one_form_and_every_entry_verifies`, `mutation` |
//! | the environment lowers the number of signers | `min_signers::tv_40_only_the_flag_lowers_the_number_of_signers` |
//! | an entry that was renamed in the lock passes | `pinned_bundles::tv_16_the_entry_is_bound_to_the_manifest` |
//! | a lock without entries passes | `pinned_lock::tv_06_the_lock_has_one_form` |
//! | a `bundle_dir` with `..` passes | `pinned_lock::tv_06_the_lock_has_one_form`, `pinned_bundles::tv_07_the_bundle_lies_in_the_root_without_a_symlink_on_the_way` |
//! | a bundle that is not pinned passes | `pinned_bundles::tv_22_everything_below_skills_is_pinned` |
//! | a changed `bundle-meta.json` or an extra file passes | `pinned_bundles::tv_20_the_meta_file_is_exact`, `pinned_bundles::tv_21_nothing_else_lies_in_a_bundle` |
//! | unknown members or an unknown version of the lock pass | `pinned_lock::tv_05_the_lock_has_exactly_its_members`, `pinned_lock::tv_06_the_lock_has_one_form` |
//! | a signer counts twice, or is not the manifest's | `verify_bundle::tb_51_each_step_has_its_message`, `verify_bundle::tb_52_a_signer_that_the_manifest_does_not_name_is_refused` |
//! | a linked root leads out of the policy | `layers::tp_22_a_symlinked_mount_is_refused`, `core_modules::th_22_a_symlink_does_not_lead_out_of_the_grant`, [`a_link_does_not_lead_a_component_out_of_its_mount`] |
//! | a path is resolved, checked, then opened again | [`a_directory_swapped_for_a_link_is_never_followed`] |
//! | it shows whether a file outside the grant exists | `core_modules::th_22_outside_the_grant_existing_and_missing_look_alike`, [`a_component_cannot_tell_existing_from_missing`] |
//! | no limit of time, and host calls cost nothing | `core_outcomes::tn_22_the_deadline_holds_inside_a_host_call`, `run_bundle::th_29_a_looping_component_is_stopped` |
//! | a denial does not say what was denied | `core_modules::th_22_outside_the_grant_existing_and_missing_look_alike`, `audit::tu_08_each_refused_operation_is_a_line_up_to_100` |
//! | denied and failed runs are not recorded | `audit::tu_06_a_failed_execution_is_recorded_with_its_code`, `audit::tu_07_what_was_refused_is_recorded_with_its_step` |
//! | hashes are not over what the text says | `receipts::tr_12_every_hash_of_a_v1_receipt_can_be_recomputed`, `receipts::tp_43_the_worked_policy_hash` |
//! | `provenance.json` is demanded here and refused there | `verify_bundle::tb_26_other_files_do_not_matter_and_need_not_exist`, `hostile_archives::ta_14_other_names_are_refused` |
//! | `install --policy` ignores trusted signers | `hostile_archives::ta_19_the_policy_of_an_install_needs_keys_and_counts_signers_too` |
//! | an archive with duplicate or link entries is accepted | `hostile_archives::ta_15_only_regular_entries_are_accepted`, `hostile_archives::ta_16_a_name_that_occurs_twice_is_refused` |
//! | a newline in a name adds lines to an exported SKILL.md | `export::ta_42_the_stored_manifest_is_checked_again`, `packing::tb_34_pack_refuses_names_that_would_not_stay_on_their_line` |
//! | a path stands unquoted in a script | `export::ta_43_the_wrapper_runs_the_stored_bundle` |
//! | a skill writes where it did not declare to | `core_modules::th_09_files_are_written_below_the_declared_directory_only` |
//! | YAML with loose scalars is a policy | `layers::tp_02_what_is_no_policy` |
//! | a URI as the schema of a v1 manifest is refused | `registry::tf_35_schemas_may_be_uris` |
//! | an allowed name leads to private addresses | `core_modules::tc_33_a_name_does_not_open_loopback`, [`a_star_does_not_open_private_addresses`] |
//! | state falls back to `/tmp` | `core_modules::th_25_without_a_home_there_is_no_state` |
//! | `--help` and `--version` exit with 1 | `usage::tx_01_help_and_version_succeed_on_stdout` |
//! | wider capabilities go unnoticed | `pinned_components::tv_26_a_capability_without_its_import_and_values_without_a_form`, `pinned_components::tv_32_with_a_baseline_widening_is_found`, `widening` |
//! | keys are not sorted as RFC 8785 says | no file that a command hashes has a free key with an astral character: a unit test |

use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use serde_json::{Value, json};

use crate::execution::Execution;
use crate::guests;
use crate::hostcalls::{ARGUMENTS_DENIED, DENIED, DIRECTORY_DENIED, fetching, starting};
use crate::loopback::Loopback;

fn policy(ceiling: &Value, host: &Value) -> Value {
    json!({"version": 1, "trusted_signers": ["team.build"], "capability_ceiling": ceiling, "host": host})
}

/// A component that reads this virtual path and declares this one, `/workspace` being `data`.
fn reader(path: &str, declared: &str) -> Execution {
    let ceiling = json!({"fs": {"read": ["/workspace"]}});
    let wasm = guests::reading("demo.echo", path, 1);
    let execution = Execution::new(&wasm, &[("fs.read", declared)], &ceiling);
    execution
        .folder
        .write("data/a/note.txt", "a note")
        .write("data/b/there", "x");
    let mount = json!({"mounts": [{"at": "/workspace", "dir": "data", "mode": "ro"}]});
    execution.policy(&policy(&ceiling, &mount));
    execution
}

/// The same signed bundle reads whatever directory the policy puts there.
#[test]
fn a_manifest_names_virtual_roots() {
    let execution = reader("/workspace/a/note.txt", "/workspace");
    assert_eq!(execution.output(&[]), b"a note");
    execution.folder.write("elsewhere/a/note.txt", "another");
    let ceiling = json!({"fs": {"read": ["/workspace"]}});
    let mount = json!({"mounts": [{"at": "/workspace", "dir": "elsewhere", "mode": "ro"}]});
    execution.policy(&policy(&ceiling, &mount));
    assert_eq!(execution.output(&[]), b"another");
    let text = execution.folder.text("bundle/manifest.json");
    assert!(!text.contains(execution.folder.path("").to_str().unwrap()));
}

#[test]
fn a_policy_names_programs_and_arguments() {
    let execution = Execution::plain(&guests::echo("demo.echo"));
    execution.folder.write("data/x", "");
    let mount = json!({"at": "/workspace", "dir": "data", "mode": "ro"});
    let process = |ceiling: Value, rule: Value| {
        execution.policy(&policy(
            &ceiling,
            &json!({"process": [rule], "mounts": [mount]}),
        ));
        execution.run(&[])
    };
    let rule_of = |program: &str, args: Value| json!({"program": program, "args": args, "cwd": ["/workspace"]});
    let exec = json!({"exec": true});
    let good = rule_of("git", json!([["status"]]));
    assert_eq!(process(exec.clone(), good.clone()).status, 0);
    let violation = "policy constraint violation: ";
    process(json!({}), good).assert_failed(violation);
    for program in ["sh", "python3", "env", "node"] {
        process(exec.clone(), rule_of(program, json!([["-c", "*"]]))).assert_failed(violation);
        process(exec.clone(), rule_of(program, json!([["..."]]))).assert_failed(violation);
    }
    for rule in [
        json!({"program": "git"}),
        json!({"args": [[]], "cwd": ["/workspace"]}),
    ] {
        process(exec.clone(), rule).assert_failed("invalid policy document");
    }
    assert_eq!(process(exec, rule_of("bin/git", json!([[]]))).status, 1);
}

/// An argument list, a program, a directory that no rule has. None of these starts anything.
#[test]
fn only_the_stated_arguments_start() {
    let start = |program: &str, argument: &str, directory: &str| {
        let wasm = starting(program, argument, directory);
        let ceiling = json!({"exec": true});
        let execution = Execution::new(&wasm, &[("exec.safe", "*")], &ceiling);
        execution.folder.write("data/in/x", "");
        let host = json!({
            "mounts": [{"at": "/workspace", "dir": "data", "mode": "ro"}],
            "process": [{"program": "true", "args": [["--ok"]], "cwd": ["/workspace/in"]}],
        });
        execution.policy(&policy(&ceiling, &host));
        (
            execution.output(&["--audit", "audit.jsonl"]),
            execution.audit(),
        )
    };
    assert_eq!(start("true", "--no", "/workspace/in").0, ARGUMENTS_DENIED);
    assert_eq!(start("true", "--ok", "/workspace").0, DIRECTORY_DENIED);
    let (answer, audit) = start("touch", "--ok", "/workspace/in");
    assert_eq!(answer, DENIED);
    assert!(
        audit
            .iter()
            .any(|line| line["reason"] == "capability_denied:exec.safe:touch"),
        "{audit:?}"
    );
    let allowed = start("true", "--ok", "/workspace/in").0;
    assert!(
        ![DENIED, ARGUMENTS_DENIED, DIRECTORY_DENIED].contains(&allowed.as_slice()),
        "{allowed:?}"
    );
}

/// A component with `net.http:*` that sends this to `/base/x` of the server, and a rule of the policy.
fn fetch(method: u8, server: &Loopback, rule: &Value) -> Execution {
    let wasm = fetching(method, &server.url("/base/x"));
    let ceiling = json!({"net": [server.url("/base")]});
    let execution = Execution::new(&wasm, &[("net.http", "*")], &ceiling);
    execution.policy(&policy(&ceiling, &json!({"net": [rule]})));
    execution
}

#[test]
fn only_the_stated_methods_are_sent() {
    let server = Loopback::new("200 OK", "", b"x");
    let get = json!({"url": server.url("/base"), "methods": ["GET"]});
    assert_eq!(fetch(0, &server, &get).output(&[]), b"\"ok\"");
    let before = server.connections();
    for method in 1..6 {
        assert_eq!(fetch(method, &server, &get).output(&[]), DENIED, "{method}");
    }
    let narrow = json!({"url": server.url("/base/y"), "methods": ["GET"]});
    assert_eq!(fetch(0, &server, &narrow).output(&[]), DENIED);
    assert_eq!(server.connections(), before, "nothing was sent");
}

#[test]
fn a_rule_names_its_methods() {
    let server = Loopback::new("200 OK", "", b"x");
    let url = server.url("/base");
    let run = |rule: Value| fetch(0, &server, &rule).run(&[]);
    run(json!({"url": url})).assert_failed("invalid policy document");
    for methods in [
        json!([]),
        json!(["GET", "GET"]),
        json!(["TRACE"]),
        json!(["get"]),
    ] {
        assert_eq!(
            run(json!({"url": url, "methods": methods})).status,
            1,
            "{methods}"
        );
    }
    let outside = json!({"url": server.url("/other"), "methods": ["GET"]});
    run(outside).assert_failed("policy constraint violation: ");
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_link_does_not_lead_a_component_out_of_its_mount() {
    let execution = reader("/workspace/link/note.txt", "/workspace");
    execution.folder.write("secret/note.txt", "secret");
    for target in [
        execution.folder.path("secret"),
        "../secret".into(),
        "/proc/self/cwd/secret".into(),
    ] {
        symlink(target, execution.folder.path("data/link")).unwrap();
        assert_ne!(execution.output(&[]), b"secret");
        std::fs::remove_file(execution.folder.path("data/link")).unwrap();
    }
    // One that stays inside is followed.
    symlink("a", execution.folder.path("data/link")).unwrap();
    assert_eq!(execution.output(&[]), b"a note");
}

/// A directory of the mount is swapped for a link out of it again and again while runs read
/// through it.
#[test]
fn a_directory_swapped_for_a_link_is_never_followed() {
    let execution = reader("/workspace/a/note.txt", "/workspace");
    execution.folder.write("secret/note.txt", "secret");
    assert_eq!(execution.output(&[]), b"a note");
    assert_eq!(execution.output(&[]), b"a note");
    symlink(
        execution.folder.path("secret"),
        execution.folder.path("data/link"),
    )
    .unwrap();
    let names = ["data/a", "data/link", "data/kept"].map(|name| execution.folder.path(name));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Relaxed) {
                let [directory, link, kept] = &names;
                std::fs::rename(directory, kept).unwrap();
                std::fs::rename(link, directory).unwrap();
                std::fs::rename(directory, link).unwrap();
                std::fs::rename(kept, directory).unwrap();
            }
        });
        let outputs: Vec<_> = (0..60)
            .map(|_| execution.run(&["--print-output"]))
            .collect();
        done.store(true, Relaxed);
        for run in outputs {
            assert!(!run.stdout.contains("secret"), "{run:?}");
        }
    });
}

#[test]
fn a_component_cannot_tell_existing_from_missing() {
    let outcome = |path: &str| {
        let execution = reader(path, "/workspace/a");
        let run = execution.run(&["--print-output"]);
        (run.status, run.stdout)
    };
    assert_eq!(outcome("/workspace/b/there"), (0, "\"denied\"".to_owned()));
    assert_eq!(outcome("/workspace/b/there"), outcome("/workspace/b/none!"));
    assert_eq!(outcome("/workspace/a/note.txt").1, "a note");
    assert_eq!(outcome("/workspace/a/missing").1, "\"failed\"");
}

/// A host name that every layer allows, and that resolves to this machine.
#[test]
fn a_star_does_not_open_private_addresses() {
    let server = Loopback::new("200 OK", "", b"internal");
    for host in ["localhost.localdomain", "ip6-localhost", "127.0.0.1.nip.io"] {
        let url = format!("http://{host}:{}/", server.port());
        let ceiling = json!({"net": [url]});
        let execution = Execution::new(&fetching(0, &url), &[("net.http", "*")], &ceiling);
        let rule = json!({"net": [{"url": url, "methods": ["GET"]}]});
        execution.policy(&policy(&ceiling, &rule));
        assert_ne!(execution.output(&[]), b"\"ok\"", "{host}");
    }
    assert_eq!(server.connections(), 0);
}
