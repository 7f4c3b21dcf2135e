//! Measures corr beside the naive index and ripgrep on the same generated log, and checks the answers.
//!
//! `compare DIR [--bytes N] [--seed N] [--short]` works in DIR and leaves the log there.
//! `compare generate FILE [--bytes N] [--seed N] [--short] [--truth FILE]` only writes the log and, as JSON, the true answers of what `benches/peers/run` asks.
//! benches/README.md has the command that builds and runs it, and what it said on one machine.

mod log;
mod naive;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use log::Requests;

/// Kernel ticks a second, as /proc counts CPU time; 100 on every Linux that Rust runs on.
const TICKS: f64 = 100.0;
/// Runs of each short command, taken in turns with its peer.
const RUNS: usize = 15;

struct Args {
    place: PathBuf,
    bytes: u64,
    seed: u64,
    requests: Requests,
    truth: Option<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1).collect::<Vec<_>>();
    match args.first().map(String::as_str) {
        Some("naive") => {
            ensure!(args.len() == 3, "naive LOG DIR");
            println!("{} documents", naive::index(Path::new(&args[1]), Path::new(&args[2]))?);
            Ok(())
        }
        Some("generate") => {
            args.remove(0);
            let args = read(&args)?;
            generate(&args.place, &args)
        }
        _ => compare(&read(&args)?),
    }
}

fn read(args: &[String]) -> anyhow::Result<Args> {
    let mut place = None;
    let mut truth = None;
    let (mut bytes, mut seed, mut requests) = (1_000_000_000, 7, Requests::Full);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--truth" {
            truth = Some(PathBuf::from(args.next().context("--truth needs a file")?));
            continue;
        }
        let mut number = || args.next().and_then(|n| n.parse().ok()).with_context(|| format!("{arg} needs a number"));
        match arg.as_str() {
            "--bytes" => bytes = number()?,
            "--seed" => seed = number()?,
            "--short" => requests = Requests::Short,
            other if place.is_none() && !other.starts_with('-') => place = Some(PathBuf::from(other)),
            other => bail!("unknown argument {other}"),
        }
    }
    Ok(Args { place: place.context("give the directory to work in")?, bytes, seed, requests, truth })
}

fn generate(to: &Path, args: &Args) -> anyhow::Result<()> {
    let mut file = std::io::BufWriter::with_capacity(1 << 20, std::fs::File::create(to)?);
    let written = log::write(&mut file, args.bytes, args.seed, args.requests)?;
    file.flush()?;
    println!("{}: {} bytes, {} lines", to.display(), written.bytes, written.lines);
    if let Some(path) = &args.truth {
        let (since, until, in_window) = written.window();
        let log::Written { bytes, lines, records, decode, with_rid, with_rare, with_medium, .. } = &written;
        let (rid, rare, medium) = (log::RARE_RID, log::RARE_WORD, log::MEDIUM_WORD);
        let json = format!(
            "{{\"bytes\": {bytes}, \"lines\": {lines}, \"records\": {records}, \"decode_by_rank\": {decode:?},\n \
             \"rid\": \"{rid}\", \"with_rid\": {with_rid}, \"word\": \"{rare}\", \"with_word\": {with_rare}, \
             \"frequent\": \"{medium}\", \"with_frequent\": {with_medium},\n \
             \"since\": {since}, \"until\": {until}, \"in_window\": {in_window}}}\n"
        );
        std::fs::write(path, json)?;
    }
    Ok(())
}

/// The program that is measured: `corr` beside this one, built with the settings that users get.
fn corr() -> anyhow::Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("corr");
    ensure!(program.is_file(), "{}: not built; `cargo build --release` builds it", program.display());
    Ok(program)
}

/// What a process took.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    wall: f64,
    /// User and system seconds.
    cpu: f64,
    /// Largest anonymous memory that was seen, bytes.
    anonymous: u64,
}

/// Runs a command to its end and says what it cost. CPU and memory are read from /proc while it runs and once more when it has ended but is not
/// yet waited for, so nothing that it does at its end is missed.
fn watch(command: &mut Command) -> anyhow::Result<Cost> {
    let started = Instant::now();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().with_context(|| format!("{command:?}"))?;
    let proc = PathBuf::from(format!("/proc/{}", child.id()));
    let mut cost = Cost::default();
    loop {
        let status = std::fs::read_to_string(proc.join("status"))?;
        let anonymous = status.lines().find_map(|l| l.strip_prefix("RssAnon:")).and_then(|v| v.split_whitespace().next());
        if let Some(kilobytes) = anonymous.and_then(|n| n.parse::<u64>().ok()) {
            cost.anonymous = cost.anonymous.max(kilobytes * 1024);
        }
        if status.lines().any(|l| l.starts_with("State:") && l.contains('Z')) {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    cost.wall = started.elapsed().as_secs_f64();
    let stat = std::fs::read_to_string(proc.join("stat"))?;
    let after_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    cost.cpu = after_name.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<f64>().ok()).sum::<f64>() / TICKS;
    let status = child.wait()?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(cost)
}

/// Wall seconds of two commands run in turns: medians, process start included. Both read warm files.
fn in_turns(a: &mut Command, b: &mut Command, runs: usize) -> anyhow::Result<(f64, f64)> {
    let mut times = [Vec::new(), Vec::new()];
    for run in 0..=runs {
        for (command, times) in [&mut *a, &mut *b].into_iter().zip(&mut times) {
            let started = Instant::now();
            let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().with_context(|| format!("{command:?}"))?;
            ensure!(status.success(), "{command:?}: {status}");
            // The first run of each only warms.
            if run > 0 {
                times.push(started.elapsed().as_secs_f64());
            }
        }
    }
    let [a, b] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    Ok((a, b))
}

fn size_of(dir: &Path) -> u64 {
    walkdir::WalkDir::new(dir).into_iter().flatten().filter_map(|e| e.metadata().ok()).filter(|m| m.is_file()).map(|m| m.len()).sum()
}

/// `rg -c`: how many lines hold a text.
fn lines_with(text: &str, log: &Path) -> anyhow::Result<u64> {
    let output = Command::new("rg").args(["-c", text]).arg(log).output().context("rg, the peer, is not installed")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().parse().unwrap_or(0))
}

