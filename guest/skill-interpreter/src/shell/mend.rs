//! Slips of authors and of their editors, mended where there is one way to read them.
//!
//! What is mended is read as every other text is, and a diagnostic says what was done.

/// The text as it was meant, and what was wrong with it; none if nothing was. A here-document is data: nothing of it is a slip.
pub(super) fn mended(text: &str) -> Option<(String, &'static str)> {
    if text.contains("<<") {
        return None;
    }
    without_prompt(text)
        .map(|text| (text, "a prompt stands before the command; it was left out"))
        .or_else(|| {
            let why = "typographic quotes stand for the plain ones";
            straightened(text).map(|text| (text, why))
        })
        .or_else(|| {
            let why = "`^` or `\\\\` at the end of a line stands for `\\`";
            continued(text).map(|text| (text, why))
        })
}

/// `$ curl …`
fn without_prompt(text: &str) -> Option<String> {
    let command = text.trim_start().strip_prefix("$ ")?;
    let is_one = !command.lines().any(|line| line.starts_with("$ "));
    is_one.then(|| command.to_owned())
}

/// With plain quotes in the place of typographic ones that no plain quotes hold.
fn straightened(text: &str) -> Option<String> {
    if !text.contains(['“', '”', '‘', '’']) {
        return None;
    }
    let mut straight = String::with_capacity(text.len());
    let mut open = None;
    let mut is_escaped = false;
    let mut has_changed = false;
    for c in text.chars() {
        let plain = match c {
            '“' | '”' => '"',
            '‘' | '’' => '\'',
            _ => c,
        };
        match open {
            None if plain != c => {
                has_changed = true;
                open = Some((plain, true));
            }
            None if matches!(c, '"' | '\'') && !is_escaped => open = Some((c, false)),
            Some((quote, is_typographic)) if plain == quote && is_typographic == (plain != c) => {
                if !is_escaped || quote == '\'' {
                    open = None;
                }
            }
            _ => {
                straight.push(c);
                is_escaped = c == '\\' && !is_escaped;
                continue;
            }
        }
        is_escaped = false;
        straight.push(plain);
    }
    (has_changed && open.is_none()).then_some(straight)
}

/// With `\` in the place of `^` or `\\` where no quote is open and the next line goes on with an option.
fn continued(text: &str) -> Option<String> {
    let mut lines = text.lines().peekable();
    let mut joined = String::with_capacity(text.len());
    let mut has_changed = false;
    let mut open = None;
    while let Some(line) = lines.next() {
        open = open_after(open, line);
        let goes_on = lines
            .peek()
            .is_some_and(|next| next.trim_start().starts_with('-'));
        let line_end = line.trim_end();
        let slips = [" ^", " \\\\"];
        match slips.iter().find_map(|slip| line_end.strip_suffix(slip)) {
            Some(before) if goes_on && open.is_none() => {
                joined.push_str(before);
                joined.push_str(" \\");
                has_changed = true;
            }
            _ => joined.push_str(line),
        }
        joined.push('\n');
    }
    has_changed.then_some(joined)
}

/// The quote that is open behind a line, given the one that is open before it.
fn open_after(mut open: Option<char>, line: &str) -> Option<char> {
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match (open, c) {
            (None | Some('"'), '\\') => {
                characters.next();
            }
            (None, '"' | '\'') => open = Some(c),
            (Some(quote), _) if quote == c => open = None,
            _ => {}
        }
    }
    open
}
