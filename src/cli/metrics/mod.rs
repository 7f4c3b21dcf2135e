//! `corr metrics`: what metric captures hold, and what series did in a window.

mod answers;
mod clocks;
#[cfg(feature = "cluster")]
mod cluster;
mod place;
mod told;

use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, bail};
use corr_metrics::select::Selector;

use super::exit;
use super::flags::{self, Around, Cluster, Reading, Runs};
use crate::metrics::asked::{Asked, Hit};
use crate::metrics::common::Covers;
use crate::metrics::figures::QUANTILES;
use crate::metrics::logged;
use crate::metrics::read::{self, Read};
use crate::metrics::workers::{self, Mapped, Worker};
use crate::query::sources;
use crate::query::window::{Known, Times};
use crate::query::{Nothing, locate};
use crate::readiness::windows;
use crate::render::events::Format;
#[cfg(feature = "sql")]
use crate::render::metrics::Value;
use crate::render::paint::{Paint, When};
use crate::render::safe::terminal;
use crate::run::{Options, Run};
use place::{Events, Placing};

/// List metric captures and their series, print samples, or say what series did in a window.
///
/// A counter's figure is the difference between two samples that are named, with the least and the most that it can have counted in the window;
/// nothing is extrapolated.
#[derive(clap::Args, Debug)]
#[command(mut_arg("since", |since| since.help("Start of the window: what series did from the first sample at or after it")))]
#[command(mut_arg("until", |until| until.help("End of the window: up to the last sample at or before it")))]
#[command(mut_arg("span", |span| span.default_value("5s")))]
#[command(after_long_help = "Selectors:
  sglang:cached_tokens_total                     a name, in either spelling (sglang: or sglang_); a histogram's name is all of its series
  'sglang:cached_tokens_total{cache_source=\"device\"}'   also != =~ !~
  'sglang:kv_*'  '{__name__=~\".*_seconds\"}'      names by pattern
  '{target=\"worker-0\"}'                          series of one endpoint, by its name or URL; also role, host
  'log:token_usage{kind=\"decode_batch\"}'        a numeric field of log records; also {worker=\"…\"} {source=\"…\"} {dp_rank=\"…\"}

Times: RFC 3339, `2026-11-29 12:02`, `12:02:07` on the run's day, @epoch, start+90s, end-5m.

Examples:
  corr metrics runs/r42                          captures, endpoints, every series
  corr metrics runs/r42 'sglang:kv_*'            samples of some series
  corr metrics runs/r42 sglang:time_to_first_token_seconds --since start+60s --until start+120s
  corr metrics runs/r42 log:token_usage sglang:token_usage --window common
  corr metrics runs/r42 sglang:cached_tokens_total --per sglang:prompt_tokens_total --since start+60s
  corr metrics runs/r42 sglang:kv_available_tokens --around runs/r42/logs/worker-0.log:88 --span 30s
  corr metrics final.parquet 'sglang:gen*' --since start+60s --until start+120s --format json
  corr metrics s3://bucket/r42 'sglang:kv_*' --since start+60s --cluster df://head:50050      over shards that `corr index --shards` wrote

Exit codes: 0 found, 1 no such series or no sample in the window, 2 wrong usage or nothing readable, 3 found, but a capture could not be read or
does not cover the window.")]
pub struct Args {
    #[command(flatten)]
    pub runs: Runs,
    /// Which series; of several arguments each adds its own.
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,
    #[command(flatten)]
    pub when: flags::Window,
    #[command(flatten)]
    pub around: Around,
    /// Divide each counter by the counters of another selector: those of the same endpoint and, where both name one, the same rank, together.
    /// Several are divided by in turn.
    #[arg(long, value_name = "SELECTOR", conflicts_with_all = ["rows", "by", "list"])]
    pub per: Vec<String>,
    /// Add up by the values of a label (`target` for the endpoint): ranks that say the same are counted once, after their samples were compared.
    #[arg(long, value_name = "LABEL", conflicts_with = "rows")]
    pub by: Option<String>,
    /// Print the samples of the window, not what they amount to.
    #[arg(long)]
    pub rows: bool,
    /// Quantiles of histograms, comma separated.
    #[arg(long, value_name = "Q", value_delimiter = ',', default_values_t = QUANTILES.iter().copied())]
    pub quantiles: Vec<f64>,
    /// List every series, also when selectors are given.
    #[arg(long, conflicts_with = "rows")]
    pub list: bool,
    /// Show at most this many series or samples; 0 shows all.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 200)]
    pub limit: usize,
    /// How to write the answer.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub at: Cluster,
}

/// What the selectors mean.
struct Selectors {
    /// Which series.
    of: Vec<Selector>,
    /// What counters are divided by.
    pers: Vec<Selector>,
}

impl Selectors {
    fn read(args: &Args) -> anyhow::Result<Selectors> {
        let parsed = |texts: &[String]| texts.iter().map(|text| Selector::parse(text)).collect::<Result<Vec<_>, _>>();
        let (of, pers) = (parsed(&args.selectors)?, parsed(&args.per).context("--per")?);
        if let Some(q) = args.quantiles.iter().find(|q| !(0.0..=1.0).contains(*q)) {
            bail!("--quantiles {q}: a quantile lies between 0 and 1; the 99th percentile is 0.99");
        }
        Ok(Selectors { of, pers })
    }

    fn all(&self) -> Vec<Selector> {
        self.of.iter().chain(&self.pers).cloned().collect()
    }
}

/// What was read, to be asked.
struct Opened<'a> {
    args: &'a Args,
    run: &'a Run,
    asked: &'a Asked<'a>,
    workers: &'a [Worker],
    events: &'a Events<'a>,
    /// Something was not read.
    partial: bool,
    paint: Paint,
    now: i64,
}

