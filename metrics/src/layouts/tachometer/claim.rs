//! Which files of a run are one capture of one scraper.
//!
//! A scraper keeps `local/` and copies it to a storage folder, mostly `raw/scrape/`; a repeated compaction writes `final/`. The finished capture is
//! `final.parquet` of the first of raw, final and local; without one, everything that is left is read, because each folder may hold what the
//! others lack.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use arrow::datatypes::DataType;

use super::ingest::is_text;
use crate::layouts::{Candidate, Head, Part, Set};

/// What a file of a scraper is, by its name; the order is that in which parts are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Everything, compacted at the end.
    Final,
    /// Parts so far, compacted at a sync; the newest first.
    Incomplete(std::cmp::Reverse<u64>),
    /// Rows as they came.
    Out(u64),
    /// The newest rows, rewritten at each save.
    Current,
    /// A name that the scraper does not give.
    Other,
}

impl Role {
    pub fn of(name: &str) -> Role {
        let numbered = |prefix: &str| name.strip_prefix(prefix)?.strip_suffix(".parquet")?.parse().ok();
        match name {
            "final.parquet" => Role::Final,
            "current.arrow" => Role::Current,
            _ => match (numbered("incomplete-"), numbered("out-")) {
                (Some(n), _) => Role::Incomplete(std::cmp::Reverse(n)),
                (_, Some(n)) => Role::Out(n),
                _ => Role::Other,
            },
        }
    }

    /// Whether a compaction wrote it, which may have doubled rows. Files under other names mostly are renamed final ones.
    pub fn compacted(self) -> bool {
        matches!(self, Role::Final | Role::Incomplete(_) | Role::Other)
    }
}

/// The scraper's folder, and the place of a file's own folder in the order of trust.
fn place(folder: &str) -> (String, u8) {
    let parts: Vec<&str> = folder.split('/').filter(|p| !p.is_empty()).collect();
    let up = |n: usize| parts.get(..parts.len().saturating_sub(n)).unwrap_or(&[]).join("/");
    match parts[..] {
        [.., "raw", _] => (up(2), 0),
        [.., "final"] => (up(1), 1),
        [.., "local"] => (up(1), 2),
        _ => (folder.to_string(), 0),
    }
}

/// How the columns tell the generation; nothing for other tables.
fn generation(candidate: &Candidate) -> Option<&'static str> {
    let schema = candidate.schema()?;
    let kind = |name: &str| schema.field_with_name(name).ok().map(|f| f.data_type());
    let text = |name: &str| kind(name).is_some_and(is_text);
    if !text("scraper_endpoint") || !text("metric_name") {
        return None;
    }
    let value = kind("metric_value")?;
    Some(match (value, kind("time_since_start").is_some(), kind("timestamp_ns").is_some()) {
        (DataType::Float32, true, false) => {
            "columns scraper_endpoint, metric_name, metric_value (Float32), no timestamp_ns: Tachometer without wall clock"
        }
        (_, _, true) => "columns scraper_endpoint, metric_name, metric_value, timestamp_ns: Tachometer with wall clock",
        (_, true, false) => {
            "columns scraper_endpoint, metric_name, metric_value, time_since_start, no timestamp_ns: Tachometer without wall clock"
        }
        _ => return None,
    })
}

/// A file that is one of a group.
#[derive(Clone)]
struct Member<'a> {
    candidate: &'a Candidate,
    role: Role,
    place: u8,
    readable: bool,
}

