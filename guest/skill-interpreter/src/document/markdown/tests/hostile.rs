use std::time::Duration;

use proptest::prelude::*;

use crate::diagnostic::Diagnostics;
use crate::document::markdown::read;
use crate::failure::Failure;
use crate::limits::DOCUMENT_BYTES;
use crate::processor_time::Stopwatch;
use crate::request::LoadRequest;

/// A document is answered within 2 s, on a slow machine within a debug build too.
const MOST: Duration = Duration::from_secs(2);

fn load(text: &str) -> Result<usize, Failure> {
    let request = LoadRequest {
        source_url: "https://skills.example/skill.md".to_owned(),
        ..LoadRequest::default()
    };
    let mut diagnostics = Diagnostics::default();
    read(text, &request, &mut diagnostics).map(|document| document.candidates.len())
}

fn repeated(piece: &str) -> String {
    piece.repeat(DOCUMENT_BYTES / piece.len())
}

fn half(piece: &str) -> String {
    piece.repeat(DOCUMENT_BYTES / piece.len() / 2)
}

#[test]
fn a_mebibyte_of_one_thing_is_answered_in_time() {
    let nested: String = (0..400)
        .map(|depth| format!("{}- x\n", "  ".repeat(depth)))
        .collect();
    let quotes: String = (1..1_000)
        .map(|depth| format!("{}\n", ">".repeat(depth)))
        .collect();
    let mut documents: Vec<String> = [
        "#\n",
        "# a heading\n",
        "###### a\n\n",
        "```\n",
        "```bash\ncurl x\n",
        "~~~~~~~~\n",
        ">",
        "> ",
        "- ",
        "-\t",
        "1. ",
        "* a\n",
        "`",
        "``a`",
        "[",
        "[a](",
        "![",
        "**a",
        "*_",
        "<!--",
        "<!-- skill: {} -->\n",
        "|",
        "| a ",
        "a|b\n-|-\n",
        "\\",
        "&amp;",
        "<a ",
        "</",
        "<![CDATA[",
        "[a]: b\n",
        "[a][",
        "---\n",
        "a\n=\n",
        "Base URL:\n\n",
        "Base URL\n",
        "**Endpoint**: `/a`\n",
        "Response:\n\n",
        "- `GET /a`\n",
        "\t",
        " ",
        "\n",
        "\r",
        "\u{0}",
        "é",
        "$ ",
        "http://",
        "## Onboarding\n1. **a**\n",
        "    a\n",
        "- a\n\n",
    ]
    .into_iter()
    .map(repeated)
    .collect();
    documents.push(nested + &half("\n"));
    documents.push(quotes + &half("a\n"));
    documents.push(format!(
        "```bash\n{}",
        repeated("curl https://a.example/ -d 'x'\n")
    ));
    documents.push(format!(
        "# A\n{}",
        repeated("| `GET /a` | b |\n").replacen("| `GET", "| x | y |\n|---|---|\n| `GET", 1)
    ));
    let steps = half("1. `a`\n");
    let steps: String = steps.chars().take(350_000).collect();
    documents.push(format!("# A\n## Onboarding\n{steps}"));
    documents.push(format!("# A\n{}", "**Endpoint**: `/a`\n".repeat(20_000)));
    documents.push(format!(
        "# A\n{}\n{}\n",
        "| `GET /a` ".repeat(30_000),
        "|-".repeat(30_000)
    ));
    documents.push(format!(
        "# A\n## {}\n{}",
        half("long "),
        "```json\n1\n```\n".repeat(20_000)
    ));
    for document in documents {
        let begun = Stopwatch::started();
        let answer = load(&document);
        let taken = begun.elapsed();
        let beginning: String = document.chars().take(12).collect();
        assert!(taken < MOST, "{beginning:?}: {taken:?} {answer:?}");
    }
}

#[test]
fn front_matter_of_one_thing_is_answered_in_time() {
    for piece in [
        "a: ",
        "- ",
        "[",
        "{",
        "&a ",
        "*a ",
        "a: &a [*a]\n",
        "? ",
        "|\n",
        "!!x ",
        "\"",
        "name: x\n",
        "metadata:\n",
    ] {
        let begun = Stopwatch::started();
        let answer = load(&format!("---\n{}\n---\n# A\n", repeated(piece)));
        assert!(
            begun.elapsed() < MOST,
            "{piece:?}: {:?} {answer:?}",
            begun.elapsed()
        );
    }
}

/// Pieces that mean something to the parsers, glued at random.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "---\n",
        "name: a\n",
        "operations:\n",
        "  - name: b\n",
        "    endpoint: /x\n",
        "# A\n",
        "## B\n",
        "```bash\n",
        "```\n",
        "```json\n",
        "~~~python\n",
        "~~~\n",
        "curl https://a.example/{id} \\\n",
        "  -H 'X-Api-Key: $K'\n",
        "-d '{\"a\": 1}'\n",
        "$ ",
        "> ",
        "- ",
        "1. ",
        "  ",
        "\n",
        "\n\n",
        "GET /x\n",
        "Body: {\"a\":1}\n",
        "Response:\n",
        "{\"a\": [",
        "]}\n",
        "<!-- skill: {",
        "skill:op=y ",
        "**Endpoint**: `/x`\n",
        "**Input Schema**:\n",
        "| `GET /y` | z |\n",
        "|---|---|\n",
        "`A_TOKEN`",
        "## Authentication\n",
        "## Onboarding\n",
        "**Register**",
        "Base URL: ",
        "https://a.example\n",
        "X=1\n",
        "<<EOF\n",
        "EOF\n",
        "'",
        "\"",
        "`",
        "\\",
        "\t",
        "\r\n",
        "é",
        "\u{0}",
        "\u{FEFF}",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn random_documents_are_answered(text in pieces()) {
        let once = load(&text);
        prop_assert_eq!(once, load(&text), "the same load twice");
    }

    #[test]
    fn any_text_is_answered(text in "(?s).{0,200}") {
        let _ = load(&text);
    }

    #[test]
    fn truncated_documents_are_answered(cut in 0_usize..2_000) {
        let whole = include_str!("whole.md");
        // In characters: a document that is cut within one is not UTF-8.
        let _ = load(&whole.chars().take(cut).collect::<String>());
    }
}
