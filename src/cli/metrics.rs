//! `corr metrics`: what metric captures hold, and what series did in a window.

use std::cell::OnceCell;
use std::io::Write;

use anyhow::{Context as _, bail};
use corr_metrics::coverage;
use corr_metrics::model::{Sample, SeriesId};
use corr_metrics::select::Selector;

use super::query::zone_of_flags;
use super::window::{Flags, Known, Times};
use super::{exit, grouped};
use crate::metrics::anchors;
use crate::metrics::around::Around;
use crate::metrics::asked::{Asked, Captured, Hit};
use crate::metrics::common::Covers;
use crate::metrics::figures;
use crate::metrics::logged;
use crate::metrics::ratios;
use crate::metrics::span::{Coverage, Misplaced, Placed, Span};
use crate::metrics::sums;
use crate::metrics::workers;
use crate::query::extent::extent;
use crate::query::sources::Sources;
use crate::query::timespec::Context;
use crate::query::{locate, sources};
use crate::readiness::windows;
use crate::render::events::Format;
use crate::render::metrics::{Catalogued, Figured, Row, Rows, Shares, Summed};
use crate::render::paint::{Paint, When};
use crate::render::safe::terminal;
use crate::render::shown::rfc3339;
use crate::run::source::Class;
use crate::run::{self, Options, Run};

