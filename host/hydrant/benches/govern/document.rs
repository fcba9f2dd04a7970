//! A skill.md as people write them: prose, a request, what it answers.

use std::fmt::Write as _;

/// So many operations in a document of exactly this many bytes.
pub(crate) fn skill(operations: usize, bytes: usize) -> String {
    let mut text = "---\nname: library\ndescription: Lends books, and says which are there.\n---\n\n# Library\n\n## Setup\n\n\
        Set `LIBRARY_TOKEN` before the first request.\n\n"
        .to_owned();
    let of_each = bytes.saturating_sub(text.len()) / operations;
    for number in 0..operations {
        let start = text.len();
        section(&mut text, number);
        while text.len() + SENTENCE.len() < start + of_each {
            text.push_str(SENTENCE);
        }
        text.push('\n');
    }
    while text.len() < bytes {
        text.push('\n');
    }
    text.truncate(bytes);
    text
}

const SENTENCE: &str = "Answers are sorted by `title` and cut at a hundred entries; see the *notes* on [paging](#paging).\n";

fn section(text: &mut String, number: usize) {
    let written = write!(
        text,
        "## Shelf {number}\n\nSearches shelf {number}. The answer has one entry for each book.\n\n- `query`: what is looked \
         for\n- `limit`: entries at most\n\n```bash\n# Search shelf {number}\ncurl -s -X POST \
         \"https://api.example.org/v2/shelves/{number}/search?lang=en\" \\\n  -H \"Authorization: Bearer $LIBRARY_TOKEN\" \
         \\\n  -H 'Content-Type: application/json' \\\n  -d '{{\"query\": \"Emma\", \"limit\": 10, \"fields\": [\"title\", \
         \"year\"]}}'\n```\n\nResponse:\n\n```json\n{{\"books\": [{{\"title\": \"Emma\", \"year\": 1815}}], \"next\": \
         null}}\n```\n\n| field | meaning |\n|---|---|\n| `title` | as on the spine |\n| `year` | of the first edition |\n\n"
    );
    written.unwrap();
}
