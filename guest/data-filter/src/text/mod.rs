//! The op `transform`: `cat`, `head`, `tail` and `wc` on bytes, as GNU's do in the C locale.
//!
//! What is not built in, a tool or an argument, is answered as that, and the host runs it in the jail: every other text tool,
//! and the rarer options of these.

mod count;
mod excerpt;

#[cfg(test)]
mod tests;

/// What a tool makes of its input; none if it is not built in with these arguments.
pub(crate) fn run(tool: &str, args: &[String], input: &[u8]) -> Option<Vec<u8>> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match tool {
        "cat" if args.is_empty() => Some(input.to_vec()),
        "head" => excerpt::head(&args, input),
        "tail" => excerpt::tail(&args, input),
        "wc" => count::wc(&args, input),
        _ => None,
    }
}

/// The letters of flags (`-r`, `-ru`); none if anything else is there.
fn flags(args: &[&str], known: &str) -> Option<String> {
    let mut found = String::new();
    for arg in args {
        let letters = arg
            .strip_prefix('-')
            .filter(|letters| !letters.is_empty())?;
        if !letters.chars().all(|letter| known.contains(letter)) {
            return None;
        }
        found.push_str(letters);
    }
    Some(found)
}
