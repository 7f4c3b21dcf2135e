//! What the envelopes beside journald make of captures, of each other and of any bytes.

mod containers;

use std::path::{Path, PathBuf};

use crate::format::Meta;

/// The folder of the cases, if it is here.
fn cases() -> Option<PathBuf> {
    let root = match std::env::var_os("CORR_CASES") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases"),
    };
    if root.is_dir() { Some(root) } else { None }
}

fn more<'m>(meta: &'m Meta, name: &str) -> Option<&'m str> {
    meta.more.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
}
