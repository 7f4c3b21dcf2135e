//! How many: hits by the values of a field, and hits in bins of time.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Value as Json, json};

use super::events::Format;
use super::safe;
use super::shown::rfc3339;
use crate::render::number::grouped;

/// Hits by the values of a field, most first; an empty value stands for hits without the field.
pub struct Counts<'a> {
    pub field: &'a str,
    /// How many values there are.
    pub values: usize,
    /// Those that are shown.
    pub shown: Vec<(&'a str, u64)>,
}

impl<'a> Counts<'a> {
    /// The first `limit` values, 0 for all.
    pub fn new(field: &'a str, counts: &'a BTreeMap<String, u64>, limit: usize) -> Counts<'a> {
        let mut shown: Vec<(&str, u64)> = counts.iter().map(|(value, n)| (value.as_str(), *n)).collect();
        shown.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        if limit > 0 {
            shown.truncate(limit);
        }
        Counts { field, values: counts.len(), shown }
    }

    /// Writes them.
    pub fn write(&self, format: Format, summary: &Json, out: &mut dyn Write) -> io::Result<()> {
        let label = |value: &'a str| if value.is_empty() { "(none)" } else { value };
        let json_value = |value: &str| if value.is_empty() { Json::Null } else { json!(value) };
        match format {
            Format::Text => {
                let width = self.shown.iter().map(|c| grouped(c.1).len()).max().unwrap_or(0);
                for (value, n) in &self.shown {
                    writeln!(out, "{:>width$}  {}", grouped(*n), safe::terminal(label(value)))?;
                }
            }
            Format::Jsonl => {
                for (value, n) in &self.shown {
                    let line = json!({"type": "count", "field": self.field, "value": json_value(value), "count": n});
                    safe::write_json(out, &line, false)?;
                    writeln!(out)?;
                }
                safe::write_json(out, summary, false)?;
                writeln!(out)?;
            }
            Format::Json => {
                let list: Vec<Json> = self.shown.iter().map(|(value, n)| json!({"value": json_value(value), "count": n})).collect();
                let whole =
                    json!({"schema": "corr.query.v1", "field": self.field, "values": self.values, "counts": list, "summary": summary});
                safe::write_json(out, &whole, true)?;
                writeln!(out)?;
            }
            Format::Csv => {
                writeln!(out, "{},count", safe::csv_field(self.field))?;
                for (value, n) in &self.shown {
                    writeln!(out, "{},{n}", safe::csv_field(value))?;
                }
            }
            Format::Markdown => {
                writeln!(out, "| {} | count |\n|---|---:|", safe::markdown_cell(self.field))?;
                for (value, n) in &self.shown {
                    writeln!(out, "| {} | {n} |", safe::markdown_cell(label(value)))?;
                }
            }
        }
        Ok(())
    }
}

/// Most bins that are filled up between the first and the last one.
const MAX_BINS: i64 = 10_000;

/// Hits in bins of time.
pub struct Histogram {
    /// Width of a bin, ns.
    width: i64,
    /// Starts of the bins, UTC ns, and their hits.
    bins: Vec<(i64, u64)>,
    /// Hits of which no time is known.
    untimed: u64,
}

impl Histogram {
    /// Bins without a hit are shown: an empty one says that nothing was found there. Only where they would be too many are they left out.
    pub fn new(width: i64, counted: &BTreeMap<Option<i64>, u64>) -> Histogram {
        let untimed = counted.get(&None).copied().unwrap_or(0);
        let timed: Vec<(i64, u64)> = counted.iter().filter_map(|(at, n)| at.map(|a| (a, *n))).collect();
        let (Some(first), Some(last)) = (timed.first(), timed.last()) else {
            return Histogram { width, bins: timed, untimed };
        };
        if last.0.saturating_sub(first.0) / width >= MAX_BINS {
            return Histogram { width, bins: timed, untimed };
        }
        let mut bins = Vec::new();
        let mut at = Some(first.0);
        while let Some(start) = at.filter(|a| *a <= last.0) {
            bins.push((start, counted.get(&Some(start)).copied().unwrap_or(0)));
            at = start.checked_add(width);
        }
        Histogram { width, bins, untimed }
    }

