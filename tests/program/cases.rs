//! The captures that tests compare with, where this machine has them: `CORR_CASES` names their folder, else it is `../shared/cases`.

use std::path::{Path, PathBuf};

/// What stands there under a path, the folder itself for an empty one; `None`, and said, where it is not here.
pub fn cases(below: &str) -> Option<PathBuf> {
    let root = std::env::var_os("CORR_CASES").map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/cases"), PathBuf::from);
    let path = root.join(below);
    if path.exists() {
        println!("read: {}", path.display());
        return Some(path);
    }
    println!("skipped: {} is not here (CORR_CASES names the folder)", path.display());
    None
}