/// How many events corr finds.
fn events_with(corr: &Path, query: &str, log: &Path, store: &Path) -> anyhow::Result<u64> {
    let output = Command::new(corr).arg("query").arg(log).args([query, "--limit", "0", "--store"]).arg(store).output()?;
    Ok(output.stdout.iter().filter(|b| **b == b'\n').count() as u64)
}

fn compare(args: &Args) -> anyhow::Result<()> {
    let corr = corr()?;
    std::fs::create_dir_all(&args.place)?;
    let log = args.place.join("scheduler.log");
    let (store, with_text, naive_store, none) =
        (args.place.join("store"), args.place.join("store-text"), args.place.join("naive"), args.place.join("no-store"));
    for dir in [&store, &with_text, &naive_store] {
        if dir.exists() {
            std::fs::remove_dir_all(dir)?;
        }
    }
    generate(&log, args)?;
    let raw = std::fs::metadata(&log)?.len() as f64;

    let index = watch(Command::new(&corr).arg("index").arg(&log).arg("--store").arg(&store))?;
    let naive = watch(Command::new(std::env::current_exe()?).arg("naive").arg(&log).arg(&naive_store))?;
    let again = watch(Command::new(&corr).arg("index").arg(&log).arg("--rebuild").arg("--store").arg(&store))?;
    let texted = watch(Command::new(&corr).arg("index").arg(&log).arg("--embed-text").arg("--store").arg(&with_text))?;

    println!("{:34} {:>9} {:>9} {:>10} {:>8}", "index", "CPU s", "wall s", "anon MB", "of raw");
    let row = |name: &str, cost: &Cost, dir: &Path| {
        let share = size_of(dir) as f64 * 100.0 / raw;
        println!("{name:34} {:9.2} {:9.2} {:10.0} {share:7.1}%", cost.cpu, cost.wall, cost.anonymous as f64 / 1e6);
    };
    row("corr index", &index, &store);
    row("corr index, once more", &again, &store);
    row("corr index --embed-text", &texted, &with_text);
    row("naive", &naive, &naive_store);
    let cpu = index.cpu.min(again.cpu);
    verdict("naive / corr, CPU", naive.cpu / cpu, 5.0, true);
    verdict("anonymous memory of corr index, MB", index.anonymous.max(again.anonymous) as f64 / 1e6, 700.0, false);
    verdict("store / raw, %", size_of(&store) as f64 * 100.0 / raw, 20.0, false);
    verdict("store with text / raw, %", size_of(&with_text) as f64 * 100.0 / raw, 35.0, false);

    let mut query = Command::new(&corr);
    query.arg("query").arg(&log).arg(log::RARE_RID).arg("--store").arg(&store);
    let (ours, rg) = in_turns(&mut query, Command::new("rg").args(["-c", log::RARE_RID]).arg(&log), RUNS)?;
    println!("rare id by the index: corr {:.1} ms, rg -c {:.1} ms", ours * 1e3, rg * 1e3);
    verdict("rg / corr, a rare id with process start", rg / ours, 5.0, true);
    for word in [log::RARE_WORD, log::MEDIUM_WORD] {
        let mut query = Command::new(&corr);
        query.arg("query").arg(&log).args([word, "-n", "5", "--store"]).arg(&none);
        let (ours, rg) = in_turns(&mut query, Command::new("rg").args(["-c", word]).arg(&log), RUNS)?;
        println!("{word} by a scan: corr {:.1} ms, rg -c {:.1} ms", ours * 1e3, rg * 1e3);
        verdict(&format!("corr / rg, scan for {word}"), ours / rg, 3.0, false);
    }

    println!("{:34} {:>9} {:>9} {:>10}", "answers", "rg lines", "by index", "by a scan");
    for text in [log::RARE_RID, log::RARE_WORD, log::MEDIUM_WORD, "illegal"] {
        // Each of these stands at most once in a record, so lines and records are as many.
        let counts = [lines_with(text, &log)?, events_with(&corr, text, &log, &store)?, events_with(&corr, text, &log, &none)?];
        println!("{text:34} {:9} {:9} {:10}", counts[0], counts[1], counts[2]);
        ensure!(counts[0] > 0 && counts[0] == counts[1] && counts[0] == counts[2], "{text}: the answers differ");
    }
    Ok(())
}

fn verdict(what: &str, value: f64, goal: f64, at_least: bool) {
    let met = if at_least { value >= goal } else { value <= goal };
    let (sign, word) = (if at_least { "≥" } else { "≤" }, if met { "met" } else { "MISSED" });
    println!("  {what}: {value:.2} (goal {sign} {goal}: {word})");
}
