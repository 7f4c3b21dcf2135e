//! Which sources are logs of processes, and whose each is.

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Write as _};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;

use corr_parsers::stamp::SECOND;
use corr_readiness::Fact;
use rayon::prelude::*;

use super::stream::Reading;
use crate::query::sources::{Asked, Sources};
use crate::run::events::{self, Start};
use crate::run::layout::base_name;
use crate::run::owners;

/// Formats of what servers, their gateways and systemd print.
const PRINTED: &[&str] = &["sglang", "dynamo-text", "dynamo-jsonl", "gateway", "gateway-json", "systemd"];
/// Beginnings of envelopes whose entries are of many processes, and name them.
const OF_MANY: &[&str] = &["journald", "syslog", "loki", "grafana"];
/// First records that tell whose a log is.
const SAMPLED: usize = 2_000;
/// Facts that are compared to tell a copy.
const COMPARED: usize = 20_000;
/// Fewer facts than this show no copy.
const TELLING: usize = 4;

/// A source that one process, or a journal of many, wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its place in [`Sources::sources`].
    pub source: usize,
    /// Empty where nothing says.
    pub host: String,
    /// Empty where entries name their own.
    pub unit: String,
}

/// The logs of processes, and copies that are not read, each with the source that it repeats.
pub fn find(sources: &Sources) -> (Vec<Process>, Vec<(usize, usize)>) {
    let mut found = Vec::new();
    let mut folders: HashMap<(String, String), HashSet<&str>> = HashMap::new();
    for (number, source) in sources.sources.iter().enumerate() {
        let Some((host, unit)) = owner(source, sources) else { continue };
        if !unit.is_empty() {
            folders.entry((host.clone(), unit.clone())).or_default().insert(folder(&source.key));
        }
        found.push(Process { source: number, host, unit });
    }
    // What only holds requests is of a process if another log of it is there.
    let names: HashSet<(String, String)> = found.iter().map(|p| (p.host.clone(), p.unit.clone())).collect();
    let known: HashSet<usize> = found.iter().map(|p| p.source).collect();
    for (number, source) in sources.sources.iter().enumerate() {
        let stream = source.key.ends_with(".stdout.log") || source.key.ends_with(".stderr.log");
        if stream && source.format == "sglang-json" && !known.contains(&number) {
            let (host, unit) = named(source);
            if names.contains(&(host.clone(), unit.clone())) {
                found.push(Process { source: number, host, unit });
            }
        }
    }
    // One name in folders of which none holds the other: two runs side by side, not one process.
    for process in &mut found {
        let Some(source) = sources.sources.get(process.source) else { continue };
        let mine = folder(&source.key);
        let others = folders.get(&(process.host.clone(), process.unit.clone()));
        let apart = |other: &&str| !within(mine, other) && !within(other, mine);
        if others.is_some_and(|others| others.iter().any(apart)) {
            process.unit = format!("{mine}/{}", process.unit);
        }
    }
    let copies = copies(sources, &found);
    let repeated: HashSet<usize> = copies.iter().map(|(copy, _)| *copy).collect();
    found.retain(|process| !repeated.contains(&process.source));
    (found, copies)
}

/// Host and unit; `None` for what no process printed.
fn owner(source: &Asked, sources: &Sources) -> Option<(String, String)> {
    // A log that requests or tracebacks fill is a server's all the same; records of another program are not.
    let printed = PRINTED.contains(&source.format) || matches!(source.format, "sglang-json" | "text") && holds_printed(source);
    let of_many = source.layout.envelopes.iter().any(|envelope| OF_MANY.iter().any(|start| envelope.name.starts_with(start)));
    if !printed && !of_many {
        return None;
    }
    if of_many {
        let said = sources.declared.source(&source.key);
        return Some((said.host.unwrap_or_default(), said.unit.unwrap_or_default()));
    }
    Some(named(source))
}

