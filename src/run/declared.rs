//! `corr.toml`: what the people who made a run say of it.
//!
//! It stands in the run's root and is optional. What it says wins over everything that is found (docs/corr-toml.md has a template).

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use corr_evidence::compiled::Edges;
use corr_evidence::definition::Table;
use corr_parsers::clock::{self, Rule};
use corr_parsers::declared::{self, Definition};
use corr_parsers::format::{Envelope, Format};
use corr_parsers::record::Layout;
use corr_parsers::{ENVELOPES, FORMATS};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::Options;
use super::formats::{Formats, Text};
use super::source::is_named;

/// Roles that an owner may have.
pub const ROLES: &[&str] = &["prefill", "decode", "unified", "router", "frontend", "client", "infra"];

/// Why `corr.toml` cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {error}")]
pub struct DeclaredError {
    /// File, and line where one is to blame.
    pub path: String,
    pub error: String,
}

/// The contents of `corr.toml`; empty when there is none.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    /// Hash of the file, empty when there is none: an index made under other declarations is not used.
    pub fingerprint: String,
    /// Default zone of naive sources.
    tz: Option<(Rule, String)>,
    /// Exact keys and globs over keys, the most specific first: keys without wildcards, then the longer pattern.
    sources: Vec<Pattern>,
    windows: BTreeMap<String, Window>,
    formats: Formats,
    evidence: Table,
}

#[derive(Clone, Debug)]
struct Pattern {
    text: String,
    matcher: Option<globset::GlobMatcher>,
    said: Said,
}

/// What is declared of one source; every part is optional.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// Zone of its naive stamps, and the zone's name as written.
    pub tz: Option<(Rule, String)>,
    pub worker: Option<String>,
    pub role: Option<String>,
    pub host: Option<String>,
    pub unit: Option<String>,
    /// Year of its last entry, for stamps without one.
    pub year: Option<i32>,
    format: Option<String>,
    /// Outermost first.
    envelopes: Option<Vec<String>>,
}

/// A named stretch of the run; the bounds are as written, in the forms of `--since` and `--until`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    pub since: Option<String>,
    pub until: Option<String>,
    /// What happened then, for people.
    pub about: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    tz: Option<Spanned<String>>,
    #[serde(default)]
    source: BTreeMap<Spanned<String>, SourceTable>,
    #[serde(default)]
    windows: BTreeMap<String, Window>,
    #[serde(default)]
    format: Vec<Definition>,
    /// Edges, signals and instruments beside the built-in ones.
    evidence: Option<Spanned<Table>>,
}

