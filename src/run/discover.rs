//! From the user's arguments to the sources of a run.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use corr_parsers::clock::Clock;
use corr_parsers::detect::{self, Detection};
use corr_parsers::envelope::journald::binary;
use corr_parsers::format::Format;
use corr_parsers::record::Layout;

use super::bytes::{self, Compression};
use super::journal;
use super::source::{Class, NotRead, Owner, Source, Stat, key_below};

/// What a run could not be opened for.
#[derive(Debug, thiserror::Error)]
pub enum DiscoverError {
    #[error("{path}: {error}")]
    Unreadable { path: String, error: io::Error },
    #[error("{path}: no such file or directory; give a run directory, a log file, a glob in quotes, or `-` for standard input")]
    Missing { path: String },
    #[error("{path}: no file matches this pattern")]
    NoMatch { path: String },
    #[error("{path}: bad glob pattern: {error}")]
    BadGlob { path: String, error: globset::Error },
}

/// A file found, before it was looked into.
#[derive(Clone, Debug)]
pub struct Found {
    pub path: PathBuf,
    pub name: String,
    pub key: String,
    pub stat: Stat,
}

/// Everything found below the arguments.
#[derive(Debug, Default)]
pub struct Listing {
    /// Directory that keys are relative to; `None` when only standard input is read.
    pub root: Option<PathBuf>,
    /// The run is one directory argument.
    pub is_directory: bool,
    pub files: Vec<Found>,
    pub not_read: Vec<NotRead>,
}

/// Lists the files of a run, sorted by key. Hidden files are left out and said.
pub fn list(arguments: &[String]) -> Result<Listing, DiscoverError> {
    let mut listing = Listing::default();
    let mut paths: Vec<(PathBuf, String)> = Vec::new();
    for argument in arguments {
        if argument == "-" {
            let stat = Stat { size: 0, mtime: 0, ctime: 0, inode: 0 };
            listing.files.push(Found { path: "-".into(), name: "-".into(), key: "-".into(), stat });
            continue;
        }
        let path = PathBuf::from(argument);
        match std::fs::metadata(&path) {
            Ok(meta) if meta.is_dir() => {
                if arguments.len() == 1 {
                    listing.root = Some(path.clone());
                    listing.is_directory = true;
                }
                walk(&path, argument, &mut paths, &mut listing.not_read);
            }
            Ok(_) => paths.push((path, argument.clone())),
            Err(e) if e.kind() == io::ErrorKind::NotFound && argument.contains(['*', '?', '[', '{']) => expand(argument, &mut paths)?,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(DiscoverError::Missing { path: argument.clone() }),
            Err(error) => return Err(DiscoverError::Unreadable { path: argument.clone(), error }),
        }
    }
    if listing.root.is_none() {
        listing.root = common_parent(&paths);
    }
    let root = listing.root.clone().unwrap_or_default();
    let mut seen = HashSet::new();
    for (path, name) in paths {
        match std::fs::metadata(&path) {
            Ok(meta) if meta.is_file() => {
                let stat = Stat::of(&meta);
                if stat.inode != 0 && !seen.insert((stat.inode, stat.size, device(&meta))) {
                    listing.not_read.push(NotRead {
                        name,
                        why: "a second link to a file that is read already".into(),
                        next: String::new(),
                        failure: false,
                    });
                    continue;
                }
                listing.files.push(Found { key: key_below(&root, &path), path, name, stat });
            }
            Ok(_) => listing.not_read.push(NotRead { name, why: "not a regular file".into(), next: String::new(), failure: false }),
            Err(e) => listing.not_read.push(unreadable(name, &e)),
        }
    }
    listing.files.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(listing)
}

#[cfg(unix)]
fn device(meta: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::dev(meta)
}

#[cfg(not(unix))]
fn device(_meta: &std::fs::Metadata) -> u64 {
    0
}

