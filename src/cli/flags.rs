//! Flags that several commands have, each said once.

use std::path::PathBuf;

use anyhow::Context as _;
use corr_metrics::select::Selector;

use crate::query::window;
use crate::run::Options;

/// The runs that are read together.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Runs {
    /// Run directory, file, glob in quotes, or `-` for standard input.
    #[arg(value_name = "RUN")]
    pub run: String,
    /// A further run directory, file or glob, read together with RUN.
    #[arg(long = "also", value_name = "RUN")]
    pub also: Vec<String>,
}

impl Runs {
    /// All of them, RUN first.
    pub fn all(&self) -> Vec<String> {
        std::iter::once(&self.run).chain(&self.also).cloned().collect()
    }

    /// All of them, for a reader.
    pub fn words(&self) -> String {
        self.all().join(" ")
    }
}

/// How the files of a run are read.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Reading {
    /// Where the index is kept.
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Zone of stamps that name none, and of civil times on the command line: ZONE, or SOURCE=ZONE for some sources (a key or a glob over keys).
    #[arg(long, value_name = "[SOURCE=]ZONE")]
    pub tz: Vec<String>,
    /// Read a source as this format: SOURCE=FORMAT, SOURCE=ENVELOPE+FORMAT, or SOURCE=OUTER>INNER+FORMAT.
    #[arg(long, value_name = "SOURCE=FORMAT")]
    pub format_of: Vec<String>,
}

impl Reading {
    pub fn options(&self) -> Options {
        Options { tz: self.tz.clone(), format_of: self.format_of.clone() }
    }
}

/// A window of time.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Window {
    /// Start of the window: only what may lie at or after it.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub since: Option<String>,
    /// End of the window: only what may lie before it.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub until: Option<String>,
    /// A window that corr.toml declares or the run's records name (warmup, measured, benchmark, teardown, ready:UNIT#N, outage:UNIT#N), or `common`: what
    /// all that is asked covers, logs and captures with series that are asked for.
    #[arg(long, value_name = "NAME")]
    pub window: Option<String>,
}

impl Window {
    pub fn flags(&self) -> window::Flags<'_> {
        let Window { since, until, window } = self;
        window::Flags { since: since.as_deref(), until: until.as_deref(), window: window.as_deref(), around: None, span: "" }
    }

    /// None of them was given.
    pub fn is_empty(&self) -> bool {
        self.since.is_none() && self.until.is_none() && self.window.is_none()
    }
}

/// A window around an event.
#[derive(clap::Args, Clone, Debug)]
pub struct Around {
    /// The time around one event, by its locator as corr prints it (`path:line`), or around the stretch of a citation of --metrics; `±2s` behind it is its
    /// --span.
    #[arg(long, value_name = "LOCATOR", conflicts_with_all = ["since", "until", "window"])]
    pub around: Option<String>,
    /// How long before and after the event of --around.
    #[arg(long, value_name = "DURATION", default_value = "30s", requires = "around")]
    pub span: String,
}

impl Around {
    /// The flags of a window, with this one.
    pub fn flags<'a>(&'a self, window: &'a Window) -> window::Flags<'a> {
        window::Flags { around: self.around.as_deref(), span: &self.span, ..window.flags() }
    }
}

/// Whose requests are asked about.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Scope {
    /// Only the requests of a session.
    #[arg(long, value_name = "ID", conflicts_with = "request")]
    pub session: Option<String>,
    /// Only one request, by any of its ids.
    #[arg(long, value_name = "ID")]
    pub request: Option<String>,
}

impl Scope {
    /// Neither was given.
    pub fn is_empty(&self) -> bool {
        self.session.is_none() && self.request.is_none()
    }
}

/// A cluster that is asked instead of this machine.
#[derive(clap::Args, Clone, Debug)]
pub struct Cluster {
    /// Ask the cluster of this scheduler; RUN is then a folder or `s3://BUCKET/PREFIX` of shards, which `corr index --shards` writes.
    #[arg(long, value_name = "df://HOST:PORT")]
    pub cluster: Option<String>,
    /// How long a cluster may give no sign of an answer.
    #[arg(long, value_name = "DURATION", default_value = PATIENCE, requires = "cluster")]
    pub patience: String,
}

const PATIENCE: &str = "300s";

impl Default for Cluster {
    fn default() -> Cluster {
        Cluster { cluster: None, patience: PATIENCE.into() }
    }
}

#[cfg(feature = "cluster")]
impl Cluster {
    /// An engine whose questions are answered there.
    pub fn connect(&self, scheduler: &str) -> anyhow::Result<corr_sql::Engine> {
        let ns = crate::query::timespec::parse_duration(&self.patience).and_then(|ns| u64::try_from(ns).ok()).filter(|ns| *ns > 0);
        let ns = ns.with_context(|| format!("--patience {}: not a duration; write 300s or 1h", self.patience))?;
        Ok(corr_sql::cluster::connect(scheduler, super::sql::threads(), std::time::Duration::from_nanos(ns))?)
    }
}

/// Series beside events.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Series {
    /// Put series beside events: the sample before and after each, of the same worker. Selectors as in `corr metrics`, comma separated.
    #[arg(long, value_name = "SELECTORS")]
    pub metrics: Vec<String>,
    /// Say which worker an endpoint is, where nothing else shows it.
    #[arg(long, value_name = "ENDPOINT=WORKER", requires = "metrics")]
    pub map: Vec<String>,
}

/// The selectors of a flag that takes lists of them.
pub fn selectors(lists: &[String], flag: &str) -> anyhow::Result<Vec<Selector>> {
    let texts = lists.iter().flat_map(|list| split(list));
    texts.map(Selector::parse).collect::<Result<_, _>>().with_context(|| format!("--{flag}"))
}

/// Selectors between commas that stand outside braces and quotes.
fn split(list: &str) -> Vec<&str> {
    let (mut out, mut start, mut depth) = (Vec::new(), 0, 0);
    let mut quote: Option<char> = None;
    let mut escaped = false;
    for (at, c) in list.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quote = Some(c),
            (None, '{') => depth += 1,
            (None, '}') => depth -= 1,
            (None, ',') if depth <= 0 => {
                out.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    out.push(&list[start..]);
    out.retain(|part| !part.trim().is_empty());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_stand_between_commas() {
        assert_eq!(split("a,b{x=\"1,2\",y='}'},c"), ["a", "b{x=\"1,2\",y='}'}", "c"]);
        assert_eq!(split("a{x=\"\\\",\"}"), ["a{x=\"\\\",\"}"]);
        assert!(split(" , ").is_empty());
    }
}
