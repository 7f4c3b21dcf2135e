//! `corr scrape`: metrics endpoints into a capture.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use corr_live::Stop;
use corr_live::scrape::{self, Layout, Plan, Summary, Totals, When};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::endpoints::{Endpoints, clock, duration};
use super::exit;

/// Scrape metrics endpoints on a fixed grid into a capture that `corr metrics` reads.
///
/// Every scrape is a line of DIR/raw_prometheus.jsonl, a failed one with its reason. A scrape that begins late says by how much, and slots
/// that passed meanwhile are counted in it. SIGINT or SIGTERM ends the run with every line whole; a second one waits for nothing.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  corr scrape node1:30000 node2:30000 --every 1s --for 10m -o runs/r42/metrics
  corr scrape prefill/p0=node1:30000 router=node1:8000 -o runs/r42/metrics -- ./bench.sh    as long as the command runs
  corr scrape node1:30000 --before-after -o before-after -- ./bench.sh                      one scrape before it, one after
  corr scrape node1:30000 --before-after -o before-after                                    until Enter or Ctrl-C

Exit codes: 0 every scrape succeeded, 2 wrong usage, nothing scraped or nothing written, 3 some scrapes failed (they are recorded). \
With a command that fails, its own.")]
pub struct Args {
    #[command(flatten)]
    pub endpoints: Endpoints,
    /// From one scrape of an endpoint to the next.
    #[arg(long, value_name = "DURATION", default_value = "1s")]
    pub every: String,
    /// How long; without it, until a signal or the command's end.
    #[arg(long = "for", value_name = "DURATION", conflicts_with = "command")]
    pub length: Option<String>,
    /// One scrape now and one at the end, nothing between.
    #[arg(long, conflicts_with = "every")]
    pub before_after: bool,
    /// Folder of the capture. One that exists there is not overwritten.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Go on with the capture in the folder.
    #[arg(long)]
    pub append: bool,
    /// A file for every body, with its stamp in the name, and DIR/scrapes.jsonl with a line for every scrape.
    #[arg(long)]
    pub files: bool,
    /// A command to run; the scraping ends with it.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Runs the command.
pub fn run(args: &Args, err: &mut dyn Write) -> anyhow::Result<i32> {
    let (targets, client) = args.endpoints.open()?;
    let plan = Plan {
        targets,
        client,
        when: if args.before_after { When::BeforeAfter } else { When::Every(duration("--every", &args.every)?) },
        length: args.length.as_deref().map(|text| duration("--for", text)).transpose()?,
        command: (!args.command.is_empty()).then(|| args.command.clone()),
        folder: args.output.clone(),
        layout: if args.files { Layout::Files } else { Layout::Lines },
        append: args.append,
    };
    let stop = Stop::new();
    if args.before_after && plan.length.is_none() && plan.command.is_none() && std::io::stdin().is_terminal() {
        writeln!(err, "corr: press Enter for the second scrape")?;
        ask_on_enter(stop.clone());
    }
    let bar = bar();
    let (shown, began) = (bar.clone(), Instant::now());
    let told = move |totals: &Totals| show(&shown, began, totals);
    let summary = corr_live::block_on(async {
        stop.on_signals()?;
        anyhow::Ok(scrape::run(plan, clock(), stop, told).await?)
    })?;
    bar.finish_and_clear();
    let summary = summary?;
    summary.write_text(err)?;
    Ok(code(&summary))
}

fn code(summary: &Summary) -> i32 {
    let totals = summary.totals();
    match summary.command.map(scrape::Ended::code) {
        Some(code) if code != 0 => code,
        _ if totals.failed() == totals.scrapes => exit::ERROR,
        _ if totals.failed() > 0 => exit::PARTIAL,
        _ => exit::FOUND,
    }
}

/// The thread ends with the program, if nobody presses anything.
fn ask_on_enter(stop: Stop) {
    std::thread::spawn(move || {
        let read = std::io::stdin().read_line(&mut String::new());
        if read.is_ok() {
            stop.ask_soon();
        }
    });
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    if let Ok(style) = ProgressStyle::with_template("{elapsed}  {msg}") {
        bar.set_style(style);
    }
    bar
}

/// On a terminal, and not before half a second.
fn show(bar: &ProgressBar, began: Instant, totals: &Totals) {
    if bar.is_hidden() && std::io::stderr().is_terminal() && began.elapsed() > Duration::from_millis(500) {
        bar.set_draw_target(ProgressDrawTarget::stderr());
    }
    bar.set_message(format!("{} scrapes, {} failed, {} late, {} bytes", totals.scrapes, totals.failed(), totals.late, totals.bytes));
}
