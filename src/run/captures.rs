//! The metric captures of a run: which files are one, and what they hold.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use corr_metrics::layouts::{self, Candidate, Claims, Head, ReadError, Set};
use corr_metrics::model::{Capture, Family};
use rayon::prelude::*;

use super::Run;
use super::bytes;
use super::discover::Found;
use super::source::{Class, NotRead};

/// Shares the files of a run out among the layouts of captures; `apart` are files that the user says are something else.
///
/// Second come the files that are Parquet or Arrow by their first bytes, cannot be read, and are of no capture.
pub fn claim(files: &[Found], apart: &dyn Fn(&Found) -> bool) -> (Claims, HashMap<PathBuf, String>) {
    let files: Vec<&Found> = files.iter().filter(|f| f.path.as_os_str() != "-" && !apart(f)).collect();
    let candidates: Vec<Candidate> = files.par_iter().map(|f| layouts::look(&f.path, &f.key)).collect();
    let claims = layouts::claim(&candidates);
    let damaged = claims.unclaimed.iter().filter_map(|&i| candidates.get(i)).filter_map(|c| match &c.head {
        Head::Damaged(why) => Some((c.path.clone(), why.clone())),
        _ => None,
    });
    let damaged = damaged.collect();
    (claims, damaged)
}

/// The layout of each file that is part of a capture.
pub fn layouts(claims: &Claims) -> HashMap<PathBuf, &'static str> {
    let parts = claims.sets.iter().flat_map(|(layout, set)| {
        let beside = set.beside.iter().map(|(part, _)| part);
        set.files.iter().chain(beside).map(move |part| (part.path.clone(), *layout))
    });
    parts.collect()
}

/// A capture with the set that it was read from.
#[derive(Debug)]
pub struct Source<'r> {
    pub set: Cow<'r, Set>,
    pub layout: &'static str,
    pub capture: Capture,
}

/// The captures of a run.
#[derive(Debug, Default)]
pub struct Captures<'r> {
    pub read: Vec<Source<'r>>,
    /// Sets that were not read.
    pub not_read: Vec<NotRead>,
    /// Every one of them was read before.
    pub all_kept: bool,
    /// Why what was kept of a set is not used.
    pub notes: Vec<String>,
}

/// Captures of a layout and a set that were read before. `None` if there are none; the error says that there are and why they are of no use.
pub type Before<'b> = dyn Fn(&str, &Set) -> Result<Option<Vec<Capture>>, String> + Sync + 'b;

/// So many bytes of samples the captures of a run hold together while they are read; what is more is in temporary files, which costs less than memory that
/// was never used before.
const HOLD: usize = 32 << 20;
/// Each of them holds so many.
const LEAST: usize = 1 << 20;

/// A set, read.
struct Read {
    captures: Result<Vec<Capture>, NotRead>,
    kept: bool,
    /// Why what was kept is not used.
    note: Option<String>,
}

/// The sets of a run that are read: all but those whose every file is a copy of a file of another.
pub fn sets(run: &Run) -> impl Iterator<Item = &(&'static str, Set)> {
    let copies: HashMap<&str, &str> = run
        .sources
        .iter()
        .filter_map(|source| match &source.class {
            Class::Duplicate(of) => Some((source.key.as_str(), of.as_str())),
            _ => None,
        })
        .collect();
    // Which sets have a file that is copied.
    let originals: HashSet<&str> = copies.values().copied().collect();
    let mut holders: HashMap<&str, Vec<usize>> = HashMap::new();
    for (number, (_, set)) in run.claims.sets.iter().enumerate() {
        for key in set.files.iter().map(|part| part.key.as_str()).filter(|key| originals.contains(key)) {
            holders.entry(key).or_default().push(number);
        }
    }
    let is_copy = move |number: usize, set: &Set| {
        let elsewhere = |of: &&str| holders.get(of).is_some_and(|sets| sets.iter().any(|other| *other != number));
        !set.files.is_empty() && set.files.iter().all(|part| copies.get(part.key.as_str()).is_some_and(elsewhere))
    };
    run.claims.sets.iter().enumerate().filter(move |(number, (_, set))| !is_copy(*number, set)).map(|(_, named)| named)
}

impl<'r> Captures<'r> {
    /// Reads every capture of a run that was not read before.
    pub fn read(run: &'r Run, before: &Before<'_>) -> Captures<'r> {
        let sets: Vec<&'r (&'static str, Set)> = sets(run).collect();
        hold(sets.len());
        let read = |(layout, set): &&'r (&'static str, Set)| match before(layout, set) {
            Ok(Some(captures)) => Read { captures: Ok(captures), kept: true, note: None },
            Ok(None) => Read { captures: read_set(layout, set), kept: false, note: None },
            Err(why) => Read { captures: read_set(layout, set), kept: false, note: Some(why) },
        };
        let read: Vec<Read> = sets.par_iter().map(read).collect();
        let mut all = Captures { all_kept: true, ..Captures::default() };
        for ((layout, set), read) in sets.into_iter().zip(read) {
            all.notes.extend(read.note);
            all.all_kept &= read.kept;
            match read.captures {
                Ok(captures) => all.read.extend(captures.into_iter().map(|capture| Source { set: Cow::Borrowed(set), layout, capture })),
                Err(not_read) => all.not_read.push(not_read),
            }
        }
        all
    }

    /// What captures declare of families, for those that declare nothing. Of two that differ the one read first is believed.
    pub fn families(&self) -> BTreeMap<String, Family> {
        let mut all: BTreeMap<String, Family> = BTreeMap::new();
        for (name, family) in self.read.iter().flat_map(|s| &s.capture.families) {
            let known = all.entry(name.clone()).or_default();
            known.kind = known.kind.or(family.kind);
            known.help = known.help.take().or_else(|| family.help.clone());
            known.unit = known.unit.take().or_else(|| family.unit.clone());
        }
        all
    }
}

/// Bounds the memory of so many sets that are read after this.
pub fn hold(sets: usize) {
    bytes::hold_samples((HOLD / sets.max(1)).max(LEAST));
}

/// Reads the files of a set; [`hold`] is called before.
pub fn read_set(layout: &str, set: &Set) -> Result<Vec<Capture>, NotRead> {
    let name = set.files.first().map_or_else(String::new, |part| part.key.clone());
    let not_read = |why: String, next: &str, failure: bool| NotRead { name: name.clone(), why, next: next.into(), failure };
    if !set.ties.is_empty() {
        let why = format!("nothing tells how its columns are to be read: {}", set.ties.join("; "));
        return Err(not_read(why, "write it with one column of times, one of names and one of numbers, or leave it out", true));
    }
    let Some(reader) = layouts::by_name(layout) else {
        return Err(not_read(format!("no layout is named {layout}"), "", true));
    };
    match (reader.read)(set) {
        Ok(captures) => match captures.iter().find_map(|c| c.samples.damage()) {
            Some(why) => Err(not_read(why.to_string(), "check the space and the file system of TMPDIR, then run the command again", true)),
            None => Ok(captures),
        },
        Err(ReadError::Io { error, .. }) => Err(not_read(error.to_string(), "check the file system, then run the command again", true)),
        Err(ReadError::Damaged { why, .. }) => Err(not_read(why, "copy the file again, or leave it out", true)),
        Err(ReadError::Declined { why, next, .. }) => Err(not_read(why, &next, true)),
    }
}
