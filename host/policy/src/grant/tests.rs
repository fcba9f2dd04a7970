mod process;
mod write;

use proptest::prelude::*;

use super::*;
use crate::tests::Scratch;
use crate::{CliMount, ProgramDenial, VirtualPath};
use url::Url;

const POLICY: &str = r#"version: 1
trusted_signers: [a]
capability_ceiling:
  fs:
    read: [/workspace, /os]
  net: ["https://docs.example/", "http://127.0.0.1:8000/", "https://localhost/"]
  exec: true
host:
  mounts:
    - {at: /workspace, dir: ours, mode: rw}
    - {at: /os, dir: os, mode: ro}
    - {at: /os/lib, url: "https://docs.example/v3/"}
    - {at: /os/dev, url: "http://127.0.0.1:8000/"}
    - {at: /data, dir: ours, mode: ro}
  net:
    - {url: "https://docs.example/v3/", methods: [GET]}
    - {url: "http://127.0.0.1:8000/", methods: [GET]}
    - {url: "https://localhost/", methods: [GET, POST]}
  process:
    - {program: ls, args: [["-l"], ["-a", "..."]], cwd: [/workspace]}
    - {program: ls, args: [["-l"]], cwd: [/os], env: {COLUMNS: "80"}, network: true, writable: [/workspace/out]}
    - {program: no-such-program-here, args: [[]], cwd: [/workspace]}
  discovery: {run: [/os/tools], runners: {.sh: [sh], .py: [no-such-program-here, -B]}, env: {X: "1"}}
  jail: {process: unjailed}
"#;

fn path(text: &str) -> VirtualPath {
    VirtualPath::parse(text).unwrap()
}

fn capabilities(list: &[&str]) -> Vec<Capability> {
    let capability = |text: &&str| {
        let (kind, value) = text.split_once(':').unwrap();
        Capability {
            kind: kind.to_owned(),
            value: value.to_owned(),
        }
    };
    list.iter().map(capability).collect()
}

/// `content.hydrate`'s capabilities and one more directory.
const HYDRATE: [&str; 5] = [
    "exec.safe:*",
    "fs.read:/os",
    "fs.read:/data",
    "fs.read:/etc",
    "net.http:*",
];

fn grant(policy: &str, declared: &[&str]) -> Grant {
    let policy = Scratch::new().policy(policy).unwrap();
    Grant::new(Arc::new(policy), &capabilities(declared))
}

fn get(grant: &Grant, url: &str) -> Result<Reach, Denial> {
    grant.fetch(Method::Get, &Url::parse(url).unwrap())
}

fn program(grant: &Grant, argv: &[&str], directory: &str) -> Result<ProgramLeave, ProgramDenial> {
    let arguments: Vec<_> = argv[1..].iter().map(|text| (*text).to_owned()).collect();
    grant.program(argv[0], &arguments, &path(directory))
}

#[test]
fn reading_takes_manifest_ceiling_and_mount() {
    let grant = grant(POLICY, &HYDRATE);
    let Location::Directory(found) = grant.read(&path("/os/crew/pilot.md")).unwrap() else {
        panic!("no directory")
    };
    assert_eq!(
        (found.mount().at().as_str(), found.relative()),
        ("/os", "crew/pilot.md")
    );
    assert_eq!(
        grant.read(&path("/workspace/x")).unwrap_err().to_string(),
        "fs.read:/workspace/x is denied by the manifest (it declares fs.read for /os, /data, /etc only); to allow it, \
         the skill must be signed with a manifest that declares fs.read:/workspace/x"
    );
    assert_eq!(
        grant.read(&path("/data/x")).unwrap_err().to_string(),
        "fs.read:/data/x is denied by policy.yaml:5 (capability_ceiling.fs.read does not cover it); to allow it, \
         add \"/data/x\" to capability_ceiling.fs.read"
    );
    let wide = POLICY.replace("[/workspace, /os]", "[/]");
    let denial = self::grant(&wide, &HYDRATE)
        .read(&path("/etc/passwd"))
        .unwrap_err();
    assert_eq!(
        denial.to_string(),
        "fs.read:/etc/passwd is denied by policy.yaml:9 (no mount of host.mounts holds it); to allow it, \
         add {at: /etc, dir: DIR, mode: ro} to host.mounts"
    );
    assert_eq!(denial.capability(), "fs.read:/etc/passwd");
    assert_eq!(denial.decided_by().text, "mounts:");
}

