//! The texts in which labels of a series are written, apart from the exposition formats.

use std::borrow::Cow;

/// Pairs of a text of labels.
#[derive(Debug, Default, PartialEq)]
pub struct Pairs {
    pub pairs: Vec<(String, String)>,
    /// The text allows another reading, or breaks its own form: what was read is a guess.
    pub doubtful: bool,
}

/// A letter, `_` or `:` first; then digits too.
pub fn is_name(text: &str, more: &[u8]) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_' || b == b':')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b':' || more.contains(&b))
}

/// `name{k="v",…}` in its two parts, the second with its braces; the name alone where there are none.
pub fn split(text: &str) -> (&str, Option<&str>) {
    match text.find('{') {
        Some(at) => (text[..at].trim_end(), Some(&text[at..])),
        None => (text, None),
    }
}

/// A metric's name as a column or a value would have it, with or without labels in braces. Dots occur in OpenTelemetry's names.
pub fn is_metric(text: &str) -> bool {
    let (name, braces) = split(text);
    is_name(name, b".") && braces.is_none_or(|b| b.ends_with('}'))
}

/// `{k="v",k="v"}` with `\\`, `\"` and `\n` escaped; blanks and a last comma are allowed.
pub fn braces(text: &str) -> Option<Pairs> {
    let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
    let mut out = Pairs::default();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=')?;
        let quoted = after.trim_start().strip_prefix('"')?;
        let end = closing(quoted)?;
        out.pairs.push((name.trim().trim_matches('"').to_string(), unescape(&quoted[..end]).into_owned()));
        rest = quoted[end + 1..].trim_start();
        match rest.strip_prefix(',') {
            Some(next) => rest = next.trim_start(),
            None if rest.is_empty() => break,
            None => return None,
        }
    }
    Some(out)
}

/// Where the quote is that no backslash stands before.
fn closing(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at),
            _ => {}
        }
    }
    None
}

fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, false) => out.push(c),
            _ => match chars.next() {
                Some('n') => out.push('\n'),
                Some(c @ ('"' | '\\')) => out.push(c),
                Some(other) => out.extend(['\\', other]),
                None => out.push('\\'),
            },
        }
    }
    out.into()
}

/// A JSON object whose values are texts, numbers or truth values.
pub fn json(text: &str) -> Option<Pairs> {
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).ok()?;
    let mut out = Pairs::default();
    for (key, value) in object {
        let value = match value {
            serde_json::Value::String(text) => text,
            serde_json::Value::Null => continue,
            serde_json::Value::Array(_) | serde_json::Value::Object(_) => return None,
            other => other.to_string(),
        };
        out.pairs.push((key, value));
    }
    Some(out)
}

/// `k=v,k=v` without any escape. Where keys are `sorted`, as prom2parquet writes them, `,word=` begins a label only if its key comes after the one
/// before; else if the key is a new one. Where a value holds such a text all the same, the reading is a guess and says so.
pub fn plain(text: &str, sorted: bool) -> Option<Pairs> {
    let mut out = Pairs::default();
    if text.is_empty() {
        return Some(out);
    }
    let mut last: Option<(&str, usize)> = None;
    let mut at = 0;
    while at <= text.len() {
        let piece = &text[at..];
        let end = piece.find(',').unwrap_or(piece.len());
        let key = piece[..end].split_once('=').map(|(key, _)| key).filter(|key| is_name(key, b".-/"));
        match (key, last) {
            (Some(key), None) => last = Some((key, at + key.len() + 1)),
            (Some(key), Some((before, value))) if key > before || (!sorted && key != before && out.pairs.iter().all(|(k, _)| k != key)) => {
                out.pairs.push((before.to_string(), text[value..at - 1].to_string()));
                last = Some((key, at + key.len() + 1));
            }
            (Some(_), Some(_)) => out.doubtful = true,
            (None, None) => return None,
            (None, Some(_)) => {}
        }
        at += end + 1;
    }
    let (key, value) = last?;
    out.pairs.push((key.to_string(), text[value..].to_string()));
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(found: Option<Pairs>) -> (Vec<(String, String)>, bool) {
        found.map(|p| (p.pairs, p.doubtful)).unwrap_or_default()
    }

    fn want(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
    }

    #[test]
    fn braces_are_read_with_their_escapes() {
        let found = pairs(braces(r#"{ a="x,\"}=", b = "C:\\dir\n\q", }"#));
        assert_eq!(found, (want(&[("a", "x,\"}="), ("b", "C:\\dir\n\\q")]), false));
        assert_eq!(braces("{}"), Some(Pairs::default()));
        for bad in ["{a}", "{a=b}", "{a=\"b}", "{a=\"b\" c=\"d\"}", "a=\"b\""] {
            assert_eq!(braces(bad), None, "{bad}");
        }
    }

    #[test]
    fn unescaped_pairs_are_split_at_keys_in_order() {
        let text = "instance=http://h:1/metrics,model=a,b={c}\"d\",path=C:\\dir\\n";
        assert_eq!(
            pairs(plain(text, true)),
            (want(&[("instance", "http://h:1/metrics"), ("model", "a,b={c}\"d\""), ("path", "C:\\dir\\n")]), true)
        );
        assert_eq!(pairs(plain("a=1,b=x,y,c=", true)), (want(&[("a", "1"), ("b", "x,y"), ("c", "")]), false));
        assert_eq!(pairs(plain("b=1,a=2", false)), (want(&[("b", "1"), ("a", "2")]), false));
        assert_eq!(pairs(plain("b=1,a=2", true)), (want(&[("b", "1,a=2")]), true));
        assert_eq!(plain("no pair", true), None);
        assert_eq!(plain("", false), Some(Pairs::default()));
    }

    #[test]
    fn objects_hold_plain_values() {
        assert_eq!(pairs(json(r#"{"a": "x", "n": 1, "t": true, "none": null}"#)).0, want(&[("a", "x"), ("n", "1"), ("t", "true")]));
        assert_eq!(json(r#"{"a": {}}"#), None);
    }

    #[test]
    fn names_of_metrics() {
        for yes in ["sglang:x", "a_b{le=\"1\"}", "q:space {a=\"b\"}", "http.server.duration", "_x:1"] {
            assert!(is_metric(yes), "{yes}");
        }
        for no in ["", "1a", "GET /x", "a b", "x{", "-"] {
            assert!(!is_metric(no), "{no}");
        }
    }
}
