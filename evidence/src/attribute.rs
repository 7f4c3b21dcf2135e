//! To whom an edge happened, as far as it can be proven, and why not further.

use std::collections::{BTreeMap, BTreeSet};

use crate::compiled::SignalRef;
use crate::definition::{Concerns, Edge, Proves, Signal, System};
use crate::identity::RequestNo;
use crate::instruments::State;
use crate::judge::{AllShown, Judge, Occurred, Population, Shown};
use crate::verdict::{Activity, Attribution, Missing};

/// A signal's record says which request it is of.
pub(crate) fn names_request(signal: &Signal) -> bool {
    signal.identity.iter().any(|id| matches!(id.as_str(), "rid" | "request_id" | "bootstrap_room"))
}

/// What an attribution is made of.
pub(crate) struct About<'a> {
    pub edge: &'a Edge,
    pub activity: Activity,
    pub occurred: &'a Occurred,
    pub population: &'a Population,
    pub missing: &'a [Missing],
}

/// For request and for session.
pub(crate) fn of(judge: &Judge<'_>, about: &About<'_>) -> (Attribution, Attribution) {
    let About { edge, activity, occurred, population, missing } = *about;
    let happened = matches!(activity, Activity::Proven | Activity::Conflict);
    let weigh = |ids: &BTreeSet<RequestNo>| match edge.concerns {
        Concerns::RouterRequests => population.arrivals(ids.iter()),
        _ => ids.len(),
    };
    let (mut proven, n, unnamed): (BTreeSet<RequestNo>, usize, usize) = match edge.concerns {
        Concerns::Occurrences => {
            if activity == Activity::Absent {
                return (Attribution::Nothing, Attribution::Nothing);
            }
            // A record without an id may be of a request that another record names.
            let n = occurred.requests.len().max(usize::try_from(occurred.at_least).unwrap_or(usize::MAX));
            (occurred.requests.clone(), n, n - occurred.requests.len())
        }
        Concerns::RouterRequests => (passed(occurred, &population.router), population.router_arrivals, 0),
        Concerns::EngineRequests => {
            let n = if population.engine_unseen { population.router_arrivals } else { population.engine.len() };
            (passed(occurred, &population.engine), n, 0)
        }
    };
    if activity == Activity::NoSignal {
        proven.clear();
    }
    let k = weigh(&proven);
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let unproven = match edge.concerns {
        Concerns::Occurrences => unnamed,
        _ => n - k.min(n),
    };
    let reason = why_no_request(judge, edge, missing, unnamed > 0 && happened);
    if unproven > 0 || proven.is_empty() {
        reasons.insert(reason, unproven);
    }
    let needs = needs(judge, &edge.needs.request);
    let known_n = (n > 0).then_some(n);
    let request = if proven.is_empty() {
        Attribution::Unprovable { n: known_n, reasons: reasons.clone(), needs }
    } else {
        let needs = (unproven > 0).then_some(needs);
        Attribution::Proven { k, n, rest: reasons.clone(), needs }
    };
    let mut with_session = 0;
    for no in &proven {
        let Some(request) = judge.identity.requests.get(*no) else { continue };
        let times = weigh(&[*no].into());
        if request.sessions.is_empty() {
            *reasons.entry(why_no_session(judge, &request.sources)).or_default() += times;
        } else {
            with_session += times;
        }
    }
    let needs = self::needs(judge, &edge.needs.session);
    let session = if with_session == 0 {
        if proven.is_empty() {
            let none = why_no_session(judge, &BTreeSet::new());
            if session_instruments(judge).iter().all(|i| saying_sessions(judge, *i).is_empty()) {
                reasons.insert(none, n);
            }
        }
        Attribution::Unprovable { n: known_n, reasons, needs }
    } else {
        let needs = (with_session < n).then_some(needs);
        Attribution::Proven { k: with_session, n, rest: reasons, needs }
    };
    (request, session)
}

fn passed(occurred: &Occurred, concerned: &BTreeSet<RequestNo>) -> BTreeSet<RequestNo> {
    occurred.known.keys().filter(|no| concerned.contains(no)).copied().collect()
}

/// Records that each show one request at the router, by the signal that has most: so many requests there were at least, whether or not their ids
/// are known. Beyond arrivals themselves only choices of a worker count that name nobody: others may be several of one request.
pub(crate) fn arrived(judge: &Judge<'_>, shown: &AllShown) -> usize {
    let of = |(at, shown): (&SignalRef, &Shown)| {
        let edge = judge.edges.edges().get(usize::from(at.edge))?;
        let signal = judge.edges.get(*at)?;
        let arrival = at.edge == 0 && !signal.identity.is_empty();
        let whole = edge.concerns == Concerns::RouterRequests && signal.direct && signal.proves == Proves::Transition;
        let most = |of: fn(&(u64, u64)) -> u64| shown.by_ledger.values().map(of).max();
        if arrival { most(|(named, unnamed)| named + unnamed) } else { most(|(_, unnamed)| *unnamed).filter(|_| whole) }
    };
    shown.iter().filter_map(of).max().and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
}

