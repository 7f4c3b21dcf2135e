//! The captures that tests compare with, where this machine has them: `CORR_CASES` names the folder.

use std::io::Read;
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

/// A file's bytes, unpacked if its name ends in `.gz`.
pub fn bytes(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    if path.extension().is_none_or(|end| end != "gz") {
        return bytes;
    }
    let mut all = Vec::new();
    flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut all).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    all
}
