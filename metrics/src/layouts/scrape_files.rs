//! Scrapes that stand each in a file of its own: folders of them, pairs of before and after, single ones.
//!
//! A scrape's time is the stamp in its file's name, else the time at which the file was last written. The endpoint is what else the name says,
//! else the folder. `.err` beside stamped files is a scrape that failed, with the reason in it.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::body::{Bodies, Kept};
use super::stamp::{self, SEPARATORS, Stamped};
use super::{Candidate, Layout, Part, ReadError, Set, unpacked};
use crate::build::Builder;
use crate::exposition::{Event, Format, Reader};
use crate::model::{Capture, Clock, Outcome, StampOf};

pub const LAYOUT: Layout = Layout {
    name: "scrape-files",
    about: "one file a scrape (curl, a shell loop): Prometheus text or OpenMetrics, stamped by name or by file time",
    claim,
    read,
};

/// Where a file's time comes from; files of different kinds are different captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Zoned,
    Naive,
    /// OpenMetrics apart: without stamps, the scrapes of two formats have no order.
    FileTime(bool),
}

/// What a file's name says.
struct Named {
    stem: String,
    extension: String,
    stamped: Option<Stamped>,
}

/// `before` or `after`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    Before,
    After,
}

impl Word {
    fn of(text: &str) -> Option<Word> {
        match text.to_ascii_lowercase().as_str() {
            "before" | "start" | "pre" => Some(Word::Before),
            "after" | "end" | "post" => Some(Word::After),
            _ => None,
        }
    }
}

/// The folder that files of one capture share: `before/w1.prom` and `after/w1.prom` are a pair.
fn home(folder: &str) -> (&str, Option<Word>) {
    let (parent, last) = folder.rsplit_once('/').unwrap_or(("", folder));
    match Word::of(last) {
        Some(word) => (parent, Some(word)),
        None => (folder, None),
    }
}

impl Named {
    fn of(name: &str) -> Named {
        let plain = unpacked(name);
        let (stem, extension) = match plain.rsplit_once('.') {
            Some((stem, extension @ ("prom" | "txt" | "om" | "metrics" | "openmetrics" | "err"))) => (stem, extension),
            _ => (plain, ""),
        };
        Named { stem: stem.to_string(), extension: extension.to_string(), stamped: stamp::find(stem) }
    }

    fn source(&self) -> Source {
        match &self.stamped {
            Some(stamped) if stamped.zoned => Source::Zoned,
            Some(_) => Source::Naive,
            None => Source::FileTime(self.format() == Some(Format::OpenMetrics)),
        }
    }

    fn format(&self) -> Option<Format> {
        matches!(self.extension.as_str(), "om" | "openmetrics").then_some(Format::OpenMetrics)
    }

    /// The endpoint, and whether name or folder are of a pair.
    fn endpoint(&self, folder: &str) -> (String, Option<Word>) {
        let name = self.stamped.as_ref().map_or(self.stem.as_str(), |s| s.rest.as_str());
        let (folder, mut word) = home(folder);
        let parts: Vec<&str> = name
            .split_inclusive(SEPARATORS)
            .filter(|part| {
                let found = Word::of(part.trim_end_matches(SEPARATORS));
                word = word.or(found);
                found.is_none()
            })
            .collect();
        let name = parts.concat().trim_matches(SEPARATORS).to_string();
        let name = if name.is_empty() { folder.rsplit('/').next().unwrap_or_default().to_string() } else { name };
        (name, word)
    }
}

fn claim(candidates: &[Candidate]) -> Vec<Set> {
    let mut groups: BTreeMap<(String, Source), Vec<&Candidate>> = BTreeMap::new();
    let mut failures = Vec::new();
    for candidate in candidates {
        let Some(head) = candidate.text() else { continue };
        let named = Named::of(candidate.name());
        if named.extension == "err" || (head.is_empty() && matches!(named.extension.as_str(), "prom" | "om" | "openmetrics")) {
            failures.push((candidate, named.source()));
        } else if is_exposition(head, &named) {
            groups.entry((home(candidate.folder()).0.to_string(), named.source())).or_default().push(candidate);
        }
    }
    for (candidate, source) in failures {
        if let Some(group) = groups.get_mut(&(home(candidate.folder()).0.to_string(), source)).filter(|_| source < Source::FileTime(false))
        {
            group.push(candidate);
        }
    }
    groups.into_iter().map(|((_, source), group)| set(group, source)).collect()
}

fn set(group: Vec<&Candidate>, source: Source) -> Set {
    let mut files: Vec<Part> = group.iter().map(|c| c.part()).collect();
    files.sort_by_key(|part| (time_in(&part.key), part.key.clone()));
    let beside = copies(&mut files);
    let when = match source {
        Source::Zoned => "the stamp in its name",
        Source::Naive => "the stamp in its name, which has no zone and is taken as UTC",
        Source::FileTime(_) => "the time at which the file was last written, which copies change",
    };
    Set { because: format!("{} files of one scrape each; its time is {when}", files.len()), files, beside, ties: Vec::new() }
}

/// Takes out packed files that hold the same as an unpacked one beside them.
pub(super) fn copies(files: &mut Vec<Part>) -> Vec<(Part, String)> {
    let plain: BTreeMap<String, Part> = files.iter().filter(|p| unpacked(&p.key) == p.key).map(|p| (p.key.clone(), p.clone())).collect();
    let mut beside = Vec::new();
    files.retain(|part| {
        let twin = plain.get(unpacked(&part.key)).filter(|twin| twin.key != part.key && same_text(&twin.path, &part.path));
        if let Some(twin) = twin {
            beside.push((part.clone(), format!("the same as {}", twin.key)));
        }
        twin.is_none()
    });
    beside
}

