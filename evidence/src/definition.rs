//! What the table of edges says: edges, their signals, and the instruments that make signals.
//!
//! `edges.toml` is read into these types, and what users declare in `corr.toml` as well. Nothing here knows an edge by name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::compare::{CompareOf, ShareOf};

/// A whole table: the built-in one, or a user's additions.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    #[serde(default, rename = "instrument")]
    pub instruments: Vec<Instrument>,
    #[serde(default, rename = "flag")]
    pub flags: Vec<Flag>,
    #[serde(default, rename = "edge")]
    pub edges: Vec<Edge>,
    /// Signals that are added to edges of another table, each naming its edge.
    #[serde(default, rename = "signal")]
    pub signals: Vec<Signal>,
    #[serde(default, rename = "share")]
    pub shares: Vec<ShareOf>,
    #[serde(default, rename = "compare")]
    pub comparisons: Vec<CompareOf>,
    /// Rows of the upstream tables that no signal stands for, each with the reason.
    #[serde(default)]
    pub unmapped: Vec<Unmapped>,
}

/// What writes signals, if it is switched on: a log at a level, a record file, a metrics endpoint.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Instrument {
    /// Stable name: `dynamo-request-trace`.
    pub id: String,
    /// As a reader would call it: `the request trace`.
    pub title: String,
    pub system: System,
    /// Payload formats whose sources can hold it; empty for metrics.
    #[serde(default)]
    pub formats: Vec<String>,
    /// Kinds of which one event in such a source shows that it is switched on. Empty: that the source is there is enough.
    #[serde(default)]
    pub shown_by: Vec<String>,
    /// The lowest level that a source must be seen to print.
    #[serde(default)]
    pub level: Option<String>,
    /// For metrics: a beginning of family names of which one shows that the endpoint was scraped.
    #[serde(default)]
    pub families: Vec<String>,
    /// How it is switched on: the measurement that would be taken.
    pub switch: String,
    /// Facts of configuration that say it is off.
    #[serde(default)]
    pub off_by: Vec<OffBy>,
}

/// Something about a run that one record of it shows: that a lower tier of the cache is there. What a signal means can depend on it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Flag {
    /// Stable name: `lower-tier`.
    pub id: String,
    /// In words, as a reason: `a host tier is there`.
    pub title: String,
    /// Records of which one shows it.
    pub shown_by: Vec<Shows>,
}

/// Records that show something.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Shows {
    pub kinds: Vec<String>,
    /// What such a record must say; all of them.
    #[serde(default, rename = "where")]
    pub conditions: Vec<Condition>,
}

/// A field of a configuration record that says an instrument is off.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OffBy {
    pub kind: String,
    pub field: String,
    pub is: Literal,
}

/// The program whose pipeline is looked at.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum System {
    Sglang,
    /// SGLang's router or model gateway.
    Gateway,
    Dynamo,
    /// Whatever system a user declared it for.
    Any,
}

/// One edge of the pipeline.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// Stable name: `l3-restore`.
    pub id: String,
    /// What happens, in a few words: `L3 → L2 restore (prefetch)`.
    pub title: String,
    /// Whom it concerns.
    pub concerns: Concerns,
    /// What its amount is counted in, where a signal gives one: `tokens`, `blocks`.
    pub unit: String,
    pub needs: Needs,
    /// What people take its signals for, and should not: printed where one of these signals is.
    #[serde(default)]
    pub beware: Vec<String>,
    #[serde(default, rename = "signal")]
    pub signals: Vec<Signal>,
}

/// Whom an edge concerns: what N is in `proven k of N`.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Concerns {
    /// Every request that reached the router or frontend.
    RouterRequests,
    /// Every request that reached an engine.
    EngineRequests,
    /// Only what it happened to: N is the occurrences that are seen one by one.
    Occurrences,
}

/// The one measurement that would prove to whom an edge happened.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Needs {
    /// By system, since each has its own switch: `sglang = "…"`, `dynamo = "…"`, or `any`.
    pub request: BTreeMap<System, String>,
    pub session: BTreeMap<System, String>,
}

