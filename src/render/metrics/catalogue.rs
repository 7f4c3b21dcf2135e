//! What captures hold: endpoints first, then series by family.

use std::io::{self, Write};

use corr_metrics::catalogue::Group;
use corr_metrics::coverage::Coverage;
use corr_metrics::model::{Clock, Fidelity, Kind, Outcome, SeriesId, StampOf};
use serde_json::{Value as Json, json};

use super::offsets::ClockOffset;
use super::{covered, number, seconds, table};
use crate::metrics::asked::{Asked, Captured, Hit, title};
use crate::render::events::Format;
use crate::render::number::grouped;
use crate::render::paint::{Paint, Tone};
use crate::render::safe::{self, terminal};

/// A catalogue, with the members that are listed.
pub struct Catalogued<'a> {
    pub asked: &'a Asked<'a>,
    pub hits: Vec<Hit<'a>>,
    /// Coverage of each capture's own extent, by endpoint.
    pub covered: Vec<Vec<Coverage>>,
    /// How far the clocks of two captures are apart.
    pub offsets: Vec<ClockOffset>,
    /// Series that are not listed, of those asked for.
    pub cut: usize,
}

/// One series of the list.
struct Line<'a> {
    captured: &'a Captured<'a>,
    group: &'a Group,
    id: SeriesId,
}

impl<'a> Catalogued<'a> {
    /// Lists at most `limit` series, 0 for all.
    pub fn new(asked: &'a Asked<'a>, mut hits: Vec<Hit<'a>>, limit: usize) -> Catalogued<'a> {
        let all: usize = hits.iter().map(|h| h.series.len()).sum();
        if limit > 0 {
            let mut left = limit;
            for hit in &mut hits {
                hit.series.truncate(left);
                left -= hit.series.len();
            }
            hits.retain(|h| !h.series.is_empty());
        }
        let shown: usize = hits.iter().map(|h| h.series.len()).sum();
        Catalogued { asked, hits, covered: Vec::new(), offsets: Vec::new(), cut: all - shown }
    }

    /// Series that are listed.
    pub fn shown(&self) -> usize {
        self.hits.iter().map(|h| h.series.len()).sum()
    }

    fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        self.hits.iter().flat_map(|h| h.series.iter().map(|id| Line { captured: h.captured, group: h.group, id: *id }))
    }

    fn captures(&self) -> impl Iterator<Item = Json> {
        self.asked.captures.iter().enumerate().map(|(i, captured)| {
            let mut json = capture_json(captured);
            json["coverage"] = covered::json(captured, self.covered.get(i).map_or(&[], |c| c));
            json
        })
    }

    /// Writes it.
    pub fn write(&self, format: Format, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Text => self.text(paint, out),
            Format::Json => {
                let captures: Vec<Json> = self.captures().collect();
                let series: Vec<Json> = self.lines().map(|l| l.json()).collect();
                let offsets: Vec<Json> = self.offsets.iter().map(ClockOffset::json).collect();
                let whole = json!({"schema": "corr.metrics.v1", "captures": captures, "clock_offsets": offsets, "series": series, "not_shown": self.cut});
                safe::write_json(out, &whole, true)?;
                writeln!(out)
            }
            Format::Jsonl => {
                for mut line in self.captures() {
                    line["type"] = "capture".into();
                    safe::write_json(out, &line, false)?;
                    writeln!(out)?;
                }
                for offset in &self.offsets {
                    let mut line = offset.json();
                    line["type"] = "clock_offset".into();
                    safe::write_json(out, &line, false)?;
                    writeln!(out)?;
                }
                for line in self.lines() {
                    let mut line = line.json();
                    line["type"] = "series".into();
                    safe::write_json(out, &line, false)?;
                    writeln!(out)?;
                }
                safe::write_json(out, &json!({"type": "summary", "shown": self.shown(), "not_shown": self.cut}), false)?;
                writeln!(out)
            }
            Format::Csv | Format::Markdown => {
                let columns = [
                    "series",
                    "target",
                    "type",
                    "origin",
                    "samples",
                    "first_time",
                    "first",
                    "last_time",
                    "last",
                    "falls",
                    "trouble",
                    "capture",
                ];
                table::write(format, &columns, self.lines().map(|l| l.cells()), out)
            }
        }
    }

    fn text(&self, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        for (i, captured) in self.asked.captures.iter().enumerate() {
            capture_text(captured, paint, out)?;
            // Of one scrape there is nothing to be covered.
            let covered: Vec<Coverage> = self.covered.get(i).into_iter().flatten().filter(|c| c.scrapes != 1).cloned().collect();
            covered::text(captured, &covered, "what the capture covers", paint, out)?;
            writeln!(out)?;
        }
        for offset in &self.offsets {
            offset.text(out)?;
            writeln!(out)?;
        }
        let mut family: Option<(*const Captured<'_>, &str)> = None;
        for line in self.lines() {
            let this = (std::ptr::from_ref(line.captured), line.group.name.as_str());
            if family != Some(this) {
                family = Some(this);
                let Group { name, typed, unit, help, .. } = line.group;
                let unit = unit.as_deref().map_or_else(String::new, |u| format!(", {}", terminal(u)));
                let several = if self.asked.captures.len() > 1 { format!("  {}", terminal(&line.captured.name)) } else { String::new() };
                let name = paint.tone(Tone::Kind, &terminal(name));
                writeln!(out, "{name}  {} ({}){unit}{}", typed.kind.word(), typed.origin.word(), paint.tone(Tone::Place, &several))?;
                if let Some(help) = help {
                    writeln!(out, "  {}", paint.tone(Tone::Dim, &terminal(help)))?;
                }
            }
            line.text(paint, out)?;
        }
        Ok(())
    }
}

