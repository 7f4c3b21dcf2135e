//! Reads a note, and replaces it in one step.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A note, as it was when it was read.
pub struct File {
    /// Where it really stands: a link to a note stays a link.
    path: PathBuf,
    /// `None`: there is no such file yet.
    pub bytes: Option<Vec<u8>>,
}

/// Why a note was not replaced.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("it was changed while the block was made; nothing was written, run the command again")]
    Changed,
}

impl File {
    /// Reads it.
    ///
    /// # Errors
    /// If there is such a file and it cannot be read.
    pub fn read(path: &Path) -> io::Result<File> {
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let bytes = read(&path)?;
        Ok(File { path, bytes })
    }

    /// Replaces it by a rename: whoever reads it sees the old or the new. Its permissions stay.
    ///
    /// # Errors
    /// If somebody wrote it meanwhile, or the system does not let it be written.
    pub fn replace(&self, bytes: &[u8]) -> Result<(), FileError> {
        let parent = self.path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".corr-note-");
        let known = std::fs::metadata(&self.path).ok().map(|m| m.permissions());
        #[cfg(unix)]
        if known.is_none() {
            // As any new file: what the user's mask leaves of it. Temporary files are their owner's alone otherwise.
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        }
        let mut aside = builder.tempfile_in(parent)?;
        aside.write_all(bytes)?;
        if let Some(permissions) = known {
            std::fs::set_permissions(aside.path(), permissions)?;
        }
        aside.as_file().sync_all()?;
        if read(&self.path)? != self.bytes {
            return Err(FileError::Changed);
        }
        aside.persist(&self.path).map_err(|e| e.error)?;
        Ok(())
    }
}

fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
