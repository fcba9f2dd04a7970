use crate::diagnostic::Diagnostics;
use crate::document::markdown::front::{CodeFences, FrontMatter};
use crate::failure::Code;

fn read(text: &str) -> (FrontMatter<'_>, Vec<(Code, u32)>) {
    let mut diagnostics = Diagnostics::default();
    let front = FrontMatter::read(Some(text), &mut diagnostics).unwrap();
    let noticed = diagnostics
        .as_slice()
        .iter()
        .map(|noticed| (noticed.code, noticed.line));
    (front, noticed.collect())
}

#[test]
fn what_is_no_yaml_is_recovered_line_by_line() {
    for text in [
        "name: My skill\ndescription: Use when: asked\nother: [\n",
        "name: My skill\nname: twice\ndescription: 'Use when: asked'\n",
        "description: Use when: asked\n\tname: no\nname: My skill\n",
    ] {
        let (front, noticed) = read(text);
        assert_eq!(front.skill.name, "My skill", "{text}");
        assert_eq!(front.skill.description, "Use when: asked", "{text}");
        assert_eq!(noticed.len(), 1, "{text}");
        assert_eq!(noticed[0].0, Code::FrontmatterYaml, "{text}");
        assert!(front.says_name_and_description);
    }
    assert_eq!(read("just text\n").1, [(Code::FrontmatterYaml, 2)]);
}

#[test]
fn empty_front_matter_says_nothing() {
    for text in ["", "\n", "# note\n", "~\n"] {
        let (front, noticed) = read(text);
        assert_eq!(
            (front.skill.name.as_str(), noticed),
            ("", vec![]),
            "{text:?}"
        );
        assert!(!front.says_name_and_description);
    }
}

#[test]
fn requirements_under_any_key_of_metadata() {
    for text in [
        "metadata:\n  claw:\n    primaryEnv: B_KEY\n    requires:\n      env: [A_KEY, B_KEY]\n      bins: [curl, jq]\n",
        "metadata: {\"claw\":{\"requires\":{\"env\":[\"A_KEY\"],\"bins\":[\"curl\"]}},\"x\":{\"requires\":{\"bins\":[\"jq\"]},\"primaryEnv\":\"B_KEY\"}}\n",
        "metadata: '{\"claw\":{\"requires\":{\"env\":[\"A_KEY\"],\"bins\":[\"curl\",\"jq\"]},\"primaryEnv\":\"B_KEY\"}}'\n",
        "metadata:\n  requires: {env: A_KEY, bins: [curl, jq, 3]}\n  primaryEnv: B_KEY\n  emoji: x\n",
    ] {
        let (front, noticed) = read(text);
        assert_eq!(front.skill.secrets, ["A_KEY", "B_KEY"], "{text}");
        assert_eq!(front.skill.tools, ["curl", "jq"], "{text}");
        assert_eq!(noticed, [], "{text}");
        assert!(front.skill.recorded["metadata"].is_object(), "{text}");
    }
}

#[test]
fn metadata_of_another_shape_is_somebody_elses() {
    for metadata in [
        "[1]",
        "text",
        "{\"a\":1}",
        "{\"a\":{\"requires\":[1]}}",
        "'{'",
        "null",
    ] {
        let text = format!("metadata: {metadata}\n");
        let (front, noticed) = read(&text);
        assert_eq!(
            (front.skill.secrets.len(), noticed),
            (0, vec![]),
            "{metadata}"
        );
    }
}

#[test]
fn capabilities_or_a_runtime_make_code_fences_operations() {
    for (text, expected) in [
        ("name: a\n", CodeFences::Annotated),
        ("capabilities: []\n", CodeFences::Annotated),
        ("runtime:\n", CodeFences::Annotated),
        ("capabilities: [net]\n", CodeFences::All),
        ("runtime: python\n", CodeFences::All),
    ] {
        assert_eq!(read(text).0.code_fences, expected, "{text}");
    }
}

#[test]
fn an_alias_bomb_ends_the_load() {
    let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for level in 1..9 {
        let below = format!("*a{}", level - 1);
        let list = vec![below; 10].join(",");
        bomb.push_str(&format!("a{level}: &a{level} [{list}]\n"));
    }
    let mut diagnostics = Diagnostics::default();
    let failure = FrontMatter::read(Some(&bomb), &mut diagnostics).unwrap_err();
    assert_eq!(failure.code, Code::Limit);
    assert!(failure.line.is_some());
}
