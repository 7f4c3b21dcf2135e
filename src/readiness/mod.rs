//! Starts, stops and restarts of a run's servers: everything that bears on them is read, given to the state machine, and asked.
//!
//! Logs of processes → `stream` → observations, merged by time. Clients and polls → `polls`, captures → `scrapes` → rows, linked to units by `link`.

pub mod link;
pub mod lives;
pub mod places;
pub mod polls;
pub mod processes;
pub mod remarks;
pub mod scrapes;
pub mod stream;
pub mod windows;

use std::collections::BTreeSet;

use corr_metrics::model::EndpointId;
use corr_readiness::merge::Merge;
use corr_readiness::rows::{Row, What};
use corr_readiness::{Cite, Fact, History, Machine, Options, UnitHistory};
use rayon::prelude::*;

use self::link::{Configured, Linked, Unit};
use self::processes::Process;
use self::stream::Reading;
use crate::metrics::asked::{Asked, title};
use crate::query::sources::Sources;
use crate::run::Run;

/// What was seen from outside of one target, and which unit it was taken for.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The target's own name or URL; empty where its records have none.
    pub target: String,
    /// The source or capture.
    pub of: String,
    /// `polls`, `clients`, `scrapes`.
    pub what: &'static str,
    pub rows: u64,
    /// Host and unit.
    pub unit: Option<(String, String)>,
    pub how: String,
}

/// The lives of a run's servers.
#[derive(Debug)]
pub struct Readiness {
    pub history: History,
    pub seen: Vec<Seen>,
    /// Sources that repeat another one and were not read: their names and what they repeat.
    pub copies: Vec<(String, String)>,
    /// Logs of processes that were read.
    pub logs: usize,
}

/// Configurations that are kept: more than any run has starts.
const MOST_CONFIGURED: usize = 100_000;