/// Two files of one text, unpacked.
pub(super) fn same_text(a: &Path, b: &Path) -> bool {
    let (Ok(mut a), Ok(mut b)) = (super::open(a), super::open(b)) else { return false };
    let (mut left, mut right) = (Vec::new(), Vec::new());
    loop {
        left.clear();
        right.clear();
        let read = a.by_ref().take(1 << 16).read_to_end(&mut left).and_then(|_| b.by_ref().take(1 << 16).read_to_end(&mut right));
        if read.is_err() || left != right {
            return false;
        }
        if left.is_empty() {
            return true;
        }
    }
}

/// Whether a text begins as an exposition: one sample or comment where the name says so; else both, and hardly a line that is none.
fn is_exposition(head: &[u8], named: &Named) -> bool {
    let whole = memchr::memrchr(b'\n', head).map_or(head, |end| head.get(..=end).unwrap_or_default());
    let mut reader = Reader::new(whole, named.format().unwrap_or_else(|| Format::of_body(whole)));
    let mut said = 0u64;
    for event in &mut reader {
        said += u64::from(matches!(event, Event::Type { .. } | Event::Help { .. }));
    }
    let lines = reader.lines();
    let mostly = lines.bad * 10 <= lines.samples;
    match named.extension.as_str() {
        "prom" | "om" | "openmetrics" | "metrics" => lines.samples + said > 0,
        _ => said > 0 && lines.samples > 0 && mostly,
    }
}

fn file_name(key: &str) -> (&str, &str) {
    key.rsplit_once('/').unwrap_or(("", key))
}

fn time_in(key: &str) -> Option<i64> {
    Named::of(file_name(key).1).stamped.map(|s| s.at)
}

/// A file to read, with what its name says.
struct Scrape<'a> {
    part: &'a Part,
    at: i64,
    named: Named,
    endpoint: String,
    word: Option<Word>,
}

fn read(set: &Set) -> Result<Vec<Capture>, ReadError> {
    let mut scrapes = Vec::new();
    let mut source = Source::Zoned;
    for part in &set.files {
        let (folder, name) = file_name(&part.key);
        let named = Named::of(name);
        source = named.source();
        let (endpoint, word) = named.endpoint(folder);
        let at = match &named.stamped {
            Some(stamped) => stamped.at,
            None => modified(&part.path).map_err(|error| ReadError::Io { path: part.path.display().to_string(), error })?,
        };
        scrapes.push(Scrape { part, at, named, endpoint, word });
    }
    scrapes.sort_by(|a, b| (a.at, &a.part.key).cmp(&(b.at, &b.part.key)));
    if !matches!(source, Source::FileTime(_)) || !contradict(&scrapes) {
        return Ok(vec![capture(&scrapes, source, false)]);
    }
    // in the wrong order, a counter would seem to have been reset
    let (before, after): (Vec<_>, Vec<_>) = scrapes.into_iter().partition(|s| s.word == Some(Word::Before));
    Ok(vec![capture(&before, source, true), capture(&after, source, true)])
}

fn modified(path: &Path) -> std::io::Result<i64> {
    let time = File::open(path)?.metadata()?.modified()?;
    let since = time.duration_since(std::time::UNIX_EPOCH).map_err(std::io::Error::other)?;
    i64::try_from(since.as_nanos()).map_err(std::io::Error::other)
}

/// Whether a file named `after` was not written after the one named `before` of its endpoint.
fn contradict(scrapes: &[Scrape<'_>]) -> bool {
    let mut last: HashMap<&str, i64> = HashMap::new();
    for scrape in scrapes.iter().filter(|s| s.word == Some(Word::Before)) {
        let at = last.entry(&scrape.endpoint).or_insert(scrape.at);
        *at = scrape.at.max(*at);
    }
    scrapes.iter().any(|s| s.word == Some(Word::After) && last.get(s.endpoint.as_str()).is_some_and(|before| *before >= s.at))
}

fn capture(scrapes: &[Scrape<'_>], source: Source, contradicts: bool) -> Capture {
    let clock = if source == Source::Naive { Clock::AssumedUtc } else { Clock::Wall };
    let by_file = matches!(source, Source::FileTime(_));
    let stamp_of = if by_file { StampOf::FileTime } else { StampOf::FileName };
    let mut builder = Builder::new(LAYOUT.name, clock, stamp_of);
    let mut bodies = Bodies::default();
    let first = || scrapes.first().map(|s| s.part.path.display().to_string());
    if by_file {
        builder.note("file_times", || "the time of a scrape is that at which its file was last written; copies change it".into(), first);
    }
    if contradicts {
        let what = "a file named `after` is not younger than the one named `before`, so the file times are those of copies: each is a capture of its own, and there is no difference between them; a JSONL beside them that names `file` and `timestamp_ns` gives their times";
        builder.note("file_times_contradict", || what.into(), first);
    }
    for scrape in scrapes {
        let endpoint = builder.endpoint(&scrape.endpoint);
        let file = scrape.part.path.as_path();
        if scrape.named.extension == "err" {
            let reason = super::open_at_most(file, 1 << 16).map(|text| String::from_utf8_lossy(&text).trim().to_string());
            let reason = reason.ok().filter(|text| !text.is_empty()).unwrap_or_else(|| "no reason is written down".into());
            builder.file(file);
            builder.scrape(endpoint, scrape.at, None, Outcome::Failed(reason));
            continue;
        }
        bodies.take_file(&mut builder, Kept { endpoint, at: scrape.at, took: None, format: scrape.named.format(), file });
    }
    if bodies.all_stamped() {
        builder.stamp_of(StampOf::Exposition);
    }
    builder.finish()
}
