//! The commands of a fence that records a session.
//!
//! Where lines start with a prompt, only those count, the prompt removed, and the rest is output. A command
//! goes on over the lines that its own text asks for: after a `\`, inside an open quote, and through a
//! here-document. Lines that do not count are made empty, so that lines keep their numbers.

use super::info::Prompts;

/// The text that counts.
pub(crate) fn commands(text: &str, prompts: Prompts) -> String {
    let starts = |prompt: &str| text.lines().any(|line| line.starts_with(prompt));
    if starts("$ ") {
        without(text, "$ ")
    } else if prompts == Prompts::DollarOrHash && starts("# ") {
        without(text, "# ")
    } else {
        text.to_owned()
    }
}

fn without(text: &str, prompt: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut command = Command::default();
    for line in text.lines() {
        let counted = if command.goes_on() {
            Some(line)
        } else {
            line.strip_prefix(prompt)
        };
        if let Some(line) = counted {
            command.read(line);
            kept.push_str(line);
        }
        kept.push('\n');
    }
    kept
}

/// How far a command has been read: as much of the shell's grammar as says where a command ends.
#[derive(Default)]
struct Command {
    quote: Option<char>,
    /// Whether the last line ended with a `\`.
    continued: bool,
    /// Here-documents that have been asked for and not ended, in order.
    documents: std::collections::VecDeque<HereDocument>,
}

struct HereDocument {
    end: String,
    /// `<<-`: tabs before the last line do not count.
    tabs: bool,
}

impl Command {
    fn goes_on(&self) -> bool {
        self.quote.is_some() || self.continued || !self.documents.is_empty()
    }

    fn read(&mut self, line: &str) {
        // Bodies begin after the line that asks for them is complete.
        if self.quote.is_none() && !self.continued && !self.documents.is_empty() {
            let ends = self.documents.front().is_some_and(|document| {
                let line = if document.tabs {
                    line.trim_start_matches('\t')
                } else {
                    line
                };
                line == document.end
            });
            if ends {
                self.documents.pop_front();
            }
            return;
        }
        self.continued = false;
        let mut characters = line.chars().peekable();
        let mut before = ' ';
        while let Some(character) = characters.next() {
            match (self.quote, character) {
                (None | Some('"'), '\\') => self.continued = characters.next().is_none(),
                (Some(quote), _) if quote == character => self.quote = None,
                (Some(_), _) => {}
                (None, '\'' | '"') => self.quote = Some(character),
                (None, '#') if before.is_whitespace() => break,
                // `<<<` takes a word and not a document.
                (None, '<')
                    if characters.next_if_eq(&'<').is_some()
                        && characters.next_if_eq(&'<').is_none() =>
                {
                    self.documents.extend(here_document(&mut characters));
                }
                _ => {}
            }
            before = character;
        }
    }
}

/// What follows `<<`: `-`, blanks, and the word that ends the document, its quotes removed.
fn here_document(
    characters: &mut std::iter::Peekable<std::str::Chars<'_>>,
) -> Option<HereDocument> {
    let tabs = characters.next_if_eq(&'-').is_some();
    while characters
        .next_if(|character| matches!(character, ' ' | '\t'))
        .is_some()
    {}
    let mut end = String::new();
    let mut quote = None;
    while let Some(character) = characters.next_if(|character| {
        quote.is_some()
            || !matches!(
                character,
                ' ' | '\t' | ';' | '&' | '|' | '<' | '>' | '(' | ')'
            )
    }) {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '\'' | '"') => quote = Some(character),
            (None, '\\') => end.extend(characters.next()),
            _ => end.push(character),
        }
    }
    (!end.is_empty()).then_some(HereDocument { end, tabs })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dollar(text: &str) -> String {
        commands(text, Prompts::Dollar)
    }

    #[test]
    fn without_a_prompt_every_line_counts() {
        let text = "# List\ncurl https://a.example/\n";
        assert_eq!(dollar(text), text);
        assert_eq!(dollar("echo $ x\n"), "echo $ x\n");
    }

    #[test]
    fn lines_with_a_prompt_count_and_the_rest_is_output() {
        let text = "before\n$ curl https://a.example/ \\\n    -d x=1\n{\"ok\": true}\n$ ls\na\n";
        assert_eq!(
            dollar(text),
            "\ncurl https://a.example/ \\\n    -d x=1\n\nls\n\n"
        );
    }

    #[test]
    fn a_here_document_belongs_to_its_command() {
        let text = "$ cat <<-'A B' <<E | jq .\none\n\tA B\n$ two\nE\noutput\n$ ls\n";
        assert_eq!(
            dollar(text),
            "cat <<-'A B' <<E | jq .\none\n\tA B\n$ two\nE\n\nls\n"
        );
        assert_eq!(dollar("$ cat <<<EOF\nout\n"), "cat <<<EOF\n\n");
        assert_eq!(
            dollar("$ cat <<A \\\n  -n\nbody\nA\nout\n"),
            "cat <<A \\\n  -n\nbody\nA\n\n"
        );
    }

    #[test]
    fn a_quote_goes_on_until_it_is_closed() {
        let text = "$ curl -d '{\n  \"a\": \"it\\\"s\"\n}' https://a.example/\n{}\n";
        assert_eq!(
            dollar(text),
            text.replacen("$ ", "", 1).replace("\n{}\n", "\n\n")
        );
        assert_eq!(
            dollar("$ echo \"a \\\" b\"\nout\n"),
            "echo \"a \\\" b\"\n\n"
        );
        assert_eq!(dollar("$ echo a # it's\nout\n"), "echo a # it's\n\n");
    }

    #[test]
    fn a_root_prompt_counts_in_a_session_only() {
        let text = "# apt install x\nReading\n";
        assert_eq!(commands(text, Prompts::DollarOrHash), "apt install x\n\n");
        assert_eq!(dollar(text), text);
        let both = "# note\n$ ls\n";
        assert_eq!(commands(both, Prompts::DollarOrHash), "\nls\n");
    }
}
