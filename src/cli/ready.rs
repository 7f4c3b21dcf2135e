//! `corr ready`: every start, stop and restart, when each step happened, how well that is known and by which bytes.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::bail;
use corr_readiness::claim::{self, Answer, Claim};
use corr_readiness::{Instant, Invocation, Options as Servers, UnitHistory};

use super::exit;
use super::flags::Reading;
use super::follow::{self, Required};
use super::opened::Opened;
use crate::query::window::Flags;
use crate::query::{suggest, timespec};
use crate::readiness::places::Places;
use crate::readiness::{self, Readiness, windows};
use crate::render::events::Format;
use crate::render::paint::{Paint, When};
use crate::render::readiness::{Claimed, Lives, Unit, extent};
use crate::render::safe::terminal;
use crate::run::source::unread;

/// Say of every start, stop and restart of a server when each step happened, how well that is known, and which bytes say so.
///
/// Reads logs of servers and gateways, journald, poll logs, client results and metric captures together. An instant is exact, a bound, an
/// interval, never or unknown with the reason. Lengths are on the monotonic clock where there is one. What misleads a reader of the log is named.
#[derive(clap::Args, Debug)]
#[command(after_long_help = "Examples:
  corr ready runs/r42                                          every server's life, with a picture
  corr ready run.journal --unit sglang-prefill.service         one unit of a journal
  corr ready runs/r42 --unit worker-0 --format json            for programs
  corr ready runs/r42 --within 120s --outage-max 90s           a gate: 0 holds, 1 does not, 4 cannot be known
  corr ready runs/r42 --unit worker-0 --no-restarts
  corr query runs/r42 error --window 'outage:worker-0#1'       events while it was away
  corr ready --follow --unit sglang-prefill --timeout 10m      the journal, until the unit is ready
  corr ready --follow worker.log --health http://127.0.0.1:30000 --metrics http://127.0.0.1:30000

Instants: started, exec'd, loading, loaded, listening, metrics live, ready, first served, first KV in use, last served, asked to stop, stopping,
drained, ended.

Exit codes: 0 answered (or every claim holds), 1 a claim does not hold, a unit is not there, or a unit was never ready, 2 wrong usage or nothing
readable, 3 answered, but a source could not be read, 4 it cannot be known from what is there. 2 wins over 4, 4 over 3, 3 over 1.")]
pub struct Args {
    /// Run directory, file, or glob in quotes; `-` for standard input. With --follow a file that is being written, as PATH or UNIT=PATH.
    #[arg(value_name = "RUN", required_unless_present = "follow")]
    pub run: Option<String>,
    /// Watch while it happens: files through rotation and truncation, the journal, /health and /metrics; ends when the requirement holds for every unit (0),
    /// a unit failed or the time is over (1), or it cannot be known (4).
    #[arg(long, conflicts_with_all = ["since", "until", "within", "outage_max", "no_restarts", "server", "description", "limit", "store", "format_of"])]
    pub follow: bool,
    /// With --follow: an endpoint of metrics, as URL or UNIT=URL.
    #[arg(long, value_name = "URL", requires = "follow")]
    pub metrics: Vec<String>,
    /// With --follow: an endpoint of health, as URL or UNIT=URL.
    #[arg(long, value_name = "URL", requires = "follow")]
    pub health: Vec<String>,
    /// With --follow: follow the journal of every unit too; done anyway where no file and no endpoint is named.
    #[arg(long, requires = "follow")]
    pub journal: bool,
    /// With --follow: how long at most.
    #[arg(long, value_name = "DURATION", default_value = "10m", requires = "follow")]
    pub timeout: String,
    /// With --follow: from one poll of an endpoint to the next.
    #[arg(long, value_name = "DURATION", default_value = "1s", requires = "follow")]
    pub every: String,
    /// With --follow: what must hold of every unit.
    #[arg(long, value_enum, default_value_t = Required::Ready, requires = "follow")]
    pub require: Required,
    /// With --follow: a metric that must appear; a negative answer says whether it is lazy or missing.
    #[arg(long, value_name = "NAME", requires = "follow")]
    pub expect_metric: Vec<String>,
    /// A further run directory, file or glob, read together with RUN.
    #[arg(long = "also", value_name = "RUN")]
    pub also: Vec<String>,
    /// Only this unit or process; HOST/UNIT where two hosts have one of the same name.
    #[arg(long, value_name = "UNIT", value_delimiter = ',')]
    pub unit: Vec<String>,
    /// Only runs that were there after this time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub since: Option<String>,
    /// Only runs that had begun before this time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub until: Option<String>,
    /// Claim: every start was ready within this time.
    #[arg(long, value_name = "DURATION")]
    pub within: Option<String>,
    /// Claim: from one run to the next the server was away for no longer than this.
    #[arg(long, value_name = "DURATION")]
    pub outage_max: Option<String>,
    /// Claim: one run from the first record to the last.
    #[arg(long)]
    pub no_restarts: bool,
    /// The units that run servers, all of them: what makes the lines of a text rendering separable, which name no unit.
    #[arg(long, value_name = "UNIT", value_delimiter = ',')]
    pub server: Vec<String>,
    /// The unit of a description, for systemd up to v249, whose `Started DESCRIPTION.` names no unit.
    #[arg(long, value_name = "DESCRIPTION=UNIT")]
    pub description: Vec<String>,
    /// Runs of a unit that are written out as text, the last ones; 0 for all.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// How to write the answer.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    #[command(flatten)]
    pub reading: Reading,
}

