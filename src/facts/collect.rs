//! All facts of a run: what records, commands and plans say, and what follows from them.

use std::collections::{BTreeMap, BTreeSet};

use corr_parsers::event::Value;
use corr_parsers::stamp::SECOND;

use super::files::{self, File};
use super::known::Of;
use super::records::Begun;
use super::table::{Asked, Table};
use super::whose::{self, Whose};
use super::{Basis, Cite, Fact, Who, ends, records};
use crate::query::phases::Phase;
use crate::query::sources::Sources;
use crate::render::shown::rfc3339;
use crate::run::layout::small_text;
use crate::run::source::{Class, NotRead, Source};
use crate::run::versions::{self, Hint};
use crate::run::{Run, discover};

/// Collects and sorts the facts of a run. Second come files that could not be read, or not whole.
pub fn table(sources: &Sources, run: &Run) -> (Table, Vec<NotRead>) {
    let whose = Whose::new(&sources.sources);
    let (said, mut not_read) = records::read(sources, &whose);
    let mut facts = said.facts;
    for source in run.sources.iter().filter(|s| files::is_asked(&s.key) && !matches!(s.class, Class::Metrics(_) | Class::Empty)) {
        match text_of(source) {
            Ok(text) => {
                let file = File { name: &source.name, key: &source.key, text };
                if let Some(why) = files::read(&file, &whose, &mut facts) {
                    let next = "what stands before it is answered; correct the file, or copy it again".into();
                    not_read.push(NotRead { name: source.name.clone(), why, next, failure: true });
                }
            }
            Err(why) => not_read.push(why),
        }
    }
    facts.extend(roles(sources));
    facts.extend(incarnations(&said.starts));
    facts.extend(bounds(&said.hints, &facts));
    for phase in sources.phases() {
        of_phase(&phase, &mut facts);
    }
    declared(sources, &mut facts);
    facts.extend(ends::state(&said.ends));
    let pools = pools(&facts);
    facts.extend(pools);
    let mut asked = asked(sources);
    if let Some(start) = ends::started(&said.ends) {
        asked.of_the_end = Some(format!("the benchmark began ({}); no record says how it ended", start.cite.at()));
    }
    (Table::new(facts, &asked), not_read)
}

fn text_of(source: &Source) -> Result<String, NotRead> {
    match small_text(&source.path) {
        Some(text) => Ok(text),
        None => Err(match std::fs::File::open(&source.path) {
            Err(error) => discover::unreadable(source.name.clone(), &error),
            Ok(_) => {
                let why = "too large for a configuration: its facts are not read".to_string();
                NotRead { name: source.name.clone(), why, next: String::new(), failure: false }
            }
        }),
    }
}

/// Which role each process has, and how that is known.
fn roles(sources: &Sources) -> Vec<Fact> {
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for source in &sources.sources {
        let who = whose::of_source(source);
        let serves = who.role.as_deref().is_some_and(|r| !matches!(r, "client" | "infra"));
        if let (Some(_), Some(role), true) = (&who.worker, &who.role, serves)
            && seen.insert(who.clone())
        {
            let cite = Cite { name: source.name.clone(), line: 0, key: None };
            let mut fact = Fact::new("role", Value::Str(role.clone().into()), &who, Basis::Record, cite);
            fact.note = Some(source.owner.how.clone());
            out.push(fact);
        }
    }
    out
}

/// How often each process started, as far as its records show. The same start in another file of the process is no other one.
fn incarnations(starts: &[Begun]) -> Vec<Fact> {
    let mut by_who: BTreeMap<&Who, BTreeMap<&str, Vec<Vec<&Begun>>>> = BTreeMap::new();
    for start in starts {
        let known = by_who.entry(&start.who).or_default().entry(start.kind).or_default();
        let same = |other: &Begun| {
            let when = start.stamp.zip(other.stamp).is_some_and(|(a, b)| a.start < b.end && b.start < a.end);
            when && start.cite.name != other.cite.name
        };
        match known.iter_mut().find(|one| one.iter().all(|other| same(other))) {
            Some(one) => one.push(start),
            None => known.push(vec![start]),
        }
    }
    let mut out = Vec::new();
    for (who, kinds) in by_who {
        // A process may print more than one line that is a start's.
        let Some((kind, found)) = kinds.into_iter().max_by_key(|(_, found)| found.len()) else { continue };
        let mut cites = found.iter().filter_map(|one| one.first()).map(|start| start.cite.clone());
        let Some(first) = cites.next() else { continue };
        let n = Value::Int(i64::try_from(found.len()).unwrap_or(i64::MAX));
        let mut fact = Fact::new("incarnations", n, who, Basis::Record, first);
        fact.cites.extend(cites);
        fact.note = Some(format!("starts that its records show ({kind})"));
        out.push(fact);
    }
    out
}

