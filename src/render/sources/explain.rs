//! `corr sources --explain FILE`: why a source is taken for what it is, and what every other envelope and format objected to.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::ControlFlow;

use corr_parsers::clock::Clock;
use corr_parsers::detect::{self, Detection, Objection, Score};
use corr_parsers::{ENVELOPES, FORMATS, declared};
use serde_json::{Value as Json, json};

use crate::render::safe::terminal;
use crate::render::shown::visible_text;
use crate::run::Run;
use crate::run::events::{self, Start};
use crate::run::sample::Sample;
use crate::run::source::{Class, Source, is_named};
use crate::run::timing::Timing;
use crate::store::manifest::{how_name, rule_name};

/// The reasons for one source.
pub struct Explained<'r> {
    source: &'r Source,
    /// What was not chosen.
    rejected: Vec<Objection>,
    /// Where the first record stands that begins like no known format.
    unknown: Option<usize>,
    /// Lines that are spoken of, by their byte in the sample.
    lines: BTreeMap<usize, Line>,
}

/// A line as people may see it.
#[derive(Clone, Debug, Default)]
struct Line {
    number: u64,
    /// Its beginning, without what is withheld.
    text: String,
}

/// So many characters of a line are shown.
const SHOWN: usize = 60;

/// Finds the source of a name or key.
pub fn explain<'r>(run: &'r Run, name: &str) -> Option<Explained<'r>> {
    let source = run.sources.iter().find(|s| is_named(name, &s.key, &s.name))?;
    let sample = Sample::read(source);
    if sample.bytes.is_empty() {
        return Some(Explained { source, rejected: Vec::new(), unknown: None, lines: BTreeMap::new() });
    }
    let rejected = detect::objections(&sample.bytes, sample.whole, run.declared.formats(), &source.detection);
    let unknown = detect::first_unknown(&sample.bytes, sample.whole, &source.detection.layout);
    let asked = rejected.iter().filter_map(|o| o.first).chain(unknown);
    let lines = lines(&sample.bytes, source, asked.map(|at| (at, Line::default())).collect());
    Some(Explained { source, rejected, unknown, lines })
}

/// Fills in the lines that begin at these bytes of a sample. They are read as records, which tells what of them is withheld.
fn lines(sample: &[u8], source: &Source, mut asked: BTreeMap<usize, Line>) -> BTreeMap<usize, Line> {
    let timing = Timing::plain(Clock::assumed());
    events::each(sample, &source.detection.layout, &timing, Start::of_source(), sample.len(), |record, event, facts| {
        for (at, line) in asked.range_mut(record.offset..record.offset + record.len) {
            line.number = facts.line + events::count_lines(&sample[record.offset..*at]);
            // Where the payload is not a part of the source it is shown from its beginning.
            let from = record.payload_at.map_or(0, |start| at.saturating_sub(start).min(record.payload.len()));
            let rest = &record.payload[from..];
            let end = from + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            line.text = visible_text(record.payload, from..end, &event.withheld).chars().take(SHOWN).collect();
        }
        ControlFlow::Continue(())
    });
    asked
}