/// What can show an edge.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Signal {
    /// Stable name inside the edge: `prefetched-tokens-total`.
    pub id: String,
    /// The edge that it is of, where it does not stand in that edge's own table.
    #[serde(default)]
    pub edge: Option<String>,
    /// Name of the instrument that writes it.
    pub instrument: String,
    /// Kinds of events that are this signal. Empty for a metric.
    #[serde(default)]
    pub kinds: Vec<String>,
    /// Name of the metric family that is this signal. Absent for events.
    #[serde(default)]
    pub metric: Option<String>,
    /// Labels that the series must have.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// What else an event's fields must say; all of them.
    #[serde(default, rename = "where")]
    pub conditions: Vec<Condition>,
    /// The field whose value is the amount, or several joined by `+`, of which those that are there are added; an event without any is not this
    /// signal, unless `zero_when` holds.
    #[serde(default)]
    pub amount: Option<String>,
    /// It is this signal only in runs that have this flag.
    #[serde(default)]
    pub only_if: Option<String>,
    /// It is this signal only in runs that do not have this flag.
    #[serde(default)]
    pub unless: Option<String>,
    /// Not in sources of workers of these roles: what a prefill server says of tokens is not decode.
    #[serde(default)]
    pub except_roles: Vec<String>,
    /// In runs that have this flag only its zeros say anything: an amount above zero may be another edge's.
    #[serde(default)]
    pub zeros_only_if: Option<String>,
    /// What an event without the `amount` field must say to mean an amount of zero.
    #[serde(default)]
    pub zero_when: Option<Condition>,
    /// What `amount` (or, without one, each event) counts: `requests`, `tokens`, `pages`, `blocks`, `events`.
    pub counts: String,
    pub proves: Proves,
    /// It is the thing itself, not only consistent with it.
    pub direct: bool,
    /// Ids that it bears: `rid`, `request_id`, `x_request_id`, `session`, `bootstrap_room`, `worker_id`, `block_hash`.
    #[serde(default)]
    pub identity: Vec<String>,
    /// The instrument prints one for each time, at the level it is known by: none in a source that covers the window means none happened.
    #[serde(default)]
    pub silence_is_zero: bool,
    /// For metrics: a labelled series appears at its first increment, so that it is zero while others of its family are there.
    #[serde(default)]
    pub lazy_label: bool,
    /// Every tensor-parallel rank prints or exports the same.
    #[serde(default)]
    pub each_rank: bool,
    /// Versions that have it, as the upstream numbers them: `>=0.5.9`.
    #[serde(default)]
    pub versions: Option<String>,
    /// The level it is printed at.
    #[serde(default)]
    pub level: Option<String>,
    /// What it is taken for and is not.
    pub does_not_prove: String,
    /// Rows of the upstream tables that it stands for: `sglang: L1 eviction`.
    #[serde(default)]
    pub rows: Vec<String>,
}

/// What a signal, where it is seen, proves.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Proves {
    /// It happened.
    Transition,
    /// It was tried.
    Attempt,
    /// Something is there, however it came there.
    Presence,
    /// It did not happen, or failed.
    Absence,
    /// Nothing by itself.
    Hint,
}

/// A condition on one field of an event.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    pub field: String,
    #[serde(default)]
    pub is: Option<Literal>,
    #[serde(default)]
    pub is_not: Option<Literal>,
    #[serde(default)]
    pub one_of: Vec<Literal>,
    #[serde(default)]
    pub above: Option<f64>,
    /// `true`: the event has the field; `false`: it has not.
    #[serde(default)]
    pub present: Option<bool>,
}

/// A value as a table spells it.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(untagged)]
pub enum Literal {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

/// A row of an upstream table for which there is no signal.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Unmapped {
    /// `sglang: restart / readiness`.
    pub row: String,
    pub reason: String,
}
