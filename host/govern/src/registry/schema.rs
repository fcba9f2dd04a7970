//! The tables, as migrations: [`crate::state`] runs them in order and keeps count.

/// Migrations in order; the first makes the tables. One that was released is never changed.
#[must_use]
pub const fn schema() -> &'static [&'static str] {
    &[
        include_str!("schema_1.sql"),
        include_str!("schema_2.sql"),
        include_str!("schema_3.sql"),
    ]
}
