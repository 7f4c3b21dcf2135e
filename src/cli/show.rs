//! `corr show`: one record, from its bytes to what corr makes of them.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::bail;
use corr_parsers::clock::How;
use corr_parsers::event::Event;
use corr_parsers::ids;
use corr_parsers::record::{self, Record};
use corr_parsers::stamp::{RawStamp, Zone};

use super::flags::Reading;
use super::{exit, index, samples, settings};
use crate::query::answer::{self, Question, Window};
use crate::query::expr::Expr;
use crate::query::grammar::{self, quote};
use crate::query::locate::{self, Place};
use crate::query::sources::{self, Asked, Sources};
use crate::render::opened::{Link, Opened, Read, raw_text};
use crate::render::paint::{Paint, When};
use crate::render::safe;
use crate::render::shown::{Shown, rfc3339};
use crate::render::sources::resolution;
use crate::run::bytes::Compression;
use crate::run::events::{self, Facts, Start};
use crate::store::manifest::{how_name, rule_name};

/// Open one record: its raw bytes, every field, how its time was found, its ids and where else they stand.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  corr show runs/r42/logs/router.log:88
  corr show runs/r42/artifacts/trace.jsonl.gz@4096      byte 4096 of the decompressed source
  corr show 'runs/r42/metrics/#sglang:num_running_reqs[w0]@2026-11-29T18:51:13.766Z..2026-11-29T18:51:37.796Z' --run runs/r42
  corr show journal/system.journal@4096                 byte 4096 of what journalctl -o export writes of it
  corr show logs/router.log:88 --run runs/r42            a path below the run")]
pub struct Args {
    /// `PATH:LINE`, `PATH@OFFSET`, or samples as `PATH#SERIES[TARGET]@FROM..TO`: as every other command prints it.
    #[arg(value_name = "LOCATOR")]
    pub locator: String,
    /// The run that the source belongs to; found from the path where it is not given.
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Records shown before and after.
    #[arg(short = 'C', value_name = "N", default_value_t = 2)]
    pub context: usize,
    /// Show prompts, responses, header values and credentials, which are withheld otherwise.
    #[arg(long)]
    pub bodies: bool,
    /// `text` or `json`.
    #[arg(long, value_enum, default_value_t = ShowFormat::Text)]
    pub format: ShowFormat,
    #[command(flatten)]
    pub reading: Reading,
}

/// How `show` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ShowFormat {
    Text,
    Json,
}

/// Runs the command.
pub fn run(args: &Args, color: When, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
    if samples::is_citation(&args.locator) {
        return samples::show(args, Paint::new(color), out, err);
    }
    let (path, place) = locate::locator(&args.locator, args.run.as_deref())?;
    let options = args.reading.options();
    let run = match &args.run {
        Some(run) => run.clone(),
        None => run_of(Path::new(path)),
    };
    let sources = sources::open(std::slice::from_ref(&run), &options, args.reading.store.as_deref())?;
    let Some(source) = locate::find(&sources, &run, path) else {
        if let Some(code) = settings::show(path, place, &run, args, out)? {
            return Ok(code);
        }
        let why = sources.not_read.iter().find(|n| n.name == path).map(|n| format!("{}; {}", n.why, n.next));
        bail!("{path}: {}", why.unwrap_or_else(|| format!("no source of {run} has this path; `corr sources {run}` lists them")));
    };
    let Found { opened, line, unasked } = open(source, &sources, place, args.context, args.bodies)?;
    match args.format {
        ShowFormat::Json => opened.write_json(&not_asked(&sources, &unasked), out)?,
        ShowFormat::Text => opened.write_text(line, Paint::new(color), out)?,
    }
    out.flush()?;
    for note in &sources.notes {
        writeln!(err, "corr: {}", safe::terminal(note))?;
    }
    let mut failures = index::failures(&sources.not_read, &[], err)?;
    for (name, why) in &unasked {
        failures += 1;
        writeln!(err, "corr: {}: {}", safe::terminal(name), safe::terminal(why))?;
    }
    if failures > 0 {
        writeln!(err, "corr: {failures} of the inputs could not be read; where else the ids stand is said without them")?;
        return Ok(exit::PARTIAL);
    }
    Ok(exit::FOUND)
}

