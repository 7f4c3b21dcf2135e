//! Credentials in any record: keys, tokens and passwords by their name, by their own shape, and in URLs.
//!
//! Formats withhold what they know; this finds the rest, whatever wrote it: an exception that prints its request, a start command with
//! `--api-key`, a line of no known program. It looks for a few triggers, so a record without any costs next to nothing.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::event::{Event, Field, Secret, Value};
use crate::search;

#[cfg(test)]
mod tests;

/// What a trigger may be the beginning or a part of.
#[derive(Clone, Copy, Debug)]
enum Sort {
    /// Part of a name whose value is a credential.
    Name,
    /// `Bearer TOKEN`
    Scheme,
    /// A value of this shape: at least so many characters of the class behind the trigger.
    Shape { least: usize, class: fn(u8) -> bool },
    /// `SCHEME://USER:PASSWORD@HOST`
    Url,
}

const ALNUM: fn(u8) -> bool = |b| b.is_ascii_alphanumeric();
const UPPER: fn(u8) -> bool = |b| b.is_ascii_uppercase() || b.is_ascii_digit();
const DASHED: fn(u8) -> bool = |b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
const DOTTED: fn(u8) -> bool = |b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');

/// Of a name they are a part that few other words have, in the spellings that are in use: `api_key`, `API_KEY`, `apiKey`, `Api-Key`. Long
/// triggers that begin alike cost more: 45 ns against 26 on a line of 123 bytes that has none.
static TRIGGERS: &[(&str, Sort)] = &[
    ("i_key", Sort::Name),
    ("i-key", Sort::Name),
    ("pikey", Sort::Name),
    ("I_KEY", Sort::Name),
    ("I-KEY", Sort::Name),
    ("PIKEY", Sort::Name),
    ("piKey", Sort::Name),
    ("i-Key", Sort::Name),
    ("I-Key", Sort::Name),
    ("I key", Sort::Name),
    ("s_key", Sort::Name),
    ("S_KEY", Sort::Name),
    ("sKey", Sort::Name),
    ("te_key", Sort::Name),
    ("passw", Sort::Name),
    ("PASSW", Sort::Name),
    ("Passw", Sort::Name),
    ("passp", Sort::Name),
    ("secre", Sort::Name),
    ("SECRE", Sort::Name),
    ("Secre", Sort::Name),
    ("ss_token", Sort::Name),
    ("ss-token", Sort::Name),
    ("th_token", Sort::Name),
    ("th-token", Sort::Name),
    ("hf_token", Sort::Name),
    ("hf-token", Sort::Name),
    ("ub_token", Sort::Name),
    ("pi_token", Sort::Name),
    ("sh_token", Sort::Name),
    ("sion_token", Sort::Name),
    ("rity_token", Sort::Name),
    ("rer_token", Sort::Name),
    ("_TOKEN", Sort::Name),
    ("-Token", Sort::Name),
    ("sToken", Sort::Name),
    ("hToken", Sort::Name),
    ("token=", Sort::Name),
    ("token\"", Sort::Name),
    ("token'", Sort::Name),
    ("ookie", Sort::Name),
    ("OOKIE", Sort::Name),
    ("sion-token", Sort::Name),
    ("rity-token", Sort::Name),
    ("srf-token", Sort::Name),
    ("ken\\", Sort::Name),
    ("uthor", Sort::Name),
    ("UTHOR", Sort::Name),
    ("earer ", Sort::Scheme),
    ("EARER ", Sort::Scheme),
    ("hf_", Sort::Shape { least: 20, class: ALNUM }),
    ("sk-", Sort::Shape { least: 20, class: DASHED }),
    ("nvapi-", Sort::Shape { least: 20, class: DASHED }),
    ("ghp_", Sort::Shape { least: 20, class: ALNUM }),
    ("github_pat_", Sort::Shape { least: 20, class: DASHED }),
    ("eyJ", Sort::Shape { least: 40, class: DOTTED }),
    ("AKIA", Sort::Shape { least: 16, class: UPPER }),
    ("ASIA", Sort::Shape { least: 16, class: UPPER }),
    ("://", Sort::Url),
];

/// How a name ends, lower case and with `_` for `-`, whose value is a credential. `cached_token`, `eos_token` and the like are none.
static NAMES: &[&str] = &[
    "api_key",
    "apikey",
    "access_key",
    "accesskey",
    "access_key_id",
    "private_key",
    "secret_key",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "access_token",
    "accesstoken",
    "auth_token",
    "authtoken",
    "hf_token",
    "hub_token",
    "api_token",
    "refresh_token",
    "session_token",
    "security_token",
    "bearer_token",
    "github_token",
    "csrf_token",
    "xsrf_token",
    "authorization",
];

