//! `corr metrics`: what metric captures hold, and what series did in a window.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use corr_metrics::model::{Sample, SeriesId};
use corr_metrics::select::Selector;

use super::query::zone_of_flags;
use super::window::{Times, extent};
use super::{exit, grouped};
use crate::metrics::anchors;
use crate::metrics::asked::{Asked, Captured, Hit};
use crate::metrics::figures;
use crate::metrics::span::{Coverage, Misplaced, Placed, Span};
use crate::metrics::sums;
use crate::query::timespec::Context;
use crate::query::{phases, sources};
use crate::render::events::Format;
use crate::render::metrics::{Catalogued, Figured, Row, Rows, Summed};
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
  '{target=\"worker-0\"}'                          series of one endpoint, by its name or URL

Times: RFC 3339, `2026-11-29 12:02`, `12:02:07` on the run's day, @epoch, start+90s, end-5m.

Examples:
  corr metrics runs/r42                          captures, endpoints, every series
  corr metrics runs/r42 'sglang:kv_*'            samples of some series
  corr metrics runs/r42 sglang:time_to_first_token_seconds --since start+60s --until start+120s
  corr metrics final.parquet 'sglang:gen*' --since start+60s --until start+120s --format json

Exit codes: 0 found, 1 no such series or no sample in the window, 2 wrong usage or nothing readable, 3 found, but a capture could not be read or
does not cover the window.")]
pub struct Args {
    /// Run directory, file, or glob in quotes.
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Which series; several are joined by \"or\".
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
    /// A window that corr.toml declares or the run's records name: warmup, measured, benchmark, teardown.
    #[arg(long, value_name = "NAME")]
    pub window: Option<String>,
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
    /// Where the index is kept.
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
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
    let store = args.store.as_deref();
    let mut asked = Asked::read(&run, store);
    anchors::settle(&run, &options, store, &mut asked)?;
    let asked = asked;
    for note in &asked.notes {
        writeln!(err, "corr: {}", terminal(note))?;
    }
    let mut partial = false;
    for file in run.not_read.iter().filter(|n| n.failure).chain(&asked.not_read) {
        partial = true;
        let next = if file.next.is_empty() { String::new() } else { format!("; {}", terminal(&file.next)) };
        writeln!(err, "corr: {}: {}{next}", terminal(&file.name), terminal(&file.why))?;
    }
    if asked.captures.is_empty() {
        return nothing(&run, err);
    }
    let hits = asked.hits(&selectors);
    if hits.is_empty() && !selectors.is_empty() {
        none_such(&asked, &selectors, err)?;
        return Ok(if partial { exit::PARTIAL } else { exit::NOTHING });
    }
    let paint = Paint::new(color);
    let phases = || Ok(phases::all(&sources::open(&run.arguments, &options, store)?.sources));
    let times = Times::read(args.since.as_deref(), args.until.as_deref(), args.window.as_deref(), &run.declared, &phases)?;
    if let Some(how) = &times.how {
        writeln!(err, "corr: {}", terminal(how))?;
    }
    if args.list || (selectors.is_empty() && times.open() && args.by.is_none()) {
        let catalogue = Catalogued::new(&asked, hits, args.limit);
        catalogue.write(args.format, paint, out)?;
        out.flush()?;
        cut(catalogue.shown() as u64, catalogue.cut as u64, "series", err)?;
        return Ok(if partial { exit::PARTIAL } else { exit::FOUND });
    }
    let asking = Asking { args, run: &run, options: &options, times, now };
    let spans = asking.spans(&asked, err)?;
    if args.rows || (asking.times.open() && args.by.is_none()) {
        let rows = rows(&asked, &hits, &spans, args.limit);
        rows.write(args.format, paint, out)?;
        out.flush()?;
        cut(rows.shown(), rows.cut, "samples", err)?;
        let code = if rows.shown() == 0 { exit::NOTHING } else { exit::FOUND };
        return Ok(if partial { exit::PARTIAL } else { code });
    }
    if let Some(label) = &args.by {
        let hits: Vec<&Hit<'_>> = hits.iter().collect();
        let place = |captured: &Captured<'_>| span_of(&asked, &spans, captured).copied();
        let summed = Summed { label, sums: sums::of(&hits, label, &place, &args.quantiles) };
        summed.write(args.format, paint, out)?;
        out.flush()?;
        let short = spans.iter().flatten().any(|p| p.coverage != Coverage::Whole);
        return Ok(if partial || short { exit::PARTIAL } else { exit::FOUND });
    }
    let mut figured = Figured { rows: Vec::new() };
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
            figured.rows.push(Row { hit, placed: *placed, part });
        }
    }
    let all = figured.rows.len();
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
    Ok(if partial { exit::PARTIAL } else { exit::FOUND })
}

/// A window that is asked for.
struct Asking<'a> {
    args: &'a Args,
    run: &'a Run,
    options: &'a Options,
    times: Times,
    now: i64,
}

impl Asking<'_> {
    /// The window on every capture's clock; `None` where it cannot be laid, which is said.
    fn spans(&self, asked: &Asked<'_>, err: &mut dyn Write) -> anyhow::Result<Vec<Option<Placed>>> {
        let zone = zone_of_flags(&self.args.tz)?;
        let context = |start, end| Context { run_start: start, run_end: end, now: self.now, zone, anchors: Default::default() };
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
                writeln!(err, "corr: {}: not asked: {why}", terminal(&captured.name))?;
            }
            out.push(placed.ok());
        }
        Ok(out)
    }

    /// First and last instant of the run: of its events; of its captures, if it has none.
    fn extent(&self, asked: &Asked<'_>) -> anyhow::Result<(Option<i64>, Option<i64>)> {
        if self.run.sources.iter().any(|s| s.class == Class::Events) {
            let found = extent(&sources::open(&self.run.arguments, self.options, self.args.store.as_deref())?.sources);
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
