//! The entry of the MCP server in a client's configuration.

use std::path::Path;

use serde_json::{Value, json};

use super::client::{Client, Form, Scope};
use super::codex;
use super::json::{Dialect, Document, named, wholes};
use super::{Change, Edit, EditError, SetupError};

/// The name of the server.
pub(super) const NAME: &str = "hydrant";
/// The command of the program that serves MCP.
const COMMAND: &str = "mcp";

/// How the server is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// The program.
    pub program: String,
    /// What follows `mcp`.
    pub arguments: Vec<String>,
}

impl Server {
    /// The entry of a configuration.
    pub(super) fn entry(&self) -> Value {
        let arguments = std::iter::once(COMMAND).chain(self.arguments.iter().map(String::as_str));
        json!({ "command": self.program, "args": arguments.collect::<Vec<_>>() })
    }

    /// Whether an entry is one that setup writes, for this program or for one called `hydrant`.
    pub(super) fn wrote(&self, entry: &Value) -> bool {
        let Some(entry) = entry.as_object() else {
            return false;
        };
        let text = |name: &str| entry.get(name).and_then(Value::as_str);
        let program = text("command").unwrap_or_default();
        let first = entry.get("args").and_then(|arguments| arguments.get(0));
        let known = |name: &String| matches!(name.as_str(), "type" | "command" | "args");
        (program == self.program || program.rsplit('/').next() == Some(NAME))
            && first.and_then(Value::as_str) == Some(COMMAND)
            && text("type").is_none_or(|transport| transport == "stdio")
            && entry.keys().all(known)
    }
}

/// The change that registers the server with a client; none if it is registered so already.
///
/// # Errors
/// [`SetupError`]
pub fn install(
    client: Client,
    scope: Scope,
    file: &Path,
    server: &Server,
) -> Result<Option<Change>, SetupError> {
    let change = Change::of(file, |text| match client.form() {
        Form::Json {
            servers,
            dialect,
            typed,
        } => {
            let mut entry = server.entry();
            if let Some(entry) = entry.as_object_mut().filter(|_| typed) {
                entry.shift_insert(0, "type".to_owned(), "stdio".into());
            }
            let there = Entries::in_text(text.unwrap_or("{}\n"), servers, dialect)?;
            there.with(&entry, server)
        }
        Form::Toml => codex::with_server(text.unwrap_or_default(), server),
    })?;
    // Claude Code's own is in the home folder, that of a project in one that the user stands in.
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
    match folder {
        Some(folder) if scope == Scope::User && client != Client::Claude => {
            let (client, folder) = (client.name(), folder.display());
            let reason = format!(
                "there is no {folder}; start {client} once, or name its configuration with --file"
            );
            Err(SetupError::new(file, reason))
        }
        _ => Ok(change),
    }
}

/// The change that takes the server out again; none if it is not there, or not as setup wrote it.
///
/// # Errors
/// [`SetupError`]
pub fn uninstall(
    client: Client,
    file: &Path,
    server: &Server,
) -> Result<Option<Change>, SetupError> {
    match client.form() {
        Form::Toml => Change::undoing(
            file,
            |text| codex::without_server(text, server),
            |copy, text| codex::with_entry_of(copy, text, server),
        ),
        Form::Json {
            servers, dialect, ..
        } => Change::undoing(
            file,
            |text| Entries::in_text(text, servers, dialect)?.without(server),
            |copy, text| {
                let there = Document::parse(text, dialect).ok()?.value;
                let entry = there.get(servers)?.get(NAME)?;
                let copy = Entries::in_text(copy, servers, dialect).ok()?;
                copy.with(entry, server).ok()?.text()
            },
        ),
    }
}

/// The servers in a text.
struct Entries<'a> {
    document: Document<'a>,
    dialect: Dialect,
    /// The name of the object that holds them.
    servers: &'static str,
}

impl<'a> Entries<'a> {
    fn in_text(text: &'a str, servers: &'static str, dialect: Dialect) -> Result<Self, EditError> {
        Ok(Self {
            document: Document::parse(text, dialect)?,
            dialect,
            servers,
        })
    }

    fn with(&self, entry: &Value, server: &Server) -> Result<Edit, EditError> {
        let document = &self.document;
        let layout = document.layout();
        let top = document.members(&document.root).ok_or(EditError::InPlace)?;
        let Some((_, servers)) = named(&top, self.servers) else {
            let servers = json!({ NAME: entry });
            let text = document.with(&document.root, 1, &layout.member(self.servers, &servers, 1));
            return self.checked(text, Some(entry)).map(Edit::Text);
        };
        let members = document
            .members(&servers.value)
            .ok_or(EditError::Form("its MCP servers are not an object"))?;
        let Some((_, there)) = named(&members, NAME) else {
            let addition = layout.member(NAME, entry, 2);
            let text = document.with(&servers.value, 2, &addition);
            return self.checked(text, Some(entry)).map(Edit::Text);
        };
        let value = document.value_at(&there.value).ok_or(EditError::InPlace)?;
        if value == *entry {
            return Ok(Edit::Nothing);
        }
        let text = self.checked(document.with_value(&there.value, entry, 2), Some(entry))?;
        Ok(if server.wrote(&value) {
            Edit::Text(text)
        } else {
            Edit::Replacing(text)
        })
    }

    fn without(&self, server: &Server) -> Result<Option<String>, EditError> {
        let document = &self.document;
        let top = document.members(&document.root).ok_or(EditError::InPlace)?;
        let Some((index, servers)) = named(&top, self.servers) else {
            return Ok(None);
        };
        let Some(members) = document.members(&servers.value) else {
            return Ok(None);
        };
        let Some((own, there)) = named(&members, NAME) else {
            return Ok(None);
        };
        let value = document.value_at(&there.value).ok_or(EditError::InPlace)?;
        if !server.wrote(&value) {
            return Ok(None);
        }
        // An object that would be empty goes as a whole, unless there is a comment in it.
        let alone = document.without(&wholes(&members), own);
        let text = if members.len() == 1 && document.is_plain_but(&servers.value, &there.whole) {
            document.without_top(&top, index)
        } else {
            alone
        };
        self.checked(text, None).map(Some)
    }

    /// The changed text, whose servers have this entry and which says nothing else anew.
    fn checked(&self, text: String, entry: Option<&Value>) -> Result<String, EditError> {
        let mut expected = self.document.value.clone();
        let mut changed = Document::parse(&text, self.dialect)?.value;
        let found = changed
            .get(self.servers)
            .and_then(|servers| servers.get(NAME));
        if found != entry {
            return Err(EditError::InPlace);
        }
        for value in [&mut expected, &mut changed] {
            if let Some(root) = value.as_object_mut() {
                without_entry(root, self.servers);
            }
        }
        if expected == changed {
            Ok(text)
        } else {
            Err(EditError::InPlace)
        }
    }
}

/// Takes the server out of a configuration's value, and the object of servers if nothing else is in it.
fn without_entry(root: &mut serde_json::Map<String, Value>, servers: &str) {
    if let Some(entries) = root.get_mut(servers).and_then(Value::as_object_mut) {
        entries.shift_remove(NAME);
        if entries.is_empty() {
            root.shift_remove(servers);
        }
    }
}
