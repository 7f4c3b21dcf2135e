//! `name{label="value", "other label"="value"}` with values quoted as Go quotes strings: how Prometheus, promtool and Grafana spell a series.

/// A series' spelling, taken apart.
#[derive(Debug, PartialEq)]
pub(super) struct Spelled<'a> {
    /// Before the brace, or quoted alone in it; a `__name__` stays among the labels.
    pub name: String,
    pub labels: Vec<(String, String)>,
    /// What follows.
    pub rest: &'a str,
}

/// Takes a series' spelling off the start of a text; `None` where it is damaged. A name without braces goes to the first blank.
pub(super) fn spelled(text: &str) -> Option<Spelled<'_>> {
    let end = text.find(['{', ' ', '\t']).unwrap_or(text.len());
    let (name, mut rest) = text.split_at_checked(end)?;
    let mut out = Spelled { name: name.to_string(), labels: Vec::new(), rest: "" };
    let Some(inside) = rest.strip_prefix('{') else {
        out.rest = rest;
        return (!out.name.is_empty()).then_some(out);
    };
    rest = inside.trim_start();
    loop {
        if let Some(after) = rest.strip_prefix('}') {
            out.rest = after;
            return Some(out);
        }
        let (label, after) = match rest.strip_prefix('"') {
            Some(quoted) => unquote(quoted)?,
            None => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':' | '.')))?;
                let (label, after) = rest.split_at_checked(end)?;
                (label.to_string(), after)
            }
        };
        if label.is_empty() {
            return None;
        }
        let after = after.trim_start();
        match after.strip_prefix('=') {
            Some(value) => {
                let (value, after) = unquote(value.trim_start().strip_prefix('"')?)?;
                out.labels.push((label, value));
                rest = after.trim_start();
            }
            // A name that is no identifier stands quoted and alone.
            None if rest.starts_with('"') && out.name.is_empty() => {
                out.name = label;
                rest = after;
            }
            None => return None,
        }
        match rest.strip_prefix(',') {
            Some(after) => rest = after.trim_start(),
            None if rest.starts_with('}') => {}
            None => return None,
        }
    }
}

/// A text up to its closing quote, unescaped, and what follows the quote.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.chars();
    loop {
        match chars.next()? {
            '"' => return Some((out, chars.as_str())),
            '\\' => match chars.next()? {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                'a' => out.push('\u{7}'),
                'b' => out.push('\u{8}'),
                'f' => out.push('\u{c}'),
                'v' => out.push('\u{b}'),
                'x' => out.push(code(&mut chars, 2)?),
                'u' => out.push(code(&mut chars, 4)?),
                'U' => out.push(code(&mut chars, 8)?),
                c @ ('\\' | '"' | '\'') => out.push(c),
                other => {
                    out.push('\\');
                    out.push(other);
                }
            },
            c => out.push(c),
        }
    }
}

/// The character of some hexadecimal digits; the replacement character for bytes that are none (`\xff`).
fn code(chars: &mut std::str::Chars<'_>, digits: usize) -> Option<char> {
    let mut n = 0u32;
    for _ in 0..digits {
        n = n.checked_mul(16)?.checked_add(chars.next()?.to_digit(16)?)?;
    }
    if digits == 2 && n > 0x7f {
        return Some(char::REPLACEMENT_CHARACTER);
    }
    Some(char::from_u32(n).unwrap_or(char::REPLACEMENT_CHARACTER))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(text: &str) -> (String, Vec<(String, String)>, String) {
        let s = spelled(text).unwrap();
        (s.name, s.labels, s.rest.to_string())
    }

    fn pairs(labels: &[(&str, &str)]) -> Vec<(String, String)> {
        labels.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
    }

    #[test]
    fn quotes_blanks_and_braces_in_values_are_values() {
        let (name, labels, rest) = parts(r#"{__name__="t", model="a,b={c}\"d\"", path="C:\\dir\\n"} 1.5 17"#);
        assert_eq!((name.as_str(), rest.as_str()), ("", " 1.5 17"));
        assert_eq!(labels, pairs(&[("__name__", "t"), ("model", r#"a,b={c}"d""#), ("path", r"C:\dir\n")]));
        assert_eq!(parts("sglang:x{le=\"+Inf\",}").1, pairs(&[("le", "+Inf")]));
        assert_eq!(parts(r#"{"dotted.name", "label name"="v"}"#), ("dotted.name".into(), pairs(&[("label name", "v")]), String::new()));
        assert_eq!(parts("up 1"), ("up".into(), vec![], " 1".into()));
        assert_eq!(parts(r#"a{b="\u00b5\xff\t"}"#).1, pairs(&[("b", "µ\u{fffd}\t")]));
    }

    #[test]
    fn damaged_spellings_are_refused() {
        for bad in [
            "",
            "{",
            "a{",
            "a{b",
            "a{b=",
            "a{b=\"",
            "a{b=\"c",
            "a{b=\"c\"",
            "a{b=\"c\" d=\"e\"}",
            "a{=\"c\"}",
            "a{b}",
            "a{b=\"\\",
            "{\"a\",\"b\"}",
        ] {
            assert_eq!(spelled(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken_apart_or_refused(text in r#"[a{}",=\\ xu0-9µ]{0,40}"#) {
            if let Some(s) = spelled(&text) {
                prop_assert!(text.ends_with(s.rest));
            }
        }
    }
}
