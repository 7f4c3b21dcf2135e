//! The sources that a question goes to, each with the index that can answer for it, as far as that is still true.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use corr_parsers::clock::Clock;
use corr_parsers::record::Layout;

use super::phases::{self, Named, Phase};
use super::subject::Facts;
use crate::run::bytes::{self, Bytes, Compression, Opened};
use crate::run::source::{Class, NotRead, Owner, Source};
use crate::run::timing::Timing;
use crate::run::{self, OpenError, Options, Run, discover};
use crate::store::manifest::{Entry, Manifest, ManifestError};
use crate::store::open::{Segment, StoreError};
use crate::store::{place, reopen};

/// A source as a question sees it.
pub struct Asked {
    pub name: String,
    pub key: String,
    pub path: PathBuf,
    pub compression: Compression,
    pub format: &'static str,
    pub owner: Owner,
    pub layout: Layout,
    pub clock: Clock,
    timing: OnceLock<Timing>,
    /// First and last stamp, once they were looked for.
    pub(super) extent: OnceLock<(Option<i64>, Option<i64>)>,
    /// Segments that still say what the source says, in source order; empty if it is to be scanned.
    pub segments: Vec<Segment>,
    /// Bytes of the source that the segments answer for; what lies behind is scanned.
    pub indexed_to: usize,
    /// The source is longer than what was indexed of it.
    grew: bool,
    /// The source has no index, or one that is no longer true.
    pub unindexed: bool,
    /// The bytes are the store's: what is withheld is overwritten in them.
    pub masked: bool,
    opened: OnceLock<Result<Opened, String>>,
}

/// Everything that a question goes to.
pub struct Sources {
    pub root: PathBuf,
    pub sources: Vec<Asked>,
    pub not_read: Vec<NotRead>,
    pub declared: run::declared::Declared,
    /// Lines for stderr: what of an index could not be used.
    pub notes: Vec<String>,
    /// Metric and configuration files are not asked; how many there are.
    pub others: usize,
    /// The windows that records name, where these are elsewhere.
    pub named: Option<Named>,
}

impl Sources {
    /// The windows that records name.
    pub fn phases(&self) -> Vec<Phase> {
        self.named.as_ref().map_or_else(|| phases::all(&self.sources), |named| named.phases.clone())
    }
}

/// Why there is nothing to ask.
#[derive(Debug, thiserror::Error)]
pub enum SourcesError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Asked {
    fn scanned(source: &Source) -> Asked {
        Asked {
            name: source.name.clone(),
            key: source.key.clone(),
            path: source.path.clone(),
            compression: source.compression,
            format: source.format(),
            owner: source.owner.clone(),
            layout: source.detection.layout.clone(),
            clock: source.clock.clone(),
            timing: OnceLock::new(),
            extent: OnceLock::new(),
            segments: Vec::new(),
            indexed_to: 0,
            grew: false,
            unindexed: true,
            opened: OnceLock::new(),
            masked: false,
        }
    }

    fn indexed(store: &Path, name: &str, key: &str, path: &Path, entry: &Entry) -> Option<Asked> {
        let detection = entry.detection()?;
        Some(Asked {
            name: name.to_string(),
            key: key.to_string(),
            path: path.to_path_buf(),
            compression: entry.compression,
            format: detection.formats.first().map_or("text", |s| s.name),
            owner: entry.owner.clone(),
            layout: detection.layout,
            clock: entry.clock.clock()?,
            timing: OnceLock::new(),
            extent: OnceLock::new(),
            segments: entry.segments.iter().map(|s| Segment::new(store, s)).collect(),
            indexed_to: entry.size as usize,
            grew: false,
            unindexed: false,
            opened: OnceLock::new(),
            masked: false,
        })
    }

    /// One whose records are elsewhere: what is known of it, and no bytes.
    #[cfg(feature = "cluster")]
    pub fn elsewhere(name: String, key: String, format: &'static str, owner: Owner, extent: (Option<i64>, Option<i64>)) -> Asked {
        Asked {
            path: PathBuf::from(&name),
            name,
            key,
            compression: Compression::None,
            format,
            owner,
            layout: Layout::default(),
            clock: Clock::assumed(),
            timing: OnceLock::new(),
            extent: OnceLock::from(extent),
            segments: Vec::new(),
            indexed_to: 0,
            grew: false,
            unindexed: true,
            masked: false,
            opened: OnceLock::from(Err("its records are elsewhere".to_string())),
        }
    }

    /// The source's bytes, opened when they are first asked for.
    pub fn bytes(&self) -> Result<&[u8], &str> {
        self.opened().map(|o| &*o.bytes)
    }

    /// What was wrong with the bytes when they were opened: a stream that breaks off.
    pub fn damage(&self) -> Option<&str> {
        self.opened.get()?.as_ref().ok()?.damage.as_deref()
    }

    fn opened(&self) -> Result<&Opened, &str> {
        let opened = self.opened.get_or_init(|| {
            if self.masked {
                return self.embedded_text().map_err(|e| e.to_string());
            }
            bytes::open(&self.path).map_err(|e| e.to_string())
        });
        opened.as_ref().map_err(String::as_str)
    }

