//! Info strings and the class of a fence.

use crate::http_command::verb;

/// What a fence is by its language and its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Commands of a shell.
    Shell(Prompts),
    /// A request: method and target, headers, body.
    Http,
    /// Code of a runtime.
    Code(Runtime),
    /// Everything else, which is never an operation.
    Data,
}

/// Which lines of a shell fence count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prompts {
    /// Lines that start `$ `, where there is one.
    Dollar,
    /// As `Dollar`; in the record of a session without such a line, those that start `# `.
    DollarOrHash,
}

/// What runs a code fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runtime {
    Python,
    Node,
    /// Node, but only where an annotation says so.
    TypeScript,
    Go,
}

/// The commands that make a fence without a language one of a shell.
const COMMANDS: [&str; 42] = [
    "curl", "wget", "http", "https", "jq", "echo", "printf", "cat", "head", "tail", "wc", "sort",
    "uniq", "cut", "tr", "grep", "sed", "awk", "python", "python3", "uv", "node", "go", "npx",
    "bunx", "uvx", "pipx", "deno", "pip", "npm", "pnpm", "yarn", "bun", "cargo", "gem", "apt",
    "apt-get", "apk", "dnf", "yum", "brew", "bash",
];

/// The language of an info string and the words after it; the language is its first word, lower-case.
///
/// A fence without a language may still be annotated: a first word `skill:…` is no language.
pub(crate) fn split(info: &str) -> (String, impl Iterator<Item = &str>) {
    let mut words = info.split_whitespace().peekable();
    let language = words.next_if(|word| !word.starts_with("skill:"));
    (language.unwrap_or_default().to_lowercase(), words)
}

/// The class of a fence: the first that fits.
pub(crate) fn class(language: &str, text: &str) -> Class {
    match language {
        "http" | "text" | "plaintext" | "txt" | "" if verb::begins(text) => Class::Http,
        // Requests as they are written in documents. GET and POST are also commands, of tools that few have.
        "bash" | "sh" | "shell" | "zsh" | "terminal" | "curl" | "console" | "json" | "jsonc"
            if verb::is_all(text) =>
        {
            Class::Http
        }
        "bash" | "sh" | "shell" | "zsh" | "terminal" | "curl" => Class::Shell(Prompts::Dollar),
        "console" | "shell-session" => Class::Shell(Prompts::DollarOrHash),
        "" if begins_with_command(text) => Class::Shell(Prompts::Dollar),
        "python" | "py" | "python3" => Class::Code(Runtime::Python),
        "javascript" | "js" | "node" => Class::Code(Runtime::Node),
        "typescript" | "ts" => Class::Code(Runtime::TypeScript),
        "go" | "golang" => Class::Code(Runtime::Go),
        _ => Class::Data,
    }
}

/// Without a tag, the first word after an optional `$ ` decides. A comment is not a word.
fn begins_with_command(text: &str) -> bool {
    first_line(text).is_some_and(is_command)
}

/// Whether the first word of a line, after an optional `$ `, is a command that is known.
fn is_command(line: &str) -> bool {
    let line = line.strip_prefix("$ ").unwrap_or(line);
    let word = line.split_whitespace().next();
    word.is_some_and(|word| COMMANDS.contains(&word))
}

/// The first line that is neither blank nor a comment.
fn first_line(text: &str) -> Option<&str> {
    text.lines().find(|line| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with('#') && !line.starts_with("//")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_or_a_first_word_makes_a_shell_fence() {
        for language in ["bash", "sh", "shell", "zsh", "terminal", "curl"] {
            assert_eq!(
                class(language, "x"),
                Class::Shell(Prompts::Dollar),
                "{language}"
            );
        }
        for language in ["console", "shell-session"] {
            assert_eq!(
                class(language, "x"),
                Class::Shell(Prompts::DollarOrHash),
                "{language}"
            );
        }
        for text in [
            "curl x",
            "\n# List\n$ http x",
            "  jq . f",
            "brew install x\ny",
        ] {
            assert_eq!(class("", text), Class::Shell(Prompts::Dollar), "{text}");
        }
    }

    #[test]
    fn a_verb_makes_an_http_fence() {
        for language in ["http", "text", "plaintext", ""] {
            for text in [
                "GET /x",
                "POST https://a.example",
                "PUT {base}/x",
                "DELETE $B/x",
            ] {
                assert_eq!(class(language, text), Class::Http, "{language} {text}");
            }
            for text in ["HTTP/1.1 200 OK", "GET x", "get /x", "FETCH /x"] {
                assert_eq!(class(language, text), Class::Data, "{language} {text}");
            }
        }
        assert_eq!(class("yaml", "GET /x"), Class::Data);
    }

    #[test]
    fn everything_else_is_data() {
        for (language, text) in [
            ("json", "{}"),
            ("diff", "curl x"),
            ("", ""),
            ("", "Authorization: Bearer x"),
            ("", "curling x"),
            ("", "{\"a\": 1}"),
            ("", "> curl x"),
            ("http", "curl x"),
            ("text", "curl x"),
            ("bash,x", "curl x"),
        ] {
            assert_eq!(class(language, text), Class::Data, "{language} {text}");
        }
    }

    #[test]
    fn the_language_is_the_first_word_in_lower_case() {
        for (info, expected, rest) in [
            (
                "Bash title=x skill:op=y",
                "bash",
                vec!["title=x", "skill:op=y"],
            ),
            ("  JSON", "json", vec![]),
            ("skill:op=y", "", vec!["skill:op=y"]),
            ("", "", vec![]),
        ] {
            let (language, words) = split(info);
            assert_eq!(
                (language.as_str(), words.collect::<Vec<_>>()),
                (expected, rest),
                "{info}"
            );
        }
    }
}
