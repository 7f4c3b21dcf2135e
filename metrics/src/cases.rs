//! The captures that tests compare with, where this machine has them: `CORR_CASES` names the folder.

use std::path::{Path, PathBuf};

/// A folder of the cases; `None`, and said, where it is not here.
pub fn cases(below: &str) -> Option<PathBuf> {
    let root = match std::env::var_os("CORR_CASES") {
        Some(root) => PathBuf::from(root),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases"),
    };
    let folder = root.join(below);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no cases {below} (set CORR_CASES)");
    None
}
