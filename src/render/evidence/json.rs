//! Verdicts with everything that they rest on.

use std::io::{self, Write};

use corr_evidence::definition::{Condition, Literal, Signal};
use corr_evidence::ledger::Cite;
use corr_evidence::verdict::{Attribution, Counter, Proof, Summed, Verdict};
use serde_json::{Value as Json, json};

use super::details::shell;
use super::{Edged, UNPROVABLE, table};
use crate::query::grammar::quote;
use crate::render::safe::{write_json, write_json_line};
use crate::render::shown::rfc3339;

const SCHEMA: &str = "corr.edges.v1";

/// One object.
pub fn whole(edged: &Edged<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut head = head(edged);
    head["edges"] = edged.verdicts().map(|v| edge(edged, v)).collect();
    write_json(out, &head, true)?;
    writeln!(out)
}

/// One object an edge.
pub fn edges(edged: &Edged<'_>, out: &mut dyn Write) -> io::Result<()> {
    for verdict in edged.verdicts() {
        write_json_line(out, "edge", edge(edged, verdict))?;
    }
    Ok(())
}

/// One object an edge, and a last one about all.
pub fn lines(edged: &Edged<'_>, out: &mut dyn Write) -> io::Result<()> {
    edges(edged, out)?;
    let mut head = head(edged);
    head["type"] = json!("summary");
    write_json(out, &head, false)?;
    writeln!(out)
}

fn head(edged: &Edged<'_>) -> Json {
    let of = &edged.judged.population;
    let evidence = edged.evidence;
    let name = |l: usize| evidence.ledgers.get(l).and_then(|l| evidence.sources.sources.get(l.source as usize)).map(|s| s.name.as_str());
    let joins: Vec<Json> = edged
        .judged
        .joins
        .iter()
        .map(|j| json!({"of": name(j.of), "with": name(j.with), "requests": j.requests, "common": j.common}))
        .collect();
    let shared: Vec<Json> = edged
        .judged
        .shared
        .iter()
        .map(|(x, requests)| {
            let names: Vec<&str> = requests.iter().filter_map(|no| Some(evidence.identity.requests.get(*no)?.name())).collect();
            json!({"x_request_id": x, "requests": names, "retry": UNPROVABLE})
        })
        .collect();
    let all = |cites: &[Cite]| cites.iter().map(|c| evidence.locator(*c)).collect::<Vec<_>>();
    let shares: Vec<Json> = edged
        .judged
        .shares
        .iter()
        .map(|s| {
            let share = (s.below > 0.0).then(|| s.above / s.below);
            json!({
                "id": s.of.id, "share": share, "above": s.above, "below": s.below, "requests": s.requests, "says": s.of.says,
                "signals": [s.of.above, s.of.below], "cites": all(&s.cites),
            })
        })
        .collect();
    let comparisons: Vec<Json> = edged
        .judged
        .comparisons
        .iter()
        .map(|c| {
            let differ: Vec<Json> = c
                .differ
                .iter()
                .map(|d| {
                    json!({
                        "request": d.request, "left": d.left, "left_cite": evidence.locator(d.left_cite),
                        "right": d.right, "right_cite": evidence.locator(d.right_cite),
                    })
                })
                .collect();
            json!({
                "id": c.of.id, "requests": c.requests, "agree": c.agree, "left": c.left, "right": c.right, "independent": c.of.independent,
                "conflict": c.of.independent && c.agree < c.requests, "says": c.of.says, "signals": [c.of.left, c.of.right],
                "differ": differ, "cites": all(&c.cites),
            })
        })
        .collect();
    let warnings: Vec<Json> = edged
        .judged
        .warnings
        .iter()
        .map(|w| {
            let edge = w.edge.and_then(|e| evidence.edges.edges().get(e)).map(|e| e.id.as_str());
            json!({"rule": w.rule, "edge": edge, "says": w.says, "cites": all(&w.cites)})
        })
        .collect();
    json!({
        "schema": SCHEMA,
        "run": edged.run,
        "scope": edged.scope,
        "window": edged.window.map(|(from, to)| json!({
            "since": rfc3339(from, 1_000), "until": rfc3339(to, 1_000), "since_ns": from, "until_ns": to,
        })),
        "requests": {
            "router": of.router_arrivals,
            "engine": if of.engine_unseen { Json::Null } else { json!(of.engine.len()) },
            "with_session": of.with_session.len(),
            "without_session": table::concerned(of).saturating_sub(of.with_session.len()),
            "probes": of.probes.len(),
        },
        "joins": joins,
        "shared_x_request_ids": shared,
        "shares": shares,
        "comparisons": comparisons,
        "warnings": warnings,
        "not_read": evidence.not_read.iter().map(|n| json!({"source": n.name, "why": n.why})).collect::<Vec<_>>(),
    })
}

