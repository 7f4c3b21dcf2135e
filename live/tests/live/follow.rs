//! Starts followed as they happen: children that write logs as SGLang prints them, servers on the loopback, journalctl real and played.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use corr_live::follow::{Ended, Follow, Followed, MetricState, Outcome, Require, State, Transition, What};
use corr_live::{Clock, Stop, Target};
use corr_parsers::clock::Rule;
use corr_readiness::history::{Cause, Ending, Verdict};
use corr_readiness::{Instant as When, Invocation};

use crate::scrape::wall;
use crate::server::{Server, nobody, ok, status};

mod journal;

const READY: &str = "The server is fired up and ready to roll!";
const SERVED: &str = "INFO:     10.0.0.9:41234 - \"POST /generate HTTP/1.1\" 200 OK";

/// A start as SGLang prints it, without stamps.
const START: &[&str] = &[
    "server_args=ServerArgs(model_path='/m', tp_size=1, host='127.0.0.1', port=30000, api_key='hunter2')",
    "Init torch distributed begin.",
    "Load weight begin. avail mem=138.42 GB",
    "Load weight end. type=Q, dtype=torch.bfloat16, avail mem=107.94 GB, mem usage=30.48 GB.",
    "max_total_num_tokens=2581504, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=4096, context_len=40960",
    "INFO:     Started server process [4242]",
    "INFO:     Uvicorn running on http://127.0.0.1:30000 (Press CTRL+C to quit)",
    READY,
];

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn follow(units: &[&str]) -> Follow {
    Follow {
        units: units.iter().map(|unit| (*unit).to_owned()).collect(),
        every: ms(50),
        timeout: Duration::from_secs(30),
        zone: Some(Rule::Fixed(0)),
        ..Follow::new(Clock::new(wall))
    }
}

fn file(path: &Path) -> Followed {
    Followed { path: path.to_owned(), unit: None }
}

/// Follows to the end; every transition with the outcome.
async fn run(follow: Follow) -> (Outcome, Vec<Transition>) {
    run_until(follow, Stop::new()).await
}

async fn run_until(follow: Follow, stop: Stop) -> (Outcome, Vec<Transition>) {
    let mut all = Vec::new();
    let outcome = follow.follow(stop, |transition| all.push(transition.clone())).await.unwrap();
    (outcome, all)
}