impl Line<'_> {
    fn facts(&self) -> Facts {
        let capture = self.captured.capture();
        let samples = &capture.samples;
        let series = capture.get(self.id);
        let spelled = capture.spelled(self.id);
        Facts {
            part: spelled,
            target: series.and_then(|s| capture.endpoint(s.endpoint)).map(title).unwrap_or_default(),
            samples: samples.len(self.id.0),
            first: samples.first(self.id.0).map(|s| (self.captured.dial().show(s.at), s.value)),
            last: samples.last(self.id.0).map(|s| (self.captured.dial().show(s.at), s.value)),
            falls: samples.fall_count(self.id.0),
            trouble: series.map(|s| troubles(&s.trouble)).unwrap_or_default(),
            exact: series.is_none_or(|s| s.precision == corr_metrics::model::Precision::F64),
        }
    }

    /// How it moved, in words.
    fn moved(&self, facts: &Facts) -> String {
        let counts = matches!(self.group.typed.kind, Kind::Counter | Kind::Histogram);
        match facts.falls {
            0 if facts.first.as_ref().map(|f| f.1) == facts.last.as_ref().map(|l| l.1) && facts.samples > 1 => "never moved".into(),
            0 => "never falls".into(),
            1 if counts => "1 reset".into(),
            n if counts => format!("{n} resets"),
            n => format!("falls {n} times"),
        }
    }

    fn text(&self, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        let facts = self.facts();
        let point = |p: &Option<(String, f64)>| p.as_ref().map_or_else(String::new, |(at, v)| format!("{at} {}", number(*v)));
        let labels = terminal(&facts.part).into_owned();
        writeln!(out, "  {labels}  {}", paint.tone(Tone::Place, &terminal(&facts.target)))?;
        let moved = self.moved(&facts);
        let (first, last) = (point(&facts.first), point(&facts.last));
        let n = if facts.samples == 1 { "1 sample".into() } else { format!("{} samples", grouped(facts.samples)) };
        let float = if facts.exact { "" } else { ", 32-bit floats" };
        writeln!(out, "    {n}  {first} … {last}  {moved}{float}")?;
        for trouble in &facts.trouble {
            writeln!(out, "    {}", paint.tone(Tone::Warn, trouble))?;
        }
        Ok(())
    }

    fn json(&self) -> Json {
        let facts = self.facts();
        let capture = self.captured.capture();
        let series = capture.get(self.id);
        let labels: serde_json::Map<String, Json> =
            series.map(|s| s.labels.iter().map(|(k, v)| (k.to_string(), v.into())).collect()).unwrap_or_default();
        let point = |p: &Option<(String, f64)>| p.as_ref().map(|(at, v)| json!({"time": at, "value": json_number(*v)}));
        json!({
            "capture": self.captured.name,
            "target": facts.target,
            "family": self.group.name,
            "name": series.map(|s| s.name.seen()),
            "labels": labels,
            "type": self.group.typed.kind.word(),
            "type_origin": self.group.typed.origin,
            "unit": self.group.unit,
            "samples": facts.samples,
            "first": point(&facts.first),
            "last": point(&facts.last),
            "falls": facts.falls,
            "exact": facts.exact,
            "trouble": facts.trouble,
        })
    }

    fn cells(&self) -> Vec<String> {
        let facts = self.facts();
        let split = |p: Option<(String, f64)>| p.map_or_else(Default::default, |(at, v)| (at, number(v)));
        let ((first_time, first), (last_time, last)) = (split(facts.first), split(facts.last));
        let typed = self.group.typed;
        vec![
            facts.part,
            facts.target,
            typed.kind.word().into(),
            typed.origin.word().into(),
            facts.samples.to_string(),
            first_time,
            first,
            last_time,
            last,
            facts.falls.to_string(),
            facts.trouble.join("; "),
            self.captured.name.clone(),
        ]
    }
}

