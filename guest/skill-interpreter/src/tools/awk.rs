//! K-453: whether a program of awk does nothing but read its stream and print: no files, pipes and commands.
//!
//! A slash that could be read as a division or as the start of a pattern is refused, because what follows it would be read
//! in two ways; names that reach outside are looked for everywhere, within strings too.

/// Reads a program.
pub(super) fn is_stream_only(program: &str) -> bool {
    const REACHING: [&str; 8] = [
        "system", "getline", "close", "fflush", "@", "ENVIRON", "ARGV", "PROCINFO",
    ];
    !REACHING.iter().any(|word| program.contains(word)) && prints_only(program)
}

fn prints_only(program: &str) -> bool {
    // What stands before, without blanks; the start counts as an operator.
    let mut before = ';';
    let mut printing: Option<usize> = None;
    let mut open = 0_usize;
    let mut word = String::new();
    let mut characters = program.chars().peekable();
    while let Some(c) = characters.next() {
        if c.is_ascii_alphanumeric() || c == '_' {
            word.push(c);
            before = c;
            continue;
        }
        if matches!(word.as_str(), "print" | "printf") {
            printing = Some(open);
        }
        word.clear();
        let is_harmless = match c {
            '"' => skip(&mut characters, '"'),
            // Nothing that ends an operand stands before: every awk takes it for a pattern. Elsewhere it may be either.
            '/' => "(,{};!~&|\n".contains(before) && skip(&mut characters, '/'),
            '#' => {
                while characters.peek().is_some_and(|c| *c != '\n') {
                    characters.next();
                }
                continue;
            }
            // A line that goes on, or an escape that means nothing here.
            '\\' => false,
            '(' | '[' => {
                open += 1;
                true
            }
            ')' | ']' => {
                open = open.saturating_sub(1);
                true
            }
            ';' | '\n' | '}' | '{' => {
                printing = None;
                true
            }
            '|' => characters.next() == Some('|'),
            // `print a > b` writes a file, `print (a > b)` compares.
            '>' => printing.is_none_or(|at| open > at),
            _ => true,
        };
        if !is_harmless {
            return false;
        }
        if !c.is_ascii_whitespace() || c == '\n' {
            before = c;
        }
    }
    true
}

/// Skips to the end of a string or pattern. False if it does not end on its line.
fn skip(characters: &mut impl Iterator<Item = char>, end: char) -> bool {
    while let Some(c) = characters.next() {
        match c {
            '\\' => {
                characters.next();
            }
            '\n' => return false,
            _ if c == end => return true,
            _ => {}
        }
    }
    false
}