/// UTC now, as SGLang stamps a line.
fn stamp(ns: i64) -> String {
    let seconds = ns / 1_000_000_000;
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    // Fliegel and Van Flandern, for days since 1970.
    let (l, n);
    {
        let a = days + 2_440_588 + 68_569;
        n = 4 * a / 146_097;
        l = a - (146_097 * n + 3) / 4;
    }
    let i = 4000 * (l + 1) / 1_461_001;
    let l = l - 1461 * i / 4 + 31;
    let j = 80 * l / 2447;
    let day = l - 2447 * j / 80;
    let month = j + 2 - 12 * (j / 11);
    let year = 100 * (n - 49) + i + j / 11;
    format!("{year}-{month:02}-{day:02} {:02}:{:02}:{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60)
}

fn line(text: &str) -> String {
    format!("[{}] {text}\n", stamp(wall()))
}

fn add(path: &Path, text: &str) {
    OpenOptions::new().append(true).create(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// A process that prints a start line by line into a file, and goes on running.
fn engine(folder: &Path, log: &Path, lines: &[&str]) -> Child {
    let script = folder.join("start.txt");
    std::fs::write(&script, lines.join("\n") + "\n").unwrap();
    let program = "while IFS= read -r line; do printf '[%s] %s\\n' \"$(date -u '+%Y-%m-%d %H:%M:%S')\" \"$line\"; sleep 0.03; done < \"$1\"; exec sleep 60";
    let out = OpenOptions::new().append(true).create(true).open(log).unwrap();
    Command::new("sh").args(["-c", program, "sh"]).arg(&script).stdout(out).spawn().unwrap()
}

/// Waits until a file holds so many of a text.
fn wait_for(path: &Path, text: &str, times: usize) {
    let until = Instant::now() + Duration::from_secs(20);
    while std::fs::read_to_string(path).unwrap_or_default().matches(text).count() < times {
        assert!(Instant::now() < until, "no `{text}` in {}", path.display());
        std::thread::sleep(ms(5));
    }
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// `/health` and `/metrics` of a server: 0 starting, 1 ready, 2 ready and has served.
fn engine_server(phase: &Arc<AtomicU8>) -> Server {
    let phase = Arc::clone(phase);
    Server::new(move |_, head| {
        let phase = phase.load(Ordering::SeqCst);
        if head.starts_with("GET /health") {
            return if phase == 0 { status("503 Service Unavailable") } else { ok("") };
        }
        let served = if phase == 2 { SERVED_METRICS } else { "" };
        ok(&format!("{CONFIG_METRICS}{served}"))
    })
}

/// What a server of 0.5.11 exposes before its scheduler has reported, and what comes with the first report and request.
const CONFIG_METRICS: &str = "# TYPE sglang:engine_startup_time gauge\nsglang:engine_startup_time{model_name=\"m\"} 12.5\n";
const SERVED_METRICS: &str = "# TYPE sglang:token_usage gauge\nsglang:token_usage{model_name=\"m\",tp_rank=\"0\"} 0.1\n\
    # TYPE sglang:num_used_tokens gauge\nsglang:num_used_tokens{model_name=\"m\",tp_rank=\"0\"} 12\n";

fn health(server: &Server) -> Target {
    Target::parse_for(&format!("http://{}", server.at), "/health").unwrap()
}

fn metrics(server: &Server) -> Target {
    Target::parse(&server.url()).unwrap()
}

/// The whats of one run, in the order told.
fn of_run(all: &[Transition], run: usize) -> Vec<What> {
    all.iter().filter(|transition| transition.run == Some(run) && !transition.again).map(|transition| transition.what).collect()
}

fn told(all: &[Transition], what: What) -> &Transition {
    all.iter().find(|transition| transition.what == what).unwrap_or_else(|| panic!("no {what:?} in {all:#?}"))
}

fn runs(outcome: &Outcome) -> &[Invocation] {
    let [unit] = &outcome.history.units[..] else { panic!("{:?}", outcome.history.units) };
    &unit.invocations
}

#[tokio::test]
async fn a_server_that_is_killed_and_restarted_is_followed_until_it_serves() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("decode.log");
    let phase = Arc::new(AtomicU8::new(0));
    let mut server = engine_server(&phase);
    let mut plan = follow(&["decode"]);
    plan.files = vec![file(&log)];
    plan.health = vec![health(&server)];
    plan.metrics = vec![metrics(&server)];
    plan.require = Require::Served;
    plan.expect_metric = vec!["sglang:token_usage".into()];
    let (dir, path, flag) = (folder.path().to_owned(), log.clone(), Arc::clone(&phase));
    let driver = std::thread::spawn(move || {
        let first = engine(&dir, &path, START);
        wait_for(&path, READY, 1);
        flag.store(1, Ordering::SeqCst);
        std::thread::sleep(ms(300));
        kill(first);
        server.stop();
        flag.store(0, Ordering::SeqCst);
        std::thread::sleep(ms(1200));
        let lines: Vec<&str> = START.iter().copied().chain([SERVED]).collect();
        let second = engine(&dir, &path, &lines);
        wait_for(&path, "Uvicorn running", 2);
        server.start();
        wait_for(&path, "POST /generate", 1);
        std::thread::sleep(ms(300));
        flag.store(2, Ordering::SeqCst);
        (second, server)
    });
    let (outcome, all) = run(plan).await;
    let (second, _server) = driver.join().unwrap();
    kill(second);
    assert_eq!((outcome.exit_code(), outcome.ended, outcome.units[0].state), (0, Ended::Answered, State::Holds), "{:#?}", outcome.units);
    let life = [What::Started, What::Execd, What::Loading, What::Loaded, What::Listening, What::Ready];
    for run in [0, 1] {
        let seen: Vec<What> = of_run(&all, run).into_iter().filter(|what| life.contains(what)).collect();
        assert_eq!(seen, life, "run {run}");
    }
    let [first, second] = runs(&outcome) else { panic!("{:?}", runs(&outcome)) };
    assert_eq!((first.verdict, &second.cause), (Verdict::ReadyThenDied, &Cause::StartedAgain { after: Ending::Silent }));
    assert!(second.instants.first_served.happened() && second.instants.metrics_live.happened() && second.outage.is_some());
    // The kill is seen by the poll long before the next start says so.
    let place = |what: What, run: Option<usize>| all.iter().position(|t| t.what == what && t.run == run).unwrap();
    assert!(place(What::HealthDown, None) < place(What::HealthUp, None), "503 at first");
    let down = all.iter().rposition(|t| t.what == What::HealthDown && t.says.contains("refused")).unwrap();
    assert!(place(What::Ready, Some(0)) < down && down < place(What::Started, Some(1)) && place(What::Ended, Some(0)) > down);
    let ready = all.iter().find(|t| t.what == What::Ready && t.run == Some(1) && matches!(t.instant, Some(When::Exact { .. }))).unwrap();
    assert!(ready.cites[0].text.ends_with(READY) && ready.cites[0].source.ends_with("decode.log"), "{ready:?}");
    // The citation leads to the line.
    let bytes = std::fs::read_to_string(&log).unwrap();
    assert!(bytes[ready.cites[0].offset as usize..].lines().next().unwrap().ends_with(READY));
    assert_eq!(outcome.metrics[0].state, MetricState::There);
    assert!(told(&all, What::MetricThere).says.contains("1 series"));
    let shown = serde_json::to_string(&(&outcome, &all)).unwrap();
    assert!(!shown.contains("hunter2"), "the configuration's key is withheld");
}

#[tokio::test]
async fn a_log_is_followed_through_a_rotation_in_the_middle_of_a_start() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("a.log");
    let path = log.clone();
    let driver = std::thread::spawn(move || {
        for text in &START[..3] {
            add(&path, &line(text));
            std::thread::sleep(ms(20));
        }
        std::thread::sleep(ms(100));
        let mut old = OpenOptions::new().append(true).open(&path).unwrap();
        std::fs::rename(&path, path.with_extension("log.1")).unwrap();
        // The writer has not noticed yet.
        old.write_all(line(START[3]).as_bytes()).unwrap();
        std::thread::sleep(ms(100));
        for text in &START[4..7] {
            add(&path, &line(text));
        }
        // A line that comes in two pieces.
        let last = line(READY);
        let (begin, end) = last.split_at(40);
        add(&path, begin);
        std::thread::sleep(ms(300));
        add(&path, end);
    });
    let mut plan = follow(&["a"]);
    plan.files = vec![file(&log)];
    let (outcome, all) = run(plan).await;
    driver.join().unwrap();
    assert_eq!(outcome.exit_code(), 0, "{:#?}", outcome.units);
    let expected = [What::Started, What::Execd, What::Loading, What::Loaded, What::Listening, What::Ready];
    assert_eq!(of_run(&all, 0), expected);
    assert_eq!((outcome.sources[0].rotations, outcome.sources[0].records, runs(&outcome).len()), (1, 8, 1));
    let ready = told(&all, What::Ready);
    let bytes = std::fs::read_to_string(&log).unwrap();
    assert_eq!(ready.cites[0].file, 1, "the second file of the path");
    assert!(bytes[ready.cites[0].offset as usize..].trim_end().ends_with(READY) && ready.cites[0].offset > 0);
    let loaded = told(&all, What::Loaded);
    let old = std::fs::read_to_string(log.with_extension("log.1")).unwrap();
    assert!(loaded.cites.iter().any(|cite| cite.file == 0 && old[cite.offset as usize..].contains("Load weight end")), "{loaded:?}");
}

#[tokio::test]
async fn a_log_that_is_truncated_is_read_from_its_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("a.log");
    add(&log, &line("some text of a start that was there before"));
    let path = log.clone();
    let driver = std::thread::spawn(move || {
        for text in &START[..4] {
            add(&path, &line(text));
        }
        std::thread::sleep(ms(150));
        File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
        for text in &START[4..] {
            add(&path, &line(text));
        }
    });
    let mut plan = follow(&["a"]);
    plan.files = vec![file(&log)];
    let (outcome, all) = run(plan).await;
    driver.join().unwrap();
    assert_eq!((outcome.exit_code(), outcome.sources[0].truncations), (0, 1), "{:#?}", outcome.units);
    assert_eq!(runs(&outcome).len(), 1);
    assert!(all.iter().any(|t| t.what == What::Source && t.says.contains("truncated")));
}

#[tokio::test]
async fn a_unit_that_is_ready_already_is_recognised_however_long_ago_that_was() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("a.log");
    let start: String = START.iter().map(|text| line(text)).collect();
    let batch = line("Decode batch. #running-req: 1, #token: 12, token usage: 0.00, gen throughput (token/s): 9.31, #queue-req: 0, ");
    // Its start is 3 MB back.
    std::fs::write(&log, format!("{start}{start}{}", batch.repeat(22_000))).unwrap();
    let mut plan = follow(&["a"]);
    plan.files = vec![file(&log)];
    let began = Instant::now();
    let (outcome, all) = run(plan).await;
    assert_eq!((outcome.exit_code(), outcome.units[0].state), (0, State::Holds));
    assert!(all.iter().all(|t| t.before) && told(&all, What::Ready).cites[0].text.ends_with(READY), "{all:#?}");
    assert_eq!(told(&all, What::Ready).run, Some(1), "of the newest run alone");
    assert!(outcome.units[0].says.contains("a log alone does not tell"), "{:?}", outcome.units[0]);
    println!("recognised after {:?}", began.elapsed());

    // The log says ready, and nobody answers: that is not ready.
    let mut plan = follow(&["a"]);
    plan.files = vec![file(&log)];
    plan.health = vec![Target::parse_for(&nobody(), "/health").unwrap()];
    plan.timeout = ms(700);
    let (outcome, _) = run(plan).await;
    assert_eq!((outcome.exit_code(), outcome.ended), (1, Ended::TimedOut));
    assert!(outcome.units[0].says.contains("it is ready by its log") && outcome.units[0].says.contains("refused"), "{:?}", outcome.units);
}