/// The measurement for the systems that the run is of.
fn needs(judge: &Judge<'_>, needs: &BTreeMap<System, String>) -> String {
    let of = |system| needs.get(&system).filter(|_| judge.instruments.concerns(system));
    // The frontend's switches reach further than an engine's.
    let found = [System::Dynamo, System::Sglang, System::Gateway, System::Any].into_iter().find_map(of);
    found.or_else(|| needs.values().next()).cloned().unwrap_or_default()
}

fn titles(judge: &Judge<'_>, instruments: impl Iterator<Item = usize>) -> String {
    let mut titles: Vec<&str> = Vec::new();
    for i in instruments {
        if let Some(instrument) = judge.edges.instruments().get(i)
            && judge.instruments.concerns(instrument.system)
            && !titles.contains(&instrument.title.as_str())
        {
            titles.push(&instrument.title);
        }
    }
    titles.join(", ")
}

fn why_no_request(judge: &Judge<'_>, edge: &Edge, missing: &[Missing], unnamed: bool) -> String {
    let bearing: Vec<usize> =
        edge.signals.iter().filter(|s| s.direct && names_request(s)).filter_map(|s| judge.edges.instrument_of(s)).collect();
    let there = titles(judge, bearing.iter().copied().filter(|i| judge.instruments.is_there(*i)));
    let absent = titles(judge, missing.iter().filter(|m| m.identity).map(|m| m.instrument));
    if unnamed {
        let absent = if absent.is_empty() { String::new() } else { format!("; not there: {absent}") };
        return format!("what shows it names no request{absent}");
    }
    match (there.is_empty(), absent.is_empty()) {
        (true, true) => "nothing that these systems write names a request here".to_string(),
        (true, false) => format!("nothing captured names a request here; not there: {absent}"),
        (false, true) => format!("no record of them in {there}"),
        (false, false) => format!("no record of them in {there}; not there: {absent}"),
    }
}

/// Signals whose records say a session: under its own name, or by the key that keeps a session's requests on one worker.
fn session_signals<'j>(judge: &Judge<'j>) -> impl Iterator<Item = (usize, &'j Signal)> {
    let edges = judge.edges;
    let bears = |s: &&Signal| s.identity.iter().any(|id| matches!(id.as_str(), "session" | "routing_key"));
    edges.all().map(|(_, s)| s).filter(bears).filter_map(|s| Some((edges.instrument_of(s)?, s)))
}

fn session_instruments(judge: &Judge<'_>) -> BTreeSet<usize> {
    session_signals(judge).map(|(i, _)| i).collect()
}

/// The ledgers of an instrument that have a record of a kind that can say a session: being there is not enough, where most of what it writes
/// has none.
fn saying_sessions(judge: &Judge<'_>, instrument: usize) -> BTreeSet<usize> {
    let State::There(ledgers) = judge.instruments.state(instrument) else { return BTreeSet::new() };
    let has_kind = |l: &&usize| {
        let Some(ledger) = judge.ledgers.get(**l) else { return false };
        session_signals(judge).any(|(i, s)| i == instrument && s.kinds.iter().any(|k| ledger.kinds.contains_key(k.as_str())))
    };
    ledgers.iter().filter(has_kind).copied().collect()
}

fn why_no_session(judge: &Judge<'_>, sources: &BTreeSet<usize>) -> String {
    let all = session_instruments(judge);
    let saying: BTreeMap<usize, BTreeSet<usize>> =
        all.iter().map(|i| (*i, saying_sessions(judge, *i))).filter(|(_, l)| !l.is_empty()).collect();
    let own = titles(judge, saying.iter().filter(|(_, l)| !l.is_disjoint(sources)).map(|(i, _)| *i));
    if !own.is_empty() {
        return format!("its record in {own} bears no session");
    }
    let there = titles(judge, saying.keys().copied());
    if !there.is_empty() {
        return format!("no record of it in {there}");
    }
    let absent = titles(judge, all.iter().copied().filter(|i| !judge.instruments.is_there(*i)));
    let absent = if absent.is_empty() { String::new() } else { format!("; not there: {absent}") };
    format!("nothing captured bears a session{absent}")
}
