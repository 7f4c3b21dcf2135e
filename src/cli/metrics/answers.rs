//! The answers: a list, samples, sums, quotients, figures.

use std::io::Write;

use anyhow::bail;
use corr_metrics::coverage::{self, Coverage as Scraped};
use corr_metrics::model::{Sample, SeriesId};

use super::Question;
use super::clocks::offsets;
use super::place::span_of;
use super::told::{cut, labels};
use crate::cli::exit;
use crate::metrics::around::Around;
use crate::metrics::asked::{Captured, Hit};
use crate::metrics::span::{Coverage, Placed};
use crate::metrics::{figures, ratios, sums};
use crate::render::events::Format;
#[cfg(feature = "sql")]
use crate::render::metrics::Value;
use crate::render::metrics::{Catalogued, Figured, Row, Rows, Shares, Summed};
use crate::render::safe::terminal;

/// The window on each capture, in their order; `None` where it cannot be laid.
type Spans = [Option<Placed>];

impl<'a> Question<'a> {
    /// An answer without anything in it, for those who read JSON.
    pub fn nothing(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        if matches!(self.args.format, Format::Json) {
            Figured { covered: Vec::new(), offsets: Vec::new(), rows: Vec::new() }.write(self.args.format, self.paint, out)?;
        }
        Ok(())
    }

    /// Captures, endpoints and series.
    pub fn list(self, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
        let code = self.code(exit::FOUND);
        let mut catalogue = Catalogued::new(self.asked, self.hits, self.args.limit);
        for captured in &self.asked.captures {
            let window = captured.extent().unwrap_or_default();
            let ask = Around::of(self.run, captured).ask(captured.capture(), window);
            catalogue.covered.push(coverage::of_endpoints(captured.capture(), &ask));
        }
        catalogue.offsets = offsets(self.run, self.asked.captures.iter());
        catalogue.write(self.args.format, self.paint, out)?;
        out.flush()?;
        cut(catalogue.shown() as u64, catalogue.cut as u64, "series", err)?;
        Ok(code)
    }