/// Versions as far as the look of the records bounds them, where nothing names them.
fn bounds(hints: &[(&'static Hint, Cite)], facts: &[Fact]) -> Vec<Fact> {
    let all: Vec<&'static Hint> = hints.iter().map(|(hint, _)| *hint).collect();
    let mut out = Vec::new();
    for range in versions::ranges(&all) {
        let name = if range.product == "SGLang" { "sglang_version" } else { "dynamo_version" };
        if facts.iter().any(|f| f.name == name && f.basis == Basis::Record) {
            continue;
        }
        let text = range.text();
        let bound = text.strip_prefix(range.product).unwrap_or(&text).trim().to_string();
        let mut cites: Vec<Cite> = Vec::new();
        for why in &range.why {
            cites.extend(hints.iter().find(|(hint, _)| hint.why == *why).map(|(_, cite)| cite.clone()));
        }
        let mut cites = cites.into_iter();
        let Some(first) = cites.next() else { continue };
        let mut fact = Fact::new(name, Value::Str(bound.into()), &Who::default(), Basis::Bounds, first);
        fact.cites.extend(cites);
        fact.note = Some(format!("by {}", range.why.join(" and ")));
        out.push(fact);
    }
    out
}

/// A window that the run's records name: its ends, and its requests.
fn of_phase(phase: &Phase, facts: &mut Vec<Fact>) {
    let mut cites = phase.ends.iter().map(|(name, line)| Cite { name: name.clone(), line: *line, key: None });
    let Some(first) = cites.next() else { return };
    let rest: Vec<Cite> = cites.collect();
    let until = phase.until.map_or_else(|| "the run's end".to_string(), time);
    let span = format!("{} to {until}", time(phase.since));
    let mut push = |name: String, value: Value<'static>, note: &str| {
        let mut fact = Fact::new(name, value, &Who::default(), Basis::Record, first.clone());
        fact.cites.extend(rest.iter().filter(|c| **c != first).cloned());
        fact.note = Some(note.to_string());
        facts.push(fact);
    };
    push(format!("{}_window", phase.name), Value::Str(span.into()), &phase.how);
    if let Some(n) = phase.requests {
        let n = Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
        push(format!("{}_requests", phase.name), n, "requests of the load generator, by its own records");
    }
}

/// A time with the digits that it has.
fn time(ns: i64) -> String {
    let width = [SECOND, 1_000_000, 1_000].into_iter().find(|width| ns % width == 0).unwrap_or(1);
    rfc3339(ns, width)
}

/// Windows of `corr.toml`, as they are written.
fn declared(sources: &Sources, facts: &mut Vec<Fact>) {
    for (name, window) in sources.declared.windows() {
        let since = window.since.as_deref().unwrap_or("the run's start");
        let until = window.until.as_deref().unwrap_or("the run's end");
        let cite = Cite { name: sources.root.join("corr.toml").display().to_string(), line: 0, key: Some(format!("windows.{name}")) };
        let value = Value::Str(format!("{since} to {until}").into());
        let mut fact = Fact::new(format!("{name}_window"), value, &Who::default(), Basis::Plan, cite);
        fact.note = Some("declared in corr.toml".into());
        facts.push(fact);
    }
}

/// The pool of a worker that says blocks and their size, in tokens.
fn pools(facts: &[Fact]) -> Vec<Fact> {
    let mut out = Vec::new();
    let of = |name: &str, worker: &str| -> Option<&Fact> {
        let mut all = facts.iter().filter(|f| f.name == name && f.worker.as_deref() == Some(worker) && f.basis == Basis::Record);
        let first = all.next()?;
        all.all(|f| f.value == first.value).then_some(first)
    };
    let workers: BTreeSet<&str> = facts.iter().filter(|f| f.name == "kv_pool_blocks").filter_map(|f| f.worker.as_deref()).collect();
    for worker in workers {
        let (None, Some(blocks), Some(size)) = (of("kv_pool_tokens", worker), of("kv_pool_blocks", worker), of("block_size", worker))
        else {
            continue;
        };
        let (Value::Int(n), Value::Int(tokens)) = (&blocks.value, &size.value) else { continue };
        let (Some(pool), Some(cite)) = (n.checked_mul(*tokens), blocks.cites.first()) else { continue };
        let who = Who { worker: blocks.worker.clone(), role: blocks.role.clone() };
        let mut fact = Fact::new("kv_pool_tokens", Value::Int(pool), &who, Basis::Computed, cite.clone());
        fact.cites.extend(size.cites.iter().filter(|c| *c != cite).cloned());
        fact.note = Some(format!("{n} blocks of {tokens} tokens"));
        out.push(fact);
    }
    out
}

/// Of whom which facts are asked.
fn asked(sources: &Sources) -> Asked {
    let mut asked = Asked::default();
    for source in &sources.sources {
        let who = whose::of_source(source);
        if who.worker.is_none() {
            continue;
        }
        let engine = matches!(who.role.as_deref(), Some("prefill" | "decode" | "unified"));
        let sorts: &[Of] = match source.format {
            "sglang" | "sglang-json" if engine => &[Of::Engine, Of::Sglang, Of::Hicache],
            "dynamo-text" | "dynamo-jsonl" if engine => &[Of::Engine],
            "dynamo-text" | "dynamo-jsonl" if matches!(who.role.as_deref(), Some("frontend" | "router")) => &[Of::Frontend],
            "gateway" | "gateway-json" => &[Of::Gateway],
            _ => &[],
        };
        for of in sorts {
            let all = asked.who.entry(*of).or_default();
            if !all.contains(&who) {
                all.push(who.clone());
            }
        }
    }
    asked
}