#[test]
fn omitted_lists_deny_and_name_the_line_that_would_hold_them() {
    for (policy, line) in [
        (
            "version: 1\ntrusted_signers: [a]\ncapability_ceiling: {}\n",
            3,
        ),
        (
            "version: 1\ntrusted_signers: [a]\ncapability_ceiling:\n  fs: {}\n",
            4,
        ),
        (
            "version: 1\ntrusted_signers: [a]\ncapability_ceiling:\n  fs:\n    read: []\n",
            5,
        ),
    ] {
        let denial = grant(policy, &HYDRATE).read(&path("/os/x")).unwrap_err();
        assert_eq!(denial.decided_by().line, Some(line));
        assert!(get(&grant(policy, &HYDRATE), "https://docs.example/").is_err());
        assert!(program(&grant(policy, &HYDRATE), &["ls", "-l"], "/workspace").is_err());
    }
}

#[test]
fn a_ceiling_narrower_than_the_manifest_allows_what_both_hold() {
    let grant = grant(&POLICY.replace("[/workspace, /os]", "[/os/crew]"), &HYDRATE);
    assert!(grant.read(&path("/os/crew/pilot.md")).is_ok());
    assert!(grant.read(&path("/os/kits/rope.md")).is_err());
}

#[test]
fn unknown_or_malformed_capabilities_allow_nothing() {
    for declared in [
        "fs.raed:/os",
        "fs.read:os",
        "fs.read:/os/..",
        "fs.read:",
        "fs.write:/os",
        "exec:true",
    ] {
        assert!(
            grant(POLICY, &[declared]).read(&path("/os/x")).is_err(),
            "{declared}"
        );
    }
    for declared in [
        "net.http:",
        "net.http:docs.example",
        "net.http:https://docs.example/%41",
    ] {
        assert!(
            get(&grant(POLICY, &[declared]), "https://docs.example/v3/x").is_err(),
            "{declared}"
        );
    }
}

#[test]
fn an_https_mount_does_not_replace_the_allowlist() {
    let grant = grant(POLICY, &HYDRATE);
    let Location::Https { url } = grant.read(&path("/os/lib/rope ladder.md")).unwrap() else {
        panic!("no https mount")
    };
    assert_eq!(url.as_str(), "https://docs.example/v3/rope%20ladder.md");
    assert_eq!(grant.fetch(Method::Get, &url).unwrap(), Reach::Public);
    assert!(grant.is_remote(&path("/os/lib/x")) && !grant.is_remote(&path("/os/libx")));
    // By flag, under the default policy: mapped, and still not allowed to be fetched.
    let scratch = Scratch::new();
    let flag = CliMount::os_prefix("/lib/=https://docs.example/v3/", false).unwrap();
    let policy = Arc::new(Policy::built_in(&scratch.root, &[flag]).unwrap());
    let grant = Grant::new(policy, &capabilities(&HYDRATE));
    let Location::Https { url } = grant.read(&path("/os/lib/x")).unwrap() else {
        panic!("no https mount")
    };
    let denial = grant.fetch(Method::Get, &url).unwrap_err();
    assert_eq!(
        denial.to_string(),
        "net.http:https://docs.example/v3/x is denied by the default policy (capability_ceiling.net does not cover \
         it); to allow it, write a policy file (--policy FILE) and add \"https://docs.example/v3/x\" to \
         capability_ceiling.net and {url: \"https://docs.example/v3/x\", methods: [GET]} to host.net"
    );
}

