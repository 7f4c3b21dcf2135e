//! The captures that tests compare with, where this machine has them.

#[path = "../../src/cases.rs"]
mod folder;

use std::io::Read;
use std::path::Path;

pub use folder::cases;

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