/// Reads what bears on readiness. `captures` may be empty.
pub fn gather(sources: &Sources, captures: Option<(&Run, &Asked<'_>)>, options: Options) -> Readiness {
    let (logs, copies) = processes::find(sources);
    let mut machine = Machine::new(options);
    let configured = feed(sources, &logs, &mut machine);
    let mut known: Vec<usize> = logs.iter().map(|log| log.source).collect();
    known.extend(copies.iter().map(|(copy, _)| *copy));
    let calls = polls::all(sources, &known);
    let roles = |host: &str, unit: &str| {
        let of = logs.iter().filter(|log| log.host == host && log.unit == unit);
        of.filter_map(|log| sources.sources.get(log.source)?.owner.role.clone()).next()
    };
    let logged = machine.history();
    let units: Vec<Unit> = link::units(&logged, &configured, &roles);
    // Of a journal's units those count that are servers; a daemon is nobody's target.
    let mut outside = Outside { units, rows: Vec::new(), seen: Vec::new() };
    for calls in &calls {
        outside.calls(calls, sources);
    }
    if let Some((run, asked)) = captures {
        outside.captures(run, asked, sources.sources.len());
    }
    let Outside { mut rows, seen, .. } = outside;
    rows.sort_by_key(|row| (row.until.start, row.cite));
    for row in &rows {
        machine.take_row(row);
    }
    let name = |number: usize| sources.sources.get(number).map_or_else(String::new, |source| source.name.clone());
    let copies = copies.into_iter().map(|(copy, of)| (name(copy), name(of))).collect();
    // Rows alone add to what the logs said.
    let history = if rows.is_empty() { logged } else { machine.history() };
    Readiness { history, seen, copies, logs: logs.len() }
}

/// Gives the logs of processes to the machine, by time; what configurations say comes back.
fn feed(sources: &Sources, logs: &[Process], machine: &mut Machine) -> Vec<Configured> {
    let mut configured = Vec::new();
    let readings: Vec<Reading<'_>> = logs.par_iter().filter_map(|log| Reading::new(sources, log)).collect();
    std::thread::scope(|scope| {
        let feeds: Vec<_> = readings.into_iter().map(|reading| reading.start(scope)).collect();
        for seen in Merge::new(feeds) {
            if let Fact::ServerArgs(args) = &seen.fact
                && configured.len() < MOST_CONFIGURED
            {
                configured.push(Configured {
                    host: seen.host.clone(),
                    unit: seen.unit.clone(),
                    pid: seen.pid,
                    port: args.port.and_then(|port| u16::try_from(port).ok()),
                    disaggregation: args.disaggregation.clone(),
                });
            }
            machine.take(&seen);
        }
    });
    configured
}

/// What is seen from outside, while it is linked.
struct Outside {
    units: Vec<Unit>,
    rows: Vec<Row>,
    seen: Vec<Seen>,
}

impl Outside {
    /// Host and unit of a link; of a target that is no unit of a log, a unit by its own name, if it may be one.
    fn unit(&self, linked: &Linked, name: &str) -> Option<(String, String)> {
        match linked.unit.and_then(|at| self.units.get(at)) {
            Some(unit) => Some((unit.host.clone(), unit.name.clone())),
            None if !name.is_empty() => Some((String::new(), name.to_string())),
            None => None,
        }
    }

    fn note(&mut self, target: &str, of: &str, what: &'static str, rows: usize, unit: Option<(String, String)>, linked: &Linked) {
        let how = match (&unit, linked.unit) {
            (Some(_), None) => "no log of it is here: seen from outside only".to_string(),
            _ => linked.how.clone(),
        };
        self.seen.push(Seen { target: target.to_string(), of: of.to_string(), what, rows: rows as u64, unit, how });
    }

    fn calls(&mut self, calls: &polls::Calls, sources: &Sources) {
        let Some(source) = sources.sources.get(calls.source) else { return };
        let mut rows = vec![0usize; calls.targets.len()];
        for call in &calls.calls {
            if let Some(rows) = rows.get_mut(call.target) {
                *rows += 1;
            }
        }
        let mut units = Vec::with_capacity(calls.targets.len());
        for (target, rows) in calls.targets.iter().zip(rows) {
            let linked = link::target(target, &self.units);
            let name = if target.name.is_empty() { target.url.as_str() } else { target.name.as_str() };
            // A client's target without a log is no process that anybody asks about; a polled one is.
            let unit = self.unit(&linked, if calls.polls { name } else { "" });
            let what = if calls.polls { "polls" } else { "clients" };
            self.note(name, &source.name, what, rows, unit.clone(), &linked);
            units.push(unit);
        }
        if calls.beyond > 0 {
            self.seen.push(Seen {
                target: String::new(),
                of: source.name.clone(),
                what: if calls.polls { "polls" } else { "clients" },
                rows: calls.beyond,
                unit: None,
                how: format!("left out: the source names more than {} targets", polls::MOST_TARGETS),
            });
        }
        for call in &calls.calls {
            if let Some(Some((host, unit))) = units.get(call.target) {
                self.rows.push(Row {
                    cite: call.cite,
                    host: host.clone(),
                    unit: unit.clone(),
                    from: call.from,
                    until: call.until,
                    what: call.what.clone(),
                });
            }
        }
    }

    fn captures(&mut self, run: &Run, asked: &Asked<'_>, first: usize) {
        for (number, captured) in asked.captures.iter().enumerate().filter(|(_, captured)| !captured.is_log()) {
            let Ok(source) = u32::try_from(first + number) else { continue };
            let logged = scrapes::Logged::of(run, captured);
            for (id, endpoint) in captured.capture().endpoints.iter().enumerate() {
                let Ok(id) = u32::try_from(id) else { continue };
                let scraped = scrapes::of_endpoint(captured, &logged, EndpointId(id), source);
                if scraped.is_empty() {
                    continue;
                }
                let linked = link::endpoint(endpoint, &self.units);
                // An exporter of a machine is no server: of an endpoint without a log only one that serves a model counts.
                let serves = scraped.iter().any(|row| matches!(row.what, What::Scrape { kv_in_use: Some(_), .. }));
                let name = title(endpoint);
                let unit = self.unit(&linked, if serves { &name } else { "" });
                self.note(&name, &captured.name, "scrapes", scraped.len(), unit.clone(), &linked);
                let Some((host, unit)) = unit else { continue };
                let row = |scraped: scrapes::Scraped| Row {
                    cite: scraped.cite,
                    host: host.clone(),
                    unit: unit.clone(),
                    from: scraped.from,
                    until: scraped.until,
                    what: scraped.what,
                };
                self.rows.extend(scraped.into_iter().map(row));
            }
        }
    }
}

/// Is it a server, by what its records say of its life, or by what became of a start? Of a journal most units are not, and a log of requests is
/// none.
pub fn is_server(unit: &UnitHistory) -> bool {
    use corr_readiness::history::{Opened, Point, Verdict};
    const SERVES: &[Point] = &[
        Point::ServerArgs,
        Point::RuntimeBegan,
        Point::InitBegan,
        Point::LoadBegin,
        Point::LoadEnd,
        Point::Sized,
        Point::ServerProcess,
        Point::Listening,
        Point::ReadyLine,
        Point::WarmupFailed,
        Point::Registered,
        Point::Served,
        Point::Batch,
        Point::Crashed,
    ];
    !unit.loops.is_empty()
        || unit.invocations.iter().any(|run| {
            run.opened == Opened::ByRows || run.verdict == Verdict::NeverRan || run.seen.iter().any(|(point, _)| SERVES.contains(point))
        })
}

/// Every citation in a value that was written from a history.
pub fn cites(value: &serde_json::Value, into: &mut BTreeSet<Cite>) {
    match value {
        serde_json::Value::Object(members) => match cite(members) {
            Some(cite) => _ = into.insert(cite),
            None => members.values().for_each(|member| cites(member, into)),
        },
        serde_json::Value::Array(items) => items.iter().for_each(|item| cites(item, into)),
        _ => {}
    }
}

/// `{"source":…,"offset":…,"len":…}`, and nothing else.
pub fn cite(members: &serde_json::Map<String, serde_json::Value>) -> Option<Cite> {
    let number = |name: &str| members.get(name)?.as_u64();
    if members.len() != 3 {
        return None;
    }
    Some(Cite { source: u32::try_from(number("source")?).ok()?, offset: number("offset")?, len: u32::try_from(number("len")?).ok()? })
}