/// List metric captures and their series, print samples, or say what series did in a window.
///
/// A counter's figure is the difference between two samples that are named, with the least and the most that it can have counted in the window;
/// nothing is extrapolated.
#[derive(clap::Args, Debug)]
#[command(after_long_help = "Selectors:
  sglang:cached_tokens_total                     a name, in either spelling (sglang: or sglang_); a histogram's name is all of its series
  'sglang:cached_tokens_total{cache_source=\"device\"}'   also != =~ !~
  'sglang:kv_*'  '{__name__=~\".*_seconds\"}'      names by pattern
  '{target=\"worker-0\"}'                          series of one endpoint, by its name or URL; also role, host
  'log:token_usage{kind=\"decode_batch\"}'        a numeric field of log records; also {worker=\"…\"} {source=\"…\"} {dp_rank=\"…\"}

Times: RFC 3339, `2026-11-29 12:02`, `12:02:07` on the run's day, @epoch, start+90s, end-5m.

Examples:
  corr metrics runs/r42                          captures, endpoints, every series
  corr metrics runs/r42 'sglang:kv_*'            samples of some series
  corr metrics runs/r42 sglang:time_to_first_token_seconds --since start+60s --until start+120s
  corr metrics runs/r42 log:token_usage sglang:token_usage --window common
  corr metrics runs/r42 sglang:cached_tokens_total --per sglang:prompt_tokens_total --since start+60s
  corr metrics runs/r42 sglang:kv_available_tokens --around runs/r42/logs/worker-0.log:88 --span 30s
  corr metrics final.parquet 'sglang:gen*' --since start+60s --until start+120s --format json

Exit codes: 0 found, 1 no such series or no sample in the window, 2 wrong usage or nothing readable, 3 found, but a capture could not be read or
does not cover the window.")]
pub struct Args {
    /// Run directory, file, or glob in quotes.
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Which series; of several arguments each adds its own.
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,
    /// A further run directory, file or glob, read together with RUN.
    #[arg(long = "also", value_name = "RUN")]
    pub also: Vec<String>,
    /// Start of the window: what series did from the first sample at or after it.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub since: Option<String>,
    /// End of the window: up to the last sample at or before it.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub until: Option<String>,
    /// A window that corr.toml declares or the run's records name (warmup, measured, benchmark, teardown, ready:UNIT#N, outage:UNIT#N), or `common`: what all captures with
    /// these series cover.
    #[arg(long, value_name = "NAME")]
    pub window: Option<String>,
    /// The window around an event, by its locator as corr prints it (`path:line`).
    #[arg(long, value_name = "LOCATOR", conflicts_with_all = ["since", "until", "window"])]
    pub around: Option<String>,
    /// How long before and after the event of --around.
    #[arg(long, value_name = "DURATION", default_value = "5s")]
    pub span: String,
    /// Divide each counter by the counters of another selector: those of the same endpoint and, where both name one, the same rank, together.
    /// Several are divided by in turn.
    #[arg(long, value_name = "SELECTOR", conflicts_with_all = ["rows", "by", "list"])]
    pub per: Vec<String>,
    /// Add up by the values of a label (`target` for the endpoint): ranks that say the same are counted once, after their samples were compared.
    #[arg(long, value_name = "LABEL", conflicts_with = "rows")]
    pub by: Option<String>,
    /// Print the samples of the window, not what they amount to.
    #[arg(long)]
    pub rows: bool,
    /// Quantiles of histograms, comma separated.
    #[arg(long, value_name = "Q", value_delimiter = ',', default_values_t = [0.5, 0.9, 0.99])]
    pub quantiles: Vec<f64>,
    /// List every series, also when selectors are given.
    #[arg(long, conflicts_with = "rows")]
    pub list: bool,
    /// Show at most this many series or samples; 0 shows all.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 200)]
    pub limit: usize,
    /// How to write the answer.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Zone of civil times in --since and --until.
    #[arg(long, value_name = "ZONE")]
    pub tz: Vec<String>,
}

/// Runs the command.
pub fn run(args: &Args, color: When, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    let selectors: Vec<Selector> =
        args.selectors.iter().map(|text| Selector::parse(text).map_err(anyhow::Error::from)).collect::<Result<_, _>>()?;
    if let Some(q) = args.quantiles.iter().find(|q| !(0.0..=1.0).contains(*q)) {
        bail!("--quantiles {q}: a quantile lies between 0 and 1; the 99th percentile is 0.99");
    }
    let mut runs = vec![args.run.clone()];
    runs.extend(args.also.iter().cloned());
    let options = Options { tz: args.tz.clone(), format_of: Vec::new() };
    let run = run::open(&runs, &options)?;
    let pers: Vec<Selector> = args.per.iter().map(|text| Selector::parse(text).context("--per")).collect::<Result<_, _>>()?;
    let events = Events { run: &run, options: &options, opened: OnceCell::new() };
    let all: Vec<Selector> = selectors.iter().chain(&pers).cloned().collect();
    let mut asked = Asked::by(&run, &all);
    anchors::settle(&run, &options, &mut asked)?;
    let mut workers = Vec::new();
    if logged::asked(&all) {
        let sources = events.get()?;
        let mut logged = logged::read(&all, sources);
        for line in std::mem::take(&mut logged.said) {
            writeln!(err, "corr: {}", terminal(&line))?;
        }
        asked.add_logged(&run, logged);
        workers = workers::workers(sources.sources.iter().map(|s| &s.owner));
    }
    let asked = asked;
    let mut partial = false;
    for file in run.not_read.iter().filter(|n| n.failure).chain(&asked.not_read) {
        partial = true;
        let next = if file.next.is_empty() { String::new() } else { format!("; {}", terminal(&file.next)) };
        writeln!(err, "corr: {}: {}{next}", terminal(&file.name), terminal(&file.why))?;
    }
    if asked.captures.is_empty() && !logged::asked(&all) {
        return nothing(&run, err);
    }
    for (name, of) in asked.copies(&run) {
        writeln!(err, "corr: {}: the same bytes as {}, read once", terminal(&name), terminal(&of))?;
    }
    let mut hits = asked.hits(&selectors);
    let worker = |hit: &Hit<'_>| workers::of(hit.captured.capture().endpoint(hit.member.endpoint)?, &workers, &[]);
    if !workers.is_empty() {
        // What a worker's log says stands beside what was scraped of it.
        hits.sort_by_cached_key(|hit| worker(hit).map_or((true, String::new()), |mapped| (false, mapped.worker)));
    }
    let mut lossy: Vec<&Captured<'_>> = hits.iter().map(|h| h.captured).collect();
    lossy.dedup_by_key(|captured| std::ptr::from_ref(*captured));
    for (captured, note) in lossy.iter().flat_map(|c| c.capture().notes.iter().filter(|n| n.is_loss()).map(move |n| (c, n))) {
        partial = true;
        let first = note.first.as_deref().map_or_else(String::new, |f| format!(", first {}", terminal(f)));
        writeln!(err, "corr: {}: {} (×{}{first})", terminal(&captured.name), terminal(&note.what), grouped(note.count))?;
    }
    if hits.is_empty() && !selectors.is_empty() {
        none_such(&asked, &selectors, err)?;
        if matches!(args.format, Format::Json) {
            Figured { covered: Vec::new(), rows: Vec::new() }.write(args.format, Paint::new(color), out)?;
        }
        return Ok(if partial { exit::PARTIAL } else { exit::NOTHING });
    }
    let paint = Paint::new(color);
    let flags = Flags {
        since: args.since.as_deref(),
        until: args.until.as_deref(),
        window: args.window.as_deref(),
        around: args.around.as_deref(),
        span: &args.span,
    };
    let covers = || {
        let mut covers = Covers::default();
        covers.add_hits(&hits);
        Ok(covers)
    };
    let known = Known {
        declared: &run.declared,
        phases: &|| Ok(windows::phases(args.window.as_deref(), events.get()?)),
        stamp: &|event| locate::stamp(event, events.get()?, &args.run),
        covers: &covers,
    };
    let times = Times::read(flags, &known)?;
    if let Some(none) = &times.none {
        writeln!(err, "corr: {}", terminal(none))?;
        return Ok(if partial { exit::PARTIAL } else { exit::NOTHING });
    }
    if let Some(how) = &times.how {
        writeln!(err, "corr: {}", terminal(how))?;
    }
    if args.list || (selectors.is_empty() && times.open() && args.by.is_none() && pers.is_empty()) {
        let mut catalogue = Catalogued::new(&asked, hits, args.limit);
        for captured in &asked.captures {
            let window = captured.extent().unwrap_or_default();
            let ask = Around::of(&run, captured).ask(captured.capture(), window);
            catalogue.covered.push(coverage::of_endpoints(captured.capture(), &ask));
        }
        catalogue.offsets = offsets(&run, &asked);
        catalogue.write(args.format, paint, out)?;
        out.flush()?;
        cut(catalogue.shown() as u64, catalogue.cut as u64, "series", err)?;
        return Ok(if partial { exit::PARTIAL } else { exit::FOUND });
    }
    let asking = Asking { args, run: &run, events: &events, times, now };
    let spans = asking.spans(&asked, err)?;
    if args.rows || (asking.times.open() && args.by.is_none() && pers.is_empty()) {
        let rows = rows(&asked, &hits, &spans, args.limit);
        rows.write(args.format, paint, out)?;
        out.flush()?;
        cut(rows.shown(), rows.cut, "samples", err)?;
        let code = if rows.shown() == 0 { exit::NOTHING } else { exit::FOUND };
        return Ok(if partial { exit::PARTIAL } else { code });
    }
    if let Some(label) = &args.by {
        if label != "target" && !hits.iter().any(|h| h.member.labels.get(label).is_some()) {
            bail!("--by {}: none of these series has this label; they have {}", terminal(label), terminal(&labels(&hits)));
        }
        let hits: Vec<&Hit<'_>> = hits.iter().collect();
        let place = |captured: &Captured<'_>| span_of(&asked, &spans, captured).copied();
        let mut summed = Summed { label, sums: sums::of(&hits, label, &place, &args.quantiles) };
        let all = summed.sums.len();
        if args.limit > 0 {
            summed.sums.truncate(args.limit);
        }
        summed.write(args.format, paint, out)?;
        out.flush()?;
        cut(summed.sums.len() as u64, (all - summed.sums.len()) as u64, "sums", err)?;
        let short = spans.iter().flatten().any(|p| p.coverage != Coverage::Whole);
        return Ok(if partial || short { exit::PARTIAL } else { exit::FOUND });
    }
    if !pers.is_empty() {
        let below: Vec<(String, Vec<Hit<'_>>)> = pers.iter().map(|per| (per.text.clone(), asked.hits(std::slice::from_ref(per)))).collect();
        for (per, _) in below.iter().filter(|(_, hits)| hits.is_empty()) {
            writeln!(err, "corr: --per {}: no such series in {} captures", terminal(per), asked.captures.len())?;
        }
        let above: Vec<&Hit<'_>> = hits.iter().collect();
        let place = |captured: &Captured<'_>| span_of(&asked, &spans, captured).copied();
        let mut shares = Shares { shares: ratios::of(&above, &below, &place) };
        let all = shares.shares.len();
        if args.limit > 0 {
            shares.shares.truncate(args.limit);
        }
        shares.write(args.format, paint, out)?;
        out.flush()?;
        cut(shares.shares.len() as u64, (all - shares.shares.len()) as u64, "quotients", err)?;
        if all == 0 {
            writeln!(err, "corr: --per: none of the series that were asked for is a counter with samples in the window")?;
        }
        let answered = shares.shares.iter().any(|s| s.quotient.is_ok());
        let short = shares.shares.iter().any(|s| s.placed.coverage != Coverage::Whole);
        let found = if answered { exit::FOUND } else { exit::NOTHING };
        return Ok(if partial || (short && answered) { exit::PARTIAL } else { found });
    }
    let mut figured = Figured { covered: covered(&run, &asked, &hits, &spans), rows: Vec::new() };
    let mut left_out = 0;
    for hit in &hits {
        let Some(placed) = span_of(&asked, &spans, hit.captured) else { continue };
        if placed.coverage != Coverage::Whole {
            partial = true;
        }
        if placed.coverage == Coverage::Outside {
            left_out += 1;
            continue;
        }
        for part in figures::of(hit, placed, &args.quantiles) {
            figured.rows.push(Row { hit, placed: *placed, part, worker: worker(hit) });
        }
    }
    let all = figured.rows.len();
    let answered = figured.rows.iter().any(Row::answers);
    if args.limit > 0 {
        figured.rows.truncate(args.limit);
    }
    figured.write(args.format, paint, out)?;
    out.flush()?;
    cut(figured.rows.len() as u64, (all - figured.rows.len()) as u64, "figures", err)?;
    if all == 0 && left_out > 0 {
        writeln!(err, "corr: no capture with these series covers any of the window")?;
        return Ok(exit::NOTHING);
    }
    let found = if answered { exit::FOUND } else { exit::NOTHING };
    Ok(if partial { exit::PARTIAL } else { found })
}

/// The labels of some series, for an error.
fn labels(hits: &[Hit<'_>]) -> String {
    let names: std::collections::BTreeSet<&str> = hits.iter().flat_map(|h| h.member.labels.iter().map(|(name, _)| name)).collect();
    if names.is_empty() { "none".into() } else { names.into_iter().collect::<Vec<_>>().join(", ") }
}

/// The run's sources of events, opened when they are first asked.
struct Events<'a> {
    run: &'a Run,
    options: &'a Options,
    opened: OnceCell<Sources>,
}

impl Events<'_> {
    fn get(&self) -> anyhow::Result<&Sources> {
        if self.opened.get().is_none() {
            let sources = sources::open(&self.run.arguments, self.options, None)?;
            return Ok(self.opened.get_or_init(|| sources));
        }
        self.opened.get().context("the sources of events are not open")
    }
}

/// A window that is asked for.
struct Asking<'a> {
    args: &'a Args,
    run: &'a Run,
    events: &'a Events<'a>,
    times: Times,
    now: i64,
}

