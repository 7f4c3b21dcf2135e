//! The promise of a columnar event: what is not a value of it is one of its kind's words.

use std::collections::BTreeSet;

use crate::event::{Event, Value};

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_ascii_lowercase)
}

/// Panics if a word of the payload is neither in a value of the event nor in its kind's words.
pub fn assert_columnar(payload: &[u8], event: &Event<'_>) {
    let text = String::from_utf8_lossy(payload);
    let mut covered: BTreeSet<String> = words(event.kind.words).collect();
    let mut numbers: Vec<f64> = Vec::new();
    for field in &event.fields {
        match &field.value {
            Value::Int(v) => {
                covered.insert(v.unsigned_abs().to_string());
            }
            Value::UInt(v) => {
                covered.insert(v.to_string());
            }
            Value::Float(v) => numbers.push(*v),
            Value::Bool(v) => {
                covered.insert(v.to_string());
            }
            Value::Str(t) => covered.extend(words(t)),
        }
    }
    for id in &event.ids {
        covered.extend(words(&id.text));
    }
    if let Some(level) = event.level {
        covered.insert(level.name().to_owned());
    }
    // A float stands as it was printed: its text reads as the same number.
    for token in text.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | 'e' | 'E' | '+'))) {
        let token = token.trim_matches('.');
        if token.parse::<f64>().is_ok_and(|v| numbers.contains(&v)) {
            covered.extend(words(token));
        }
    }
    let stamp = event.stamp.map_or(0..0, |s| s.at as usize..(s.at + s.len) as usize);
    let rest = format!("{} {}", String::from_utf8_lossy(&payload[..stamp.start]), String::from_utf8_lossy(&payload[stamp.end..]));
    for word in words(&rest) {
        assert!(covered.contains(&word), "{word:?} of {} is in no column: {text}", event.kind.name);
    }
}
