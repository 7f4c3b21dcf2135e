//! Which series does the user mean? Selectors as in PromQL: `name`, `name{label="x",other=~"a|b"}`, `{__name__=~"sglang:.*"}`.
//!
//! A name means its series in every spelling, that of scrapers that cut `_total` from counters too, and a histogram's or summary's name all series of the family. `*` in a name stands for any
//! characters.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_while, take_while1};
use nom::character::complete::{char, multispace0};
use nom::combinator::{opt, value};
use nom::multi::separated_list0;
use nom::sequence::{delimited, preceded};
use nom::{IResult, Parser};
use regex::Regex;

use crate::known::LOG;
use crate::model::{Endpoint, Series, canonical};

/// The series that are asked for.
#[derive(Clone, Debug)]
pub struct Selector {
    /// As typed.
    pub text: String,
    name: Option<NameTest>,
    tests: Vec<Test>,
}

#[derive(Clone, Debug)]
enum NameTest {
    Is(String),
    Like(Regex),
}

#[derive(Clone, Debug)]
struct Test {
    label: String,
    negated: bool,
    value: ValueTest,
}

#[derive(Clone, Debug)]
enum ValueTest {
    Is(String),
    Like(Regex),
}

/// Why a selector cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}`: {reason}")]
pub struct SelectorError {
    pub text: String,
    /// With what to write instead.
    pub reason: String,
}

/// A target is no label of what it serves; this name asks for it where a series has no label of that name. What a capture says of a target
/// (`role`, `host`, `worker_index`, …) is asked for in the same way.
const TARGET: &str = "target";
/// The fact that names the file which an endpoint's samples come from.
const SOURCE: &str = "source";

impl Selector {
    /// Reads a selector.
    pub fn parse(text: &str) -> Result<Selector, SelectorError> {
        let error = |reason: String| SelectorError { text: text.to_string(), reason };
        let (rest, (name, tests)) =
            selector(text.trim()).map_err(|_| error("not a selector; write name, name{label=\"value\"} or {label=~\"regex\"}".into()))?;
        if !rest.trim().is_empty() {
            return Err(error(format!("not a selector from `{}` on; values stand in double quotes", rest.trim())));
        }
        if name.is_none() && tests.is_empty() {
            return Err(error("empty; name a metric, or write {label=\"value\"}".into()));
        }
        let like = |pattern: &str| Regex::new(&format!("^(?:{pattern})$")).map_err(|e| error(format!("a bad pattern: {e}")));
        let mut selector = Selector { text: text.to_string(), name: None, tests: Vec::new() };
        if let Some(name) = name {
            selector.name = Some(if name.contains('*') {
                NameTest::Like(like(&name.split('*').map(regex::escape).collect::<Vec<_>>().join(".*"))?)
            } else {
                NameTest::Is(canonical(name).into_owned())
            });
        }
        for (label, operator, operand) in tests {
            let negated = operator.starts_with('!');
            let test = if operator.ends_with('~') { ValueTest::Like(like(&operand)?) } else { ValueTest::Is(operand) };
            if label == "__name__" && !negated {
                selector.name = Some(match test {
                    ValueTest::Is(name) => NameTest::Is(canonical(&name).into_owned()),
                    ValueTest::Like(regex) => NameTest::Like(regex),
                });
            } else {
                selector.tests.push(Test { label: label.to_string(), negated, value: test });
            }
        }
        Ok(selector)
    }

    /// The name, if exactly one is asked for.
    pub fn name(&self) -> Option<&str> {
        match &self.name {
            Some(NameTest::Is(name)) => Some(name),
            _ => None,
        }
    }

    /// Does it name series that are fields of log records?
    pub fn of_log(&self) -> bool {
        match &self.name {
            Some(NameTest::Is(name)) => name.starts_with(LOG),
            Some(NameTest::Like(regex)) => regex.as_str().strip_prefix("^(?:").is_some_and(|pattern| pattern.starts_with(LOG)),
            None => false,
        }
    }

    /// Does it name this metric? Without a name it names all.
    pub fn names(&self, canonical: &str) -> bool {
        match &self.name {
            None => true,
            Some(NameTest::Is(name)) => name == canonical,
            Some(NameTest::Like(regex)) => regex.is_match(canonical),
        }
    }

    /// The one value that it allows a label, if it allows but one.
    pub fn only(&self, label: &str) -> Option<&str> {
        self.tests.iter().find_map(|test| match &test.value {
            ValueTest::Is(value) if test.label == label && !test.negated => Some(value.as_str()),
            _ => None,
        })
    }

