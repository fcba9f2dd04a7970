//! hydrant's own files cannot be reached through a mount.
