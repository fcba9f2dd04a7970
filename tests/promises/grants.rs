//! Grants that are used up or revoked stay so.