/// `envelope = "cri"`, or nested ones, outermost first: `envelope = ["cri", "srun"]`.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    fn list(self) -> Vec<String> {
        match self {
            OneOrMore::One(name) => vec![name],
            OneOrMore::More(names) => names,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceTable {
    tz: Option<Spanned<String>>,
    format: Option<Spanned<String>>,
    envelope: Option<Spanned<OneOrMore>>,
    worker: Option<String>,
    role: Option<Spanned<String>>,
    host: Option<String>,
    unit: Option<String>,
    year: Option<Spanned<i32>>,
}

impl Declared {
    /// Reads `corr.toml` in a run's root, and the formats that the user declared for all runs. No file is no error; one that cannot be read or
    /// understood is. `None`: a run without a root, such as standard input.
    pub fn read(root: Option<&Path>) -> Result<Declared, DeclaredError> {
        let path = root.map(|root| root.join("corr.toml"));
        let text = match path.as_deref().map(std::fs::read_to_string) {
            Some(Ok(text)) => text,
            None => String::new(),
            Some(Err(e)) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => String::new(),
            Some(Err(e)) => {
                let path = path.unwrap_or_default().display().to_string();
                return Err(DeclaredError { path, error: format!("{e}; correct or remove it") });
            }
        };
        let mut declared = Declared::parse_with(&text, &path.unwrap_or_default().display().to_string(), Formats::with_users)?;
        if !text.is_empty() {
            declared.fingerprint = blake3::hash(text.as_bytes()).to_hex().to_string();
        }
        if !declared.formats.fingerprint.is_empty() {
            declared.fingerprint = format!("{} {}", declared.fingerprint, declared.formats.fingerprint);
        }
        Ok(declared)
    }

    /// Reads the text of a `corr.toml`; `name` stands in errors.
    pub fn parse(text: &str, name: &str) -> Result<Declared, DeclaredError> {
        Declared::parse_with(text, name, Ok)
    }

    /// `more` adds the formats that are not the run's own.
    fn parse_with(text: &str, name: &str, more: impl FnOnce(Formats) -> Result<Formats, DeclaredError>) -> Result<Declared, DeclaredError> {
        let at = |offset: usize, error: String| DeclaredError { path: format!("{name}:{}", line_of(text, offset)), error };
        let file: File = toml::from_str(text).map_err(|e| {
            let error = e.message().to_string();
            match e.span() {
                Some(span) => at(span.start, error),
                None => DeclaredError { path: name.into(), error },
            }
        })?;
        let zone = |tz: Option<Spanned<String>>| match tz {
            None => Ok(None),
            Some(tz) => match clock::read_rule(tz.get_ref()) {
                Some(rule) => Ok(Some((rule, tz.get_ref().clone()))),
                None => Err(at(tz.span().start, bad_zone(tz.get_ref()))),
            },
        };
        let mut formats = Formats::default();
        formats.add(file.format.into_iter().enumerate().collect(), Text { path: name, text })?;
        let formats = more(formats)?;
        if let Some(evidence) = &file.evidence {
            fits(evidence.get_ref(), formats.all()).map_err(|error| at(evidence.span().start, error))?;
        }
        let evidence = file.evidence.map(Spanned::into_inner).unwrap_or_default();
        let windows = file.windows;
        let mut declared = Declared { fingerprint: String::new(), tz: zone(file.tz)?, sources: Vec::new(), windows, formats, evidence };
        for (pattern, table) in file.source {
            let matcher = matcher(pattern.get_ref()).map_err(|error| at(pattern.span().start, error))?;
            if let Some(format) = &table.format {
                find_formats(format.get_ref(), declared.formats.all()).map_err(|error| at(format.span().start, error))?;
            }
            let envelopes = match table.envelope {
                None => None,
                Some(envelope) => {
                    let start = envelope.span().start;
                    let names = envelope.into_inner().list();
                    find_envelopes(names.iter().map(String::as_str)).map_err(|error| at(start, error))?;
                    Some(names)
                }
            };
            let role = match table.role {
                None => None,
                Some(role) => Some(role_named(role.get_ref()).map_err(|error| at(role.span().start, error))?),
            };
            let year = match table.year {
                Some(year) if !(1970..=2261).contains(year.get_ref()) => {
                    return Err(at(year.span().start, format!("year {} is not between 1970 and 2261", year.get_ref())));
                }
                year => year.map(Spanned::into_inner),
            };
            let said = Said {
                tz: zone(table.tz)?,
                worker: table.worker,
                role,
                host: table.host,
                unit: table.unit,
                year,
                format: table.format.map(Spanned::into_inner),
                envelopes,
            };
            declared.sources.push(Pattern { text: pattern.into_inner(), matcher, said });
        }
        declared.sources.sort_by(|a, b| {
            let order = a.matcher.is_some().cmp(&b.matcher.is_some());
            order.then_with(|| b.text.len().cmp(&a.text.len())).then_with(|| a.text.cmp(&b.text))
        });
        Ok(declared)
    }

    /// Default zone of naive sources, with its name as written.
    pub fn tz(&self) -> Option<&(Rule, String)> {
        self.tz.as_ref()
    }

    /// What is declared of a source, part by part from the most specific pattern that has the part.
    pub fn source(&self, key: &str) -> Said {
        let mut all = Said::default();
        for Pattern { said, .. } in self.sources.iter().filter(|p| p.is(key)) {
            let said = said.clone();
            all.tz = all.tz.or(said.tz);
            all.worker = all.worker.or(said.worker);
            all.role = all.role.or(said.role);
            all.host = all.host.or(said.host);
            all.unit = all.unit.or(said.unit);
            all.year = all.year.or(said.year);
            all.format = all.format.or(said.format);
            all.envelopes = all.envelopes.or(said.envelopes);
        }
        all
    }

    /// The patterns that no source of the run matches: probably misspelled.
    pub fn unmatched<'a>(&'a self, keys: &[&str]) -> Vec<&'a str> {
        let idle = |p: &&Pattern| !keys.iter().any(|key| p.is(key));
        self.sources.iter().filter(idle).map(|p| p.text.as_str()).collect()
    }

    /// What is added to the table of edges.
    pub fn evidence(&self) -> &Table {
        &self.evidence
    }

    /// The formats that users declared, in the order in which their heads are tried.
    pub fn formats(&self) -> &[&'static Format] {
        self.formats.all()
    }

    /// Windows alone.
    #[cfg(feature = "cluster")]
    pub fn of_windows(windows: BTreeMap<String, Window>) -> Declared {
        Declared { windows, ..Declared::default() }
    }

    /// A named window.
    pub fn window(&self, name: &str) -> Option<&Window> {
        self.windows.get(name)
    }

    /// All windows, by name.
    pub fn windows(&self) -> impl Iterator<Item = (&str, &Window)> {
        self.windows.iter().map(|(name, window)| (name.as_str(), window))
    }

    /// What `--format-of` forces, in the order given. An error says what is wrong with an option: a name that there is not, or a source that is
    /// none of `files` (key and name as printed).
    pub fn forced<'o>(&self, options: &'o Options, files: &[(&str, &str)]) -> Result<Vec<Forced<'o>>, String> {
        let mut all = Vec::new();
        for option in &options.format_of {
            let wrong = |error: String| format!("--format-of {option}: {error}");
            let (pattern, names) =
                option.rsplit_once('=').ok_or_else(|| wrong("write it as SOURCE=FORMAT or SOURCE=ENVELOPE+FORMAT".into()))?;
            let layout = layout_named(names.trim(), self.formats.all()).map_err(wrong)?;
            let forced = Forced { pattern, matcher: matcher(pattern).map_err(wrong)?, layout };
            if !files.iter().any(|(key, name)| forced.is(key, name)) {
                let keys: Vec<&str> = files.iter().map(|(key, _)| *key).collect();
                let near = did_you_mean(pattern, &keys).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                return Err(wrong(format!("no source is called `{pattern}`{near}")));
            }
            all.push(forced);
        }
        Ok(all)
    }

    /// The layout that the last of `forced` that names this source, or `corr.toml`, forces on it.
    pub fn forced_layout(&self, key: &str, name: &str, forced: &[Forced<'_>]) -> Result<Option<Layout>, String> {
        if let Some(last) = forced.iter().rev().find(|f| f.is(key, name)) {
            return Ok(Some(last.layout.clone()));
        }
        let said = self.source(key);
        if said.format.is_none() && said.envelopes.is_none() {
            return Ok(None);
        }
        let envelopes = find_envelopes(said.envelopes.iter().flatten().map(String::as_str))?;
        let formats = match said.format.as_deref() {
            None => declared::ordered(FORMATS.to_vec(), self.formats.all()),
            Some(names) => find_formats(names, self.formats.all())?,
        };
        Ok(Some(Layout { envelopes, formats, document: false }))
    }
}

