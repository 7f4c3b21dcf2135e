//! One segment: the events of one part of one source, as files in one directory.
//!
//! `segment.json` says what is in it, `rows.bin` where each record stands, `columns.parquet` holds stamps, kinds and fields, `ids.bin` the ids,
//! `words/` the words. A segment is never changed after it is written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;

use corr_parsers::event::{Event, Outcome, Value};
use corr_parsers::format::Meta;
use corr_parsers::ids::{self, IdKind};
use corr_parsers::record::{Layout, Record};
use serde::{Deserialize, Serialize};

use super::columns::{ColumnInfo, ColumnsBuilder, RowFacts, Type};
use super::digest::Digest;
use super::ids::IdsBuilder;
use super::rows::RowsBuilder;
use super::word_index::{KindWords, LONGEST, Shape, WordClass, WordIndexBuilder, class, class_of};
use crate::query::visible::{self, Piece};
use crate::query::words;
use crate::run::events::{self, Facts, Start};
use crate::run::timing::Timing;

/// What a segment could not be written for.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("{path}: {error}")]
    Io { path: String, error: io::Error },
    #[error("word index: {0}")]
    Words(#[from] tantivy::TantivyError),
    #[error("columns: {0}")]
    Columns(#[from] parquet::errors::ParquetError),
    #[error("cancelled")]
    Cancelled,
}

/// Parts from this size on get a word index.
const WORDS_FROM: usize = 64 << 10;

/// Bytes after which the progress is told and the digest made: they are still in a core's cache then.
const REPORTED: usize = 512 << 10;

/// Ids of one record that are compared with each other.
const MOST_SEEN: usize = 16;

/// How many records and bytes had one outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub records: u64,
    pub bytes: u64,
}

/// What is in a segment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SegmentMeta {
    /// Bytes of the (decompressed) source, half open.
    pub from: u64,
    pub to: u64,
    /// Number of the first record's first line, 1-based.
    pub first_line: u64,
    pub rows: u32,
    /// Digest of the bytes `from..to`.
    pub hash: String,
    /// Kinds by number, with how many rows each has and its constant words.
    pub kinds: Vec<String>,
    pub kind_rows: Vec<u64>,
    pub kind_words: Vec<KindWords>,
    /// The fields that records of each kind have.
    pub kind_fields: Vec<BTreeSet<String>>,
    /// There is a word index; without one every row is a candidate for a word.
    pub has_words: bool,
    /// Records and bytes by outcome: `parsed`, `skipped: …`, `unparsed: …`.
    pub outcomes: BTreeMap<String, Tally>,
    pub columns: BTreeMap<String, ColumnInfo>,
    /// Some fields have no column: queries for a field that is not in `columns` must read the records.
    pub overflow: bool,
    /// Earliest start and latest end of the stamps and sort keys, UTC ns.
    pub first: Option<i64>,
    pub last: Option<i64>,
}

/// The part of a source that a segment is built from.
#[derive(Debug)]
pub struct Part<'s> {
    pub bytes: &'s [u8],
    pub layout: &'s Layout,
    pub timing: &'s Timing,
    pub start: Start,
    /// End of the part, a record's start or the source's end.
    pub end: usize,
}

/// How an outcome is tallied.
pub fn outcome_label(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Parsed => "parsed".into(),
        Outcome::Skipped(reason) => format!("skipped: {reason}"),
        Outcome::Unparsed(reason) => format!("unparsed: {reason}"),
    }
}

struct Builder {
    columns: ColumnsBuilder,
    rows: RowsBuilder,
    ids: IdsBuilder,
    /// None for a small part, whose records are read sooner than a word index is opened.
    /// In a box: it is large, and lent out for every record.
    words: Option<Box<WordIndexBuilder>>,
    kinds: Vec<String>,
    kind_rows: Vec<u64>,
    /// The names of the kinds that came, where they stand in memory, with their numbers.
    kind_of: Vec<(*const str, u16)>,
    outcomes: Vec<(Outcome, Tally)>,
    first: Option<i64>,
    last: Option<i64>,
    canonical: String,
    /// Ids of the record at hand, one behind the other, and where each ends.
    seen_ids: String,
    seen_ends: Vec<usize>,
    lower: String,
    digest: Digest,
}

/// Builds a segment in an empty directory; the caller makes it durable. `progress` gets the bytes of the source that were read; it may cancel.
pub fn build(dir: &Path, part: &Part<'_>, progress: &dyn Fn(u64) -> ControlFlow<()>) -> Result<SegmentMeta, BuildError> {
    built(dir, part, part.end - part.start.offset >= WORDS_FROM, progress)
}

