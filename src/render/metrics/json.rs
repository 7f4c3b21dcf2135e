//! Figures as JSON: times of samples as RFC 3339 on the capture's clock, lengths of time in nanoseconds under a name that says so.

use serde::Serialize;
use serde_json::Value as Json;

use crate::metrics::moment::Dial;

/// Members that are instants.
const INSTANTS: &[&str] = &["at", "from", "to", "absent_at"];
/// Members that are instants where they are numbers.
const ENDS: &[&str] = &["first", "last", "after", "by"];
/// Members that are lengths of time.
const LENGTHS: &[&str] = &["gap", "interval", "covered", "hold"];

/// An answer of `corr_metrics::window` as JSON.
pub fn of(answer: &impl Serialize, dial: Dial<'_>) -> Json {
    let mut json = serde_json::to_value(answer).unwrap_or(Json::Null);
    dated(&mut json, dial);
    json
}

fn dated(json: &mut Json, dial: Dial<'_>) {
    match json {
        Json::Object(members) => {
            for length in LENGTHS {
                if let Some(ns) = members.remove(*length) {
                    members.insert(format!("{length}_ns"), ns);
                }
            }
            for (name, value) in members.iter_mut() {
                let instant = INSTANTS.contains(&name.as_str()) || ENDS.contains(&name.as_str());
                match value.as_i64() {
                    Some(at) if instant => *value = dial.show(at).into(),
                    _ => dated(value, dial),
                }
            }
        }
        Json::Array(values) => values.iter_mut().for_each(|value| dated(value, dial)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_are_told_and_values_are_not() {
        let answer = json!({"first": {"at": 1_500_000_000, "value": 7}, "segments": [{"first": 1, "last": 2}], "interval": 5, "n": 3});
        let want = json!({
            "first": {"at": "+1.5s", "value": 7},
            "segments": [{"first": "+0.000000001s", "last": "+0.000000002s"}],
            "n": 3,
            "interval_ns": 5
        });
        assert_eq!(of(&answer, Dial::Elapsed), want);
    }
}
