//! The options of wget against the real wget, where there is one: the tests ask for curl only.

use super::command::{Command, Word, quoted};
use super::compare::differences;
use super::draft::Values;
use super::random::Random;
use super::recorder::Recorder;
use super::{folder, read};

const COMMANDS: usize = 150;

/// Options in front of the URL, each with its words. Credentials are not among them: wget sends them when it is asked
/// for them, and the host at once.
const OPTIONS: [&[&str]; 22] = [
    &["-S"],
    &["-nv"],
    &["--show-progress"],
    &["--header", "X-One: 1"],
    &["--header=x-one: 2"],
    &["--header", "X-Empty:"],
    &["--header", "Accept: text/html"],
    &["--header", "X-Utf: é"],
    &["--header", ""],
    &["-U", "agent/1"],
    &["-U", ""],
    &["--user-agent=other"],
    &["--referer", "http://r/"],
    &["--referer="],
    &["-T", "60"],
    &["-t", "1"],
    &["--max-redirect=3"],
    &["--method=put"],
    &["--method", "DELETE"],
    &["--header", "Content-Type: text/plain"],
    &["--header=User-Agent: own"],
    &["--header=Referer:"],
];

const BODIES: [&[&str]; 8] = [
    &[],
    &[],
    &["--post-data", "a=1&b=é x"],
    &["--post-data="],
    &["--post-file=f.bin"],
    &["--method=PATCH", "--body-data", "{\"a\": 1}"],
    &["--method=GET", "--body-data=x"],
    &["--method=PUT", "--body-file", "f.txt"],
];

const PATHS: [&str; 9] = [
    "/",
    "/a/b.txt",
    "/é/x",
    "/a/../b/./c",
    "/%41%2F",
    "/x?",
    "/x?a=1&b=é+%20",
    "/x#frag",
    "/a;b=c/~d",
];

fn words(random: &mut Random, port: u16) -> Vec<String> {
    let mut words: Vec<String> = vec!["-q".to_owned(), "-O-".to_owned()];
    let body = *random.pick(&BODIES);
    let has_body = !body.is_empty();
    words.extend(body.iter().map(|word| (*word).to_owned()));
    for _ in 0..random.below(5) {
        let option = *random.pick(&OPTIONS);
        // wget itself refuses a method beside `--post-data`.
        if has_body && option.iter().any(|word| word.starts_with("--method")) {
            continue;
        }
        words.extend(option.iter().map(|word| (*word).to_owned()));
    }
    let scheme = *random.pick(&["http://", ""]);
    let path = *random.pick(&PATHS);
    let at = random.below(2) * words.len();
    words.insert(at, format!("{scheme}127.0.0.1:{port}{path}"));
    words
}

#[test]
fn generated_commands_are_read_as_wget_reads_them() {
    let is_there = std::process::Command::new("wget").arg("--version").output();
    if is_there.is_err() {
        println!("no wget on the PATH: nothing to compare with");
        return;
    }
    let recorder = Recorder::start();
    let folder = folder();
    let mut random = Random::new(158);
    let mut failures = Vec::new();
    for index in 0..COMMANDS {
        let words = words(&mut random, recorder.port);
        let mut command = Command {
            words: words.iter().map(|word| Word::text(word.as_str())).collect(),
            requests: 1,
            ..Command::default()
        };
        let line: Vec<String> = command
            .words
            .iter()
            .map(|word| quoted(word, &mut random))
            .collect();
        command.real = format!("wget --no-config {}", line.join(" "));
        let (status, message) = command.run(folder.path());
        let real = recorder.drain(1);
        let drafts = read("wget", &[], &command);
        let values = Values {
            variables: &command.values,
            stdin: "",
        };
        let found = match (drafts, real.as_slice()) {
            (Ok(drafts), [real]) if drafts.len() == 1 => {
                differences(&values.request(&drafts[0]), real)
            }
            (drafts, real) => vec![format!("{drafts:?}, {real:?}, {status}: {message}")],
        };
        if !found.is_empty() {
            failures.push(format!(
                "{index}: {}\n  {}",
                command.real,
                found.join("\n  ")
            ));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {COMMANDS} differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