impl Explained<'_> {
    /// For people.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let source = self.source;
        writeln!(out, "{}", terminal(&source.name))?;
        match &source.class {
            Class::Events => {}
            Class::Duplicate(of) => return writeln!(out, "  the same bytes as {}, which is read", terminal(of)),
            class => return writeln!(out, "  holds no events: {}", terminal(&class_text(class))),
        }
        if let Some(by) = source.read_by() {
            writeln!(out, "  read by    {} -o export; bytes, lines and @OFFSET count what it writes", terminal(by))?;
        }
        let detection = &source.detection;
        writeln!(out, "  {} records of the first {} KiB were looked at", detection.sampled, corr_parsers::detect::SAMPLE >> 10)?;
        if detection.layout.envelopes.is_empty() {
            writeln!(out, "  envelope   none: the lines stand bare")?;
        }
        let at = |depth: usize| detection.envelopes.iter().filter(move |s| s.depth == depth);
        for (depth, envelope) in detection.layout.envelopes.iter().enumerate() {
            let place = if depth == 0 { "envelope " } else { "inside it" };
            writeln!(out, "  {place}  {}: {}", envelope.name, envelope.about)?;
            scores(out, at(depth))?;
        }
        scores(out, at(detection.layout.envelopes.len()))?;
        match detection.formats.first() {
            Some(best) => writeln!(out, "  format     {}: {}", best.name, about(best.name))?,
            None => writeln!(out, "  format     none known: its lines are kept as text and are searchable")?,
        }
        scores(out, detection.formats.iter())?;
        for objection in self.objections() {
            writeln!(out, "  objection  {}", terminal(&objection))?;
        }
        writeln!(out, "  owner      {}", terminal(&source.owner.how))?;
        let clock = &source.clock;
        writeln!(out, "  clock      {} ({}): {}", rule_name(clock.rule), how_name(clock.how), terminal(&clock.evidence))?;
        writeln!(
            out,
            "  to say otherwise: --format-of '{}=FORMAT', --tz '{}=ZONE', or corr.toml",
            terminal(&source.key),
            terminal(&source.key)
        )?;
        self.write_rejected(out)
    }

    /// Every envelope and format that was not chosen on a line, and then the lines that they name.
    fn write_rejected(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.rejected.is_empty() {
            return Ok(());
        }
        writeln!(out, "  not chosen: how much it does not take, from which line on, and what it would take")?;
        for rejected in &self.rejected {
            writeln!(out, "    {:<8} {:<27}{}", rejected.what, rejected.name, terminal(&self.reason(rejected)))?;
        }
        // An envelope's line is shown by what the chosen ones found in it.
        let holds = if self.source.detection.layout.envelopes.is_empty() { "" } else { "holds " };
        for line in self.lines.values() {
            writeln!(out, "    line {}: {holds}{}", line.number, terminal(&line.text))?;
        }
        Ok(())
    }

    /// For programs.
    pub fn json(&self) -> Json {
        let source = self.source;
        let list = |scores: &[Score]| -> Vec<Json> {
            scores.iter().map(|s| json!({"name": s.name, "share": s.share, "reason": s.reason})).collect()
        };
        json!({
            "schema": "corr.sources.explain.v1",
            "name": source.name,
            "key": source.key,
            "class": source.class,
            "read_by": source.read_by(),
            "sampled": source.detection.sampled,
            "envelope": source.detection.layout.wrapped_in(),
            "envelopes": list(&source.detection.envelopes),
            "format": source.format(),
            "formats": list(&source.detection.formats),
            "objections": self.objections(),
            "rejected": self.rejected.iter().map(|r| self.rejected_json(r)).collect::<Vec<_>>(),
            "owner": source.owner,
            "clock": {"rule": rule_name(source.clock.rule), "how": how_name(source.clock.how), "evidence": source.clock.evidence},
        })
    }

    /// For people: `7 of 7 entries from line 1; objects with … (not JSON)`.
    fn reason(&self, rejected: &Objection) -> String {
        let Objection { what, of, not_taken, reason, shape, .. } = *rejected;
        if of == 0 {
            return reason.into();
        }
        let units = if what == "envelope" { "entries" } else { "records" };
        let mut out = format!("{not_taken} of {of} {units}");
        if let Some(line) = rejected.first.and_then(|at| self.lines.get(&at)) {
            out.push_str(&format!(" from line {}", line.number));
        }
        if let Some(around) = rejected.depth.checked_sub(1).and_then(|i| self.source.detection.layout.envelopes.get(i))
            && what == "envelope"
        {
            out.push_str(&format!(" inside {}", around.name));
        }
        out.push_str(&format!("; {shape}"));
        if !reason.is_empty() {
            out.push_str(&format!(" ({reason})"));
        }
        out
    }

    fn rejected_json(&self, rejected: &Objection) -> Json {
        let line = rejected.first.and_then(|at| self.lines.get(&at));
        json!({
            "what": rejected.what,
            "name": rejected.name,
            "depth": rejected.depth,
            "of": rejected.of,
            "not_taken": rejected.not_taken,
            "reason": rejected.reason,
            "shape": rejected.shape,
            "first_line": line.map(|l| l.number),
            "first_text": line.map(|l| l.text.as_str()),
        })
    }

    /// What speaks against the choice.
    fn objections(&self) -> Vec<String> {
        let mut out = objections(&self.source.detection);
        if let Some(line) = self.unknown.and_then(|at| self.lines.get(&at))
            && !self.source.detection.formats.is_empty()
        {
            out.push(format!("line {} is the first that begins like no known format: {}", line.number, line.text));
        }
        out
    }
}

fn class_text(class: &Class) -> String {
    match class {
        Class::Metrics(layout) => format!("metrics ({layout})"),
        Class::Config(what) => format!("configuration or by-product ({what})"),
        Class::Empty => "empty".into(),
        Class::Events | Class::Duplicate(_) => String::new(),
    }
}

fn about(name: &str) -> &'static str {
    FORMATS.iter().copied().chain(declared::loaded()).find(|f| f.name == name).map_or("", |f| f.about)
}

fn scores<'s>(out: &mut dyn Write, scores: impl Iterator<Item = &'s Score>) -> io::Result<()> {
    for (i, score) in scores.enumerate() {
        let place = if i == 0 { "best" } else { "then" };
        writeln!(out, "             {place} {} {:.3}: {}", score.name, score.share, terminal(&score.reason))?;
    }
    Ok(())
}

/// What speaks against the choice.
fn objections(detection: &Detection) -> Vec<String> {
    let mut out = Vec::new();
    let explained: f64 = detection.formats.iter().map(|s| s.share).sum();
    if let Some(best) = detection.formats.first() {
        let rest = 1.0 - explained;
        if rest > 0.05 {
            out.push(format!("{:.0} % of the sampled records begin like no known format", rest * 100.0));
        }
        if best.share < 0.5 {
            out.push(format!("the best format explains only {:.0} %", best.share * 100.0));
        }
    }
    for score in &detection.envelopes {
        let chosen = detection.layout.envelopes.get(score.depth).is_some_and(|e| e.name == score.name);
        if chosen && score.share < 0.99 {
            out.push(format!("{:.1} % of the entries are not of {}", (1.0 - score.share) * 100.0, score.name));
        }
        if !chosen && score.share >= 0.5 {
            let shape = ENVELOPES.iter().find(|e| e.name == score.name).map_or("", |e| e.shape);
            out.push(format!("{} explains {:.0} % too ({shape})", score.name, score.share * 100.0));
        }
    }
    out
}
