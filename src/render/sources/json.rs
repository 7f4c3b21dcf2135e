//! `corr sources` for programs.

use std::io::{self, Write};

use corr_parsers::stamp::Stamp;
use serde_json::{Map, Value as Json, json};

use super::Report;
use crate::render::safe;
use crate::render::shown::rfc3339;
use crate::run::coverage::{Coverage, Tally};
use crate::run::source::Source;
use crate::store::manifest::{how_name, rule_name};

const SCHEMA: &str = "corr.sources.v1";

/// One object.
pub fn write_json(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut whole = run(report);
    whole.insert("sources".into(), report.events.iter().map(|(s, c)| source(s, c)).collect());
    safe::write_json(out, &Json::Object(whole), true)?;
    writeln!(out)
}

/// One object a source, the run last.
pub fn write_jsonl(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    for (s, coverage) in &report.events {
        let mut line = Map::new();
        line.insert("type".into(), "source".into());
        if let Json::Object(source) = source(s, coverage) {
            line.extend(source);
        }
        safe::write_json(out, &Json::Object(line), false)?;
        writeln!(out)?;
    }
    let mut last = run(report);
    last.insert("type".into(), "run".into());
    safe::write_json(out, &Json::Object(last), false)?;
    writeln!(out)
}

fn run(report: &Report<'_>) -> Map<String, Json> {
    let mut run = Map::new();
    run.insert("schema".into(), SCHEMA.into());
    run.insert("arguments".into(), json!(report.run.arguments));
    run.insert("layout".into(), report.layout.kind.name().into());
    run.insert("window".into(), json!(report.window().map(stamp)));
    let processes: Vec<Json> = report
        .layout
        .processes
        .iter()
        .map(|p| json!({"role": p.role, "index": p.index, "host": p.host, "port": p.port, "from": p.from}))
        .collect();
    run.insert("planned".into(), processes.into());
    let windows: Map<String, Json> = report
        .run
        .declared
        .windows()
        .map(|(name, w)| (name.to_string(), json!({"since": w.since, "until": w.until, "about": w.about})))
        .collect();
    run.insert("windows".into(), windows.into());
    let others: Vec<Json> = report
        .others()
        .iter()
        .map(|(s, class, what)| match *class {
            "duplicate" => json!({"name": s.name, "key": s.key, "class": class, "of": what, "bytes_on_disk": s.stat.size}),
            "metrics" => {
                let indexed = report.indexed.contains(&s.key);
                json!({"name": s.name, "key": s.key, "class": class, "what": what, "bytes_on_disk": s.stat.size, "indexed": indexed})
            }
            _ => json!({"name": s.name, "key": s.key, "class": class, "what": what, "bytes_on_disk": s.stat.size}),
        })
        .collect();
    run.insert("other_files".into(), others.into());
    let not_read: Vec<Json> =
        report.not_read.iter().map(|n| json!({"name": n.name, "why": n.why, "next": n.next, "failure": n.failure})).collect();
    run.insert("not_read".into(), not_read.into());
    let missing: Vec<Json> = report.missing.iter().map(|m| json!({"id": m.id, "what": m.what, "why": m.why, "needs": m.needs})).collect();
    run.insert("missing".into(), missing.into());
    run.insert("notes".into(), json!(report.notes));
    run
}

fn source(source: &Source, coverage: &Coverage) -> Json {
    let scores = |scores: &[corr_parsers::detect::Score]| -> Vec<Json> {
        scores.iter().map(|s| json!({"name": s.name, "share": s.share, "reason": s.reason})).collect()
    };
    let clock = &source.clock;
    let owner = &source.owner;
    let versions: Vec<Json> = coverage
        .versions
        .iter()
        .map(|v| json!({"product": v.product, "from": v.from, "to": v.to, "conflict": v.conflict, "why": v.why}))
        .collect();
    let gaps: Vec<Json> = coverage
        .gaps
        .iter()
        .map(|g| json!({"before": stamp(g.before), "after": stamp(g.after), "line_after": g.line, "at_least_ns": g.length()}))
        .collect();
    let kinds: Map<String, Json> = coverage.kinds.iter().map(|(kind, n)| (kind.name.to_string(), json!(n))).collect();
    json!({
        "name": source.name,
        "key": source.key,
        "bytes_on_disk": source.stat.size,
        "compression": source.compression,
        "read_by": source.read_by(),
        "envelope": source.detection.layout.wrapped_in(),
        "format": source.format(),
        "formats": scores(&source.detection.formats),
        "envelopes": scores(&source.detection.envelopes),
        "versions": versions,
        "owner": {
            "worker": owner.worker,
            "role": owner.role,
            "host": owner.host,
            "unit": owner.unit,
            "ranks": coverage.ranks,
            "worker_ids": coverage.workers,
            "how": owner.how,
        },
        "clock": {
            "rule": rule_name(clock.rule),
            "how": how_name(clock.how),
            "evidence": clock.evidence,
            "residual_ns": clock.residual.map(|(low, high)| json!([low, high])),
            "pairs": clock.pairs.0,
            "pairs_that_hold": clock.pairs.1,
            "last_year": clock.last_year,
            "resolution_ns": coverage.resolution,
        },
        "first": coverage.first.map(stamp),
        "last": coverage.last.map(stamp),
        "records_without_time": coverage.unstamped,
        "gaps": gaps,
        "accounting": {
            "bytes": coverage.bytes,
            "records": coverage.records,
            "lines": coverage.lines,
            "continuation_lines": coverage.continuation_lines(),
            "parsed": tally(&coverage.parsed),
            "skipped": coverage.skipped.iter().map(|(why, t)| (why.to_string(), tally(t))).collect::<Map<_, _>>(),
            "unparsed": coverage.unparsed.iter().map(|(why, t)| (why.to_string(), tally(t))).collect::<Map<_, _>>(),
            "adds_up": coverage.adds_up(),
        },
        "kinds": kinds,
        "levels": coverage.levels,
        "requests": {
            "seen": coverage.requests,
            "with_session": coverage.with_session,
            "with_x_request_id": coverage.with_x_request_id,
        },
        "damage": coverage.damage,
    })
}

fn tally(tally: &Tally) -> Json {
    json!({"records": tally.records, "bytes": tally.bytes})
}

/// `[start, end)` as text and as nanoseconds.
fn stamp(stamp: Stamp) -> Json {
    let width = stamp.width();
    json!({"start": rfc3339(stamp.start, width), "end": rfc3339(stamp.end, width), "start_ns": stamp.start, "end_ns": stamp.end})
}
