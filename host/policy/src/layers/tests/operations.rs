//! Requests, programs and tools under layers.

use super::*;
use crate::{ProgramDenial, ProgramLeave, Reach};

fn get(grant: &Grant, url: &str) -> Result<Reach, Denial> {
    grant.fetch(Method::Get, &Url::parse(url).unwrap())
}

fn ls(grant: &Grant, arguments: &[&str], directory: &str) -> Result<ProgramLeave, ProgramDenial> {
    let arguments: Vec<_> = arguments.iter().map(|text| (*text).to_owned()).collect();
    grant.program("ls", &arguments, &path(directory))
}

fn under(tenant: &str, run: &str) -> Grant {
    let scratch = Scratch::new();
    grant(scratch.layers(POLICY, tenant, run).unwrap())
}

/// A layer with a wide ceiling and this text below `host`.
fn wide(host: &str) -> String {
    layer(WIDE, host)
}

fn file_of(denial: &ProgramDenial) -> String {
    decided(denial.denial().unwrap())
}

#[test]
fn every_layer_needs_a_prefix_and_a_rule_with_the_method() {
    let all = wide("  net: [{url: \"https://docs.example/\", methods: [GET, POST]}]\n");
    let get_only = wide("  net: [{url: \"https://docs.example/a/\", methods: [GET]}]\n");
    let url = "https://docs.example/a/x";
    assert_eq!(get(&under(&all, &get_only), url).unwrap(), Reach::Public);
    let post = |grant: &Grant| grant.fetch(Method::Post, &Url::parse(url).unwrap());
    assert!(post(&under(&all, "")).is_ok());
    assert_eq!(
        decided(&post(&under(&all, &get_only)).unwrap_err()),
        "grant.yaml:9"
    );
    assert_eq!(
        decided(&post(&under(&get_only, &all)).unwrap_err()),
        "tenant.yaml:9"
    );
    let denial = get(&under(&all, &get_only), "https://docs.example/b").unwrap_err();
    assert_eq!(decided(&denial), "grant.yaml:9");
    // No rule, no ceiling.
    assert_eq!(
        decided(&get(&under(&wide(""), ""), url).unwrap_err()),
        "tenant.yaml:7"
    );
    let closed = layer("  fs: {read: [/]}", "");
    assert_eq!(
        decided(&get(&under("", &closed), url).unwrap_err()),
        "grant.yaml:3"
    );
}

#[test]
fn an_address_is_reached_only_if_every_layer_names_it() {
    let url = "http://127.0.0.1:8000/x";
    assert_eq!(get(&under("", ""), url).unwrap(), Reach::Named);
    let naming = wide("  net: [{url: \"http://127.0.0.1:8000/\", methods: [GET]}]\n");
    assert_eq!(get(&under(&naming, &naming), url).unwrap(), Reach::Named);
    for other in [
        "http://127.0.0.1:8001/",
        "http://localhost:8000/",
        "https://other.example/",
    ] {
        let text = naming.replace("http://127.0.0.1:8000/", other);
        let denial = get(&under(&naming, &text), url).unwrap_err();
        assert!(decided(&denial).starts_with("grant.yaml:"), "{other}");
    }
}

#[test]
fn a_program_takes_a_rule_in_every_layer() {
    let all = wide("  process: [{program: ls, args: [[\"...\"]], cwd: [/]}]\n");
    let long = wide("  process: [{program: ls, args: [[\"-l\"]], cwd: [/workspace]}]\n");
    assert!(ls(&under(&all, &long), &["-l"], "/workspace/x").is_ok());
    let denial = ls(&under(&all, &long), &["-a"], "/workspace").unwrap_err();
    assert!(matches!(denial, ProgramDenial::Arguments(_)));
    assert_eq!(file_of(&denial), "grant.yaml:9");
    let denial = ls(&under(&long, &all), &["-l"], "/os").unwrap_err();
    assert!(matches!(denial, ProgramDenial::Directory(_)));
    assert_eq!(file_of(&denial), "tenant.yaml:9");
    let denial = ls(&under(&wide(""), &all), &["-l"], "/os").unwrap_err();
    assert_eq!(file_of(&denial), "tenant.yaml:7");
    let closed = layer("  fs: {read: [/]}", "");
    let denial = ls(&under("", &closed), &["-l"], "/os").unwrap_err();
    assert!(matches!(&denial, ProgramDenial::Program(_)));
    assert_eq!(file_of(&denial), "grant.yaml:3");
}