/// One `--format-of SOURCE=FORMAT`.
#[derive(Debug)]
pub struct Forced<'o> {
    pattern: &'o str,
    matcher: Option<globset::GlobMatcher>,
    layout: Layout,
}

impl Forced<'_> {
    /// Sources are named by their keys, by globs over these, or as they are printed.
    fn is(&self, key: &str, name: &str) -> bool {
        is_named(self.pattern, key, name) || self.matcher.as_ref().is_some_and(|m| m.is_match(key))
    }
}

impl Pattern {
    fn is(&self, key: &str) -> bool {
        self.text == key || self.matcher.as_ref().is_some_and(|m| m.is_match(key))
    }
}

/// Does a key or a glob over keys (`*` also crosses `/`) name this source?
pub fn matches_key(pattern: &str, key: &str) -> Result<bool, String> {
    Ok(pattern == key || matcher(pattern)?.is_some_and(|m| m.is_match(key)))
}

/// `None` for a pattern without wildcards.
fn matcher(pattern: &str) -> Result<Option<globset::GlobMatcher>, String> {
    if !pattern.contains(['*', '?', '[', '{']) {
        return Ok(None);
    }
    let glob = globset::Glob::new(pattern).map_err(|e| format!("bad glob pattern `{pattern}`: {}", e.kind()))?;
    Ok(Some(glob.compile_matcher()))
}

