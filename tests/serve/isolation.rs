//! Files, skills, mounts, messages: a tenant reads nothing of another's, and cannot tell what another has.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use crate::client::Answer;
use crate::house::{House, secret_of, shared};

/// An answer as far as it does not name what was asked for.
fn shape(answer: &Answer, asked: &str) -> (u16, String) {
    (answer.status, answer.text().replace(asked, "X"))
}

#[test]
fn files_the_same_uri_is_each_tenants_own_file() {
    let (_, server) = shared();
    for (tenant, other) in [("alpha", "beta"), ("beta", "alpha")] {
        let text = server
            .client(tenant, "caller")
            .hydrate("os://agents/own.md")
            .text();
        assert!(text.contains(&secret_of(tenant)));
        assert!(!text.contains(&secret_of(other)));
    }
}

#[test]
fn files_the_same_workspace_path_is_each_tenants_own() {
    let (_, server) = shared();
    for tenant in ["alpha", "beta"] {
        let read = server.client(tenant, "caller").post(
            "/v1/skills/fs.read_text/run",
            &json!({"path": "/workspace/own.txt"}),
        );
        assert_eq!(read.ok()["text"], secret_of(tenant));
    }
}

#[test]
fn files_no_way_up_leads_to_another_tenant() {
    let (_, server) = shared();
    let client = server.client("alpha", "caller");
    for path in [
        "/workspace/../../beta/work/own.txt",
        "/workspace/%2e%2e/%2e%2e/beta/work/own.txt",
        "../../beta/work/own.txt",
        "/os/../../beta/os/agents/own.md",
        "/beta/work/own.txt",
        "/workspace/./../../beta/work/own.txt",
    ] {
        let read = client.post("/v1/skills/fs.read_text/run", &json!({"path": path}));
        assert_ne!(read.status, 200, "{path}");
        assert!(!read.text().contains(&secret_of("beta")), "{path}");
    }
    for uri in [
        "os://../../beta/os/agents/own.md",
        "os://agents/../../../beta/os/agents/own.md",
    ] {
        assert!(
            !client.hydrate(uri).text().contains(&secret_of("beta")),
            "{uri}"
        );
    }
}

#[test]
fn files_a_link_into_another_tenants_files_is_not_followed() {
    let house = House::new();
    symlink(
        house.path("beta/work/own.txt"),
        house.path("alpha/work/link.txt"),
    )
    .unwrap();
    symlink(
        house.path("beta/os/agents/own.md"),
        house.path("alpha/os/agents/link.md"),
    )
    .unwrap();
    symlink("../../../beta/os", house.path("alpha/os/agents/up")).unwrap();
    let server = house.serve();
    let client = server.client("alpha", "caller");
    let read = client.post(
        "/v1/skills/fs.read_text/run",
        &json!({"path": "/workspace/link.txt"}),
    );
    assert_eq!(read.status, 422, "{}", read.text());
    for uri in ["os://agents/link.md", "os://agents/up/agents/own.md"] {
        assert!(
            !client.hydrate(uri).text().contains(&secret_of("beta")),
            "{uri}"
        );
    }
}

#[test]
fn files_a_mount_cannot_be_named_by_its_real_path() {
    let (house, server) = shared();
    let client = server.client("alpha", "caller");
    let real = house.path("beta/work/own.txt");
    let read = client.post("/v1/skills/fs.read_text/run", &json!({"path": real}));
    assert_eq!(read.status, 422);
    let file = client.hydrate(&format!("file://{}", real.display()));
    assert!(!file.text().contains(&secret_of("beta")));
}

#[test]
fn files_nothing_of_the_server_is_there_without_a_mount() {
    let house = House::new();
    house.tenants(&[("alpha", "mounts = {}"), ("beta", "")]);
    let server = house.serve();
    let listed = server.client("alpha", "caller").post(
        "/v1/skills/fs.read_tree/run",
        &json!({"root": "/workspace"}),
    );
    // The server was started where the tenants file lies.
    assert_eq!(listed.ok()["entries"], json!([]), "{}", listed.text());
}

#[test]
fn files_a_home_cannot_be_mounted() {
    let house = House::new();
    for mount in ["states/beta", "states", "."] {
        // Its own home is made when it is first served.
        fs::create_dir_all(house.path("states/beta")).unwrap();
        fs::set_permissions(house.path("states/beta"), fs::Permissions::from_mode(0o700)).unwrap();
        let lines = format!("mounts = {{ \"/workspace\" = \"{mount}\" }}");
        house.tenants(&[("beta", &lines)]);
        let checked = house.command(&["serve", "--check"]).output().unwrap();
        let said = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert!(!checked.status.success(), "{mount}");
        assert!(said.contains("mounts"), "{said}");
    }
}

#[test]
fn files_resources_are_the_tenants_own() {
    let house = House::new();
    house.write("beta/os/agents/only-of-beta.md", "---\nname: B\n---\n");
    let server = house.serve();
    let alpha = server.client("alpha", "caller").get("/v1/resources").text();
    let beta = server.client("beta", "caller").get("/v1/resources").text();
    assert!(!alpha.contains("only-of-beta"));
    assert!(beta.contains("only-of-beta"));
}

#[test]
fn files_what_another_has_is_as_missing_as_what_nobody_has() {
    let house = House::new();
    house.write("beta/os/agents/only-of-beta.md", "---\nname: B\n---\n");
    let server = house.serve();
    let client = server.client("alpha", "caller");
    let others = client.hydrate("os://agents/only-of-beta.md");
    let nobodys = client.hydrate("os://agents/only-of-nobody.md");
    assert_eq!(
        shape(&others, "only-of-beta"),
        shape(&nobodys, "only-of-nobody")
    );
}