impl Asking<'_> {
    /// The window on every capture's clock; `None` where it cannot be laid, which is said.
    fn spans(&self, asked: &Asked<'_>, err: &mut dyn Write) -> anyhow::Result<Vec<Option<Placed>>> {
        let zone = zone_of_flags(&self.args.tz)?;
        let context = |start, end| Context { run_start: start, run_end: end, now: self.now, zone, anchors: self.times.anchors.clone() };
        let (start, end) = if self.times.of_run() { self.extent(asked)? } else { (None, None) };
        let shared = if start.is_none() && self.times.of_run() {
            None
        } else {
            let window = self.times.resolve(&context(start, end))?;
            Some(Span { since: window.since, until: window.until })
        };
        if let Some(span) = shared
            && !self.times.open()
        {
            let show = |at: Option<i64>| at.map_or("…".into(), |at| rfc3339(at, 1_000_000));
            writeln!(err, "corr: window {} to {}", show(span.since), show(span.until))?;
        }
        let mut out = Vec::new();
        for captured in &asked.captures {
            let placed = match shared.map(|span| span.on(captured)) {
                Some(Err(Misplaced::NoWallClock)) | None if self.times.only_of_run() => {
                    let extent = captured.extent();
                    let own = self.times.resolve(&context(extent.map(|e| e.0), extent.map(|e| e.1)))?;
                    writeln!(err, "corr: {}: start and end are the capture's own", terminal(&captured.name))?;
                    Span { since: own.since, until: own.until }.on_own(captured)
                }
                Some(placed) => placed,
                None => Err(Misplaced::NoWallClock),
            };
            if let Err(why) = &placed {
                let next = if why == &Misplaced::NoWallClock {
                    "; give times as start+60s, or a second capture of the same endpoint with --also"
                } else {
                    ""
                };
                writeln!(err, "corr: {}: not asked: {why}{next}", terminal(&captured.name))?;
            }
            out.push(placed.ok());
        }
        Ok(out)
    }

    /// First and last instant of the run: of its events; of its captures, if it has none.
    fn extent(&self, asked: &Asked<'_>) -> anyhow::Result<(Option<i64>, Option<i64>)> {
        if self.run.sources.iter().any(|s| s.class == Class::Events) {
            let found = extent(&self.events.get()?.sources);
            if found.0.is_some() {
                return Ok(found);
            }
        }
        let utc = asked.captures.iter().filter_map(|c| {
            let (offset, _) = c.dial().to_utc()?;
            let (first, last) = c.extent()?;
            Some((first.saturating_add(offset), last.saturating_add(offset)))
        });
        let both = utc.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        Ok((both.map(|b| b.0), both.map(|b| b.1)))
    }
}

