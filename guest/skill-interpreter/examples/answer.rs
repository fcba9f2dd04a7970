//! Answers requests from standard input, one JSON object on each line, as the component would.
//!
//! `document PATH [URL]` in place of standard input asks for a `load` of a file; `map COMMAND` for a `map`.

use std::io::{self, BufRead, Write};

use base64::Engine as _;
use serde_json::json;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => {
            for line in io::stdin().lock().lines() {
                answer(line?.as_bytes())?;
            }
            Ok(())
        }
        ["map", command] => answer(
            json!({"op": "map", "command": command})
                .to_string()
                .as_bytes(),
        ),
        ["document", path] => document(path, path),
        ["document", path, url] => document(path, url),
        _ => Err(io::Error::other("[document PATH [URL] | map COMMAND]")),
    }
}

fn document(path: &str, url: &str) -> io::Result<()> {
    let content = base64::engine::general_purpose::STANDARD.encode(std::fs::read(path)?);
    let request = json!({"op": "load", "source-url": url, "content-b64": content});
    answer(request.to_string().as_bytes())
}

fn answer(request: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match skill_interpreter::run(request) {
        Ok(answer) => out.write_all(&answer)?,
        Err(error) => write!(
            out,
            "{}",
            json!({"skill-error": error.code(), "message": error.message()})
        )?,
    }
    out.write_all(b"\n")
}