    /// Something stands behind what the segments answer for.
    pub fn needs_tail(&self) -> bool {
        self.grew
    }

    fn embedded_text(&self) -> Result<Opened, StoreError> {
        let mut text = Vec::new();
        for segment in &self.segments {
            text.truncate(segment.reference.from as usize);
            text.extend_from_slice(&segment.text()?);
        }
        Ok(Opened { bytes: Bytes::Held(text), compression: Compression::None, damage: None })
    }

    /// How its stamps are put on the time axis; needs the bytes only where stamps lack a year or the zone has folds.
    pub fn timing(&self) -> &Timing {
        self.timing.get_or_init(|| {
            if !Timing::needs_pass(&self.layout, &self.clock) {
                return Timing::plain(self.clock.clone());
            }
            match self.bytes() {
                Ok(bytes) => Timing::of(bytes, &self.layout, &self.clock),
                Err(_) => Timing::plain(self.clock.clone()),
            }
        })
    }

    /// What a query can ask of the source itself.
    pub fn facts(&self) -> Facts<'_> {
        fn known(fact: &Option<String>) -> &str {
            fact.as_deref().unwrap_or("")
        }
        Facts {
            source: &self.key,
            worker: known(&self.owner.worker),
            role: known(&self.owner.role),
            host: known(&self.owner.host),
            unit: known(&self.owner.unit),
            format: self.format,
        }
    }
}

/// Opens a run, and finds its sources and what of its index can be used. Of a store that was moved without its run only the sources are left.
pub fn run(arguments: &[String], options: &Options, store: Option<&Path>) -> Result<(Run, Sources), SourcesError> {
    let run = looked_into(arguments, options, store)?;
    let sources = of(&run, options, store)?;
    Ok((run, sources))
}

/// Opens a run; one without files where its store was moved without it.
pub fn looked_into(arguments: &[String], options: &Options, store: Option<&Path>) -> Result<Run, OpenError> {
    if moved(arguments, store).is_some() { Ok(Run::gone(arguments)) } else { run::open(arguments, options) }
}

/// The files of a run; none where its store was moved without it.
pub fn files(arguments: &[String], store: Option<&Path>) -> Result<discover::Listing, OpenError> {
    if moved(arguments, store).is_some() { Ok(discover::Listing::default()) } else { Ok(run::list(arguments)?.0) }
}

/// A store that was moved without its run is asked alone.
fn moved<'s>(arguments: &[String], store: Option<&'s Path>) -> Option<(&'s Path, Manifest)> {
    let dir = store.filter(|_| arguments.iter().all(|a| a != "-" && !Path::new(a).exists()))?;
    Some((dir, Manifest::read(dir).ok()?))
}

/// Finds the sources of a run and what of its index can be used.
pub fn open(arguments: &[String], options: &Options, store: Option<&Path>) -> Result<Sources, SourcesError> {
    let looked = OnceCell::new();
    find(arguments, options, store, &|| match looked.get() {
        Some(run) => Ok(run),
        None => {
            let run = run::open(arguments, options)?;
            Ok(looked.get_or_init(|| run))
        }
    })
}

/// The same of a run that is open already: its files are not looked into once more.
pub fn of(run: &Run, options: &Options, store: Option<&Path>) -> Result<Sources, SourcesError> {
    find(&run.arguments, options, store, &|| Ok(run))
}

