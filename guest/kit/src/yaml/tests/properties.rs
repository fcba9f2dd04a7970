//! What holds for every text.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused(text in any::<String>()) {
        drop(parse(&text, &USED));
    }

    #[test]
    fn yaml_like_text_is_parsed_or_refused(
        text in "([ \t]{0,3}([-?:] |[a-c]: |[\\[\\]{},]|&[ab] |\\*[ab]|!!?(str|seq|x)? |[|>][+-]?|\"|'|#|[a-cé\u{FEFF}\u{85}~\\\\]|\\.\\.\\.|---)[ \r]?\n?){0,30}"
    ) {
        if let Ok(yaml) = parse(&text, &["a", "b"]) {
            for key in ["a", "b", "c"] {
                if let Some(entry) = yaml.entry(key) {
                    prop_assert!(text.get(entry.key).is_some());
                    prop_assert!(text.get(entry.value).is_some());
                }
            }
        }
    }

    #[test]
    fn json_strings_are_their_text(text in any::<String>()) {
        // C1 controls and the like may not stand in YAML; everything else of JSON may.
        prop_assume!(text.chars().all(|c| !matches!(c, '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')));
        let mut json = b"name: ".to_vec();
        crate::json::write_string(&mut json, &text);
        let front_matter = String::from_utf8(json).unwrap();
        let yaml = parse(&front_matter, &USED).unwrap();
        let name = yaml.root().and_then(|root| root.get("name"));
        prop_assert_eq!(name.and_then(|name| name.as_text()), Some(text.as_str()));
    }
}
