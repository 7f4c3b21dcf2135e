//! Records that state times of a whole request, or of a call, by themselves: SGLang's end of a request, Dynamo's trace row, a client's record, a span.

use serde_json::{Number, Value as Json};

use super::spans::Stage;
use crate::render::shown::Shown;

/// What a record states.
pub struct Stated {
    pub name: String,
    pub start: i64,
    pub end: i64,
    pub stages: Vec<Stage>,
    /// Times that do not lie in the request: of another clock, or damaged.
    pub outside: u64,
}

/// The times of one record; `None` if it states no start and no end.
pub fn of(event: &Shown) -> Option<Stated> {
    match event.kind {
        "request_finished" | "request_metrics" => engine(event),
        "request_end" => trace_row(event),
        "client_request" => client(event),
        "otlp_span" => span(event),
        _ => None,
    }
}

/// SGLang states instants of its wall clock, in seconds since the epoch. Versions that print a monotonic reading under one of these names give times outside
/// the request, which are left out.
fn engine(event: &Shown) -> Option<Stated> {
    let at = |name: &str| seconds(field(event, name)?);
    let start = at("request_received_ts")?;
    let finished = at("request_finished_ts")?;
    let sent = at("response_sent_to_client_ts");
    let end = sent.filter(|sent| *sent >= finished).unwrap_or(finished);
    if finished < start {
        return None;
    }
    let steps = [
        ("dispatch", at("api_server_dispatch_finish_ts")),
        ("queue", at("forward_entry_time")),
        ("prefill", at("prefill_finished_time")),
        ("decode", Some(finished)),
        ("send", sent),
    ];
    let mut stated = Stated { name: "request".into(), start, end, stages: Vec::new(), outside: 0 };
    // A step ends where it says and begins where the step before it ended; after one that is not said nothing says where the next began.
    let mut from = Some(start);
    for (name, to) in steps {
        let inside = to.filter(|to| (start..=end).contains(to));
        stated.outside += u64::from(to.is_some() && inside.is_none());
        if let (Some(from), Some(to)) = (from, inside)
            && from <= to
        {
            stated.stages.push(Stage { name, start: from, end: to, evidence: None });
        }
        from = inside;
    }
    Some(stated)
}

/// Dynamo's trace row states its start and its end to a millisecond, and lengths between: where these lie follows from the start alone.
fn trace_row(event: &Shown) -> Option<Stated> {
    let start = field(event, "request_received_ms")?.as_i64()?.checked_mul(1_000_000)?;
    let end = event.stamp?.start;
    if end < start {
        return None;
    }
    let after = |name: &str| start.checked_add(millis(field(event, name)?)?);
    let mut stated = Stated { name: "request".into(), start, end, stages: Vec::new(), outside: 0 };
    let (waited, first) = (after("prefill_wait_time_ms"), after("ttft_ms"));
    let steps = [
        ("prefill wait", Some(start), waited, "request_received_ms, and prefill_wait_time_ms after it; the start is known to 1 ms"),
        ("prefill", waited, first, "request_received_ms + prefill_wait_time_ms to + ttft_ms; the start is known to 1 ms"),
        ("decode", first, after("total_time_ms"), "request_received_ms + ttft_ms to + total_time_ms; the start is known to 1 ms"),
    ];
    for (name, from, to, evidence) in steps {
        let (Some(from), Some(to)) = (from, to) else { continue };
        if from > to {
            stated.outside += 1;
            continue;
        }
        stated.stages.push(Stage { name, start: from, end: to, evidence: Some(evidence) });
    }
    Some(stated)
}

/// A client states start and end by its own clock: in nanoseconds (AIPerf), or in seconds (scripts, polls).
fn client(event: &Shown) -> Option<Stated> {
    let ns = |name: &str| field(event, name)?.as_i64().filter(|ns| *ns > 0);
    let start = ns("request_start_ns").or_else(|| seconds(field(event, "t_start")?))?;
    let end = ns("request_end_ns").or_else(|| seconds(field(event, "t_end")?))?;
    (end >= start).then(|| Stated { name: "client call".into(), start, end, stages: Vec::new(), outside: 0 })
}

