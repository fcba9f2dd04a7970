//! Programs and the `.git` of a workspace.
