//! Everything, with both citations of each difference.

use std::io::{self, Write};

use corr_evidence::verdict::Attribution;
use serde_json::{Value as Json, json};

use super::Answer;
use crate::diff::facts::{self, Valued};
use crate::diff::figures::{self, Figure, Quantity};
use crate::diff::range::{Range, Shown};
use crate::diff::reps::{Found, Row, Support, Verdict};
use crate::diff::verdicts::{self, Said};
use crate::diff::{Name, Side};
use crate::render::evidence::UNPROVABLE;
use crate::render::safe::{write_json, write_json_line};
use crate::render::shown::{json_value, rfc3339};

const SCHEMA: &str = "corr.diff.v1";

/// One object.
pub fn whole(answer: &Answer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let diff = answer.diff;
    let whole = json!({
        "schema": SCHEMA,
        "a": answer.a.run,
        "b": answer.b.run,
        "one_run": diff.one_run,
        "no_differences": diff.is_empty(),
        "windows": {"a": window(answer.a), "b": window(answer.b)},
        "facts": diff.facts.iter().map(fact).collect::<Vec<_>>(),
        "verdicts": diff.verdicts.iter().map(verdict).collect::<Vec<_>>(),
        "metrics": diff.figures.iter().map(series).collect::<Vec<_>>(),
        "families_only_in": {"a": diff.alone.a, "b": diff.alone.b},
        "support": support(&diff.support),
        "alternatives": alternatives(answer),
        "not_read": not_read(answer),
    });
    write_json(out, &whole, true)?;
    writeln!(out)
}

/// One object a fact, verdict, series and alternative, and a last one about all.
pub fn lines(answer: &Answer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let diff = answer.diff;
    let facts = diff.facts.iter().filter(|f| answer.shows_fact(f)).map(|f| ("fact", fact(f)));
    let verdicts = diff.verdicts.iter().filter(|v| answer.all || !v.differs.is_empty()).map(|v| ("verdict", verdict(v)));
    let metrics = diff.figures.iter().filter(|f| answer.shows_figure(f)).map(|f| ("metric", series(f)));
    let alternatives = alternatives(answer).into_iter().map(|a| ("alternative", a));
    for (what, json) in facts.chain(verdicts).chain(metrics).chain(alternatives) {
        write_json_line(out, what, json)?;
    }
    let summary = json!({
        "type": "summary",
        "schema": SCHEMA,
        "a": answer.a.run,
        "b": answer.b.run,
        "one_run": diff.one_run,
        "no_differences": diff.is_empty(),
        "windows": {"a": window(answer.a), "b": window(answer.b)},
        "families_only_in": {"a": diff.alone.a, "b": diff.alone.b},
        "support": support(&diff.support),
        "not_read": not_read(answer),
    });
    write_json(out, &summary, false)?;
    writeln!(out)
}

fn not_read(answer: &Answer<'_>) -> Vec<Json> {
    let both = [answer.a, answer.b].into_iter().flat_map(|s| &s.not_read);
    both.map(|n| json!({"source": n.name, "why": n.why, "failure": n.failure})).collect()
}

fn alternatives(answer: &Answer<'_>) -> Vec<Json> {
    let one = |a: &crate::diff::alternatives::Alternative| json!({"id": a.id, "applies": a.applies, "says": a.says, "citations": a.cites});
    answer.diff.alternatives.iter().map(one).collect()
}

fn window(side: &Side) -> Json {
    let window = &side.window;
    let of = if window.flags.is_empty() { "capture" } else { "window" };
    let scraped: Vec<Json> = window
        .scraped
        .iter()
        .map(|s| json!({"capture": s.capture, "target": s.target, "fraction": s.fraction, "fraction_of": of, "scrapes": s.scrapes, "longest_gap": s.gap}))
        .collect();
    json!({
        "asked": window.asked,
        "since": window.span.map(|s| rfc3339(s.0, 1_000)),
        "until": window.span.map(|s| rfc3339(s.1, 1_000)),
        "since_ns": window.span.map(|s| s.0),
        "until_ns": window.span.map(|s| s.1),
        "length_ns": window.length(),
        "how": window.how,
        "requests": {"load_generator": window.of_load, "router": window.router, "engine": window.engine, "probes": window.probes},
        "scraped": scraped,
    })
}

fn fact(fact: &facts::Compared) -> Json {
    let side = |of: &[Valued]| -> Json {
        if of.is_empty() {
            return Json::Null;
        }
        of.iter()
            .map(|v| {
                let cites: Vec<Json> = v
                    .cites
                    .iter()
                    .map(|c| json!({"at": c.cite.at(), "key": c.cite.key, "how": c.basis.name(), "worker": c.worker}))
                    .collect();
                json!({"value": json_value(&v.value), "how": v.basis.name(), "workers": v.workers, "citations": cites})
            })
            .collect()
    };
    json!({
        "name": fact.name, "group": fact.group, "role": fact.role, "state": fact.state.name(),
        "a": side(&fact.a), "b": side(&fact.b), "needs": fact.needs,
    })
}

