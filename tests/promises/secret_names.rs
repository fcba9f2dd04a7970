//! A name of a secret is a secret everywhere in its skill.