static SEARCH: LazyLock<AhoCorasick> =
    LazyLock::new(|| search::for_words(MatchKind::LeftmostFirst, TRIGGERS.iter().map(|(trigger, _)| *trigger)));

/// Names longer than this are none.
const MAX_NAME: usize = 64;

/// So much of an unquoted value is looked at to decide whether it is one: a look costs the same whatever the bytes are.
const MAX_LOOK: usize = 256;

/// Values times credentials of one record that are compared.
const MAX_PAIRS: usize = 100_000;

/// The part of a URL before its host is not longer than this.
const MAX_USER: usize = 256;

/// Withholds every credential in the visible part of a record, and takes fields and ids out that repeat one.
///
/// Periodic lines are left alone: their every word is known. Other records that are all columns may have one as a value, such as a path.
pub fn scrub<'a>(payload: &'a [u8], event: &mut Event<'a>) {
    if event.keyed || (event.columnar && !event.fields.iter().any(|field| may_hold(&field.value))) {
        return;
    }
    let found = if event.withheld.is_empty() && event.plain.is_empty() { find(payload) } else { find_beside(payload, event) };
    if found.is_empty() {
        return;
    }
    take_out(payload, &found, event);
    event.columnar = false;
    for span in found {
        event.withhold(span, Secret::Credential, "credential");
    }
}

/// Could a value be or hold a credential? Of a record that is all columns nothing else can.
fn may_hold(value: &Value<'_>) -> bool {
    matches!(value, Value::Str(text) if text.len() >= 8 && SEARCH.is_match(text.as_bytes()))
}

/// The spans of `bytes` that hold a credential: the value without its quotes, in order, none empty, none overlapping.
pub fn find(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    find_in(bytes, 0..bytes.len(), &mut found);
    found
}

/// The same outside of what is withheld already, or known to hold none; a credential that is partly so gives its other parts.
fn find_beside(payload: &[u8], event: &Event<'_>) -> Vec<Range<usize>> {
    let mut hidden: Vec<Range<usize>> = event.withheld.iter().map(|w| w.span.clone()).chain(event.plain.iter().cloned()).collect();
    hidden.sort_by_key(|span| span.start);
    let mut found = Vec::new();
    let mut at = 0;
    for span in hidden.iter().chain(std::iter::once(&(payload.len()..payload.len()))) {
        if at < span.start {
            find_in(payload, at..span.start.min(payload.len()), &mut found);
        }
        at = at.max(span.end);
    }
    let mut outside = Vec::new();
    let mut next = 0;
    for mut span in found {
        while hidden.get(next).is_some_and(|h| h.end <= span.start) {
            next += 1;
        }
        for hidden in &hidden[next..] {
            if hidden.start >= span.end || span.is_empty() {
                break;
            }
            if span.start < hidden.start {
                outside.push(span.start..hidden.start);
            }
            span.start = span.start.max(hidden.end).min(span.end);
        }
        if !span.is_empty() {
            outside.push(span);
        }
    }
    outside
}

/// Looks for triggers in `range`; the values may end behind it.
fn find_in(bytes: &[u8], range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let mut at = range.start.max(found.last().map_or(0, |span| span.end));
    while at < range.end {
        let Some(hit) = SEARCH.find(&bytes[at..range.end]) else { return };
        let (start, end) = (at + hit.start(), at + hit.end());
        at = end;
        let span = match TRIGGERS[hit.pattern().as_usize()].1 {
            Sort::Name => named(bytes, start, end),
            Sort::Scheme => bearer(bytes, end),
            Sort::Shape { least, class } => shaped(bytes, start, end, least, class),
            Sort::Url => user(bytes, end),
        };
        if let Some(span) = span
            && !span.is_empty()
            && found.last().is_none_or(|last| last.end <= span.start)
        {
            at = at.max(span.end);
            found.push(span);
        }
    }
}

