//! `corr diff`: two runs side by side, and what a comparison of them supports.

mod figure;
mod gather;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use super::exit;
use super::flags::{self, selectors};
use crate::diff::reps::{self, Rep, Repeated, same_path};
use crate::diff::{Diff, Name, Side};
use crate::render::diff::Answer;
use crate::render::events::Format;
use crate::render::paint::{Paint, When};
use crate::render::safe::terminal;
use gather::Ask;

/// Lay two runs side by side: facts, windows, verdicts and metrics that differ, with both citations, and what the comparison supports.
///
/// A difference is shown only where the brackets of both figures do not overlap. One pair of runs is directional only; repetitions that --reps
/// declares are asked whether they agree. What else may be behind a difference is listed as far as nothing excludes it.
#[derive(clap::Args, Debug)]
#[command(after_long_help = "Examples:
  corr diff runs/r41 runs/r42
  corr diff runs/r41 runs/r42 --window measured --edge l2-restore,l3-restore
  corr diff runs/r41 runs/r42 --metrics 'sglang:time_to_first_token_seconds,sglang:prompt_tokens_total'
  corr diff runs/r41 runs/r42 --reps reps.toml   repetitions: [[rep]] run = \"…\", arm = \"A\", order = 1, matched_replay = \"…\"

Exit codes: 0 answered, 1 nothing to compare, 2 wrong usage or nothing readable, 3 answered, but a source could not be read or a
capture does not cover the window.")]
pub struct Args {
    /// The one run: directory, file, or glob in quotes.
    #[arg(value_name = "A")]
    pub a: String,
    /// The other: differences are B − A.
    #[arg(value_name = "B")]
    pub b: String,
    #[command(flatten)]
    pub when: flags::Window,
    /// Only these edges.
    #[arg(long, value_name = "EDGE", value_delimiter = ',')]
    pub edge: Vec<String>,
    /// Which metrics: selectors as of `corr metrics`. Without: counters that show edges directly, and throughput and latency that both runs have.
    #[arg(long, value_name = "SELECTOR,…")]
    pub metrics: Vec<String>,
    /// Repetitions of both arms: randomised order, or matched replays.
    #[arg(long, value_name = "FILE.toml")]
    pub reps: Option<PathBuf>,
    /// Also what is equal, what differs by nature, and what shows no difference.
    #[arg(long)]
    pub all: bool,
    /// How to write the answer.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Zone of stamps that name none: ZONE, or SOURCE=ZONE.
    #[arg(long, value_name = "[SOURCE=]ZONE")]
    pub tz: Vec<String>,
}

/// Runs the command.
pub fn run(args: &Args, color: When, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    let selectors = selectors(&args.metrics, "metrics")?;
    let ask = Ask { when: args.when.flags(), edges: &args.edge, selectors: &selectors, tz: &args.tz, now };
    let declared = args.reps.as_deref().map(|file| declared(file, args)).transpose()?;
    let a = read(Name::A.letter(), &args.a, &ask, err)?;
    let b = read(Name::B.letter(), &args.b, &ask, err)?;
    if let Some(side) = [&a, &b].into_iter().find(|s| s.empty) {
        writeln!(err, "corr: {}: nothing that could be read; `corr sources` lists what there is", terminal(&side.run))?;
        return Ok(exit::ERROR);
    }
    for selector in selectors.iter().filter(|s| s.name().is_some_and(|name| none_of(name, [&a, &b]))) {
        writeln!(err, "corr: --metrics {}: no such series in either run", terminal(&selector.text))?;
    }
    let short = [&a, &b].iter().any(|s| s.figures.iter().any(|f| !f.whole));
    let one_run = same_path(Path::new(&args.a), Path::new(&args.b));
    let mut partial = short || [&a, &b].iter().any(|s| s.not_read.iter().any(|n| n.failure));
    let repeated = match declared {
        None => None,
        Some(reps) => {
            let mut sides = Vec::new();
            for rep in &reps {
                let side = read(&format!("order {}", rep.order), &rep.path.to_string_lossy(), &ask, err)?;
                partial |= side.not_read.iter().any(|n| n.failure);
                sides.push(side);
            }
            Some(Repeated { reps, sides })
        }
    };
    let diff = Diff::new(&a, &b, one_run, repeated);
    if nothing(&diff) {
        writeln!(err, "corr: nothing to compare: no source of either run says a fact, shows an edge or holds one of these metrics")?;
        return Ok(if partial { exit::PARTIAL } else { exit::NOTHING });
    }
    Answer { a: &a, b: &b, diff: &diff, all: args.all }.write(args.format, Paint::new(color), out)?;
    out.flush()?;
    Ok(if partial { exit::PARTIAL } else { exit::FOUND })
}

fn read(label: &str, run: &str, ask: &Ask<'_>, err: &mut dyn Write) -> anyhow::Result<Side> {
    let (side, notes) = gather::side(run, ask).with_context(|| format!("{label} ({run})"))?;
    for note in notes {
        writeln!(err, "corr: {label}: {}", terminal(&note))?;
    }
    for file in side.not_read.iter().filter(|n| n.failure) {
        writeln!(err, "corr: {}: {}", terminal(&file.name), terminal(&file.why))?;
    }
    Ok(side)
}

/// The repetitions that a file declares; A and B are two of them.
fn declared(file: &Path, args: &Args) -> anyhow::Result<Vec<Rep>> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("--reps {shown}"))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let reps = reps::read(&text, folder).with_context(|| format!("--reps {shown}"))?;
    for (arm, run) in [(Name::A, &args.a), (Name::B, &args.b)] {
        match reps.iter().find(|r| same_path(&r.path, Path::new(run))) {
            Some(rep) if rep.arm == arm => {}
            Some(rep) => bail!("--reps {shown}: {run} is of arm {} there, and is given as {}", rep.arm.letter(), arm.letter()),
            None => bail!("--reps {shown}: {run} is none of its repetitions; give one of arm A and one of arm B"),
        }
    }
    Ok(reps)
}

fn none_of(name: &str, sides: [&Side; 2]) -> bool {
    sides.iter().all(|s| !s.figures.iter().any(|f| f.family == name || f.spelled.split('{').next().is_some_and(|n| same_name(n, name))))
}

fn same_name(a: &str, b: &str) -> bool {
    corr_metrics::model::canonical(a) == corr_metrics::model::canonical(b)
}

/// Neither run says anything.
fn nothing(diff: &Diff) -> bool {
    use corr_evidence::verdict::Activity;
    let silent = |v: &Option<crate::diff::verdicts::Said>| v.as_ref().is_none_or(|v| v.activity == Activity::NoSignal);
    diff.facts.is_empty() && diff.figures.is_empty() && diff.verdicts.iter().all(|v| silent(&v.a) && silent(&v.b))
}