#[tokio::test]
async fn what_is_not_ready_in_time_says_how_far_it_came() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("a.log");
    add(&log, &START[..3].iter().map(|text| line(text)).collect::<String>());
    let mut plan = follow(&["a"]);
    plan.files = vec![file(&log)];
    plan.timeout = ms(400);
    let (outcome, all) = run(plan).await;
    assert_eq!((outcome.exit_code(), outcome.ended, outcome.units[0].state), (1, Ended::TimedOut, State::Waits));
    assert_eq!(outcome.units[0].says, "loading weights; not ready");
    assert_eq!(of_run(&all, 0), [What::Started, What::Execd, What::Loading]);
}

#[tokio::test]
async fn a_start_that_fails_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("a.log");
    let path = log.clone();
    let driver = std::thread::spawn(move || {
        add(&path, &START[..3].iter().map(|text| line(text)).collect::<String>());
        std::thread::sleep(ms(100));
        add(&path, &line("Scheduler hit an exception: Traceback (most recent call last):"));
        add(&path, "  File \"x.py\", line 1, in f\nRuntimeError: Not enough memory.\n\n");
        add(&path, &line("Received sigquit from a child process. It usually means the child failed."));
    });
    let mut plan = follow(&["a"]);
    plan.files = vec![file(&log)];
    let (outcome, all) = run(plan).await;
    driver.join().unwrap();
    assert_eq!((outcome.exit_code(), outcome.ended, outcome.units[0].state), (1, Ended::Answered, State::Failed));
    assert!(outcome.units[0].says.contains("its start failed"), "{:?}", outcome.units[0]);
    assert!(outcome.units[0].cites.iter().any(|cite| cite.text.contains("exception") || cite.text.contains("sigquit")));
    assert!(told(&all, What::Crashed).cites[0].offset > 0);
}