#[test]
fn the_policy_supplies_env_and_all_layers_narrow_network_and_writable() {
    let rule = |more: &str| {
        wide(&format!(
            "  process: [{{program: ls, args: [[\"...\"]], cwd: [/], env: {{A: layer}}{more}}}]\n"
        ))
    };
    let leave = ls(&under("", ""), &[], "/os").unwrap();
    assert!(leave.network);
    assert_eq!(leave.writable, [path("/workspace")]);
    let open = rule(", network: true, writable: [/workspace/a, /workspace/b/c]");
    let leave = ls(&under(&open, ""), &[], "/os").unwrap();
    assert!(leave.network);
    assert_eq!(
        leave.writable,
        [path("/workspace/a"), path("/workspace/b/c")]
    );
    assert_eq!(leave.env["A"], "policy");
    let other = rule(", writable: [/workspace/a/x, /workspace/b, /workspace/d]");
    let leave = ls(&under(&open, &other), &[], "/os").unwrap();
    assert!(!leave.network);
    assert_eq!(
        leave.writable,
        [path("/workspace/a/x"), path("/workspace/b/c")]
    );
    assert!(
        ls(&under(&open, &rule("")), &[], "/os")
            .unwrap()
            .writable
            .is_empty()
    );
}

/// A layer that mounts read-only takes the writing of children as well.
#[test]
fn nothing_is_writable_on_a_mount_that_a_layer_narrowed_to_ro() {
    let mounts = "  mounts: [{at: /workspace, dir: ours, mode: ro}]\n";
    let rule = "  process: [{program: ls, args: [[\"...\"]], cwd: [/workspace]}]\n";
    let tenant = wide(&format!("{mounts}{rule}"));
    let leave = ls(&under(&tenant, ""), &[], "/workspace").unwrap();
    assert!(leave.writable.is_empty());
    let denial = ls(&under(&tenant, ""), &[], "/os").unwrap_err();
    assert!(matches!(denial, ProgramDenial::Directory(_)));
    // Asking for it is refused at once, in a layer with mounts of its own and in one without.
    let scratch = Scratch::new();
    let asks = rule.replace("cwd: [/workspace]", "cwd: [/], writable: [/os]");
    for text in [
        wide(&asks),
        wide(&format!("{mounts}{asks}").replace("[/os]", "[/workspace]")),
    ] {
        let message = scratch.layers(POLICY, &text, "").unwrap_err().to_string();
        assert!(
            message.contains("must lie in a mount with mode: rw"),
            "{message}"
        );
    }
}

/// `/os` holds `/os/lib` by its name, and no longer mounts it.
#[test]
fn nothing_is_writable_on_a_mount_that_a_layer_leaves_out() {
    let policy = wide(
        "  mounts: [{at: /os, dir: os, mode: rw}, {at: /os/lib, dir: ours, mode: rw}]\n  \
         process: [{program: ls, args: [[]], cwd: [/os], writable: [/os/lib, /os/tools]}]\n",
    );
    let tenant = wide(
        "  mounts: [{at: /os, dir: os, mode: rw}]\n  \
         process: [{program: ls, args: [[]], cwd: [/os], writable: [/os]}]\n",
    );
    let scratch = Scratch::new();
    let leave = |tenant: &str| {
        let grant = grant(scratch.layers(&policy, tenant, "").unwrap());
        ls(&grant, &[], "/os").unwrap().writable
    };
    assert_eq!(leave(""), [path("/os/lib"), path("/os/tools")]);
    assert_eq!(leave(&tenant), [path("/os/tools")]);
}

#[test]
fn every_layer_means_the_same_file() {
    use std::os::unix::fs::PermissionsExt;

    let scratch = Scratch::new();
    let file = scratch.root.join("ls");
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    let text = |program: &str| {
        wide(&format!(
            "  process: [{{program: {program}, args: [[\"...\"]], cwd: [/]}}]\n"
        ))
    };
    let (other, bare) = (text(file.to_str().unwrap()), text("ls"));
    let under = |tenant: &str| grant(scratch.layers(POLICY, tenant, "").unwrap());
    assert!(ls(&under(&bare), &[], "/os").is_ok());
    let denial = ls(&under(&other), &[], "/os").unwrap_err();
    assert_eq!(file_of(&denial), "tenant.yaml:9");
    assert!(
        !denial.to_string().contains(scratch.root.to_str().unwrap()),
        "it shows credentials: {denial}"
    );
    // Of several rules of a layer the one for that file counts.
    let both = other.replace(
        "process: [",
        "process: [{program: ls, args: [[]], cwd: [/os]}, ",
    );
    assert!(ls(&under(&both), &[], "/os").is_ok());
    assert!(ls(&under(&both), &["-l"], "/os").is_err());
    // A rule without its program is inactive.
    let missing = text("/no/such/place/ls");
    assert!(matches!(
        ls(&under(&missing), &[], "/os"),
        Err(ProgramDenial::NotFound)
    ));
}

