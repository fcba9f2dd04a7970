//! Names for people, made of ids and titles.

/// The words of a name, each with a capital: `create_notebook` is `Create Notebook`.
#[must_use]
pub fn words(text: &str) -> String {
    let mut named = String::new();
    for word in text.split(|c: char| c.is_whitespace() || matches!(c, '_' | '-')) {
        let mut characters = word.chars();
        let Some(first) = characters.next() else {
            continue;
        };
        if !named.is_empty() {
            named.push(' ');
        }
        named.extend(first.to_uppercase());
        named.push_str(characters.as_str());
    }
    named
}
