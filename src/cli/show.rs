//! `corr show`: one record, from its bytes to what corr makes of them.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use corr_parsers::clock::How;
use corr_parsers::event::{Event, Secret, Withheld};
use corr_parsers::ids;
use corr_parsers::record::{self, Record};
use corr_parsers::secret;
use corr_parsers::stamp::{RawStamp, Zone};
use serde_json::{Value as Json, json};

use super::exit;
use crate::query::answer::{self, Question, Sort, Window};
use crate::query::expr::Expr;
use crate::query::grammar;
use crate::query::matches::Matcher;
use crate::query::sources::{self, Asked, Sources};
use crate::render::events::plain;
use crate::render::paint::{Paint, Tone, When};
use crate::render::safe;
use crate::render::shown::{Shown, rfc3339, visible_text};
use crate::run::Options;
use crate::run::events::{self, Facts, Start};
use crate::store::manifest::{how_name, rule_name};

/// Open one record: its raw bytes, every field, how its time was found, its ids and where else they stand.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  corr show runs/r42/logs/router.log:88
  corr show runs/r42/artifacts/trace.jsonl.gz@4096      byte 4096 of the decompressed source
  corr show logs/router.log:88 --run runs/r42            a path below the run")]
pub struct Args {
    /// `PATH:LINE` or `PATH@OFFSET`, as every other command prints it.
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
    /// Where the index is kept.
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Zone of stamps that name none: ZONE, or SOURCE=ZONE.
    #[arg(long, value_name = "[SOURCE=]ZONE")]
    pub tz: Vec<String>,
    /// Read a source as this format: SOURCE=FORMAT.
    #[arg(long, value_name = "SOURCE=FORMAT")]
    pub format_of: Vec<String>,
}

/// How `show` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ShowFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Line(u64),
    Offset(u64),
}

/// Runs the command.
pub fn run(args: &Args, color: When, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
    let (path, place) = locator(&args.locator)?;
    let options = Options { tz: args.tz.clone(), format_of: args.format_of.clone() };
    let run = match &args.run {
        Some(run) => run.clone(),
        None => run_of(Path::new(&path)),
    };
    let sources = sources::open(std::slice::from_ref(&run), &options, args.store.as_deref())?;
    let Some(source) = find(&sources, &run, &path) else {
        let why = sources.not_read.iter().find(|n| n.name == path).map(|n| format!("{}; {}", n.why, n.next));
        bail!("{path}: {}", why.unwrap_or_else(|| format!("no source of {run} has this path; `corr sources {run}` lists them")));
    };
    let bytes = source.bytes().map_err(|e| anyhow::anyhow!("{}: {e}", source.name))?;
    let (offset, line) = match place {
        Place::Offset(offset) if (offset as usize) < bytes.len() => (offset as usize, None),
        Place::Offset(offset) => bail!("{}: byte {offset} is behind the end; the source has {} bytes", source.name, bytes.len()),
        Place::Line(line) => (offset_of_line(bytes, line).with_context(|| format!("{}: no line {line}", source.name))?, Some(line)),
    };
    let start = record::record_start(bytes, offset, &source.layout);
    let first_line = 1 + events::count_lines(&bytes[..start]);
    let order = events::order_before(bytes, &source.layout, source.timing(), start);
    let begin = Start { offset: start, line: first_line, order };
    let shown = events::one(bytes, &source.layout, source.timing(), begin, |record, event, facts| {
        let raw = raw_text(bytes, record, event, args.bodies);
        Opened {
            shown: Shown::new(source, record, event, facts, args.bodies),
            raw,
            clock: clock_lines(source, record, event, facts),
            version: record.payload.len(),
        }
    });
    let Some(opened) = shown else { bail!("{}: no record at byte {start}", source.name) };
    let links = links(&opened.shown, &sources)?;
    let beside = neighbours(bytes, source, begin, args.context, args.bodies);
    match args.format {
        ShowFormat::Json => write_json(&opened, &links, &beside, out)?,
        ShowFormat::Text => write_text(&opened, &links, &beside, line, Paint::new(color), out)?,
    }
    out.flush()?;
    for note in &sources.notes {
        writeln!(err, "corr: {}", safe::terminal(note))?;
    }
    Ok(exit::FOUND)
}

struct Opened {
    shown: Shown,
    raw: String,
    clock: Vec<String>,
    version: usize,
}

/// Splits `PATH:LINE` or `PATH@OFFSET`; a path that ends so and exists is not split.
fn locator(text: &str) -> anyhow::Result<(String, Place)> {
    for (separator, place) in [(':', Place::Line as fn(u64) -> Place), ('@', Place::Offset as fn(u64) -> Place)] {
        if let Some((path, number)) = text.rsplit_once(separator)
            && !path.is_empty()
            && let Ok(number) = number.parse::<u64>()
        {
            return Ok((path.to_string(), place(number)));
        }
    }
    bail!("`{}` is no locator; write PATH:LINE or PATH@OFFSET", safe::terminal(text))
}

