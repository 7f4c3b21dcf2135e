//! Makes a store say what the run says now: unchanged sources are kept, grown ones are read from where they ended, others anew.
//!
//! One writer at a time holds `lock`. Segments are built aside, made durable and renamed into place; only then is the manifest replaced. A kill at any
//! moment leaves the old manifest with all its segments, or the new one with all of its own.

use std::fs::{File, TryLockError};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use corr_parsers::record;
use rayon::prelude::*;

use super::manifest::{ClockEntry, Entry, FILE, Manifest, ManifestError, Other, SegmentRef};
use super::segment::{self, BuildError, Part, SegmentMeta};
use super::text;
use crate::run::bytes::{self, Bytes};
use crate::run::events::{self, Start};
use crate::run::source::{Class, NotRead, Source};
use crate::run::timing::Timing;
use crate::run::{Run, discover};

/// Bytes of a source that one segment covers, about.
pub const PART: usize = 128 << 20;

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
    /// The total number of bytes that will be read, as soon as it is known.
    fn total(&self, bytes: u64);
    /// More bytes were read. `Break` cancels the update.
    fn advance(&self, bytes: u64) -> ControlFlow<()>;
}

struct Plan {
    entry: Entry,
    bytes: Option<Bytes>,
    /// Where new segments begin; `None`: nothing to build.
    from: Option<Start>,
    what: What,
    timing: Option<Timing>,
}

#[derive(Clone, Copy, PartialEq)]
enum What {
    Kept,
    Grown,
    Built,
}

/// Brings the store in `dir` up to date with a run.
pub fn update(dir: &Path, run: &Run, options: UpdateOptions, progress: &dyn Progress) -> Result<Report, UpdateError> {
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |error| UpdateError::Io { path, error }
    };
    std::fs::create_dir_all(dir).map_err(failed(dir))?;
    let _lock = lock(dir)?;
    let mut report = Report::default();
    let old = match Manifest::read(dir) {
        Ok(_) if options.rebuild => Manifest::empty(),
        Ok(old) => old,
        Err(ManifestError::None(_)) => Manifest::empty(),
        Err(error) => {
            report.notes.push(format!("{error}: made anew"));
            Manifest::empty()
        }
    };
    clean(dir, &old);
    let event_sources: Vec<&Source> = run.sources.iter().filter(|s| s.class == Class::Events).collect();
    let mut plans = Vec::new();
    for source in event_sources {
        match plan(source, &old, dir, options) {
            Ok(plan) => plans.push((source, plan)),
            Err(error) => report.failures.push(discover::unreadable(source.name.clone(), &error)),
        }
    }
    let parts: Vec<(usize, Start, usize)> = plans.iter().enumerate().flat_map(|(i, (_, p))| cut(i, p)).collect();
    progress.total(parts.iter().map(|(_, start, end)| (end - start.offset) as u64).sum());
    let number = AtomicU64::new(0);
    let generation = old.generation + 1;
    let built: Mutex<Vec<(usize, SegmentRef, SegmentMeta)>> = Mutex::new(Vec::new());
    let build = |(i, start, end): &(usize, Start, usize)| -> Result<(), UpdateError> {
        let (_, plan) = &plans[*i];
        let Some(bytes) = &plan.bytes else { return Ok(()) };
        let n = number.fetch_add(1, Ordering::Relaxed);
        let (aside, name) = (dir.join(format!("new-{n}")), format!("seg-{generation}-{n}"));
        let (Some(layout), Some(timing)) = (plan.entry.layout(), &plan.timing) else { return Ok(()) };
        let part = Part { bytes, layout: &layout, timing, start: *start, end: *end };
        let meta = segment::build(&aside, &part, &|n| progress.advance(n))?;
        if plan.entry.embedded {
            text::write(&aside.join(text::FILE), &part).map_err(failed(&aside))?;
        }
        let place = dir.join(&name);
        std::fs::rename(&aside, &place).map_err(failed(&place))?;
        let reference = SegmentRef {
            dir: name,
            from: meta.from,
            to: meta.to,
            rows: meta.rows,
            first: meta.first,
            last: meta.last,
            hash: meta.hash.clone(),
            hashed_to: meta.to,
        };
        if let Ok(mut built) = built.lock() {
            built.push((*i, reference, meta));
        }
        Ok(())
    };
    parts.par_iter().with_max_len(1).try_for_each(build)?;
    let mut built = built.into_inner().unwrap_or_default();
    built.sort_by_key(|(i, r, _)| (*i, r.from));
    let mut new = Manifest { generation, declared: run.declared.fingerprint.clone(), ..Manifest::empty() };
    for (i, (source, plan)) in plans.into_iter().enumerate() {
        match plan.what {
            What::Kept => report.kept += 1,
            What::Grown => report.grown += 1,
            What::Built => report.built += 1,
        }
        let mut entry = plan.entry;
        for (_, reference, _) in built.iter().filter(|b| b.0 == i) {
            report.bytes += reference.to - reference.from;
            entry.segments.push(reference.clone());
        }
        if let Some(damage) = &entry.damage {
            let next = "what was read before the break is indexed; copy the file again for the rest".into();
            report.failures.push(NotRead { name: source.name.clone(), why: damage.clone(), next, failure: true });
        }
        report.records += entry.segments.iter().map(|s| u64::from(s.rows)).sum::<u64>();
        report.covered += entry.size;
        new.sources.insert(source.key.clone(), entry);
    }
    for source in run.sources.iter().filter(|s| s.class != Class::Events) {
        new.others.insert(source.key.clone(), Other { stat: source.stat, class: source.class.clone() });
    }
    report.removed = old.sources.keys().filter(|k| !new.sources.contains_key(*k)).count();
    File::open(dir).and_then(|d| d.sync_all()).map_err(failed(dir))?;
    new.publish(dir).map_err(failed(&dir.join(FILE)))?;
    clean(dir, &new);
    report.size =
        walkdir::WalkDir::new(dir).into_iter().flatten().filter_map(|e| e.metadata().ok()).filter(|m| m.is_file()).map(|m| m.len()).sum();
    Ok(report)
}

