//! Counters divided by counters.

use std::io::{self, Write};

use corr_metrics::window::ratio::Quotient;
use serde_json::{Value as Json, json};

use super::words::bracket_words;
use super::{computed, json as dated, seconds, table};
use crate::metrics::asked::title;
use crate::metrics::ratios::{Share, Term};
use crate::metrics::span::Coverage;
use crate::render::events::Format;
use crate::render::paint::{Paint, Tone};
use crate::render::safe::{self, terminal};

/// Quotients of a window.
pub struct Shares<'a> {
    pub shares: Vec<Share<'a>>,
}

const COLUMNS: &[&str] = &[
    "series",
    "target",
    "per",
    "quotient",
    "least",
    "most",
    "same_scrapes",
    "numerator",
    "denominator",
    "why_not",
    "numerator_citation",
    "denominator_citations",
    "ranks",
    "capture",
];

impl Shares<'_> {
    /// Writes them.
    pub fn write(&self, format: Format, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Text => {
                for (i, share) in self.shares.iter().enumerate() {
                    if i > 0 {
                        writeln!(out)?;
                    }
                    share.text(paint, out)?;
                }
                Ok(())
            }
            Format::Json => {
                let shares: Vec<Json> = self.shares.iter().map(Share::json).collect();
                safe::write_json(out, &json!({"schema": "corr.metrics.per.v1", "quotients": shares}), true)?;
                writeln!(out)
            }
            Format::Jsonl => {
                for share in &self.shares {
                    safe::write_json(out, &share.json(), false)?;
                    writeln!(out)?;
                }
                Ok(())
            }
            Format::Csv | Format::Markdown => table::write(format, COLUMNS, self.shares.iter().map(Share::cells), out),
        }
    }
}

impl Share<'_> {
    fn target(&self) -> String {
        let capture = self.captured.capture();
        capture.get(self.numerator.id).and_then(|s| capture.endpoint(s.endpoint)).map(title).unwrap_or_default()
    }

    fn spelled(&self, term: &Term) -> String {
        self.captured.capture().spelled(term.id)
    }

    fn cited(&self, term: &Term) -> Option<String> {
        term.delta().map(|delta| self.captured.citation(term.id, delta.first.at, delta.last.at))
    }

    /// What was divided by, added up; `None` if a part of it has no difference.
    fn denominator(&self) -> Option<f64> {
        if self.denominators.is_empty() {
            return None;
        }
        self.denominators.iter().map(|term| Some(term.delta()?.inner.value)).sum()
    }

    fn text(&self, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        let name = paint.tone(Tone::Kind, &terminal(&self.spelled(&self.numerator)));
        let place = paint.tone(Tone::Place, &terminal(&self.target()));
        writeln!(out, "{name}  {place}  per {}", terminal(self.per))?;
        match &self.quotient {
            Ok(quotient) => {
                let above = self.numerator.delta().map(|d| computed(d.inner.value)).unwrap_or_default();
                let below = self.denominator().map(computed).unwrap_or_default();
                let value = quotient.value.map_or_else(|| "no quotient: what it is divided by did not move".to_string(), computed);
                writeln!(out, "  {value} = {above} / {below}; in the window {}", bounds(quotient))?;
                if !quotient.same_scrapes {
                    writeln!(out, "  {}", paint.tone(Tone::Warn, "the differences rest on different scrapes"))?;
                }
            }
            Err(why) => writeln!(out, "  no quotient: {}", terminal(why))?,
        }
        if let Some(slack) = &self.placed.error {
            writeln!(out, "  the window's edges are ± {} on this capture's clock", seconds(slack.by))?;
        }
        if self.placed.coverage != Coverage::Whole {
            writeln!(out, "  {}", paint.tone(Tone::Warn, "the capture covers a part of the window, or nothing of it"))?;
        }
        for line in &self.ranks {
            writeln!(out, "  {}", terminal(line))?;
        }
        self.term("above", &self.numerator, paint, out)?;
        self.denominators.iter().try_for_each(|term| self.term("below", term, paint, out))
    }

    fn term(&self, side: &str, term: &Term, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        let Some(delta) = term.delta() else { return writeln!(out, "  {side} {}: no difference", terminal(&self.spelled(term))) };
        let bracket = term.found.bracket.map(bracket_words).unwrap_or_default();
        let cited = self.cited(term).unwrap_or_default();
        writeln!(out, "  {side} {}, in the window {bracket}  {}", computed(delta.inner.value), paint.tone(Tone::Dim, &terminal(&cited)))
    }

    fn json(&self) -> Json {
        let dial = self.captured.dial();
        let term = |term: &Term| {
            let mut answer = dated::of(&term.found.answer, dial);
            answer["least"] = json!(term.found.bracket.map(|b| b.0));
            answer["most"] = json!(term.found.bracket.and_then(|b| b.1));
            json!({"series": self.spelled(term), "answer": answer, "citation": self.cited(term)})
        };
        let quotient = self.quotient.as_ref().ok();
        json!({
            "capture": self.captured.name,
            "target": self.target(),
            "series": self.spelled(&self.numerator),
            "per": self.per,
            "status": if quotient.is_some() { "answered" } else { "no_quotient" },
            "why": self.quotient.as_ref().err(),
            "value": quotient.and_then(|q| q.value),
            "low": quotient.map(|q| q.low),
            "high": quotient.and_then(|q| q.high),
            "same_scrapes": quotient.map(|q| q.same_scrapes),
            "numerator": term(&self.numerator),
            "denominators": self.denominators.iter().map(term).collect::<Vec<_>>(),
            "ranks": self.ranks,
            "clock_error_ns": self.placed.error.map(|e| e.by),
            "covered": self.placed.coverage.word(),
        })
    }

    fn cells(&self) -> Vec<String> {
        let quotient = self.quotient.as_ref().ok();
        let below: Vec<String> = self.denominators.iter().filter_map(|term| self.cited(term)).collect();
        vec![
            self.spelled(&self.numerator),
            self.target(),
            self.per.to_string(),
            quotient.and_then(|q| q.value).map(computed).unwrap_or_default(),
            quotient.map(|q| computed(q.low)).unwrap_or_default(),
            quotient.and_then(|q| q.high).map(computed).unwrap_or_default(),
            quotient.map(|q| q.same_scrapes.to_string()).unwrap_or_default(),
            self.numerator.delta().map(|d| computed(d.inner.value)).unwrap_or_default(),
            self.denominator().map(computed).unwrap_or_default(),
            self.quotient.as_ref().err().cloned().unwrap_or_default(),
            self.cited(&self.numerator).unwrap_or_default(),
            below.join("; "),
            self.ranks.join("; "),
            self.captured.name.clone(),
        ]
    }
}

fn bounds(quotient: &Quotient) -> String {
    match quotient.high {
        Some(high) => format!("at least {}, at most {}", computed(quotient.low), computed(high)),
        None => format!("at least {}; no upper bound", computed(quotient.low)),
    }
}