fn edge(edged: &Edged<'_>, verdict: &Verdict) -> Json {
    let Some(edge) = edged.evidence.edges.edges().get(verdict.edge) else { return Json::Null };
    let missing: Vec<Json> = verdict
        .missing
        .iter()
        .filter_map(|m| {
            let instrument = edged.evidence.edges.instruments().get(m.instrument)?;
            let cite = m.cite.map(|c| edged.evidence.locator(c));
            Some(json!({"instrument": instrument.id, "title": instrument.title, "why": m.why, "by": cite, "switch": instrument.switch}))
        })
        .collect();
    let disagreements: Vec<Json> = verdict
        .disagreements
        .iter()
        .map(|d| {
            let side = |(at, amount, cite): &(_, f64, _)| {
                let signal = edged.evidence.edges.get(*at).map(|s| s.id.as_str());
                json!({"signal": signal, "amount": amount, "cite": edged.evidence.locator(*cite)})
            };
            json!({"request": d.request, "one": side(&d.one), "other": side(&d.other)})
        })
        .collect();
    json!({
        "edge": edge.id,
        "title": edge.title,
        "activity": verdict.activity.name(),
        "why": verdict.why,
        "count": verdict.count,
        "amount": verdict.amount,
        "unit": verdict.unit,
        "amount_of": verdict.summed.map(|of| summed(edged, of)),
        "before_first_sample": (verdict.before > 0.0).then_some(verdict.before),
        "request": to_whom(&verdict.request),
        "session": to_whom(&verdict.session),
        "proofs": verdict.proofs.iter().map(|p| proof(edged, p)).collect::<Vec<_>>(),
        "counters": verdict.counters.iter().map(|c| counter(edged, c)).collect::<Vec<_>>(),
        "hints": verdict.hints.iter().map(|p| proof(edged, p)).collect::<Vec<_>>(),
        "conflicts": disagreements,
        "missing": missing,
        "beware": edge.beware,
    })
}

/// Of what an amount is the sum.
fn summed(edged: &Edged<'_>, of: Summed) -> Json {
    match of {
        Summed::Requests(n) => json!({"requests": n}),
        Summed::Records { signal, records } => {
            json!({"signal": edged.evidence.edges.get(signal).map(|s| s.id.as_str()), "records": records})
        }
        Summed::Counters => json!({"counters": "at least"}),
    }
}

fn to_whom(of: &Attribution) -> Json {
    let reasons = |of: &std::collections::BTreeMap<String, usize>| {
        of.iter().map(|(reason, count)| json!({"reason": reason, "count": (*count > 0).then_some(count)})).collect::<Vec<_>>()
    };
    match of {
        Attribution::Proven { k, n, rest, needs } => json!({
            "verdict": "proven", "k": k, "n": n,
            "rest": (k < n).then(|| json!({"verdict": UNPROVABLE, "count": n - k, "reasons": reasons(rest)})),
            "needs": needs,
        }),
        Attribution::Unprovable { n, reasons: why, needs } => {
            json!({"verdict": UNPROVABLE, "k": 0, "n": n, "reasons": reasons(why), "needs": needs})
        }
        Attribution::Nothing => json!({"verdict": "none"}),
    }
}

fn proof(edged: &Edged<'_>, proof: &Proof) -> Json {
    let Some(signal) = edged.evidence.edges.get(proof.signal) else { return Json::Null };
    json!({
        "signal": signal.id,
        "instrument": signal.instrument,
        "records": proof.records,
        "records_outside_window": proof.outside,
        "records_of_other_windows": proof.of_others,
        "same_records_in": proof.copies.iter().filter_map(|c| edged.evidence.sources.sources.get(*c as usize)).map(|s| &s.name).collect::<Vec<_>>(),
        "requests": proof.requests,
        "amount": proof.amount,
        "counts": signal.counts,
        "direct": signal.direct,
        "identity": signal.identity,
        "each_rank": signal.each_rank,
        "does_not_prove": signal.does_not_prove,
        "cites": proof.cites.iter().map(|c| edged.evidence.locator(*c)).collect::<Vec<_>>(),
        "reproduce": reproduce(edged, signal, proof),
    })
}