/// What to say of a zone that cannot be read.
pub fn bad_zone(text: &str) -> String {
    let mut error = format!("`{text}` is no time zone; write `UTC`, an offset such as `+08:00`, or a name such as `America/New_York`");
    let names = corr_parsers::clock::names();
    if let Some(near) = did_you_mean(text, &names.iter().map(String::as_str).collect::<Vec<_>>()) {
        error.push_str(&format!("; did you mean `{near}`?"));
    }
    error
}

/// `FORMAT`, `FORMAT,FORMAT`, `ENVELOPE`, `ENVELOPE+FORMAT`, or with nested envelopes `ENVELOPE>ENVELOPE+FORMAT`. A format alone means a bare
/// file; an envelope alone, any payload.
fn layout_named(names: &str, user: &[&'static Format]) -> Result<Layout, String> {
    let nested = |names: &str| find_envelopes(names.split('>').map(str::trim));
    if let Some((envelopes, formats)) = names.split_once('+') {
        return Ok(Layout { envelopes: nested(envelopes)?, formats: find_formats(formats.trim(), user)?, document: false });
    }
    if names.contains('>') || ENVELOPES.iter().any(|e| e.name == names) {
        return Ok(Layout { envelopes: nested(names)?, formats: declared::ordered(FORMATS.to_vec(), user), document: false });
    }
    Ok(Layout { envelopes: Vec::new(), formats: find_formats(names, user)?, document: false })
}

fn find_envelopes<'n>(names: impl Iterator<Item = &'n str>) -> Result<Vec<&'static Envelope>, String> {
    names.map(find_envelope).collect()
}

fn find_envelope(name: &str) -> Result<&'static Envelope, String> {
    let names: Vec<&str> = ENVELOPES.iter().map(|e| e.name).collect();
    ENVELOPES.iter().find(|e| e.name == name).copied().ok_or_else(|| unknown("envelope", name, &names))
}

