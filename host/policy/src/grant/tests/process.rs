//! Which programs and tools may be started.

use super::*;

#[test]
fn one_rule_matches_program_arguments_and_directory_together() {
    let ceiling = "{read: [/workspace, /os], write: [/workspace]}";
    let grant = grant(
        &POLICY.replace("read: [/workspace, /os]", ceiling),
        &HYDRATE,
    );
    let leave = program(&grant, &["ls", "-l"], "/workspace/sub").unwrap();
    assert!(leave.executable.is_absolute() && leave.env.is_empty() && !leave.network);
    assert_eq!(leave.confinement, Confinement::Unjailed);
    assert_eq!(
        (
            leave.directory.mount().at().as_str(),
            leave.directory.relative(),
        ),
        ("/workspace", "sub")
    );
    let leave = program(&grant, &["ls", "-l"], "/os").unwrap();
    assert_eq!((leave.env["COLUMNS"].as_str(), leave.network), ("80", true));
    assert_eq!(leave.writable, [path("/workspace/out")]);
    assert!(program(&grant, &["ls", "-a", "x", "y"], "/workspace").is_ok());
    // Arguments of one rule, directory of another.
    let denial = program(&grant, &["ls", "-a"], "/os").unwrap_err();
    assert!(matches!(&denial, ProgramDenial::Directory(_)));
    assert_eq!(
        denial.to_string(),
        "exec.safe:ls is denied by policy.yaml:20 (no cwd of host.process holds /os); to allow it, add \"/os\" to its cwd"
    );
    let denial = program(&grant, &["ls", "-R", "*"], "/workspace").unwrap_err();
    assert!(matches!(&denial, ProgramDenial::Arguments(_)));
    assert_eq!(
        denial.to_string(),
        "exec.safe:ls is denied by policy.yaml:20 (no args of host.process match); to allow it, add [\"-R\",\"\\\\*\"] \
         to its args"
    );
    let denial = program(&grant, &["rm", "-r"], "/workspace").unwrap_err();
    assert!(matches!(&denial, ProgramDenial::Program(_)));
    assert_eq!(
        denial.to_string(),
        "exec.safe:rm is denied by policy.yaml:19 (no rule of host.process names it); to allow it, add \
         {program: rm, args: [[\"-r\"]], cwd: [/workspace]} to host.process"
    );
    assert!(matches!(
        program(&grant, &["no-such-program-here"], "/workspace"),
        Err(ProgramDenial::NotFound)
    ));
    assert!(matches!(
        program(&grant, &["/bin/ls", "-l"], "/workspace"),
        Err(ProgramDenial::Program(_))
    ));
}

#[test]
fn a_working_directory_lies_in_a_mounted_directory_and_takes_no_leave_to_read() {
    let grant = grant(&POLICY.replace("cwd: [/os]", "cwd: [/]"), &["exec.safe:ls"]);
    assert!(program(&grant, &["ls", "-l"], "/workspace").is_ok());
    for nowhere in ["/", "/none", "/os/lib/x"] {
        let denial = program(&grant, &["ls", "-l"], nowhere).unwrap_err();
        assert!(matches!(denial, ProgramDenial::Directory(_)), "{nowhere}");
    }
}

#[test]
fn the_manifest_names_programs_or_all() {
    assert!(program(&grant(POLICY, &["exec.safe:ls"]), &["ls", "-l"], "/os").is_ok());
    for declared in [
        "exec.safe:lsx",
        "exec.safe:",
        "exec:true",
        "exec.safe:/bin/ls",
    ] {
        let denial = program(&grant(POLICY, &[declared]), &["ls", "-l"], "/os").unwrap_err();
        assert!(
            denial.to_string().contains("denied by the manifest"),
            "{declared}"
        );
    }
}

#[test]
fn children_are_confined_unless_the_policy_says_otherwise() {
    let grant = grant(
        &POLICY.replace("  jail: {process: unjailed}\n", ""),
        &HYDRATE,
    );
    assert_eq!(
        program(&grant, &["ls", "-l"], "/os").unwrap().confinement,
        Confinement::Required
    );
    assert_eq!(
        grant.tool(&path("/os/tools/t.sh")).unwrap().0.confinement,
        Confinement::Required
    );
}

#[test]
fn a_tool_takes_a_directory_of_discovery_run() {
    let grant = grant(POLICY, &HYDRATE);
    let (leave, _) = grant.tool(&path("/os/tools/deep/t.sh")).unwrap();
    assert_eq!(leave.env["X"], "1");
    assert!(leave.runners[".sh"].executable.is_some());
    assert_eq!(
        leave.runners[".py"],
        Runner {
            executable: None,
            arguments: vec!["-B".to_owned()]
        }
    );
    assert_eq!(
        grant.tool(&path("/os/crew/t.sh")).unwrap_err().to_string(),
        "exec.safe:/os/crew/t.sh is denied by policy.yaml:23 (host.discovery.run does not hold it); to allow it, add \
         \"/os/crew\" to host.discovery.run"
    );
    assert!(grant.tool(&path("/os/tools2/t.sh")).is_err());
    let denial = self::grant(POLICY, &["exec.safe:git", "fs.read:/os"])
        .tool(&path("/os/tools/t.sh"))
        .unwrap_err();
    assert!(denial.to_string().contains("the manifest"), "{denial}");
}

#[test]
fn a_component_tool_takes_leave_to_be_read_instead() {
    let no_processes = grant(POLICY, &HYDRATE).without_processes();
    assert!(no_processes.tool(&path("/os/crew/t.wasm")).is_ok());
    assert!(no_processes.tool(&path("/workspace/t.wasm")).is_err());
    let scratch = Scratch::new();
    let policy = Arc::new(Policy::built_in(&scratch.root, &[]).unwrap());
    let by_default = Grant::new(policy, &capabilities(&HYDRATE));
    assert!(by_default.tool(&path("/os/t.wasm")).is_ok());
    assert!(by_default.tool(&path("/workspace/t.sh")).is_err());
    assert!(
        by_default
            .without_processes()
            .tool(&path("/os/t.sh"))
            .is_err()
    );
}

#[test]
fn remote_tools_take_leave_of_their_own() {
    let local = grant(POLICY, &HYDRATE);
    assert_eq!(
        local.remote_tools().unwrap_err().decided_by().line,
        Some(23)
    );
    assert!(local.remote_components().is_err());
    let remote = POLICY.replace("discovery: {", "discovery: {remote: true, ");
    let grant = grant(&remote, &HYDRATE);
    assert!(grant.remote_tools().is_ok() && grant.remote_components().is_ok());
    let no_processes = grant.without_processes();
    assert!(no_processes.remote_tools().is_err() && no_processes.remote_components().is_ok());
}

#[test]
fn no_exec_forbids_every_process() {
    let grant = grant(POLICY, &HYDRATE).without_processes();
    let denial = program(&grant, &["ls", "-l"], "/os").unwrap_err();
    assert_eq!(
        denial.to_string(),
        "exec.safe:ls is denied by --no-exec (it starts no process); to allow it, leave --no-exec out"
    );
    assert!(grant.tool(&path("/os/tools/t.sh")).is_err());
}
