//! Cutting notes into passages: at headings, at blank lines, and where they get too long.

/// Characters of a passage at most.
const MAX_CHARS: usize = 400;

/// The passages of a text, in order; none is empty or longer than 400 characters. A heading stands with what follows it.
pub(super) fn passages(text: &str) -> Vec<String> {
    let mut passages = Vec::new();
    let mut open = String::new();
    let mut only_heading = false;
    for line in text.lines() {
        let line = line.trim();
        let is_heading = is_heading(line);
        // A heading ends what is before it, and a blank line does, unless there is but a heading so far.
        if is_heading || (line.is_empty() && !only_heading) {
            close(&mut open, &mut passages);
        }
        if !line.is_empty() {
            if !open.is_empty() {
                open.push(' ');
            }
            if is_heading {
                open.push_str(line.trim_matches(['#', ' ']));
                open.push(':');
            } else {
                open.push_str(line);
            }
            only_heading = is_heading;
        }
    }
    close(&mut open, &mut passages);
    passages
}

fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    let level = line.len().saturating_sub(rest.len());
    (1..=6).contains(&level) && rest.starts_with(' ')
}

/// Ends the open passage; a long one is cut between words.
fn close(open: &mut String, passages: &mut Vec<String>) {
    let mut passage = String::new();
    let mut chars = 0_usize;
    for word in open.split_whitespace() {
        let length = word.chars().count();
        if chars > 0 && chars.saturating_add(1).saturating_add(length) > MAX_CHARS {
            passages.push(std::mem::take(&mut passage));
            chars = 0;
        }
        if chars > 0 {
            passage.push(' ');
            chars = chars.saturating_add(1);
        }
        // One word without end, such as an encoded picture, is cut off.
        passage.extend(word.chars().take(MAX_CHARS));
        chars = chars.saturating_add(length.min(MAX_CHARS));
    }
    if !passage.is_empty() {
        passages.push(passage);
    }
    open.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_cut_at_headings_and_blank_lines() {
        let text = "# Deploys\n\nOn Fridays\nnever.\n\nAsk Ada.\n## Keys\nIn the vault.\n";
        assert_eq!(
            passages(text),
            [
                "Deploys: On Fridays never.",
                "Ask Ada.",
                "Keys: In the vault."
            ]
        );
        assert!(passages("\n \n\r\n").is_empty());
    }

    #[test]
    fn a_passage_has_at_most_400_characters() {
        let text = format!("{}\n\n{}", "wörter ".repeat(300), "x".repeat(5000));
        let passages = passages(&text);
        assert!(passages.len() > 5);
        assert!(passages.iter().all(|one| one.chars().count() <= 400));
        assert!(passages.iter().take(5).all(|one| one.ends_with("wörter")));
    }
}