fn span(event: &Shown) -> Option<Stated> {
    let start = event.stamp?.start;
    let end = field(event, "end_unix_ns")?.as_i64()?;
    let name = field(event, "span_name").and_then(Json::as_str).unwrap_or("span").to_string();
    (end >= start).then_some(Stated { name, start, end, stages: Vec::new(), outside: 0 })
}

/// A field by the name that corr has for it.
pub fn field<'e>(event: &'e Shown, name: &str) -> Option<&'e Json> {
    event.fields.iter().find(|(known, _, _)| known == name).map(|(_, _, value)| value)
}

/// Seconds since the epoch as nanoseconds, by the digits that were written: a float of such a number is a quarter of a microsecond wide.
fn seconds(value: &Json) -> Option<i64> {
    let Json::Number(number) = value else { return None };
    scaled(number, 9).filter(|ns| *ns > 0)
}

fn millis(value: &Json) -> Option<i64> {
    let Json::Number(number) = value else { return None };
    scaled(number, 6).filter(|ns| *ns >= 0)
}

/// A decimal number times a power of ten; digits behind that are cut.
fn scaled(number: &Number, zeros: usize) -> Option<i64> {
    let text = number.to_string();
    if text.contains(['e', 'E']) {
        // Nothing that was written as a time is so large or so small but zero and its neighbours.
        return number.as_f64().filter(|x| x.abs() < 1e-6).map(|_| 0);
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let digits: String = fraction.chars().chain(std::iter::repeat('0')).take(zeros).collect();
    format!("{whole}{digits}").parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(kind: &'static str, fields: &[(&str, Json)]) -> Shown {
        let fields = fields.iter().map(|(name, value)| (name.to_string(), name.to_string(), value.clone())).collect();
        let mut event = Shown::of_kind(kind, "");
        event.fields = fields;
        event
    }

    #[test]
    fn seconds_keep_their_digits() {
        assert_eq!(seconds(&json!(1795977516.0664332)), Some(1_795_977_516_066_433_200));
        assert_eq!(seconds(&json!(1795977516)), Some(1_795_977_516_000_000_000));
        assert_eq!(seconds(&json!("1795977516")), None);
        assert_eq!(seconds(&json!(1e300)), None);
        assert_eq!(millis(&json!(3.465238)), Some(3_465_238));
        assert_eq!(millis(&json!(0.0)), Some(0));
        assert_eq!(millis(&json!(1e-7)), Some(0));
        assert_eq!(millis(&json!(-1.5)), None);
    }

    #[test]
    fn a_step_begins_where_the_one_before_it_ended() {
        let fields = [
            ("request_received_ts", json!(100.0)),
            ("forward_entry_time", json!(100.25)),
            ("prefill_finished_time", json!(100.5)),
            ("request_finished_ts", json!(101.0)),
        ];
        let stated = of(&event("request_finished", &fields)).unwrap();
        let stages: Vec<_> = stated.stages.iter().map(|s| (s.name, s.start / 1_000_000, s.end / 1_000_000)).collect();
        // The end of the dispatch is not said: where the queue began is not known.
        assert_eq!(stages, [("prefill", 100_250, 100_500), ("decode", 100_500, 101_000)]);
        assert_eq!(stated.outside, 0);
    }

    #[test]
    fn a_reading_of_another_clock_is_no_step() {
        let fields = [
            ("request_received_ts", json!(100.0)),
            ("api_server_dispatch_finish_ts", json!(100.1)),
            ("forward_entry_time", json!(7.25)),
            ("prefill_finished_time", json!(100.5)),
            ("request_finished_ts", json!(101.0)),
        ];
        let stated = of(&event("request_finished", &fields)).unwrap();
        let names: Vec<_> = stated.stages.iter().map(|s| s.name).collect();
        assert_eq!((names, stated.outside), (vec!["dispatch", "decode"], 1));
    }

    #[test]
    fn without_an_end_nothing_is_stated() {
        assert!(of(&event("request_finished", &[("request_received_ts", json!(100.0))])).is_none());
        let backwards = [("request_received_ts", json!(100.0)), ("request_finished_ts", json!(99.0))];
        assert!(of(&event("request_finished", &backwards)).is_none());
        assert!(of(&event("route_decision", &backwards)).is_none());
    }
}