/// The same without an index of words: for one question about columns.
#[cfg(feature = "sql")]
pub fn build_columns(dir: &Path, part: &Part<'_>) -> Result<SegmentMeta, BuildError> {
    built(dir, part, false, &|_| ControlFlow::Continue(()))
}

fn built(dir: &Path, part: &Part<'_>, with_words: bool, progress: &dyn Fn(u64) -> ControlFlow<()>) -> Result<SegmentMeta, BuildError> {
    let words_dir = dir.join("words");
    let io_error = |path: &Path| {
        let path = path.display().to_string();
        move |error| BuildError::Io { path, error }
    };
    let made = if with_words { &words_dir } else { dir };
    std::fs::create_dir_all(made).map_err(io_error(made))?;
    let mut builder = Builder {
        columns: ColumnsBuilder::default(),
        rows: RowsBuilder::new(part.start.offset as u64),
        ids: IdsBuilder::default(),
        words: if with_words { Some(Box::new(WordIndexBuilder::create(&words_dir)?)) } else { None },
        kinds: Vec::new(),
        kind_rows: Vec::new(),
        kind_of: Vec::new(),
        outcomes: Vec::new(),
        first: None,
        last: None,
        canonical: String::new(),
        seen_ids: String::new(),
        seen_ends: Vec::new(),
        lower: String::new(),
        digest: Digest::new(),
    };
    let mut failed = None;
    let mut reported = part.start.offset;
    events::each(part.bytes, part.layout, part.timing, part.start, part.end, |record, event, facts| {
        if let Err(error) = builder.record(record, event, facts) {
            failed = Some(error);
            return ControlFlow::Break(());
        }
        let at = facts.offset + facts.length;
        if at - reported >= REPORTED {
            builder.digest.add(&part.bytes[reported..at]);
            if progress((at - reported) as u64).is_break() {
                failed = Some(BuildError::Cancelled);
                return ControlFlow::Break(());
            }
            reported = at;
        }
        ControlFlow::Continue(())
    });
    if let Some(error) = failed {
        return Err(error);
    }
    builder.digest.add(&part.bytes[reported..part.end.max(reported)]);
    let _ = progress((part.end - reported) as u64);
    builder.finish(dir, part)
}

impl Builder {
    fn record(&mut self, record: &Record<'_>, event: &Event<'_>, facts: &Facts) -> Result<(), BuildError> {
        let kind = self.kind(event.kind.name);
        let outcome = self.outcome(&facts.outcome, facts.length);
        let row_facts = RowFacts {
            offset: facts.offset as u64,
            line: facts.line,
            order: facts.order.unwrap_or(i64::MIN),
            stamp: facts.stamp,
            level: event.level,
            kind,
            outcome,
        };
        // Records without a stamp go by the one before them, which can stand in the segment before: they count too.
        let start = facts.order.into_iter().chain(facts.stamp.map(|s| s.start)).min();
        let end = facts.order.map(|o| o.saturating_add(1)).into_iter().chain(facts.stamp.map(|s| s.end)).max();
        self.first = self.first.into_iter().chain(start).min();
        self.last = self.last.max(end);
        self.rows.push(facts.length, facts.line, kind);
        let mut words = self.words.take();
        if let Some(words) = &mut words {
            words.begin();
        }
        // What a record's names say of its words need not be read from its text.
        let mut named = event.keyed;
        let row = self.columns.push(row_facts, event, |name| match (name, &mut words) {
            (Some(name), Some(words)) if event.keyed => words.shape.number(name),
            _ => named = false,
        });
        if let Some(meta) = record.meta {
            self.envelope(row, meta);
        }
        self.seen_ids.clear();
        self.seen_ends.clear();
        for id in &event.ids {
            ids::canonical(Some(id.kind), &id.text, &mut self.canonical);
            self.add_id(row);
            if id.kind == IdKind::WorkerId
                && let Ok(number) = self.canonical.parse::<u64>()
            {
                // Metrics print workers in hex: a beginning in that base finds them too.
                self.canonical = format!("{number:x}");
                self.add_id(row);
            }
        }
        let payload = record.payload;
        let read = if named { &payload[..event.message.start] } else { payload };
        visible::each_piece(read, event, |piece| {
            let mut shape = words.as_mut().map(|words| &mut words.shape);
            let seen = match piece {
                Piece::Constant(text) => return shape.into_iter().for_each(|shape| shape.text(text)),
                Piece::Edge => return shape.into_iter().for_each(Shape::gap),
                Piece::Word(seen) => seen,
            };
            if let Some(uuid) = seen.uuid {
                ids::canonical(None, uuid, &mut self.canonical);
                self.add_id(row);
            }
            let word = &payload[seen.range];
            let class = self.class(word, seen.made_of);
            match &mut shape {
                Some(shape) if class == WordClass::Word => shape.text(word),
                Some(shape) => shape.gap(),
                None => {}
            }
            if class == WordClass::Id {
                // Of hex digits alone the canonical spelling is the lower case.
                visible::lower(word, &mut self.canonical);
                self.add_id(row);
            }
        });
        let known = match &mut words {
            Some(words) => words.end_known(row, kind)?,
            None => false,
        };
        if !known {
            let mut alike = true;
            visible::each_word(payload, event, |seen| {
                if let Some(uuid) = seen.uuid.filter(|uuid| !uuid.bytes().any(|b| b.is_ascii_digit())) {
                    // An id of letters alone is part of the shape's text.
                    alike = false;
                    ids::canonical(None, uuid, &mut self.canonical);
                    self.add_id(row);
                }
                let Some(words) = &mut words else { return };
                let range = first_bytes(payload, seen.range.clone());
                if self.class(&payload[seen.range], seen.made_of) == WordClass::Word {
                    visible::lower(&payload[range], &mut self.lower);
                    words.word(&self.lower);
                }
            });
            if let Some(words) = &mut words {
                words.end(row, kind, alike)?;
            }
        }
        self.words = words;
        Ok(())
    }

