//! Properties of hydration through the component: whatever the files hold, the host answers, and the
//! component answers what its own code answers when it is compiled natively.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

use std::fs;
use std::path::Path;

use content_hydrate::host::fetch::{FetchError, FetchFailure, HttpRequest, HttpResponse};
use content_hydrate::host::fs_read::{File, FsError, Listing, ReadRequest, TreeRequest};
use content_hydrate::host::process::{Command, Exit, ProcessError};
use content_hydrate::host::{Fetch, ReadFiles, RunCommands};
use hydrant::capability::Budget;
use hydrant::engine::CallError;
use hydrant::{Format, Host, HostError, HydrateRequest};
use proptest::prelude::*;

/// Reads below a folder, as the host does where no links are involved.
struct PlainFiles<'a>(&'a Path);

impl ReadFiles for PlainFiles<'_> {
    fn read(&mut self, requests: &[ReadRequest]) -> Vec<Result<File, FsError>> {
        let read = |request: &ReadRequest| {
            let relative = request.path.strip_prefix("/os/").ok_or(FsError::Denied)?;
            let bytes = fs::read(self.0.join(relative)).map_err(|_| FsError::NotFound)?;
            Ok(File {
                bytes,
                truncated: false,
                executable: false,
            })
        };
        requests.iter().map(read).collect()
    }

    fn tree(&mut self, requests: &[TreeRequest]) -> Vec<Result<Listing, FsError>> {
        requests.iter().map(|_| Err(FsError::Denied)).collect()
    }
}

impl Fetch for PlainFiles<'_> {
    fn send(&mut self, requests: &[HttpRequest]) -> Vec<Result<HttpResponse, FetchFailure>> {
        let denied = |request: &HttpRequest| {
            Err(FetchFailure {
                reason: FetchError::Denied,
                url: request.url.clone(),
            })
        };
        requests.iter().map(denied).collect()
    }
}

impl RunCommands for PlainFiles<'_> {
    fn run(&mut self, commands: &[Command]) -> Vec<Result<Exit, ProcessError>> {
        commands.iter().map(|_| Err(ProcessError::Denied)).collect()
    }
}

/// A line of front matter: what people write, what they get wrong, and what attackers try.
fn line() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        "[a-z ]{0,12}",
        Just("a: b".to_owned()),
        Just("[one.md, \"two.md\", ~, 3]".to_owned()),
        Just("{a: [b, {c: d}]}".to_owned()),
        Just("&x [*x]".to_owned()),
        Just("&y one.md".to_owned()),
        Just("*y".to_owned()),
        Just("!!str 007".to_owned()),
        Just("!evil z".to_owned()),
        Just("|\n  text\n  ---".to_owned()),
        Just("\"\\u00e9\\ud800\"".to_owned()),
        "\\PC{0,8}",
    ];
    let key = prop_oneof![
        Just("name"),
        Just("description"),
        Just("skills"),
        Just("tools"),
        Just("other")
    ];
    let reference = prop_oneof![
        Just("two.md"),
        Just("./two.md"),
        Just("../../two.md"),
        Just("os://%74wo.md"),
        Just("file:///etc/passwd"),
        Just("https://example.org/x.md"),
        Just("a b.md"),
        Just("%zz"),
        Just("two.md?x"),
        Just("#"),
        Just("one.md"),
    ];
    prop_oneof![
        (key, value).prop_map(|(key, value)| format!("{key}: {value}")),
        reference.prop_map(|reference| format!("skills:\n  - {reference}\n  - two.md")),
        "\\PC{0,16}",
    ]
}

fn document() -> impl Strategy<Value = Vec<u8>> {
    let front_matter = proptest::collection::vec(line(), 0..6).prop_map(|lines| {
        let ending = if lines.len() % 2 == 0 { "\n" } else { "\r\n" };
        format!(
            "---{ending}{}{ending}---{ending}content\n",
            lines.join(ending)
        )
        .into_bytes()
    });
    prop_oneof![
        8 => front_matter,
        1 => proptest::collection::vec(any::<u8>(), 0..200),
        1 => "(---\n)?\\PC{0,100}(\n---\n)?\\PC{0,20}".prop_map(String::into_bytes),
    ]
}

fn format() -> impl Strategy<Value = Format> {
    prop_oneof![Just(Format::Json), Just(Format::Link), Just(Format::V2)]
}

/// The component decides all that its code decides natively, from the bytes the host hands over.
#[test]
fn any_file_is_answered_and_as_natively() {
    let os = tempfile::tempdir().unwrap();
    let host = Host::builder().os_root(os.path()).build().unwrap();
    let cases = (
        document(),
        document(),
        format(),
        1..4_u8,
        any::<(bool, bool)>(),
    );
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 1_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let result = runner.run(&cases, |(one, two, format, depth, (checksums, lenient))| {
        fs::write(os.path().join("one.md"), one).unwrap();
        fs::write(os.path().join("two.md"), two).unwrap();
        let request = HydrateRequest {
            format,
            depth,
            checksums,
            lenient,
            ..HydrateRequest::new("one.md")
        };
        let inside = match host.hydrate(&request) {
            Ok(bytes) => Ok(bytes),
            // Link and v2 have no document to answer with.
            Err(HostError::Call(CallError::Skill { code, .. })) if format != Format::Json => {
                Err(code)
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        let native = serde_json::from_value(serde_json::to_value(&request).unwrap()).unwrap();
        let outside = content_hydrate::hydrate(&mut PlainFiles(os.path()), &native);
        prop_assert_eq!(&inside, &outside.map_err(|error| error.code().to_string()));
        if let (Ok(bytes), Format::Json) = (&inside, format) {
            prop_assert!(serde_json::from_slice::<serde_json::Value>(bytes).is_ok());
        }
        Ok(())
    });
    result.unwrap();
}

#[test]
fn more_than_64_mib_in_one_hydration_is_a_hard_error() {
    let os = tempfile::tempdir().unwrap();
    let large = vec![b'x'; 4 * 1024 * 1024];
    let mut agent = String::from("---\nskills:\n");
    for skill in 0..17 {
        fs::write(os.path().join(format!("{skill}.md")), &large).unwrap();
        agent.push_str(&format!("  - {skill}.md\n"));
    }
    fs::write(os.path().join("agent.md"), agent + "---\n").unwrap();
    let host = Host::builder().os_root(os.path()).build().unwrap();
    match host.hydrate(&HydrateRequest::new("agent.md")) {
        Err(HostError::Call(CallError::Budget(exceeded))) => {
            assert_eq!(
                (exceeded.budget, exceeded.limit),
                (Budget::ReadBytes, 64 * 1024 * 1024)
            );
            assert!(exceeded.used > exceeded.limit);
        }
        other => panic!("{:?}", other.map(|bytes| bytes.len())),
    }
}
