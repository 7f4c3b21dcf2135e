//! `corr report`: a run as one HTML file.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use super::exit;
use super::flags::selectors;
use super::line::Line;
use super::note::window_words;
use super::timeline::{self, Asking};
use crate::aside::Target;
use crate::query::extent::extent;
use crate::query::window;
use crate::render;
use crate::render::evidence::shell;
use crate::render::safe::terminal;
use crate::report::{self, Ask, Base, Given, Whole};

/// How a page begins.
const BEGIN: &[u8] = render::report::BEGIN.as_bytes();

/// Rows of the timeline that a page holds where nothing else is asked for.
pub const ROWS: usize = 2_000;

/// Write a run, or a window of it, as one HTML file that needs no network and no script: what was read, the cache path with its verdicts, servers, timeline,
/// series, latency and cache figures, what is unprovable, and every citation with its record.
///
/// It is written in one step. Long runs are reduced, and the page says how: of a series the least and the greatest of every 300th of the axis are kept, of the
/// timeline the most telling rows. Prompts, responses, header values and credentials are withheld.
#[derive(clap::Args, Debug)]
#[command(mut_arg("limit", |limit| limit.default_value("2000").help("Rows of the timeline, marks and errors first; 0 for all, however long the page becomes")))]
#[command(after_long_help = "Examples:
  corr report runs/r42 -o report.html
  corr report runs/r42 --window measured -o measured.html
  corr report runs/r42 --around runs/r42/logs/decode_0.out:918 --span 2m -o crash.html
  corr report runs/r42 --series 'sglang:token_usage,log:gen_throughput' -o - > report.html

Exit codes: 0 written, 1 nothing was written (no such window, session or request), 2 wrong usage or nothing readable, 3 written, but a source could not be
read.")]
pub struct Args {
    #[command(flatten)]
    pub asking: Asking,
    /// The file to write; `-` for standard output.
    #[arg(long, short = 'o', value_name = "FILE.html")]
    pub output: PathBuf,
    /// Series that are plotted, instead of those that say most. Selectors as in `corr metrics`, comma separated.
    #[arg(long, value_name = "SELECTORS")]
    pub series: Vec<String>,
}

/// Runs the command.
pub fn run(args: &Args, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    let asking = &args.asking;
    let shown = terminal(&args.output.display().to_string()).into_owned();
    let path = Some(args.output.as_path()).filter(|path| *path != Path::new("-"));
    let file = path.map(Target::of).transpose().with_context(|| shown.clone())?;
    let there = file.as_ref().map(|file| file.head(BEGIN.len() as u64)).transpose().with_context(|| shown.clone())?.unwrap_or_default();
    if !there.is_empty() && there != BEGIN {
        bail!("{shown}: there is a file that is no page of corr report; nothing was written, name another one");
    }
    let selectors = selectors(&args.series, "series")?;
    let opened = asking.open()?.without(path);
    let captures = opened.captures()?;
    if opened.is_empty() && captures.captures.is_empty() {
        return opened.nothing(err);
    }
    let scoped = asking.scoped(&opened, None, now)?;
    let closed = window::closed(scoped.window, || report::ends(extent(&opened.sources.sources), &captures))?;
    let ask = Ask {
        given: Given {
            arguments: asking.runs.all(),
            tz: asking.reading.tz.clone(),
            format_of: asking.reading.format_of.clone(),
            store: asking.reading.store.clone(),
        },
        words: asking.words(),
        query: asking.query.join(" "),
        session: asking.scope.session.clone(),
        request: asking.scope.request.clone(),
        window: scoped.window,
        closed,
        how: window_words(&scoped),
        series: selectors,
        marked: asking.marked(),
        all: asking.all,
        rows: asking.limit,
        bodies: false,
        commands: commands(args, closed),
    };
    let base = Base { run: &opened.run, sources: &opened.sources, captures: &captures };
    let report = report::gather(base, &Whole::gather(base, &ask.series), &ask)?;
    for note in opened.sources.notes.iter().chain(&captures.notes) {
        writeln!(err, "corr: {}", terminal(note))?;
    }
    let page = render::report::page(&report);
    match file {
        None => out.write_all(page.as_bytes())?,
        Some(file) => {
            file.replace(page.as_bytes()).with_context(|| shown.clone())?;
            writeln!(err, "{shown}: written, {} bytes", crate::render::number::grouped(page.len() as u64))?;
        }
    }
    for note in report.covered.notes.iter().chain(&report.series.none) {
        writeln!(err, "corr: {}", terminal(note))?;
    }
    for (name, why) in &report.covered.not_read {
        writeln!(err, "corr: {}: {}", terminal(name), terminal(why))?;
    }
    Ok(if report.covered.not_read.is_empty() { exit::FOUND } else { exit::PARTIAL })
}

/// The commands that give each part again.
fn commands(args: &Args, closed: Option<(i64, i64)>) -> Vec<String> {
    let Asking { runs, scope, reading, limit, .. } = &args.asking;
    let report = Line::of("corr report").asking(&args.asking, None).limit(*limit, ROWS).flag("series", &args.series);
    let timeline = Line::of("corr timeline").asking(&args.asking, None).limit(0, timeline::LIMIT);
    let read = |command: &str| Line::of(command).runs(runs).reading(reading);
    vec![
        // A short flag as the examples have it.
        format!("{} -o {}", report.text(), shell(&args.output.display().to_string())),
        Line::of("corr sources").words(&runs.all()).reading(reading).text(),
        read("corr facts").text(),
        Line::of("corr edges").runs(runs).window(closed).scope(scope).reading(reading).on("explain").text(),
        Line::of("corr ready").runs(runs).window(closed).reading(reading).text(),
        timeline.text(),
        read("corr metrics").on("list").text(),
        Line::of("corr show PATH:LINE").reading(reading).text() + "  # any citation",
    ]
}
