//! What a report says: values alone, in the words that every command prints. Nothing here opens a file or writes markup.

use std::collections::BTreeMap;

use corr_metrics::model::EndpointId;
use serde::Serialize;

/// Everything that a report says of a run, or of a window of it.
#[derive(Clone, Debug)]
pub struct Report {
    pub head: Head,
    pub covered: Covered,
    pub facts: Facts,
    pub pipeline: Pipeline,
    pub lives: Lives,
    pub timeline: Timeline,
    pub series: Plots,
    pub figures: Figures,
    pub records: Records,
}

/// What was asked, and how it can be asked again.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Head {
    /// The run as the user gave it, all arguments.
    pub run: String,
    /// In words: `whole run`, `window measured, session s-1`.
    pub asked: String,
    /// UTC ns, half-open; `None` for the whole run.
    pub window: Option<(i64, i64)>,
    /// What the window resolved to, and what says so.
    pub window_words: Option<String>,
    /// The axis of all pictures, UTC ns: the window, else from the first stamp or sample to the last. `None` where nothing has a time.
    pub axis: Option<(i64, i64)>,
    /// Commands that give each part again.
    pub commands: Vec<String>,
    /// Bodies and credentials are shown.
    #[serde(skip)]
    pub bodies: bool,
}

/// Where something stands. `text` is what every other command prints.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Cite {
    pub text: String,
    /// Source by number and byte of the record: the key of [`Records`].
    #[serde(skip)]
    pub at: Option<(u32, u64)>,
    /// The command that opens it; empty where `corr show` does.
    #[serde(skip)]
    pub open: String,
}

/// Records that citations name, as `corr show` shows them: what is withheld is masked.
#[derive(Clone, Debug, Default)]
pub struct Records {
    pub by: BTreeMap<(u32, u64), Raw>,
    /// Lines of files that hold no events, by citation.
    pub lines: BTreeMap<String, Raw>,
    /// Citations whose record is left out since the page would be too long.
    pub left_out: u64,
    /// Flags that `corr show` needs to read a record as it was read, each with a blank before.
    pub flags: String,
    /// The address of a record's own page, by its citation, where there are such pages.
    pub page: Option<fn(&str) -> String>,
}

/// The bytes of a record.
#[derive(Clone, Debug, Default)]
pub struct Raw {
    pub bytes: Vec<u8>,
    /// Bytes behind these that are left out.
    pub cut: u64,
}

impl Records {
    /// The record of a citation.
    pub fn of(&self, cite: &Cite) -> Option<&Raw> {
        cite.at.and_then(|at| self.by.get(&at)).or_else(|| self.lines.get(&cite.text))
    }
}

/// What was read, what it covers, and what is not there.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Covered {
    pub sources: Vec<SourceRow>,
    pub captures: Vec<CaptureRow>,
    /// What was not read, with the reason.
    pub not_read: Vec<(String, String)>,
    /// What else a reader should know of how it was read.
    pub notes: Vec<String>,
    /// What of a complete run is not there.
    pub missing: Vec<MissingRow>,
    /// Sources whose stamps' zone nothing says.
    pub assumed: Vec<String>,
}

/// One source of events.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SourceRow {
    pub name: String,
    pub format: String,
    pub owner: String,
    /// First and last stamp, UTC ns.
    pub span: Option<(i64, i64)>,
    /// Events in the window.
    pub events: u64,
    /// How wide its stamps are, in words; empty where none was seen.
    pub stamps: String,
    pub clock: String,
}

/// One metric capture.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CaptureRow {
    pub name: String,
    /// In words; what it covers, on its clock.
    pub covers: String,
    pub clock: String,
    /// What shares of time are of: `the window`, or `what the capture covers`.
    pub share_of: &'static str,
    pub endpoints: Vec<EndpointRow>,
}

/// How an endpoint was scraped over the window that was asked, else over what its capture covers.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EndpointRow {
    /// Which endpoint of the capture; `None` of one that was never scraped.
    #[serde(skip)]
    pub id: Option<EndpointId>,
    pub name: String,
    /// Share of that time outside gaps, 0 to 1.
    pub fraction: f64,
    pub scrapes: u64,
    pub failed: u64,
    /// The longest ones.
    pub gaps: Vec<GapRow>,
    pub gaps_left_out: u64,
    /// All of them by time, on the capture's clock: from, to, cause.
    #[serde(skip)]
    pub all_gaps: Vec<(i64, i64, String)>,
}

/// A time without scrapes; UTC ns where the clock is known, else ns of the capture's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GapRow {
    pub from: i64,
    pub to: i64,
    /// `from … to` on the capture's clock, and how long.
    pub words: String,
    pub cause: String,
}

/// What a complete run would have.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MissingRow {
    pub what: String,
    pub why: String,
    pub needs: String,
}

/// How the run was configured.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Facts {
    pub rows: Vec<FactRow>,
    pub disagreements: Vec<Disagreement>,
    /// Facts that no source says.
    pub unknown: Vec<(String, String)>,
}

/// One value of one fact.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FactRow {
    pub group: String,
    pub name: String,
    pub value: String,
    pub who: String,
    /// How it is known: `record`, `launch command`, …
    pub how: String,
    pub note: Option<String>,
    pub disputed: bool,
    pub cites: Vec<Cite>,
}

/// A fact of which two values are said.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Disagreement {
    pub name: String,
    pub about: String,
    pub sides: Vec<FactRow>,
}

