//! `corr edges --cluster`: the same question over shards. Executors choose records and samples; who is the same request, and what counters did, is judged
//! here.

use std::io::Write;

use anyhow::bail;

use super::edges::{Args, Asked, window};
use super::opened::Opened;
use super::{exit, line};
use crate::metrics::asked::Asked as Captured;
use crate::render::paint::When;
use crate::render::safe::terminal;
use crate::tables::sql::shards::captures::Captures;
use crate::tables::sql::{functions, shards};

/// Asks the cluster of a scheduler.
pub fn run(args: &Args, cluster: &str, color: When, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    if let Some((flag, instead)) = refused(args) {
        bail!("{flag}: not asked of a cluster; {instead}");
    }
    let mut engine = args.at.connect(cluster)?;
    functions::asking().into_iter().for_each(|function| engine.add_function(function));
    let shards = shards::add(&mut engine, std::slice::from_ref(&args.runs.run))?;
    let logs = shards.logs();
    if let Some(name) = args.when.window.as_deref().filter(|_| logs.several) {
        bail!("--window {name}: not asked of several runs in one place; give the ends of the window by --since and --until");
    }
    let opened = Opened::elsewhere(logs.sources(&args.runs.run)?, &args.runs, &args.reading);
    let window = window(args, &opened, err, now)?;
    let (evidence, lost) = logs.evidence(&engine, &opened.sources, window)?;
    let asked = Asked::of(args, &evidence, window)?;
    let mut told = shards.told_of_records();
    told.add(shards.told_of_captures());
    if lost > 0 {
        told.lost(format!("{lost} records could not be read when the shards were written: what they show is not known"));
    }
    told.say(err)?;
    let mut empty = false;
    let judged = Captures::open(&engine)?.answer(|captures: &Captured<'static>| {
        empty = captures.captures.is_empty();
        Ok(asked.judge(&opened.run, captures))
    })?;
    if opened.is_empty() && empty {
        writeln!(err, "corr: {}: nothing in these shards that could be read", terminal(&args.runs.run))?;
        return Ok(exit::ERROR);
    }
    let source = line::Line::of(&line::source(&args.runs, &args.reading)).flag("cluster", &[cluster]).text();
    asked.write(&judged, &source, told.partial, color, out, err)
}

/// A flag that is not asked there, and what to do instead.
fn refused(args: &Args) -> Option<(&'static str, &'static str)> {
    let of_source = args.reading.tz.iter().any(|tz| tz.contains('='));
    let flags = [
        (args.runs.run == "-", "-", "name a place of shards, which `corr index --shards` writes"),
        (!args.runs.also.is_empty(), "--also", "write both runs to one place by `corr index --shards`: they are asked together"),
        (args.reading.store.is_some(), "--store", "a store is of one machine; RUN names a place of shards"),
        (of_source, "--tz SOURCE=ZONE", "stamps are placed when shards are written: `corr index RUN --shards PLACE --tz …`"),
        (
            !args.reading.format_of.is_empty(),
            "--format-of",
            "records are read when shards are written: `corr index RUN --shards PLACE --format-of …`",
        ),
    ];
    flags.into_iter().find(|(is, ..)| *is).map(|(_, flag, instead)| (flag, instead))
}
