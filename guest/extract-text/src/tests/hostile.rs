use super::{call, error, on_small_stack, text};

const HTML: &str = "text/html";

#[test]
fn html_beyond_a_bound_is_too_large() {
    on_small_stack(|| {
        for (input, reason) in [
            ("<b>".repeat(1_000_000), "depth"),
            ("<div>".repeat(1_000_000), "depth"),
            ("<table><td>".repeat(100_000), "depth"),
            ("<svg>".repeat(100_000), "depth"),
            ("<p><i>".repeat(1_000_000), "nodes"),
            (
                format!("{}{}", "<span>".repeat(500), "</h1>".repeat(1_000_000)),
                "depth",
            ),
        ] {
            assert_eq!(
                error(HTML, input.as_bytes()),
                ("too_large", reason.into()),
                "{}",
                &input[..20]
            );
        }
        let attributes = |count: usize| {
            let names: String = (0..count).map(|number| format!(" a{number}='>'")).collect();
            format!("<a{names}>x</a>")
        };
        assert_eq!(
            error(HTML, attributes(200_000).as_bytes()),
            ("too_large", "attributes".into())
        );
        assert_eq!(text(HTML, attributes(240).as_bytes()), "x");
        // The same words in a script, a comment or a value are no attributes.
        let words = " a b=c".repeat(10_000);
        for harmless in [
            format!("<script>if (i<n {words})</script>x"),
            format!("<!-- <a {words} -->x"),
            format!("<a title='{words}'>x</a>"),
        ] {
            assert_eq!(text(HTML, harmless.as_bytes()), "x");
        }
        let deep = format!("{}x", "<div>".repeat(500));
        assert_eq!(text(HTML, deep.as_bytes()), "x");
    });
}

#[test]
fn markdown_of_more_markup_than_memory_has_room_for_is_too_large() {
    for unit in ["- ", "1. ", "*a ", "\n\n", "["] {
        let input = unit.repeat(1_000_001);
        assert_eq!(
            error("text/markdown", input.as_bytes()),
            ("too_large", "nodes".into()),
            "{unit}"
        );
    }
}

#[test]
fn markdown_of_hostile_nesting_takes_bounded_time_and_stack() {
    on_small_stack(|| {
        for unit in ["[", "*", "![", "_a", "`", "<a ", "<!--", "[](", "|"] {
            let input = unit.repeat(100_000);
            assert!(
                call("text/markdown", input.as_bytes(), None).is_ok(),
                "{unit}"
            );
        }
    });
}

/// TS-137: the parser looks at all open quotes and items for each line.
#[test]
fn ts_137_markdown_of_more_than_500_containers_on_a_line_is_too_large() {
    for unit in [">", "> ", "- ", "1. ", "+ ", "* ", "12) "] {
        let with = |count: usize| format!("{}a\n{}", unit.repeat(count), "a\n".repeat(99));
        assert_eq!(
            error("text/markdown", with(501).as_bytes()),
            ("too_large", "depth".into()),
            "{unit}"
        );
        assert!(call("text/markdown", with(500).as_bytes(), None).is_ok());
    }
    let lazy = format!("{}a\n{}", ">".repeat(100_000), "a\n".repeat(100_000));
    assert_eq!(
        error("text/markdown", lazy.as_bytes()),
        ("too_large", "depth".into())
    );
    // A line of dashes or a long number is no container.
    let text = format!("{}\n\n{}", "-".repeat(600), "1.".repeat(600));
    assert!(call("text/markdown", text.as_bytes(), None).is_ok());
}

/// TS-135
#[test]
fn ts_135_html_of_more_than_3000000_marks_is_too_large() {
    for unit in ["<", "&", "\0"] {
        let input = unit.repeat(3_000_001);
        assert_eq!(
            error(HTML, input.as_bytes()),
            ("too_large", "nodes".into()),
            "{unit:?}"
        );
    }
    assert_eq!(text(HTML, "&amp;".repeat(10_000).as_bytes()).len(), 10_000);
}
