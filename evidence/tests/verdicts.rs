//! What must hold of verdicts whatever a run holds, and which ids are one request.

#[path = "verdicts/identity.rs"]
mod identity;
#[path = "verdicts/records.rs"]
mod records_of_logs;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use corr_evidence::builtin::table;
use corr_evidence::compiled::{Edges, SignalRef};
use corr_evidence::definition::{Concerns, Condition, Literal, Proves, Signal};
use corr_evidence::identity::Identity;
use corr_evidence::instruments::{Instruments, State};
use corr_evidence::judge::{Findings, Judge, Population};
use corr_evidence::ledger::{Cite, SourceLedger, overlaps};
use corr_evidence::scope::Scope;
use corr_evidence::twins::Twins;
use corr_evidence::verdict::{Activity, Attribution, Counter, Verdict};
use corr_parsers::FORMATS;
use corr_parsers::event::{Event, Field, Kind, Level, Value};
use corr_parsers::ids::IdKind;
use corr_parsers::stamp::Stamp;
use proptest::prelude::*;

const SECOND: i64 = 1_000_000_000;

fn edges() -> Edges {
    Edges::new([table().unwrap()]).unwrap()
}

/// A kind as a format declares it.
fn kind(format: &str, name: &str) -> Option<(&'static str, &'static Kind)> {
    let format = FORMATS.iter().find(|f| f.name == format)?;
    Some((format.name, format.kinds.iter().copied().find(|k| k.name == name)?))
}

fn value(literal: &Literal) -> Value<'static> {
    match literal {
        Literal::Bool(b) => Value::Bool(*b),
        Literal::Int(n) => Value::Int(*n),
        Literal::Float(n) => Value::Float(*n),
        Literal::Text(text) => Value::Str(Cow::Owned(text.clone())),
    }
}

/// A field that meets a condition.
fn met(condition: &Condition) -> Option<Value<'static>> {
    if condition.present == Some(false) {
        return None;
    }
    if let Some(is) = condition.is.as_ref().or(condition.one_of.first()) {
        return Some(value(is));
    }
    condition.above.map(|above| Value::Float(above + 1.0)).or(condition.present.map(|_| Value::Str("x".into())))
}

/// One record of a made-up run.
#[derive(Clone, Debug)]
struct Made {
    /// Which signal of the table it is, and in which of two sources of its format it stands.
    signal: usize,
    copy: u8,
    request: Option<u8>,
    /// A second one that the record lists.
    other: Option<u8>,
    session: Option<u8>,
    amount: Option<u8>,
    second: u8,
}

/// A counter's answer in a made-up run.
#[derive(Clone, Debug)]
struct Counted {
    signal: usize,
    inner: u8,
    base: u8,
    gap: bool,
}

/// A record that is the signal, in a format of its instrument that has its kind.
fn event(edges: &Edges, signal: &Signal, made: &Made) -> Option<(&'static str, Event<'static>)> {
    let instrument = &edges.instruments()[edges.instrument_of(signal).unwrap()];
    let (format, kind) = instrument.formats.iter().find_map(|f| signal.kinds.iter().find_map(|k| kind(f, k)))?;
    let mut event = Event::new(kind);
    event.level = signal.level.as_deref().and_then(Level::read).or(Some(Level::Info));
    let mut field = |name: &str, value: Value<'static>| {
        event.fields.push(Field { name: Cow::Owned(name.to_string()), raw: Cow::Owned(name.to_string()), value });
    };
    for condition in &signal.conditions {
        if let Some(value) = met(condition) {
            field(&condition.field, value);
        }
    }
    match (&signal.amount, made.amount, &signal.zero_when) {
        (Some(names), Some(amount), _) => field(names.split('+').next().unwrap(), Value::Int(i64::from(amount))),
        (Some(_), None, Some(zero)) => {
            if let Some(value) = met(zero) {
                field(&zero.field, value);
            }
        }
        _ => {}
    }
    if let Some(request) = made.request {
        event.id(IdKind::RequestId, format!("r{request}"));
        if let Some(other) = made.other {
            event.id(IdKind::RequestId, format!("r{other}"));
        }
        if let Some(session) = made.session {
            event.id(IdKind::Session, format!("s{session}"));
        }
    }
    Some((format, event))
}

struct Run {
    edges: Edges,
    ledgers: Vec<SourceLedger>,
    families: BTreeSet<String>,
    counters: Vec<Counter>,
}

