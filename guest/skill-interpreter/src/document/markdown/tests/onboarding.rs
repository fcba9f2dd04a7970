use serde_json::{Value, json};

use super::outline;
use crate::document::markdown::lines::Lines;
use crate::document::markdown::onboarding;

fn read(text: &str) -> Option<Value> {
    onboarding::read(&outline(text), &Lines::new(text))
}

#[test]
fn a_section_is_kept_as_text_and_its_numbered_items_are_steps() {
    let text = "# A\n## Onboarding Steps\nRequired: true\n\n1. **Register**: make an account\n2. `verify_email` with the code\n   1. **Open** it\n3. plain\n4. `curl x` it\n- **Not** this\n### Then\n1. **Register**\n## Next\n1. **No**\n";
    let step = |id: &str, title: &str, instructions: &str| json!({"id": id, "type": "human_action", "action": {"title": title, "instructions": instructions}});
    let found = read(text).unwrap();
    assert_eq!(found["required"], json!(true));
    assert_eq!(
        found["steps"],
        json!([
            step("register", "Register", "Register: make an account"),
            step("verify-email", "verify_email", "verify_email with the code"),
            step("register-2", "Register", "Register"),
        ])
    );
    let kept = found["text"].as_str().unwrap();
    assert!(
        kept.starts_with("Required: true\n") && kept.ends_with("### Then\n1. **Register**"),
        "{kept}"
    );
    assert!(onboarding::has_steps(Some(&found)));
}

#[test]
fn nothing_is_required_unless_the_document_says_so() {
    let found = read("## Onboarding\nRequired: false\n\n1. **A**\n").unwrap();
    assert_eq!(found["required"], json!(false));
    assert_eq!(read("## Getting onboard\n1. **A**\n"), None);
    assert!(!onboarding::has_steps(
        read("## onboarding\ntext\n").as_ref()
    ));
    assert!(!onboarding::has_steps(None));
}
