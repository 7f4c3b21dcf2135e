//! Does a definition read its own samples as they say?

use super::compiled::Compiled;
use super::definition::{Definition, OneOrMany, Part, Problem, Sample, Scalar};
use crate::event::{Event, Outcome, Value};
use crate::format::Format;
use crate::ids::IdKind;
use crate::stamp::{self, RawStamp, Zone};
use crate::{FORMATS, records, text};

/// Tries every sample; the first that disagrees is the problem.
pub fn samples(definition: &Definition, compiled: &Compiled) -> Result<(), Problem> {
    if !definition.samples.iter().any(|s| s.taken) {
        let text = "it has no sample; add `[[format.samples]]` with a record as `text` and what is read from it";
        return Err(definition.problem(Part::Whole, text));
    }
    for (i, sample) in definition.samples.iter().enumerate() {
        one(definition, compiled, sample).map_err(|(key, text)| definition.problem(Part::Sample(i, key), text))?;
    }
    Ok(())
}

type Wrong = (Option<&'static str>, String);

fn one(definition: &Definition, compiled: &Compiled, sample: &Sample) -> Result<(), Wrong> {
    let record = sample.text.as_bytes();
    let is_head = compiled.head(record);
    let matcher = if definition.json { "`keys` and `where`" } else { "`match`" };
    if !sample.taken {
        return if is_head {
            Err((Some("taken"), format!("expected not to be taken, but {matcher} takes it; make it say more")))
        } else {
            Ok(())
        };
    }
    if !is_head && !definition.json && matches!(record, [b'{', ..] | [b'[', b'{', ..]) {
        let next = "declare it with `json = true`, which withholds bodies by their names";
        return Err((Some("text"), format!("it is JSON, which `match` does not take; {next}")));
    }
    if !is_head {
        let next = format!("correct {matcher} or the sample, or write `taken = false` in it");
        return Err((Some("text"), format!("expected to be taken, but {matcher} does not; {next}")));
    }
    if let Some(other) = built_in(record).filter(|f| !definition.over.iter().any(|name| name == f.name)) {
        let next = format!("write `over = [\"{0}\"]` if this format's reading is to win over {0}'s", other.name);
        return Err((Some("text"), format!("it is a record of {} already; {next}", other.name)));
    }
    let mut event = Event::new(&text::kinds::TEXT);
    if let Outcome::Unparsed(why) = compiled.parse(record, &mut event) {
        return Err((Some("text"), format!("expected to be read, but: {why}; correct the sample")));
    }
    expected(definition, sample, &event)
}

/// The built-in format that would take the record, the general one left out.
fn built_in(record: &[u8]) -> Option<&'static Format> {
    FORMATS.iter().find(|f| f.name != records::JSON.name && (f.head)(record)).copied()
}

fn expected(definition: &Definition, sample: &Sample, event: &Event<'_>) -> Result<(), Wrong> {
    let differs = |key: &'static str, what: &str, wanted: &str, seen: &str| {
        Err((Some(key), format!("{what}: expected {wanted}, read {seen}; correct the sample or the definition")))
    };
    if let Some(wanted) = &sample.stamp {
        let Some(want) = wanted_stamp(wanted) else {
            return Err((Some("stamp"), format!("`{wanted}` is no stamp; write it as 2026-11-29T18:54:32.145Z")));
        };
        let same = event.stamp.is_some_and(|seen| (seen.ns, seen.width, says(&seen)) == (want.ns, want.width, says(&want)));
        if !same {
            return differs("stamp", "stamp", wanted, &event.stamp.map_or_else(|| "none".into(), |s| shown(&s)));
        }
    } else if definition.stamp.is_some() && event.stamp.is_none() {
        return Err((Some("text"), "the stamp cannot be read; correct `stamp_format` or `stamp_unit`".into()));
    }
    if let Some(wanted) = &sample.level {
        let seen = event.level.map_or("none", |l| l.name());
        if !wanted.eq_ignore_ascii_case(seen) {
            return differs("level", "level", wanted, seen);
        }
    }
    if let Some(wanted) = &sample.message {
        let message = String::from_utf8_lossy(&sample.text.as_bytes()[event.message.clone()]).into_owned();
        if *wanted != message {
            return differs("message", "message", &format!("`{wanted}`"), &format!("`{message}`"));
        }
    }
    for (name, wanted) in &sample.fields {
        let seen = event.get(name);
        if !seen.is_some_and(|seen| same(wanted, seen)) {
            let seen = seen.map_or_else(|| none(event), value_text);
            return differs("fields", &format!("field `{name}`"), &scalar_text(wanted), &seen);
        }
    }
    for (name, wanted) in &sample.ids {
        ids(name, wanted, event)?;
    }
    for name in &sample.withheld {
        if !event.withheld.iter().any(|w| w.name == name) {
            let seen: Vec<&str> = event.withheld.iter().map(|w| w.name).collect();
            let seen = if seen.is_empty() { "nothing".into() } else { seen.join(", ") };
            return differs("withheld", "withheld", name, &seen);
        }
    }
    Ok(())
}

