use super::outline;
use crate::document::SkillDeclaration;
use crate::document::markdown::lines::Lines;
use crate::document::markdown::section;
use crate::model::Format;

fn identified(text: &str) -> (String, String) {
    let mut skill = SkillDeclaration::new(Format::Markdown);
    section::identify(&mut skill, &outline(text));
    (skill.name, skill.description)
}

#[test]
fn name_and_description_come_from_the_first_first_level_heading() {
    for (text, name, description) in [
        ("# A `b`\n\nSays\nthis.\n\nMore.\n", "A b", "Says this."),
        ("## Z\n\nno\n\nA\n===\n> Quoted.\n", "A", "Quoted."),
        ("# A\n- item\n\nAfter.\n", "A", "After."),
        ("# A\n## B\nno\n", "A", ""),
        ("# A\n```\nx\n```\nno\n# B\n", "A", ""),
        ("no\n\n## B\nno\n", "", ""),
    ] {
        assert_eq!(
            identified(text),
            (name.to_owned(), description.to_owned()),
            "{text}"
        );
    }
}

#[test]
fn what_front_matter_says_stays() {
    let mut skill = SkillDeclaration::new(Format::Markdown);
    skill.name = "own".to_owned();
    skill.description = "Own.".to_owned();
    section::identify(&mut skill, &outline("# A\n\nSays.\n"));
    assert_eq!(
        (skill.name.as_str(), skill.description.as_str()),
        ("own", "Own.")
    );
}

#[test]
fn secrets_are_code_spans_of_sections_about_credentials() {
    let text = "`OTHER_KEY`\n# A\n## Authentication\nSet `A_API_KEY` and `A_REGION`, not `b_token`.\n### More\n| x |\n|---|\n| `C_TOKEN` |\n\
        ## Use\n`D_KEY`\n## Setup\n1. `E_SECRET`\n   - `A_API_KEY`\n```\nF_KEY\n```\n## requirements\n**`G_PASSWORD`**\n# Secrets\n`H_JWT`\n## My Authorization\n`I_KEY`\n";
    assert_eq!(
        section::secrets(&outline(text)),
        [
            "A_API_KEY",
            "C_TOKEN",
            "E_SECRET",
            "A_API_KEY",
            "G_PASSWORD",
            "H_JWT",
            "I_KEY"
        ]
    );
}

fn base(text: &str) -> Option<String> {
    section::base_url(&outline(text), &Lines::new(text))
}

#[test]
fn the_first_url_that_is_labelled() {
    for (text, expected) in [
        (
            "x\n**Base URL:** `https://a.example/v1`\nBase URL: https://b.example\n",
            "https://a.example/v1",
        ),
        (
            "## Base URL\n\n```\n# production\nhttps://a.example\n```\n",
            "https://a.example",
        ),
        (
            "Base URL:\n\n> ~~~\n> https://a.example\n> ~~~\n",
            "https://a.example",
        ),
        (
            "Base URL\n\nhttps://a.example/v2.\n",
            "https://a.example/v2",
        ),
        ("| Base URL | <https://a.example> |\n", "https://a.example"),
        (
            "Base URL: https://{region}.example\nBase URL: https://a.example\n",
            "https://a.example",
        ),
        (
            "Base URL: https://u:p@b.example\n\nBase URL: https://a.example\n",
            "https://a.example",
        ),
        ("BASE_URL=\"https://a.example\"\n", "https://a.example"),
        (
            "Base URL:\nBase URL: https://a.example\n",
            "https://a.example",
        ),
    ] {
        assert_eq!(base(text).as_deref(), Some(expected), "{text}");
    }
    for text in [
        "https://a.example\n",
        "Base URL: see below\n\n## X\nhttps://a.example\n",
        "Base URL:\n```\n```\nhttps://a.example\n",
        "Base URL",
        "Base URL:\n\n",
    ] {
        assert_eq!(base(text), None, "{text}");
    }
}