/// What is said of one series.
struct Facts {
    part: String,
    target: String,
    samples: u64,
    first: Option<(String, f64)>,
    last: Option<(String, f64)>,
    falls: u64,
    trouble: Vec<String>,
    exact: bool,
}

fn json_number(value: f64) -> Json {
    if value.is_finite() { json!(value) } else { json!(number(value)) }
}

/// What is wrong with a series, a sentence each.
fn troubles(trouble: &corr_metrics::model::Trouble) -> Vec<String> {
    let mut out = Vec::new();
    if trouble.collisions > 0 {
        out.push(format!("{} samples at a time that it has already: several series stand under this name", grouped(trouble.collisions)));
    }
    if trouble.disordered > 0 {
        out.push(format!("{} samples stood after later ones and were sorted in", grouped(trouble.disordered)));
    }
    if trouble.damaged {
        out.push("its name or labels were damaged by the scraper".into());
    }
    if trouble.foreign {
        out.push("its values are not the metric's own".into());
    }
    out
}

fn capture_text(captured: &Captured<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let capture = captured.capture();
    writeln!(out, "{}  {}", paint.tone(Tone::Place, &terminal(&captured.name)), captured.source.layout)?;
    let mut row = |name: &str, text: &str| writeln!(out, "  {name:<10} {text}");
    row("read as", &terminal(&captured.source.set.because))?;
    row("clock", &clock(captured))?;
    if capture.fidelity != Fidelity::Raw {
        row("values", fidelity(capture.fidelity))?;
    }
    let samples: u64 = (0..capture.series.len()).map(|i| capture.samples.len(i as u32)).sum();
    row(
        "holds",
        &format!("{} series, {} samples, {} exemplars", grouped(capture.series.len() as u64), grouped(samples), capture.exemplars.len()),
    )?;
    for (part, why) in &captured.source.set.beside {
        row("beside", &format!("{}: {}", terminal(&part.key), terminal(why)))?;
    }
    for endpoint in endpoints(captured) {
        row("endpoint", &endpoint.words())?;
    }
    for note in &capture.notes {
        let first = note.first.as_deref().map_or_else(String::new, |f| format!(" ({})", terminal(f)));
        let times = if note.count > 1 { format!(" ×{}", grouped(note.count)) } else { String::new() };
        row("note", &format!("{}{times}{first}", terminal(&note.what)))?;
    }
    Ok(())
}

/// What is said of an endpoint.
struct Target {
    name: String,
    url: Option<String>,
    facts: Vec<(String, String)>,
    scrapes: usize,
    /// What they are called.
    word: &'static str,
    failed: usize,
    first_failure: Option<String>,
    extent: Option<(String, String)>,
    interval: Option<i64>,
}

fn endpoints(captured: &Captured<'_>) -> Vec<Target> {
    let capture = captured.capture();
    let dial = captured.dial();
    let one = |(i, endpoint): (usize, &corr_metrics::model::Endpoint)| {
        let scrapes = captured.scrapes(corr_metrics::model::EndpointId(i as u32));
        let failures = || {
            endpoint.scrapes.iter().filter_map(|s| match &s.outcome {
                Outcome::Failed(why) => Some((s.at, why)),
                Outcome::Read => None,
            })
        };
        Target {
            name: title(endpoint),
            url: endpoint.url.clone().filter(|url| *url != title(endpoint)),
            facts: endpoint.facts.iter().map(|(k, v)| (k.clone(), v.clone())).collect(),
            scrapes: scrapes.times().len(),
            word: if captured.is_log() { "stamps" } else { "scrapes" },
            failed: failures().count(),
            first_failure: failures().next().map(|(at, why)| format!("{}: {why}", dial.show(at))),
            extent: scrapes.times().first().zip(scrapes.times().last()).map(|(a, b)| (dial.show(*a), dial.show(*b))),
            interval: scrapes.interval(),
        }
    };
    capture.endpoints.iter().enumerate().map(one).collect()
}

impl Target {
    fn words(&self) -> String {
        let name = if self.name.is_empty() { "(unnamed)".into() } else { terminal(&self.name).into_owned() };
        let mut parts = vec![name];
        parts.extend(self.url.as_deref().map(|url| terminal(url).into_owned()));
        parts.extend(self.facts.iter().map(|(k, v)| format!("{}={}", terminal(k), terminal(v))));
        let mut line = parts.join(" ");
        line.push_str(&format!("  {} {}", grouped(self.scrapes as u64), self.word));
        if let Some((first, last)) = &self.extent {
            line.push_str(&format!("  {first} … {last}"));
        }
        if let Some(interval) = self.interval {
            line.push_str(&format!("  every {}", seconds(interval)));
        }
        if self.failed > 0 {
            let first = self.first_failure.as_deref().map(|f| terminal(f).into_owned()).unwrap_or_default();
            line.push_str(&format!("  {} failed (first {first})", grouped(self.failed as u64)));
        }
        line
    }

