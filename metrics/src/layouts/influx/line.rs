//! One line of line protocol: `measurement,tag=value field=1,other=2i 1795976934876043331`.
//! <https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/>

/// A line, taken apart.
#[derive(Debug, PartialEq)]
pub(super) struct Point<'a> {
    pub measurement: String,
    pub tags: Vec<(String, String)>,
    pub fields: Vec<(String, Field)>,
    /// As it stands: its unit is not said. `None` where the line ends before it.
    pub stamp: Option<&'a str>,
    /// Measurement and tags as they stand.
    pub head: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Field {
    Number(f64),
    /// A whole number; whether 64-bit floats hold it exactly.
    Whole(f64, bool),
    Bool(bool),
    Text,
}

/// Takes a line apart; `None` where it is no line protocol.
pub(super) fn point(line: &str) -> Option<Point<'_>> {
    let line = line.trim_start();
    let mut rest = line;
    let measurement = token(&mut rest, &[',', ' ']);
    let mut tags = Vec::new();
    while let Some(after) = rest.strip_prefix(',') {
        rest = after;
        let key = token(&mut rest, &[',', ' ', '=']);
        rest = rest.strip_prefix('=')?;
        let value = token(&mut rest, &[',', ' ']);
        if key.is_empty() {
            return None;
        }
        tags.push((key, value));
    }
    let head = line.strip_suffix(rest)?;
    rest = rest.strip_prefix(' ')?.trim_start_matches(' ');
    let mut fields = Vec::new();
    loop {
        let key = token(&mut rest, &[',', ' ', '=']);
        rest = rest.strip_prefix('=')?;
        if key.is_empty() {
            return None;
        }
        fields.push((key, field(&mut rest)?));
        match rest.strip_prefix(',') {
            Some(after) => rest = after,
            None => break,
        }
    }
    let stamp = rest.trim_matches(' ');
    if !(rest.is_empty() || rest.starts_with(' ')) || measurement.is_empty() || stamp.contains(' ') {
        return None;
    }
    Some(Point { measurement, tags, fields, stamp: (!stamp.is_empty()).then_some(stamp), head })
}

/// A name or a tag's value up to one of `stops`. A backslash takes the meaning from comma, equals sign and blank, and is itself elsewhere.
fn token(rest: &mut &str, stops: &[char]) -> String {
    let mut out = String::new();
    let mut chars = rest.chars();
    while let Some(c) = chars.clone().next() {
        if stops.contains(&c) {
            break;
        }
        chars.next();
        if c == '\\' {
            match chars.clone().next() {
                Some(special @ (',' | '=' | ' ')) => {
                    out.push(special);
                    chars.next();
                    continue;
                }
                Some('\\') => {
                    out.push('\\');
                    chars.next();
                }
                _ => {}
            }
        }
        out.push(c);
    }
    *rest = chars.as_str();
    out
}

fn field(rest: &mut &str) -> Option<Field> {
    if let Some(text) = rest.strip_prefix('"') {
        let mut chars = text.chars();
        loop {
            match chars.next()? {
                '\\' => {
                    chars.next()?;
                }
                '"' => break,
                _ => {}
            }
        }
        *rest = chars.as_str();
        return Some(Field::Text);
    }
    let end = rest.find([',', ' ']).unwrap_or(rest.len());
    let (raw, after) = rest.split_at_checked(end)?;
    *rest = after;
    if let Some(digits) = raw.strip_suffix('i') {
        let whole: i64 = digits.parse().ok()?;
        return Some(Field::Whole(whole as f64, exact(whole.unsigned_abs())));
    }
    if let Some(digits) = raw.strip_suffix('u') {
        let whole: u64 = digits.parse().ok()?;
        return Some(Field::Whole(whole as f64, exact(whole)));
    }
    match raw {
        "t" | "T" | "true" | "True" | "TRUE" => Some(Field::Bool(true)),
        "f" | "F" | "false" | "False" | "FALSE" => Some(Field::Bool(false)),
        _ => raw.parse().ok().map(Field::Number),
    }
}

/// A float of 64 bits holds this whole number.
fn exact(whole: u64) -> bool {
    whole == 0 || 64 - whole.leading_zeros() - whole.trailing_zeros() <= 53
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_suffixes_and_types() {
        let p = point(r#"my\ m\,x,a\=b=c\ d\,e\=f,w=C:\dir\\ v=1.5,i=-3i,u=9007199254740993u,b=t,s="x, \" y=1" 17"#).unwrap();
        assert_eq!(p.measurement, "my m,x");
        assert_eq!(p.tags, [("a=b".to_string(), "c d,e=f".to_string()), ("w".into(), r"C:\dir\\".into())]);
        let fields: Vec<_> = p.fields.iter().map(|(k, v)| (k.as_str(), *v)).collect();
        let want = [
            ("v", Field::Number(1.5)),
            ("i", Field::Whole(-3.0, true)),
            ("u", Field::Whole(9_007_199_254_740_992.0, false)),
            ("b", Field::Bool(true)),
            ("s", Field::Text),
        ];
        assert_eq!(fields, want);
        assert_eq!(p.stamp, Some("17"));
        assert_eq!(point("m v=1").unwrap().stamp, None);
        assert_eq!(point("m 0.1=1,+Inf=2 5").unwrap().fields[1].0, "+Inf");
    }

    #[test]
    fn other_text_is_no_line_protocol() {
        for bad in [
            "",
            "m",
            "m 1",
            "m 1 17",
            r#"up{instance="a"} 1 17"#,
            "level=info msg=hello",
            "m,=x v=1 1",
            "m,a v=1 1",
            "m v= 1",
            "m v=1 1 1",
            "m v=\"x 1",
            ",a=b v=1 1",
            "2026-11-29 18:00:00 INFO x=1",
        ] {
            assert_eq!(point(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken_apart_or_refused(text in r#"[a,= \\"1i.µ-]{0,40}"#) {
            if let Some(p) = point(&text) {
                prop_assert!(!p.fields.is_empty());
                prop_assert!(text.trim_start().starts_with(p.head));
            }
        }
    }
}
