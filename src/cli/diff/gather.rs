//! What is read of one run for a comparison.

use std::collections::BTreeSet;

use corr_evidence::compiled::Edges;
use corr_evidence::verdict::Verdict;
use corr_metrics::coverage::{self, Coverage};
use corr_metrics::model::Kind;
use corr_metrics::select::Selector;
use corr_parsers::clock::How;

use super::figure;
use crate::cli::edges::edge;
use crate::cli::line::Line;
use crate::cli::query::zone_of_flags;
use crate::diff::figures::{Figure, of_throughput};
use crate::diff::verdicts::{Counted, Proved, Said};
use crate::diff::{Scraped, Side, Windowed};
use crate::evidence::{Evidence, Judged, counters};
use crate::facts::collect;
use crate::metrics::around::Around;
use crate::metrics::asked::{Asked, Hit};
use crate::metrics::common::Covers;
use crate::metrics::figures::{self, QUANTILES};
use crate::metrics::read::{self, Read};
use crate::metrics::span::{Placed, Span};
use crate::metrics::workers::{self, Worker};
use crate::query::extent::extent;
use crate::query::sources::{self, Sources};
use crate::query::timespec::Context;
use crate::query::window::{self, Flags, Known, Times};
use crate::query::{locate, phases};
use crate::readiness::{self, windows};
use crate::render::evidence::{shell, table};
use crate::run::source::NotRead;
use crate::run::{self, Options, Run};

/// What is asked of each run.
pub struct Ask<'a> {
    pub when: Flags<'a>,
    pub edges: &'a [String],
    /// Empty: the default families.
    pub selectors: &'a [Selector],
    pub tz: &'a [String],
    pub now: i64,
}

impl Ask<'_> {
    fn said(&self) -> Vec<(&'static str, &str)> {
        let all = [("window", self.when.window), ("since", self.when.since), ("until", self.when.until)];
        all.into_iter().filter_map(|(flag, value)| Some((flag, value?))).collect()
    }

    /// The flags of window and zone, as a command takes them.
    fn flags(&self) -> String {
        let window = self.said().into_iter().fold(Line::of(""), |line, (flag, value)| line.flag(flag, &[value]));
        window.flag("tz", self.tz).text()
    }

    /// The same with a window by its ends, UTC ns.
    fn flags_of(&self, from: i64, to: i64) -> String {
        Line::of("").window(Some((from, to))).flag("tz", self.tz).text()
    }

    fn title(&self) -> String {
        let parts: Vec<String> = self.said().iter().map(|(flag, value)| format!("{flag} {value}")).collect();
        if parts.is_empty() { "whole run".into() } else { parts.join(", ") }
    }
}

