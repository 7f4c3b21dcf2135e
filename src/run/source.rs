//! One artifact of a run: what it is, whose it is, what its stamps mean.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use corr_parsers::clock::Clock;
use corr_parsers::detect::Detection;
use serde::{Deserialize, Serialize};

use super::bytes::Compression;
use super::journal;

/// What a file system says of a file; equal facts mean an unchanged file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    /// Bytes on disk (of packed files and journals their own size).
    pub size: u64,
    /// Last write, nanoseconds since the Unix epoch.
    pub mtime: i64,
    /// Last change of the inode, nanoseconds since the Unix epoch; 0 where the platform has none.
    pub ctime: i64,
    /// Inode number; 0 where the platform has none.
    pub inode: u64,
}

impl Stat {
    /// The facts of an open file or path.
    pub fn of(meta: &std::fs::Metadata) -> Stat {
        let mtime = meta.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok()).map_or(0, |d| d.as_nanos() as i64);
        #[cfg(unix)]
        let (ctime, inode) = {
            use std::os::unix::fs::MetadataExt;
            (meta.ctime().saturating_mul(1_000_000_000).saturating_add(meta.ctime_nsec()), meta.ino())
        };
        #[cfg(not(unix))]
        let (ctime, inode) = (0, 0);
        Stat { size: meta.len(), mtime, ctime, inode }
    }
}

/// What a file is to corr.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Records that become events.
    Events,
    /// Metric samples, in this layout (`parquet`, `arrow`, `prometheus-text`); read by `corr metrics`.
    Metrics(String),
    /// Configuration or a by-product, kept for facts about the run; not searched.
    Config(String),
    /// Nothing in it.
    Empty,
    /// The same bytes as another source, which is the one that is read.
    Duplicate(String),
}

/// Whose artifact it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Owner {
    pub host: Option<String>,
    pub unit: Option<String>,
    /// Name of the serving process in this run: `router`, `worker-0`, `decode-1`.
    pub worker: Option<String>,
    /// `prefill`, `decode`, `unified`, `router`, `frontend`, `client`, `infra`.
    pub role: Option<String>,
    /// Port that its own records say it serves on.
    #[serde(default)]
    pub port: Option<u16>,
    /// How the owner was found, in words.
    pub how: String,
}

/// A source of a run.
#[derive(Clone, Debug)]
pub struct Source {
    /// Where to open it.
    pub path: PathBuf,
    /// As printed: the argument that led here, joined with the path below it. Can be given back to `corr show`.
    pub name: String,
    /// Path below the run's root, `/` between parts: the store's key and the name in `corr.toml`.
    pub key: String,
    pub stat: Stat,
    pub compression: Compression,
    pub class: Class,
    pub detection: Detection,
    pub owner: Owner,
    pub clock: Clock,
    /// What is known to be wrong with the bytes (truncated gzip); found when the source was opened.
    pub damage: Option<String>,
}

impl Source {
    /// Name of the commonest payload format, or `text`.
    pub fn format(&self) -> &'static str {
        self.detection.formats.first().map_or("text", |s| s.name)
    }

    /// The program that gives its bytes, where that is another one.
    pub fn read_by(&self) -> Option<&'static str> {
        (self.compression == Compression::Journal).then(journal::version).flatten()
    }
}

/// A file that is part of the run and was not read.
#[derive(Clone, Debug, PartialEq)]
pub struct NotRead {
    pub name: String,
    pub why: String,
    /// What the user can do about it.
    pub next: String,
    /// It counts as a failure to read (exit code 3), not as a choice.
    pub failure: bool,
}

/// What several readers could not read, each file and reason once: names with reasons. Second come those that have no more than these.
pub fn unread<'n>(
    not_read: impl IntoIterator<Item = &'n NotRead>,
    failed: impl IntoIterator<Item = (&'n String, &'n String)>,
) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for (name, why) in not_read.into_iter().map(|n| (&n.name, &n.why)).chain(failed) {
        if !all.iter().any(|(known, same)| known == name && same == why) {
            all.push((name.clone(), why.clone()));
        }
    }
    all
}

/// The part of a path below `root`, with `/` between parts.
pub fn key_below(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = below.components().map(|c| c.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// Does a user who writes `asked` mean the source of this key that is printed under this name? Both may begin with `./`.
pub fn is_named(asked: &str, key: &str, name: &str) -> bool {
    let plain = |text: &'_ str| text.trim_start_matches("./").to_string();
    let asked = plain(asked);
    asked == plain(name) || asked == plain(key)
}
