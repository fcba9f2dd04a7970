//! Configurations of odd forms, and entries that are the user's own.

use std::fs;

use serde_json::Value;

use crate::desk::Desk;

/// Set up, looked at, and undone.
fn round_trip(desk: &Desk, client: &str, file: &str, text: &str) -> String {
    desk.put(file, text);
    desk.set_up(&[client, "--yes"]);
    let with = desk.text(file).unwrap();
    assert!(with.contains("mcp"), "{with}");
    desk.set_up(&[client, "--undo", "--yes"]);
    assert_eq!(desk.text(file).unwrap(), text, "{client}: {with}");
    with
}

#[test]
fn a_byte_order_mark_and_other_line_ends_stay() {
    let desk = Desk::new();
    let with = round_trip(
        &desk,
        "cursor",
        ".cursor/mcp.json",
        "\u{feff}{\r\n  \"a\": 1\r\n}\r\n",
    );
    assert!(with.starts_with("\u{feff}{\r\n"), "{with:?}");
    assert!(!with.replace("\r\n", "").contains('\n'), "{with:?}");
    let with = round_trip(&desk, "codex", ".codex/config.toml", "\u{feff}a = 1\r\n");
    assert!(!with.replace("\r\n", "").contains('\n'), "{with:?}");
}

#[test]
fn comments_stay_where_the_client_reads_them() {
    let desk = Desk::new();
    let code = ".config/Code/User/mcp.json";
    for text in [
        "{\n  \"servers\": {\n    // none yet\n  }\n}\n",
        "{} // nothing\n",
        "/* { \"servers\": */ {\"servers\": {\"a\": {\"url\": \"http://x//y/*\"}}}",
        "{\n  \"servers\": {\n    \"a\": {}, // b, c\n    \"b\": {} /* , */\n    // \"hydrant\": {}\n  },\n}\n",
    ] {
        let with = round_trip(&desk, "vscode", code, text);
        for comment in [
            "// none yet",
            "// nothing",
            "/* { \"servers\": */",
            "// b, c",
            "/* , */",
            "// \"hydrant\"",
        ] {
            assert_eq!(with.contains(comment), text.contains(comment), "{with}");
        }
        // Nor does a comment that came later go.
        desk.set_up(&["vscode", "--yes"]);
        let with = desk.text(code).unwrap();
        let later = format!("// later\n{with}");
        desk.put(code, &later);
        desk.set_up(&["vscode", "--undo", "--yes"]);
        let left = desk.text(code).unwrap();
        assert!(
            left.starts_with("// later\n") && !left.contains("stdio"),
            "{left}"
        );
        for comment in [
            "// none yet",
            "// nothing",
            "// b, c",
            "/* , */",
            "// \"hydrant\"",
        ] {
            assert_eq!(left.contains(comment), text.contains(comment), "{left}");
        }
    }
}

