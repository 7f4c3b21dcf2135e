//! `corr ready --follow`: transitions as they happen, until the requirement holds, fails or cannot be known.

use std::io::{IsTerminal, Write};

use anyhow::{Context as _, bail};
use corr_live::Stop;
use corr_live::Target;
use corr_live::follow::{Follow, Followed, Journal, Outcome, PlanError, Require, Transition};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::endpoints::{clock, duration};
use super::exit;
use super::ready::Args;
use crate::render::events::Format;
use crate::render::paint::{Paint, Tone, When};
use crate::render::safe::{terminal, write_json};
use crate::render::shown::rfc3339;

/// What must hold of every unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Required {
    #[default]
    Ready,
    Served,
    Metrics,
}

/// Follows; gives the exit code.
pub fn run(args: &Args, color: When, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
    if !matches!(args.format, Format::Text | Format::Json | Format::Jsonl) {
        bail!("--follow writes text, json or jsonl");
    }
    let plan = plan(args)?;
    let stop = Stop::new();
    let paint = Paint::new(color);
    let bar = bar();
    let mut failed = None;
    let outcome = corr_live::block_on(async {
        stop.on_signals()?;
        let told = |transition: &Transition| {
            bar.set_message(terminal(&format!("{} {}", transition.unit, words(transition))).into_owned());
            let written = bar.suspend(|| match args.format {
                Format::Jsonl => line_of(transition, out),
                Format::Json => Ok(()),
                _ => text_of(transition, paint, out),
            });
            if let Err(why) = written.and_then(|()| out.flush()) {
                failed.get_or_insert(why);
                stop.ask_soon();
            }
        };
        anyhow::Ok(plan.follow(stop.clone(), told).await)
    })??;
    bar.finish_and_clear();
    if let Some(why) = failed {
        return Err(why).context("cannot write");
    }
    let outcome = match outcome {
        Ok(outcome) => outcome,
        // Nothing would be known: an answer for a script as well.
        Err(why @ (PlanError::NoSource(_) | PlanError::NoMetrics(_) | PlanError::NowhereExpected)) => {
            writeln!(err, "corr: {}", terminal(&why.to_string()))?;
            return Ok(exit::UNPROVABLE);
        }
        Err(why) => return Err(why.into()),
    };
    match args.format {
        Format::Json | Format::Jsonl => {
            let mut json = serde_json::to_value(&outcome)?;
            json["schema"] = "corr.ready.follow.v1".into();
            json["type"] = "outcome".into();
            json["exit_code"] = outcome.exit_code().into();
            write_json(out, &json, matches!(args.format, Format::Json))?;
            writeln!(out)?;
        }
        _ => end(&outcome, out)?,
    }
    Ok(i32::from(outcome.exit_code()))
}

fn plan(args: &Args) -> anyhow::Result<Follow> {
    let mut plan = Follow::new(clock());
    plan.units.clone_from(&args.unit);
    let files = args.run.iter().chain(&args.also);
    for file in files {
        let (unit, path) = match file.split_once('=') {
            Some((unit, path)) if !std::path::Path::new(file).exists() => (Some(unit.to_string()), path),
            _ => (None, file.as_str()),
        };
        if std::path::Path::new(path).is_dir() {
            bail!("{}: --follow takes the files that are written, not a folder", terminal(path));
        }
        plan.files.push(Followed { path: path.into(), unit });
    }
    let targets =
        |texts: &[String], assumed: &str| texts.iter().map(|text| Target::parse_for(text, assumed)).collect::<Result<Vec<_>, _>>();
    plan.metrics = targets(&args.metrics, "/metrics").context("--metrics")?;
    plan.health = targets(&args.health, "/health").context("--health")?;
    // Without a file or an endpoint a unit is systemd's.
    let journal = args.journal || (plan.files.is_empty() && plan.metrics.is_empty() && plan.health.is_empty());
    plan.journal = journal.then(Journal::default);
    plan.timeout = duration("--timeout", &args.timeout)?;
    plan.every = duration("--every", &args.every)?;
    plan.require = match args.require {
        Required::Ready => Require::Ready,
        Required::Served => Require::Served,
        Required::Metrics => Require::Metrics,
    };
    plan.expect_metric.clone_from(&args.expect_metric);
    if let Some(of_source) = args.reading.tz.iter().find(|zone| zone.contains('=')) {
        bail!("--tz {}: --follow takes one zone for all files, as --tz ZONE", terminal(of_source));
    }
    if !args.reading.tz.is_empty() {
        plan.zone = Some(super::query::zone_of_flags(&args.reading.tz)?);
    }
    Ok(plan)
}

fn text_of(transition: &Transition, paint: Paint, out: &mut dyn Write) -> std::io::Result<()> {
    let at = paint.tone(Tone::Dim, &rfc3339(transition.seen_at, 1_000_000));
    let unit = paint.tone(Tone::Kind, &terminal(&transition.unit));
    let before = if transition.before { " (before following began)" } else { "" };
    writeln!(out, "{at} {unit} {}{before}", terminal(&words(transition)))?;
    for cite in transition.cites.iter().take(2) {
        let place = paint.tone(Tone::Place, &format!("{}@{}", terminal(&cite.source), cite.offset));
        writeln!(out, "  {place} {}", terminal(&cite.text))?;
    }
    Ok(())
}

/// What it is, and what is said of it.
fn words(transition: &Transition) -> String {
    let what = match serde_json::to_value(transition.what) {
        Ok(serde_json::Value::String(what)) => what.replace('_', " "),
        _ => String::new(),
    };
    if transition.says.is_empty() { what } else { format!("{what}: {}", transition.says) }
}

fn line_of(transition: &Transition, out: &mut dyn Write) -> std::io::Result<()> {
    let mut json = serde_json::to_value(transition).map_err(std::io::Error::other)?;
    json["type"] = "transition".into();
    write_json(out, &json, false)?;
    writeln!(out)
}

fn end(outcome: &Outcome, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out)?;
    for unit in &outcome.units {
        writeln!(out, "{}: {}", terminal(&unit.unit), terminal(&unit.says))?;
    }
    for metric in &outcome.metrics {
        writeln!(out, "{}: {}", terminal(&metric.name), terminal(&metric.says))?;
    }
    for source in outcome.sources.iter().filter_map(|s| Some((&s.name, s.fault.as_ref()?))) {
        writeln!(out, "{}: {}", terminal(source.0), terminal(source.1))?;
    }
    Ok(())
}

/// What is so, on a terminal.
fn bar() -> ProgressBar {
    let target = if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(None, target);
    if let Ok(style) = ProgressStyle::with_template("{elapsed}  {wide_msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(std::time::Duration::from_millis(500));
    bar
}
