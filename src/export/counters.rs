//! Series of a run's captures as counters of a trace: the samples as they are, each with its citation.

use std::io;

use corr_metrics::catalogue::{Group, Parts};
use corr_metrics::model::SeriesId;
use serde_json::json;

use super::perfetto::Writer;
use crate::metrics::asked::{Hit, title};
use crate::metrics::span::Span;
use crate::metrics::units;
use crate::metrics::workers::{self, Worker};

/// Writes the samples of some members that lie in a window. Without `all` buckets and quantiles are left out, which a counter cannot show well: there are many,
/// and none says anything alone.
pub fn write(hits: &[Hit<'_>], window: Span, owners: &[Worker], all: bool, writer: &mut Writer<'_>) -> io::Result<()> {
    for hit in hits {
        let captured = hit.captured;
        let Some((offset, error)) = captured.dial().to_utc() else {
            writer.left_out.some("series of captures whose clock is not tied to UTC", hit.series.len() as u64);
            continue;
        };
        let Ok(placed) = window.on(captured) else {
            writer.left_out.some("series of captures that have no samples in the window", hit.series.len() as u64);
            continue;
        };
        let parts: &[(f64, SeriesId)] = match &hit.member.parts {
            Parts::Histogram { buckets: parts, .. } | Parts::Summary { quantiles: parts, .. } if !all => parts,
            _ => &[],
        };
        let capture = captured.capture();
        let endpoint = capture.endpoint(hit.member.endpoint);
        let worker = endpoint.and_then(|e| workers::of(e, owners, &[])).map(|m| m.worker);
        let process = worker.unwrap_or_else(|| format!("metrics of {}", endpoint.map(title).unwrap_or_default()));
        for id in &hit.series {
            if parts.iter().any(|(_, part)| part == id) {
                writer.left_out.one("series of buckets and quantiles (--metrics NAME shows them)");
                continue;
            }
            let mut cursor = capture.samples.cursor();
            let (from, to) = (cursor.lower(id.0, placed.window.from()), cursor.upper(id.0, placed.window.to()));
            let last = to.checked_sub(1).and_then(|at| cursor.get(id.0, at));
            let Some((first, last)) = cursor.get(id.0, from).zip(last).filter(|_| from < to) else {
                writer.left_out.one("series without a sample in the window");
                continue;
            };
            let spelled = capture.spelled(*id);
            let series = capture.get(*id).map_or("", |s| s.name.canonical());
            let name = format!("{spelled} [{}]", unit(hit.group, series));
            let mut args = json!({
                "cite": captured.citation(*id, first.at, last.at),
                "samples": to - from,
                "type": hit.group.typed.kind.word(),
                "type_is": hit.group.typed.origin.word(),
            });
            if error > 0 {
                args["clock_error_us"] = json!(error / 1_000);
            }
            let counter = writer.counter(&process, &name, first.at.saturating_add(offset), args)?;
            for at in from..to {
                let Some(sample) = cursor.get(id.0, at) else { break };
                let cite = captured.citation(*id, sample.at, sample.at);
                writer.sample(&counter, sample.at.saturating_add(offset), sample.value, &cite)?;
            }
        }
    }
    Ok(())
}

/// The unit: what the capture says, else what the name ends in.
fn unit(group: &Group, series: &str) -> String {
    let compound = series != group.name;
    if compound && (series.ends_with("_count") || series.ends_with("_bucket")) {
        return "observations".into();
    }
    if let Some(unit) = group.unit.as_deref().filter(|u| !u.is_empty()) {
        return unit.to_string();
    }
    units::of_name(&group.name).map_or("unit not said", |unit| unit.sign).to_string()
}
