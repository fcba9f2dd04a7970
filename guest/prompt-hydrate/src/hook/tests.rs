use proptest::prelude::*;

use super::*;

fn input(stdin: &str) -> Input {
    Input::parse(stdin).unwrap()
}

fn rule(prompt: &str) -> Option<&'static str> {
    let input = Input {
        prompt: prompt.to_owned(),
        ..Input::default()
    };
    input.skip(true).map(|skip| skip.rule)
}

#[test]
fn one_object_with_a_mark_before_and_white_space_behind() {
    let text = "\u{feff} \n{\"prompt\":\"a\",\"session_id\":\"s\",\"other\":{\"x\":[1,2]}}\r\n\t ";
    assert_eq!(input(text).prompt, "a");
    assert_eq!(input(text).session_id, "s");
    for bad in [
        "",
        " ",
        "[]",
        "null",
        "\"x\"",
        "{",
        "{}x",
        "{} {}",
        "{'a':1}",
        "\u{feff}",
        "{\"prompt\":\"\n\"}",
    ] {
        assert_eq!(Input::parse(bad).unwrap_err().code, "stdin", "{bad:?}");
    }
}

#[test]
fn null_and_absent_are_empty_and_other_types_are_bad() {
    assert_eq!(input("{}"), Input::default());
    assert_eq!(
        input("{\"prompt\":null,\"session_id\":null}"),
        Input::default()
    );
    for value in ["1", "true", "1.5", "-3", "[\"a\"]", "{\"a\":\"b\"}"] {
        for key in ["prompt", "session_id"] {
            assert!(
                Input::parse(&format!("{{\"{key}\":{value}}}")).is_err(),
                "{key} {value}"
            );
        }
        let ignored = input(&format!(
            "{{\"cwd\":{value},\"agent_id\":{value},\"transcript_path\":{value}}}"
        ));
        assert_eq!(ignored, Input::default());
    }
}

#[test]
fn a_key_that_is_given_twice_is_bad_input() {
    for twice in [
        r#"{"prompt":"a","prompt":"b"}"#,
        r#"{"prompt":"a","prom\u0070t":"b"}"#,
        r#"{"cwd":"/a","cwd":null}"#,
    ] {
        assert!(Input::parse(twice).is_err(), "{twice}");
    }
}

