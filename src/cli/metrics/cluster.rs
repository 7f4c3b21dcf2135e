//! `corr metrics --cluster`: the same question over shards. What captures say beside their samples is brought first, then the samples that the question
//! reads; executors choose them, figures are computed here.

use std::io::Write;

use anyhow::bail;
use corr_metrics::select::Selector;

use super::place::Events;
use super::{Args, Opened, Selectors};
use crate::cli::exit;
use crate::render::paint::{Paint, When};
use crate::render::safe::terminal;
use crate::run::Run;
use crate::tables::sql::shards;
use crate::tables::sql::shards::captures::Captures;

/// Asks the cluster of a scheduler.
pub fn run(
    args: &Args,
    cluster: &str,
    selectors: &Selectors,
    color: When,
    out: &mut dyn Write,
    err: &mut dyn Write,
    now: i64,
) -> anyhow::Result<i32> {
    if let Some((flag, instead)) = refused(args, selectors) {
        bail!("{flag}: not asked of a cluster; {instead}");
    }
    let mut engine = args.at.connect(cluster)?;
    let shards = shards::add(&mut engine, std::slice::from_ref(&args.runs.run))?;
    let logs = shards.logs();
    if let Some(name) = args.when.window.as_deref().filter(|name| logs.several && *name != "common") {
        bail!("--window {name}: not asked of several runs in one place; give the ends of the window by --since and --until");
    }
    let told = shards.told_of_captures();
    told.say(err)?;
    let mut captures = Captures::open(&engine)?;
    let sources = logs.sources(&args.runs.run)?;
    let run = Run { declared: sources.declared.clone(), ..Run::gone(&args.runs.all()) };
    let options = args.reading.options();
    let events = Events::elsewhere(&run, &options, sources);
    let (mut answer, mut said) = (Vec::new(), Vec::new());
    let code = captures.answer(|asked| {
        (answer, said) = (Vec::new(), Vec::new());
        if asked.captures.is_empty() {
            writeln!(said, "corr: {}: no metric capture in these shards", terminal(&args.runs.run))?;
            return Ok(Ok(exit::ERROR));
        }
        let paint = Paint::new(color);
        let opened = Opened { args, run: &run, asked, workers: &[], events: &events, partial: told.partial, paint, now };
        // What is said without all samples is not the answer, be it an error.
        Ok(opened.answer(selectors, &mut answer, &mut said))
    })?;
    err.write_all(&said)?;
    out.write_all(&answer)?;
    out.flush()?;
    code
}

/// A flag that is not asked there, and what to do instead.
fn refused(args: &Args, selectors: &Selectors) -> Option<(&'static str, &'static str)> {
    let of_source = args.reading.tz.iter().any(|tz| tz.contains('='));
    let of_log = selectors.of.iter().chain(&selectors.pers).any(Selector::of_log);
    let flags = [
        (args.runs.run == "-", "-", "name a place of shards, which `corr index --shards` writes"),
        (!args.runs.also.is_empty(), "--also", "write both runs to one place by `corr index --shards`: they are asked together"),
        (of_log, "log:", "ask the view of the kind by `corr sql --cluster`, or `corr metrics` where the run is"),
        (args.around.around.is_some(), "--around", "give the time around it by --since and --until"),
        (args.reading.store.is_some(), "--store", "a store is of one machine; RUN names a place of shards"),
        (of_source, "--tz SOURCE=ZONE", "stamps are placed when shards are written: `corr index RUN --shards PLACE --tz …`"),
        (
            !args.reading.format_of.is_empty(),
            "--format-of",
            "files are read when shards are written: `corr index RUN --shards PLACE --format-of …`",
        ),
    ];
    flags.into_iter().find(|(is, ..)| *is).map(|(_, flag, instead)| (flag, instead))
}