/// The edges of the cache path with their verdicts.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Pipeline {
    /// Whom the verdicts are about, in one sentence.
    pub population: String,
    pub edges: Vec<EdgeRow>,
    pub unprovable: Vec<Unprovable>,
    pub beware: Vec<Beware>,
}

/// One edge.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EdgeRow {
    pub id: String,
    pub title: String,
    /// `proven`, `active`, `absent`, `partial`, `conflict`, `no-signal`.
    pub activity: &'static str,
    pub count: String,
    pub request: String,
    pub session: String,
    /// Of how many that is proven, why not of the others, and what would prove it.
    pub request_why: Vec<String>,
    pub session_why: Vec<String>,
    /// Why it is so, where no proof says it.
    pub why: Option<String>,
    pub shows: Vec<Shows>,
    /// Instruments that could have shown it and were not there.
    pub missing: Vec<MissingRow>,
    pub beware: Vec<String>,
}

/// How a signal stands to an edge that it does not prove.
pub const HINT: &str = "consistent with it, and no proof";

/// A signal that shows an edge, or hints at it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Shows {
    pub signal: String,
    /// `shown by`, `counter`, `consistent with it, and no proof`, `conflict for`.
    pub how: &'static str,
    pub words: String,
    /// Empty where it is no more than it seems.
    pub does_not_prove: String,
    pub cites: Vec<Cite>,
}

/// What cannot be proven, and the one measurement that would prove it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Unprovable {
    /// `request` or `session`.
    pub by: String,
    pub edges: Vec<String>,
    pub needs: String,
}

/// A mistake that this run would let someone make.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Beware {
    pub edge: String,
    pub says: String,
    pub cites: Vec<Cite>,
}

/// Starts, stops and restarts.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Lives {
    #[serde(skip)]
    pub units: Vec<crate::render::readiness::Unit>,
    pub runs: Vec<LifeRow>,
    /// What cannot be said of them, with the reason.
    pub cannot_say: Vec<String>,
    /// Runs that are left out.
    pub left_out: u64,
}

/// One run of one unit.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LifeRow {
    pub unit: String,
    pub number: usize,
    pub verdict: String,
    pub cause: String,
    pub started: String,
    pub ready: String,
    pub ended: String,
    pub start_to_ready: String,
    pub away: String,
    pub traps: Vec<String>,
    pub cites: Vec<Cite>,
}

/// What happened, in the order of time.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Timeline {
    pub rows: Vec<EventRow>,
    pub events: u64,
    /// Rows that there were.
    pub of: u64,
    /// Events whose stamps reach over an edge of the window.
    pub at_edge: u64,
    pub density: Density,
}

/// A row of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EventRow {
    /// First and last instant, UTC ns: that of the stamped event before, where it has none of its own.
    pub span: Option<(i64, i64)>,
    /// As every command prints it, of several events from the first to the last.
    pub time: String,
    pub who: String,
    pub source: String,
    pub kind: String,
    pub level: Option<&'static str>,
    pub mark: Option<&'static str>,
    /// Mark, level and order, in words.
    pub status: String,
    pub count: u64,
    pub message: String,
    pub cites: Vec<Cite>,
}

/// How many events there were, by time: of each column the sum, all of one width.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Density {
    /// Start of the first column, UTC ns.
    pub from: i64,
    /// Width of a column, ns; 0 where nothing has a stamp.
    pub width: i64,
    pub events: Vec<u64>,
    /// Of these, warnings, errors and fatal ones.
    pub serious: Vec<u64>,
    pub unstamped: u64,
}

/// Series against time.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Plots {
    pub plots: Vec<Plot>,
    /// Names of families that were left out.
    pub left_out: Vec<String>,
    /// Of series that were asked for and are not drawn, why.
    pub none: Vec<String>,
    /// Marks of the timeline, on every plot: UTC ns, name, citation.
    pub marks: Vec<PlotMark>,
}

/// A mark on all plots.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PlotMark {
    pub at: i64,
    pub name: &'static str,
    pub words: String,
}

/// One family on one capture.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Plot {
    pub family: String,
    pub capture: String,
    pub help: Option<String>,
    /// `value`, or `per second between samples` for counters.
    pub what: &'static str,
    pub lines: Vec<PlotLine>,
    pub lines_left_out: u64,
    /// When none of its endpoints was scraped, the longest times.
    pub gaps: Vec<GapRow>,
    pub gaps_left_out: u64,
    /// The clock's error, or what else bounds what it shows.
    pub note: Option<String>,
}

/// One series of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PlotLine {
    pub name: String,
    /// Pieces without a gap: samples (UTC ns, value), by time. Never joined to each other.
    pub pieces: Vec<Vec<(i64, f64)>>,
    /// The samples of a piece follow each other; else each stands alone: records of a log, or of a series with a gap beside each sample.
    pub joined: bool,
    pub samples: u64,
    /// Samples of a column were reduced to first, least, greatest and last.
    pub reduced: bool,
    pub cite: Cite,
}

/// Latency and cache figures.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Figures {
    pub rows: Vec<FigureRow>,
    pub left_out: u64,
}

/// One figure, with where it comes from.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FigureRow {
    /// `latency`, `cache`, `load`.
    pub about: &'static str,
    pub name: String,
    pub words: String,
    pub says: String,
    pub cites: Vec<Cite>,
}
