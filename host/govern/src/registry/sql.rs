//! Queries of the registry's tables, and the types of their columns. Each statement is prepared once for a connection, and
//! each error is `store-unavailable`.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Params, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::store;
use crate::failure::Failure;
use crate::time::Time;

/// Queries of a connection or a transaction.
pub(crate) trait Queries {
    /// Runs a statement and returns how many rows it changed.
    fn changed(&self, sql: &str, params: impl Params) -> Result<usize, Failure>;

    /// Runs a statement.
    fn run(&self, sql: &str, params: impl Params) -> Result<(), Failure> {
        self.changed(sql, params).map(drop)
    }

    /// Returns all rows.
    fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        from_row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Failure>;

    /// Returns the first row, if there is one.
    fn first<T>(
        &self,
        sql: &str,
        params: impl Params,
        from_row: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, Failure>;

    /// Returns the first column of the first row, if there is one.
    fn value<T: FromSql>(&self, sql: &str, params: impl Params) -> Result<Option<T>, Failure> {
        self.first(sql, params, |row| row.get(0))
    }

    /// Whether the first column of the first row is true.
    fn is_true(&self, sql: &str, params: impl Params) -> Result<bool, Failure> {
        self.value(sql, params)
            .map(|value| value.unwrap_or_default())
    }
}

impl Queries for Connection {
    fn changed(&self, sql: &str, params: impl Params) -> Result<usize, Failure> {
        self.prepare_cached(sql)
            .and_then(|mut query| query.execute(params))
            .map_err(store)
    }

    fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        from_row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Failure> {
        self.prepare_cached(sql)
            .and_then(|mut query| query.query_map(params, from_row)?.collect())
            .map_err(store)
    }

    fn first<T>(
        &self,
        sql: &str,
        params: impl Params,
        from_row: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, Failure> {
        self.prepare_cached(sql)
            .and_then(|mut query| query.query_row(params, from_row).optional())
            .map_err(store)
    }
}

/// A value that a column holds as JSON.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_slice(value.as_bytes()?)
            .map(Self)
            .map_err(|error| FromSqlError::Other(error.into()))
    }
}

impl<T: Serialize> ToSql for Json<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        serde_json::to_string(&self.0)
            .map(ToSqlOutput::from)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
    }
}

/// Milliseconds since 1970.
impl FromSql for Time {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let milliseconds = i64::column_result(value)?;
        Ok(Self::from_milliseconds(
            u64::try_from(milliseconds).unwrap_or(0),
        ))
    }
}

impl ToSql for Time {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let milliseconds = i64::try_from(self.milliseconds()).unwrap_or(i64::MAX);
        Ok(milliseconds.into())
    }
}

/// Declares an enum whose variants are words: in JSON, on the command line and in the database.
macro_rules! words {
    ($(#[$doc:meta])* $vis:vis $name:ident { $($(#[$each:meta])* $variant:ident => $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        $vis enum $name { $($(#[$each])* $variant,)* }

        impl $name {
            /// Returns the word.
            #[must_use]
            $vis const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// Returns what a word stands for, if it is one of them.
            #[must_use]
            $vis fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)* _ => None }
            }
        }

        impl rusqlite::types::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                Ok(self.as_str().into())
            }
        }

        /// A word that is not known is an error.
        impl rusqlite::types::FromSql for $name {
            fn column_result(
                value: rusqlite::types::ValueRef<'_>,
            ) -> rusqlite::types::FromSqlResult<Self> {
                let text = value.as_str()?;
                Self::parse(text).ok_or_else(|| {
                    rusqlite::types::FromSqlError::Other(format!("unknown value {text:?}").into())
                })
            }
        }
    };
}
pub(crate) use words;