impl Args {
    /// The run, as it was given.
    fn name(&self) -> &str {
        self.run.as_deref().unwrap_or_default()
    }
}

/// Runs the command.
pub fn run(args: &Args, color: When, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    if args.follow {
        return follow::run(args, color, out, err);
    }
    let claims = claims(args)?;
    let servers = servers(args)?;
    let runs: Vec<String> = args.run.iter().chain(&args.also).cloned().collect();
    let opened = Opened::of(&runs, &args.reading)?;
    let captures = opened.captures()?;
    let sources = &opened.sources;
    if sources.sources.is_empty() && captures.captures.is_empty() {
        writeln!(err, "corr: {}: nothing that could be read; `corr sources` lists what there is", terminal(args.name()))?;
        return Ok(exit::ERROR);
    }
    let window = window(args, &opened, now)?;
    let found = readiness::gather(sources, Some((&opened.run, &captures)), servers);
    for note in sources.notes.iter().chain(&captures.notes) {
        writeln!(err, "corr: {}", terminal(note))?;
    }
    let of_sources = sources.sources.iter().flat_map(|source| {
        let failed = source.bytes().err().map(str::to_string).into_iter().chain(source.damage().map(str::to_string));
        failed.map(|why| (source.name.clone(), why)).collect::<Vec<_>>()
    });
    let of_sources: Vec<(String, String)> = of_sources.collect();
    let failures = sources.not_read.iter().filter(|file| file.failure).chain(&captures.not_read);
    let mut not_read = unread(failures, of_sources.iter().map(|(name, why)| (name, why)));
    not_read.sort();
    let mut worst = if not_read.is_empty() { exit::FOUND } else { exit::PARTIAL };
    for (name, why) in &not_read {
        writeln!(err, "corr: {}: {}", terminal(name), terminal(why))?;
    }
    let Some((units, others)) = chosen(args, &found, window, err)? else { return Ok(exit::graver(worst, exit::NOTHING)) };
    if units.is_empty() {
        nothing(&found, &others, args.name(), err)?;
        return Ok(exit::graver(worst, exit::NOTHING));
    }
    let claimed: Vec<Claimed> = units.iter().flat_map(|unit| claims.iter().map(|claim| judge(unit, claim, window))).collect();
    let places = Places::new(&cites(&found, &units, &claimed), sources, &captures.captures);
    let lives = Lives {
        run: args.name(),
        history: &found.history,
        units: &units,
        places: &places,
        seen: &found.seen,
        copies: &found.copies,
        claims: &claimed,
        others: &others,
        window,
        limit: args.limit,
    };
    lives.write(args.format, Paint::new(color), out)?;
    out.flush()?;
    for claimed in &claimed {
        let why = match &claimed.answer {
            Answer::Holds { .. } => continue,
            Answer::DoesNotHold { says, .. } => says.clone(),
            Answer::CannotBeKnown { why, .. } => format!("cannot be known: {why}"),
        };
        writeln!(err, "corr: {} {}: {}", terminal(&claimed.unit), terminal(&claimed.claim), terminal(&why))?;
        worst = exit::graver(worst, i32::from(claimed.answer.exit_code()));
    }
    if claims.is_empty() {
        for unit in &units {
            if let Some((code, why)) = not_ready(unit) {
                writeln!(err, "corr: {}: {}", terminal(&unit.name), terminal(&why))?;
                worst = exit::graver(worst, code);
            }
        }
    }
    Ok(worst)
}

