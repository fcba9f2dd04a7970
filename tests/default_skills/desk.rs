//! A workspace, a policy for it, and the default skills called on it through the binary.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::program::{Folder, Run};

/// The ten ids, sorted.
pub(crate) const SKILLS: [&str; 10] = [
    "extract.text",
    "fs.read_text",
    "fs.read_tree",
    "fs.write_patch",
    "git.diff",
    "git.status",
    "http.fetch_text",
    "json.validate",
    "search.ripgrep",
    "shell.exec_safe",
];

const CODES: [&str; 13] = [
    "invalid_request",
    "denied",
    "not_found",
    "wrong_type",
    "malformed",
    "unsupported",
    "too_large",
    "conflict",
    "timeout",
    "network",
    "process_failed",
    "io",
    "internal",
];

/// A folder with `ws` (mounted at `/workspace`), `os` (at `/os`) and `policy.json`.
pub(crate) struct Desk {
    folder: Folder,
}

impl Desk {
    /// A desk with this ceiling and these members of `host`.
    pub(crate) fn new(ceiling: &Value, host: &Value) -> Self {
        let folder = Folder::new();
        fs::create_dir(folder.path("ws")).unwrap();
        fs::create_dir(folder.path("os")).unwrap();
        let desk = Self { folder };
        desk.policy(ceiling, host);
        desk
    }

    /// What is granted from now on.
    pub(crate) fn policy(&self, ceiling: &Value, host: &Value) {
        let policy = json!({
            "version": 1,
            "trusted_signers": ["hydrant.build", "hydrant.release"],
            "capability_ceiling": ceiling,
            "host": host,
        });
        self.folder.put("policy.json", policy.to_string());
    }

    /// The members of `host` that mount both directories, `/workspace` in this mode.
    pub(crate) fn mounts(&self, mode: &str) -> Value {
        json!([
            {"at": "/workspace", "dir": self.folder.argument("ws"), "mode": mode},
            {"at": "/os", "dir": self.folder.argument("os"), "mode": "ro"},
        ])
    }

    /// Nothing is granted.
    pub(crate) fn bare() -> Self {
        Self::new(&json!({}), &json!({}))
    }

    /// Both directories may be read.
    pub(crate) fn reading() -> Self {
        let desk = Self::bare();
        let ceiling = json!({"fs": {"read": ["/workspace", "/os"]}});
        desk.policy(&ceiling, &json!({"mounts": desk.mounts("ro")}));
        desk
    }

    /// Both directories may be read, and `/workspace` written.
    pub(crate) fn writing() -> Self {
        let desk = Self::bare();
        let ceiling = json!({"fs": {"read": ["/workspace", "/os"], "write": ["/workspace"]}});
        desk.policy(&ceiling, &json!({"mounts": desk.mounts("rw")}));
        desk
    }

    /// These rules of `host.process`, without a jail.
    pub(crate) fn running(rules: &Value) -> Self {
        let desk = Self::bare();
        desk.rules(rules, &json!({}));
        desk
    }

    /// Other rules of `host.process`, without a jail, under these limits.
    pub(crate) fn rules(&self, rules: &Value, limits: &Value) {
        let ceiling = json!({
            "fs": {"read": ["/workspace", "/os"], "write": ["/workspace"]}, "exec": true,
        });
        let host = json!({
            "mounts": self.mounts("rw"), "process": rules, "limits": limits,
            "jail": {"process": "unjailed"},
        });
        self.policy(&ceiling, &host);
    }

    /// `git` with any arguments, in the jail.
    pub(crate) fn git() -> Self {
        let desk = Self::bare();
        let ceiling = json!({"fs": {"read": ["/workspace", "/os"]}, "exec": true});
        desk.policy(
            &ceiling,
            &json!({"mounts": desk.mounts("rw"), "process": Self::any_git()}),
        );
        desk
    }

    /// `git` with any arguments, without a jail: the git guard stands alone.
    pub(crate) fn unjailed_git() -> Self {
        Self::running(&Self::any_git())
    }

    fn any_git() -> Value {
        json!([{"program": "git", "args": [["..."]], "cwd": ["/workspace"]}])
    }

    /// GET below these URLs.
    pub(crate) fn fetching(urls: &[String]) -> Self {
        let desk = Self::bare();
        desk.fetches(urls, &json!({}));
        desk
    }

    /// GET below these URLs, and further members of `host`.
    pub(crate) fn fetches(&self, urls: &[String], further: &Value) {
        let rules: Vec<Value> = urls
            .iter()
            .map(|url| json!({"url": url, "methods": ["GET"]}))
            .collect();
        let mut host = json!({"net": rules});
        for (name, value) in further.as_object().unwrap() {
            host[name] = value.clone();
        }
        self.policy(&json!({"net": urls}), &host);
    }