/// A question whose series are found.
struct Question<'a> {
    args: &'a Args,
    run: &'a Run,
    asked: &'a Asked<'a>,
    hits: Vec<Hit<'a>>,
    /// What counters are divided by.
    pers: Vec<Selector>,
    /// Workers whose logs are asked too.
    workers: &'a [Worker],
    /// Something was not read.
    partial: bool,
    paint: Paint,
}

/// Runs the command.
pub fn run(args: &Args, color: When, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    let selectors = Selectors::read(args)?;
    #[cfg(feature = "cluster")]
    if let Some(cluster) = &args.at.cluster {
        return cluster::run(args, cluster, &selectors, color, out, err, now);
    }
    #[cfg(not(feature = "cluster"))]
    if args.at.cluster.is_some() {
        return super::sql::not_built("a cluster", "cluster", err);
    }
    let options = args.reading.options();
    let store = args.reading.store.as_deref();
    let run = sources::looked_into(&args.runs.all(), &options, store)?;
    let events = Events::of(&run, &options, store);
    let all = selectors.all();
    let (asked, workers, said) = read(&run, &options, store, &events, &all)?;
    told::say(&said, err)?;
    let not_read = told::not_read(&run, &asked);
    told::say(&not_read, err)?;
    let partial = !not_read.is_empty();
    if asked.captures.is_empty() && !logged::asked(&all) {
        return told::nothing(&run, err);
    }
    told::copies(&run, &asked, err)?;
    let paint = Paint::new(color);
    Opened { args, run: &run, asked: &asked, workers: &workers, events: &events, partial, paint, now }.answer(&selectors, out, err)
}

impl Opened<'_> {
    /// Answers, and says what a reader of the answer must know.
    fn answer(&self, selectors: &Selectors, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
        let Opened { args, run, asked, workers, events, partial, paint, now } = *self;
        let (selectors, pers) = (&selectors.of, selectors.pers.clone());
        let hits = asked.hits(selectors);
        let mut question = Question { args, run, asked, hits, pers, workers, partial, paint };
        question.order();
        let losses = told::losses(&question.hits);
        told::say(&losses, err)?;
        question.partial |= !losses.is_empty();
        if question.hits.is_empty() && !selectors.is_empty() {
            told::none_such(asked, selectors, err)?;
            question.nothing(out)?;
            return Ok(question.code(exit::NOTHING));
        }
        let times = match times(&question, events) {
            Err(error) if error.is::<Nothing>() => {
                writeln!(err, "corr: {}", terminal(&format!("{error:#}")))?;
                return Ok(question.code(exit::NOTHING));
            }
            times => times?,
        };
        if let Some(how) = &times.how {
            writeln!(err, "corr: {}", terminal(how))?;
        }
        // Without a window that is computed over, what there is is shown.
        let shows = times.open() && args.by.is_none() && question.pers.is_empty();
        if args.list || (selectors.is_empty() && shows) {
            return question.list(out, err);
        }
        let (spans, said) = Placing { args, run, events, times, now }.spans(asked)?;
        told::say(&said, err)?;
        if args.rows || shows {
            question.rows(&spans, out, err)
        } else if let Some(label) = &args.by {
            question.sums(label, &spans, out, err)
        } else if !question.pers.is_empty() {
            question.quotients(&spans, out, err)
        } else {
            question.figures(&spans, out, err)
        }
    }
}