fn span_of<'s>(asked: &Asked<'_>, spans: &'s [Option<Placed>], captured: &Captured<'_>) -> Option<&'s Placed> {
    let i = asked.captures.iter().position(|c| std::ptr::eq(c, captured))?;
    spans.get(i)?.as_ref()
}

/// So many captures are compared with each other.
const COMPARED: usize = 8;

/// How far the wall clocks of captures that share counters are apart.
fn offsets(run: &Run, asked: &Asked<'_>) -> Vec<String> {
    let captures: Vec<&Captured<'_>> = asked.captures.iter().take(COMPARED).collect();
    let mut out = Vec::new();
    for (i, a) in captures.iter().enumerate() {
        for b in captures.iter().skip(i + 1) {
            let Some(offset) = anchors::offset(run, a, b) else { continue };
            let seconds = |ns: i64| format!("{:.3} s", ns as f64 / 1e9);
            let (low, high) = (offset.anchor.low, offset.anchor.high);
            let holds = offset.anchor.holds.map_or_else(String::new, |(n, of)| format!("; holds for {n} of {of}"));
            out.push(format!(
                "clock of {} less that of {}: between {} and {} ({}{holds})",
                b.name,
                a.name,
                seconds(low),
                seconds(high),
                offset.anchor.how
            ));
            out.extend(offset.notes.iter().map(|note| format!("  {note}")));
        }
    }
    out
}

