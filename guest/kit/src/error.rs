//! The error a component ends with: the record `skill-error` of `wit/`, and its bounds.

/// Characters of a message at most.
const MESSAGE_CHARACTERS: usize = 512;

/// Bytes of details at most.
const DETAILS_BYTES: usize = 16_384;

/// Why a component has no answer. What a hydrated document can carry as a soft error is not one of these.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct SkillError {
    code: &'static str,
    message: String,
    details: Option<String>,
}

impl SkillError {
    /// An error with a `snake_case` code and one line for a person.
    ///
    /// The message may quote what a stranger wrote: control characters in it become U+FFFD, and it ends
    /// after 512 characters.
    #[must_use]
    pub fn new(code: &'static str, message: &str) -> Self {
        let message = message
            .chars()
            .take(MESSAGE_CHARACTERS)
            .map(|c| if c.is_control() { '\u{FFFD}' } else { c })
            .collect();
        Self {
            code,
            message,
            details: None,
        }
    }

    /// Adds the text of one JSON object for programs; over 16,384 bytes it is left out.
    #[must_use]
    pub fn with_details(mut self, details: String) -> Self {
        self.details = (details.len() <= DETAILS_BYTES).then_some(details);
        self
    }

    /// The same error with another message, bounded like that of [`SkillError::new`].
    #[must_use]
    pub fn because(self, message: &str) -> Self {
        Self {
            details: self.details,
            ..Self::new(self.code, message)
        }
    }

    /// The `snake_case` code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// One line, at most 512 characters.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The text of one JSON object, at most 16,384 bytes.
    #[must_use]
    pub fn details(&self) -> Option<&str> {
        self.details.as_deref()
    }

    /// Code, message and details, for the record of the component's interface.
    #[must_use]
    pub fn into_parts(self) -> (String, String, Option<String>) {
        (self.code.to_owned(), self.message, self.details)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_of_at_most_512_characters() {
        let error = SkillError::new("parse_error", &format!("a\nb\u{1b}{}", "é".repeat(600)));
        assert!(error.message().starts_with("a\u{FFFD}b\u{FFFD}é"));
        assert_eq!(error.message().chars().count(), 512);
    }

    #[test]
    fn details_over_their_bound_are_left_out() {
        let error = SkillError::new("x", "y");
        assert_eq!(
            error.clone().with_details("{}".into()).details(),
            Some("{}")
        );
        assert_eq!(error.with_details(" ".repeat(16_385)).details(), None);
    }
}
