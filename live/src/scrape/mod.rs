//! Scrapes of endpoints, on one grid, into one capture.
//!
//! One task an endpoint, and one thread that writes: a slow endpoint or disk delays no other endpoint's request. A slot that passes
//! while a scrape still runs is counted in the next record as missed; the grid does not shift.

mod child;
mod output;
mod record;
mod summary;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

pub use child::Ended;
pub use output::{Layout, OutputError};
pub use summary::{Summary, Totals};

use crate::clock::Clock;
use crate::failure::Failure;
use crate::http::{Attempt, Client};
use crate::schedule::Grid;
use crate::stop::Stop;
use crate::target::Target;
use record::{Record, Slot};

/// What is to be done.
#[derive(Clone)]
pub struct Plan {
    pub targets: Vec<Target>,
    pub client: Client,
    pub when: When,
    /// The run ends after this at the latest.
    pub length: Option<Duration>,
    /// The run ends when this command does.
    pub command: Option<Vec<OsString>>,
    pub folder: PathBuf,
    pub layout: Layout,
    /// Goes on in a folder that holds a capture.
    pub append: bool,
}

/// The rhythm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// On a grid of this interval, which is not zero.
    Every(Duration),
    /// Once at the begin and once at the end.
    BeforeAfter,
}

/// Why there is no capture, or no whole one.
#[derive(Debug, thiserror::Error)]
pub enum ScrapeError {
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("the command {command} cannot be started: {error}")]
    Command { command: String, error: std::io::Error },
    #[error("{0} is named twice; what differs is withheld or a name, and the capture could not tell them apart")]
    Twice(String),
    #[error("the thread that writes has died")]
    Writer,
}

/// So long a scrape may go on when the end was asked for.
const GRACE: Duration = Duration::from_secs(2);

/// Scrapes until the plan's end, or until asked to stop. `told` is called after every record with the sums so far.
///
/// The output's folder is made, and an existing capture found, before the first request.
pub async fn run(plan: Plan, clock: Clock, stop: Stop, told: impl FnMut(&Totals) + Send + 'static) -> Result<Summary, ScrapeError> {
    if let Some(twice) = twice(&plan.targets) {
        return Err(ScrapeError::Twice(twice));
    }
    let output = output::Output::open(&plan.folder, plan.layout, plan.append)?;
    let summary = Summary::new(&plan.targets, output.path(), output.mended());
    let (records, written) = mpsc::channel(plan.targets.len().max(4));
    let failed = stop.clone();
    let writer = std::thread::spawn(move || write(output, summary, written, &failed, told));
    let ended = scrape(plan, clock, &stop, records).await;
    // The last sender is gone, so that the writer ends; it has at most a few records left.
    let wrote = tokio::task::spawn_blocking(move || writer.join()).await;
    let (mut summary, wrote) = wrote.map_err(|_| ScrapeError::Writer)?.map_err(|_| ScrapeError::Writer)?;
    wrote?;
    summary.command = ended?;
    Ok(summary)
}

/// Keeps records until there are no more. After an error nothing is written, and the run is stopped.
fn write(
    mut output: output::Output,
    mut summary: Summary,
    mut written: mpsc::Receiver<Record>,
    stop: &Stop,
    mut told: impl FnMut(&Totals),
) -> (Summary, Result<(), OutputError>) {
    let mut result = Ok(());
    while let Some(record) = written.blocking_recv() {
        if result.is_err() {
            continue;
        }
        match output.keep(&record) {
            Ok(bytes) => {
                summary.count(&record, bytes);
                told(summary.totals());
            }
            Err(error) => {
                result = Err(error);
                stop.ask_now();
            }
        }
    }
    (summary, result)
}

