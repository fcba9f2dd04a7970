//! Addresses that no policy lets a skill reach.
