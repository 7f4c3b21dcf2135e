//! A query as questions in SQL over the records of shards.
//!
//! `corr_match`, `corr_key` and `corr_values` are functions of corr's executors: they read the record as [`super::whole::Whole`] and ask the matcher.

use super::narrow::text;
use crate::query::answer::{Sort, Window};

/// The table of records and its column of whole ones.
pub const RECORDS: &str = "_records";
pub const WHOLE: &str = "_record";
/// Is it a record that matches a query?
pub const MATCH: &str = "corr_match";
/// What a record is sorted by, as bytes in that order.
pub const KEY: &str = "corr_key";
/// The values that a record is counted by, as a list in JSON.
pub const VALUES: &str = "corr_values";

/// What records are asked.
#[derive(Clone, Debug)]
pub struct Asked {
    condition: String,
    at_edge: String,
}

impl Asked {
    /// Records of a window that match. `condition` is what columns say; `query` is judged by the matcher behind it.
    pub fn new(window: Window, condition: Option<&str>, query: Option<&str>) -> Asked {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(within(window));
        parts.extend(condition.map(str::to_string));
        parts.extend(query.map(|query| format!("{MATCH}({}, {WHOLE})", text(query))));
        let condition = if parts.is_empty() { "true".into() } else { parts.join(" AND ") };
        Asked { condition, at_edge: at_edge(window) }
    }

    /// What must hold of a record.
    pub fn condition(&self) -> &str {
        &self.condition
    }

    /// The records in their order, at most so many; 0 for all.
    pub fn hits(&self, sort: &Sort, limit: usize) -> String {
        let rising = "_order ASC NULLS FIRST, _source ASC, _offset ASC, _path ASC";
        let order = match sort {
            Sort::Time(true) => rising.to_string(),
            // Of records of one time and source the latest first; sources as they come.
            Sort::Time(false) => "_order DESC NULLS LAST, _source ASC, _offset DESC, _path ASC".to_string(),
            Sort::Field(name, up) => {
                let key = if *up { name.clone() } else { format!("-{name}") };
                format!("{KEY}({}, {WHOLE}) ASC, {rising}", text(&key))
            }
        };
        let limit = if limit == 0 { String::new() } else { format!(" LIMIT {limit}") };
        format!("SELECT {WHOLE} FROM {RECORDS} WHERE {} ORDER BY {order}{limit}", self.condition)
    }

    /// How many there are, and how many of them reach over an edge of the window.
    pub fn totals(&self) -> String {
        format!("SELECT count(*) AS n, {} AS edge FROM {RECORDS} WHERE {}", self.at_edge, self.condition)
    }

    /// The same for each list of values.
    pub fn counts(&self, name: &str) -> String {
        let values = format!("{VALUES}({}, {WHOLE})", text(name));
        format!("SELECT {values} AS v, count(*) AS n, {} AS edge FROM {RECORDS} WHERE {} GROUP BY {values}", self.at_edge, self.condition)
    }

    /// The same for each bin of so many nanoseconds, by its start; NULL for those without a time.
    pub fn bins(&self, width: i64) -> String {
        let at = "arrow_cast(_order, 'Int64')";
        // The remainder of what is before the epoch is negative.
        let bin = format!("CASE WHEN {at} % {width} < 0 THEN {at} - {at} % {width} - {width} ELSE {at} - {at} % {width} END");
        format!("SELECT {bin} AS v, count(*) AS n, {} AS edge FROM {RECORDS} WHERE {} GROUP BY {bin}", self.at_edge, self.condition)
    }
}

/// First and last instant of all records, nanoseconds.
pub fn extent() -> String {
    format!("SELECT arrow_cast(min(_start), 'Int64') AS first, arrow_cast(max(_end), 'Int64') AS last FROM {RECORDS}")
}

fn instant(ns: i64) -> String {
    format!("arrow_cast({ns}, 'Timestamp(Nanosecond, Some(\"UTC\"))')")
}

/// [`Window::may_hold`] over columns.
fn within(window: Window) -> Option<String> {
    let (mut stamped, mut without) = (Vec::new(), vec!["_start IS NULL".to_string()]);
    if let Some(until) = window.until {
        stamped.push(format!("_start < {}", instant(until)));
        without.push(format!("_order < {}", instant(until)));
    }
    if let Some(since) = window.since {
        stamped.push(format!("_end > {}", instant(since)));
        without.push(format!("_order >= {}", instant(since)));
    }
    (!stamped.is_empty()).then(|| format!("(({}) OR ({}))", stamped.join(" AND "), without.join(" AND ")))
}

/// [`Window::cuts`] over columns, counted.
fn at_edge(window: Window) -> String {
    let cut = |at: i64| format!("(_start < {0} AND _end > {0})", instant(at));
    let cuts: Vec<String> = window.since.into_iter().chain(window.until).map(cut).collect();
    if cuts.is_empty() { "sum(0)".into() } else { format!("sum(CASE WHEN {} THEN 1 ELSE 0 END)", cuts.join(" OR ")) }
}