/// The run that a path belongs to: the nearest directory above it that has an index, a corr.toml or a plan of a run, else its own directory.
fn run_of(path: &Path) -> String {
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

fn find<'s>(sources: &'s Sources, run: &str, path: &str) -> Option<&'s Asked> {
    let clean = |p: &str| p.trim_start_matches("./").to_string();
    let below = clean(path);
    let by_name = sources.sources.iter().find(|s| clean(&s.name) == below || s.key == below);
    by_name.or_else(|| {
        let joined = Path::new(run).join(path);
        sources.sources.iter().find(|s| s.path == joined || std::fs::canonicalize(&s.path).ok() == std::fs::canonicalize(path).ok())
    })
}

/// Offset of the first byte of a 1-based line.
fn offset_of_line(bytes: &[u8], line: u64) -> Option<usize> {
    if line == 0 || bytes.is_empty() {
        return None;
    }
    if line == 1 {
        return Some(0);
    }
    let end = memchr::memchr_iter(b'\n', bytes).nth(usize::try_from(line - 2).ok()?)?;
    (end + 1 < bytes.len()).then_some(end + 1)
}

/// The record's own bytes, with what is withheld replaced. Where the payload was decoded from its envelope and something is withheld, the payload
/// stands for the bytes.
fn raw_text(bytes: &[u8], record: &Record<'_>, event: &Event<'_>, bodies: bool) -> String {
    let raw = &bytes[record.offset..record.offset + record.len];
    if bodies {
        return safe::terminal_bytes(record::trim_end(raw)).replace("\\n", "\n");
    }
    if event.withheld.is_empty() {
        // The envelope's own fields (a command line) can hold a credential too.
        let hide = |span| Withheld { span, why: Secret::Credential, name: "credential" };
        let spans: Vec<Withheld> = secret::find(raw).into_iter().map(hide).collect();
        return safe::terminal(&visible_text(raw, 0..record::trim_end(raw).len(), &spans)).replace("\\n", "\n");
    }
    match record.payload_at {
        Some(at) => {
            let lead = at - record.offset;
            let moved = |w: &Withheld| Withheld { span: w.span.start + lead..w.span.end + lead, ..w.clone() };
            let spans: Vec<Withheld> = event.withheld.iter().map(moved).collect();
            safe::terminal(&visible_text(raw, 0..record::trim_end(raw).len(), &spans)).replace("\\n", "\n")
        }
        None => {
            let payload = visible_text(record.payload, 0..record.payload.len(), &event.withheld);
            format!("(payload, decoded from its envelope) {}", safe::terminal(&payload).replace("\\n", "\n"))
        }
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
        lines.push(format!("the record's own stamp is {text}, {} wide; {zone}", width_text(raw.width)));
    }
    if let Some(raw) = record.meta.and_then(|m| m.stamp) {
        let used = if facts.from_envelope { "used" } else { "not used" };
        lines.push(format!("the envelope's stamp is {} wide; {used}", width_text(raw.width)));
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
            if clock.how == How::Assumed && facts.by_rule {
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

fn width_text(ns: i64) -> String {
    match ns {
        n if n >= 1_000_000_000 => format!("{} s", n / 1_000_000_000),
        n if n >= 1_000_000 => format!("{} ms", n / 1_000_000),
        n if n >= 1_000 => format!("{} µs", n / 1_000),
        n => format!("{n} ns"),
    }
}

struct Link {
    field: &'static str,
    id: String,
    total: u64,
    /// Sources that have it, with how many records each.
    by_source: Vec<(String, u64)>,
}

/// Where else the record's ids stand.
fn links(shown: &Shown, sources: &Sources) -> anyhow::Result<Vec<Link>> {
    let mut links = Vec::new();
    let mut seen = Vec::new();
    let mut key = String::new();
    for (kind, id) in &shown.ids {
        ids::canonical(Some(*kind), id, &mut key);
        if seen.contains(&(*kind, key.clone())) || links.len() >= 12 {
            continue;
        }
        seen.push((*kind, key.clone()));
        let quoted = id.replace('\\', "\\\\").replace('"', "\\\"");
        let expr: Expr = grammar::parse(&format!("{}:\"{quoted}\"", kind.field())).map_err(|e| anyhow::anyhow!("{e}"))?;
        let question = Question {
            matcher: Matcher::new(&expr)?,
            expr,
            window: Window::default(),
            sort: Sort::Time(true),
            limit: 1,
            count_by: None,
            histogram: None,
            bodies: false,
        };
        let answer = answer::ask(&question, &sources.sources)?;
        let by_source: Vec<(String, u64)> =
            answer.asking.iter().zip(&sources.sources).filter(|(a, _)| a.matched > 0).map(|(a, s)| (s.key.clone(), a.matched)).collect();
        links.push(Link { field: kind.field(), id: id.clone(), total: answer.total, by_source });
    }
    Ok(links)
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

fn write_text(
    opened: &Opened,
    links: &[Link],
    beside: &[Shown],
    asked: Option<u64>,
    paint: Paint,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let shown = &opened.shown;
    let head = |out: &mut dyn Write, text: &str| writeln!(out, "{}", paint.tone(Tone::Kind, text));
    writeln!(
        out,
        "{}  bytes {}..{}",
        paint.tone(Tone::Place, &safe::terminal(&shown.locator())),
        shown.offset,
        shown.offset + shown.length
    )?;
    if asked.is_some_and(|line| line != shown.line) {
        writeln!(out, "the line belongs to the record that begins at line {}", shown.line)?;
    }
    head(out, "raw")?;
    for line in opened.raw.lines() {
        writeln!(out, "  {line}")?;
    }
    if opened.raw.is_empty() {
        writeln!(out, "  (empty, {} bytes of payload)", opened.version)?;
    }
    head(out, "event")?;
    let about = corr_parsers::kind(shown.kind).map_or("", |k| k.about);
    writeln!(out, "  kind     {} — {about}", shown.kind)?;
    writeln!(out, "  time     {}", shown.time())?;
    writeln!(out, "  format   {}   outcome {}", shown.format, shown.outcome)?;
    let facts = [("level", shown.level.map(String::from)), ("worker", shown.worker.clone()), ("role", shown.role.clone())];
    let more = [("host", shown.host.clone()), ("unit", shown.unit.clone()), ("note", shown.note.map(String::from))];
    for (name, value) in facts.into_iter().chain(more) {
        if let Some(value) = value {
            writeln!(out, "  {name:<8} {}", safe::terminal(&value))?;
        }
    }
    if !shown.fields.is_empty() {
        head(out, "fields")?;
        let width = shown.fields.iter().map(|f| f.0.chars().count()).max().unwrap_or(0).min(40);
        for (name, raw, value) in &shown.fields {
            let spelled = if name == raw { String::new() } else { format!("   ({})", safe::terminal(raw)) };
            writeln!(out, "  {:<width$}  {}{spelled}", safe::terminal(name), safe::terminal(&plain(value)))?;
        }
    }
    if !shown.withheld.is_empty() {
        head(out, "withheld (--bodies shows it)")?;
        for w in &shown.withheld {
            let text = |name: &str| w.get(name).map(plain).unwrap_or_default();
            let facts =
                if w.get("blake3").is_some() { format!(", {} bytes, blake3 {}", text("bytes"), text("blake3")) } else { String::new() };
            writeln!(out, "  {}: {}{facts}", text("name"), text("why"))?;
        }
    }
    head(out, "clock")?;
    for line in &opened.clock {
        writeln!(out, "  {}", safe::terminal(line))?;
    }
    if !links.is_empty() {
        head(out, "ids")?;
        for link in links {
            let places: Vec<String> = link.by_source.iter().map(|(s, n)| format!("{} in {}", n, safe::terminal(s))).collect();
            writeln!(out, "  {} {}: {} records ({})", link.field, safe::terminal(&link.id), link.total, places.join(", "))?;
        }
    }
    head(out, "neighbours")?;
    for event in beside {
        let mark = if event.context { ' ' } else { '>' };
        let first = event.message.lines().next().unwrap_or("");
        let mut text: String = first.chars().take(160).collect();
        if text.len() < first.len() {
            text.push('…');
        }
        writeln!(out, "{mark} {} {} {} {}", event.time(), event.line, event.kind, safe::terminal(&text))?;
    }
    Ok(())
}

fn write_json(opened: &Opened, links: &[Link], beside: &[Shown], out: &mut dyn Write) -> anyhow::Result<()> {
    let links: Vec<Json> = links
        .iter()
        .map(|l| {
            let places: Vec<Json> = l.by_source.iter().map(|(s, n)| json!({"source": s, "records": n})).collect();
            json!({"kind": l.field, "id": l.id, "records": l.total, "sources": places})
        })
        .collect();
    let spelled: Vec<Json> = opened.shown.fields.iter().map(|(n, r, v)| json!({"name": n, "raw": r, "value": v})).collect();
    let whole = json!({
        "schema": "corr.show.v1",
        "raw": opened.raw,
        "event": opened.shown.json(),
        "fields": spelled,
        "clock": opened.clock,
        "links": links,
        "neighbours": beside.iter().filter(|b| b.context).map(Shown::json).collect::<Vec<_>>(),
    });
    serde_json::to_writer_pretty(&mut *out, &whole)?;
    writeln!(out)?;
    Ok(())
}