/// Takes the writer's lock, which the system gives back when this process ends, however it ends.
fn lock(dir: &Path) -> Result<File, UpdateError> {
    let path = dir.join("lock");
    let file = File::create(&path).map_err(|error| UpdateError::Io { path: path.display().to_string(), error })?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(UpdateError::Locked(dir.display().to_string())),
        Err(TryLockError::Error(error)) => Err(UpdateError::Io { path: path.display().to_string(), error }),
    }
}

/// Removes what no manifest names: segments of older generations and what a killed writer left. Readers that hold files of them open keep them.
fn clean(dir: &Path, manifest: &Manifest) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let named = manifest.sources.values().any(|s| s.segments.iter().any(|r| r.dir == name));
        let ours = name.starts_with("seg-") || name.starts_with("new-");
        if ours && !named {
            // What cannot be removed now is tried again by the next writer.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Decides what of a source's old segments can stay.
fn plan(source: &Source, old: &Manifest, dir: &Path, options: UpdateOptions) -> io::Result<Plan> {
    let embed = options.embed_text || source.path.as_os_str() == "-";
    let old = old.sources.get(&source.key).filter(|o| reads_alike(o, source) && (o.embedded || !embed) && whole(dir, o));
    if let Some(old) = old
        && old.stat == source.stat
    {
        let entry = Entry { owner: source.owner.clone(), ..old.clone() };
        return Ok(Plan { entry, bytes: None, from: None, what: What::Kept, timing: None });
    }
    let opened = bytes::open(&source.path)?;
    let mut entry = Entry::of(source, opened.bytes.len() as u64);
    entry.damage = opened.damage.clone();
    entry.embedded = embed;
    if let Some(old) = old
        && let Some(kept) = still_true(old, &opened.bytes)
    {
        entry.embedded = old.embedded;
        entry.segments = kept;
        if old.size == opened.bytes.len() as u64 {
            return Ok(Plan { entry, bytes: None, from: None, what: What::Kept, timing: None });
        }
        let timing = timing_of(&entry, &opened.bytes);
        let from = reopen_last(&mut entry, &opened.bytes, old.size, timing.as_ref());
        return Ok(Plan { entry, bytes: Some(opened.bytes), from: Some(from), what: What::Grown, timing });
    }
    let from = (!opened.bytes.is_empty()).then(Start::of_source);
    let timing = timing_of(&entry, &opened.bytes);
    Ok(Plan { entry, bytes: Some(opened.bytes), from, what: What::Built, timing })
}

/// How the stamps of an entry's bytes are placed.
fn timing_of(entry: &Entry, bytes: &[u8]) -> Option<Timing> {
    let (layout, clock) = (entry.layout()?, entry.clock.clock()?);
    Some(Timing::of(bytes, &layout, &clock))
}

/// Would the source be read now as it was read then?
pub fn reads_alike(old: &Entry, source: &Source) -> bool {
    let now = Entry::of(source, old.size);
    let clock = |c: &ClockEntry| (c.rule.clone(), c.last_year);
    let main = |e: &Entry| (e.envelope.clone(), e.document, e.formats.first().cloned());
    main(&now) == main(old) && clock(&now.clock) == clock(&old.clock) && old.layout().is_some()
}

/// Are all segment directories there?
fn whole(dir: &Path, entry: &Entry) -> bool {
    entry.segments.iter().all(|s| dir.join(&s.dir).join("segment.json").is_file())
}

/// The old segments, if the source still begins with the very bytes that they were built from.
fn still_true(old: &Entry, bytes: &[u8]) -> Option<Vec<SegmentRef>> {
    if old.size > bytes.len() as u64 || old.document && old.size != bytes.len() as u64 {
        return None;
    }
    let same = |s: &SegmentRef| {
        let part = bytes.get(s.from as usize..s.hashed_to as usize)?;
        (blake3::hash(part).to_hex().as_str() == s.hash).then_some(())
    };
    old.segments.iter().map(same).collect::<Option<Vec<()>>>()?;
    Some(old.segments.clone())
}

/// Takes the last record out of the last segment, since lines that came later may belong to it, and says where to read on.
fn reopen_last(entry: &mut Entry, bytes: &[u8], old_size: u64, timing: Option<&Timing>) -> Start {
    let (Some(layout), Some(timing)) = (entry.layout(), timing) else { return Start::of_source() };
    if old_size == 0 || entry.segments.is_empty() {
        entry.segments.clear();
        return Start::of_source();
    }
    // The record that held the last old byte, as the old reader saw it: the new bytes must not be looked at.
    let old = &bytes[..old_size as usize];
    let offset = record::record_start(old, old.len() - 1, &layout);
    if let Some(last) = entry.segments.last_mut() {
        last.to = offset as u64;
        last.rows = last.rows.saturating_sub(1);
    }
    if entry.segments.last().is_some_and(|s| s.rows == 0) {
        entry.segments.pop();
    }
    let line = 1 + events::count_lines(&bytes[..offset]);
    Start { offset, line, order: events::order_before(bytes, &layout, timing, offset) }
}

/// Cuts what is to be built of a source into parts at record starts.
fn cut(i: usize, plan: &Plan) -> Vec<(usize, Start, usize)> {
    let (Some(bytes), Some(first)) = (&plan.bytes, plan.from) else { return Vec::new() };
    let (Some(layout), Some(timing)) = (plan.entry.layout(), &plan.timing) else { return Vec::new() };
    let mut parts = Vec::new();
    let mut start = first;
    while start.offset < bytes.len() {
        let mut end = bytes.len();
        if !layout.document && bytes.len() - start.offset > PART + PART / 2 {
            end = record::record_start(bytes, start.offset + PART, &layout);
            if end <= start.offset {
                end = bytes.len();
            }
        }
        parts.push((i, start, end));
        if end >= bytes.len() {
            break;
        }
        let line = start.line + events::count_lines(&bytes[start.offset..end]);
        start = Start { offset: end, line, order: events::order_before(bytes, &layout, timing, end) };
    }
    parts
}
