//! A file that is made aside and then put in place by one rename: whoever reads it sees the old or the new.

use std::fs::{File, Permissions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::run::source::Stat;

/// Where a file is to stand, as it was when it was looked at.
pub struct Target {
    /// Where it really stands: a link stays a link.
    path: PathBuf,
    was: Option<(Stat, Permissions)>,
}

/// Why a file was not read or replaced.
#[derive(Debug, thiserror::Error)]
pub enum AsideError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("it is no regular file")]
    Irregular,
    #[error("it has more than {0} bytes")]
    Large(u64),
    #[error("it was changed meanwhile; nothing was written, run the command again")]
    Changed,
}

impl Target {
    /// Looks at what stands there.
    ///
    /// # Errors
    /// If there is something that is no file, or that cannot be looked at.
    pub fn of(path: &Path) -> Result<Target, AsideError> {
        let path = real(path)?;
        let was = match std::fs::metadata(&path) {
            Ok(facts) if facts.is_file() => Some((Stat::of(&facts), facts.permissions())),
            Ok(_) => return Err(AsideError::Irregular),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Target { path, was })
    }

    /// Its first bytes, at most so many; none where there is no file.
    pub fn head(&self, most: u64) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        if self.was.is_some() {
            File::open(&self.path)?.take(most).read_to_end(&mut head)?;
        }
        Ok(head)
    }

    /// All its bytes.
    ///
    /// # Errors
    /// If it has more than so many, or cannot be read.
    pub fn read(&self, most: u64) -> Result<Vec<u8>, AsideError> {
        let bytes = self.head(most.saturating_add(1))?;
        if bytes.len() as u64 > most { Err(AsideError::Large(most)) } else { Ok(bytes) }
    }

    /// Begins the new file beside it, with the permissions of the old one. It is gone if it is not put in place.
    pub fn begin(&self) -> io::Result<Aside<'_>> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".corr-aside-");
        #[cfg(unix)]
        if self.was.is_none() {
            // As any new file: what the user's mask leaves of it. Temporary files are their owner's alone otherwise.
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        }
        let file = builder.tempfile_in(parent(&self.path))?;
        if let Some((_, permissions)) = &self.was {
            std::fs::set_permissions(file.path(), permissions.clone())?;
        }
        Ok(Aside { target: self, file })
    }

    /// Replaces it by some bytes.
    ///
    /// # Errors
    /// As [`Aside::put`].
    pub fn replace(&self, bytes: &[u8]) -> Result<(), AsideError> {
        let mut aside = self.begin()?;
        aside.write_all(bytes)?;
        aside.put()
    }
}

/// A new file that is not in its place yet.
pub struct Aside<'t> {
    target: &'t Target,
    file: tempfile::NamedTempFile,
}

impl Write for Aside<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Aside<'_> {
    /// Puts it in place.
    ///
    /// # Errors
    /// If somebody wrote there meanwhile, or the system does not let it be written.
    pub fn put(self) -> Result<(), AsideError> {
        self.file.as_file().sync_all()?;
        let now = match std::fs::metadata(&self.target.path) {
            Ok(facts) => Some(Stat::of(&facts)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        if now != self.target.was.as_ref().map(|(stat, _)| *stat) {
            return Err(AsideError::Changed);
        }
        self.file.persist(&self.target.path).map_err(|e| e.error)?;
        Ok(())
    }
}

/// Where a path leads; a link that leads to nothing yet leads there.
fn real(path: &Path) -> io::Result<PathBuf> {
    match std::fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(match std::fs::read_link(path) {
            Ok(to) => parent(path).join(to),
            Err(_) => path.to_path_buf(),
        }),
        found => found,
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> tempfile::TempDir {
        tempfile::tempdir().expect("a directory")
    }

    #[cfg(unix)]
    #[test]
    fn links_and_modes_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = place();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        symlink("real", &link).expect("a link");
        // To nothing yet, then to a file that only its owner may read.
        Target::of(&link).expect("nothing yet").replace(b"one").expect("written");
        assert_eq!(std::fs::read(&real).expect("where the link leads"), b"one");
        std::fs::set_permissions(&real, Permissions::from_mode(0o600)).expect("a mode");
        Target::of(&link).expect("a file").replace(b"two").expect("written");
        assert!(std::fs::symlink_metadata(&link).expect("the link").is_symlink());
        assert_eq!(std::fs::read(&real).expect("the file"), b"two");
        assert_eq!(std::fs::metadata(&real).expect("the file").permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(dir.path()).expect("the directory").count(), 2, "nothing is left aside");
    }

    #[test]
    fn what_was_written_meanwhile_is_not_lost() {
        let dir = place();
        let path = dir.path().join("a");
        for before in [None, Some("old")] {
            if let Some(text) = before {
                std::fs::write(&path, text).expect("write");
            }
            let target = Target::of(&path).expect("looked at");
            std::fs::write(&path, "somebody's").expect("write");
            assert!(matches!(target.replace(b"new"), Err(AsideError::Changed)), "{before:?}");
            assert_eq!(std::fs::read(&path).expect("read"), b"somebody's");
            std::fs::remove_file(&path).expect("remove");
        }
    }

    #[test]
    fn only_files_are_read_and_no_more_than_asked() {
        let dir = place();
        assert!(matches!(Target::of(dir.path()), Err(AsideError::Irregular)));
        let path = dir.path().join("a");
        std::fs::write(&path, "12345").expect("write");
        let target = Target::of(&path).expect("looked at");
        assert_eq!(target.head(2).expect("read"), b"12");
        assert_eq!(target.read(5).expect("read"), b"12345");
        assert!(matches!(target.read(4), Err(AsideError::Large(4))));
    }
}