#[test]
fn of_members_that_occur_twice_the_one_counts_that_the_client_reads() {
    let desk = Desk::new();
    let text = r#"{"mcpServers":{"a":{}},"mcpServers":{"b":{}}}"#;
    let with = round_trip(&desk, "claude", ".claude.json", text);
    let value: Value = serde_json::from_str(&with).unwrap();
    assert!(value["mcpServers"]["hydrant"].is_object(), "{with}");
    // Taking out the second would bring back the first.
    let twice = r#"{"mcpServers":{"hydrant":{"command":"mine"},"hydrant":{"command":"hydrant","args":["mcp"]}}}"#;
    desk.put(".claude.json", twice);
    let run = desk.setup(&["claude", "--undo", "--yes"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert_eq!(desk.text(".claude.json").unwrap(), twice);
}

#[test]
fn an_entry_of_the_users_own_is_replaced_only_if_they_say_so() {
    let desk = Desk::new();
    for (client, file, text) in [
        (
            "cursor",
            ".cursor/mcp.json",
            "{\n  \"mcpServers\": {\n    \"hydrant\": {\"command\": \"/my/own\", \"env\": {\"A\": \"1\"}}\n  }\n}\n",
        ),
        (
            "vscode",
            ".config/Code/User/mcp.json",
            "{\n  \"servers\": {\n    \"hydrant\": {\"type\": \"http\", \"url\": \"https://my.own/\"}\n  }\n}\n",
        ),
        (
            "codex",
            ".codex/config.toml",
            "[mcp_servers.hydrant]\ncommand = \"/my/own\"\nenv = { A = \"1\" }\n\n[tui]\nx = 1\n",
        ),
    ] {
        desk.put(file, text);
        let run = desk.setup(&[client, "--yes"]);
        assert_eq!(run.status, 1, "{run:?}");
        assert!(
            run.stdout.contains("- ") && run.stdout.contains("own"),
            "{run:?}"
        );
        assert!(run.stderr.contains("--replace"), "{run:?}");
        assert_eq!(desk.text(file).unwrap(), text);
        // It is not setup's to take out.
        desk.set_up(&[client, "--undo", "--yes"]);
        assert_eq!(desk.text(file).unwrap(), text);
        desk.set_up(&[client, "--yes", "--replace"]);
        let with = desk.text(file).unwrap();
        assert!(!with.contains("own"), "{with}");
        desk.set_up(&[client, "--undo", "--yes"]);
        assert_eq!(desk.text(file).unwrap(), text);
    }
}

#[test]
fn a_table_that_cannot_be_changed_in_place_is_left_alone() {
    let desk = Desk::new();
    for text in [
        "mcp_servers = { other = { command = \"x\" } }\n",
        "[mcp_servers]\nhydrant = { command = \"mine\" }\n",
        "[mcp_servers.hydrant]\ncommand = \"mine\"\n[mcp_servers.hydrant.env]\nA = \"1\"\n",
        "x = \"\"\"\n[mcp_servers.hydrant]\ncommand = 'hydrant'\n\"\"\"\n[mcp_servers . hydrant]\ncommand = \"mine\"\n",
    ] {
        desk.put(".codex/config.toml", text);
        let run = desk.setup(&["codex", "--yes", "--replace"]);
        assert_eq!(run.status, 1, "{text}: {run:?}");
        assert!(run.stderr.contains("by hand"), "{run:?}");
        assert_eq!(desk.text(".codex/config.toml").unwrap(), text);
    }
    // A text that only looks like the table is none.
    let text = "x = \"\"\"\n[mcp_servers.hydrant]\ncommand = 'hydrant'\n\"\"\"\n";
    round_trip(&desk, "codex", ".codex/config.toml", text);
    // What comes later stays.
    desk.put(".codex/config.toml", "a = 1\n");
    desk.set_up(&["codex", "--yes"]);
    let with = desk.text(".codex/config.toml").unwrap();
    desk.put(
        ".codex/config.toml",
        format!("{with}\n# next\n[tui]\nx = 1\n"),
    );
    desk.set_up(&["codex", "--undo", "--yes"]);
    assert_eq!(
        desk.text(".codex/config.toml").unwrap(),
        "a = 1\n\n# next\n[tui]\nx = 1\n"
    );
}

#[test]
fn what_a_configuration_holds_cannot_move_the_cursor() {
    let desk = Desk::new();
    desk.folder.put(
        ".mcp.json",
        "{\n  \"\u{9b}2J\u{202e}\": \"\u{7f}\",\n  \"mcpServers\": {}\n}\n",
    );
    let run = desk.set_up(&["claude", "--project", "--no-hook", "--yes"]);
    let plain = |text: &str| text.chars().all(|one| matches!(one, ' '..='~' | '\n'));
    assert!(plain(&run.stdout) && plain(&run.stderr), "{run:?}");
    desk.folder.put(".codex/config.toml", "\u{202e} = \u{9b}\n");
    let run = desk.setup(&["codex", "--project", "--yes"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(plain(&run.stdout) && plain(&run.stderr), "{run:?}");
}

#[test]
fn a_large_file_without_line_ends_is_changed_and_shown_in_brief() {
    let desk = Desk::new();
    let text = format!(
        "{{\"history\":\"{}\",\"mcpServers\":{{}}}}",
        "x".repeat(8 << 20)
    );
    desk.put(".claude.json", &text);
    let run = desk.set_up(&["claude", "--no-hook", "--yes"]);
    assert!(
        run.stdout.contains("+ ...") && run.stdout.len() < 2000,
        "{}",
        run.stdout.len()
    );
    assert!(run.stdout.contains("\"args\":[\"mcp\"]"), "{}", run.stdout);
    desk.set_up(&["claude", "--undo", "--yes"]);
    assert!(fs::read_to_string(desk.home(".claude.json")).unwrap() == text);
}