async fn scrape(plan: Plan, clock: Clock, stop: &Stop, records: mpsc::Sender<Record>) -> Result<Option<Ended>, ScrapeError> {
    let jobs: Vec<Job> = plan
        .targets
        .iter()
        .enumerate()
        .map(|(endpoint, target)| Job {
            endpoint,
            target: Arc::new(target.clone()),
            client: plan.client.clone(),
            clock,
            stop: stop.clone(),
            records: records.clone(),
        })
        .collect();
    drop(records);
    match plan.when {
        When::BeforeAfter => {
            once(&jobs, "before").await;
            let ended = until(plan.command.as_deref(), plan.length, stop).await;
            // Who asked for the end asked for this scrape; who asks again does not want it.
            once(&jobs, "after").await;
            ended
        }
        When::Every(every) => {
            let grid = Grid::new(Instant::now(), every, plan.length);
            let mut tasks = JoinSet::new();
            for job in jobs {
                tasks.spawn(async move { job.follow(grid).await });
            }
            let ended = match plan.command.as_deref() {
                Some(command) => {
                    let ended = until(Some(command), None, stop).await;
                    stop.ask_soon();
                    ended
                }
                None => Ok(None),
            };
            while tasks.join_next().await.is_some() {}
            ended
        }
    }
}

/// Waits for the end of a command, of a length, or for being asked, whichever comes first; a command is waited for after being asked once.
async fn until(command: Option<&[OsString]>, length: Option<Duration>, stop: &Stop) -> Result<Option<Ended>, ScrapeError> {
    let over = async {
        match length {
            Some(length) => tokio::time::sleep(length).await,
            None => std::future::pending().await,
        }
    };
    let Some(command) = command else {
        tokio::select! {
            () = over => {}
            () = stop.soon() => {}
        }
        return Ok(None);
    };
    tokio::select! {
        () = over => Ok(None),
        ended = child::run(command, stop) => ended.map(Some),
    }
}

/// One scrape of every endpoint.
async fn once(jobs: &[Job], phase: &'static str) {
    let due = Instant::now();
    let mut tasks = JoinSet::new();
    for job in jobs {
        let job = job.clone();
        tasks.spawn(async move { job.take(Slot { phase: Some(phase), ..Slot::default() }, due).await });
    }
    while tasks.join_next().await.is_some() {}
}

/// What a task needs to scrape its endpoint.
#[derive(Clone)]
struct Job {
    endpoint: usize,
    target: Arc<Target>,
    client: Client,
    clock: Clock,
    stop: Stop,
    records: mpsc::Sender<Record>,
}

impl Job {
    async fn follow(&self, grid: Grid) {
        let mut done = None;
        while let Some(due) = grid.next(done, Instant::now()) {
            tokio::select! {
                biased;
                () = self.stop.soon() => return,
                () = tokio::time::sleep_until(due.at) => {}
            }
            let slot = Slot { slot: Some(due.slot), missed: due.missed, phase: None, tolerance: grid.tolerance() };
            if !self.take(slot, due.at).await {
                return;
            }
            done = Some(due.slot);
        }
    }

    /// One scrape, kept whatever comes of it. False when nobody keeps any more.
    async fn take(&self, slot: Slot, due: Instant) -> bool {
        let (at, began) = (self.clock.wall(), Instant::now());
        let attempt = tokio::select! {
            attempt = self.client.get(&self.target, &self.clock) => attempt,
            // What comes before is asked for at its end: it has a right to its grace from then on.
            () = self.patience(slot) => Attempt::stopped(at, began),
        };
        let record = Record::new(self.endpoint, self.target.clone(), &self.clock, slot, due, attempt);
        self.records.send(record).await.is_ok()
    }

    /// Ends when a running scrape must not go on.
    async fn patience(&self, slot: Slot) {
        if slot.phase.is_none() {
            tokio::select! {
                () = self.stop.now() => {}
                () = async { self.stop.soon().await; tokio::time::sleep(GRACE).await } => {}
            }
        } else {
            self.stop.now().await;
        }
    }
}

impl Attempt {
    fn stopped(at: i64, began: Instant) -> Attempt {
        Attempt {
            at,
            began,
            head_after: None,
            took: began.elapsed(),
            status: None,
            content_type: None,
            server: None,
            bytes: 0,
            body: Err(Failure::Stopped),
        }
    }
}

/// A target that is there more than once: readers of the capture tell endpoints apart by what is shown.
fn twice(targets: &[Target]) -> Option<String> {
    let mut seen = std::collections::HashSet::new();
    targets.iter().find(|t| !seen.insert(t.shown())).map(|t| t.shown().to_string())
}