/// Whether additions to the table of edges fit it, and name kinds that there are.
fn fits(added: &Table, user: &[&'static Format]) -> Result<(), String> {
    let kinds: Vec<&str> = FORMATS.iter().chain(user).flat_map(|f| f.kinds.iter().map(|k| k.name)).collect();
    let signals = added.edges.iter().flat_map(|e| &e.signals).chain(&added.signals);
    for (signal, kind) in signals.flat_map(|s| s.kinds.iter().map(move |k| (s, k))) {
        if !kinds.contains(&kind.as_str()) {
            let near = did_you_mean(kind, &kinds).map_or(String::new(), |n| format!("; did you mean `{n}`?"));
            return Err(format!("evidence: signal `{}`: no format has the kind `{kind}`{near}", signal.id));
        }
    }
    let built_in = corr_evidence::builtin::table().map_err(|e| e.to_string())?;
    Edges::new([built_in, added.clone()]).map(|_| ()).map_err(|e| format!("evidence: {e}"))
}

fn find_formats(names: &str, user: &[&'static Format]) -> Result<Vec<&'static Format>, String> {
    let mut formats = Vec::new();
    for name in names.split(',').map(str::trim) {
        if name == "text" {
            continue;
        }
        let found = user.iter().chain(FORMATS).find(|f| f.name == name);
        formats.push(*found.ok_or_else(|| {
            let mut known: Vec<&str> = user.iter().chain(FORMATS).map(|f| f.name).collect();
            known.push("text");
            known.extend(ENVELOPES.iter().map(|e| e.name));
            unknown("format or envelope", name, &known)
        })?);
    }
    Ok(formats)
}

/// A role by its name or by the names that others give it.
fn role_named(name: &str) -> Result<String, String> {
    let name = if matches!(name, "agg" | "aggregated" | "worker") { "unified" } else { name };
    if ROLES.contains(&name) { Ok(name.into()) } else { Err(unknown("role", name, ROLES)) }
}

fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    match did_you_mean(name, known) {
        Some(near) => format!("no {what} is called `{name}`; did you mean `{near}`?"),
        None => format!("no {what} is called `{name}`; known are {}", known.join(", ")),
    }
}

/// The nearest known name, if one is near.
pub fn did_you_mean<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let mut best: Option<(f64, &str)> = None;
    for candidate in known {
        let score = strsim::jaro_winkler(&name.to_ascii_lowercase(), &candidate.to_ascii_lowercase());
        if score > 0.8 && best.is_none_or(|(s, _)| score > s) {
            best = Some((score, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// 1-based line of a byte offset.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().get(..offset.min(text.len())).unwrap_or_default();
    memchr::memchr_iter(b'\n', before).count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_pattern_wins_part_by_part() {
        let text = "tz = \"Asia/Tokyo\"\n[source.\"logs/*\"]\ntz = \"+08:00\"\nhost = \"h1\"\n[source.\"logs/a.log\"]\nrole = \"agg\"\nworker = \"w0\"\ntz = \"UTC\"\n[windows.spike]\nsince = \"start+90s\"\n";
        let declared = Declared::parse(text, "corr.toml").unwrap();
        let a = declared.source("logs/a.log");
        assert_eq!(a.tz, Some((Rule::Fixed(0), "UTC".into())));
        assert_eq!((a.host.as_deref(), a.role.as_deref(), a.worker.as_deref()), (Some("h1"), Some("unified"), Some("w0")));
        assert_eq!(declared.source("logs/b.log").tz, Some((Rule::Fixed(28_800), "+08:00".into())));
        assert_eq!(declared.source("b.log").tz, None);
        assert_eq!(declared.tz().map(|t| t.1.as_str()), Some("Asia/Tokyo"));
        assert_eq!(declared.window("spike").and_then(|w| w.since.as_deref()), Some("start+90s"));
        assert_eq!(declared.unmatched(&["logs/b.log"]), ["logs/a.log"]);
    }

    #[test]
    fn errors_name_file_line_and_the_next_step() {
        let error = |text: &str| Declared::parse(text, "run/corr.toml").unwrap_err().to_string();
        assert!(
            error("tz = \"UTC\"\nzone = 1\n").starts_with("run/corr.toml:2: unknown field `zone`"),
            "{}",
            error("tz = \"UTC\"\nzone = 1\n")
        );
        let zone = error("\n[source.\"a.log\"]\ntz = \"America/New_Yrok\"\n");
        assert!(zone.starts_with("run/corr.toml:3: ") && zone.ends_with("did you mean `America/New_York`?"), "{zone}");
        let role = error("[source.a]\nrole = \"decoder\"");
        assert_eq!(role, "run/corr.toml:2: no role is called `decoder`; did you mean `decode`?");
        assert!(error("[source.a\n").starts_with("run/corr.toml:1: "));
        assert!(error("[source.a]\nyear = 12\n").starts_with("run/corr.toml:2: year 12"));
    }

    #[test]
    fn nested_envelopes_are_named_outermost_first() {
        let text = "[source.\"a\"]\nenvelope = [\"journald-json\", \"journald-short\"]\n[source.\"b\"]\nenvelope = \"journald-short\"\n";
        let declared = Declared::parse(text, "corr.toml").unwrap();
        let of = |key: &str, options: &Options| forced(&declared, key, options).unwrap().unwrap().wrapped_in();
        assert_eq!(of("a", &Options::default()).as_deref(), Some("journald-json > journald-short"));
        assert_eq!(of("b", &Options::default()).as_deref(), Some("journald-short"));
        for option in ["a=journald-json>journald-short", "a=journald-json > journald-short+sglang"] {
            let options = Options { format_of: vec![option.into()], ..Options::default() };
            assert_eq!(of("a", &options).as_deref(), Some("journald-json > journald-short"));
        }
        let error = Declared::parse("\n[source.a]\nenvelope = [\"journald-json\", \"srum\"]\n", "corr.toml").unwrap_err().to_string();
        assert!(error.starts_with("corr.toml:3: no envelope is called `srum`"), "{error}");
    }

    #[test]
    fn an_option_forces_a_layout_and_a_misspelled_one_is_said() {
        let options = |option: &str| Options { format_of: vec![option.into()], ..Options::default() };
        let declared = Declared::default();
        let layout = forced(&declared, "logs/a.log", &options("logs/*=journald-short+systemd")).unwrap().unwrap();
        assert_eq!(layout.wrapped_in().as_deref(), Some("journald-short"));
        assert_eq!(layout.formats.iter().map(|f| f.name).collect::<Vec<_>>(), ["systemd"]);
        assert!(forced(&declared, "other", &options("a.log=text")).unwrap().is_none());
        assert!(forced(&declared, "logs/a.log", &options("./run/logs/a.log=text")).unwrap().is_some(), "as it is printed");
        for (option, says) in [
            (
                "a.log=journald-shrot",
                "--format-of a.log=journald-shrot: no format or envelope is called `journald-shrot`; did you mean `journald-short`?",
            ),
            ("a.log=cri>srum+sglang", "--format-of a.log=cri>srum+sglang: no envelope is called `srum`; did you mean `srun`?"),
            ("a.log=cri+sglnag", "--format-of a.log=cri+sglnag: no format or envelope is called `sglnag`; did you mean `sglang`?"),
            ("b.log=sglang", "--format-of b.log=sglang: no source is called `b.log`; did you mean `a.log`?"),
            ("x/*=sglang", "--format-of x/*=sglang: no source is called `x/*`"),
            ("journald-short", "--format-of journald-short: write it as SOURCE=FORMAT or SOURCE=ENVELOPE+FORMAT"),
        ] {
            assert_eq!(forced(&declared, "logs/b", &options(option)).unwrap_err(), says);
        }
    }

    #[test]
    fn every_name_of_the_tables_can_be_forced() {
        let declared = Declared::default();
        let layout = |names: &str| {
            let options = Options { format_of: vec![format!("a.log={names}")], ..Options::default() };
            forced(&declared, "a.log", &options).unwrap().unwrap()
        };
        for envelope in ENVELOPES {
            assert_eq!(layout(envelope.name).wrapped_in().as_deref(), Some(envelope.name));
            assert_eq!(layout(envelope.name).formats.len(), FORMATS.len(), "any payload");
            for format in FORMATS {
                let nested = layout(&format!("cri>{}+{},text", envelope.name, format.name));
                assert_eq!(nested.wrapped_in(), Some(format!("cri > {}", envelope.name)));
                assert_eq!(nested.formats.iter().map(|f| f.name).collect::<Vec<_>>(), [format.name]);
            }
        }
        for format in FORMATS {
            let bare = layout(format.name);
            assert_eq!((bare.wrapped_in(), bare.formats.len(), bare.formats[0].name), (None, 1, format.name));
        }
        assert!(layout("text").formats.is_empty());
    }

    /// What is forced on one of two sources.
    fn forced(declared: &Declared, key: &str, options: &Options) -> Result<Option<Layout>, String> {
        let name = format!("run/{key}");
        let all = declared.forced(options, &[(key, &name), ("a.log", "run/a.log")])?;
        declared.forced_layout(key, &name, &all)
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused_with_its_file(text in "(?s).{0,200}", key in "[a-z*{\\[.]{0,12}") {
            if let Err(e) = Declared::parse(&text, "corr.toml") {
                proptest::prop_assert!(e.to_string().starts_with("corr.toml"));
            }
            let _ = Declared::parse(&format!("[source.\"{}\"]\ntz = \"{}\"\n", key.escape_default(), text.escape_default()), "corr.toml");
            let _ = matches_key(&key, &text);
        }
    }
}
