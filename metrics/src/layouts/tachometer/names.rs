//! `metric_name` of a row: `base{k="v",…}`, as the scraper writes it and as it damages it.
//!
//! The scraper cuts what stands in the braces at every comma, trims quotes at the ends of a value, and sorts by key. So a value never holds a
//! comma, escapes stand as served, and a line with an exemplar leaves everything up to the exemplar's value in the name.

use std::borrow::Cow;

use crate::model::Labels;

/// What a row's name says.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed<'a> {
    /// What stands before the braces, without blanks around it.
    pub base: Cow<'a, str>,
    pub labels: Labels,
    /// Quotes are odd, a label is given twice, or something stands where no name has anything: the identity may not be the one served.
    pub damaged: bool,
    /// The line had an exemplar, whose value the row holds.
    pub exemplar: Option<Exemplar<'a>>,
}

/// What of an exemplar's line is left in a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Exemplar<'a> {
    /// The metric's own value, as text.
    pub stated: &'a str,
    pub labels: Labels,
}

/// Reads a name. Every text has a reading; what cannot be meant so is marked damaged.
pub fn parse(text: &str) -> Parsed<'_> {
    let Some((base, body)) = text.split_once('{') else {
        return bare(text);
    };
    if let Some((own, stated)) = before_mark(base) {
        let labels = strict(body).map_or_else(|| lenient(body), |s| s.labels());
        return Parsed { base: own.into(), labels: Labels::default(), damaged: false, exemplar: Some(Exemplar { stated, labels }) };
    }
    let Some(found) = strict(body) else {
        return Parsed { base: base.trim().into(), labels: lenient(body), damaged: true, exemplar: None };
    };
    let base: Cow<str> = match &found.name {
        Some(name) if base.trim().is_empty() => Cow::Owned(name.to_string()),
        _ => base.trim().into(),
    };
    let labels = found.labels();
    let odd = found.twice() || base.is_empty() || base.contains(char::is_whitespace);
    if found.rest.trim().is_empty() {
        return Parsed { base, labels, damaged: odd, exemplar: None };
    }
    match behind_mark(found.rest) {
        Some(exemplar) => Parsed { base, labels, damaged: odd, exemplar: Some(exemplar) },
        None => Parsed { base, labels: lenient(body), damaged: true, exemplar: None },
    }
}

fn bare(text: &str) -> Parsed<'_> {
    let base = text.trim();
    let damaged = base.is_empty() || base.contains(|c: char| c.is_whitespace() || matches!(c, '}' | '"'));
    Parsed { base: base.into(), labels: Labels::default(), damaged, exemplar: None }
}

/// `name value #`, which an exemplar's braces follow.
fn before_mark(base: &str) -> Option<(&str, &str)> {
    let mut words = base.split_whitespace();
    let (name, stated, mark) = (words.next()?, words.next()?, words.next()?);
    (mark == "#" && words.next().is_none() && stated.parse::<f64>().is_ok()).then_some((name, stated))
}

/// ` value # {labels}`, or with the value's stamp before the mark.
fn behind_mark(rest: &str) -> Option<Exemplar<'_>> {
    let (before, after) = rest.split_once('#')?;
    let stated = before.split_whitespace().next()?;
    stated.parse::<f64>().ok()?;
    let body = after.trim_start().strip_prefix('{')?;
    Some(Exemplar { stated, labels: strict(body).map_or_else(|| lenient(body), |s| s.labels()) })
}

/// Labels that are written as they should be, and what follows the closing brace.
struct Strict<'a> {
    name: Option<Cow<'a, str>>,
    pairs: Vec<(&'a str, Cow<'a, str>)>,
    rest: &'a str,
}

impl Strict<'_> {
    fn labels(&self) -> Labels {
        Labels::new(self.pairs.iter().map(|(k, v)| (*k, v.as_ref())))
    }

    fn twice(&self) -> bool {
        self.pairs.iter().enumerate().any(|(i, (k, _))| self.pairs.iter().skip(i + 1).any(|(other, _)| other == k))
    }
}

fn strict(mut body: &str) -> Option<Strict<'_>> {
    let mut found = Strict { name: None, pairs: Vec::new(), rest: "" };
    loop {
        body = body.trim_start();
        if let Some(rest) = body.strip_prefix('}') {
            found.rest = rest;
            return Some(found);
        }
        let after = if body.starts_with('"') {
            // a name in quotes, first in the braces
            let (name, after) = quoted(body)?;
            if found.name.is_some() || !found.pairs.is_empty() {
                return None;
            }
            found.name = Some(name);
            after
        } else {
            let (key, after) = body.split_once('=')?;
            let key = key.trim();
            if key.is_empty() || key.contains(|c: char| c.is_whitespace() || matches!(c, '"' | ',' | '{' | '}')) {
                return None;
            }
            let (value, after) = quoted(after.trim_start())?;
            found.pairs.push((key, value));
            after
        };
        let after = after.trim_start();
        body = match after.strip_prefix(',') {
            Some(next) => next,
            None if after.starts_with('}') => after,
            None => return None,
        };
    }
}