/// Are some of its first records what servers print?
fn holds_printed(source: &Asked) -> bool {
    let Ok(bytes) = source.bytes() else { return false };
    let (mut printed, mut all) = (0usize, 0usize);
    let start = Start { offset: 0, line: 0, order: None };
    events::each(bytes, &source.layout, source.timing(), start, bytes.len(), |record, _, _| {
        all += 1;
        printed += usize::from(record.format.is_some_and(|format| PRINTED.contains(&format.name)));
        if all < SAMPLED { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    // A pasted line or two make no log.
    printed > 2 && printed * 20 >= all
}

fn named(source: &Asked) -> (String, String) {
    let owner = &source.owner;
    let unit = owner.unit.clone().or_else(|| owner.worker.clone());
    (owner.host.clone().unwrap_or_default(), unit.unwrap_or_else(|| owners::stem(base_name(&source.key)).to_string()))
}

fn folder(key: &str) -> &str {
    key.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Is a folder the other one, or below it?
fn within(inner: &str, outer: &str) -> bool {
    outer.is_empty() || inner == outer || inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
}

/// What a log says of a life, and when: two logs that say the same are one.
#[derive(Debug, Default)]
struct Said {
    /// A hash of each fact with the second it is of.
    facts: HashSet<u64>,
    /// First and last second, UTC.
    seconds: Option<(i64, i64)>,
}

impl Said {
    fn add(&mut self, fact: impl fmt::Debug, second: i64) {
        let mut hash = Written(DefaultHasher::new());
        // Writing to a hash cannot fail.
        let _ = write!(hash, "{fact:?}");
        second.hash(&mut hash.0);
        self.facts.insert(hash.0.finish());
        let (first, last) = self.seconds.unwrap_or((second, second));
        self.seconds = Some((first.min(second), last.max(second)));
    }

    /// Does another log say nine tenths of it?
    fn is_within(&self, other: &Said) -> bool {
        let meet = self.seconds.zip(other.seconds).is_some_and(|(mine, theirs)| mine.0 <= theirs.1 && theirs.0 <= mine.1);
        meet && self.facts.intersection(&other.facts).count() * 10 >= self.facts.len() * 9
    }
}

/// A hash of what is written.
struct Written(DefaultHasher);

impl fmt::Write for Written {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

fn copies(sources: &Sources, found: &[Process]) -> Vec<(usize, usize)> {
    let mut groups: HashMap<(&str, &str), Vec<&Process>> = HashMap::new();
    for process in found {
        groups.entry((&process.host, &process.unit)).or_default().push(process);
    }
    let mut copies = Vec::new();
    for group in groups.into_values().filter(|group| group.len() > 1) {
        let mut said: Vec<(usize, Said)> = group.par_iter().map(|process| (process.source, said(sources, process))).collect();
        // Of two that say as much the one nearer to the run's own folder is kept.
        let depth = |source: usize| sources.sources.get(source).map_or(0, |source| source.key.matches('/').count());
        said.sort_by_key(|(source, said)| (std::cmp::Reverse(said.facts.len()), depth(*source), *source));
        let mut kept: Vec<(usize, Said)> = Vec::new();
        for (source, said) in said {
            let Some(at) = kept.iter().position(|(_, other)| said.facts.len() >= TELLING && said.is_within(other)) else {
                kept.push((source, said));
                continue;
            };
            let Some(known) = kept.get_mut(at) else { continue };
            // Of two renderings of one journal the one with fields says more.
            if known.1.is_within(&said) && richness(sources, source) > richness(sources, known.0) {
                let old = std::mem::replace(known, (source, said));
                copies.iter_mut().filter(|(_, of)| *of == old.0).for_each(|(_, of)| *of = source);
                copies.push((old.0, source));
            } else {
                copies.push((source, known.0));
            }
        }
    }
    copies.sort_unstable();
    copies
}

/// How much the envelopes of a source say beside the text: ids of invocations and boots, and the monotonic clock.
fn richness(sources: &Sources, source: usize) -> usize {
    let envelopes = sources.sources.get(source).map_or(&[][..], |source| &source.layout.envelopes);
    let of = |name: &str| match name {
        "journald-export" | "journald-verbose" => 2,
        name if name.starts_with("journald-json") => 2,
        _ => 1,
    };
    envelopes.iter().map(|envelope| of(envelope.name)).sum()
}

fn said(sources: &Sources, process: &Process) -> Said {
    let mut said = Said::default();
    let Some(reading) = Reading::new(sources, process) else { return said };
    let facts = reading.filter(|seen| seen.fact != Fact::Line).filter_map(|seen| Some((seen.wall?, seen)));
    for (wall, seen) in facts.take(COMPARED) {
        // To the second: renderings cut stamps. With host and process: two busy servers do alike in every second.
        said.add((&seen.fact, &seen.pid, &seen.host), wall.start.div_euclid(SECOND));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders() {
        assert!(within("a/b", "a") && within("a", "") && within("a", "a"));
        assert!(!within("ab", "a") && !within("a", "b") && !within("a", "a/b"));
        assert_eq!(folder("logs/w.log"), "logs");
        assert_eq!(folder("w.log"), "");
    }

    #[test]
    fn a_copy_says_nine_tenths_in_the_same_seconds() {
        let log = |facts: &[(&str, i64)]| {
            let mut said = Said::default();
            facts.iter().for_each(|(fact, second)| said.add(fact, *second));
            said
        };
        let ten: Vec<(&str, i64)> = (0..10).map(|second| ("batch", second)).collect();
        let whole = log(&ten);
        // Nine of its ten are there, then eight.
        assert!(whole.is_within(&log(&ten[..9])) && !whole.is_within(&log(&ten[..8])));
        assert!(log(&ten[..5]).is_within(&whole));
        let (later, other): (Vec<_>, Vec<_>) = ten.iter().map(|(fact, second)| ((*fact, second + 10), ("stop", *second))).unzip();
        assert!(!log(&later).is_within(&whole) && !log(&other).is_within(&whole));
        assert!(!Said::default().is_within(&whole) && !whole.is_within(&Said::default()));
    }
}