fn run(made: &[Made], counted: &[Counted], window: Option<(i64, i64)>) -> Run {
    let edges = edges();
    let all: Vec<(SignalRef, Signal)> = edges.all().map(|(at, s)| (at, s.clone())).collect();
    let records: Vec<&Signal> = all.iter().map(|(_, s)| s).filter(|s| s.metric.is_none()).collect();
    let metrics: Vec<&(SignalRef, Signal)> = all.iter().filter(|(_, s)| s.metric.is_some()).collect();
    let mut ledgers: BTreeMap<(&str, u8), SourceLedger> = BTreeMap::new();
    for (line, made) in made.iter().enumerate() {
        let Some((format, event)) = event(&edges, records[made.signal % records.len()], made) else { continue };
        let number = u32::try_from(ledgers.len()).unwrap();
        let ledger = ledgers.entry((format, made.copy)).or_insert_with(|| SourceLedger::new(number, None, None));
        let cite = Cite { source: ledger.source, offset: line as u64 * 10, length: 10, line: line as u64 + 1 };
        let when = Stamp::new(i64::from(made.second) * SECOND, SECOND);
        ledger.add(&edges, format, &event, Some(when), None, cite, window);
    }
    let mut ledgers: Vec<SourceLedger> = ledgers.into_values().collect();
    ledgers.sort_by_key(|l| l.source);
    let mut families = BTreeSet::new();
    let mut counters = Vec::new();
    for counted in counted {
        let (at, signal) = metrics[counted.signal % metrics.len()];
        families.insert(signal.metric.clone().unwrap());
        counters.push(Counter {
            signal: *at,
            series: signal.metric.clone().unwrap(),
            endpoint: "e".into(),
            worker: None,
            rankless: String::new(),
            never_seen: false,
            inner: Some(f64::from(counted.inner)),
            outer: None,
            base: f64::from(counted.base),
            resets: 0,
            gap: counted.gap.then(|| "a gap".to_string()),
            cites: Vec::new(),
            between: None,
        });
    }
    Run { edges, ledgers, families, counters }
}

fn of<T: Clone + std::fmt::Debug + 'static>(of: impl Strategy<Value = T> + 'static) -> BoxedStrategy<Option<T>> {
    prop::option::of(of).boxed()
}

fn records() -> impl Strategy<Value = Vec<Made>> {
    let one = (any::<prop::sample::Index>(), 0..2u8, of(0..4u8), of(0..4u8), of(0..2u8), of(0..3u8), 0..10u8);
    let one = one.prop_map(|(signal, copy, request, other, session, amount, second)| Made {
        signal: signal.index(10_000),
        copy,
        request,
        other,
        session,
        amount,
        second,
    });
    prop::collection::vec(one, 0..25)
}

fn counters() -> impl Strategy<Value = Vec<Counted>> {
    let one = (any::<prop::sample::Index>(), 0..2u8, 0..2u8, any::<bool>());
    let one = one.prop_map(|(signal, inner, base, gap)| Counted { signal: signal.index(10_000), inner, base, gap });
    prop::collection::vec(one, 0..6)
}

fn windows() -> impl Strategy<Value = Option<(i64, i64)>> {
    of((0..6i64, 1..6i64)).prop_map(|w| w.map(|(from, long)| (from * SECOND, (from + long) * SECOND)))
}

/// An instrument that shows none was there and reached over the window.
fn shown_absent(
    run: &Run,
    identity: &Identity,
    instruments: &Instruments,
    population: &Population,
    scope: &Scope,
    verdict: &Verdict,
) -> bool {
    let edge = &run.edges.edges()[verdict.edge];
    let still = run.counters.iter().any(|c| {
        let own = usize::from(c.signal.edge) == verdict.edge && run.edges.get(c.signal).unwrap().direct;
        own && !c.moved() && c.gap.is_none()
    });
    let silent = edge.signals.iter().filter(|s| s.direct && s.silence_is_zero).any(|s| {
        let State::There(of) = instruments.state(run.edges.instrument_of(s).unwrap()) else { return false };
        let spans = of.iter().filter_map(|l| run.ledgers[*l].span);
        let Some((from, to)) = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) else { return false };
        scope.window.is_none_or(|w| from <= w.0 && to >= w.1)
    });
    let concerned = if edge.concerns == Concerns::RouterRequests { &population.router } else { &population.engine };
    let said = |no: &usize| {
        identity.requests[*no]
            .seen(&run.ledgers)
            .any(|(_, s)| usize::from(s.signal.edge) == verdict.edge && run.edges.get(s.signal).unwrap().direct)
    };
    still || silent || (!concerned.is_empty() && concerned.iter().all(said))
}

/// A record of the transition itself, with something in it.
fn shown_happened(run: &Run, scope: &Scope, verdict: &Verdict) -> bool {
    run.ledgers.iter().any(|ledger| {
        let own = |at: SignalRef| {
            let signal = run.edges.get(at).unwrap();
            let plain = signal.only_if.is_none() && signal.unless.is_none() && signal.zeros_only_if.is_none();
            usize::from(at.edge) == verdict.edge && signal.direct && signal.proves == Proves::Transition && plain
        };
        let sighted = ledger.sightings.iter().any(|s| {
            let inside = scope.window.is_none_or(|w| overlaps(s.when, w));
            own(s.signal) && s.amount.is_none_or(|a| a > 0.0) && inside
        });
        sighted || ledger.tallies.iter().any(|(at, t)| own(*at) && t.count > 0 && t.amount.is_none_or(|a| a > 0.0))
    })
}