/// The same of a run that is opened by `run` if its index does not say all: who asks more of it opens it once.
pub fn find<'r>(
    arguments: &[String],
    options: &Options,
    store: Option<&Path>,
    run: &dyn Fn() -> Result<&'r Run, SourcesError>,
) -> Result<Sources, SourcesError> {
    let mut notes = Vec::new();
    if let Some((dir, manifest)) = moved(arguments, store) {
        return Ok(alone(arguments, dir, &manifest));
    }
    let (listing, declared) = run::list(arguments)?;
    let root = listing.root.clone().unwrap_or_default();
    let dir = place::find(&root, listing.is_directory, arguments, store);
    let manifest = match dir.as_deref().map(Manifest::read) {
        None | Some(Err(ManifestError::None(_))) => None,
        Some(Ok(manifest)) => Some(manifest),
        Some(Err(error)) => {
            notes.push(error.to_string());
            None
        }
    };
    let (Some(dir), Some(manifest)) = (dir, manifest) else {
        return Ok(from_run(run()?, notes));
    };
    let plain = options.tz.is_empty() && options.format_of.is_empty() && manifest.declared == declared.fingerprint;
    let known =
        |f: &discover::Found| manifest.sources.contains_key(&f.key) || manifest.others.get(&f.key).is_some_and(|o| o.stat == f.stat);
    let fresh = listing.files.iter().filter(|f| !known(f)).count();
    // Files that the index has not seen, or other declarations, need the whole run looked at: clocks are found across sources.
    let looked = if plain && fresh == 0 { None } else { Some(run()?) };
    let mut sources = Vec::new();
    let mut not_read = listing.not_read.clone();
    let mut damages = Vec::new();
    let mut others = 0;
    let mut gone_stale = 0;
    let mut from_store = Vec::new();
    let by_key: HashMap<&str, &Source> =
        looked.map(|run| run.sources.iter().rev().map(|source| (source.key.as_str(), source)).collect()).unwrap_or_default();
    for found in &listing.files {
        let source = by_key.get(found.key.as_str()).copied();
        let entry = manifest.sources.get(&found.key);
        // Standard input is never what an index was made of.
        let usable = entry.filter(|e| found.key != "-" && source.is_none_or(|s| crate::store::update::reads_alike(e, s)));
        if let Some(entry) = usable
            && let Some(mut asked) = Asked::indexed(&dir, &found.name, &found.key, &found.path, entry)
        {
            if entry.segments.is_empty() {
                // Too small for segments: it is read whole.
                asked.indexed_to = 0;
                asked.grew = true;
            } else if !entry.unchanged(&found.stat) {
                match bytes::open(&asked.path) {
                    // The journal is as it was, but cannot be read any more.
                    Err(_) if entry.stat == found.stat && entry.embedded => {
                        asked.masked = true;
                        from_store.push(found.name.clone());
                    }
                    Ok(opened) if still_true(&dir, &mut asked, entry, &opened) => {}
                    _ => {
                        gone_stale += 1;
                        asked.segments.clear();
                        asked.indexed_to = 0;
                        asked.unindexed = true;
                    }
                }
            }
            if let Some(source) = source {
                // Who a source belongs to can be declared after it was indexed.
                asked.owner = source.owner.clone();
                asked.clock = source.clock.clone();
            }
            if let Some(damage) = &entry.damage {
                damages.push(damaged(&found.name, damage));
            }
            sources.push(asked);
            continue;
        }
        match source {
            Some(source) if source.class == Class::Events => sources.push(Asked::scanned(source)),
            Some(_) => others += 1,
            None if manifest.others.contains_key(&found.key) => others += 1,
            None => {}
        }
    }
    if let Some(looked) = looked {
        not_read.clone_from(&looked.not_read);
    }
    not_read.retain(|n| !from_store.contains(&n.name));
    for name in from_store {
        notes.push(format!("{name}: no journalctl reads it now; answered from the text in the store, in which bodies are masked"));
    }
    not_read.extend(damages);
    if gone_stale > 0 {
        let have = if gone_stale == 1 { "source has" } else { "sources have" };
        notes.push(format!("{gone_stale} indexed {have} changed since; read without the index"));
    }
    Ok(Sources { root, sources, not_read, declared, notes, others, named: None })
}

fn damaged(name: &str, damage: &str) -> NotRead {
    let next = "what was read before the break is answered; copy the file again for the rest".into();
    NotRead { name: name.to_string(), why: damage.to_string(), next, failure: true }
}

/// The file's facts are not those of the index: does the file still begin with what was indexed?
fn still_true(store: &Path, asked: &mut Asked, entry: &Entry, opened: &Opened) -> bool {
    let Some((segments, indexed_to)) = reopen::kept(entry, &asked.layout, &opened.bytes) else { return false };
    asked.segments = segments.iter().map(|s| Segment::new(store, s)).collect();
    asked.indexed_to = indexed_to;
    asked.grew = indexed_to < opened.bytes.len();
    true
}

fn from_run(run: &Run, notes: Vec<String>) -> Sources {
    let mut sources = Vec::new();
    let mut others = 0;
    for source in &run.sources {
        if source.class == Class::Events {
            sources.push(Asked::scanned(source));
        } else {
            others += 1;
        }
    }
    Sources { root: run.root.clone(), sources, not_read: run.not_read.clone(), declared: run.declared.clone(), notes, others, named: None }
}

/// A store whose run is not there: only what it embeds can be read.
fn alone(arguments: &[String], dir: &Path, manifest: &Manifest) -> Sources {
    let root = PathBuf::from(arguments.first().map_or("", String::as_str));
    let mut sources = Vec::new();
    let mut not_read = Vec::new();
    for definition in &manifest.definitions {
        // One that this corr refuses leaves its sources unread, which is said below.
        let _ = corr_parsers::declared::load(definition);
    }
    for (key, entry) in &manifest.sources {
        let path = root.join(key);
        let name = path.display().to_string();
        if !entry.embedded {
            let next = "index with `--embed-text` to move a store without its sources".into();
            not_read.push(NotRead { name, why: "the source is gone and its text is not in the store".into(), next, failure: true });
            continue;
        }
        match Asked::indexed(dir, &name, key, &path, entry) {
            Some(asked) => sources.push(Asked { masked: true, ..asked }),
            None => {
                let next = "index the run again with this corr".into();
                not_read.push(NotRead { name, why: "the store names a format that this corr does not have".into(), next, failure: true });
            }
        }
    }
    let mut notes = vec!["the run is not there: answered from the text in the store, in which bodies are masked".to_string()];
    if !manifest.captures.is_empty() {
        notes.push("its metric captures are not asked: which files they are of is known where the run is".into());
    }
    Sources { root, sources, not_read, declared: run::declared::Declared::default(), notes, others: manifest.others.len(), named: None }
}
