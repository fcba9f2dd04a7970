//! The clients: where each keeps its configuration, and in what form it names MCP servers.

use std::path::{Path, PathBuf};

use super::json::Dialect;

/// A program with an agent in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Claude Code.
    Claude,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    Vscode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
}

/// Whose configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The user's, for all projects.
    User,
    /// That of the current directory.
    Project,
}

/// How a configuration names MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As members of an object of JSON.
    Json {
        /// The name of that object.
        servers: &'static str,
        dialect: Dialect,
        /// Whether an entry says `"type": "stdio"`.
        typed: bool,
    },
    /// As tables `[mcp_servers.NAME]` of TOML.
    Toml,
}

impl Client {
    /// Each of them.
    pub const ALL: [Self; 6] = [
        Self::Claude,
        Self::ClaudeDesktop,
        Self::Cursor,
        Self::Vscode,
        Self::Codex,
        Self::Gemini,
    ];

    /// Its name on a command line.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::Vscode => "VS Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
        }
    }

    /// The file that names its MCP servers; none where it has none of that scope, or where there is no home.
    /// `variable` reads a variable of the environment that names a folder.
    #[must_use]
    pub fn configuration(
        self,
        scope: Scope,
        variable: &dyn Fn(&str) -> Option<PathBuf>,
    ) -> Option<PathBuf> {
        if scope == Scope::Project {
            let file = match self {
                Self::Claude => ".mcp.json",
                Self::ClaudeDesktop => return None,
                Self::Cursor => ".cursor/mcp.json",
                Self::Vscode => ".vscode/mcp.json",
                Self::Codex => ".codex/config.toml",
                Self::Gemini => ".gemini/settings.json",
            };
            return Some(file.into());
        }
        let home = || variable("HOME");
        match self {
            Self::Claude => {
                let folder = variable("CLAUDE_CONFIG_DIR").or_else(home)?;
                Some(folder.join(".claude.json"))
            }
            Self::ClaudeDesktop => {
                Some(applications(variable)?.join("Claude/claude_desktop_config.json"))
            }
            Self::Cursor => Some(home()?.join(".cursor/mcp.json")),
            Self::Vscode => Some(applications(variable)?.join("Code/User/mcp.json")),
            Self::Codex => {
                let folder = variable("CODEX_HOME").or_else(|| Some(home()?.join(".codex")))?;
                Some(folder.join("config.toml"))
            }
            Self::Gemini => Some(home()?.join(".gemini/settings.json")),
        }
    }

    /// What names the directory of a project in its configuration of this scope. None where only the client itself knows which
    /// it is: most declare it as a root. `here` is the current directory.
    #[must_use]
    pub fn workspace(self, scope: Scope, here: &Path) -> Option<String> {
        match (self, scope) {
            // Both replace this when they start the server.
            (Self::Cursor | Self::Vscode, Scope::Project) => Some("${workspaceFolder}".to_owned()),
            // It declares no root.
            (Self::Codex, Scope::Project) => here.to_str().map(str::to_owned),
            _ => None,
        }
    }

    pub(super) fn form(self) -> Form {
        let json = |servers, dialect, typed| Form::Json {
            servers,
            dialect,
            typed,
        };
        match self {
            Self::Claude => json("mcpServers", Dialect::Json, true),
            Self::ClaudeDesktop => json("mcpServers", Dialect::Json, false),
            Self::Cursor => json("mcpServers", Dialect::Comments, true),
            Self::Vscode => json("servers", Dialect::TrailingCommas, true),
            Self::Gemini => json("mcpServers", Dialect::Comments, false),
            Self::Codex => Form::Toml,
        }
    }
}

/// The folder of Claude Code's settings and subagents; none where there is no home.
#[must_use]
pub fn claude_folder(scope: Scope, variable: &dyn Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    match scope {
        Scope::Project => Some(Path::new(".claude").to_owned()),
        Scope::User => variable("CLAUDE_CONFIG_DIR")
            .or_else(|| variable("HOME").map(|home| home.join(".claude"))),
    }
}

/// The folder in which applications keep their configurations.
fn applications(variable: &dyn Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    if cfg!(target_os = "macos") {
        return Some(variable("HOME")?.join("Library/Application Support"));
    }
    variable("XDG_CONFIG_HOME").or_else(|| Some(variable("HOME")?.join(".config")))
}