/// Reads a run. Second come notes for standard error.
///
/// # Errors
/// If it cannot be opened, or has no such window or edge.
pub fn side(name: &str, ask: &Ask<'_>) -> anyhow::Result<(Side, Vec<String>)> {
    let options = Options { tz: ask.tz.to_vec(), format_of: Vec::new() };
    let arguments = [name.to_string()];
    let run = run::open(&arguments, &options)?;
    let sources = sources::of(&run, &options, None)?;
    let Read { mut asked, said } = read::read(&run, &options, None, ask.selectors, true, || Ok(&sources))?;
    let mut notes = std::mem::take(&mut asked.notes);
    notes.extend(said);
    let workers = workers::workers(sources.sources.iter().map(|s| &s.owner));
    // The captures are read already.
    let lives = || Ok(windows::all(&readiness::gather(&sources, Some((&run, &asked)), corr_readiness::Options::default()).history));
    let phases = windows::phases(ask.when.window, &sources, &lives)?;
    let (first, last) = extent(&sources.sources);
    let mut asking = Asking { ask, name, run: &run, sources: &sources, asked: &asked, workers: &workers, flags: ask.flags() };
    let times = asking.times(&phases)?;
    let window = asking.span(&times, (first, last))?;
    if let (Some("common"), Some((from, to))) = (ask.when.window, window) {
        // What captures cover together is not the same for every command.
        asking.flags = ask.flags_of(from, to);
    }
    let evidence = Evidence::gather(&sources, window)?;
    let judged = evidence.judge_of(&run, &asked, window, None, None)?;
    let verdicts = asking.verdicts(&evidence, &judged)?;
    let figures = asking.figures(&evidence.edges, &times, window)?;
    let (facts, mut not_read) = collect::table(&sources, &run);
    for one in evidence.not_read.iter().chain(run.not_read.iter().filter(|n| n.failure)).chain(&asked.not_read) {
        if !not_read.iter().any(|known: &NotRead| known.name == one.name && known.why == one.why) {
            not_read.push(one.clone());
        }
    }
    let whole = window.or(first.zip(last)).or_else(|| asked.span_utc());
    let named = ask.when.window.and_then(|w| phases.iter().find(|p| p.name == w));
    let population = &judged.population;
    let windowed = Windowed {
        asked: ask.title(),
        span: whole,
        how: match (&times.how, window.is_some(), first.is_some()) {
            (Some(how), _, _) => how.clone(),
            (None, true, _) => "as given".into(),
            (None, false, true) => "first to last stamp of its records; of metrics what each series has".into(),
            (None, false, false) => "first to last sample of its captures".into(),
        },
        of_load: named.and_then(|p| p.requests),
        router: population.router.len(),
        engine: (!population.engine_unseen).then_some(population.engine.len()),
        probes: population.probes.len(),
        scraped: asking.scraped(window),
        flags: asking.flags.clone(),
    };
    let hosts: BTreeSet<String> = sources.sources.iter().filter_map(|s| s.owner.host.clone()).collect();
    let of_hosts = |f: &&String| f.starts_with("node_") || f.starts_with("DCGM_");
    let side = Side {
        run: name.to_string(),
        assumed_utc: sources.sources.iter().filter(|s| s.clock.how == How::Assumed && s.extent().0.is_some()).count(),
        of_hosts: counters::families(&asked).iter().filter(of_hosts).filter_map(|f| Some(format!("{}_", f.split('_').next()?))).collect(),
        empty: sources.sources.is_empty() && asked.captures.is_empty() && facts.rows.is_empty(),
        extent: first.zip(last).or_else(|| asked.span_utc()),
        facts,
        window: windowed,
        verdicts,
        figures,
        phases,
        hosts,
        not_read,
    };
    Ok((side, notes))
}

struct Asking<'a> {
    ask: &'a Ask<'a>,
    name: &'a str,
    run: &'a Run,
    sources: &'a Sources,
    asked: &'a Asked<'a>,
    workers: &'a [Worker],
    /// Flags that ask a command for the same window; empty for the whole run.
    flags: String,
}