/// A file that the system would not open or read.
pub fn unreadable(name: String, error: &io::Error) -> NotRead {
    if let Some(journal::Failed { why, next }) = error.get_ref().and_then(|e| e.downcast_ref()) {
        return NotRead { name, why: why.clone(), next: next.clone(), failure: true };
    }
    let next = match error.kind() {
        io::ErrorKind::PermissionDenied => "read it as a user who may, or copy it where you can read it",
        io::ErrorKind::NotFound => "it vanished while the run was read; run the command again",
        _ => "check the file system, then run the command again",
    };
    NotRead { name, why: error.to_string(), next: next.into(), failure: true }
}

fn walk(root: &Path, argument: &str, paths: &mut Vec<(PathBuf, String)>, not_read: &mut Vec<NotRead>) {
    // Links are followed, as `logs -> ../real` is common; a loop is seen and left.
    let mut entries = walkdir::WalkDir::new(root).follow_links(true).sort_by_file_name().into_iter();
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let name = error.path().map_or_else(|| argument.to_string(), |p| joined(argument, &key_below(root, p)));
                let is_link = error.path().is_some_and(Path::is_symlink);
                match error.into_io_error() {
                    None => not_read.push(NotRead {
                        name,
                        why: "a link to a directory that holds it".into(),
                        next: String::new(),
                        failure: false,
                    }),
                    Some(e) if is_link && e.kind() == io::ErrorKind::NotFound => {
                        not_read.push(NotRead { name, why: "a link to nothing".into(), next: String::new(), failure: false });
                    }
                    Some(error) => not_read.push(unreadable(name, &error)),
                }
                continue;
            }
        };
        if entry.depth() == 0 {
            continue;
        }
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        let name = joined(argument, &key_below(root, entry.path()));
        if hidden {
            if entry.file_type().is_dir() {
                entries.skip_current_dir();
            }
            if entry.file_name() != ".corr" {
                let next = "give its path as an argument to read it".into();
                not_read.push(NotRead { name, why: "hidden".into(), next, failure: false });
            }
            continue;
        }
        if entry.file_type().is_dir() {
            if is_store(entry.path()) {
                entries.skip_current_dir();
                not_read.push(NotRead { name, why: "an index that corr made".into(), next: String::new(), failure: false });
            }
        } else if entry.file_type().is_file() {
            paths.push((entry.into_path(), name));
        } else {
            not_read.push(NotRead { name, why: "not a regular file".into(), next: String::new(), failure: false });
        }
    }
}

/// Is this directory a store, wherever it was put?
fn is_store(dir: &Path) -> bool {
    dir.join("lock").is_file() && dir.join(crate::store::manifest::FILE).is_file()
}

fn joined(argument: &str, key: &str) -> String {
    if argument.ends_with('/') { format!("{argument}{key}") } else { format!("{argument}/{key}") }
}

/// Expands a glob below its longest part without wildcards.
fn expand(pattern: &str, paths: &mut Vec<(PathBuf, String)>) -> Result<(), DiscoverError> {
    let glob = globset::GlobBuilder::new(pattern).literal_separator(true).build();
    let matcher = glob.map_err(|error| DiscoverError::BadGlob { path: pattern.into(), error })?.compile_matcher();
    let wild = pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len());
    let base = pattern[..wild].rfind('/').map_or(".", |i| if i == 0 { "/" } else { &pattern[..i] });
    let before = paths.len();
    for entry in walkdir::WalkDir::new(base).sort_by_file_name().into_iter().flatten() {
        let path = entry.path();
        let shown = path.strip_prefix("./").unwrap_or(path);
        if matcher.is_match(shown) && path.is_file() {
            paths.push((path.to_path_buf(), shown.display().to_string()));
        }
    }
    if paths.len() == before { Err(DiscoverError::NoMatch { path: pattern.into() }) } else { Ok(()) }
}

fn common_parent(paths: &[(PathBuf, String)]) -> Option<PathBuf> {
    let mut common = paths.first()?.0.parent()?.to_path_buf();
    for (path, _) in &paths[1..] {
        while !path.starts_with(&common) {
            if !common.pop() {
                return Some(PathBuf::new());
            }
        }
    }
    Some(common)
}

