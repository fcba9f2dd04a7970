//! Every client: registered, started, and taken out again.

use std::fs;

use serde_json::json;

use crate::desk::{Desk, clients, servers, tools};
use crate::program::{mode, program};

/// What a user's configuration holds before, and a word of it that is changed later.
fn before(name: &str) -> (&'static str, &'static str) {
    match name {
        "claude" => (
            "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}\n  },\n  \"odd\" : [1.0,1e2 , \"\\u00e9\"]\n}",
            "numStartups",
        ),
        "claude-desktop" => ("{\"theme\":\"dark\"}", "dark"),
        "cursor" => (
            "{\n\t\"mcpServers\": {\n\t\t\"other\": {\"url\": \"https://x/\"}\n\t}\n}\n",
            "https://x/",
        ),
        "vscode" => (
            "// mine\r\n{\r\n  \"inputs\": [], /* none */\r\n  \"servers\": {\r\n    // the first\r\n    \"other\": {\"command\": \"x\",}, // and last\r\n  },\r\n}\r\n",
            "mine",
        ),
        "codex" => (
            "# mine\nmodel = \"o3\"   # best\n\n[mcp_servers.other]\ncommand = 'x'\n\n[mcp_servers.other.env]\nA = \"1\"",
            "o3",
        ),
        _ => ("{\n  // mine\n  \"theme\": \"Dracula\"\n}\n", "Dracula"),
    }
}

#[test]
fn each_client_is_registered_starts_the_server_and_is_as_before_when_it_is_undone() {
    let desk = Desk::new();
    let mut names = None;
    for client in clients() {
        desk.set_up(&[client.name, "--yes"]);
        let text = desk.text(client.file).unwrap();
        let entry = servers(&client, &text)["hydrant"].clone();
        assert_eq!(entry["command"], program(), "{}", client.name);
        assert_eq!(entry["args"], json!(["mcp"]));
        assert_eq!(mode(&desk.home(client.file)), 0o600);
        let found = tools(&desk, &entry);
        assert!(found.contains(&"hydrate".to_owned()), "{found:?}");
        assert_eq!(*names.get_or_insert(found.clone()), found);
        // Once is enough.
        let files = desk.files();
        let again = desk.set_up(&[client.name, "--yes"]);
        assert!(again.stdout.contains("already installed"), "{again:?}");
        assert_eq!(desk.files(), files);
        desk.set_up(&[client.name, "--undo", "--yes"]);
        let again = desk.set_up(&[client.name, "--undo", "--yes"]);
        assert!(again.stdout.contains("not installed"), "{again:?}");
        assert_eq!(desk.files(), [], "{}", client.name);
    }
}

#[test]
fn what_the_user_has_stays_and_comes_back_byte_for_byte() {
    let desk = Desk::new();
    for client in clients() {
        let (text, word) = before(client.name);
        desk.put(client.file, text);
        desk.set_up(&[client.name, "--yes"]);
        let with = desk.text(client.file).unwrap();
        for line in text.lines() {
            assert!(
                with.contains(line.trim_end_matches([',', '{', '}'])),
                "{with}"
            );
        }
        assert_eq!(
            with.matches("\"hydrant\"").count() + with.matches(".hydrant]").count(),
            1
        );
        assert_eq!(with.contains("\r\n"), text.contains("\r\n"));
        desk.set_up(&[client.name, "--undo", "--yes"]);
        assert_eq!(desk.text(client.file).unwrap(), text, "{}", client.name);
        // Without the copy, and with a change since.
        desk.set_up(&[client.name, "--yes"]);
        fs::remove_file(desk.home(&format!("{}.hydrant-backup", client.file))).unwrap();
        let with = desk.text(client.file).unwrap();
        desk.put(client.file, with.replace(word, "changed"));
        desk.set_up(&[client.name, "--undo", "--yes"]);
        let left = desk.text(client.file).unwrap();
        assert_eq!(
            left.trim_end(),
            text.replace(word, "changed").trim_end(),
            "{}",
            client.name
        );
    }
}

#[test]
fn a_project_has_a_configuration_of_its_own() {
    let desk = Desk::new();
    for client in clients() {
        let run = desk.setup(&[client.name, "--project", "--yes"]);
        let Some(file) = client.project else {
            assert_eq!(run.status, 2, "{run:?}");
            assert!(run.stderr.contains("Claude Desktop"), "{run:?}");
            continue;
        };
        assert_eq!(run.status, 0, "{run:?}");
        let entry = servers(&client, &desk.folder.text(file))["hydrant"].clone();
        assert_eq!(entry["command"], program());
        let workspace = match client.name {
            "cursor" | "vscode" => Some("${workspaceFolder}".to_owned()),
            "codex" => Some(
                desk.folder
                    .path("")
                    .canonicalize()
                    .unwrap()
                    .display()
                    .to_string(),
            ),
            // They declare it as a root.
            _ => None,
        };
        let named = workspace
            .iter()
            .flat_map(|directory| ["--workspace", directory]);
        let expected: Vec<_> = std::iter::once("mcp").chain(named).collect();
        assert_eq!(entry["args"], json!(expected), "{}", client.name);
        assert_eq!(desk.files(), []);
        desk.set_up(&[client.name, "--project", "--undo", "--yes"]);
        assert!(!desk.folder.exists(file));
        assert!(!desk.folder.exists(".claude/settings.json"));
    }
}