    /// Is this series meant? `family` is the canonical name of its family, `counts` whether it is one of counters.
    pub fn matches(&self, series: &Series, endpoint: Option<&Endpoint>, family: &str, counts: bool) -> bool {
        let named = match &self.name {
            None => true,
            Some(NameTest::Is(name)) => {
                let cut = || counts && name.strip_suffix("_total") == Some(series.name.canonical());
                series.name.canonical() == name || family == name || cut()
            }
            Some(NameTest::Like(regex)) => {
                regex.is_match(series.name.canonical()) || regex.is_match(series.name.seen()) || regex.is_match(family)
            }
        };
        named && self.tests.iter().all(|test| test.holds(series, endpoint, family))
    }
}

impl Test {
    fn holds(&self, series: &Series, endpoint: Option<&Endpoint>, family: &str) -> bool {
        let is = |value: &str| match &self.value {
            ValueTest::Is(wanted) => value == wanted,
            ValueTest::Like(regex) => regex.is_match(value),
        };
        let held = match (series.labels.get(&self.label), self.label.as_str()) {
            (Some(value), "le" | "quantile") => is(value) || self.same_number(value),
            (Some(value), _) => is(value),
            (None, TARGET) => endpoint.is_some_and(|e| is(&e.name) || e.url.as_deref().is_some_and(is)),
            (None, "__name__") => is(series.name.canonical()) || is(series.name.seen()) || is(family),
            (None, label) => match endpoint.and_then(|e| e.facts.get(label)) {
                // A path is known by its last part too.
                Some(fact) => is(fact) || (label == SOURCE && fact.rsplit('/').next().is_some_and(is)),
                None => is(""),
            },
        };
        held != self.negated
    }

    fn same_number(&self, value: &str) -> bool {
        let ValueTest::Is(wanted) = &self.value else { return false };
        matches!((wanted.parse::<f64>(), value.parse::<f64>()), (Ok(a), Ok(b)) if a == b)
    }
}

type Parts<'t> = (Option<&'t str>, Vec<(&'t str, &'t str, String)>);

fn selector(text: &str) -> IResult<&str, Parts<'_>> {
    let name = opt(take_while1(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '*' | '-' | '/')));
    let tests = delimited(preceded(multispace0, char('{')), separated_list0(char(','), test), (opt(char(',')), multispace0, char('}')));
    let (rest, (name, tests)) = (name, opt(tests)).parse(text)?;
    Ok((rest, (name, tests.unwrap_or_default())))
}

