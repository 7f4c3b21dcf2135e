//! What a store holds: one JSON file that is replaced whole, so that a reader sees the old store or the new one and nothing between.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use corr_metrics::READER_VERSION;
use corr_parsers::clock::{Clock, How, read_rule};
use corr_parsers::declared::{self, Definition};
use corr_parsers::detect::{Detection, Score};
use corr_parsers::format::Format;
use corr_parsers::record::Layout;
use corr_parsers::{ENVELOPES, FORMATS, PARSER_VERSION};
use serde::{Deserialize, Serialize};

use super::captures::KeptSet;
use crate::run::bytes::Compression;
use crate::run::formats::fingerprint;
use crate::run::journal;
use crate::run::source::{Class, Owner, Source, Stat};

/// Changes whenever the files of a store change their meaning; a store of another version is rebuilt.
pub const STORE_VERSION: u32 = 7;

/// The manifest's file name inside the store's directory.
pub const FILE: &str = "manifest.json";

/// Why a store cannot be used as it is.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    #[error("no index at {0}")]
    None(String),
    #[error("{path}: {error}")]
    Io { path: String, error: io::Error },
    #[error("{path} is damaged ({error}); `corr index` makes it anew")]
    Damaged { path: String, error: serde_json::Error },
    #[error("{path} was made by another version of corr; `corr index` makes it anew")]
    Version { path: String },
}

/// The contents of a store.
#[derive(Debug, Serialize, Deserialize)]
pub struct Manifest {
    pub store_version: u32,
    pub parser_version: u32,
    /// Rises by one with every publication.
    pub generation: u64,
    /// Fingerprint of the `corr.toml` that the sources were read under.
    pub declared: String,
    /// Event sources by key.
    pub sources: BTreeMap<String, Entry>,
    /// Everything else that was found and looked into, so that it need not be looked into again.
    pub others: BTreeMap<String, Other>,
    /// The formats that users declared, for a store that is asked without its run.
    #[serde(default)]
    pub definitions: Vec<Definition>,
    /// The readers of metrics that made `captures`.
    pub metrics_version: u32,
    /// Metric captures, by their sets of files.
    pub captures: Vec<KeptSet>,
}

/// An indexed source.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    pub stat: Stat,
    pub compression: Compression,
    /// The journalctl that read it: another one may write other bytes of the same journal.
    #[serde(default)]
    pub read_by: Option<String>,
    /// Outermost first.
    pub envelopes: Vec<String>,
    pub formats: Vec<String>,
    /// Which of them users declared, with the hash of the definition.
    #[serde(default)]
    pub user_formats: BTreeMap<String, String>,
    pub document: bool,
    pub scores: Vec<ScoreEntry>,
    pub envelope_scores: Vec<ScoreEntry>,
    pub sampled: usize,
    pub owner: Owner,
    pub clock: ClockEntry,
    /// Bytes of the decompressed source that the segments cover.
    pub size: u64,
    pub segments: Vec<SegmentRef>,
    pub damage: Option<String>,
    /// The masked text of the source is in the store: asked for, or because the source is a journal or standard input.
    pub embedded: bool,
}

/// A score of detection: name, share, reason and depth.
type ScoreEntry = (String, f64, String, usize);

/// A file that is no event source.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Other {
    pub stat: Stat,
    pub class: Class,
}

/// A segment that belongs to a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentRef {
    /// Directory name inside the store.
    pub dir: String,
    /// Bytes of the decompressed source that it answers for, half open. The end may be below the segment's own when its last record grew.
    pub from: u64,
    pub to: u64,
    /// Rows it answers for, from the first.
    pub rows: u32,
    /// Earliest start and latest end of its stamps.
    pub first: Option<i64>,
    pub last: Option<i64>,
    /// Number of its first record's first line, 1-based.
    pub first_line: u64,
    /// Digest of its bytes as built.
    pub hash: String,
    /// End of the bytes that `hash` covers.
    pub hashed_to: u64,
}

/// A clock as it is written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockEntry {
    pub rule: String,
    pub how: String,
    pub evidence: String,
    pub residual: Option<(i64, i64)>,
    pub pairs: (usize, usize),
    pub last_year: Option<i32>,
}

const HOWS: &[(How, &str)] = &[
    (How::Declared, "declared"),
    (How::Zoned, "zoned"),
    (How::Envelope, "envelope"),
    (How::Id, "id"),
    (How::Recorded, "recorded"),
    (How::Assumed, "assumed"),
];

/// The word for how a clock was found.
pub fn how_name(how: How) -> &'static str {
    HOWS.iter().find(|h| h.0 == how).map_or("assumed", |h| h.1)
}

/// A rule as users write it.
pub fn rule_name(rule: corr_parsers::clock::Rule) -> String {
    match rule {
        corr_parsers::clock::Rule::Fixed(0) => "UTC".into(),
        corr_parsers::clock::Rule::Fixed(east) => {
            let sign = if east < 0 { '-' } else { '+' };
            format!("{sign}{:02}:{:02}", east.abs() / 3600, east.abs() / 60 % 60)
        }
        corr_parsers::clock::Rule::Named(zone) => zone.name().into(),
    }
}

impl ClockEntry {
    /// Writes a clock down.
    pub fn of(clock: &Clock) -> ClockEntry {
        ClockEntry {
            rule: rule_name(clock.rule),
            how: how_name(clock.how).into(),
            evidence: clock.evidence.clone(),
            residual: clock.residual,
            pairs: clock.pairs,
            last_year: clock.last_year,
        }
    }