/// How the window was covered by the endpoints of the series that are asked, and which endpoints should have been there.
fn covered<'a>(
    run: &Run,
    asked: &'a Asked<'a>,
    hits: &[Hit<'a>],
    spans: &[Option<Placed>],
) -> Vec<(&'a Captured<'a>, Vec<coverage::Coverage>)> {
    let mut out = Vec::new();
    for (captured, span) in asked.captures.iter().zip(spans) {
        let Some(placed) = span else { continue };
        let asked: Vec<_> = hits.iter().filter(|h| std::ptr::eq(h.captured, captured)).map(|h| h.member.endpoint).collect();
        if asked.is_empty() {
            continue;
        }
        let window = (placed.window.from(), placed.window.to());
        let ask = Around::of(run, captured).ask(captured.capture(), window);
        let mut covered = coverage::of_endpoints(captured.capture(), &ask);
        covered.retain(|c| c.id.is_none_or(|id| asked.contains(&id)));
        out.push((captured, covered));
    }
    out
}

fn rows<'a>(asked: &Asked<'a>, hits: &[Hit<'a>], spans: &[Option<Placed>], limit: usize) -> Rows<'a> {
    let mut series: Vec<(&Captured<'_>, SeriesId, Vec<Sample>)> = Vec::new();
    for hit in hits {
        let Some(placed) = span_of(asked, spans, hit.captured) else { continue };
        for id in &hit.series {
            let samples = hit.captured.capture().samples.between(id.0, placed.window.from(), placed.window.to());
            series.push((hit.captured, *id, samples));
        }
    }
    Rows::new(series, limit)
}

fn cut(shown: u64, cut: u64, what: &str, err: &mut dyn Write) -> anyhow::Result<()> {
    if cut > 0 {
        writeln!(err, "corr: showing {} of {} {what}; --limit 0 for all", grouped(shown), grouped(shown + cut))?;
    }
    Ok(())
}

/// No capture was read.
fn nothing(run: &Run, err: &mut dyn Write) -> anyhow::Result<i32> {
    let names: Vec<String> = run.arguments.iter().map(|a| terminal(a).into_owned()).collect();
    writeln!(err, "corr: {}: no metric capture that could be read; `corr sources` lists what there is", names.join(" "))?;
    Ok(exit::ERROR)
}

/// No series is meant: says which names are near.
fn none_such(asked: &Asked<'_>, selectors: &[Selector], err: &mut dyn Write) -> anyhow::Result<()> {
    let names: Vec<&str> = asked.captures.iter().flat_map(|c| c.catalogue.families.iter().map(|g| g.name.as_str())).collect();
    for selector in selectors {
        let near = selector.name().and_then(|name| {
            let there = names.contains(&name);
            if there {
                Some(format!("`{name}` is there, with other labels"))
            } else {
                near(name, &names).map(|n| format!("did you mean `{n}`?"))
            }
        });
        let near = near.map_or_else(String::new, |n| format!("; {}", terminal(&n)));
        writeln!(err, "corr: {}: no such series in {} captures{near}", terminal(&selector.text), asked.captures.len())
            .context("cannot write to standard error")?;
    }
    Ok(())
}

fn near<'n>(name: &str, names: &[&'n str]) -> Option<&'n str> {
    crate::run::declared::did_you_mean(name, names).or_else(|| names.iter().find(|n| n.contains(name)).copied())
}