/// The value of the name that holds the trigger `start..end`.
fn named(bytes: &[u8], start: usize, end: usize) -> Option<Range<usize>> {
    let before = bytes[..start].iter().rev().take(MAX_NAME).take_while(|b| DASHED(**b)).count();
    let after = bytes[start..].iter().take(MAX_NAME).take_while(|b| DASHED(**b)).count();
    let begin = start - before;
    let mut name_end = start + after;
    if &bytes[start..end] == b"I key" {
        name_end = end;
    }
    let sort = name_sort(&bytes[begin..name_end])?;
    let flag = bytes[begin..].starts_with(b"--") && name_end > begin + 2;
    let rest = Scan { bytes, at: name_end };
    let value = match sort {
        NameSort::Cookie => rest.value_or_dict(flag)?,
        _ => rest.value(flag)?,
    };
    let text = &bytes[value.span.clone()];
    if is_nothing(text) {
        return None;
    }
    let certain = match sort {
        NameSort::Credential => value.separated,
        NameSort::Authorization => {
            return if value.separated { authorization(bytes, value) } else { None };
        }
        NameSort::Cookie => return cookie(bytes, value),
        NameSort::Token => false,
    };
    // Behind a mere blank stands prose more often than a value; behind `token` alone, a word.
    let least = if matches!(sort, NameSort::Token) { 16 } else { 8 };
    if !certain && !(text.len() >= least && looks_random(text) && (value.separated || !matches!(sort, NameSort::Token))) {
        return None;
    }
    Some(if value.quoted { value.span } else { value.span.start..value_end(bytes, value.span.end) })
}

/// The end of an unquoted value that is known up to `at`.
fn value_end(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take_while(|b| !ends_value(**b)).count()
}

#[derive(Clone, Copy, Debug)]
enum NameSort {
    Credential,
    Authorization,
    /// Pairs, which go on behind a `;`.
    Cookie,
    /// `token` alone, which also names words of a vocabulary.
    Token,
}

fn name_sort(name: &[u8]) -> Option<NameSort> {
    let mut lower = [0u8; 2 * MAX_NAME];
    let lower = &mut lower[..name.len().min(2 * MAX_NAME)];
    for (into, b) in lower.iter_mut().zip(name) {
        *into = if matches!(b, b'-' | b' ') { b'_' } else { b.to_ascii_lowercase() };
    }
    let trimmed = lower.trim_ascii();
    let core = &trimmed[trimmed.iter().take_while(|b| **b == b'_').count()..];
    if core == b"token" {
        return Some(NameSort::Token);
    }
    if core.ends_with(b"cookie") || core.ends_with(b"cookies") {
        return Some(NameSort::Cookie);
    }
    // A header of its own: `x-vault-token`.
    if core.starts_with(b"x_") && core.ends_with(b"_token") {
        return Some(NameSort::Credential);
    }
    if core.ends_with(b"authorization") {
        return Some(NameSort::Authorization);
    }
    NAMES.iter().any(|known| core.ends_with(known.as_bytes())).then_some(NameSort::Credential)
}

struct Found {
    span: Range<usize>,
    quoted: bool,
    /// `=`, `:` or an option's blank stood before it.
    separated: bool,
}

struct Scan<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blanks(&mut self) -> usize {
        let from = self.at;
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        self.at - from
    }

    /// A quote, which a string inside a string escapes: the bytes that close it too.
    fn quote(&mut self) -> Option<Range<usize>> {
        let from = self.at;
        let mut at = from;
        while self.bytes.get(at) == Some(&b'\\') && at < from + 8 {
            at += 1;
        }
        if !matches!(self.bytes.get(at), Some(b'"' | b'\'')) {
            return None;
        }
        self.at = at + 1;
        Some(from..at + 1)
    }

    /// The value behind a name: `NAME=VALUE`, `NAME: VALUE`, `"NAME": "VALUE"`, `--NAME VALUE`, `NAME VALUE`.
    fn value(mut self, flag: bool) -> Option<Found> {
        let name_quoted = self.quote().is_some();
        // Bytes keys: `(b'authorization', b'Bearer …')`.
        let tuple = name_quoted && self.peek() == Some(b',');
        let blanks = self.blanks();
        let separated = match self.peek()? {
            b'=' | b':' => {
                self.at += 1;
                if matches!(self.peek(), Some(b'>' | b'=')) && self.bytes[self.at - 1] == b'=' {
                    self.at += 1;
                } else if self.peek() == Some(b':') {
                    return None; // A path: `secret::find`.
                }
                true
            }
            b',' if tuple => {
                self.at += 1;
                true
            }
            _ if blanks == 0 => return None,
            // `['--api-key', 'VALUE']` comes by the tuple.
            _ => flag,
        };
        self.blanks();
        self.wrapped();
        if self.peek() == Some(b'[') {
            let values = &self.bytes[self.at + 1..];
            // A list of numbers is none of strings.
            if !matches!(values.first(), Some(b'\'' | b'"' | b'\\')) {
                return None;
            }
            let len = memchr::memchr2(b']', b'\n', values).unwrap_or(values.len());
            return Some(Found { span: self.at + 1..self.at + 1 + len, quoted: true, separated });
        }
        if let Some(quote) = self.quote() {
            let close = &self.bytes[quote];
            let start = self.at;
            let end = start + quoted_len(&self.bytes[start..], close);
            return Some(Found { span: start..end, quoted: true, separated });
        }
        let start = self.at;
        let len = self.bytes[start..].iter().take(MAX_LOOK).take_while(|b| !ends_value(**b)).count();
        // A call or a structure.
        if len == 0 || self.bytes.get(start + len) == Some(&b'(') {
            return None;
        }
        Some(Found { span: start..start + len, quoted: false, separated })
    }

    /// The same, where a dict may be the value: `cookies={'sid': 'VALUE'}`. All of it is.
    fn value_or_dict(mut self, flag: bool) -> Option<Found> {
        let at = self.at;
        self.quote();
        self.blanks();
        if matches!(self.peek(), Some(b'=' | b':')) {
            self.at += 1;
            self.blanks();
            let dict = &self.bytes[self.at..];
            if dict.first() == Some(&b'{') {
                let len = memchr::memchr2(b'}', b'\n', dict).unwrap_or(dict.len());
                return Some(Found { span: self.at + 1..self.at + len.max(1), quoted: true, separated: true });
            }
        }
        self.at = at;
        self.value(flag)
    }

    /// Passes what may stand between the separator and the value: `b'…'`, `Some("…")`, `SecretStr('…')`.
    fn wrapped(&mut self) {
        for wrap in [&b"Some("[..], b"SecretStr(", b"b", b"r", b"(b", b"("] {
            let quote = self.bytes.get(self.at + wrap.len());
            if self.bytes[self.at.min(self.bytes.len())..].starts_with(wrap) && matches!(quote, Some(b'"' | b'\'' | b'\\')) {
                self.at += wrap.len();
                return;
            }
        }
    }
}