fn verdict(compared: &verdicts::Compared) -> Json {
    json!({
        "edge": compared.edge, "title": compared.title, "differs": compared.differs,
        "a": compared.a.as_ref().map(said), "b": compared.b.as_ref().map(said),
    })
}

fn said(said: &Said) -> Json {
    let proofs: Vec<Json> = said
        .proofs
        .iter()
        .map(|p| json!({"signal": p.signal, "records": p.records, "requests": p.requests, "citations": p.cites}))
        .collect();
    let counters: Vec<Json> = said
        .counters
        .iter()
        .map(|c| {
            json!({
                "series": c.series, "whose": c.whose, "increase": c.increase, "at_most": c.at_most, "before_first_sample": c.before,
                "resets": c.resets, "citations": c.cites,
            })
        })
        .collect();
    json!({
        "activity": said.activity.name(), "why": said.why, "count": said.count, "amount": said.amount, "unit": said.unit,
        "counted": said.counted,
        "request": to_whom(&said.request), "session": to_whom(&said.session), "proofs": proofs, "counters": counters,
        "missing": said.missing, "reproduce": said.reproduce,
    })
}

fn to_whom(of: &Attribution) -> Json {
    match of {
        Attribution::Proven { k, n, rest, needs } => {
            let rest = (k < n).then(|| json!({"verdict": UNPROVABLE, "count": n - k, "reasons": rest.keys().collect::<Vec<_>>()}));
            json!({"verdict": "proven", "k": k, "n": n, "rest": rest, "needs": needs})
        }
        Attribution::Unprovable { n, reasons, needs } => {
            json!({"verdict": UNPROVABLE, "k": 0, "n": n, "reasons": reasons.keys().collect::<Vec<_>>(), "needs": needs})
        }
        Attribution::Nothing => json!({"verdict": "none"}),
    }
}

fn series(compared: &figures::Compared) -> Json {
    let quantities: Vec<Json> = compared
        .quantities
        .iter()
        .map(|q| {
            json!({
                "name": q.name, "a": quantity(&q.a), "b": quantity(&q.b), "shown": q.shown.name(), "difference": difference(q.shown),
            })
        })
        .collect();
    json!({
        "family": compared.family, "paired_by": compared.how, "a": compared.a.as_ref().map(figure), "b": compared.b.as_ref().map(figure),
        "quantities": quantities,
    })
}

fn quantity(of: &Option<Quantity>) -> Json {
    of.as_ref().map_or(Json::Null, |q| json!({"value": q.value, "range": range(q.range)}))
}

fn range(range: Option<Range>) -> Json {
    range.map_or(Json::Null, |r| json!({"low": r.low, "high": r.high, "low_open": r.open}))
}

fn difference(shown: Shown) -> Json {
    shown.difference().map_or(Json::Null, |(least, most)| json!({"least": least, "most": most}))
}

fn figure(figure: &Figure) -> Json {
    let quantities: Vec<Json> =
        figure.quantities.iter().map(|q| json!({"name": q.name, "value": q.value, "range": range(q.range)})).collect();
    json!({
        "series": figure.spelled, "target": figure.target, "worker": figure.worker, "role": figure.role, "worker_how": figure.how,
        "capture": figure.capture, "kind": figure.kind, "says": figure.says, "quantities": quantities, "notes": figure.notes,
        "resets": figure.resets, "citation": figure.citation, "reproduce": figure.reproduce,
    })
}

fn support(support: &Support) -> Json {
    json!({
        "label": support.label, "says": support.says, "lacks": support.lacks,
        "repetitions": support.repeated.as_ref().map(repeated),
    })
}

fn repeated(found: &Found) -> Json {
    let pairs: Vec<Json> = found
        .design
        .pairs
        .iter()
        .map(|p| {
            let rep = |i: usize| found.reps.get(i).map(|r| json!({"run": r.run, "order": r.order, "matched_replay": r.matched}));
            json!({"a": rep(p.a), "b": rep(p.b), "first": if p.a_first { Name::A.letter() } else { Name::B.letter() }})
        })
        .collect();
    json!({
        "design": found.design.words(), "matched": found.design.matched, "both_orders": found.design.both_orders, "pairs": pairs,
        "figures": found.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

fn row(row: &Row) -> Json {
    let verdict = match row.verdict {
        Verdict::More => json!({"consistent": true, "b": "more"}),
        Verdict::Less => json!({"consistent": true, "b": "less"}),
        Verdict::Mixed { more, less, none, unknown } => {
            json!({"consistent": false, "more": more, "less": less, "no_difference_shown": none, "unknown": unknown})
        }
    };
    let pairs: Vec<Json> = row
        .pairs
        .iter()
        .map(|p| {
            json!({
                "a": range(p.a), "b": range(p.b), "shown": p.shown.name(), "difference": difference(p.shown), "reproduce": p.reproduce,
            })
        })
        .collect();
    json!({"family": row.family, "what": row.what, "whose": row.whose, "quantity": row.quantity, "verdict": verdict, "pairs": pairs})
}