#[test]
fn a_workspace_that_was_named_is_the_only_one() {
    let desk = Desk::new();
    for named in [
        "--workspace",
        "--workspace=/work",
        "--mount=/workspace=/work",
    ] {
        let mut all = vec!["cursor", "--project", "--yes", "--", named];
        all.extend((named == "--workspace").then_some("/work"));
        desk.set_up(&all);
        let text = desk.folder.text(".cursor/mcp.json");
        assert!(
            text.contains(named) && !text.contains("workspaceFolder"),
            "{text}"
        );
    }
}

#[test]
fn the_hook_of_claude_comes_and_goes_with_the_server() {
    let desk = Desk::new();
    desk.set_up(&["claude", "--yes"]);
    let settings = desk.text(".claude/settings.json").unwrap();
    assert!(settings.contains("hook user-prompt-submit"), "{settings}");
    assert!(!settings.contains("--mode"), "{settings}");
    assert!(!desk.home(".claude/agents").exists());
    // `hook install` is the same.
    let run = desk.folder.ok(&["hook", "install", "--yes"]);
    assert!(run.stdout.contains("already installed"), "{run:?}");
    desk.folder.ok(&["hook", "uninstall", "--yes"]);
    assert_eq!(desk.text(".claude/settings.json"), None);
    assert!(desk.text(".claude.json").unwrap().contains("hydrant"));
    desk.set_up(&["claude", "--undo", "--yes"]);
    desk.set_up(&["claude", "--no-hook", "--yes"]);
    assert_eq!(desk.text(".claude/settings.json"), None);
    for other in ["--no-hook", "--subagent"] {
        let run = desk.setup(&["cursor", other, "--yes"]);
        assert_eq!(run.status, 2, "{run:?}");
    }
}

#[test]
fn the_folders_that_variables_name_are_heeded() {
    let desk = Desk::new();
    for (variable, client, file) in [
        ("CLAUDE_CONFIG_DIR", "claude", ".claude.json"),
        ("CODEX_HOME", "codex", "config.toml"),
        #[cfg(not(target_os = "macos"))]
        ("XDG_CONFIG_HOME", "vscode", "Code/User/mcp.json"),
    ] {
        let folder = desk.home(variable);
        fs::create_dir_all(folder.join("Code/User")).unwrap();
        let mut command = desk.folder.command(&["setup", client, "--yes"]);
        command.env(variable, &folder);
        assert_eq!(crate::program::Run::of(&mut command).status, 0);
        let text = fs::read_to_string(folder.join(file)).unwrap();
        assert!(text.contains("hydrant"), "{text}");
    }
}

#[test]
fn the_program_and_what_follows_it_can_be_chosen() {
    let desk = Desk::new();
    for client in clients() {
        let chosen = [
            client.name,
            "--yes",
            "--command",
            "/opt/it's \"here\"/wrap",
            "--",
            "--root",
            "/os dir",
        ];
        desk.set_up(&chosen);
        let text = desk.text(client.file).unwrap();
        let entry = servers(&client, &text)["hydrant"].clone();
        assert_eq!(entry["command"], "/opt/it's \"here\"/wrap", "{text}");
        assert_eq!(entry["args"], json!(["mcp", "--root", "/os dir"]));
        let again = desk.set_up(&chosen);
        assert!(again.stdout.contains("already installed"), "{again:?}");
        let undo = [client.name, "--undo", "--yes", "--command", chosen[3]];
        desk.set_up(&undo);
        assert_eq!(desk.files(), []);
    }
    // Setup's own entry is brought up to date without more ado.
    desk.put(
        ".cursor/mcp.json",
        r#"{"mcpServers":{"hydrant":{"command":"/old/hydrant","args":["mcp"]}}}"#,
    );
    desk.set_up(&["cursor", "--yes"]);
    let text = desk.text(".cursor/mcp.json").unwrap();
    assert!(!text.contains("/old/hydrant"), "{text}");
}

#[test]
fn without_leave_nothing_is_written() {
    let desk = Desk::new();
    for client in clients() {
        desk.put(client.file, before(client.name).0);
    }
    let files = desk.files();
    for client in clients() {
        let run = desk.setup(&[client.name]);
        assert_eq!(run.status, 2, "{run:?}");
        assert!(run.stderr.contains("--yes"), "{run:?}");
        assert!(run.stdout.contains("+ "), "{run:?}");
        let shown = desk.set_up(&[client.name, "--print"]);
        assert!(shown.stdout.contains(program()), "{shown:?}");
        assert!(shown.stdout.contains(client.file), "{shown:?}");
        assert_eq!(desk.files(), files);
    }
}