fn counter(edged: &Edged<'_>, counter: &Counter) -> Json {
    let Some(signal) = edged.evidence.edges.get(counter.signal) else { return Json::Null };
    let run = edged.source;
    let window = edged.window.map_or(String::new(), |(from, to)| format!(" --since {} --until {}", rfc3339(from, 1), rfc3339(to, 1)));
    // Of a series that never came the family shows that it is not there.
    let asked = if counter.never_seen { signal.metric.as_ref().unwrap_or(&counter.series) } else { &counter.series };
    json!({
        "signal": signal.id,
        "series": counter.series,
        "endpoint": counter.endpoint,
        "worker": counter.worker,
        "never_seen": counter.never_seen,
        "increase": counter.inner,
        "at_most": counter.outer,
        "before_first_sample": counter.base,
        "resets": counter.resets,
        "not_covered": counter.gap,
        "counts": signal.counts,
        "direct": signal.direct,
        "does_not_prove": signal.does_not_prove,
        "cites": counter.cites,
        "reproduce": format!("corr metrics {run} {}{window}", shell(asked)),
    })
}

/// The command that gives a signal's records, but those of copies.
pub fn reproduce(edged: &Edged<'_>, signal: &Signal, proof: &Proof) -> Option<String> {
    let kinds = match &signal.kinds[..] {
        [] => return None,
        [only] => format!("kind:{only}"),
        several => format!("({})", several.iter().map(|k| format!("kind:{k}")).collect::<Vec<_>>().join(" OR ")),
    };
    let mut query = kinds;
    let mut add = |clause: String| query.push_str(&format!(" {clause}"));
    for condition in &signal.conditions {
        clauses(condition).into_iter().for_each(&mut add);
    }
    // What has no amount is not this signal, but for what says zero in another way.
    if let Some(amount) = &signal.amount {
        let mut any: Vec<String> = amount.split('+').map(|field| format!("{field}:*")).collect();
        if let Some(zero) = &signal.zero_when {
            any.push(format!("({})", clauses(zero).join(" ")));
        }
        add(if any.len() == 1 { any.concat() } else { format!("({})", any.join(" OR ")) });
    }
    for role in &signal.except_roles {
        add(format!("NOT role:{role}"));
    }
    // Health probes are in no count.
    if signal.identity.iter().any(|id| id == "rid") {
        add("NOT rid:HEALTH_CHECK*".into());
    }
    for copy in proof.copies.iter().filter_map(|c| edged.evidence.sources.sources.get(*c as usize)) {
        add(format!("NOT source:{}", quote(&copy.key)));
    }
    let window = edged.window.map_or(String::new(), |(from, to)| format!(" --since {} --until {}", rfc3339(from, 1), rfc3339(to, 1)));
    Some(format!("corr query {} {}{window}", edged.source, shell(&query)))
}

/// What a condition asks, in the query language.
fn clauses(condition: &Condition) -> Vec<String> {
    let field = &condition.field;
    let value = |literal: &Literal| match literal {
        Literal::Bool(b) => b.to_string(),
        Literal::Int(n) => n.to_string(),
        Literal::Float(n) => n.to_string(),
        Literal::Text(text) => quote(text),
    };
    let mut clauses = Vec::new();
    if let Some(is) = &condition.is {
        clauses.push(format!("{field}:{}", value(is)));
    }
    if let Some(is_not) = &condition.is_not {
        clauses.push(format!("NOT {field}:{}", value(is_not)));
    }
    if !condition.one_of.is_empty() {
        let any: Vec<String> = condition.one_of.iter().map(|l| format!("{field}:{}", value(l))).collect();
        clauses.push(format!("({})", any.join(" OR ")));
    }
    if let Some(above) = condition.above {
        clauses.push(format!("{field}:>{above}"));
    }
    match condition.present {
        Some(true) => clauses.push(format!("{field}:*")),
        Some(false) => clauses.push(format!("NOT {field}:*")),
        None => {}
    }
    clauses
}
