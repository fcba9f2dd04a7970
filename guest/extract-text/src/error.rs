//! The errors of this component: a code and a reason for programs.

use kit::SkillError;

/// The content cannot be decoded or parsed.
pub(crate) fn malformed(reason: &str, message: &str) -> SkillError {
    error("malformed", reason, message)
}

/// Valid, but not read here.
pub(crate) fn unsupported(reason: &str, message: &str) -> SkillError {
    error("unsupported", reason, message)
}

/// Beyond a hard limit.
pub(crate) fn too_large(reason: &str, message: &str) -> SkillError {
    error("too_large", reason, message)
}

fn error(code: &'static str, reason: &str, message: &str) -> SkillError {
    SkillError::new(code, message).with_details(serde_json::json!({ "reason": reason }).to_string())
}
