//! The name and labels of a line: checked once where they stand, taken apart only when asked.

use std::borrow::Cow;

use super::{Fault, blank};

/// Name and labels as they stand in the line. The text is the same in every scrape, so that it serves as a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series<'a> {
    text: &'a str,
    /// The bare name; empty where it stands quoted among the labels.
    bare: &'a str,
    pairs: Pairs<'a>,
}

/// Labels as they stand in the line, from `{` to `}`; empty for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairs<'a>(&'a str);

/// What stands between two commas.
enum Item<'a> {
    /// A name in quotes without a value: that of the metric.
    Name(&'a str),
    Pair(Raw<'a>, &'a str),
    End,
}

/// A label's name.
#[derive(Clone, Copy)]
enum Raw<'a> {
    Bare(&'a str),
    Quoted(&'a str),
}

impl<'a> Series<'a> {
    /// Reads name and labels from the start of a line; gives what follows them.
    pub(super) fn read(line: &'a str) -> Result<(Series<'a>, &'a str), Fault> {
        let bare = bare_name(line, true);
        let rest = line.get(bare.len()..).unwrap_or_default();
        let labels = rest.trim_start_matches(blank);
        if !labels.starts_with('{') {
            if bare.is_empty() {
                return Err(if line.starts_with('"') { Fault::NameCharacter } else { Fault::NoName });
            }
            if labels.len() == rest.len() && !rest.is_empty() {
                return Err(Fault::NameCharacter);
            }
            return Ok((Series { text: bare, bare, pairs: Pairs("") }, rest));
        }
        let (pairs, quoted, after) = walk(labels)?;
        if bare.is_empty() && !quoted {
            return Err(Fault::NoName);
        }
        if !bare.is_empty() && quoted {
            return Err(Fault::TwoNames);
        }
        let text = line.get(..line.len() - after.len()).unwrap_or_default();
        Ok((Series { text, bare, pairs }, after))
    }

    /// As in the line.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The name.
    pub fn name(&self) -> Cow<'a, str> {
        if !self.bare.is_empty() {
            return Cow::Borrowed(self.bare);
        }
        let mut rest = self.pairs.inside();
        while let Ok((item, after)) = item(rest) {
            match item {
                Item::Name(name) => return unescape(name, true),
                Item::Pair(..) => rest = after,
                Item::End => break,
            }
        }
        Cow::Borrowed("")
    }

    /// The labels.
    pub fn labels(&self) -> Pairs<'a> {
        self.pairs
    }
}

impl<'a> Pairs<'a> {
    /// Reads labels that belong to no name.
    pub(super) fn read(text: &'a str) -> Result<(Pairs<'a>, &'a str), Fault> {
        if !text.starts_with('{') {
            return Err(Fault::Exemplar);
        }
        match walk(text)? {
            (pairs, false, rest) => Ok((pairs, rest)),
            _ => Err(Fault::LabelValue),
        }
    }

    /// Names and values, unescaped, in the order of the line. An empty value means that the label is absent.
    pub fn iter(&self) -> impl Iterator<Item = (Cow<'a, str>, Cow<'a, str>)> + use<'a> {
        let mut rest = self.inside();
        std::iter::from_fn(move || {
            loop {
                let (item, after) = item(rest).ok()?;
                rest = after;
                match item {
                    Item::Pair(name, value) => return Some((name.text(), unescape(value, true))),
                    Item::Name(_) => {}
                    Item::End => return None,
                }
            }
        })
    }

    fn inside(&self) -> &'a str {
        self.0.strip_prefix('{').unwrap_or("}")
    }
}

impl<'a> Raw<'a> {
    fn text(self) -> Cow<'a, str> {
        match self {
            Raw::Bare(name) => Cow::Borrowed(name),
            Raw::Quoted(name) => unescape(name, true),
        }
    }
}

/// Checks the labels at the start of a text; says whether a name stands among them, and what follows.
fn walk(text: &str) -> Result<(Pairs<'_>, bool, &str), Fault> {
    let mut rest = text.strip_prefix('{').ok_or(Fault::Unterminated)?;
    let mut named = false;
    // names of labels mostly ascend: then none is there twice
    let mut last = Cow::Borrowed("");
    let mut ascend = true;
    loop {
        let (item, after) = item(rest)?;
        rest = after;
        match item {
            Item::End => break,
            Item::Name(_) if named => return Err(Fault::TwoNames),
            Item::Name(_) => named = true,
            Item::Pair(name, _) => {
                let name = name.text();
                if name == "__name__" {
                    return Err(Fault::TwoNames);
                }
                ascend &= last < name;
                last = name;
            }
        }
    }
    let pairs = Pairs(text.get(..text.len() - rest.len()).unwrap_or_default());
    if !ascend {
        let mut names: Vec<_> = pairs.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        if names.windows(2).any(|w| w.first() == w.last()) {
            return Err(Fault::LabelTwice);
        }
    }
    Ok((pairs, named, rest))
}