#[test]
fn files_the_codebase_of_a_plan_is_the_tenants_own() {
    let house = House::new();
    house.write("alpha/work/src/alphaparser.py", "def alphaparser(): pass\n");
    house.write("beta/work/src/betaparser.py", "def betaparser(): pass\n");
    let server = house.serve();
    for (tenant, other) in [("alpha", "betaparser.py"), ("beta", "alphaparser.py")] {
        let prompt = json!({"prompt": "fix alphaparser.py and betaparser.py, both fail to parse"});
        let plan = server
            .client(tenant, "caller")
            .post("/v1/plan", &prompt)
            .ok();
        let context = plan["relevant_context"].to_string();
        assert!(!context.contains(&format!("src/{other}")), "{context}");
    }
}

#[test]
fn skills_a_skill_that_is_not_listed_is_unknown() {
    let house = House::new();
    house.tenants(&[
        ("alpha", "skills = [\"content.hydrate\", \"fs.read_text\"]"),
        ("beta", ""),
    ]);
    let server = house.serve();
    let client = server.client("alpha", "caller");
    let listed = client.get("/v1/skills").ok();
    let ids: Vec<_> = listed["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].clone())
        .collect();
    assert_eq!(ids, ["content.hydrate", "fs.read_text"]);
    for (denied, unknown) in [
        (
            client.get("/v1/skills/json.validate"),
            client.get("/v1/skills/no.such"),
        ),
        (
            client.post("/v1/skills/json.validate/run", &json!({})),
            client.post("/v1/skills/no.such/run", &json!({})),
        ),
        (
            client.post("/v1/skills/json.validate/run?version=0.1.0", &json!({})),
            client.post("/v1/skills/no.such/run?version=0.1.0", &json!({})),
        ),
    ] {
        assert_eq!(denied.status, 404);
        assert_eq!(denied.json(), unknown.json());
    }
    assert_eq!(
        client.post("/v1/plan", &json!({"prompt": "x"})).code(),
        "unknown-skill"
    );
    assert_eq!(
        server
            .client("beta", "caller")
            .get("/v1/skills/json.validate")
            .status,
        200
    );
}

/// A policy that lets skills read these directories.
fn reading(paths: &str) -> String {
    format!(
        "version: 1\ntrusted_signers: [hydrant.build, hydrant.release]\ncapability_ceiling:\n  fs: {{read: [{paths}]}}\n\
         host:\n  mounts:\n    - {{at: /os, dir: \"@cli\", mode: ro}}\n    - {{at: /workspace, dir: \"@cli\", mode: ro}}\n"
    )
}

#[test]
fn policy_a_tenants_own_takes_away_and_gives_nothing() {
    let house = House::new();
    house.write("server.yaml", &reading("/os"));
    house.write("wide.yaml", "version: 1\ntrusted_signers: [hydrant.build, hydrant.release]\ncapability_ceiling:\n  fs: {read: [/os, /workspace]}\n");
    house.write(
        "shut.yaml",
        "version: 1\ntrusted_signers: [hydrant.build, hydrant.release]\ncapability_ceiling: {}\n",
    );
    house.tenants(&[
        ("alpha", "policy = \"shut.yaml\""),
        ("beta", "policy = \"wide.yaml\""),
    ]);
    let server = house.serve_with(&["--policy", house.path("server.yaml").to_str().unwrap()]);
    let read = |tenant: &str, path: &str| {
        let client = server.client(tenant, "caller");
        client.post("/v1/skills/fs.read_text/run", &json!({ "path": path }))
    };
    // The server's policy lets nobody read /workspace, whatever a tenant's own says.
    assert_eq!(read("beta", "/workspace/own.txt").code(), "denied");
    assert_eq!(read("beta", "/os/skills/one.md").status, 200);
    assert_eq!(read("alpha", "/os/skills/one.md").code(), "denied");
    assert_eq!(read("alpha", "/workspace/own.txt").code(), "denied");
}

#[test]
fn messages_no_answer_names_a_tenant_or_a_path_of_the_machine() {
    let (house, server) = shared();
    let client = server.client("alpha", "caller");
    let approver = server.client("alpha", "approver");
    let base = house.path("");
    let base = base.to_str().unwrap();
    let answers = [
        client.hydrate("os://none.md"),
        client.hydrate("os://agents"),
        client.hydrate("os://agents/own.md/below"),
        client.post(
            "/v1/skills/fs.read_text/run",
            &json!({"path": "/workspace/none"}),
        ),
        client.post(
            "/v1/skills/fs.write_patch/run",
            &json!({"unified_diff": "--- a/own.txt\n+++ b/own.txt\n@@ -1 +1 @@\n-a\n+b\n"}),
        ),
        client.post("/v1/skills/git.status/run", &json!({})),
        client.post("/v1/skills/none/run", &json!({})),
        client.get("/v1/capabilities/none"),
        client.get("/v1/receipts/rcpt_00000000000000000000000000"),
        client.post("/v1/capabilities", &json!({"source": "/etc/passwd"})),
        client.post("/v1/capabilities", &json!({"text": "no skill"})),
        approver.get("/v1/approvals/ap-none"),
        approver.get("/v1/approvals"),
        approver.get("/v1/chain?verify=true"),
        client.get("/v1/nothing"),
        server.with_token(Some("x")).get("/v1/skills"),
    ];
    for answer in answers {
        let text = answer.text();
        for name in ["beta", base, "/root", "/home", "tenants/", "states/"] {
            assert!(!text.contains(name), "{name}: {text}");
        }
        assert!(
            !answer
                .headers
                .iter()
                .any(|(_, value)| value.contains("alpha") || value.contains("beta"))
        );
    }
}
