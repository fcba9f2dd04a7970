use super::outline;
use crate::document::markdown::listed;
use crate::document::markdown::outline::{Kind, Outline, Span, plain};

/// Each block as one line: its line, its section's title, and what it is.
fn shown(outline: &Outline) -> Vec<String> {
    let block = |block: &super::super::outline::Block| {
        let what = match &block.kind {
            Kind::Heading(spans) => format!("# {}", plain(spans)),
            Kind::Text(spans) => plain(spans),
            Kind::Row(cells) => cells
                .iter()
                .map(|cell| plain(cell))
                .collect::<Vec<_>>()
                .join(" | "),
            Kind::Fence(fence) => format!("[{}] {:?}", fence.info, fence.text),
            Kind::Comment(text) => format!("<{text}>"),
            Kind::Other => "-".to_owned(),
        };
        let section = &outline.sections[block.section].title;
        let item = if block.item.is_some() { "* " } else { "" };
        format!("{} {section}: {item}{what}", block.line)
    };
    outline.blocks.iter().map(block).collect()
}

#[test]
fn blocks_stand_in_their_sections_and_on_their_lines() {
    let text = "intro\n# A\n\ntext `code` **bold**\nmore\n\n## B\n```bash x\nls\n\nls\n```\n<!-- c -->\n\n    indented\n\nC\n---\n";
    assert_eq!(
        shown(&outline(text)),
        [
            "1 : intro",
            "2 A: # A",
            "4 A: text code bold more",
            "7 B: # B",
            "8 B: [bash x] \"ls\\n\\nls\\n\"",
            "13 B: < c >",
            "15 B: -",
            "17 C: # C",
        ]
    );
}

#[test]
fn fences_of_any_length_in_lists_and_quotes_keep_their_lines() {
    let text =
        "- item\n\n  ~~~~sh\n  a\n  ```\n\n    b\n  ~~~~\n> ```\n> q\n> ```\n1. x\n   ```\n   y\n";
    assert_eq!(
        shown(&outline(text)),
        [
            "1 : * item",
            "3 : * [sh] \"a\\n```\\n\\n  b\\n\"",
            "9 : [] \"q\\n\"",
            "12 : * x",
            "13 : * [] \"y\\n\"",
        ]
    );
}

#[test]
fn line_breaks_of_windows_are_line_breaks() {
    let text = "# A\r\n\r\n```sh\r\ncurl \\\r\n  x\r\n```\r\nend\r\n";
    assert_eq!(
        shown(&outline(text)),
        ["1 A: # A", "3 A: [sh] \"curl \\\\\\n  x\\n\"", "7 A: end"]
    );
}

#[test]
fn a_heading_in_a_quote_or_item_ends_with_it() {
    let text = "## A\n> ## B\n> in b\n\nin a\n- ## C\n  in c\n- in a\n";
    assert_eq!(
        shown(&outline(text)),
        [
            "1 A: # A",
            "2 B: # B",
            "3 B: in b",
            "5 A: in a",
            "6 C: * # C",
            "7 C: * in c",
            "8 A: * in a"
        ]
    );
}

#[test]
fn a_section_is_part_of_the_nearest_one_of_a_higher_level() {
    let outline = outline("# A\n### B\n## C\n#### D\n# E\n");
    let parents: Vec<Option<usize>> = outline
        .sections
        .iter()
        .map(|section| section.parent)
        .collect();
    assert_eq!(parents, [None, Some(0), Some(1), Some(1), Some(3), Some(0)]);
}

#[test]
fn html_is_a_comment_only_if_it_is_nothing_else() {
    let text = "<!-- a\nb -->\n\n<!-- a --> b\n\n<div>\n<!-- a -->\n</div>\n\ntext\n<!-- c -->\n<!-- d -->\n";
    let kinds = shown(&outline(text));
    assert_eq!(
        kinds,
        [
            "1 : < a\nb >",
            "4 : -",
            "6 : -",
            "10 : text",
            "11 : < c >",
            "12 : < d >"
        ]
    );
}

#[test]
fn bold_text_and_code_in_it_are_told_apart() {
    let outline = outline("**a *b* `c`** d __e__\n");
    let Kind::Text(spans) = &outline.blocks[0].kind else {
        panic!("no text");
    };
    let (bold, text) = (
        |text: &str| Span::Bold(text.to_owned()),
        |text: &str| Span::Text(text.to_owned()),
    );
    assert_eq!(
        spans,
        &[
            bold("a b "),
            Span::Code("c".to_owned()),
            text(" d "),
            bold("e")
        ]
    );
}

/// The requests that a document's items and rows name, with their descriptions.
fn requests(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for block in &outline(text).blocks {
        match &block.kind {
            Kind::Text(spans) if block.item.is_some() => found.extend(listed::of_text(spans)),
            Kind::Row(cells) => found.extend(listed::of_row(cells)),
            _ => {}
        }
    }
    found
        .into_iter()
        .map(|listed| (listed.request, listed.description))
        .collect()
}

#[test]
fn a_request_in_an_item_or_a_cell() {
    let found =
        |request: &str, description: &str| vec![(request.to_owned(), description.to_owned())];
    for (text, request, description) in [
        ("- `GET /users` - List users\n", "GET /users", "List users"),
        (
            "* **`POST {base}/x`**: make `one`\n",
            "POST {base}/x",
            "make one",
        ),
        (
            "1. Remove: `DELETE https://a.example/x`\n",
            "DELETE https://a.example/x",
            "",
        ),
        (
            "| x | y |\n|---|---|\n| `PATCH $B/x` | Change *it* |\n",
            "PATCH $B/x",
            "Change it",
        ),
        (
            "| x | y | z |\n|---|---|---|\n| Users | `GET /u` lists | all |\n",
            "GET /u",
            "lists all",
        ),
    ] {
        assert_eq!(requests(text), found(request, description), "{text}");
    }
}

#[test]
fn what_is_not_exactly_a_request_is_none() {
    for text in [
        "- `get /users`\n",
        "- `GET users`\n",
        "- `GET`\n",
        "- `x` then `GET /users`\n",
        "- `TRACE /users`\n",
        "    - `GET /users`\n",
    ] {
        assert_eq!(requests(text), [], "{text}");
    }
}
