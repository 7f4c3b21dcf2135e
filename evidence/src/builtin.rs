//! The built-in table of edges.

use crate::definition::Table;

const TEXT: &str = include_str!("../edges.toml");

/// `edges.toml`, as it was built in.
///
/// # Errors
/// None in a build whose tests passed: they read it.
pub fn table() -> Result<Table, toml::de::Error> {
    toml::from_str(TEXT)
}