/// One label, with the comma behind it, or the end.
fn item(text: &str) -> Result<(Item<'_>, &str), Fault> {
    let text = text.trim_start_matches(blank);
    if let Some(rest) = text.strip_prefix('}') {
        return Ok((Item::End, rest));
    }
    let (name, rest) = if text.starts_with('"') {
        let (name, rest) = quoted(text)?;
        if name.is_empty() {
            return Err(Fault::LabelName);
        }
        (Raw::Quoted(name), rest.trim_start_matches(blank))
    } else {
        let name = bare_name(text, false);
        if name.is_empty() {
            return Err(if text.is_empty() { Fault::Unterminated } else { Fault::LabelName });
        }
        (Raw::Bare(name), text.get(name.len()..).unwrap_or_default().trim_start_matches(blank))
    };
    let (item, rest) = match (name, rest.strip_prefix('=')) {
        (name, Some(rest)) => {
            let rest = rest.trim_start_matches(blank);
            if !rest.starts_with('"') {
                return Err(if rest.is_empty() { Fault::Unterminated } else { Fault::LabelValue });
            }
            let (value, rest) = quoted(rest)?;
            (Item::Pair(name, value), rest.trim_start_matches(blank))
        }
        (Raw::Quoted(name), None) => (Item::Name(name), rest),
        (Raw::Bare(_), None) => return Err(if rest.is_empty() { Fault::Unterminated } else { Fault::LabelValue }),
    };
    match rest.as_bytes().first() {
        Some(b',') => Ok((item, rest.get(1..).unwrap_or_default())),
        Some(b'}') => Ok((item, rest)),
        None => Err(Fault::Unterminated),
        Some(_) => Err(Fault::LabelValue),
    }
}

/// From an opening quote to the closing one: what is between, and what follows.
fn quoted(text: &str) -> Result<(&str, &str), Fault> {
    let inner = text.strip_prefix('"').ok_or(Fault::LabelValue)?;
    let bytes = inner.as_bytes();
    let mut at = 0;
    loop {
        let found = bytes.get(at..).and_then(|b| memchr::memchr2(b'"', b'\\', b)).ok_or(Fault::Unterminated)? + at;
        if bytes.get(found) == Some(&b'"') {
            return Ok((inner.get(..found).unwrap_or_default(), inner.get(found + 1..).unwrap_or_default()));
        }
        at = found + 2;
    }
}

/// The longest name at the start of a text: ASCII letters, digits, `_`, and `:` in metrics.
fn bare_name(text: &str, colon: bool) -> &str {
    let bytes = text.as_bytes();
    let letter = |b: u8| b.is_ascii_alphabetic() || b == b'_' || (colon && b == b':');
    if !bytes.first().is_some_and(|&b| letter(b)) {
        return "";
    }
    let end = bytes.iter().position(|&b| !letter(b) && !b.is_ascii_digit()).unwrap_or(bytes.len());
    text.get(..end).unwrap_or_default()
}

/// The family of a comment, bare or quoted, and what follows.
pub(super) fn family(text: &str) -> Result<(Cow<'_, str>, &str), Fault> {
    let (family, rest) = if text.starts_with('"') {
        let (name, rest) = quoted(text).map_err(|_| Fault::Comment)?;
        (unescape(name, true), rest)
    } else {
        let name = bare_name(text, true);
        (Cow::Borrowed(name), text.get(name.len()..).unwrap_or_default())
    };
    if family.is_empty() || !(rest.is_empty() || rest.starts_with(blank)) {
        return Err(Fault::Comment);
    }
    Ok((family, rest))
}

/// `\\` and `\n`, and `\"` where quotes are escaped; another backslash stays.
pub(super) fn unescape(text: &str, quotes: bool) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'\\', text.as_bytes()) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    out.push_str(text.get(..first).unwrap_or_default());
    let mut chars = text.get(first..).unwrap_or_default().chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('\\') => out.push('\\'),
            Some('n') => out.push('\n'),
            Some('"') if quotes => out.push('"'),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    Cow::Owned(out)
}
