//! What is refused: nothing is written, and the message says which file, where in it, and why.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::desk::{Desk, clients};

/// Setting up and undoing are both refused with all of these words, and change nothing.
fn refused(desk: &Desk, client: &str, words: &[&str]) {
    let files = desk.files();
    for undo in [&[][..], &["--undo"]] {
        let mut arguments = vec![client, "--yes"];
        arguments.extend(undo);
        let run = desk.setup(&arguments);
        assert_eq!(run.status, 1, "{arguments:?}: {run:?}");
        for word in words {
            assert!(run.stderr.contains(word), "{word}: {run:?}");
        }
        assert_eq!(desk.files(), files);
    }
}

#[test]
fn what_cannot_be_parsed_is_named_with_line_and_reason() {
    let desk = Desk::new();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for client in clients() {
        let texts: &[(&str, &str)] = if client.name == "codex" {
            &[
                ("a = 1\nb = \n", "line 2"),
                ("a = 1\na = 2\n", "line 2"),
                ("\n[a\n", "line 2"),
            ]
        } else {
            &[
                ("{\n  \"a\": 1\n  \"b\": 2\n}\n", "line 3"),
                ("", "line 1"),
                ("{\n\"a\": \"\u{1}\"}", "line 2"),
                ("{\n/* no end", "line 2"),
                ("[]", "not a JSON object"),
                ("{,}", "line 1"),
                ("{\"a\":[1,,]}", "line 1"),
                (&deep, "recursion limit"),
            ]
        };
        for (text, reason) in texts {
            desk.put(client.file, text);
            refused(&desk, client.name, &[client.file, reason]);
        }
        desk.put(client.file, b"{\"a\": \"\xff\"}");
        refused(&desk, client.name, &[client.file, "not UTF-8"]);
        fs::remove_file(desk.home(client.file)).unwrap();
    }
    // Comments and trailing commas are refused where the client does not read them.
    for (client, file, text) in [
        ("claude", ".claude.json", "{} // c"),
        ("claude", ".claude.json", "{\"a\": 1,}"),
        ("gemini", ".gemini/settings.json", "{\"a\": 1,}"),
    ] {
        desk.put(file, text);
        refused(&desk, client, &[file, "line 1"]);
    }
}

#[test]
fn servers_of_another_form_are_left_alone() {
    let desk = Desk::new();
    for text in ["{\"mcpServers\": []}", "{\"mcpServers\": null}"] {
        desk.put(".cursor/mcp.json", text);
        let run = desk.setup(&["cursor", "--yes"]);
        assert_eq!(run.status, 1, "{run:?}");
        assert_eq!(desk.text(".cursor/mcp.json").unwrap(), text);
    }
}

#[test]
fn a_link_a_read_only_file_and_a_huge_one_are_left_alone() {
    let desk = Desk::new();
    for client in clients() {
        let file = desk.home(client.file);
        desk.put("dotfiles", "{}");
        symlink(desk.home("dotfiles"), &file).unwrap();
        refused(
            &desk,
            client.name,
            &[client.file, "symbolic link", "dotfiles"],
        );
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        refused(&desk, client.name, &[client.file, "not a regular file"]);
        fs::remove_dir(&file).unwrap();
        desk.put(client.file, "");
        fs::set_permissions(&file, Permissions::from_mode(0o444)).unwrap();
        refused(&desk, client.name, &[client.file, "read-only"]);
        fs::remove_file(&file).unwrap();
        let huge = fs::File::create(&file).unwrap();
        huge.set_len(33 << 20).unwrap();
        refused(&desk, client.name, &[client.file, "bytes"]);
        fs::remove_file(&file).unwrap();
    }
}

#[test]
fn a_client_that_was_never_started_is_named() {
    let desk = Desk::new();
    for client in clients().iter().filter(|client| client.name != "claude") {
        let folder = desk.home(client.file).parent().unwrap().to_owned();
        fs::remove_dir_all(&folder).unwrap();
        let run = desk.setup(&[client.name, "--yes"]);
        assert_eq!(run.status, 1, "{run:?}");
        assert!(run.stderr.contains("there is no "), "{run:?}");
        assert!(run.stderr.contains("--file"), "{run:?}");
        assert!(!folder.exists());
        // Named, it is where the user says.
        let named = format!("{}.conf", client.name);
        desk.set_up(&[client.name, "--yes", "--file", &named]);
        assert!(desk.folder.text(&named).contains("hydrant"));
    }
}

#[test]
fn of_two_files_of_which_one_is_refused_none_is_written() {
    let desk = Desk::new();
    desk.put(".claude/settings.json", "{");
    refused(&desk, "claude", &[".claude/settings.json", "line 1"]);
}