    /// Samples of the window.
    pub fn rows(&self, spans: &Spans, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
        let mut series: Vec<(&Captured<'_>, SeriesId, Vec<Sample>)> = Vec::new();
        for hit in &self.hits {
            let Some(placed) = span_of(self.asked, spans, hit.captured) else { continue };
            for id in &hit.series {
                let samples = hit.captured.capture().samples.between(id.0, placed.window.from(), placed.window.to());
                series.push((hit.captured, *id, samples));
            }
        }
        let rows = Rows::new(series, self.args.limit);
        rows.write(self.args.format, self.paint, out)?;
        out.flush()?;
        cut(rows.shown(), rows.cut, "samples", err)?;
        Ok(self.code(if rows.shown() == 0 { exit::NOTHING } else { exit::FOUND }))
    }

    /// Sums by the values of a label.
    pub fn sums(&self, label: &str, spans: &Spans, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
        if label != "target" && !self.hits.iter().any(|h| h.member.labels.get(label).is_some()) {
            bail!("--by {}: none of these series has this label; they have {}", terminal(label), terminal(&labels(&self.hits)));
        }
        let hits: Vec<&Hit<'_>> = self.hits.iter().collect();
        let place = |captured: &Captured<'_>| span_of(self.asked, spans, captured).copied();
        let mut summed = Summed { label, sums: sums::of(&hits, label, &place, &self.args.quantiles) };
        let left_out = limit(&mut summed.sums, self.args.limit);
        summed.write(self.args.format, self.paint, out)?;
        out.flush()?;
        cut(summed.sums.len() as u64, left_out, "sums", err)?;
        let short = spans.iter().flatten().any(|p| p.coverage != Coverage::Whole);
        Ok(if short { exit::PARTIAL } else { self.code(exit::FOUND) })
    }

    /// Counters divided by others.
    pub fn quotients(&self, spans: &Spans, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
        let below: Vec<(String, Vec<Hit<'_>>)> =
            self.pers.iter().map(|per| (per.text.clone(), self.asked.hits(std::slice::from_ref(per)))).collect();
        for (per, _) in below.iter().filter(|(_, hits)| hits.is_empty()) {
            writeln!(err, "corr: --per {}: no such series in {} captures", terminal(per), self.asked.captures.len())?;
        }
        let above: Vec<&Hit<'_>> = self.hits.iter().collect();
        let place = |captured: &Captured<'_>| span_of(self.asked, spans, captured).copied();
        let mut shares = Shares { shares: ratios::of(&above, &below, &place) };
        if shares.shares.is_empty() {
            writeln!(err, "corr: --per: none of the series that were asked for is a counter with samples in the window")?;
        }
        let left_out = limit(&mut shares.shares, self.args.limit);
        shares.write(self.args.format, self.paint, out)?;
        out.flush()?;
        cut(shares.shares.len() as u64, left_out, "quotients", err)?;
        if !shares.shares.iter().any(|s| s.quotient.is_ok()) {
            return Ok(self.code(exit::NOTHING));
        }
        let short = shares.shares.iter().any(|s| s.placed.coverage != Coverage::Whole);
        Ok(if short { exit::PARTIAL } else { self.code(exit::FOUND) })
    }

    /// What each series did in the window.
    pub fn figures(&self, spans: &Spans, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
        let answering = self.asked.captures.iter().filter(|c| self.hits.iter().any(|h| std::ptr::eq(h.captured, *c)));
        let mut figured = Figured { covered: self.covered(spans), offsets: offsets(self.run, answering), rows: Vec::new() };
        let (mut short, mut outside) = (false, 0);
        for hit in &self.hits {
            let Some(placed) = span_of(self.asked, spans, hit.captured) else { continue };
            short |= placed.coverage != Coverage::Whole;
            if placed.coverage == Coverage::Outside {
                outside += 1;
                continue;
            }
            for part in figures::of(hit, placed, &self.args.quantiles) {
                figured.rows.push(Row { hit, placed: *placed, part, worker: self.worker(hit) });
            }
        }
        let none = figured.rows.is_empty();
        let answered = figured.rows.iter().any(Row::answers);
        let left_out = limit(&mut figured.rows, self.args.limit);
        figured.write(self.args.format, self.paint, out)?;
        out.flush()?;
        cut(figured.rows.len() as u64, left_out, "figures", err)?;
        if none && outside > 0 {
            writeln!(err, "corr: no capture with these series covers any of the window")?;
            return Ok(exit::NOTHING);
        }
        let code = if answered { exit::FOUND } else { exit::NOTHING };
        Ok(if short { exit::PARTIAL } else { self.code(code) })
    }

    /// The figures as values, and which captures cover less than the window.
    #[cfg(feature = "sql")]
    pub fn values(&self, spans: &Spans) -> (Vec<Vec<Value>>, Vec<String>) {
        let (mut rows, mut short) = (Vec::new(), Vec::new());
        for hit in &self.hits {
            let Some(placed) = span_of(self.asked, spans, hit.captured) else { continue };
            if placed.coverage != Coverage::Whole {
                let what = if placed.coverage == Coverage::Outside { "nothing" } else { "a part" };
                short.push(format!("{}: covers {what} of the window", hit.captured.name));
            }
            if placed.coverage != Coverage::Outside {
                let parts = figures::of(hit, placed, &self.args.quantiles);
                rows.extend(parts.into_iter().map(|part| Row { hit, placed: *placed, part, worker: self.worker(hit) }.values()));
            }
        }
        (rows, short)
    }

    /// How the window was covered by the endpoints of the series that are asked, and which endpoints should have been there.
    fn covered(&self, spans: &Spans) -> Vec<(&'a Captured<'a>, Vec<Scraped>)> {
        let mut out = Vec::new();
        for (captured, span) in self.asked.captures.iter().zip(spans) {
            let Some(placed) = span else { continue };
            let asked: Vec<_> = self.hits.iter().filter(|h| std::ptr::eq(h.captured, captured)).map(|h| h.member.endpoint).collect();
            if asked.is_empty() {
                continue;
            }
            let window = (placed.window.from(), placed.window.to());
            let ask = Around::of(self.run, captured).ask(captured.capture(), window);
            let mut covered = coverage::of_endpoints(captured.capture(), &ask);
            covered.retain(|c| c.id.is_none_or(|id| asked.contains(&id)));
            out.push((captured, covered));
        }
        out
    }
}

/// Keeps so many, 0 for all; how many are left out.
fn limit<T>(list: &mut Vec<T>, limit: usize) -> u64 {
    let all = list.len();
    if limit > 0 {
        list.truncate(limit);
    }
    (all - list.len()) as u64
}
