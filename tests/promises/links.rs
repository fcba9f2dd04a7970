//! A narrower rule is not crossed by a link.
