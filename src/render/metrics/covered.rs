//! How endpoints were scraped over a window.

use std::io::{self, Write};

use corr_metrics::coverage::{Cause, Coverage};
use serde_json::{Value as Json, json};

use super::{computed, seconds};
use crate::metrics::asked::Captured;
use crate::render::paint::{Paint, Tone};
use crate::render::safe::terminal;

/// So many gaps of an endpoint are written; JSON has all.
const GAPS: usize = 8;

/// A line an endpoint, and one a gap.
/// `of` is what the share is of: `the window`.
pub fn text(captured: &Captured<'_>, covered: &[Coverage], of: &str, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let dial = captured.dial();
    for one in covered {
        let name = if one.endpoint.is_empty() { "(unnamed)".to_string() } else { terminal(&one.endpoint).into_owned() };
        let known = match one.expected {
            Some(true) => ", expected",
            Some(false) => ", not expected by the configuration",
            None => "",
        };
        let every = one
            .interval
            .map_or_else(String::new, |i| format!(", every {} ({} to {})", seconds(i.median), seconds(i.least), seconds(i.most)));
        let failed = if one.failed > 0 { format!(", {} failed", one.failed) } else { String::new() };
        writeln!(
            out,
            "  covered    {name}: {} % of {of}, {} scrapes{failed}{every}{known}",
            computed((one.fraction * 1000.0).floor() / 10.0),
            one.scrapes
        )?;
        for gap in one.gaps.iter().take(GAPS) {
            let mut why = gap.cause.word().to_string();
            match gap.failed {
                Some((from, to)) => {
                    why.push_str(&format!(", {} from {} to {}", gap.failures, dial.show(from), dial.show(to)));
                }
                None if gap.failures > 0 => why.push_str(&format!(", {} failed scrapes", gap.failures)),
                None => {}
            }
            if gap.fell.0 > 0 {
                why.push_str(&format!(", {} of {} counters fell", gap.fell.0, gap.fell.1));
            }
            let line = format!("gap {} … {} ({}): {why}", dial.show(gap.from), dial.show(gap.to), seconds(gap.to.saturating_sub(gap.from)));
            writeln!(out, "             {}", paint.tone(if gap.cause == Cause::Teardown { Tone::Dim } else { Tone::Warn }, &line))?;
        }
        if one.gaps.len() > GAPS {
            writeln!(out, "             {} more gaps (--format json lists all)", one.gaps.len() - GAPS)?;
        }
        for phantom in &one.phantoms {
            let line = format!(
                "{} scrapes from {} to {} share no series with the others: an error page read as samples",
                phantom.scrapes,
                dial.show(phantom.first),
                dial.show(phantom.last)
            );
            writeln!(out, "             {}", paint.tone(Tone::Warn, &line))?;
        }
    }
    Ok(())
}

/// The same for JSON.
pub fn json(captured: &Captured<'_>, covered: &[Coverage]) -> Json {
    let dial = captured.dial();
    covered
        .iter()
        .map(|one| {
            let gaps: Vec<Json> = one
                .gaps
                .iter()
                .map(|gap| {
                    json!({
                        "from": dial.show(gap.from),
                        "to": dial.show(gap.to),
                        "length_ns": gap.to.saturating_sub(gap.from),
                        "cause": gap.cause,
                        "failed_scrapes": gap.failures,
                        "failed_from": gap.failed.map(|(from, _)| dial.show(from)),
                        "failed_to": gap.failed.map(|(_, to)| dial.show(to)),
                        "counters_fell": gap.fell.0,
                        "counters": gap.fell.1,
                    })
                })
                .collect();
            json!({
                "capture": captured.name,
                "target": one.endpoint,
                "expected": one.expected,
                "fraction": one.fraction,
                "scrapes": one.scrapes,
                "failed": one.failed,
                "interval_ns": one.interval.map(|i| i.median),
                "gaps": gaps,
                "phantom_scrapes": one.phantoms.iter().map(|p| p.scrapes).sum::<u64>(),
            })
        })
        .collect()
}