/// A window that every series of a run is asked about.
#[cfg(feature = "sql")]
pub struct Windowed<'a> {
    pub run: &'a Run,
    pub options: &'a Options,
    pub store: Option<&'a Path>,
    pub window: Option<&'a str>,
    pub since: Option<&'a str>,
    pub until: Option<&'a str>,
    pub now: i64,
}

/// What every series did in a window.
#[cfg(feature = "sql")]
pub struct Figures {
    /// The values of [`crate::render::metrics::COLUMNS`], a row a figure.
    pub rows: Vec<Vec<Value>>,
    /// What is to be said of them.
    pub said: Vec<String>,
    /// What was not read, or is not covered.
    pub lost: Vec<String>,
}

#[cfg(feature = "sql")]
impl Windowed<'_> {
    /// What each series did in the window.
    pub fn figures(&self) -> anyhow::Result<Figures> {
        let run = self.run;
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let args = Args {
            runs: Runs { run: run.arguments.first().cloned().unwrap_or_default(), also: run.arguments.iter().skip(1).cloned().collect() },
            selectors: Vec::new(),
            when: flags::Window { since: owned(self.since), until: owned(self.until), window: owned(self.window) },
            around: Around { around: None, span: String::new() },
            per: Vec::new(),
            by: None,
            rows: false,
            quantiles: QUANTILES.to_vec(),
            list: false,
            limit: 0,
            format: Format::Csv,
            reading: Reading { store: self.store.map(Path::to_path_buf), tz: self.options.tz.clone(), ..Reading::default() },
            at: Cluster::default(),
        };
        let events = Events::of(run, self.options, self.store);
        let (asked, workers, mut said) = read(run, self.options, self.store, &events, &[])?;
        let mut lost = told::not_read(run, &asked);
        let hits = asked.hits(&[]);
        lost.extend(told::losses(&hits));
        let question = Question {
            args: &args,
            run,
            asked: &asked,
            hits,
            pers: Vec::new(),
            workers: &workers,
            partial: false,
            paint: Paint::default(),
        };
        let times = times(&question, &events)?;
        let (spans, placed) = Placing { args: &args, run, events: &events, times, now: self.now }.spans(&asked)?;
        said.extend(placed);
        let (rows, short) = question.values(&spans);
        lost.extend(short);
        Ok(Figures { rows, said, lost })
    }
}

/// Reads the captures, and the logs whose fields are asked for, with the workers that these are of, and what is to be said of them.
fn read<'r>(
    run: &'r Run,
    options: &Options,
    store: Option<&Path>,
    events: &Events<'_>,
    selectors: &[Selector],
) -> anyhow::Result<(Asked<'r>, Vec<Worker>, Vec<String>)> {
    let Read { asked, said } = read::read(run, options, store, selectors, false, || events.get())?;
    let said = asked.notes.iter().cloned().chain(said).collect();
    // Without logs nothing is asked whose worker would be told.
    let workers = if logged::asked(selectors) { workers::workers(events.get()?.sources.iter().map(|s| &s.owner)) } else { Vec::new() };
    Ok((asked, workers, said))
}

/// The window that the flags say.
fn times(question: &Question<'_>, events: &Events<'_>) -> anyhow::Result<Times> {
    let args = question.args;
    let flags = args.around.flags(&args.when);
    let covers = || {
        let mut covers = Covers::default();
        covers.add_hits(&question.hits);
        covers.leave_out(&question.asked.captures, &question.hits);
        Ok(covers)
    };
    let stamp = |event: &str| match question.asked.stamp_of_citation(event) {
        Some(stamp) => stamp,
        None => locate::stamp(event, events.get()?, &args.runs.run),
    };
    let known = Known {
        declared: &question.run.declared,
        phases: &|| windows::phases(flags.window, events.get()?, &|| events.lives()),
        stamp: &stamp,
        covers: &covers,
    };
    Times::read(flags, &known)
}

impl<'a> Question<'a> {
    /// Sets what a worker's log says beside what was scraped of it.
    fn order(&mut self) {
        if self.workers.is_empty() {
            return;
        }
        let mut hits = std::mem::take(&mut self.hits);
        hits.sort_by_cached_key(|hit| self.worker(hit).map_or((true, String::new()), |mapped| (false, mapped.worker)));
        self.hits = hits;
    }

    /// The worker of a hit's endpoint, where logs are asked.
    fn worker(&self, hit: &Hit<'_>) -> Option<Mapped> {
        workers::of(hit.captured.capture().endpoint(hit.member.endpoint)?, self.workers, &[])
    }

    /// The exit code: a part, if something was not read or not covered.
    fn code(&self, code: i32) -> i32 {
        if self.partial { exit::PARTIAL } else { code }
    }
}