fn test(text: &str) -> IResult<&str, (&str, &str, String)> {
    let label = take_while1(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'));
    let operator = alt((tag("=~"), tag("!~"), tag("!="), tag("=")));
    let (rest, (label, operator, operand)) =
        (preceded(multispace0, label), preceded(multispace0, operator), preceded(multispace0, quoted)).parse(text)?;
    Ok((rest.trim_start(), (label, operator, operand)))
}

fn quoted(text: &str) -> IResult<&str, String> {
    let raw = delimited(char('`'), take_while(|c| c != '`'), char('`'));
    alt((escaped('"'), escaped('\''), raw.map(String::from))).parse(text)
}

/// A quoted string in which a backslash escapes itself, the quote and `n`; before other characters it stays, as patterns need it.
fn escaped(quote: char) -> impl Fn(&str) -> IResult<&str, String> {
    move |text| {
        let (mut rest, ()) = value((), char(quote)).parse(text)?;
        let mut out = String::new();
        loop {
            let mut chars = rest.chars();
            match chars.next() {
                None => return char(quote).parse(rest).map(|(rest, _)| (rest, String::new())),
                Some(c) if c == quote => return Ok((chars.as_str(), out)),
                Some('\\') => match chars.next() {
                    Some(c) if c == quote || c == '\\' => out.push(c),
                    Some('n') => out.push('\n'),
                    Some(c) => out.extend(['\\', c]),
                    None => {}
                },
                Some(c) => out.push(c),
            }
            rest = chars.as_str();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EndpointId, Labels, Name, Precision, Trouble};

    fn series(name: &str, labels: &[(&str, &str)]) -> Series {
        Series {
            endpoint: EndpointId(0),
            name: Name::new(name),
            labels: Labels::new(labels.iter().copied()),
            precision: Precision::F64,
            trouble: Trouble::default(),
        }
    }

    fn matches(selector: &str, series: &Series) -> bool {
        let endpoint = Endpoint { name: "worker-0".into(), url: Some("http://h:30000/metrics".into()), ..Endpoint::default() };
        Selector::parse(selector).unwrap().matches(series, Some(&endpoint), series.name.canonical(), false)
    }

    #[test]
    fn names_and_labels() {
        let device = series("sglang_cached_tokens_total", &[("cache_source", "device"), ("model_name", "m{,}\"")]);
        for yes in [
            "sglang:cached_tokens_total",
            "sglang_cached_tokens_total",
            "sglang:cached_*",
            r#"sglang:cached_tokens_total {cache_source="device"}"#,
            r#"{__name__=~"sglang[:_]cached.*", cache_source!="host",}"#,
            r#"{cache_source=~"dev.*|host", model_name='m{,}"'}"#,
            r#"{absent="", target="worker-0"}"#,
            r#"{target=~".*:30000/.*"}"#,
            r#"{model_name="m{,}\""}"#,
            "{cache_source=`device`}",
        ] {
            assert!(matches(yes, &device), "{yes}");
        }
        for no in [
            "sglang:cached_tokens",
            r#"sglang:cached_tokens_total{cache_source="host"}"#,
            r#"{cache_source=~"dev"}"#,
            r#"{cache_source!~"d.*"}"#,
            r#"{absent!=""}"#,
            r#"{__name__!="sglang:cached_tokens_total"}"#,
        ] {
            assert!(!matches(no, &device), "{no}");
        }
    }

    #[test]
    fn facts_of_the_target_are_asked_like_labels() {
        let series = series("log:token_usage", &[("kind", "decode_batch")]);
        let facts = [("role", "decode"), ("source", "logs/d0.log")].map(|(k, v)| (k.to_string(), v.to_string()));
        let endpoint = Endpoint { name: "d0".into(), facts: facts.into(), ..Endpoint::default() };
        let is = |text: &str| Selector::parse(text).unwrap().matches(&series, Some(&endpoint), "log:token_usage", false);
        for yes in [r#"{role="decode"}"#, r#"{source="d0.log"}"#, r#"{source="logs/d0.log",kind="decode_batch"}"#, r#"{role!="prefill"}"#] {
            assert!(is(yes), "{yes}");
        }
        assert!(!is(r#"{role=""}"#));
        assert!(!is(r#"{source="0.log"}"#));
    }

    #[test]
    fn log_fields_are_told_by_their_names() {
        let of_log = |text: &str| Selector::parse(text).unwrap().of_log();
        assert!(of_log("log:token_usage") && of_log("log:*_usage{worker=\"a\"}") && of_log("{__name__=~\"log:.*\"}"));
        assert!(!of_log("sglang:token_usage") && !of_log("{worker=\"a\"}"));
        let selector = Selector::parse(r#"log:token_usage{worker="a",kind=~"p|d",role!="x"}"#).unwrap();
        assert_eq!((selector.only("worker"), selector.only("kind"), selector.only("role")), (Some("a"), None, None));
        assert!(selector.names("log:token_usage") && !selector.names("log:token_usage2"));
    }

    #[test]
    fn bounds_are_numbers() {
        assert!(matches(r#"x_bucket{le="1.0"}"#, &series("x_bucket", &[("le", "1")])));
    }

    #[test]
    fn a_family_is_all_its_series() {
        let bucket = series("sglang:time_to_first_token_seconds_bucket", &[("le", "1")]);
        let selector = Selector::parse("sglang:time_to_first_token_seconds").unwrap();
        assert!(selector.matches(&bucket, None, "sglang:time_to_first_token_seconds", false));
    }

    #[test]
    fn a_counter_is_found_under_its_name_without_total() {
        let selector = Selector::parse("sglang:cached_tokens_total").unwrap();
        let cut = series("sglang:cached_tokens", &[]);
        assert!(selector.matches(&cut, None, "sglang:cached_tokens", true));
        assert!(!selector.matches(&cut, None, "sglang:cached_tokens", false), "a gauge of that name is another metric");
    }

    #[test]
    fn what_is_no_selector_is_said() {
        for (text, words) in [
            ("", "empty"),
            ("x{a=b}", "double quotes"),
            ("x{a=~\"(\"}", "bad pattern"),
            ("rate(x[5m])", "from `(x[5m])` on"),
            ("x{a=\"b", "double quotes"),
        ] {
            let error = Selector::parse(text).unwrap_err();
            assert!(error.reason.contains(words), "{text}: {error}");
        }
    }
}