/// No value, and what may be why.
fn none(event: &Event<'_>) -> String {
    let withheld: Vec<&str> = event.withheld.iter().map(|w| w.name).collect();
    if withheld.is_empty() { "none".into() } else { format!("none (withheld: {})", withheld.join(", ")) }
}

fn ids(name: &str, wanted: &OneOrMany, event: &Event<'_>) -> Result<(), Wrong> {
    let of_name = |kind: IdKind| kind.field() == name;
    let seen: Vec<&str> = event.ids.iter().filter(|i| of_name(i.kind)).map(|i| &*i.text).collect();
    for id in wanted.iter() {
        if !seen.contains(&id) {
            let seen = if seen.is_empty() { none(event) } else { seen.join(", ") };
            return Err((Some("ids"), format!("id `{name}`: expected {id}, read {seen}; correct the sample or the definition")));
        }
    }
    Ok(())
}

/// Reads a stamp as samples write it: without a year where the record has none.
fn wanted_stamp(text: &str) -> Option<RawStamp> {
    let whole = |text: &str| stamp::read_iso(text.as_bytes()).filter(|s| s.len as usize == text.len());
    whole(text).or_else(|| Some(RawStamp { zone: Zone::Yearless, ..whole(&format!("1972-{text}"))? }))
}

/// What a stamp's own text says of where it belongs.
fn says(stamp: &RawStamp) -> &'static str {
    match stamp.zone {
        Zone::Utc | Zone::Offset(_) => "UTC",
        Zone::Yearless => "no year",
        _ => "no zone",
    }
}

fn same(wanted: &Scalar, seen: &Value<'_>) -> bool {
    match (wanted, seen) {
        (Scalar::Bool(a), Value::Bool(b)) => a == b,
        (Scalar::Int(a), Value::Int(b)) => a == b,
        (Scalar::Int(a), Value::Float(b)) => *a as f64 == *b,
        (Scalar::Float(a), Value::Float(b)) => a == b,
        (Scalar::Float(a), Value::Int(b)) => *a == *b as f64,
        (Scalar::Text(a), Value::Str(b)) => a == b,
        _ => false,
    }
}

fn scalar_text(scalar: &Scalar) -> String {
    match scalar {
        Scalar::Bool(b) => b.to_string(),
        Scalar::Int(i) => i.to_string(),
        Scalar::Float(f) => f.to_string(),
        Scalar::Text(t) => format!("`{t}`"),
    }
}

fn value_text(value: &Value<'_>) -> String {
    match value {
        Value::Str(text) => format!("`{text}`"),
        other => other.to_string(),
    }
}

/// A stamp as samples write it.
fn shown(stamp: &RawStamp) -> String {
    let Some(time) = chrono::DateTime::from_timestamp(stamp.ns.div_euclid(stamp::SECOND), stamp.ns.rem_euclid(stamp::SECOND) as u32) else {
        return format!("{} ns", stamp.ns);
    };
    let digits = (0..9).find(|d| stamp.width >= stamp::SECOND / 10i64.pow(*d)).unwrap_or(9);
    let date = if stamp.zone == Zone::Yearless { "%m-%dT%H:%M:%S" } else { "%Y-%m-%dT%H:%M:%S" };
    let mut text = time.format(date).to_string();
    if digits > 0 {
        let fraction = stamp.ns.rem_euclid(stamp::SECOND) / (stamp::SECOND / 10i64.pow(digits));
        text.push_str(&format!(".{fraction:0width$}", width = digits as usize));
    }
    if says(stamp) == "UTC" {
        text.push('Z');
    }
    text
}