/// Bytes up to the closing quote, or to the end of the line where there is none. `close` is a quote, or one with a backslash: a string inside a string,
/// in which a backslash is two.
pub(crate) fn quoted_len(bytes: &[u8], close: &[u8]) -> usize {
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(close) {
            return at;
        }
        match bytes[at] {
            b'\n' => return at,
            b'\\' if close.len() == 1 => at += 2,
            b'\\' if bytes[at..].starts_with(b"\\\\") => at += if bytes.get(at + 2) == Some(&b'\\') { 4 } else { 3 },
            _ => at += 1,
        }
    }
    bytes.len()
}

fn ends_value(b: u8) -> bool {
    b.is_ascii_whitespace()
        || b.is_ascii_control()
        || matches!(b, b',' | b';' | b')' | b'(' | b']' | b'}' | b'{' | b'"' | b'\'' | b'&' | b'|')
}

/// What stands where no credential is given, or where another hand has already taken it out.
fn is_nothing(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let nothing = [&b"none"[..], b"null", b"nil", b"undefined", b"true", b"false", b"not set", b"unset", b"required", b"...", b"\\"];
    text.is_empty()
        || text.iter().all(|b| matches!(b, b'*' | b'.' | b'-'))
        || text.starts_with(b"***")
        || nothing.iter().any(|word| text.eq_ignore_ascii_case(word))
        || [&b"<redacted>"[..], b"[redacted]", b"redacted", b"<hidden>"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Letters and digits mixed, in one word: no word of a language.
fn looks_random(text: &[u8]) -> bool {
    let text = &text[..text.len().min(MAX_NAME)];
    let (mut digit, mut letter) = (false, false);
    for b in text {
        digit |= b.is_ascii_digit();
        letter |= b.is_ascii_alphabetic();
        if b.is_ascii_whitespace() {
            return false;
        }
    }
    digit && letter
}

/// `Basic dXNlcjpwYXNz`, `Bearer x`, or a bare key: the scheme stays visible.
fn authorization(bytes: &[u8], value: Found) -> Option<Range<usize>> {
    let Range { start, end } = value.span;
    let text = &bytes[start..end];
    let word = text.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let is_scheme =
        [&b"bearer"[..], b"basic", b"token", b"digest", b"apikey", b"negotiate"].iter().any(|s| text[..word].eq_ignore_ascii_case(s));
    if !is_scheme {
        return Some(start..if value.quoted { end } else { value_end(bytes, end) });
    }
    let after = start + word;
    let blanks = bytes[after..].iter().take_while(|b| **b == b' ').count();
    let from = after + blanks;
    if value.quoted {
        return Some(from.min(end)..end);
    }
    if blanks == 0 {
        return None;
    }
    let end = value_end(bytes, from);
    if is_nothing(&bytes[from..end]) { None } else { Some(from..end) }
}

/// `sid=a; theme=b; Path=/`: all the pairs. A mere number is another thing: D-Bus counts its messages in cookies.
fn cookie(bytes: &[u8], value: Found) -> Option<Range<usize>> {
    let Range { start, mut end } = value.span;
    if !value.separated {
        return None;
    }
    if value.quoted {
        return Some(start..end);
    }
    end = value_end(bytes, end);
    while bytes.get(end) == Some(&b';') {
        let blanks = bytes[end + 1..].iter().take_while(|b| **b == b' ').count();
        let pair = value_end(bytes, end + 1 + blanks);
        if pair == end + 1 + blanks {
            break;
        }
        end = pair;
    }
    if bytes[start..end].iter().all(u8::is_ascii_digit) { None } else { Some(start..end) }
}

/// The token behind `Bearer `, wherever it stands.
fn bearer(bytes: &[u8], end: usize) -> Option<Range<usize>> {
    let is_token = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~' | b'+' | b'/' | b'=');
    let len = bytes[end..].iter().take_while(|b| is_token(b)).count();
    let text = &bytes[end..end + len];
    let is_word = text.iter().all(|b| b.is_ascii_lowercase());
    let random = text.len() >= 20 || (text.len() >= 8 && !is_word);
    (random && !is_nothing(text)).then_some(end..end + len)
}

/// A token that shows what it is by its first bytes.
fn shaped(bytes: &[u8], start: usize, end: usize, least: usize, class: fn(u8) -> bool) -> Option<Range<usize>> {
    if start > 0 && DASHED(bytes[start - 1]) {
        return None;
    }
    let len = bytes[end..].iter().take_while(|b| class(**b)).count();
    let next = bytes.get(end + len).copied();
    let whole = next.is_none_or(|b| !b.is_ascii_alphanumeric());
    // A JSON web token has three parts; other base64 of JSON is none.
    let is_jwt = bytes[start..end] != *b"eyJ" || bytes[end..end + len].iter().filter(|b| **b == b'.').count() >= 2;
    (len >= least && whole && is_jwt).then_some(start..end + len)
}

/// The password of a URL, or its whole user part if that is long and random: `https://TOKEN@host`.
fn user(bytes: &[u8], end: usize) -> Option<Range<usize>> {
    let window = &bytes[end..bytes.len().min(end + MAX_USER)];
    let stop = window.iter().position(|b| matches!(b, b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'>') || b.is_ascii_whitespace());
    let authority = &window[..stop.unwrap_or(window.len())];
    let at = memchr::memrchr(b'@', authority)?;
    let user = &authority[..at];
    let from = match memchr::memchr(b':', user) {
        Some(colon) => colon + 1,
        None if user.len() >= 20 && looks_random(user) => 0,
        None => return None,
    };
    let span = end + from..end + at;
    if is_nothing(&bytes[span.clone()]) { None } else { Some(span) }
}

/// Takes fields and ids out whose value is, or holds, or is a part of one of these credentials.
fn take_out(payload: &[u8], found: &[Range<usize>], event: &mut Event<'_>) {
    let mut secrets: Vec<Cow<'_, [u8]>> = Vec::new();
    for span in found {
        let secret = &payload[span.clone()];
        secrets.push(Cow::Borrowed(secret));
        // A field may hold the value with its escapes undone.
        if secret.contains(&b'\\') {
            secrets.push(Cow::Owned(secret.iter().filter(|b| **b != b'\\').copied().collect()));
        }
    }
    secrets.sort_unstable();
    secrets.dedup();
    // Each value is held against each credential: more of both than any log has are not told apart.
    if secrets.len().saturating_mul(event.fields.len() + event.ids.len()) > MAX_PAIRS {
        event.fields.clear();
        event.ids.clear();
        event.note = Some("too many credentials: fields and ids are left out");
        return;
    }
    let is = |text: &str| secrets.iter().any(|secret| repeats(text.as_bytes(), secret));
    event.fields.retain(|Field { value, .. }| match value {
        Value::Str(text) => !is(text),
        Value::Int(number) => !is(&number.to_string()),
        Value::UInt(number) => !is(&number.to_string()),
        Value::Float(number) => !is(&number.to_string()),
        Value::Bool(_) => true,
    });
    event.ids.retain(|id| !is(&id.text));
}

/// Short values may be equal by chance, but not hold each other by more than chance.
fn repeats(value: &[u8], secret: &[u8]) -> bool {
    const TELLING: usize = 6;
    value == secret
        || (secret.len() >= TELLING && memchr::memmem::find(value, secret).is_some())
        || (value.len() >= TELLING && memchr::memmem::find(secret, value).is_some())
}
