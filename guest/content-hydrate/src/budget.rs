//! What one hydration may read and keep. Both are hard errors that name the budget.

use kit::SkillError;

/// Bytes of all resources, files and bodies.
const MAX_READ_BYTES: usize = 64 << 20;

/// Bytes of names, descriptions and raw arrays. More do not fit an answer, which is as long at most; and
/// aliases could otherwise make 4 MiB of front matter say gigabytes.
const MAX_KEPT_BYTES: usize = 16 << 20;

#[derive(Debug, Default)]
pub(crate) struct Budget {
    read: usize,
    kept: usize,
}

impl Budget {
    /// Counts what was read.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<(), SkillError> {
        self.read = self.read.saturating_add(bytes.len());
        within("read bytes", self.read, MAX_READ_BYTES)
    }

    /// Copies a text that will be part of the answer.
    pub(crate) fn keep(&mut self, text: &str) -> Result<String, SkillError> {
        self.kept = self.kept.saturating_add(text.len());
        within("response bytes", self.kept, MAX_KEPT_BYTES)?;
        Ok(text.to_owned())
    }
}

fn within(budget: &str, used: usize, limit: usize) -> Result<(), SkillError> {
    if used > limit {
        return Err(SkillError::new(
            "budget_exceeded",
            &format!("budget {budget} exceeded: limit {limit}, used {used}"),
        ));
    }
    Ok(())
}