#[test]
fn a_mount_of_plain_http_is_read_only_by_the_flag() {
    let grant = grant(POLICY, &HYDRATE);
    let denial = grant.read(&path("/os/dev/x.md")).unwrap_err();
    assert_eq!(denial.decided_by().line, Some(13));
    assert_eq!(denial.would_allow(), "give --allow-http-loopback");
    assert!(
        !denial.to_string().contains("127.0.0.1"),
        "the target never shows"
    );
    assert!(matches!(
        grant.with_http_loopback().read(&path("/os/dev/x.md")),
        Ok(Location::Https { .. })
    ));
}

#[test]
fn fetching_takes_manifest_ceiling_and_a_rule_with_the_method() {
    let wide = grant(POLICY, &["net.http:*"]);
    assert_eq!(
        get(&wide, "https://docs.example/v3/a?b=c").unwrap(),
        Reach::Public
    );
    assert_eq!(
        get(&wide, "https://docs.example/v3/a%20b").unwrap(),
        Reach::Public
    );
    let message = |method, url| {
        wide.fetch(method, &Url::parse(url).unwrap())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        message(Method::Get, "https://other.example/x?q=1"),
        "net.http:https://other.example/x?q=1 is denied by policy.yaml:6 (capability_ceiling.net does not cover it); \
         to allow it, add \"https://other.example/x\" to capability_ceiling.net and \
         {url: \"https://other.example/x\", methods: [GET]} to host.net"
    );
    assert_eq!(
        message(Method::Get, "https://docs.example/v2/"),
        "net.http:https://docs.example/v2/ is denied by policy.yaml:15 (no rule of host.net covers it); to allow it, \
         add {url: \"https://docs.example/v2/\", methods: [GET]} to host.net"
    );
    assert_eq!(
        message(Method::Post, "https://docs.example/v3/"),
        "net.http:https://docs.example/v3/ is denied by policy.yaml:16 (host.net allows GET there, not POST); to allow \
         it, add POST to its methods"
    );
    for url in [
        "https://docs.example/v3/a%2Fb",
        "https://docs.example/v3/a#b",
        "ftp://docs.example/v3/",
    ] {
        assert!(
            message(Method::Get, url).contains("the form of allowlists"),
            "{url}"
        );
    }
    let narrow = grant(POLICY, &["net.http:https://docs.example/v3/kits/"]);
    assert!(get(&narrow, "https://docs.example/v3/kits/x").is_ok());
    assert!(
        get(&narrow, "https://docs.example/v3/x")
            .unwrap_err()
            .to_string()
            .contains("the manifest")
    );
}

#[test]
fn a_denial_never_shows_credentials() {
    let denial = get(
        &grant(POLICY, &HYDRATE),
        "https://me:secret@docs.example/v3/",
    )
    .unwrap_err();
    assert!(!denial.to_string().contains("secret"), "{denial}");
}

#[test]
fn a_denial_shows_no_control_characters() {
    let denial = grant(POLICY, &HYDRATE)
        .read(&path("/x\u{1b}[2J\ny"))
        .unwrap_err();
    assert!(
        denial
            .to_string()
            .starts_with("fs.read:/x\\u{1b}[2J\\ny is denied"),
        "{denial}"
    );
    assert_eq!(denial.capability(), "fs.read:/x\u{1b}[2J\ny");
}

#[test]
fn only_named_addresses_are_reached_besides_public_ones() {
    let grant = grant(POLICY, &HYDRATE);
    assert_eq!(
        get(&grant, "http://127.0.0.1:8000/x").unwrap(),
        Reach::Named
    );
    assert_eq!(get(&grant, "https://localhost/x").unwrap(), Reach::Named);
    assert!(get(&grant, "http://127.0.0.1:8001/x").is_err());
    assert!(get(&grant, "https://localhost./x").is_err());
}

