//! Where the store of a run is: below the run where that can be written, else in the user's cache.

use std::path::{Path, PathBuf};

use super::manifest::FILE;

/// The store that a run has now, if any. `given` is `--store`.
pub fn find(root: &Path, is_directory: bool, arguments: &[String], given: Option<&Path>) -> Option<PathBuf> {
    if let Some(dir) = given {
        return Some(dir.to_path_buf());
    }
    if arguments.iter().any(|a| a == "-") {
        return None;
    }
    if is_directory && root.join(".corr").join(FILE).is_file() {
        return Some(root.join(".corr"));
    }
    // Standard input is another one each time.
    if arguments.iter().any(|a| a == "-") {
        return None;
    }
    let cached = cached(root, is_directory, arguments);
    cached.join(FILE).is_file().then_some(cached)
}

/// Where a new store goes.
pub fn choose(root: &Path, is_directory: bool, arguments: &[String]) -> PathBuf {
    if is_directory && (root.join(".corr").join(FILE).is_file() || writable(root)) {
        return root.join(".corr");
    }
    cached(root, is_directory, arguments)
}

/// A directory of the user's cache, named by what the run consists of.
fn cached(root: &Path, is_directory: bool, arguments: &[String]) -> PathBuf {
    let mut hasher = blake3::Hasher::new();
    let mut add = |path: &Path| {
        let absolute = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        hasher.update(absolute.as_os_str().as_encoded_bytes());
        hasher.update(b"\n");
    };
    if is_directory {
        add(root);
    } else {
        let mut sorted = arguments.to_vec();
        sorted.sort();
        sorted.iter().for_each(|a| add(Path::new(a)));
    }
    let name = hasher.finalize().to_hex();
    cache_root().join("corr").join(&name.as_str()[..32])
}

fn cache_root() -> PathBuf {
    if let Some(dir) = std::env::var_os("XDG_CACHE_HOME").filter(|d| !d.is_empty()) {
        return dir.into();
    }
    match std::env::var_os("HOME").filter(|h| !h.is_empty()) {
        Some(home) => PathBuf::from(home).join(".cache"),
        None => std::env::temp_dir(),
    }
}

/// Can this user create files in a directory? Asked by creating one.
fn writable(dir: &Path) -> bool {
    tempfile::Builder::new().prefix(".corr-probe").tempfile_in(dir).is_ok()
}