/// The sets of Tachometer files among candidates.
pub fn claim(candidates: &[Candidate]) -> Vec<Set> {
    let mut groups: Vec<(String, &'static str, Vec<Member>)> = Vec::new();
    for candidate in candidates {
        let Some(because) = generation(candidate) else { continue };
        let role = Role::of(candidate.name());
        let (base, place) = match role {
            Role::Other => (candidate.key.clone(), 0),
            _ => place(candidate.folder()),
        };
        let member = Member { candidate, role, place, readable: true };
        match groups.iter_mut().find(|(b, w, _)| *b == base && *w == because) {
            Some((_, _, members)) => members.push(member),
            None => groups.push((base, because, vec![member])),
        }
    }
    // A part that was cut by a kill has no footer, or is empty, and shows no columns: its name and its neighbours say what it is.
    for candidate in candidates {
        let role = Role::of(candidate.name());
        if role == Role::Other || !matches!(candidate.head, Head::Damaged(_) | Head::Other(_) | Head::Text(_)) {
            continue;
        }
        let (base, place) = place(candidate.folder());
        if let Some((_, _, members)) = groups.iter_mut().find(|(b, _, _)| *b == base) {
            members.push(Member { candidate, role, place, readable: false });
        }
    }
    let mut sets: Vec<Set> = groups.into_iter().map(|(_, because, members)| set(because, members)).collect();
    merge_equal(&mut sets);
    sets
}

fn set(because: &str, mut members: Vec<Member>) -> Set {
    members.sort_by(|a, b| (a.role, a.place, &a.candidate.key).cmp(&(b.role, b.place, &b.candidate.key)));
    let mut set = Set { files: Vec::new(), beside: Vec::new(), because: because.to_string(), ties: Vec::new() };
    let finished = members.iter().find(|m| m.role == Role::Final && m.readable).map(|m| m.candidate.key.clone());
    for member in members {
        let part = member.candidate.part();
        if let Some(same) = set.files.iter().find(|f| equal(&f.path, &part.path)) {
            let reason = format!("the same bytes as {}", same.key);
            set.beside.push((part, reason));
            continue;
        }
        match &finished {
            Some(key) if member.role != Role::Final => {
                let reason = format!("left beside {key}: scraped while that was written or copied into it");
                set.beside.push((part, reason));
            }
            _ => set.files.push(part),
        }
    }
    set
}

/// Sets whose every file is, byte for byte, in another are that one.
fn merge_equal(sets: &mut Vec<Set>) {
    let mut kept: Vec<Set> = Vec::new();
    // a storage folder may hold a few of the parts: the larger set comes first, whatever the folders are called
    sets.sort_by_key(|s| std::cmp::Reverse(s.files.len()));
    for set in sets.drain(..) {
        let twin = |file: &Part, of: &Set| of.files.iter().find(|f| equal(&f.path, &file.path)).map(|f| f.key.clone());
        let known = kept.iter_mut().find(|k| set.files.iter().all(|f| twin(f, k).is_some()));
        match known {
            Some(known) => {
                for file in set.files {
                    let same = twin(&file, known).unwrap_or_default();
                    known.beside.push((file, format!("the same bytes as {same}")));
                }
                known.beside.extend(set.beside);
            }
            None => kept.push(set),
        }
    }
    kept.sort_by(|a, b| a.files.first().map(|f| &f.key).cmp(&b.files.first().map(|f| &f.key)));
    *sets = kept;
}

/// Whether two files hold the same bytes; files that cannot be read are not equal to any.
fn equal(a: &Path, b: &Path) -> bool {
    let length = |p: &Path| std::fs::metadata(p).ok().map(|m| m.len());
    match (length(a), length(b)) {
        (Some(a_length), Some(b_length)) if a_length == b_length => same_bytes(a, b).unwrap_or(false),
        _ => false,
    }
}

fn same_bytes(a: &Path, b: &Path) -> io::Result<bool> {
    let mut left = BufReader::new(File::open(a)?);
    let mut right = BufReader::new(File::open(b)?);
    let (mut one, mut other) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let n = left.read(&mut one)?;
        let Some(wanted) = other.get_mut(..n) else { return Ok(false) };
        right.read_exact(wanted)?;
        if one.get(..n) != other.get(..n) {
            return Ok(false);
        }
        if n == 0 {
            return Ok(true);
        }
    }
}