#[test]
fn the_empty_grant_denies_everything() {
    let grant = Grant::nothing();
    assert!(grant.read(&path("/os/x")).is_err());
    assert!(get(&grant, "https://docs.example/v3/").is_err());
    assert!(matches!(
        program(&grant, &["ls"], "/os"),
        Err(ProgramDenial::Program(_))
    ));
    assert!(
        grant.tool(&path("/os/tools/t.sh")).is_err() && grant.tool(&path("/os/t.wasm")).is_err()
    );
    assert!(grant.remote_tools().is_err() && grant.remote_components().is_err());
    assert!(!grant.is_remote(&path("/os/lib/x")));
}

#[test]
fn no_denial_shows_the_directory_of_a_mount() {
    let scratch = Scratch::new();
    let policy = Arc::new(scratch.policy(POLICY).unwrap());
    let grant = Grant::new(policy, &capabilities(&HYDRATE));
    let root = scratch.root.to_str().unwrap();
    let messages = [
        grant.read(&path("/workspace/x")).unwrap_err().to_string(),
        grant.read(&path("/data/x")).unwrap_err().to_string(),
        grant.tool(&path("/os/crew/t.sh")).unwrap_err().to_string(),
        program(&grant, &["ls", "-a"], "/os")
            .unwrap_err()
            .to_string(),
    ];
    assert!(
        messages.iter().all(|message| !message.contains(root)),
        "{messages:?}"
    );
}

proptest! {
    /// Rule 2 of the design: what is allowed is allowed by every factor.
    #[test]
    fn grants_only_narrow(
        declared in prop::sample::subsequence(vec!["/", "/os", "/os/a", "/os/a/b", "/workspace", "/w"], 0..4),
        ceiling in prop::sample::subsequence(vec!["/", "/os", "/os/a", "/os/ab", "/workspace/x", "/w"], 0..4),
        asked in "/(os|workspace|w)(/(a|ab|b|x|lib)){0,3}",
    ) {
        let policy = format!(
            "version: 1\ntrusted_signers: [a]\ncapability_ceiling: {{fs: {{read: [{}]}}}}\nhost:\n  mounts:\n    \
             - {{at: /os, dir: os, mode: ro}}\n    - {{at: /workspace, dir: ours, mode: ro}}\n",
            ceiling.join(", ")
        );
        let capabilities: Vec<_> = declared.iter().map(|value| format!("fs.read:{value}")).collect();
        let capabilities: Vec<_> = capabilities.iter().map(String::as_str).collect();
        let grant = grant(&policy, &capabilities);
        let asked = path(&asked);
        let held_by = |list: &[&str]| list.iter().any(|held| asked.starts_with(&path(held)));
        let expected = held_by(&declared) && held_by(&ceiling) && held_by(&["/os", "/workspace"]);
        prop_assert_eq!(grant.read(&asked).is_ok(), expected);
        prop_assert!(grant.without_processes().read(&asked).is_ok() == expected);
        prop_assert!(Grant::nothing().read(&asked).is_err());
    }

    #[test]
    fn what_is_fetched_lies_below_a_prefix_of_every_factor(rest in "[a-z/.%0-9?@:#]{0,20}") {
        let grant = grant(POLICY, &["net.http:https://docs.example/v3/kits/"]);
        for text in [format!("https://docs.example/v3/{rest}"), format!("https://docs.example{rest}")] {
            let Ok(url) = Url::parse(&text) else { continue };
            if grant.fetch(Method::Get, &url).is_ok() {
                prop_assert_eq!(url.host_str(), Some("docs.example"));
                let segments: Vec<_> = url.path().split('/').filter(|segment| !segment.is_empty()).collect();
                prop_assert!(segments.starts_with(&["v3", "kits"]), "{}", url);
            }
        }
    }
}
