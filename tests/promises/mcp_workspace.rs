//! What the MCP server mounts.
