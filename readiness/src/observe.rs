//! What a record says of a server's life, in the words of the state machine.

use corr_parsers::stamp::Stamp;

use crate::time::Cite;

/// Who wrote a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// PID 1 or a user's manager, speaking of a unit.
    Manager,
    /// journald, speaking of a unit or of the journal.
    Journal,
    /// A process of the unit.
    Service,
}

/// A start or stop job of systemd, as far as an entry names it (v237 and later; the id from v245).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Job {
    pub id: Option<String>,
    /// `start`, `stop`, `restart`.
    pub kind: Option<String>,
    pub result: Option<String>,
}

/// One record, digested. Order matters: feed a source from its begin to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    pub cite: Cite,
    /// UTC interval; `None` where the rendering has no wall clock.
    pub wall: Option<Stamp>,
    /// Nanoseconds since boot, of the moment that `wall` stands for.
    pub mono: Option<i64>,
    /// By how many nanoseconds `mono` may be too late.
    pub mono_late: i64,
    /// Empty where the rendering does not say.
    pub boot: String,
    pub host: String,
    /// systemd unit, or the caller's own name of a process; empty where nothing says.
    pub unit: String,
    /// `D` of `Started D.`, where the text names no unit.
    pub description: String,
    pub invocation: String,
    pub pid: Option<u32>,
    /// Syslog identifier; empty where the rendering has none.
    pub ident: String,
    pub writer: Writer,
    /// The text is of a server's own format, not of any program.
    pub serving: bool,
    /// Only a server that is past its configuration prints the like: neither a note of a start nor a line without a kind of its own.
    pub proper: bool,
    /// The rendering left its text out (`-o json` without `--all`).
    pub lost: bool,
    pub job: Job,
    /// A worker that the record names: the process's own, or another one.
    pub about: Option<About>,
    pub fact: Fact,
}

/// A worker by the name that processes have for each other: a worker id of Dynamo, an address of SGLang.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    pub worker: String,
    pub word: Word,
}

/// What a record says of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// It is this process's own name.
    Own,
    /// Another process lost it: a broken stream, a failed health check, a removal.
    Lost,
    /// Another process may send to it.
    Found,
}

/// What a record says. What each proves stands in README.md.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    // The manager's.
    Starting,
    Started,
    Finished,
    Skipped,
    StartFailed,
    DependencyFailed,
    Stopping,
    Stopped,
    /// `exited/1/FAILURE`.
    MainExited(String),
    Failed(Option<String>),
    Deactivated,
    RestartDue,
    RestartScheduled(Option<u64>),
    StartLimit,
    /// Which state took too long: `start`, `stop-sigterm`.
    TimedOut(String),
    WatchdogExpired,
    ExecFailed,
    OomKilled,
    /// `systemctl kill`.
    SignalSent,
    /// journald dropped messages of the unit.
    Suppressed(Option<u64>),
    ClockSet,
    /// Another boot follows.
    BootMarker,
    // A process's.
    ServerArgs(ServerArgs),
    /// A Dynamo process began.
    RuntimeBegan,
    /// A rank sets up its process groups: the first line of a start that every rank prints.
    InitBegan,
    /// A rank begins to load weights.
    Loading(String),
    /// A rank's weights are resident.
    Loaded(String),
    /// The scheduler knows its KV pool.
    Sized,
    ServerProcess(Option<u32>),
    Listening,
    ReadyLine,
    /// A step of the warm-up.
    WarmingUp,
    /// What failed: the text's first words.
    WarmupFailed(String),
    /// A Dynamo worker is registered, or a frontend's API is ready.
    Registered,
    /// An answer of class 2xx to a request for tokens; from this host or another.
    Served {
        local: bool,
    },
    /// A batch; of several requests? A warm-up is one.
    Batch {
        several: bool,
    },
    /// It had a signal to stop, by its own word.
    Sigterm,
    /// It shuts down; who wants it is not said.
    ShutsDown,
    Draining {
        left: Option<u64>,
    },
    /// `/health` answers 503: no output within its window.
    HealthFailed,
    /// uvicorn's last line.
    ProcessFinished,
    /// A process of the server failed.
    Crashed(&'static str),
    /// Any other record.
    Line,
}

/// What of the configuration bears on readiness.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerArgs {
    /// `prefill`, `decode`, `null`.
    pub disaggregation: Option<String>,
    /// Ranks of all nodes that load weights; `None`: not said.
    pub ranks: Option<u64>,
    pub nodes: Option<u64>,
    /// Above 0: no HTTP server, no ready line.
    pub node_rank: Option<u64>,
    pub skips_warmup: bool,
    pub host: Option<String>,
    pub port: Option<u64>,
}