/// A claim with the words that it was made in.
struct Said {
    words: String,
    claim: Claim,
}

fn claims(args: &Args) -> anyhow::Result<Vec<Said>> {
    let duration = |flag: &str, text: &str| match timespec::parse_duration(text) {
        Some(ns) if ns >= 0 => Ok(ns),
        _ => bail!("--{flag} {text}: not a duration; write 120s, 500ms or 2m"),
    };
    let mut all = Vec::new();
    if let Some(text) = &args.within {
        all.push(Said { words: format!("--within {text}"), claim: Claim::ReadyWithin(duration("within", text)?) });
    }
    if let Some(text) = &args.outage_max {
        all.push(Said { words: format!("--outage-max {text}"), claim: Claim::OutageMax(duration("outage-max", text)?) });
    }
    if args.no_restarts {
        all.push(Said { words: "--no-restarts".into(), claim: Claim::NoRestarts });
    }
    Ok(all)
}

fn servers(args: &Args) -> anyhow::Result<Servers> {
    let mut descriptions = Vec::new();
    for text in &args.description {
        // A description may hold an equals sign; a unit's name does not.
        match text.rsplit_once('=') {
            Some((description, unit)) if !unit.is_empty() => descriptions.push((description.to_string(), unit.to_string())),
            _ => bail!("--description {text}: write DESCRIPTION=UNIT"),
        }
    }
    Ok(Servers { servers: args.server.clone(), descriptions })
}

/// The times that were asked about.
fn window(args: &Args, opened: &Opened, now: i64) -> anyhow::Result<(Option<i64>, Option<i64>)> {
    let flags = Flags { since: args.since.as_deref(), until: args.until.as_deref(), ..Flags::default() };
    let window = opened.scope(flags, &args.reading, None, now)?.window;
    Ok((window.since, window.until))
}

/// The units that were asked about, and the names of the others. `None`, with a word on why, if one is not there.
fn chosen(
    args: &Args,
    found: &Readiness,
    window: (Option<i64>, Option<i64>),
    err: &mut dyn Write,
) -> anyhow::Result<Option<(Vec<Unit>, Vec<String>)>> {
    let all = &found.history.units;
    let is_meant = |asked: &str, unit: &UnitHistory| {
        let name = windows::name_of(all, unit);
        let short = |text: &str| text.strip_suffix(".service").unwrap_or(text).to_string();
        short(asked) == short(&unit.unit) || short(asked) == short(&name) || asked == format!("{}/{}", unit.host, unit.unit)
    };
    let mut missing = false;
    for asked in args.unit.iter().filter(|asked| !all.iter().any(|unit| is_meant(asked, unit))) {
        missing = true;
        let names: BTreeSet<&str> = all.iter().map(|unit| unit.unit.as_str()).collect();
        let near = suggest::suggest(asked, names.iter().copied());
        let hint = match (&near[..], names.len()) {
            ([], 0) => "no record here is of any unit".to_string(),
            ([], _) => {
                let shown: Vec<&str> = names.iter().copied().take(12).collect();
                format!("there are {}{}", shown.join(", "), if names.len() > 12 { ", …" } else { "" })
            }
            (near, _) => format!("did you mean {}?", near.join(" or ")),
        };
        writeln!(err, "corr: no record here is of unit {}; {}", terminal(asked), terminal(&hint))?;
    }
    if missing {
        return Ok(None);
    }
    let mut units = Vec::new();
    let mut others = Vec::new();
    for unit in all {
        let meant = if args.unit.is_empty() { readiness::is_server(unit) } else { args.unit.iter().any(|asked| is_meant(asked, unit)) };
        if meant {
            units.push(Unit::within(all, unit, window));
        } else {
            others.push(windows::name_of(all, unit));
        }
    }
    Ok(Some((units, others)))
}