    /// Reads it back; `None` if it names no known zone.
    pub fn clock(&self) -> Option<Clock> {
        let how = HOWS.iter().find(|h| h.1 == self.how)?.0;
        let rule = read_rule(&self.rule)?;
        Some(Clock { rule, how, evidence: self.evidence.clone(), residual: self.residual, pairs: self.pairs, last_year: self.last_year })
    }
}

impl Entry {
    /// The layout that the source was read with; `None` if it names formats that this corr does not have.
    pub fn layout(&self) -> Option<Layout> {
        let mut envelopes = Vec::new();
        for name in &self.envelopes {
            envelopes.push(*ENVELOPES.iter().find(|e| e.name == name)?);
        }
        let mut formats = Vec::new();
        for name in &self.formats {
            formats.push(self.format(name)?);
        }
        Some(Layout { envelopes, formats, document: self.document })
    }

    fn format(&self, name: &str) -> Option<&'static Format> {
        match self.user_formats.get(name) {
            None => FORMATS.iter().find(|f| f.name == name).copied(),
            Some(hash) => declared::loaded().find(|f| f.name == name && fingerprint(f).as_ref() == Some(hash)),
        }
    }

    /// What detection said.
    pub fn detection(&self) -> Option<Detection> {
        let layout = self.layout()?;
        let known = |name: &str| {
            let names = FORMATS.iter().copied().chain(declared::loaded()).map(|f| f.name);
            names.chain(ENVELOPES.iter().map(|e| e.name)).find(|n| *n == name)
        };
        let scores = |list: &[ScoreEntry]| {
            list.iter().filter_map(|(n, s, r, d)| Some(Score { name: known(n)?, share: *s, reason: r.clone(), depth: *d })).collect()
        };
        Some(Detection { layout, envelopes: scores(&self.envelope_scores), formats: scores(&self.scores), sampled: self.sampled })
    }

    /// Is the file as it was, and would it give the same bytes?
    pub fn unchanged(&self, stat: &Stat) -> bool {
        let alike = self.compression != Compression::Journal || self.read_by.as_deref() == journal::version();
        self.stat == *stat && alike
    }

    /// The entry of a source that has no segments yet.
    pub fn of(source: &Source, size: u64) -> Entry {
        let scores = |list: &[Score]| list.iter().map(|s| (s.name.to_string(), s.share, s.reason.clone(), s.depth)).collect();
        let detection = &source.detection;
        Entry {
            stat: source.stat,
            compression: source.compression,
            read_by: source.read_by().map(str::to_owned),
            envelopes: detection.layout.envelopes.iter().map(|e| e.name.to_string()).collect(),
            formats: detection.layout.formats.iter().map(|f| f.name.to_string()).collect(),
            user_formats: detection.layout.formats.iter().filter_map(|f| Some((f.name.to_string(), fingerprint(f)?))).collect(),
            document: detection.layout.document,
            scores: scores(&detection.formats),
            envelope_scores: scores(&detection.envelopes),
            sampled: detection.sampled,
            owner: source.owner.clone(),
            clock: ClockEntry::of(&source.clock),
            size,
            segments: Vec::new(),
            damage: source.damage.clone(),
            embedded: false,
        }
    }
}

impl Manifest {
    /// A store with nothing in it.
    pub fn empty() -> Manifest {
        Manifest {
            store_version: STORE_VERSION,
            parser_version: PARSER_VERSION,
            generation: 0,
            declared: String::new(),
            sources: BTreeMap::new(),
            others: BTreeMap::new(),
            definitions: Vec::new(),
            metrics_version: READER_VERSION,
            captures: Vec::new(),
        }
    }

    /// The directories that belong to the store.
    pub fn dirs(&self) -> impl Iterator<Item = &str> {
        let segments = self.sources.values().flat_map(|s| &s.segments).map(|s| s.dir.as_str());
        segments.chain(self.captures.iter().map(|c| c.dir.as_str()))
    }

    /// Reads a store's manifest.
    pub fn read(store: &Path) -> Result<Manifest, ManifestError> {
        let path = store.join(FILE);
        let shown = path.display().to_string();
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(ManifestError::None(store.display().to_string())),
            Err(error) => return Err(ManifestError::Io { path: shown, error }),
        };
        #[derive(Deserialize)]
        struct Versions {
            store_version: u32,
            parser_version: u32,
        }
        let versions: Versions = serde_json::from_slice(&bytes).map_err(|error| ManifestError::Damaged { path: shown.clone(), error })?;
        if versions.store_version != STORE_VERSION || versions.parser_version != PARSER_VERSION {
            return Err(ManifestError::Version { path: shown });
        }
        serde_json::from_slice(&bytes).map_err(|error| ManifestError::Damaged { path: shown, error })
    }

    /// Replaces a store's manifest: written aside, made durable, renamed, made durable.
    pub fn publish(&self, store: &Path) -> io::Result<()> {
        let aside = store.join("manifest.json.new");
        let mut file = File::create(&aside)?;
        let mut bytes = serde_json::to_vec(self)?;
        bytes.push(b'\n');
        file.write_all(&bytes)?;
        file.sync_all()?;
        std::fs::rename(&aside, store.join(FILE))?;
        File::open(store)?.sync_all()
    }
}