/// A record that was opened.
pub(crate) struct Found {
    pub opened: Opened,
    /// The line that was asked for.
    pub line: Option<u64>,
    /// Sources that its ids could not be looked for in: name and reason.
    pub unasked: BTreeMap<String, String>,
}

/// Opens the record at a place of a source.
pub(crate) fn open(source: &Asked, sources: &Sources, place: Place, context: usize, bodies: bool) -> anyhow::Result<Found> {
    let bytes = source.bytes().map_err(|e| anyhow::anyhow!("{}: {e}", source.name))?;
    let (begin, line) = locate::begin(source, bytes, place)?;
    let start = begin.offset;
    let shown = events::one(bytes, &source.layout, source.timing(), begin, |record, event, facts| {
        let raw = raw_text(bytes, record, event, bodies);
        Read {
            shown: Shown::new(source, record, event, facts, bodies),
            of_export: source.compression == Compression::Journal,
            raw,
            clock: clock_lines(source, record, event, facts),
        }
    });
    let Some(event) = shown else { bail!("{}: no record at byte {start}", source.name) };
    let (links, unasked) = links(&event.shown, sources)?;
    let neighbours = neighbours(bytes, source, begin, context, bodies);
    Ok(Found { opened: Opened { event, links, neighbours }, line, unasked })
}

/// Sources that the ids were not looked for in: name and reason.
fn not_asked<'s>(sources: &'s Sources, unasked: &'s BTreeMap<String, String>) -> Vec<(&'s str, &'s str)> {
    let not_read = sources.not_read.iter().filter(|n| n.failure).map(|n| (n.name.as_str(), n.why.as_str()));
    not_read.chain(unasked.iter().map(|(name, why)| (name.as_str(), why.as_str()))).collect()
}

/// The run that a path belongs to: the nearest directory above it that has an index, a corr.toml or a plan of a run, else its own directory.
pub(super) fn run_of(path: &Path) -> String {
    let marks = [".corr", "corr.toml", "direct-plan.json", "recipe.lock.yaml"];
    let mut dir = path.parent();
    while let Some(at) = dir {
        let here = if at.as_os_str().is_empty() { Path::new(".") } else { at };
        if marks.iter().any(|m| here.join(m).exists()) {
            return here.display().to_string();
        }
        dir = at.parent();
    }
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() && dir.is_dir() => dir.display().to_string(),
        _ if path.exists() => path.display().to_string(),
        _ => ".".into(),
    }
}

