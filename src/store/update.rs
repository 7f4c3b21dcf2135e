//! Makes a store say what the run says now: unchanged sources are kept, grown ones are read from where they ended, others anew.
//!
//! One writer at a time holds `lock`. Segments are built aside, made durable and renamed into place under names that were never used; only then is
//! the manifest replaced, and only after that are segments removed that no manifest names. A kill at any moment leaves the old manifest with all
//! its segments, or the new one with all of its own.

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use corr_metrics::layouts::Set;
use corr_parsers::declared::definition;
use corr_parsers::record::{self, Layout};
use rayon::prelude::*;

use super::captures::{self, KeptSet};
use super::manifest::{ClockEntry, Entry, FILE, Manifest, ManifestError, Other, SegmentRef};
use super::segment::{self, BuildError, Part};
use super::{reopen, text};
use crate::run::bytes::{self, Compression};
use crate::run::events::{self, Start};
use crate::run::source::{Class, NotRead, Source};
use crate::run::timing::Timing;
use crate::run::{Run, discover};

/// Bytes of a source that one segment covers, about.
pub const PART: usize = 128 << 20;

/// In a run of more than [`MANY`] sources smaller ones get no segments: they are read sooner than an index of them is opened.
const SMALL: usize = 4 << 10;
const MANY: usize = 64;

/// What a store could not be updated for.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    #[error("{path}: {error}")]
    Io { path: String, error: io::Error },
    #[error("another `corr index` is writing {0}; wait for it to end")]
    Locked(String),
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// What is to be done beside indexing what has changed.
#[derive(Clone, Copy, Debug, Default)]
pub struct UpdateOptions {
    /// Keep every source's text in the store (bodies masked), so that the store can be moved without its sources.
    pub embed_text: bool,
    /// Reuse nothing.
    pub rebuild: bool,
}

/// What an update did.
#[derive(Debug, Default)]
pub struct Report {
    /// Sources by what was done with them.
    pub kept: usize,
    pub grown: usize,
    pub built: usize,
    pub removed: usize,
    /// Sets of files whose metric captures are in the store, and how many of them were read now.
    pub captures: usize,
    pub captures_read: usize,
    /// Bytes of (decompressed) source that were read into new segments.
    pub bytes: u64,
    /// Records in the store now.
    pub records: u64,
    /// Bytes of source that the store answers for now.
    pub covered: u64,
    /// Bytes that the store takes on disk now.
    pub size: u64,
    /// Lines for the user: an old index that was rebuilt, a source that could not be read whole.
    pub notes: Vec<String>,
    /// Sources that could not be read or not read whole.
    pub failures: Vec<NotRead>,
}

/// Tells how far an update is; may be called from several threads.
pub trait Progress: Sync {
    /// About how many bytes will be read, as soon as it is known.
    fn total(&self, bytes: u64);
    /// More bytes were read. `Break` cancels the update.
    fn advance(&self, bytes: u64) -> ControlFlow<()>;
}

#[derive(Clone, Copy, PartialEq)]
enum What {
    Kept,
    Grown,
    Built,
}

/// One source, brought up to date.
struct Done {
    entry: Entry,
    what: What,
    bytes: u64,
}

/// What a source's task works with.
struct Task<'t> {
    dir: &'t Path,
    old: &'t Manifest,
    options: UpdateOptions,
    generation: u64,
    /// The run has so many sources that small ones get no segments.
    many: bool,
    number: &'t AtomicU64,
    progress: &'t dyn Progress,
}