    fn json(&self) -> Json {
        let facts: serde_json::Map<String, Json> = self.facts.iter().map(|(k, v)| (k.clone(), v.as_str().into())).collect();
        json!({
            "name": self.name,
            "url": self.url,
            "facts": facts,
            "scrapes": self.scrapes,
            "failed": self.failed,
            "first_failure": self.first_failure,
            "first": self.extent.as_ref().map(|e| &e.0),
            "last": self.extent.as_ref().map(|e| &e.1),
            "interval_ns": self.interval,
        })
    }
}

fn capture_json(captured: &Captured<'_>) -> Json {
    let capture = captured.capture();
    let notes: Vec<Json> =
        capture.notes.iter().map(|n| json!({"code": n.code, "what": n.what, "count": n.count, "first": n.first})).collect();
    let anchor = match &capture.clock {
        Clock::Elapsed { anchor: Some(a) } => Some(json!({
            "low": crate::render::shown::rfc3339(a.low, 1),
            "high": crate::render::shown::rfc3339(a.high, 1),
            "how": a.how,
            "holds": a.holds.map(|h| h.0),
            "of": a.holds.map(|h| h.1),
        })),
        _ => None,
    };
    json!({
        "name": captured.name,
        "layout": captured.source.layout,
        "because": captured.source.set.because,
        "files": captured.source.set.files.iter().map(|p| &p.key).collect::<Vec<_>>(),
        "beside": captured.source.set.beside.iter().map(|(p, why)| json!({"file": p.key, "why": why})).collect::<Vec<_>>(),
        "clock": match &capture.clock { Clock::Wall => "wall", Clock::AssumedUtc => "assumed_utc", Clock::Elapsed { .. } => "elapsed" },
        "anchor": anchor,
        "stamp_of": capture.stamp_of,
        "fidelity": capture.fidelity,
        "endpoints": endpoints(captured).iter().map(Target::json).collect::<Vec<_>>(),
        "series": capture.series.len(),
        "exemplars": capture.exemplars.len(),
        "notes": notes,
    })
}

fn clock(captured: &Captured<'_>) -> String {
    let capture = captured.capture();
    let clock = match &capture.clock {
        Clock::Wall => "wall clock of the scraper".to_string(),
        Clock::AssumedUtc => "stamps without a zone, taken as UTC".to_string(),
        Clock::Elapsed { anchor: None } => "counts from the capture's start; where that lies is unknown".to_string(),
        Clock::Elapsed { anchor: Some(anchor) } => {
            let holds = anchor.holds.map_or_else(String::new, |(n, of)| format!(", holds for {n} of {of}"));
            let (low, high) = (crate::render::shown::rfc3339(anchor.low, 1), crate::render::shown::rfc3339(anchor.high, 1));
            format!("counts from a start between {low} and {high}: {}{holds}", terminal(&anchor.how))
        }
    };
    if let StampOf::Line { width } = capture.stamp_of {
        let zone = if capture.clock == Clock::AssumedUtc { ", taken as UTC" } else { "" };
        return format!("stamps of log records{zone}; a stamp is the beginning of {} in which the record was written", seconds(width));
    }
    format!("{clock}; a stamp is {}", stamp_of(capture.stamp_of))
}

fn stamp_of(stamp: StampOf) -> &'static str {
    match stamp {
        StampOf::Request => "the start of the request",
        StampOf::FirstByte => "the first byte of the response",
        StampOf::Body => "taken after the body: values are older by the scrape's duration",
        StampOf::Evaluation => "the instant at which a query was evaluated",
        StampOf::FileName => "from the file's name",
        StampOf::FileTime => "when the file was last written, which a copy changes",
        StampOf::Exposition => "the one that the exposition carries",
        StampOf::Line { .. } => "that of a log record",
        StampOf::Unknown => "of an unknown instant of the scrape",
    }
}

/// What values are, where they are not the samples.
pub fn fidelity(fidelity: Fidelity) -> &'static str {
    match fidelity {
        Fidelity::Raw => "as scraped",
        Fidelity::StepFilled => "points of a query on a grid, each filled from the last sample before: no samples",
        Fidelity::SinceBase => "counters count from one base sample and never below it: resets are hidden",
    }
}
