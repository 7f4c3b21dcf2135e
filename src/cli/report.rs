//! `corr report`: a run as one HTML file.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use corr_metrics::select::Selector;

use super::note::{flags, push, window_words, words};
use super::query_metrics::split;
use super::timeline::{self, Asking, Opened};
use super::{exit, window};
use crate::evidence;
use crate::metrics::asked::Asked;
use crate::note::file;
use crate::query::extent::extent;
use crate::render;
use crate::render::evidence::shell;
use crate::render::safe::terminal;
use crate::render::shown::rfc3339;
use crate::report::{self, Ask, Base};

/// Rows of the timeline that a page holds where nothing else is asked for.
pub const ROWS: usize = 2_000;

/// Write a run, or a window of it, as one HTML file that needs no network and no script: what was read, the cache path with its verdicts, servers, timeline,
/// series, latency and cache figures, what is unprovable, and every citation with its record.
///
/// It is written in one step. Long runs are reduced, and the page says how: of a series the least and the greatest of every 300th of the axis are kept, of the
/// timeline the most telling rows. Prompts, responses, header values and credentials are withheld.
#[derive(clap::Args, Debug)]
#[command(after_long_help = "Examples:
  corr report runs/r42 -o report.html
  corr report runs/r42 --window measured -o measured.html
  corr report runs/r42 --around runs/r42/logs/decode_0.out:918 --span 2m -o crash.html
  corr report runs/r42 --series 'sglang:token_usage,log:gen_throughput' -o - > report.html

Exit codes: 0 written, 1 nothing was written (no such window, session or request), 2 wrong usage or nothing readable, 3 written, but a source could not be
read.")]
pub struct Args {
    /// Run directory, file, or glob in quotes.
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Only events that match, in the language of `corr query`; several arguments are joined by blanks.
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    /// The file to write; `-` for standard output.
    #[arg(long, short = 'o', value_name = "FILE.html")]
    pub output: PathBuf,
    /// A further run directory, file or glob, read together with RUN.
    #[arg(long = "also", value_name = "RUN")]
    pub also: Vec<String>,
    /// Start of the window.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub since: Option<String>,
    /// End of the window.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub until: Option<String>,
    /// A window that corr.toml declares or the run's records name (warmup, measured, benchmark, teardown, ready:UNIT#N, outage:UNIT#N), or `common`.
    #[arg(long, value_name = "NAME")]
    pub window: Option<String>,
    /// The time around one event, by its locator as corr prints it (`path:line`).
    #[arg(long, value_name = "LOCATOR", conflicts_with_all = ["since", "until", "window"])]
    pub around: Option<String>,
    /// How long before and after the event of --around.
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    pub span: String,
    /// Only the requests of a session.
    #[arg(long, value_name = "ID", conflicts_with = "request")]
    pub session: Option<String>,
    /// Only one request, by any of its ids.
    #[arg(long, value_name = "ID")]
    pub request: Option<String>,
    /// Series that are plotted, instead of those that say most. Selectors as in `corr metrics`, comma separated.
    #[arg(long, value_name = "SELECTORS")]
    pub series: Vec<String>,
    /// Every event a row of its own, nothing folded.
    #[arg(long)]
    pub all: bool,
    /// Rows that say when servers started, were ready, stopped and were away, and when edges were first and last proven: beside events that no query, session
    /// or request chose (auto), always, or never. They are worked out from all logs and captures.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = timeline::Marks::Auto)]
    pub marks: timeline::Marks,
    /// Rows of the timeline, marks and errors first; 0 for all, however long the page becomes.
    #[arg(long, short = 'n', value_name = "N", default_value_t = ROWS)]
    pub limit: usize,
    /// Where the index is kept.
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Zone of stamps that name none, and of civil times in --since and --until: ZONE, or SOURCE=ZONE.
    #[arg(long, value_name = "[SOURCE=]ZONE")]
    pub tz: Vec<String>,
    /// Read a source as this format: SOURCE=FORMAT, SOURCE=ENVELOPE+FORMAT, or SOURCE=OUTER>INNER+FORMAT.
    #[arg(long, value_name = "SOURCE=FORMAT")]
    pub format_of: Vec<String>,
}

impl Args {
    /// The question of a timeline that stands in the report.
    fn asking(&self) -> Asking {
        Asking {
            run: self.run.clone(),
            query: self.query.clone(),
            also: self.also.clone(),
            since: self.since.clone(),
            until: self.until.clone(),
            window: self.window.clone(),
            around: self.around.clone(),
            span: self.span.clone(),
            session: self.session.clone(),
            request: self.request.clone(),
            metrics: Vec::new(),
            map: Vec::new(),
            marks: self.marks,
            all: self.all,
            limit: if self.limit == ROWS { timeline::LIMIT } else { self.limit },
            store: self.store.clone(),
            tz: self.tz.clone(),
            format_of: self.format_of.clone(),
        }
    }
}