#[tokio::test]
async fn a_crash_from_before_is_not_the_next_starts() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("a.log");
    add(&log, &START[..3].iter().map(|text| line(text)).collect::<String>());
    add(&log, &line("Received sigquit from a child process. It usually means the child failed."));
    let path = log.clone();
    let driver = std::thread::spawn(move || {
        std::thread::sleep(ms(300));
        add(&path, &START.iter().map(|text| line(text)).collect::<String>());
    });
    let mut plan = follow(&["a"]);
    plan.files = vec![file(&log)];
    let (outcome, all) = run(plan).await;
    driver.join().unwrap();
    assert_eq!(outcome.exit_code(), 0, "{:#?}", outcome.units);
    assert_eq!(runs(&outcome)[1].cause, Cause::StartedAgain { after: Ending::Crashed });
    assert_eq!((told(&all, What::Crashed).before, told(&all, What::Ready).run), (true, Some(1)));
}

#[tokio::test]
async fn what_a_killed_process_left_unended_is_read_after_a_second() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("a.log");
    let path = log.clone();
    let driver = std::thread::spawn(move || {
        add(&path, &START[..7].iter().map(|text| line(text)).collect::<String>());
        add(&path, line(READY).trim_end());
    });
    let mut plan = follow(&["a"]);
    plan.files = vec![file(&log)];
    let began = Instant::now();
    let (outcome, _) = run(plan).await;
    driver.join().unwrap();
    assert_eq!(outcome.exit_code(), 0, "{:#?}", outcome.units);
    assert!(began.elapsed() >= ms(900), "a line without its end is held back");
}