    /// Starts of the bins, UTC ns, and their hits.
    pub fn bins(&self) -> &[(i64, u64)] {
        &self.bins
    }

    /// Writes it.
    pub fn write(&self, format: Format, summary: &Json, out: &mut dyn Write) -> io::Result<()> {
        let Histogram { width, bins, untimed } = self;
        let (width, untimed) = (*width, *untimed);
        match format {
            Format::Text => {
                let most = bins.iter().map(|b| b.1).max().unwrap_or(0).max(1);
                let digits = grouped(most).len();
                for (at, n) in bins {
                    let bar = "█".repeat((n * 50).div_ceil(most) as usize);
                    writeln!(out, "{}  {:>digits$}  {bar}", rfc3339(*at, width), grouped(*n))?;
                }
                if untimed > 0 {
                    writeln!(out, "no time known  {}", grouped(untimed))?;
                }
            }
            Format::Jsonl => {
                for (at, n) in bins {
                    writeln!(out, "{}", json!({"type": "bin", "start": rfc3339(*at, width), "width_ns": width, "count": n}))?;
                }
                writeln!(out, "{}", json!({"type": "bin", "start": null, "count": untimed}))?;
                safe::write_json(out, summary, false)?;
                writeln!(out)?;
            }
            Format::Json => {
                let list: Vec<Json> = bins.iter().map(|(at, n)| json!({"start": rfc3339(*at, width), "count": n})).collect();
                let whole = json!({"schema": "corr.query.v1", "width_ns": width, "bins": list, "untimed": untimed, "summary": summary});
                safe::write_json(out, &whole, true)?;
                writeln!(out)?;
            }
            Format::Csv => {
                writeln!(out, "start,count")?;
                for (at, n) in bins {
                    writeln!(out, "{},{n}", rfc3339(*at, width))?;
                }
                if untimed > 0 {
                    writeln!(out, ",{untimed}")?;
                }
            }
            Format::Markdown => {
                writeln!(out, "| start | count |\n|---|---:|")?;
                for (at, n) in bins {
                    writeln!(out, "| {} | {n} |", rfc3339(*at, width))?;
                }
                if untimed > 0 {
                    writeln!(out, "| no time known | {untimed} |")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn markdown(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).expect("write to memory");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn hits_without_a_time_are_a_row() {
        let counted = BTreeMap::from([(None, 3), (Some(0), 1), (Some(2_000_000_000), 2)]);
        let histogram = Histogram::new(1_000_000_000, &counted);
        let text = markdown(|out| histogram.write(Format::Markdown, &Json::Null, out));
        let want = "| start | count |\n|---|---:|\n| 1970-01-01T00:00:00Z | 1 |\n| 1970-01-01T00:00:01Z | 0 |\n\
                    | 1970-01-01T00:00:02Z | 2 |\n| no time known | 3 |\n";
        assert_eq!(text, want);
    }

    #[test]
    fn bins_at_the_ends_of_time_are_no_trouble() {
        let counted = BTreeMap::from([(Some(i64::MIN), 1), (Some(i64::MAX), 2)]);
        assert_eq!(Histogram::new(10, &counted).bins, [(i64::MIN, 1), (i64::MAX, 2)]);
        let counted = BTreeMap::from([(Some(i64::MAX - 5), 1), (Some(i64::MAX), 2)]);
        assert_eq!(Histogram::new(5, &counted).bins, [(i64::MAX - 5, 1), (i64::MAX, 2)]);
    }

    #[test]
    fn a_limit_keeps_the_most_and_knows_the_rest() {
        let counts = BTreeMap::from([("a".to_string(), 1), (String::new(), 4), ("b".to_string(), 4), ("c".to_string(), 2)]);
        let counts = Counts::new("x", &counts, 2);
        assert_eq!((counts.values, counts.shown.as_slice()), (4, [("", 4), ("b", 4)].as_slice()));
    }
}