/// A text in quotes, unescaped once, and what follows it.
fn quoted(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let text = text.strip_prefix('"')?;
    let mut escaped = false;
    for (i, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some((unescape(text.get(..i)?), text.get(i + 1..)?)),
            _ => {}
        }
    }
    None
}

/// Labels as far as they can be made out: pieces between commas.
fn lenient(body: &str) -> Labels {
    let body = body.trim_end();
    let body = body.strip_suffix('}').unwrap_or(body);
    let pairs: Vec<(&str, Cow<str>)> = body
        .split(',')
        .filter_map(|piece| piece.split_once('='))
        .map(|(key, value)| {
            let value = value.trim();
            let value = value.strip_prefix('"').unwrap_or(value);
            let value = match value.strip_suffix('"') {
                Some(inner) if trailing_backslashes(inner).is_multiple_of(2) => inner,
                _ => value,
            };
            (key.trim(), unescape(value))
        })
        .filter(|(key, _)| !key.is_empty())
        .collect();
    Labels::new(pairs.iter().map(|(k, v)| (*k, v.as_ref())))
}

fn trailing_backslashes(text: &str) -> usize {
    text.bytes().rev().take_while(|b| *b == b'\\').count()
}

fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some(c @ ('\\' | '"')) => out.push(c),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
            None => out.push('\\'),
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        Labels::new(pairs.iter().copied())
    }

    #[test]
    fn a_whole_name_is_read_exactly() {
        let found = parse(r#"q:x {a="q\"uote",b="back\\slash",c="new\nline",d="brace}x{y",e="un\u"}"#);
        assert_eq!(found.base, "q:x");
        assert_eq!(found.labels, labels(&[("a", "q\"uote"), ("b", "back\\slash"), ("c", "new\nline"), ("d", "brace}x{y"), ("e", "un\\u")]));
        assert!(!found.damaged);
        assert_eq!(parse("up").labels, Labels::default());
        assert_eq!(parse(r#"{"any.name",a="1"}"#).base, "any.name");
        assert!(!parse(r#"x{v="\"start"}"#).damaged, "an escaped quote at the start lost nothing");
    }

    #[test]
    fn odd_quotes_are_damage_and_the_rest_is_kept() {
        let found = parse(r#"x{v="end\"}"#);
        assert!(found.damaged);
        assert_eq!(found.labels, labels(&[("v", "end\"")]));
        let found = parse(r#"x{le="\"9\",v="a"}"#);
        assert!(found.damaged);
        assert_eq!(found.labels.get("v"), Some("a"));
        assert!(parse(r#"x{a="1",a="2"}"#).damaged, "one label twice");
        assert!(parse("x y").damaged);
        assert!(parse("").damaged);
    }

    #[test]
    fn an_exemplar_leaves_the_true_value_in_the_name() {
        let found = parse(r#"q:om_total{a="1"} 345 # {trace_id="abc"}"#);
        assert_eq!(found.base, "q:om_total");
        assert_eq!(found.labels, labels(&[("a", "1")]));
        assert_eq!(found.exemplar, Some(Exemplar { stated: "345", labels: labels(&[("trace_id", "abc")]) }));
        let found = parse(r#"x_total 7 # {trace_id="abc"}"#);
        assert_eq!((found.base.as_ref(), found.exemplar.map(|e| e.stated)), ("x_total", Some("7")));
        assert!(parse(r#"x{a="1"} what"#).damaged, "something behind the brace that no line has");
    }

    proptest! {
        #[test]
        fn any_text_has_a_reading(text in "\\PC*") {
            let _ = parse(&text);
        }

        #[test]
        fn odd_text_has_a_reading(text in "[a{}\"\\\\=, #1n]{0,40}") {
            let _ = parse(&text);
        }

        #[test]
        fn what_labels_print_is_read_back(value in "[^,]*") {
            let labels = Labels::new([("k", value.as_str()), ("z", "1")]);
            let text = format!("x{labels}");
            let found = parse(&text);
            prop_assert_eq!(found.labels, labels);
            prop_assert!(!found.damaged);
        }
    }
}
