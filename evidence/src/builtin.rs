//! The table of edges that comes with the program: `edges.toml`.

use std::sync::LazyLock;

use crate::definition::Table;

static TABLE: LazyLock<Result<Table, toml::de::Error>> = LazyLock::new(|| toml::from_str(include_str!("../edges.toml")));

/// The built-in table, read once.
///
/// # Errors
/// Where `edges.toml` is not a table of edges; a test of this crate reads it, so that a built program has one that is.
pub fn table() -> Result<Table, toml::de::Error> {
    TABLE.clone()
}