/// Runs the command.
pub fn run(args: &Args, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    let asking = args.asking();
    let to_stdout = args.output == Path::new("-");
    let shown = terminal(&args.output.display().to_string()).into_owned();
    let file = if to_stdout { None } else { Some(file::File::read(&args.output).with_context(|| shown.clone())?) };
    let there = file.as_ref().and_then(|f| f.bytes.as_deref()).unwrap_or_default();
    if !there.is_empty() && !there.starts_with(b"<!DOCTYPE html>") {
        bail!("{shown}: there is a file that is no page; nothing was written, name another one");
    }
    let opened = Opened::open(&asking, Some(&args.output).filter(|_| !to_stdout).map(PathBuf::as_path))?;
    let captures = evidence::captures(&opened.run, &opened.options, asking.store.as_deref())?;
    if opened.sources.sources.is_empty() && captures.captures.is_empty() {
        return timeline::nothing(&asking, err);
    }
    let scoped = opened.scope(&asking, None, now)?;
    let closed = window::closed(scoped.window, || ends(&opened, &captures))?;
    let run: Vec<&str> = [asking.run.as_str()].into_iter().chain(asking.also.iter().map(String::as_str)).collect();
    let ask = Ask {
        run: run.join(" "),
        words: words(&asking),
        query: asking.query.join(" "),
        session: asking.session.clone(),
        request: asking.request.clone(),
        window: scoped.window,
        closed,
        how: window_words(&scoped),
        series: args.series.iter().flat_map(|list| split(list)).map(Selector::parse).collect::<Result<_, _>>().context("--series")?,
        marked: asking.marked(),
        all: args.all,
        rows: args.limit,
        commands: commands(args, &asking, closed),
    };
    let base = Base { run: &opened.run, sources: &opened.sources, captures: &captures };
    let report = report::gather(base, &ask)?;
    for note in opened.sources.notes.iter().chain(&captures.notes) {
        writeln!(err, "corr: {}", terminal(note))?;
    }
    let page = render::report::page(&report);
    match file {
        None => out.write_all(page.as_bytes())?,
        Some(file) => {
            file.replace(page.as_bytes()).with_context(|| shown.clone())?;
            writeln!(err, "{shown}: written, {} bytes", super::grouped(page.len() as u64))?;
        }
    }
    for (name, why) in &report.covered.not_read {
        writeln!(err, "corr: {}: {}", terminal(name), terminal(why))?;
    }
    Ok(if report.covered.not_read.is_empty() { exit::FOUND } else { exit::PARTIAL })
}

/// First and last stamp of the events; of the captures, where there are none.
fn ends(opened: &Opened, captures: &Asked<'_>) -> (Option<i64>, Option<i64>) {
    match extent(&opened.sources.sources) {
        (None, None) => {
            let both = report::extent_of(captures);
            (both.map(|b| b.0), both.map(|b| b.1))
        }
        found => found,
    }
}

/// The commands that give each part again.
fn commands(args: &Args, asking: &Asking, closed: Option<(i64, i64)>) -> Vec<String> {
    let run = shell(&asking.run);
    let mut also = Vec::new();
    push(&mut also, "also", &asking.also);
    push(&mut also, "tz", &asking.tz);
    let also: String = also.iter().map(|flag| format!(" {flag}")).collect();
    let window = closed.map_or(String::new(), |(from, to)| format!(" --since {} --until {}", rfc3339(from, 1), rfc3339(to, 1)));
    let mut scope = Vec::new();
    push(&mut scope, "session", asking.session.as_slice());
    push(&mut scope, "request", asking.request.as_slice());
    let scope: String = scope.iter().map(|flag| format!(" {flag}")).collect();
    let mut report = vec!["corr report".to_string(), flags(asking)];
    push(&mut report, "series", &args.series);
    report.push(format!("-o {}", shell(&args.output.display().to_string())));
    vec![
        report.join(" "),
        format!("corr sources {run}"),
        format!("corr facts {run}{also}"),
        format!("corr edges {run}{also}{window}{scope} --explain"),
        format!("corr ready {run}{also}{window}"),
        format!("corr timeline {} --limit 0", flags(&Asking { limit: timeline::LIMIT, ..asking.clone() })),
        format!("corr metrics {run}{also} --list"),
        "corr show PATH:LINE  # any citation".into(),
    ]
}