    /// The class of a word as it has in lower case.
    fn class(&mut self, word: &[u8], made_of: u8) -> WordClass {
        if made_of & words::HIGH == 0 {
            return class_of(word, made_of);
        }
        visible::lower(word, &mut self.lower);
        class(self.lower.as_bytes())
    }

    /// Adds `self.canonical` once a row.
    fn add_id(&mut self, row: u32) {
        // An id mostly stands two or three times in its record. The index drops repeats itself; this only saves it work.
        let id = self.canonical.as_bytes();
        let mut from = 0;
        for end in &self.seen_ends {
            if &self.seen_ids.as_bytes()[from..*end] == id {
                return;
            }
            from = *end;
        }
        self.ids.add(&self.canonical, row);
        if self.seen_ends.len() < MOST_SEEN {
            self.seen_ids.push_str(&self.canonical);
            self.seen_ends.push(self.seen_ids.len());
        }
    }

    fn kind(&mut self, name: &'static str) -> u16 {
        let number = match self.kind_of.iter().find(|(at, _)| std::ptr::eq(*at, name)) {
            Some((_, number)) => *number,
            None => {
                let number = match self.kinds.iter().position(|k| k == name) {
                    Some(i) => i as u16,
                    None => {
                        self.kinds.push(name.to_string());
                        self.kind_rows.push(0);
                        (self.kinds.len() - 1) as u16
                    }
                };
                self.kind_of.push((std::ptr::from_ref(name), number));
                number
            }
        };
        self.kind_rows[usize::from(number)] += 1;
        number
    }

    fn outcome(&mut self, outcome: &Outcome, length: usize) -> u8 {
        let i = match self.outcomes.iter().position(|(o, _)| o == outcome) {
            Some(i) => i,
            None => {
                self.outcomes.push((outcome.clone(), Tally::default()));
                self.outcomes.len() - 1
            }
        };
        self.outcomes[i].1.records += 1;
        self.outcomes[i].1.bytes += length as u64;
        u8::try_from(i).unwrap_or(u8::MAX)
    }

    fn envelope(&mut self, row: u32, meta: &Meta) {
        for (name, value) in envelope(meta) {
            self.columns.push_extra(row, name, value);
        }
    }

    fn finish(self, dir: &Path, part: &Part<'_>) -> Result<SegmentMeta, BuildError> {
        let outcome_names: Vec<String> = self.outcomes.iter().map(|(o, _)| outcome_label(o)).collect();
        let not_parsed: Vec<Option<String>> =
            self.outcomes.iter().map(|(o, _)| if *o == Outcome::Parsed { None } else { Some(outcome_label(o)) }).collect();
        self.columns.write(create(&dir.join("columns.parquet"))?, &self.kinds, &not_parsed)?;
        write_with(&dir.join("rows.bin"), |to| self.rows.write(to))?;
        write_with(&dir.join("ids.bin"), |to| self.ids.write(to))?;
        let has_words = self.words.is_some();
        let mut kind_words = match self.words {
            Some(words) => words.finish()?,
            None => Vec::new(),
        };
        kind_words.resize_with(self.kinds.len(), KindWords::default);
        let mut kind_fields = self.columns.of_kinds();
        kind_fields.resize_with(self.kinds.len(), BTreeSet::new);
        let meta = SegmentMeta {
            from: part.start.offset as u64,
            to: part.end as u64,
            first_line: part.start.line,
            rows: self.columns.len() as u32,
            hash: self.digest.hex(),
            kinds: self.kinds,
            kind_rows: self.kind_rows,
            has_words,
            kind_words,
            kind_fields,
            outcomes: outcome_names.into_iter().zip(self.outcomes.into_iter().map(|(_, t)| t)).collect(),
            columns: self.columns.info(),
            overflow: self.columns.overflow,
            first: self.first,
            last: self.last,
        };
        write_with(&dir.join("segment.json"), |mut to| {
            serde_json::to_writer(&mut to, &meta)?;
            to.write_all(b"\n")
        })?;
        Ok(meta)
    }
}