/// Judges a claim about one unit. What began before the window is not judged by it.
fn judge(unit: &Unit, said: &Said, (since, _): (Option<i64>, Option<i64>)) -> Claimed {
    let mut judged = unit.unit.clone();
    if let Some(since) = since {
        let began_before = |run: &Invocation| extent(run).0.is_some_and(|first| first < since);
        let back_before = |run: &Invocation| run.instants.ready.upper().and_then(|mark| mark.wall).is_some_and(|wall| wall.end <= since);
        match said.claim {
            Claim::ReadyWithin(_) => judged.invocations.retain(|run| !began_before(run)),
            Claim::OutageMax(_) => judged.invocations.iter_mut().filter(|run| back_before(run)).for_each(|run| run.outage = None),
            Claim::NoRestarts => judged.invocations.iter_mut().filter(|run| began_before(run)).for_each(|run| run.outage = None),
        }
    }
    let answer = if judged.invocations.is_empty() && !unit.unit.invocations.is_empty() {
        Answer::CannotBeKnown { why: "no start of it lies in the window".into(), cites: Vec::new() }
    } else {
        claim::judge(&judged, said.claim)
    };
    Claimed { unit: unit.name.clone(), claim: said.words.clone(), answer }
}

/// Was no run of it ever ready? 1 where that is sure, 4 where it cannot be known, with a word on why.
fn not_ready(unit: &Unit) -> Option<(i32, String)> {
    let runs = &unit.unit.invocations;
    if runs.iter().any(|run| run.instants.ready.happened()) {
        return None;
    }
    let Some(last) = runs.last() else { return Some((exit::NOTHING, "nothing of it lies in the window".into())) };
    let open = runs.iter().rev().find_map(|run| match &run.instants.ready {
        Instant::Unknown { why } => Some(why.clone()),
        Instant::AtLeast { why, .. } => Some((*why).to_string()),
        _ => None,
    });
    let said = unit.unit.cannot_say.first().map(|said| format!("; {}", said.why)).unwrap_or_default();
    match (open, &last.instants.ready) {
        (Some(why), _) => Some((exit::UNPROVABLE, format!("whether it was ready cannot be known: {why}{said}"))),
        (None, Instant::Never { why }) => Some((exit::NOTHING, format!("no run of it was ready: {why}{said}"))),
        (None, _) => None,
    }
}

/// There is no server in what was read.
fn nothing(found: &Readiness, others: &[String], run: &str, err: &mut dyn Write) -> anyhow::Result<()> {
    let run = terminal(run);
    if found.logs == 0 {
        writeln!(err, "corr: {run}: no log of a server, no journal, no poll and no capture; `corr sources {run}` says what each file is")?;
    } else if others.is_empty() {
        writeln!(err, "corr: {run}: no record of a start, a stop or a ready server")?;
    } else {
        let shown: Vec<&str> = others.iter().take(12).map(String::as_str).collect();
        let more = if others.len() > 12 { ", …" } else { "" };
        writeln!(
            err,
            "corr: {run}: no unit is a server by its records; there are {}{more}; --unit NAME shows one",
            terminal(&shown.join(", "))
        )?;
    }
    for said in &found.history.cannot_say {
        writeln!(err, "corr: cannot say {}: {}", said.what, terminal(&said.why))?;
    }
    Ok(())
}

/// Every record that the answer names.
fn cites(found: &Readiness, units: &[Unit], claimed: &[Claimed]) -> BTreeSet<corr_readiness::Cite> {
    let mut all = BTreeSet::new();
    let mut take = |value: Result<serde_json::Value, serde_json::Error>| {
        if let Ok(value) = value {
            readiness::cites(&value, &mut all);
        }
    };
    for unit in units {
        take(serde_json::to_value(&unit.unit));
    }
    for claimed in claimed {
        take(serde_json::to_value(&claimed.answer));
    }
    take(serde_json::to_value(&found.history.steps));
    take(serde_json::to_value(&found.history.cannot_say));
    all
}
