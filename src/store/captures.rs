//! The metric captures that a store keeps: made of sets of files when a run is indexed, and opened instead of those while no file has changed.

use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use corr_metrics::READER_VERSION;
use corr_metrics::kept::{self, Check, KeptError};
use corr_metrics::layouts::{Part, Set};
use corr_metrics::model::{Capture, Outcome, StampOf};
use serde::{Deserialize, Serialize};

use super::manifest::{Manifest, ManifestError};
use super::place;
use super::update::reads_alike;
use crate::run::bytes;
use crate::run::discover::hash_file;
use crate::run::source::{Class, Source, Stat};
use crate::run::{Run, captures};

/// Layouts whose reader is another program, of which nothing says that it reads the same tomorrow: they are read at each question.
const NOT_KEPT: &[&str] = &["tsdb"];

/// A set of files and its captures.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeptSet {
    pub layout: String,
    /// What was read, in the order of reading, then what holds nothing beside it.
    pub parts: Vec<KeptPart>,
    /// Times of files are in what was read: equal bytes of another time are another capture.
    pub by_file_time: bool,
    /// Directory name inside the store.
    pub dir: String,
    pub captures: Vec<KeptFile>,
}

/// A file of a set, as it was when it was read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeptPart {
    /// As it was spelled, which notes of the capture may repeat.
    pub path: PathBuf,
    pub key: String,
    pub beside: bool,
    pub stat: Stat,
    /// BLAKE3 of its bytes.
    pub hash: String,
}

/// The file of a capture inside the set's directory. While its facts are these, its bytes are those that were written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeptFile {
    pub name: String,
    pub stat: Stat,
}

/// The captures of a run's store, to be asked.
#[derive(Debug, Default)]
pub struct Kept {
    dir: PathBuf,
    sets: Vec<KeptSet>,
    /// Number of the publication, if no file of the run has changed since.
    unchanged: Option<u64>,
    /// Why the store is not used.
    pub notes: Vec<String>,
}

impl Kept {
    /// What the store of a run keeps. `given` is `--store`.
    pub fn open(run: &Run, given: Option<&Path>) -> Kept {
        let Some(dir) = place::find(&run.root, run.is_directory, &run.arguments, given) else { return Kept::default() };
        match Manifest::read(&dir) {
            Ok(manifest) if manifest.metrics_version != READER_VERSION && !manifest.captures.is_empty() => {
                let why = "metric captures were indexed by another version of corr and are read from their files; `corr index` makes the index anew";
                Kept { notes: vec![format!("{}: {why}", dir.display())], ..Kept::default() }
            }
            Ok(manifest) => {
                let unchanged = manifest.says(run).then_some(manifest.generation);
                Kept { sets: manifest.captures, dir, unchanged, notes: Vec::new() }
            }
            Err(ManifestError::None(_)) => Kept::default(),
            Err(error) => Kept { notes: vec![error.to_string()], ..Kept::default() },
        }
    }

    /// The captures of a set; `None` if the store has none, or none that can be told as if it had been read by these paths.
    ///
    /// # Errors
    /// Why those that the store has are not used.
    pub fn captures(&self, layout: &str, set: &Set) -> Result<Option<Vec<Capture>>, String> {
        let Some(kept) = self.current(layout, set) else {
            let files: HashSet<&str> = set.files.iter().map(|part| part.key.as_str()).collect();
            return match self.sets.iter().flat_map(|kept| &kept.parts).any(|part| files.contains(part.key.as_str())) {
                true => Err(format!("{}: changed since it was indexed; read without the index", named(set))),
                false => Ok(None),
            };
        };
        let captures =
            kept.open(&self.dir).map_err(|why| format!("{why}; {} is read without the index, which `corr index` mends", named(set)))?;
        Ok(captures.into_iter().map(|capture| respell(capture, kept, set)).collect())
    }

    /// The store's directory and the number of its publication, if no file of the run has changed since.
    pub fn unchanged(&self) -> Option<(PathBuf, u64)> {
        Some((self.dir.clone(), self.unchanged?))
    }

    /// What is kept of a set of which no file has changed.
    fn current(&self, layout: &str, set: &Set) -> Option<&KeptSet> {
        self.sets.iter().find(|kept| kept.is_of(layout, set)).filter(|kept| kept.is_true(set))
    }

    /// Keys of the files whose captures would be opened instead.
    pub fn indexed(&self, run: &Run) -> BTreeSet<String> {
        let current = captures::sets(run).filter(|(layout, set)| self.current(layout, set).is_some());
        current.flat_map(|(_, set)| parts(set)).map(|(part, _)| part.key.clone()).collect()
    }
}