/// What looking into one file gave.
pub enum Looked {
    Source(Box<Source>),
    NotRead(NotRead),
}

/// Looks into a file: class, envelope, formats. `user` are the formats that users declared.
pub fn look(found: &Found, forced: Option<&Layout>, user: &[&'static Format]) -> Looked {
    let is_stdin = found.path.as_os_str() == "-";
    if found.stat.size == 0 && !is_stdin {
        let packed = found.path.extension().is_some_and(|e| e == "gz" || e == "zst");
        if packed {
            let why = "empty: not even a compression header was written".into();
            let next = "the writer was killed before its first flush, or the copy failed: copy it again".into();
            return Looked::NotRead(NotRead { name: found.name.clone(), why, next, failure: true });
        }
        return source(found, Class::Empty, empty_detection(), Compression::None);
    }
    let (sample, whole) = match bytes::head(&found.path, detect::SAMPLE) {
        Ok(head) => head,
        Err(error) => return Looked::NotRead(unreadable(found.name.clone(), &error)),
    };
    let compression =
        if is_stdin { bytes::open(&found.path).map_or(Compression::None, |o| o.compression) } else { compression_of(&found.path) };
    if sample.is_empty() && matches!(compression, Compression::Gzip | Compression::Zstd) {
        if bytes::open(&found.path).is_ok_and(|opened| opened.bytes.is_empty() && opened.damage.is_none()) {
            return source(found, Class::Empty, empty_detection(), compression);
        }
        let why = "compressed, but nothing can be decompressed from it".into();
        let next = "the writer was killed before its first flush, or the copy is damaged: copy it again".into();
        return Looked::NotRead(NotRead { name: found.name.clone(), why, next, failure: true });
    }
    if binary::is_journal(&sample) {
        let why =
            if is_stdin { "a systemd journal file, which journalctl reads only in its place" } else { "a compressed systemd journal file" };
        let unpack = if is_stdin { "" } else { "decompress it, or " };
        let next = format!("{unpack}{}, and give corr that file", journal::export_it(None));
        return Looked::NotRead(NotRead { name: found.name.clone(), why: why.into(), next, failure: true });
    }
    if sample.is_empty() && compression == Compression::Journal {
        return source(found, Class::Empty, empty_detection(), compression);
    }
    if let Some(layout) = forced {
        let mut detection = detect::detect_with(&sample, whole, user);
        detection.layout = layout.clone();
        // What was found is kept only as far as it was asked for, so that the source is called what it is read as.
        if let Some(asked) = layout.formats.first().filter(|_| layout.formats.len() < corr_parsers::FORMATS.len()) {
            detection.formats.retain(|s| layout.formats.iter().any(|f| f.name == s.name));
            if detection.formats.is_empty() {
                detection.formats.push(detect::Score {
                    name: asked.name,
                    share: 0.0,
                    reason: "no record begins like it; it was asked for".into(),
                    depth: 0,
                });
            }
        } else if layout.formats.is_empty() {
            detection.formats.clear();
        }
        return source(found, Class::Events, detection, compression);
    }
    let by_name = (compression != Compression::Journal).then(|| class_of(&found.path, &sample)).flatten();
    if let Some(class) = by_name {
        return source(found, class, empty_detection(), compression);
    }
    let detection = detect::detect_with(&sample, whole, user);
    if detection.formats.is_empty() && detection.layout.envelopes.is_empty() && is_binary(&sample) {
        let why = "binary, in no format that corr knows".into();
        let next = "if it is a log, export it as text; else leave it out of the run directory".into();
        return Looked::NotRead(NotRead { name: found.name.clone(), why, next, failure: true });
    }
    source(found, Class::Events, detection, compression)
}

fn compression_of(path: &Path) -> Compression {
    let mut magic = [0u8; binary::MAGIC.len()];
    let read = std::fs::File::open(path).and_then(|mut f| io::Read::read(&mut f, &mut magic));
    read.map_or(Compression::None, |n| bytes::compression(&magic[..n]))
}

fn source(found: &Found, class: Class, detection: Detection, compression: Compression) -> Looked {
    Looked::Source(Box::new(Source {
        path: found.path.clone(),
        name: found.name.clone(),
        key: found.key.clone(),
        stat: found.stat,
        compression,
        class,
        detection,
        owner: Owner::default(),
        clock: Clock::assumed(),
        damage: None,
    }))
}

/// A file of a metric capture in this layout.
pub fn metrics(found: &Found, layout: &str) -> Looked {
    source(found, Class::Metrics(layout.into()), empty_detection(), compression_of(&found.path))
}

fn empty_detection() -> Detection {
    Detection { layout: Layout::default(), envelopes: Vec::new(), formats: Vec::new(), sampled: 0 }
}

/// Files that are no event sources, by magic bytes, shape and name.
fn class_of(path: &Path, sample: &[u8]) -> Option<Class> {
    let metrics = |layout: &str| Some(Class::Metrics(layout.into()));
    if sample.starts_with(b"PAR1") {
        return metrics("parquet");
    }
    if sample.starts_with(b"ARROW1") || sample.starts_with(&[0xff, 0xff, 0xff, 0xff]) {
        return metrics("arrow");
    }
    if sample.starts_with(b"# HELP ") || sample.starts_with(b"# TYPE ") {
        return metrics("prometheus-text");
    }
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or("");
    let inner = if matches!(extension, "gz" | "zst") { stem.rsplit('.').next().unwrap_or("") } else { extension };
    if inner == "prom" {
        return metrics("prometheus-text");
    }
    match inner {
        "toml" | "yaml" | "yml" | "ini" | "conf" | "cfg" | "service" | "command" | "pid" | "sh" | "py" | "html" | "css" | "js" | "svg"
        | "png" | "md" | "csv" | "tsv" | "lock" | "pkl" => Some(Class::Config(inner.to_string())),
        _ => None,
    }
}

/// NUL bytes or mostly unprintable bytes near the start.
fn is_binary(sample: &[u8]) -> bool {
    let head = &sample[..sample.len().min(8 << 10)];
    let odd = head.iter().filter(|b| **b == 0 || (**b < 0x20 && !matches!(**b, b'\n' | b'\r' | b'\t' | 0x1b))).count();
    let text = std::str::from_utf8(head).is_ok() || std::str::from_utf8(head).is_err_and(|e| e.valid_up_to() + 4 > head.len());
    odd * 50 > head.len() || (odd > 0 && !text)
}

/// Marks event sources and metric files whose bytes equal those of an earlier one.
pub fn mark_duplicates(sources: &mut [Source]) {
    let mut by_size: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (i, source) in sources.iter().enumerate() {
        let one_of_many = matches!(&source.class, Class::Metrics(layout) if layout == "prometheus-text");
        if source.stat.size > 0 && source.key != "-" && !one_of_many && !matches!(source.class, Class::Config(_)) {
            by_size.entry(source.stat.size).or_default().push(i);
        }
    }
    for same in by_size.values().filter(|v| v.len() > 1) {
        let mut first_with: BTreeMap<[u8; 32], usize> = BTreeMap::new();
        for &i in same {
            let Ok(hash) = hash_file(&sources[i].path) else { continue };
            if let Some(&first) = first_with.get(&hash) {
                sources[i].class = Class::Duplicate(sources[first].key.clone());
            } else {
                first_with.insert(hash, i);
            }
        }
    }
}

/// BLAKE3 of a file's bytes on disk.
pub fn hash_file(path: &Path) -> io::Result<[u8; 32]> {
    let mut hasher = blake3::Hasher::new();
    let mut file = std::fs::File::open(path)?;
    io::copy(&mut file, &mut hasher)?;
    Ok(*hasher.finalize().as_bytes())
}