fn check_attribution(of: &Attribution, activity: Activity, what: &str) -> Result<(), TestCaseError> {
    match of {
        Attribution::Proven { k, n, rest, needs } => {
            prop_assert!(*k > 0 && k <= n, "{what}: {k} of {n}");
            prop_assert_eq!(rest.values().sum::<usize>(), n - k, "{}: reasons {:?} for {} of {}", what, rest, k, n);
            prop_assert_eq!(needs.is_some(), k < n, "{}: {} of {}", what, k, n);
            prop_assert!(activity != Activity::NoSignal, "{what}: of what nothing shows");
        }
        Attribution::Unprovable { n, reasons, needs } => {
            prop_assert!(!reasons.is_empty() && !needs.is_empty(), "{what}: no reason or no measurement");
            prop_assert!(n.is_none_or(|n| n > 0), "{what}: of none");
        }
        Attribution::Nothing => prop_assert_eq!(activity, Activity::Absent, "{}", what),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn verdicts_claim_no_more_than_is_shown(made in records(), counted in counters(), window in windows()) {
        let run = run(&made, &counted, window);
        let identity = Identity::new(&run.ledgers);
        let instruments = Instruments::new(&run.edges, &run.ledgers, &run.families);
        let scope = Scope { window, ..Scope::default() };
        let judge = Judge {
            edges: &run.edges,
            ledgers: &run.ledgers,
            twins: &Twins::new(&run.ledgers),
            identity: &identity,
            instruments: &instruments,
            counters: &run.counters,
            scope: &scope,
            all_cites: true,
        };
        let Findings { population, verdicts, .. } = judge.findings();
        prop_assert_eq!(verdicts.len(), 22);
        for verdict in &verdicts {
            let edge = &run.edges.edges()[verdict.edge];
            if verdict.activity == Activity::Absent {
                prop_assert!(shown_absent(&run, &identity, &instruments, &population, &scope, verdict), "{}: absent, by {:?}", edge.id, verdict.why);
                prop_assert!(verdict.why.is_some(), "{}", edge.id);
                prop_assert!(!shown_happened(&run, &scope, verdict), "{}: absent, and a record shows it", edge.id);
            }
            if verdict.activity == Activity::NoSignal {
                for whom in [&verdict.request, &verdict.session] {
                    prop_assert!(matches!(whom, Attribution::Unprovable { .. }), "{}: {whom:?}", edge.id);
                }
                prop_assert!(!shown_happened(&run, &scope, verdict), "{}: no signal, and a record shows it", edge.id);
            }
            check_attribution(&verdict.request, verdict.activity, &format!("{} by request", edge.id))?;
            check_attribution(&verdict.session, verdict.activity, &format!("{} by session", edge.id))?;
            if let (Attribution::Proven { k, .. }, Attribution::Proven { k: sessions, .. }) = (&verdict.request, &verdict.session) {
                prop_assert!(sessions <= k, "{}: more with a session than are proven", edge.id);
            }
            for proof in &verdict.proofs {
                prop_assert!(!proof.cites.is_empty() && proof.records > 0, "{}: a proof without a record", edge.id);
                for (stamp, cite) in proof.when.iter().flat_map(|when| [when.earliest, when.latest]) {
                    let second = i64::from(made[usize::try_from(cite.line).unwrap() - 1].second) * SECOND;
                    prop_assert_eq!(stamp, Stamp::new(second, SECOND), "{}: not the record's stamp", edge.id);
                    prop_assert!(window.is_none_or(|w| overlaps(Some(stamp), w)), "{}: outside of the window", edge.id);
                    let (first, last) = proof.when.map(|when| (when.earliest.0, when.latest.0)).unwrap();
                    prop_assert!(first.start <= last.start, "{}: the latest before the earliest", edge.id);
                }
                let cited: BTreeSet<&Cite> = proof.cites.iter().collect();
                prop_assert!(cited.len() == proof.cites.len() && cited.len() as u64 <= proof.records, "{}: a record counts once", edge.id);
            }
        }
    }

    /// Of a run of which nothing was captured everything is unknown, and nothing is zero.
    #[test]
    fn of_nothing_nothing_is_said(window in windows()) {
        let run = run(&[], &[], window);
        let identity = Identity::new(&run.ledgers);
        let instruments = Instruments::new(&run.edges, &run.ledgers, &run.families);
        let scope = Scope { window, ..Scope::default() };
        let judge = Judge {
            edges: &run.edges,
            ledgers: &run.ledgers,
            twins: &Twins::new(&run.ledgers),
            identity: &identity,
            instruments: &instruments,
            counters: &run.counters,
            scope: &scope,
            all_cites: false,
        };
        for verdict in judge.findings().verdicts {
            prop_assert_eq!(verdict.activity, Activity::NoSignal);
            prop_assert_eq!((verdict.count, verdict.amount), (None, None));
        }
    }
}