#[test]
fn the_program_of_a_layer_must_not_lie_in_a_mount_of_the_policy() {
    use std::os::unix::fs::PermissionsExt;

    let scratch = Scratch::new();
    let file = scratch.root.join("ours/tool");
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    let program = format!("{{program: {}, args: [[]], cwd: [/]}}", file.display());
    let tenant = wide(&format!("  process: [{program}]\n"));
    let message = scratch.layers(POLICY, &tenant, "").unwrap_err().to_string();
    assert!(
        message.contains("the program tool must not lie inside the mount /workspace"),
        "{message}"
    );
}

#[test]
fn a_tool_takes_a_directory_of_discovery_in_every_layer() {
    let tool = |grant: &Grant| {
        grant
            .tool(&path("/os/tools/a/t.sh"))
            .map(|(leave, _)| leave)
    };
    let discovery = |text: &str| wide(&format!("  discovery: {{{text}}}\n"));
    let leave = tool(&under(
        &discovery("run: [/os], runners: {.sh: [sh]}, env: {X: layer}"),
        "",
    ))
    .unwrap();
    assert_eq!(leave.env["X"], "policy");
    // A runner that a layer does not have, or has otherwise, does not count.
    assert_eq!(leave.runners.keys().collect::<Vec<_>>(), [".sh"]);
    for other in ["", ", runners: {.sh: [sh, -e]}", ", runners: {.sh: [ls]}"] {
        let leave = tool(&under(&discovery(&format!("run: [/os]{other}")), "")).unwrap();
        assert!(leave.runners.is_empty(), "{other}");
    }
    let denial = tool(&under("", &discovery("run: [/os/tools/b]"))).unwrap_err();
    assert_eq!(decided(&denial), "grant.yaml:9");
    assert_eq!(
        decided(&tool(&under(&wide(""), "")).unwrap_err()),
        "tenant.yaml:7"
    );
    let local = under("", &discovery("run: [/os]"));
    assert_eq!(decided(&local.remote_tools().unwrap_err()), "grant.yaml:9");
    assert!(local.remote_components().is_err());
    let remote = under(&discovery("remote: true"), "");
    assert!(remote.remote_tools().is_ok() && remote.remote_components().is_ok());
    // A component tool takes leave to be read, in every layer.
    let closed = layer("  fs: {read: [/workspace]}", "");
    assert!(under(&wide(""), "").tool(&path("/os/t.wasm")).is_ok());
    assert!(under(&wide(""), &closed).tool(&path("/os/t.wasm")).is_err());
}

#[test]
fn children_leave_the_jail_only_if_every_layer_says_so() {
    let rule = "  process: [{program: ls, args: [[]], cwd: [/]}]\n  discovery: {run: [/os]}\n";
    let unjailed = wide(&format!("{rule}  jail: {{process: unjailed}}\n"));
    let required = wide(&format!("{rule}  jail: {{process: required}}\n"));
    let confinements = |tenant: &str, run: &str| {
        let grant = under(tenant, run);
        let tool = grant.tool(&path("/os/tools/t.sh")).unwrap().0.confinement;
        assert_eq!(
            grant.remote_tools().is_ok(),
            tenant.is_empty() && run.is_empty()
        );
        (ls(&grant, &[], "/os").unwrap().confinement, tool)
    };
    let both = |confinement| (confinement, confinement);
    assert_eq!(confinements("", ""), both(Confinement::Unjailed));
    assert_eq!(
        confinements(&unjailed, &unjailed),
        both(Confinement::Unjailed)
    );
    for silent in [&required, &wide(rule)] {
        assert_eq!(confinements(silent, &unjailed), both(Confinement::Required));
        assert_eq!(confinements(&unjailed, silent), both(Confinement::Required));
    }
}
