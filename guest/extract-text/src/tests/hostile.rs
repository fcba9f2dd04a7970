use super::{call, on_small_stack, text};

const HTML: &str = "text/html";

#[test]
fn elements_nest_as_deep_as_an_author_forgets_to_close_them() {
    on_small_stack(|| {
        for open in ["<div>", "<b>", "<svg>", "<ul><li>", "<table><td>", "<p><i>"] {
            let input = format!("{}x", open.repeat(1_000));
            let response = call(HTML, input.as_bytes(), None).unwrap();
            assert_eq!(response["truncated"], false, "{open}");
            let expected = if open == "<svg>" { "" } else { "x" };
            let text = response["text"].as_str().unwrap();
            assert_eq!(text.trim_start_matches("- "), expected, "{open}");
        }
    });
}

#[test]
fn markup_in_scripts_comments_and_values_is_no_text() {
    let words = " a b=c".repeat(10_000);
    for input in [
        format!("<script>if (i<n {words})</script>x"),
        format!("<!-- <a {words} -->x"),
        format!("<a title='{words}'>x</a>"),
    ] {
        assert_eq!(text(HTML, input.as_bytes()), "x");
    }
    assert_eq!(text(HTML, "&amp;".repeat(10_000).as_bytes()).len(), 10_000);
}

#[test]
fn markdown_of_hostile_nesting_takes_bounded_time_and_stack() {
    on_small_stack(|| {
        for unit in [
            "[", "*", "![", "_a", "`", "<a ", "<!--", "[](", "|", "> ", "- ", "1. ",
        ] {
            let input = unit.repeat(20_000);
            assert!(
                call("text/markdown", input.as_bytes(), None).is_ok(),
                "{unit}"
            );
        }
    });
}
