//! echo and printf of plain text.

use super::{Tool, without_final_newline};
use crate::draft::{DraftStage, Quoting, Template};
use crate::http_command::{Invocation, Stdin};
use crate::shell::globs;

pub(super) fn echo(invocation: &Invocation<'_>) -> Tool {
    if invocation.stdin != Stdin::Nothing {
        return Tool::Script("input of `echo`".to_owned());
    }
    let mut words = invocation.argv.iter().skip(1).peekable();
    let mut final_newline = true;
    while let Some(option) = words.peek().and_then(|word| word.as_literal()) {
        match option.as_str() {
            "-n" => final_newline = false,
            "-e" | "-en" | "-ne" => return Tool::Script("`echo -e`".to_owned()),
            _ => break,
        }
        words.next();
    }
    let mut text = Template::default();
    for (index, word) in words.enumerate() {
        if globs::has_tilde(word) || globs::has_brace_list(word) {
            return Tool::Script("brace list or `~` in an argument".to_owned());
        }
        if index > 0 {
            text.push_literal(" ", Quoting::Double);
        }
        text.append(word.clone());
    }
    if final_newline {
        text.push_literal("\n", Quoting::Double);
    }
    Tool::Stages(vec![DraftStage::Println {
        text: without_final_newline(text),
    }])
}

/// Text without a format and without arguments.
pub(super) fn printf(invocation: &Invocation<'_>) -> Tool {
    if invocation.stdin == Stdin::Nothing
        && let [_, text] = invocation.argv
        && let Some(literal) = text.as_literal()
        && !literal.contains(['%', '\\'])
        && !literal.starts_with('-')
        && !(globs::has_tilde(text) || globs::has_brace_list(text))
    {
        return Tool::Stages(vec![DraftStage::Println { text: text.clone() }]);
    }
    Tool::Script("format of `printf`".to_owned())
}
