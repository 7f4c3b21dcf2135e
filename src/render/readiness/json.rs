//! Lives of servers for programs: what the state machine says, with places beside citations and times beside nanoseconds.

use std::io::{self, Write};

use serde_json::{Map, Value as Json, json};

use super::{Lives, Unit, words};
use crate::readiness;
use crate::render::safe::write_json;
use crate::render::shown::rfc3339;

/// Schema of the object, and of the summary line.
const SCHEMA: &str = "corr.ready.v1";

/// One object.
pub fn whole(lives: &Lives<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut whole = summary(lives);
    let units: Vec<Json> = lives.units.iter().map(|unit| of_unit(lives, unit)).collect();
    whole.insert("units".into(), Json::Array(units));
    write_json(out, &Json::Object(whole), true)?;
    writeln!(out)
}

/// One line a run, a summary last.
pub fn lines(lives: &Lives<'_>, out: &mut dyn Write) -> io::Result<()> {
    for unit in lives.units {
        for mut run in runs(lives, unit) {
            if let Json::Object(members) = &mut run {
                members.insert("type".into(), json!("run"));
                members.insert("host".into(), json!(unit.unit.host));
                members.insert("unit".into(), json!(unit.unit.unit));
            }
            write_json(out, &run, false)?;
            writeln!(out)?;
        }
    }
    let mut summary = summary(lives);
    summary.insert("type".into(), json!("summary"));
    write_json(out, &Json::Object(summary), false)?;
    writeln!(out)
}

fn summary(lives: &Lives<'_>) -> Map<String, Json> {
    let time = |ns: Option<i64>| ns.map(|ns| rfc3339(ns, 1));
    let seen = lives.seen.iter().map(|seen| {
        json!({
            "target": seen.target,
            "source": seen.of,
            "what": seen.what,
            "rows": seen.rows,
            "host": seen.unit.as_ref().map(|(host, _)| host),
            "unit": seen.unit.as_ref().map(|(_, unit)| unit),
            "how": seen.how,
        })
    });
    let claims = lives.claims.iter().map(|claimed| {
        let mut value = placed(lives, &claimed.answer);
        if let Json::Object(members) = &mut value {
            members.insert("unit".into(), json!(claimed.unit));
            members.insert("claim".into(), json!(claimed.claim));
        }
        value
    });
    let copies = lives.copies.iter().map(|(copy, of)| json!({"source": copy, "of": of}));
    let members = [
        ("schema", json!(SCHEMA)),
        ("run", json!(lives.run)),
        ("since", json!(time(lives.window.0))),
        ("until", json!(time(lives.window.1))),
        ("boots", json!(lives.history.boots)),
        ("steps", placed(lives, &lives.history.steps)),
        ("cannot_say", placed(lives, &lives.history.cannot_say)),
        ("seen_from_outside", seen.collect()),
        ("copies", copies.collect()),
        ("other_units", json!(lives.others)),
        ("claims", claims.collect()),
    ];
    members.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

fn of_unit(lives: &Lives<'_>, unit: &Unit) -> Json {
    let mut value = placed(lives, &unit.unit);
    if let Json::Object(members) = &mut value {
        members.insert("name".into(), json!(unit.name));
        members.insert("outside_the_window".into(), json!(unit.outside));
        members.insert("invocations".into(), Json::Array(runs(lives, unit)));
    }
    value
}

fn runs(lives: &Lives<'_>, unit: &Unit) -> Vec<Json> {
    let run = |(at, run): (usize, &corr_readiness::Invocation)| {
        let mut value = placed(lives, run);
        if let Json::Object(members) = &mut value {
            let number = unit.numbers.get(at).copied().unwrap_or_default();
            members.insert("number".into(), json!(number));
            members.insert("says".into(), json!(words::verdict(run.verdict)));
            members.insert("cause_says".into(), json!(words::cause(&run.cause)));
            if run.instants.ready.happened() {
                members.insert("ready_window".into(), json!(format!("ready:{}#{number}", unit.name)));
            }
            if let Some(outage) = unit.outages.get(at).copied().flatten() {
                members.insert("outage_window".into(), json!(format!("outage:{}#{outage}", unit.name)));
            }
            // A list of pairs reads badly: one member a point.
            let points = members.remove("seen");
            let points = points.as_ref().and_then(Json::as_array).into_iter().flatten();
            let named = points.filter_map(|pair| Some((pair.get(0)?.as_str()?.to_string(), pair.get(1)?.clone())));
            let named: Map<String, Json> = named.collect();
            members.insert("seen".into(), Json::Object(named));
        }
        value
    };
    unit.unit.invocations.iter().enumerate().map(run).collect()
}

/// A value with places and times in it. What cannot be written is `null`.
fn placed(lives: &Lives<'_>, value: &impl serde::Serialize) -> Json {
    let mut value = serde_json::to_value(value).unwrap_or_default();
    place(lives, &mut value);
    value
}

fn place(lives: &Lives<'_>, value: &mut Json) {
    match value {
        Json::Array(items) => items.iter_mut().for_each(|item| place(lives, item)),
        Json::Object(members) => {
            if let Some(cite) = readiness::cite(members) {
                *value = json!({"place": lives.places.of(cite), "offset": cite.offset, "length": cite.len});
                return;
            }
            // A length that is known is its own value; one that is not says why.
            if members.len() == 1
                && let Some(mut known) = members.remove("Ok")
            {
                place(lives, &mut known);
                *value = known;
                return;
            }
            if members.len() == 1
                && let Some(why) = members.remove("Err")
            {
                *value = json!({"unknown": why});
                return;
            }
            let wall = members.get("wall").and_then(Json::as_array);
            if let Some((start, end)) = wall.and_then(|wall| Some((wall.first()?.as_i64()?, wall.get(1)?.as_i64()?))) {
                members.insert("time".into(), json!(rfc3339(start, end.saturating_sub(start))));
            }
            members.values_mut().for_each(|member| place(lives, member));
        }
        _ => {}
    }
}