/// How the record's time was found, in sentences.
fn clock_lines(source: &Asked, record: &Record<'_>, event: &Event<'_>, facts: &Facts) -> Vec<String> {
    let mut lines = Vec::new();
    let clock = &source.clock;
    let text_of = |raw: &RawStamp| {
        let (at, len) = (raw.at as usize, raw.len as usize);
        record.payload.get(at..at + len).map(|b| String::from_utf8_lossy(b).into_owned()).unwrap_or_default()
    };
    if let Some(raw) = &event.stamp {
        let zone = match raw.zone {
            Zone::Utc if record.format.is_some_and(|format| format.name.starts_with("gateway")) && !text_of(raw).ends_with('Z') => {
                "it names no zone: this program writes UTC".to_string()
            }
            Zone::Utc => "it is UTC by itself".to_string(),
            Zone::Offset(east) => format!("it names its offset, {}", rule_name(corr_parsers::clock::Rule::Fixed(east))),
            Zone::Monotonic => "it counts from a start, not from a date".to_string(),
            _ => format!(
                "it names no zone; read as {} ({}: {})",
                rule_name(clock.rule),
                how_name(clock.how),
                if clock.evidence.is_empty() { "no evidence" } else { &clock.evidence }
            ),
        };
        let text = text_of(raw);
        let text = if text.is_empty() { "an epoch number in the record".into() } else { format!("`{text}`") };
        lines.push(format!("the record's own stamp is {text}, {} wide; {zone}", resolution(raw.width)));
    }
    if let Some(raw) = record.meta.and_then(|m| m.stamp) {
        let used = if facts.from_envelope { "used, being the narrower one that names its zone" } else { "not used" };
        lines.push(format!("the envelope's stamp is {} wide; {used}", resolution(raw.width)));
    }
    if let Some((low, high)) = clock.residual {
        let (n, held) = clock.pairs;
        lines.push(format!(
            "residual of the clock: {:.3} s to {:.3} s over {n} pairs, of which {held} hold",
            low as f64 / 1e9,
            high as f64 / 1e9
        ));
    }
    match facts.stamp {
        Some(stamp) => {
            lines.push(format!("so it happened in [{}, {})", rfc3339(stamp.start, 1), rfc3339(stamp.end, 1)));
            if clock.how == How::Assumed && !facts.from_envelope && event.stamp.is_some_and(|s| s.absolute().is_none()) {
                lines.push("the zone is assumed: do not join it on time with other sources before `--tz` or corr.toml says it".into());
            }
        }
        None => match facts.order {
            Some(order) => lines.push(format!("it has no time of its own; the stamped record before it is of {}", rfc3339(order, 1_000))),
            None => lines.push("it has no time, and no stamped record stands before it".into()),
        },
    }
    lines
}

/// Where else the record's ids stand, and the sources that could not be asked, with the reason.
fn links(shown: &Shown, sources: &Sources) -> anyhow::Result<(Vec<Link>, BTreeMap<String, String>)> {
    let mut unasked = BTreeMap::new();
    let mut links = Vec::new();
    let mut seen = Vec::new();
    let mut key = String::new();
    for (kind, id) in &shown.ids {
        ids::canonical(Some(*kind), id, &mut key);
        if seen.contains(&(*kind, key.clone())) || links.len() >= 12 {
            continue;
        }
        seen.push((*kind, key.clone()));
        let expr: Expr = grammar::parse(&format!("{}:{}", kind.field(), quote(id))).map_err(|e| anyhow::anyhow!("{e}"))?;
        let question = Question::count(expr, Window::default(), false)?;
        let answer = answer::ask(&question, &sources.sources)?;
        let by_source: Vec<(String, u64)> =
            answer.asking.iter().zip(&sources.sources).filter(|(a, _)| a.matched > 0).map(|(a, s)| (s.key.clone(), a.matched)).collect();
        for (asking, source) in answer.asking.iter().zip(&sources.sources) {
            if let Some(why) = &asking.failed {
                unasked.entry(source.name.clone()).or_insert_with(|| why.clone());
            }
        }
        links.push(Link { field: kind.field(), id: id.clone(), total: answer.total, by_source });
    }
    Ok((links, unasked))
}

fn neighbours(bytes: &[u8], source: &Asked, at: Start, count: usize, bodies: bool) -> Vec<Shown> {
    let mut start = at.offset;
    for _ in 0..count {
        if start == 0 {
            break;
        }
        start = record::record_start(bytes, start - 1, &source.layout);
    }
    let line = at.line - events::count_lines(&bytes[start..at.offset]);
    let order = events::order_before(bytes, &source.layout, source.timing(), start);
    let mut shown = Vec::new();
    let mut after = 0;
    events::each(bytes, &source.layout, source.timing(), Start { offset: start, line, order }, bytes.len(), |record, event, facts| {
        let mut one = Shown::new(source, record, event, facts, bodies);
        one.context = facts.offset != at.offset;
        after += usize::from(facts.offset >= at.offset);
        shown.push(one);
        if after > count { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    shown
}
