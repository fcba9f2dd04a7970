//! What a document keeps of a valid text, and what it says where the text says nothing.

use super::*;

/// The whole ceiling is kept, also what only core modules use.
#[test]
fn every_member_of_the_ceiling_is_kept() {
    let text = "version: 1\ntrusted_signers: [a]\ncapability_ceiling:\n  \
                fs:\n    read: [/a//b/, /..]\n    write: [/c]\n  \
                kv: {read: [\"*\"], write: [k, l]}\n  queue: {publish: [t]}\n  \
                env: [HOME, _X1]\n  time: true\n  random: false\n";
    let ceiling = parse(text).unwrap().ceiling;
    let directories = |list: &Listed<Directory>| {
        let items = list.value.iter();
        items
            .map(|item| item.value.0.as_ref().map(ToString::to_string))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        directories(&ceiling.fs.read),
        [Some("/a/b".to_owned()), None]
    );
    assert_eq!(directories(&ceiling.fs.write), [Some("/c".to_owned())]);
    assert_eq!((ceiling.fs.read.line, ceiling.fs.write.line), (5, 6));
    let names = |list: &[Name]| list.iter().map(|name| name.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(&ceiling.kv.read), ["*"]);
    assert_eq!(names(&ceiling.kv.write), ["k", "l"]);
    assert_eq!(names(&ceiling.queue.publish), ["t"]);
    assert!(ceiling.queue.consume.is_empty());
    assert_eq!(ceiling.env.len(), 2);
    assert_eq!(
        (ceiling.exec.value, ceiling.time, ceiling.random),
        (false, true, false)
    );
    assert!(ceiling.net.value.is_empty());
}

#[test]
fn an_omitted_host_is_an_empty_one() {
    let text =
        "version: 1\ntrusted_signers: [a]\ncapability_ceiling: {fs: {read: [/]}, exec: true}\n";
    for host in ["", "host: {}\n"] {
        let host = parse(&format!("{text}{host}")).unwrap().host;
        assert!(host.mounts.value.is_empty() && !host.lists_mounts);
        assert!(host.net.value.is_empty() && host.process.value.is_empty());
        assert!(host.discovery.run.value.is_empty() && !host.discovery.remote.value);
        assert_eq!(host.limits.or(Limits::default()), Limits::default());
        assert_eq!(host.tools, Tools::Describe);
        assert_eq!(host.jail.process, Confinement::Required);
    }
    assert!(parse(&format!("{text}host: ~\n")).is_err());
}

#[test]
fn a_rule_has_no_network_and_nothing_writable_unless_it_says_so() {
    let document = parse(&VALID.replace(", network: true, writable: [/workspace]", "")).unwrap();
    let rule = &document.host.process.value[0].value;
    assert!(!rule.network && rule.writable.is_empty());
}

#[test]
fn a_policy_with_every_section_is_valid() {
    let example = r#"version: 1
trusted_signers: [hydrant.build, hydrant.release]
capability_ceiling:                      # the original's grammar, unchanged
  fs: {read: [/workspace, /os], write: [/workspace]}
  net: ["https://docs.example.org/"]
  exec: true
host:                                    # hydrant only; omitted = components get nothing
  mounts:
    - {at: /workspace, dir: ".", mode: rw}
    - {at: /os, dir: "./os", mode: ro}
    - {at: /os/lib, url: "https://docs.example.org/guide/os/"}
  net:
    - {url: "https://docs.example.org/guide/", methods: [GET]}
  process:
    - program: git
      args:
        - ["--no-pager", "status", "--porcelain=v2", "--branch", "-z"]
        - ["--no-pager", "diff", "--no-ext-diff", "..."]
        - ["--no-pager", "rev-parse", "--verify", "--end-of-options", "*^{commit}"]
      cwd: [/workspace]
    - {program: cargo, args: [["test", "--offline", "..."]], cwd: [/workspace], env: {CARGO_TERM_COLOR: never}, writable: [/workspace/target]}
  discovery: {run: [/os/tools], runners: {.py: [python3]}}
  limits: {wall_ms: 60000}
  tools: describe
"#;
    let document = parse(example).unwrap();
    let lines: Vec<_> = document
        .host
        .process
        .value
        .iter()
        .map(|rule| rule.line)
        .collect();
    assert_eq!(lines, [15, 21]);
}