fn parts(set: &Set) -> impl Iterator<Item = (&Part, bool)> {
    set.files.iter().map(|part| (part, false)).chain(set.beside.iter().map(|(part, _)| (part, true)))
}

fn stat(path: &Path) -> io::Result<Stat> {
    Ok(Stat::of(&std::fs::metadata(path)?))
}

fn hash(path: &Path) -> io::Result<String> {
    Ok(blake3::Hash::from_bytes(hash_file(path)?).to_hex().to_string())
}

impl KeptSet {
    fn is_of(&self, layout: &str, set: &Set) -> bool {
        let ours = self.parts.iter().map(|p| (p.key.as_str(), p.beside));
        self.layout == layout && set.ties.is_empty() && ours.eq(parts(set).map(|(p, beside)| (p.key.as_str(), beside)))
    }

    /// Do the facts of its files differ?
    fn stale(&self, set: &Set) -> bool {
        !self.parts.iter().zip(parts(set)).all(|(kept, (part, _))| stat(&part.path).is_ok_and(|now| now == kept.stat))
    }

    /// Are all files of the set as they were?
    fn is_true(&self, set: &Set) -> bool {
        self.parts.iter().zip(parts(set)).all(|(kept, (part, _))| {
            let Ok(now) = stat(&part.path) else { return false };
            let alike = now.size == kept.stat.size && (!self.by_file_time || now.mtime == kept.stat.mtime);
            now == kept.stat || (alike && hash(&part.path).is_ok_and(|hash| hash == kept.hash))
        })
    }

    /// Its captures, or what is wrong with their files.
    fn open(&self, store: &Path) -> Result<Vec<Capture>, String> {
        let open = |file: &KeptFile| {
            let path = store.join(&self.dir).join(&file.name);
            let shown = path.display();
            let untouched = stat(&path).is_ok_and(|now| now == file.stat);
            let check = if untouched { Check::Tables } else { Check::All };
            let bytes = bytes::open_store_file(&path).map_err(|e| format!("{shown}: {e}"))?;
            kept::open(Arc::new(bytes), check).map_err(|e: KeptError| format!("{shown} is {e}"))
        };
        self.captures.iter().map(open).collect()
    }
}

/// What stands before the keys in the paths of a set; `None` if that is not one text.
fn prefix<'p>(mut parts: impl Iterator<Item = (&'p Path, &'p str)>) -> Option<&'p str> {
    let of = |(path, key): (&'p Path, &'p str)| path.to_str()?.strip_suffix(key);
    let first = of(parts.next()?)?;
    parts.all(|part| of(part) == Some(first)).then_some(first)
}

/// The capture as if it had been read by the paths of `set`. `None` where a path as it was spelled may stand in its texts and cannot be told from
/// other words.
fn respell(mut capture: Capture, kept: &KeptSet, set: &Set) -> Option<Capture> {
    if kept.parts.iter().zip(parts(set)).all(|(old, (new, _))| old.path == new.path) {
        return Some(capture);
    }
    let old = prefix(kept.parts.iter().map(|p| (p.path.as_path(), p.key.as_str())))?;
    let new = prefix(parts(set).map(|(p, _)| (p.path.as_path(), p.key.as_str())))?;
    if !old.is_empty() && kept.parts.iter().any(|p| p.key.starts_with(old)) {
        return None;
    }
    let paths: Vec<&str> = kept.parts.iter().filter_map(|p| p.path.to_str()).collect();
    let mentions = |text: &str| match old.is_empty() {
        true => paths.iter().any(|path| text.contains(path)),
        false => text.contains(old),
    };
    for file in &mut capture.files {
        *file = format!("{new}{}", file.to_str()?.strip_prefix(old)?).into();
    }
    let failures = capture.endpoints.iter().flat_map(|e| &e.scrapes).filter_map(|s| match &s.outcome {
        Outcome::Failed(why) => Some(why),
        Outcome::Read => None,
    });
    if capture.notes.iter().map(|note| &note.what).chain(failures).any(|text| mentions(text)) {
        return None;
    }
    for first in capture.notes.iter_mut().filter_map(|note| note.first.as_mut()) {
        match first.strip_prefix(old).filter(|_| paths.iter().any(|path| first.starts_with(path))) {
            Some(rest) => *first = format!("{new}{rest}"),
            None if mentions(first) => return None,
            None => {}
        }
    }
    Some(capture)
}

/// What became of a set.
pub(super) enum Done {
    Kept(KeptSet),
    Built(KeptSet),
    /// It cannot be kept; the note says so where the user can do something about it.
    Left(Option<String>),
}

