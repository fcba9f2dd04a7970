//! The same input and bytes give the same payload, whatever surrounds the run.

use proptest::prelude::*;
use tempfile::TempDir;

use crate::os_root::{OsRoot, Payload, Run, agent};
use crate::policy;

/// A root with skills of every kind and tools that run.
fn varied() -> OsRoot {
    let root = OsRoot::new();
    root.policy(&policy::tools_run());
    root.file(
        "a.md",
        "---\nname: A\ndescription: 1.10\nskills: [z, a, z]\n---\n",
    );
    root.file("b.md", "---\nname: [\n---\n").file("c.md", "");
    root.tool("t.sh", "#!/bin/sh\nsleep 0.05; pwd; echo T\n")
        .tool("u.sh", "#!/bin/sh\npwd; echo U\n");
    root
}

const SKILLS: [&str; 6] = ["a.md", "b.md", "c.md", "gone.md", "ftp://x/y", "é.md"];
const TOOLS: [&str; 5] = ["t.sh", "u.sh", "gone.sh", "../x", "é"];

#[test]
fn time_place_locale_and_cache_do_not_matter() {
    let root = varied();
    root.file("agent.md", agent(&SKILLS, &TOOLS));
    let first = root
        .payload(&["os://agent.md", "--checksums", "--depth", "3"])
        .text;
    for _ in 0..5 {
        let again = root
            .payload(&["os://agent.md", "--checksums", "--depth", "3"])
            .text;
        assert_eq!(again, first, "another run");
    }
    let cold = TempDir::new().unwrap();
    for variables in [
        vec![
            ("LANG", "tr_TR.UTF-8"),
            ("LC_ALL", "tr_TR.UTF-8"),
            ("TZ", "Asia/Tokyo"),
        ],
        vec![("XDG_CACHE_HOME", cold.path().to_str().unwrap())], // empty, then warm
        vec![("XDG_CACHE_HOME", cold.path().to_str().unwrap())],
        vec![("XDG_CACHE_HOME", "/proc/nowhere")], // no cache at all
    ] {
        let mut command =
            root.command(&["hydrate", "os://agent.md", "--checksums", "--depth", "3"]);
        let output = command.envs(variables.clone()).output().unwrap();
        assert_eq!(
            Payload::from(Run::from(output)).text,
            first,
            "{variables:?}"
        );
    }
    let copy = varied();
    copy.file("agent.md", agent(&SKILLS, &TOOLS));
    let elsewhere = copy
        .payload(&["os://agent.md", "--checksums", "--depth", "3"])
        .text;
    assert_eq!(elsewhere, first, "another directory");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn order_and_number_of_declarations_do_not_matter(
        skills in Just([SKILLS.to_vec(), SKILLS.to_vec()].concat()).prop_shuffle(),
        tools in Just([TOOLS.to_vec(), TOOLS.to_vec()].concat()).prop_shuffle(),
    ) {
        let root = varied();
        root.file("agent.md", agent(&skills, &tools));
        let shuffled = root.payload(&["os://agent.md"]).text;
        root.file("agent.md", agent(&SKILLS, &TOOLS));
        prop_assert_eq!(shuffled, root.payload(&["os://agent.md"]).text);
    }
}
