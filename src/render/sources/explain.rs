//! `corr sources --explain FILE`: why a source is taken for what it is.

use std::io::{self, Write};

use corr_parsers::detect::{Detection, Score};
use corr_parsers::{ENVELOPES, FORMATS, declared};
use serde_json::{Value as Json, json};

use crate::render::safe::terminal;
use crate::run::Run;
use crate::run::source::{Class, Source};
use crate::store::manifest::{how_name, rule_name};

/// The reasons for one source.
pub struct Explained<'r> {
    source: &'r Source,
}

/// Finds the source of a name or key.
pub fn explain<'r>(run: &'r Run, name: &str) -> Option<Explained<'r>> {
    let clean = name.trim_start_matches("./");
    let source = run.sources.iter().find(|s| s.key == clean || s.name == name || s.name.trim_start_matches("./") == clean)?;
    Some(Explained { source })
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
        for objection in objections(detection) {
            writeln!(out, "  objection  {objection}")?;
        }
        writeln!(out, "  owner      {}", terminal(&source.owner.how))?;
        let clock = &source.clock;
        writeln!(out, "  clock      {} ({}): {}", rule_name(clock.rule), how_name(clock.how), terminal(&clock.evidence))?;
        writeln!(
            out,
            "  to say otherwise: --format-of '{}=FORMAT', --tz '{}=ZONE', or corr.toml",
            terminal(&source.key),
            terminal(&source.key)
        )
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
            "objections": objections(&source.detection),
            "owner": source.owner,
            "clock": {"rule": rule_name(source.clock.rule), "how": how_name(source.clock.how), "evidence": source.clock.evidence},
        })
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