#[tokio::test]
async fn an_end_asked_for_gives_what_was_seen() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("a.log");
    add(&log, &START[..5].iter().map(|text| line(text)).collect::<String>());
    let mut plan = follow(&["a"]);
    plan.files = vec![file(&log)];
    let stop = Stop::new();
    let asked = stop.clone();
    let driver = std::thread::spawn(move || {
        std::thread::sleep(ms(300));
        asked.ask();
    });
    let (outcome, all) = run_until(plan, stop).await;
    driver.join().unwrap();
    assert_eq!((outcome.exit_code(), outcome.ended), (4, Ended::Cancelled));
    assert_eq!(outcome.units[0].says, "weights are loaded; not ready");
    assert!(told(&all, What::Loaded).before);
}

#[tokio::test]
async fn what_cannot_be_known_is_said_at_once() {
    let folder = tempfile::tempdir().unwrap();
    // A folder cannot be read as a log, whoever asks.
    let mut plan = follow(&["a"]);
    plan.files = vec![file(folder.path())];
    let (outcome, _) = run(plan).await;
    assert_eq!((outcome.exit_code(), outcome.ended, outcome.units[0].state), (4, Ended::Answered, State::CannotBeKnown));
    assert!(outcome.units[0].says.contains("cannot be read"), "{:?}", outcome.units[0]);

    let mut plan = follow(&["a", "b"]);
    plan.files = vec![file(&folder.path().join("a.log"))];
    let error = plan.follow(Stop::new(), |_| {}).await.unwrap_err();
    assert!(error.to_string().starts_with("no source of unit b"), "{error}");

    // A name that nothing is seen of is no failure of anything.
    let mut plan = follow(&["a"]);
    plan.files = vec![file(&folder.path().join("never.log"))];
    plan.timeout = ms(200);
    let (outcome, all) = run(plan).await;
    assert_eq!((outcome.exit_code(), outcome.units[0].state), (4, State::CannotBeKnown));
    assert!(all.iter().any(|t| t.says.contains("is not there; waiting for it")), "{all:?}");
}

#[tokio::test]
async fn a_negative_result_about_a_metric_is_an_answer() {
    let phase = Arc::new(AtomicU8::new(1));
    let server = engine_server(&phase);
    let bare = Server::new(|_, head| if head.starts_with("GET /health") { ok("") } else { status("404 Not Found") });
    let gone = nobody();
    let of = |target: Target, health_of: Option<&Server>, timeout: u64| {
        let mut plan = follow(&["a"]);
        plan.metrics = vec![target];
        plan.health = health_of.map(health).into_iter().collect();
        plan.expect_metric = vec!["sglang:token_usage".into()];
        plan.settle = ms(200);
        plan.timeout = ms(timeout);
        plan
    };
    // Nothing has reported: lazy, and that is not known better by waiting.
    let (outcome, _) = run(of(metrics(&server), Some(&server), 500)).await;
    assert_eq!((outcome.metrics[0].state, outcome.exit_code()), (MetricState::Lazy, 4), "{:?}", outcome.metrics);
    assert_eq!(outcome.units[0].state, State::Holds);
    // A client was answered, and it is still not there.
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("a.log");
    let served: String = START.iter().chain(&[SERVED]).map(|text| line(text)).collect();
    std::fs::write(&log, served).unwrap();
    std::thread::sleep(ms(1100));
    let mut plan = of(metrics(&server), Some(&server), 20_000);
    plan.files = vec![file(&log)];
    let began = Instant::now();
    let (outcome, _) = run(plan).await;
    assert_eq!((outcome.metrics[0].state, outcome.exit_code()), (MetricState::Missing, 1), "{:?}", outcome.metrics);
    assert!(outcome.metrics[0].says.contains("still absent") && began.elapsed() < Duration::from_secs(10));
    // Not switched on.
    let (outcome, _) = run(of(metrics(&bare), Some(&bare), 20_000)).await;
    assert_eq!((outcome.metrics[0].state, outcome.exit_code()), (MetricState::NotEnabled, 1), "{:?}", outcome.metrics);
    assert!(outcome.metrics[0].says.contains("--enable-metrics"));
    // Nobody there.
    let (outcome, _) = run(of(Target::parse(&gone).unwrap(), Some(&bare), 400)).await;
    assert_eq!((outcome.metrics[0].state, outcome.exit_code()), (MetricState::Down, 1), "{:?}", outcome.metrics);
    // It comes while it is waited for.
    let flag = Arc::clone(&phase);
    let driver = std::thread::spawn(move || {
        std::thread::sleep(ms(300));
        flag.store(2, Ordering::SeqCst);
    });
    let (outcome, all) = run(of(metrics(&server), Some(&server), 20_000)).await;
    driver.join().unwrap();
    assert_eq!((outcome.metrics[0].state, outcome.exit_code()), (MetricState::There, 0), "{:?}", outcome.metrics);
    assert!(!told(&all, What::MetricThere).cites.is_empty());
}