    /// A path below `/workspace`.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path("ws").join(path)
    }

    /// A path beside the mounts.
    pub(crate) fn beside(&self, path: &str) -> PathBuf {
        self.folder.path(path)
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Writes below `/workspace`.
    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> &Self {
        self.folder.put(&format!("ws/{path}"), bytes);
        self
    }

    pub(crate) fn read(&self, path: &str) -> Vec<u8> {
        self.folder.read(&format!("ws/{path}"))
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        self.path(path).symlink_metadata().is_ok()
    }

    pub(crate) fn link(&self, target: &str, path: &str) {
        std::os::unix::fs::symlink(target, self.path(path)).unwrap();
    }

    /// A new file with these permission bits in place of what was there.
    pub(crate) fn write_with_mode(&self, path: &str, bytes: &[u8], mode: u32) {
        if self.exists(path) {
            fs::remove_file(self.path(path)).unwrap();
        }
        self.write(path, bytes);
        self.mode(path, mode);
    }

    pub(crate) fn mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// An executable script beside the mounts: its absolute path.
    pub(crate) fn script(&self, name: &str, text: &str) -> String {
        let name = format!("tools/{name}");
        self.folder.put(&name, text);
        let path = self.folder.path(&name);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// `run SKILL -` under the policy of the desk.
    pub(crate) fn command(&self, skill: &str) -> Command {
        let mut command = self
            .folder
            .command(&["run", skill, "-", "--policy", "policy.json"]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// A call with these bytes as the request.
    pub(crate) fn send(&self, skill: &str, request: &[u8]) -> Run {
        finish(self.command(skill), request)
    }

    /// The response, or the error JSON.
    pub(crate) fn ask(&self, skill: &str, request: &Value) -> Result<Value, Value> {
        let run = self.send(skill, request.to_string().as_bytes());
        match run.status {
            0 => Ok(response(skill, &run)),
            5 => Err(self.error_of(skill, &run)),
            _ => panic!("{skill} {}: {run:?}", cut(request)),
        }
    }

    /// A call that must succeed.
    pub(crate) fn ok(&self, skill: &str, request: &Value) -> Value {
        self.ask(skill, request)
            .unwrap_or_else(|error| panic!("{skill} {}: {error}", cut(request)))
    }

    /// A call that must fail with this code; the details.
    pub(crate) fn error(&self, skill: &str, request: &Value, code: &str) -> Value {
        assert!(CODES.contains(&code), "{code}");
        match self.ask(skill, request) {
            Err(error) if error["code"] == code => error["details"].clone(),
            other => panic!("{skill} {}: not {code} but {other:?}", cut(request)),
        }
    }

    /// A call that must fail with this code and these details.
    pub(crate) fn refused(&self, skill: &str, request: &Value, code: &str, details: &Value) {
        let actual = self.error(skill, request, code);
        assert_eq!(&actual, details, "{skill} {}", cut(request));
    }

    /// A call that is refused because of this member of its request.
    pub(crate) fn invalid(&self, skill: &str, request: &Value, member: &str) {
        let expected = json!({ "member": member });
        self.refused(skill, request, "invalid_request", &expected);
    }

    /// A call that is outside the grant.
    pub(crate) fn denied(&self, skill: &str, request: &Value, capability: &str) {
        let details = self.error(skill, request, "denied");
        assert_eq!(
            details["capability"],
            capability,
            "{skill} {}",
            cut(request)
        );
    }

    /// The error JSON of a failed call, whose form is checked.
    fn error_of(&self, skill: &str, run: &Run) -> Value {
        assert!(run.stdout.is_empty(), "{skill}: {run:?}");
        let line = run.stderr.trim_end().lines().last().unwrap_or_default();
        let error: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{skill}: {error}: {run:?}"));
        let code = error["code"].as_str().unwrap();
        assert!(CODES.contains(&code), "{skill}: {error}");
        let message = error["message"].as_str().unwrap();
        assert!(!message.is_empty(), "{skill}: {error}");
        assert!(message.chars().count() <= 512, "{skill}: {error}");
        assert!(
            !message.contains(['\n', '\r']),
            "{skill}: one line: {error}"
        );
        if let Some(details) = error.get("details") {
            assert!(details.is_object(), "{skill}: {error}");
            assert!(details.to_string().len() <= 16_384, "{skill}");
        }
        let here = self.folder.path("");
        let here = here.to_str().unwrap();
        assert!(!line.contains(here), "{skill}: a host path: {error}");
        error
    }
}

/// Runs a command with these bytes on its standard input.
pub(crate) fn finish(mut command: Command, request: &[u8]) -> Run {
    let mut child = command.spawn().unwrap();
    // A program that refuses early closes the pipe, and tells by its status.
    drop(child.stdin.take().unwrap().write_all(request));
    Run::from(child.wait_with_output().unwrap())
}

/// The response of a call that succeeded, whose form is checked.
fn response(skill: &str, run: &Run) -> Value {
    let value = run.json();
    assert_eq!(run.stdout, format!("{value}\n"), "{skill}: compact");
    let names: Vec<&str> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        // Only where there is more, where lines were asked for, or where a patch was read loosely.
        .filter(|name| !["next", "total_lines", "notes"].contains(name))
        .collect();
    assert_eq!(names, members(skill), "{skill}");
    value
}

/// The members of a response, in their order.
fn members(skill: &str) -> Vec<&'static str> {
    let names = match skill {
        "fs.read_text" => "path text bytes_read truncated normalized_encoding",
        "fs.read_tree" => "root entries truncated",
        "fs.write_patch" => "applied files_changed hunks_applied rejects files rejects_truncated",
        "shell.exec_safe" => {
            "exit_code stdout stderr stdout_truncated stderr_truncated duration_ms signal timed_out"
        }
        "search.ripgrep" => "matches truncated files_searched files_skipped",
        "git.status" => {
            "branch ahead behind staged unstaged untracked head detached unborn upstream \
             upstream_gone conflicted renames truncated"
        }
        "git.diff" => "diff bytes truncated",
        "http.fetch_text" => "url final_url status mime text bytes truncated",
        "json.validate" => "valid errors truncated draft",
        "extract.text" => "text hints bytes truncated",
        _ => panic!("{skill} is no default skill"),
    };
    names.split_ascii_whitespace().collect()
}

/// A request as a message shows it.
fn cut(request: &Value) -> String {
    request.to_string().chars().take(600).collect()
}

/// The strings of an array.
pub(crate) fn strings(array: &Value) -> Vec<&str> {
    let array = array.as_array().unwrap();
    array.iter().map(|value| value.as_str().unwrap()).collect()
}