/// What an envelope says, under the names that a query has for it.
fn envelope(meta: &Meta) -> impl Iterator<Item = (&str, Value<'_>)> {
    let texts =
        [("host", &meta.host), ("unit", &meta.unit), ("ident", &meta.ident), ("boot", &meta.boot), ("invocation", &meta.invocation)];
    let texts = texts.into_iter().filter(|(_, value)| !value.is_empty());
    let more = meta.more.iter().map(|(name, value)| (&name[..], value));
    let texts = texts.chain(more).map(|(name, value)| (name, Value::Str(value.as_str().into())));
    let pid = meta.pid.map(|pid| ("pid", Value::Int(i64::from(pid))));
    let priority = meta.priority.map(|priority| ("priority", Value::Int(i64::from(priority))));
    texts.chain(pid).chain(priority)
}

/// The columns that an envelope's words are in.
pub fn envelope_names(meta: &Meta) -> impl Iterator<Item = (&str, Type)> {
    envelope(meta).map(|(name, value)| (name, ColumnsBuilder::type_of(&value)))
}

fn create(path: &Path) -> Result<File, BuildError> {
    File::create(path).map_err(|error| BuildError::Io { path: path.display().to_string(), error })
}

fn write_with(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), BuildError> {
    let mut to = BufWriter::new(create(path)?);
    write(&mut to).and_then(|()| to.flush()).map_err(|error| BuildError::Io { path: path.display().to_string(), error })
}

/// A word as it is a term: its first bytes, whole characters.
fn first_bytes(payload: &[u8], word: std::ops::Range<usize>) -> std::ops::Range<usize> {
    if word.len() <= LONGEST {
        return word;
    }
    let mut end = word.start + LONGEST;
    while end > word.start && payload[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    word.start..end
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use corr_parsers::FORMATS;
    use corr_parsers::record::Reader;
    use corr_parsers::text;

    use super::*;

    /// The words of class `Word` in these bytes.
    fn words_of(bytes: &[u8]) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut lower = String::new();
        words::each_word(bytes, |word, made_of| {
            visible::lower(&bytes[word.clone()], &mut lower);
            if class_of(&bytes[word], made_of) == WordClass::Word {
                found.insert(lower.clone());
            }
        });
        found
    }

    #[test]
    fn a_keyed_records_words_are_those_of_its_names() {
        let layout = Layout { formats: FORMATS.to_vec(), ..Layout::default() };
        let mut log = String::new();
        for line in include_str!("../../parsers/src/sglang/batch_lines.txt").lines().filter(|line| !line.starts_with('#')) {
            let Some((_, text)) = line.split_once('\t') else { continue };
            let text = text.trim_end_matches('|').replace(": N", ": 18.25").replace("<ISO>", "2026-11-20T19:46:04");
            log += &format!("[2026-11-20 19:46:04 DP1 TP0] {text}\n");
        }
        let mut reader = Reader::new(log.as_bytes(), 0, &layout);
        let mut keyed = 0;
        while let Some(record) = reader.next() {
            let mut event = Event::new(&text::kinds::TEXT);
            record.parse(&mut event);
            if !event.keyed {
                continue;
            }
            keyed += 1;
            assert!(event.columnar && event.ids.is_empty() && event.withheld.is_empty());
            let head: &[u8] = if event.kind.name == "prefill_batch" { b"Prefill batch" } else { b"Decode batch" };
            let mut want = words_of(&record.payload[..event.message.start]);
            want.append(&mut words_of(head));
            for field in &event.fields {
                want.append(&mut words_of(field.raw.as_bytes()));
                if let Value::Bool(truth) = field.value {
                    want.insert(truth.to_string());
                }
            }
            // A rank's tag and its number are one word.
            want.retain(|word| word != "dp" && word != "tp");
            assert_eq!(words_of(record.payload), want, "{}", String::from_utf8_lossy(record.payload));
        }
        assert!(keyed > 50, "only {keyed} lines");
    }
}