/// Brings the store in `dir` up to date with a run.
pub fn update(dir: &Path, run: &Run, options: UpdateOptions, progress: &dyn Progress) -> Result<Report, UpdateError> {
    std::fs::create_dir_all(dir).map_err(io_error(dir))?;
    let _lock = lock(dir)?;
    let mut report = Report::default();
    let on_disk = match Manifest::read(dir) {
        Ok(old) => old,
        Err(ManifestError::None(_)) => Manifest::empty(),
        Err(error) => {
            report.notes.push(format!("{error}: made anew"));
            Manifest::empty()
        }
    };
    // What is on disk stays until the new manifest stands, reused or not.
    clean(dir, &on_disk);
    let nothing = Manifest::empty();
    let old = if options.rebuild { &nothing } else { &on_disk };
    let event_sources: Vec<&Source> = run.sources.iter().filter(|s| s.class == Class::Events).collect();
    let to_read = event_sources.iter().filter(|s| old.sources.get(&s.key).is_none_or(|o| !o.unchanged(&s.stat)));
    let sets: Vec<ToKeep<'_>> = crate::run::captures::sets(run)
        .map(|(layout, set)| ToKeep { layout, set, bytes: captures::to_read(old.kept_captures(), layout, set) })
        .collect();
    progress.total(to_read.map(|s| s.stat.size).sum::<u64>() + sets.iter().map(|set| set.bytes).sum::<u64>());
    let task = Task {
        dir,
        old,
        options,
        generation: generation(dir, &on_disk) + 1,
        many: event_sources.len() > MANY,
        number: &AtomicU64::new(0),
        progress,
    };
    // Sources and their parts are spread over the threads; a source's bytes are let go when it is done, so that memory does not grow with their number.
    let done: Vec<Result<Result<Done, io::Error>, UpdateError>> =
        event_sources.par_iter().with_max_len(1).map(|source| source_task(&task, source)).collect();
    let mut new = Manifest {
        generation: task.generation,
        declared: run.declared.fingerprint.clone(),
        definitions: run.declared.formats().iter().filter_map(|f| definition(f).cloned()).collect(),
        ..Manifest::empty()
    };
    for (source, done) in event_sources.iter().zip(done) {
        let done = match done? {
            Ok(done) => done,
            Err(error) => {
                report.failures.push(discover::unreadable(source.name.clone(), &error));
                continue;
            }
        };
        match done.what {
            What::Kept => report.kept += 1,
            What::Grown => report.grown += 1,
            What::Built => report.built += 1,
        }
        if let Some(damage) = &done.entry.damage {
            let next = "what was read before the break is indexed; copy the file again for the rest".into();
            report.failures.push(NotRead { name: source.name.clone(), why: damage.clone(), next, failure: true });
        }
        report.bytes += done.bytes;
        report.records += done.entry.segments.iter().map(|s| u64::from(s.rows)).sum::<u64>();
        report.covered += done.entry.size;
        new.sources.insert(source.key.clone(), done.entry);
    }
    for source in run.sources.iter().filter(|s| s.class != Class::Events) {
        new.others.insert(source.key.clone(), Other { stat: source.stat, class: source.class.clone() });
    }
    new.captures = keep_captures(&task, &sets, &mut report)?;
    report.removed = on_disk.sources.keys().filter(|k| !new.sources.contains_key(*k)).count();
    make_durable(dir, &new).map_err(io_error(dir))?;
    new.publish(dir).map_err(io_error(&dir.join(FILE)))?;
    clean(dir, &new);
    report.size =
        walkdir::WalkDir::new(dir).into_iter().flatten().filter_map(|e| e.metadata().ok()).filter(|m| m.is_file()).map(|m| m.len()).sum();
    Ok(report)
}

/// A set of capture files.
struct ToKeep<'r> {
    layout: &'static str,
    set: &'r Set,
    /// So many are read; 0 where what is kept still holds.
    bytes: u64,
}

/// Brings the metric captures up to date.
fn keep_captures(task: &Task<'_>, sets: &[ToKeep<'_>], report: &mut Report) -> Result<Vec<KeptSet>, UpdateError> {
    crate::run::captures::hold(sets.len());
    let old = task.old.kept_captures();
    let update = |ToKeep { layout, set, bytes }: &ToKeep<'_>| {
        let n = task.number.fetch_add(1, Ordering::Relaxed);
        let (aside, place) = (format!("new-{n}"), format!("cap-{}-{n}", task.generation));
        let done = captures::update(task.dir, old, layout, set, (&aside, &place)).map_err(io_error(&task.dir.join(place)))?;
        match task.progress.advance(*bytes) {
            ControlFlow::Break(()) => Err(UpdateError::Build(BuildError::Cancelled)),
            ControlFlow::Continue(()) => Ok(done),
        }
    };
    let done: Vec<Result<captures::Done, UpdateError>> = sets.par_iter().with_max_len(1).map(update).collect();
    let mut kept = Vec::new();
    for done in done {
        match done? {
            captures::Done::Left(note) => report.notes.extend(note),
            captures::Done::Kept(set) => kept.push(set),
            captures::Done::Built(set) => {
                report.captures_read += 1;
                report.bytes += set.parts.iter().map(|p| p.stat.size).sum::<u64>();
                kept.push(set);
            }
        }
    }
    report.captures = kept.len();
    report.covered += kept.iter().flat_map(|set| &set.parts).map(|p| p.stat.size).sum::<u64>();
    Ok(kept)
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> UpdateError {
    let path = path.display().to_string();
    move |error| UpdateError::Io { path, error }
}