/// Brings one set up to date: `old` are the sets of the store as it is, `names` gives the directory to build in and the one to publish.
pub(super) fn update(store: &Path, old: &[KeptSet], layout: &'static str, set: &Set, names: (&str, &str)) -> io::Result<Done> {
    if NOT_KEPT.contains(&layout) {
        return Ok(Done::Left(None));
    }
    // Facts before the reading: a file that changes meanwhile is not kept under those that it has afterwards.
    let Ok(before) = stats(set) else { return Ok(Done::Left(None)) };
    if let Some(kept) = old.iter().find(|k| k.is_of(layout, set))
        && kept.is_true(set)
        && kept.open(store).is_ok_and(|captures| captures.into_iter().all(|capture| respell(capture, kept, set).is_some()))
    {
        let parts = kept.parts.iter().zip(before).map(|(part, stat)| KeptPart { stat, ..part.clone() });
        return Ok(Done::Kept(KeptSet { parts: parts.collect(), ..kept.clone() }));
    }
    let captures = match captures::read_set(layout, set) {
        Ok(captures) => captures,
        Err(not_read) => return Ok(Done::Left(Some(format!("{}: not indexed: {}", named(set), not_read.why)))),
    };
    let (aside, place) = (store.join(names.0), store.join(names.1));
    std::fs::create_dir(&aside)?;
    let mut files = Vec::new();
    for (i, capture) in captures.iter().enumerate() {
        let name = format!("{i}.capture");
        let mut file = BufWriter::with_capacity(1 << 20, File::create(aside.join(&name))?);
        match kept::write(capture, &mut file).and_then(|()| file.flush()) {
            Ok(()) => files.push(name),
            Err(e) if e.kind() == io::ErrorKind::InvalidInput => {
                std::fs::remove_dir_all(&aside)?;
                return Ok(Done::Left(Some(format!("{}: not indexed: {e}", named(set)))));
            }
            Err(e) => return Err(e),
        }
    }
    // A folder of scrapes whose samples have stamps of their own still has the times of its scrapes from the files.
    let by_file_time = captures.iter().any(|c| c.stamp_of == StampOf::FileTime || c.notes.iter().any(|n| n.code == "file_times"));
    drop(captures);
    let hashes: io::Result<Vec<String>> = parts(set).map(|(part, _)| hash(&part.path)).collect();
    let (Ok(hashes), true) = (hashes, stats(set).is_ok_and(|after| after == before)) else {
        std::fs::remove_dir_all(&aside)?;
        let note =
            format!("{}: it changed while it was read, and is read at each question; index it again when it is complete", named(set));
        return Ok(Done::Left(Some(note)));
    };
    std::fs::rename(&aside, &place)?;
    let facts = parts(set).zip(before).zip(hashes);
    let parts = facts.map(|(((part, beside), stat), hash)| KeptPart { path: part.path.clone(), key: part.key.clone(), beside, stat, hash });
    let parts = parts.collect();
    let captures = files.into_iter().map(|name| Ok(KeptFile { stat: stat(&place.join(&name))?, name })).collect::<io::Result<_>>()?;
    Ok(Done::Built(KeptSet { layout: layout.to_string(), parts, by_file_time, dir: names.1.to_string(), captures }))
}

fn stats(set: &Set) -> io::Result<Vec<Stat>> {
    parts(set).map(|(part, _)| stat(&part.path)).collect()
}

fn named(set: &Set) -> String {
    let first = set.files.first().map_or_else(String::new, |part| part.path.display().to_string());
    match set.files.len() {
        0 | 1 => first,
        n => format!("{first} and {} more", n - 1),
    }
}

/// Bytes that [`update`] will read of a set, as far as its files' facts say.
pub(super) fn to_read(old: &[KeptSet], layout: &str, set: &Set) -> u64 {
    let kept = old.iter().find(|kept| kept.is_of(layout, set));
    if NOT_KEPT.contains(&layout) || kept.is_some_and(|kept| !kept.stale(set)) {
        return 0;
    }
    stats(set).map_or(0, |stats| stats.iter().map(|s| s.size).sum())
}

impl Manifest {
    /// Is the run what was indexed: the same files with the same facts, read alike?
    fn says(&self, run: &Run) -> bool {
        let known = |source: &Source| match (&source.class, self.sources.get(&source.key)) {
            (Class::Events, Some(entry)) => source.key != "-" && entry.unchanged(&source.stat) && reads_alike(entry, source),
            (Class::Events, None) => false,
            (class, _) => self.others.get(&source.key).is_some_and(|other| other.stat == source.stat && other.class == *class),
        };
        let all = run.sources.len() == self.sources.len() + self.others.len() && run.sources.iter().all(known);
        all && self.declared == run.declared.fingerprint
    }

    /// The captures that readers as they are now made; none of an older reader.
    pub fn kept_captures(&self) -> &[KeptSet] {
        if self.metrics_version == READER_VERSION { &self.captures } else { &[] }
    }
}
