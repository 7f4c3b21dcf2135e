//! A capture: what one scraper, or one export, kept of some endpoints.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{Kind, Labels, Name, Precision, Sample};
use crate::blocks::Store;

/// Place of an endpoint in [`Capture::endpoints`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndpointId(pub u32);

/// Place of a series in [`Capture::series`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesId(pub u32);

/// What one scraper kept: one clock, some endpoints, their series.
#[derive(Debug)]
pub struct Capture {
    /// The files that it was read from.
    pub files: Vec<PathBuf>,
    /// The layout's name, as `corr metrics` prints it.
    pub layout: &'static str,
    pub clock: Clock,
    /// Which instant of a scrape its stamps say.
    pub stamp_of: StampOf,
    pub fidelity: Fidelity,
    pub endpoints: Vec<Endpoint>,
    pub series: Vec<Series>,
    /// What is said of families, by canonical family name.
    pub families: BTreeMap<String, Family>,
    pub exemplars: Vec<Exemplar>,
    /// What was odd, with how often and where first.
    pub notes: Vec<Note>,
    /// The samples of the series.
    pub samples: Store,
}

/// What the times of a capture are relative to.
#[derive(Clone, Debug, PartialEq)]
pub enum Clock {
    /// The scraper's wall clock, UTC.
    Wall,
    /// Wall time without a zone in the source, taken as UTC.
    AssumedUtc,
    /// Time since the capture's start. Where it began may be known from elsewhere.
    Elapsed { anchor: Option<Anchor> },
}

/// Where the zero of an elapsed clock lies, or how far a wall clock is off: an interval, who found it, and how well it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Anchor {
    /// Nanoseconds since the epoch, or of offset: it lies in `[low, high]`.
    pub low: i64,
    pub high: i64,
    /// The rule that found it, in words.
    pub how: String,
    /// Samples or crossings that agree, of how many; `None` for rules that cannot check themselves.
    pub holds: Option<(u64, u64)>,
}

/// Which instant a scrape's stamp is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StampOf {
    /// The request's start (Prometheus, scripts).
    Request,
    /// The first byte of the response (AIPerf).
    FirstByte,
    /// After the body was read or parsed (Tachometer, srt-slurm): values are older by the scrape's duration.
    Body,
    /// An instant at which a query was evaluated, filled from up to five minutes back.
    Evaluation,
    /// The stamp in a file's name.
    FileName,
    /// The time at which the file was last written; copies change it.
    FileTime,
    /// A stamp that the exposition itself carries.
    Exposition,
    /// The beginning of the stamp of a log record, which is `width` nanoseconds wide: what it says is of an instant in `[stamp, stamp + width)`.
    Line { width: i64 },
    /// Nothing says.
    Unknown,
}

/// What values are, compared with what the endpoint served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fidelity {
    /// The samples as scraped.
    Raw,
    /// Points of a query on a grid, each filled from the last sample before: not samples.
    StepFilled,
    /// Counters are differences from one base sample, and never below zero (AIPerf's Parquet): resets are hidden.
    SinceBase,
}

/// A target that was scraped.
#[derive(Clone, Debug, Default)]
pub struct Endpoint {
    /// What the capture calls it; empty where it has no word for it.
    pub name: String,
    pub url: Option<String>,
    /// What else the capture says of it: role, worker index, host, rank.
    pub facts: BTreeMap<String, String>,
    /// Scrapes, by time. Empty where the capture keeps none apart from samples; then the times of its series stand for them.
    pub scrapes: Vec<Scrape>,
}

/// One attempt to scrape.
#[derive(Clone, Debug, PartialEq)]
pub struct Scrape {
    pub at: i64,
    /// How long it took, in nanoseconds.
    pub took: Option<i64>,
    pub outcome: Outcome,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Samples were kept.
    Read,
    /// It failed, in the scraper's words.
    Failed(String),
}

/// One series: a name and every label, at one endpoint.
#[derive(Clone, Debug)]
pub struct Series {
    pub endpoint: EndpointId,
    pub name: Name,
    pub labels: Labels,
    pub precision: Precision,
    pub trouble: Trouble,
}

/// What makes a series' samples less than they look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trouble {
    /// Samples at a time that the series has already: several series stand under one name. Differences mean nothing then.
    pub collisions: u64,
    /// Samples that came before an earlier one in the source and were sorted in.
    pub disordered: u64,
    /// The name or labels were damaged by the scraper (cut at a comma, quotes lost).
    pub damaged: bool,
    /// Values are not the metric's own (a value behind an exemplar's mark).
    pub foreign: bool,
    /// Of a histogram's bucket: the capture has a sum, but it is that of one of several label sets, and nothing says that it is of this one.
    pub sum_unproven: bool,
}

/// What a capture says of a family.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Family {
    pub kind: Option<Kind>,
    pub help: Option<String>,
    pub unit: Option<String>,
}

/// A trace that fell into a bucket, or that a counter counted: it proves this one observation, never a total.
#[derive(Clone, Debug, PartialEq)]
pub struct Exemplar {
    pub series: SeriesId,
    /// When it was scraped.
    pub scraped: i64,
    /// When it happened, where it says.
    pub at: Option<i64>,
    pub labels: Labels,
    pub value: f64,
}

/// Something odd, once for all of its kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Stable name of the kind, `snake_case`.
    pub code: &'static str,
    /// One sentence.
    pub what: String,
    /// How often.
    pub count: u64,
    /// `path:line` or `path` of the first.
    pub first: Option<String>,
}

/// Kinds of notes that say that a part of a capture was not read.
const LOSSES: &[&str] = &[
    "api_error",
    "bad_label",
    "bad_line",
    "bad_point",
    "bad_value",
    "body_cut",
    "body_too_large",
    "cut_short",
    "damaged_answer",
    "damaged_line",
    "damaged_rows",
    "fewer_samples",
    "file_missing",
    "line_too_long",
    "metric_without_name",
    "nameless",
    "no_stamp",
    "point_without_metric",
    "point_without_time",
    "promtool_failed",
    "ragged_row",
    "rows_incomplete",
    "truncated",
    "unread_answer",
    "unread_file",
];

impl Note {
    /// A part of the capture was not read: figures rest on the rest.
    pub fn is_loss(&self) -> bool {
        LOSSES.contains(&self.code)
    }
}

impl Capture {
    /// A series.
    pub fn get(&self, id: SeriesId) -> Option<&Series> {
        self.series.get(id.0 as usize)
    }

    /// The endpoint of a series.
    pub fn endpoint(&self, id: EndpointId) -> Option<&Endpoint> {
        self.endpoints.get(id.0 as usize)
    }

    /// All samples of a series, by time.
    pub fn samples(&self, id: SeriesId) -> Vec<Sample> {
        self.samples.all(id.0)
    }

    /// `name{labels}` as seen.
    pub fn spelled(&self, id: SeriesId) -> String {
        self.get(id).map_or_else(String::new, |s| format!("{}{}", s.name.seen(), s.labels))
    }
}