/// Makes the segments that a manifest names durable before it names them. One sync of the file system, where the system has that: a run of
/// thousands of files would wait minutes for one sync a file.
fn make_durable(dir: &Path, manifest: &Manifest) -> io::Result<()> {
    let store = File::open(dir)?;
    #[cfg(target_os = "linux")]
    {
        let _ = manifest;
        rustix::fs::syncfs(&store)?;
    }
    #[cfg(not(target_os = "linux"))]
    for named in manifest.dirs() {
        for entry in walkdir::WalkDir::new(dir.join(named)).contents_first(true) {
            File::open(entry.map_err(io::Error::from)?.path())?.sync_all()?;
        }
    }
    store.sync_all()
}

/// Takes the writer's lock, which the system gives back when this process ends, however it ends.
pub fn lock(dir: &Path) -> Result<File, UpdateError> {
    let path = dir.join("lock");
    let file = File::create(&path).map_err(io_error(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(UpdateError::Locked(dir.display().to_string())),
        Err(TryLockError::Error(error)) => Err(io_error(&path)(error)),
    }
}

/// The highest generation that this directory has seen: by the manifest, and by the names of segments where there is none that can be read.
fn generation(dir: &Path, manifest: &Manifest) -> u64 {
    let Ok(entries) = std::fs::read_dir(dir) else { return manifest.generation };
    let named = entries.flatten().filter_map(|e| generation_of(e.file_name().to_str()?));
    named.max().unwrap_or(0).max(manifest.generation)
}

/// The generation in the name of a segment or of a set's captures.
fn generation_of(name: &str) -> Option<u64> {
    name.strip_prefix("seg-").or_else(|| name.strip_prefix("cap-"))?.split('-').next()?.parse().ok()
}

/// Removes what no manifest names: segments of older generations and what a killed writer left. Readers that hold files of them open keep them.
fn clean(dir: &Path, manifest: &Manifest) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let named: HashSet<&str> = manifest.dirs().collect();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let ours = name.starts_with("seg-") || name.starts_with("cap-") || name.starts_with("new-");
        if ours && !named.contains(name.as_str()) {
            // What cannot be removed now is tried again by the next writer.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Brings one source up to date. The inner error says that the source itself could not be read.
fn source_task(task: &Task<'_>, source: &Source) -> Result<Result<Done, io::Error>, UpdateError> {
    let is_stdin = source.path.as_os_str() == "-";
    let embed = task.options.embed_text || is_stdin || source.compression == Compression::Journal;
    let old = task.old.sources.get(&source.key);
    let old = old.filter(|o| !is_stdin && reads_alike(o, source) && (o.embedded || !embed) && whole(task.dir, o));
    if let Some(old) = old
        && old.unchanged(&source.stat)
    {
        let entry = Entry { owner: source.owner.clone(), clock: ClockEntry::of(&source.clock), ..old.clone() };
        return Ok(Ok(Done { entry, what: What::Kept, bytes: 0 }));
    }
    let opened = match bytes::open(&source.path) {
        Ok(opened) => opened,
        Err(error) => return Ok(Err(error)),
    };
    let bytes = &*opened.bytes;
    let mut entry = Entry::of(source, bytes.len() as u64);
    entry.damage = opened.damage.clone();
    entry.embedded = embed || old.is_some_and(|o| o.embedded);
    let layout = &source.detection.layout;
    let timing = Timing::of(bytes, layout, &source.clock);
    let mut start = Start::of_source();
    let mut what = What::Built;
    if let Some(old) = old
        && let Some((segments, offset)) = reopen::kept(old, layout, bytes)
    {
        entry.segments = segments;
        if offset == bytes.len() {
            return Ok(Ok(Done { entry, what: What::Kept, bytes: 0 }));
        }
        what = What::Grown;
        // Where the last segment that is kept begins is known.
        let (from, line) = entry.segments.last().map_or((0, 1), |s| (s.from as usize, s.first_line));
        let line = line + events::count_lines(&bytes[from..offset]);
        start = Start { offset, line, order: events::order_before(bytes, layout, &timing, offset) };
    }
    if task.many && what == What::Built && bytes.len() < SMALL && !entry.embedded {
        return Ok(Ok(Done { entry, what, bytes: bytes.len() as u64 }));
    }
    let parts = cut(bytes, layout, &timing, start);
    let built =
        parts.par_iter().with_max_len(1).map(|part| part_task(task, part, entry.embedded)).collect::<Result<Vec<SegmentRef>, _>>()?;
    entry.segments.extend(built);
    Ok(Ok(Done { entry, what, bytes: (bytes.len() - start.offset) as u64 }))
}

/// Builds the segment of one part and puts it in its place.
fn part_task(task: &Task<'_>, part: &Part<'_>, embed: bool) -> Result<SegmentRef, UpdateError> {
    let n = task.number.fetch_add(1, Ordering::Relaxed);
    let (aside, name) = (task.dir.join(format!("new-{n}")), format!("seg-{}-{n}", task.generation));
    let meta = segment::build(&aside, part, &|n| task.progress.advance(n))?;
    if embed {
        text::write(&aside.join(text::FILE), part).map_err(io_error(&aside))?;
    }
    let place = task.dir.join(&name);
    std::fs::rename(&aside, &place).map_err(io_error(&place))?;
    Ok(SegmentRef {
        dir: name,
        from: meta.from,
        to: meta.to,
        rows: meta.rows,
        first: meta.first,
        last: meta.last,
        first_line: meta.first_line,
        hash: meta.hash,
        hashed_to: meta.to,
    })
}

/// Would the source be read now as it was read then?
pub fn reads_alike(old: &Entry, source: &Source) -> bool {
    let now = Entry::of(source, old.size);
    let clock = |c: &ClockEntry| (c.rule.clone(), c.last_year);
    let main = |e: &Entry| (e.envelopes.clone(), e.document, e.formats.first().cloned(), e.user_formats.clone());
    main(&now) == main(old) && clock(&now.clock) == clock(&old.clock) && old.layout().is_some()
}

/// Are all segment directories there?
fn whole(dir: &Path, entry: &Entry) -> bool {
    entry.segments.iter().all(|s| dir.join(&s.dir).join("segment.json").is_file())
}

/// Cuts what is to be built of a source into parts at record starts.
pub fn cut<'p>(bytes: &'p [u8], layout: &'p Layout, timing: &'p Timing, first: Start) -> Vec<Part<'p>> {
    let mut spans = Vec::new();
    let mut from = first.offset;
    while from < bytes.len() {
        let mut end = bytes.len();
        if !layout.document && bytes.len() - from > PART + PART / 2 {
            end = record::record_start(bytes, from + PART, layout);
            if end <= from {
                end = bytes.len();
            }
        }
        spans.push(from..end);
        from = end;
    }
    // A later part begins where the lines of those before it are counted.
    let before = &spans[..spans.len().saturating_sub(1)];
    let lines: Vec<u64> = before.par_iter().with_max_len(1).map(|span| events::count_lines(&bytes[span.clone()])).collect();
    let mut parts = Vec::new();
    let mut start = first;
    for (i, span) in spans.iter().enumerate() {
        parts.push(Part { bytes, layout, timing, start, end: span.end });
        let Some(lines) = lines.get(i) else { break };
        let order = events::order_between(bytes, layout, timing, span.start, span.end).or(start.order);
        start = Start { offset: span.end, line: start.line + lines, order };
    }
    parts
}