impl Asking<'_> {
    fn times(&self, phases: &[phases::Phase]) -> anyhow::Result<Times> {
        let ask = self.ask;
        let covers = || {
            let mut covers = Covers::default();
            covers.add_logs(&self.sources.sources);
            covers.add_beside_logs(self.asked.hits(ask.selectors));
            Ok(covers)
        };
        let known = Known {
            declared: &self.sources.declared,
            phases: &|| Ok(phases.to_vec()),
            stamp: &|event| locate::stamp(event, self.sources, self.name),
            covers: &covers,
        };
        Times::read(ask.when, &known)
    }

    /// The window, both ends closed by those of the run's records, else of its captures; `None` for the whole run.
    fn span(&self, times: &Times, (first, last): (Option<i64>, Option<i64>)) -> anyhow::Result<Option<(i64, i64)>> {
        let resolved = window::resolve(times, zone_of_flags(self.ask.tz)?, self.ask.now, self.sources)?;
        let captured = self.asked.span_utc();
        window::closed(resolved, || (first.or(captured.map(|c| c.0)), last.or(captured.map(|c| c.1))))
    }

    fn verdicts(&self, evidence: &Evidence<'_>, judged: &Judged) -> anyhow::Result<Vec<Said>> {
        for asked in self.ask.edges {
            edge(&evidence.edges, asked)?;
        }
        Ok(judged.verdicts.iter().filter_map(|v| self.said(evidence, v)).collect())
    }

    fn said(&self, evidence: &Evidence<'_>, verdict: &Verdict) -> Option<Said> {
        let edge = evidence.edges.edges().get(verdict.edge)?;
        if !self.ask.edges.is_empty() && !self.ask.edges.contains(&edge.id) {
            return None;
        }
        let proofs = verdict.proofs.iter().filter_map(|p| {
            let cites = p.cites.iter().map(|c| evidence.locator(*c)).collect();
            Some(Proved { signal: evidence.edges.get(p.signal)?.id.clone(), records: p.records, requests: p.requests, cites })
        });
        let direct = verdict.counters.iter().filter(|c| evidence.edges.get(c.signal).is_some_and(|s| s.direct));
        let counters = direct.map(|c| Counted {
            series: c.series.clone(),
            whose: c.worker.clone().unwrap_or_else(|| c.endpoint.clone()),
            increase: c.inner,
            at_most: c.outer,
            before: c.base,
            resets: c.resets,
            cites: c.cites.clone(),
        });
        let missing = verdict.missing.iter().filter_map(|m| {
            let title = &evidence.edges.instruments().get(m.instrument)?.title;
            let cite = m.cite.map_or(String::new(), |c| format!(" by {}", evidence.locator(c)));
            Some(format!("{title} ({}{cite})", m.why))
        });
        Some(Said {
            edge: edge.id.clone(),
            title: edge.title.clone(),
            unit: verdict.unit.clone(),
            activity: verdict.activity,
            why: verdict.why.clone(),
            count: verdict.count,
            amount: verdict.amount,
            counted: table::count(&evidence.edges, verdict),
            request: verdict.request.clone(),
            session: verdict.session.clone(),
            proofs: proofs.collect(),
            counters: counters.collect(),
            missing: missing.collect(),
            reproduce: format!("corr edges {} --edge {}{}", shell(self.name), shell(&edge.id), self.flags),
        })
    }

    /// The members that are compared; whether only where both runs have the family.
    fn hits(&self, edges: &Edges) -> Vec<(Hit<'_>, bool)> {
        if !self.ask.selectors.is_empty() {
            return self.asked.hits(self.ask.selectors).into_iter().map(|hit| (hit, false)).collect();
        }
        let direct: Vec<String> = edges
            .all()
            .filter(|(at, signal)| {
                let of = edges.edges().get(usize::from(at.edge)).map(|e| &e.id);
                signal.direct && (self.ask.edges.is_empty() || of.is_some_and(|id| self.ask.edges.contains(id)))
            })
            .filter_map(|(_, signal)| signal.metric.as_deref().map(|m| corr_metrics::model::canonical(m).into_owned()))
            .collect();
        let all = self.asked.hits(&[]).into_iter().filter(|hit| !hit.captured.is_log());
        let one = |hit: &Hit<'_>| {
            // A gauge that a signal names is a level at an instant, not an amount.
            let named = direct.contains(&hit.group.name) && hit.group.typed.kind != Kind::Gauge;
            let throughput = of_throughput(&hit.group.name, hit.group.typed.kind.word());
            (named || throughput).then_some(!named)
        };
        all.filter_map(|hit| one(&hit).map(|if_both| (hit, if_both))).collect()
    }

    fn figures(&self, edges: &Edges, times: &Times, window: Option<(i64, i64)>) -> anyhow::Result<Vec<Figure>> {
        let mut out = Vec::new();
        for (hit, if_both) in self.hits(edges) {
            let Some(placed) = self.placed(&hit, times, window)? else { continue };
            for part in figures::of(&hit, &placed, QUANTILES) {
                let flags = self.flags_of(&hit, &placed, times);
                let role = |worker: &str| self.workers.iter().find(|w| w.name == worker).and_then(|w| w.role.clone());
                let mapped = hit.captured.capture().endpoint(hit.member.endpoint).and_then(|e| workers::of(e, self.workers, &[]));
                let role = mapped.as_ref().and_then(|m| role(&m.worker));
                out.push(figure::of(figure::Part { run: self.name, hit: &hit, placed: &placed, part, mapped, role, flags, if_both }));
            }
        }
        Ok(out)
    }

    /// The window on the capture's clock; of the whole run what the member's own samples cover. `None` where it cannot be laid.
    fn placed(&self, hit: &Hit<'_>, times: &Times, window: Option<(i64, i64)>) -> anyhow::Result<Option<Placed>> {
        let captured = hit.captured;
        if times.open() {
            let Some((first, last)) = samples(hit) else { return Ok(None) };
            return Ok(match captured.dial().to_utc() {
                Some((offset, _)) => {
                    Span { since: Some(first.saturating_add(offset)), until: Some(last.saturating_add(offset)) }.on(captured).ok()
                }
                None => Span { since: Some(first), until: Some(last) }.on_own(captured).ok(),
            });
        }
        if let Some((from, to)) = window
            && captured.dial().to_utc().is_some()
        {
            return Ok(Span { since: Some(from), until: Some(to) }.on(captured).ok());
        }
        if !times.only_of_run() {
            return Ok(None);
        }
        let extent = captured.extent();
        let zone = zone_of_flags(self.ask.tz)?;
        let context = Context {
            run_start: extent.map(|e| e.0),
            run_end: extent.map(|e| e.1),
            now: self.ask.now,
            zone,
            anchors: times.anchors.clone(),
        };
        let own = times.resolve(&context)?;
        Ok(Span { since: own.since, until: own.until }.on_own(captured).ok())
    }

    /// The flags with which `corr metrics` takes the same window.
    fn flags_of(&self, hit: &Hit<'_>, placed: &Placed, times: &Times) -> String {
        if !times.open() {
            return self.flags.clone();
        }
        match hit.captured.dial().to_utc() {
            Some((offset, _)) => self.ask.flags_of(placed.window.from().saturating_add(offset), placed.window.to().saturating_add(offset)),
            None => Line::of("").flag("since", &["start"]).flag("until", &["end"]).flag("tz", self.ask.tz).text(),
        }
    }

    fn scraped(&self, window: Option<(i64, i64)>) -> Vec<Scraped> {
        let mut out = Vec::new();
        for captured in self.asked.captures.iter().filter(|c| !c.is_log()) {
            let own = match window {
                None => captured.extent(),
                Some((from, to)) => captured.dial().to_utc().map(|(offset, _)| (from.saturating_sub(offset), to.saturating_sub(offset))),
            };
            let Some(own) = own else {
                let (capture, target) = (captured.name.clone(), String::new());
                out.push(Scraped { capture, target, fraction: None, scrapes: 0, gap: Some("where its clock began is not known".into()) });
                continue;
            };
            let ask = Around::of(self.run, captured).ask(captured.capture(), own);
            for one in coverage::of_endpoints(captured.capture(), &ask) {
                let gap = gap(captured, &one);
                let target = one.endpoint.clone();
                out.push(Scraped { capture: captured.name.clone(), target, fraction: Some(one.fraction), scrapes: one.scrapes, gap });
            }
        }
        out
    }
}

fn gap(captured: &crate::metrics::Captured<'_>, covered: &Coverage) -> Option<String> {
    let longest = covered.gaps.iter().max_by_key(|g| g.to.saturating_sub(g.from))?;
    let dial = captured.dial();
    let more = covered.gaps.len() - 1;
    let others = if more == 0 { String::new() } else { format!(", and {more} more") };
    Some(format!("not scraped from {} to {} ({}){others}", dial.show(longest.from), dial.show(longest.to), longest.cause.word()))
}

/// First and last sample of a member, on the capture's clock.
fn samples(hit: &Hit<'_>) -> Option<(i64, i64)> {
    let store = &hit.captured.capture().samples;
    let ends = hit.series.iter().filter_map(|id| {
        let blocks = store.blocks(id.0);
        Some((blocks.first()?.first, blocks.last()?.last))
    });
    ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}