#[test]
fn half_a_pair_is_a_replacement_character() {
    for (escaped, text) in [
        (r"\ud83d", "\u{fffd}"),
        (r"\ud83d\ude00", "😀"),
        (r"\uD83D\uDE00", "😀"),
        (r"\ude00\ud83d", "\u{fffd}\u{fffd}"),
        (r"\ud83d\ud83d\ude00", "\u{fffd}😀"),
        (r"\ud83dx", "\u{fffd}x"),
        (r"\ud83d\n", "\u{fffd}\n"),
        (r"\\ud83d", r"\ud83d"),
        (r"\\\ud83d", "\\\u{fffd}"),
        (r"\ud83d\\ude00", "\u{fffd}\\ude00"),
        (r"é\udfff", "é\u{fffd}"),
    ] {
        assert_eq!(
            input(&format!(r#"{{"prompt":"{escaped}"}}"#)).prompt,
            text,
            "{escaped}"
        );
    }
    // In what is not used too.
    assert_eq!(
        input(r#"{"\ud83d":"\ud83d","x":["\udead"],"prompt":"a"}"#).prompt,
        "a"
    );
    for bad in [
        r#"{"prompt":"\ud8"}"#,
        r#"{"prompt":"\ud83"}"#,
        r#"{"prompt":"\ud83d"#,
        "{\"prompt\":\"\\ud83é\"}",
    ] {
        assert!(Input::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn another_event_is_named_in_one_clean_line() {
    assert_eq!(input("{}").event_warning(), None);
    assert_eq!(
        input(r#"{"hook_event_name":"UserPromptSubmit"}"#).event_warning(),
        None
    );
    assert_eq!(
        input(r#"{"hook_event_name":"BeforeAgent"}"#).event_warning(),
        None
    );
    assert_eq!(input(r#"{"hook_event_name":7}"#).event_warning(), None);
    let other = input(r#"{"hook_event_name":"Stop\n\u202e!"}"#);
    assert_eq!(other.event_warning().as_deref(), Some("Stop !"));
}

#[test]
fn over_8_mib_is_bad_input() {
    let text = format!("{{\"prompt\":\"{}\"}}", "a".repeat(MAX_BYTES));
    assert!(Input::parse(&text).is_err());
    let text = format!("{{\"prompt\":\"{}\"}}", "a".repeat(MAX_BYTES - 13));
    assert_eq!(input(&text).prompt.len(), MAX_BYTES - 13);
}

#[test]
fn depth_in_what_is_ignored_does_no_harm() {
    let deep = "[".repeat(200_000) + &"]".repeat(200_000);
    assert_eq!(
        input(&format!("{{\"x\":{deep},\"prompt\":\"a\"}}")).prompt,
        "a"
    );
    assert!(Input::parse(&format!("{{\"prompt\":{deep}}}")).is_err());
    assert!(Input::parse(&format!("{{\"x\":{}", "[".repeat(200_000))).is_err());
}

#[test]
fn prompts_that_begin_like_this_are_skipped() {
    for (prompt, expected) in [
        // Notifications, which agents send themselves.
        ("<agent-notification>x", "notification"),
        ("<task-notification>x", "notification"),
        // Commands of the agent.
        ("/commit now", "slash"),
        ("/", "slash"),
        // What looks like a file or a command, and is a prompt: known, and documented.
        (".editorconfig has no effect", "dot"),
        ("/var fills up again", "slash"),
        // Commands in the forms that transcripts have.
        ("# /help", "command"),
        ("### /help", "command"),
        ("<command-name>/x</command-name>", "command"),
        (
            "<command-message>x</command-message><command-args>one</command-args>",
            "command",
        ),
        // Contexts that are injected.
        ("<loaded_context>", "injected"),
        ("<system-reminder>x</system-reminder> fix it", "injected"),
    ] {
        for space in ["", " \n\t", "\u{2003}"] {
            assert_eq!(
                rule(&format!("{space}{prompt}")),
                Some(expected),
                "{prompt}"
            );
        }
    }
}

/// A word before it keeps a prompt from being skipped, and so does what is only like a mark.
#[test]
fn a_leading_word_keeps_a_prompt_from_being_skipped() {
    for prompt in [
        "the .editorconfig has no effect",
        "disk: /var fills up again",
        "\"/var\" fills up again",
        "<loaded context> is a tag",
        "<system-reminders> are shown twice",
        "# A heading / with a slash",
    ] {
        assert_eq!(rule(prompt), None, "{prompt}");
    }
}

#[test]
fn a_command_with_words_is_routed_on_them() {
    let prompt = " <command-message>fix</command-message>\n<command-name>/fix</command-name>\n<command-args> repair it\n</command-args>";
    assert_eq!(rule(prompt), None);
    assert_eq!(routed_text(prompt), "repair it");
    assert_eq!(
        rule("<command-name>x</command-name><command-args>a, b"),
        None
    );
    assert_eq!(
        routed_text("a <command-args>b c</command-args>"),
        "a <command-args>b c</command-args>"
    );
}

#[test]
fn prompts_of_subagents_are_skipped() {
    for stdin in [
        r#"{"prompt":"a","agent_id":"x"}"#,
        r#"{"prompt":"a","agent_type":"x"}"#,
        r#"{"prompt":"a","transcript_path":"/h/p/subagents/x.jsonl"}"#,
        r#"{"prompt":"a","transcript_path":"/h/agent-1.jsonl"}"#,
    ] {
        assert_eq!(input(stdin).skip(true).unwrap().rule, "subagent", "{stdin}");
    }
    for stdin in [
        r#"{"prompt":"a","agent_id":"","agent_type":null}"#,
        r#"{"prompt":"a","transcript_path":"/agent-x/s.jsonl"}"#,
    ] {
        assert_eq!(input(stdin).skip(true), None, "{stdin}");
        assert_eq!(input(stdin).skip(false).unwrap().rule, "disabled");
    }
}

#[test]
fn all_else_is_hydrated() {
    for prompt in [
        "",
        "  \n",
        "what is /etc?",
        "a. b",
        "#/x",
        "## /x",
        "<command-names>",
        "…",
        "\u{0}/x",
    ] {
        assert_eq!(rule(prompt), None, "{prompt:?}");
    }
}

proptest! {
    #[test]
    fn no_stdin_ends_the_process(text in r#"[{}\[\]",:\\udD8a-f0-9 \n]{0,60}"#) {
        let _ = Input::parse(&text);
        let _ = Input::parse(&format!("{{\"prompt\":\"{text}"));
    }

    #[test]
    fn whatever_json_says_is_read_as_it_is(prompt in any::<String>()) {
        let json = serde_json::json!({ "prompt": prompt }).to_string();
        prop_assert_eq!(input(&json).prompt, prompt);
    }
}