#[tokio::test]
async fn metrics_are_live_before_the_server_is_ready() {
    let phase = Arc::new(AtomicU8::new(0));
    let server = engine_server(&phase);
    let mut plan = follow(&["a"]);
    plan.metrics = vec![metrics(&server)];
    plan.health = vec![health(&server)];
    plan.require = Require::Metrics;
    let (outcome, _) = run(plan.clone()).await;
    assert_eq!(outcome.exit_code(), 0, "{:#?}", outcome.units);
    plan.require = Require::Ready;
    plan.timeout = ms(300);
    let (outcome, _) = run(plan).await;
    assert_eq!(outcome.exit_code(), 1, "{:#?}", outcome.units);
}

#[tokio::test]
async fn stamps_of_another_zone_are_found_out() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("a.log");
    let path = log.clone();
    // Written four hours west of what is assumed, which here is the machine's zone or UTC.
    let driver = std::thread::spawn(move || {
        std::thread::sleep(ms(100));
        for text in START {
            add(&path, &format!("[{}] {text}\n", stamp(wall() - 4 * 3_600_000_000_000)));
        }
    });
    let mut plan = follow(&["a"]);
    plan.files = vec![file(&log)];
    plan.zone = None;
    let (outcome, all) = run(plan).await;
    driver.join().unwrap();
    let When::Exact { mark } = &runs(&outcome)[0].instants.ready else { panic!("{:?}", runs(&outcome)[0].instants.ready) };
    let late = wall() - mark.wall.unwrap().start;
    assert!((0..20_000_000_000).contains(&late), "{late}");
    assert!(all.iter().any(|t| t.what == What::Source && t.says.contains("another zone")), "{all:#?}");
}

#[tokio::test]
async fn two_units_with_two_files_each_are_kept_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    let mut all_files = Vec::new();
    for unit in ["prefill", "decode"] {
        for (text, at) in START.iter().zip(0i64..) {
            // What uvicorn prints goes to another file.
            let name = if at > 4 { "out" } else { "err" };
            add(&path(&format!("{unit}_w0.{name}")), &format!("[{}] {text}\n", stamp(wall() - (20 - at) * 1_000_000_000)));
        }
        all_files.extend([file(&path(&format!("{unit}_w0.out"))), file(&path(&format!("{unit}_w0.err")))]);
    }
    let mut plan = follow(&["prefill", "decode"]);
    plan.files = all_files;
    let (outcome, all) = run(plan).await;
    assert_eq!(outcome.exit_code(), 0, "{:#?}", outcome.units);
    assert!(outcome.history.units.iter().all(|unit| unit.invocations.len() == 1), "{:#?}", outcome.history.units);
    assert_eq!(all.iter().filter(|t| t.what == What::Ready).map(|t| t.unit.as_str()).collect::<Vec<_>>(), ["prefill", "decode"]);
}
