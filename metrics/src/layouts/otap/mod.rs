//! OTAP, OpenTelemetry's metrics as tables: `univariate_metrics` names them, `number_data_points` and `histogram_data_points` hold their points,
//! `*_attrs` the attributes of points, by number.

mod attrs;
mod points;

use std::collections::BTreeMap;
use std::path::Path;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;

use super::batches::{Next, open};
use super::{Candidate, Layout, Part, ReadError, Set, look};
use crate::build::Builder;
use crate::model::{Capture, Clock, Kind, StampOf};
use attrs::Attributes;
use points::Points;

/// OTAP as Parquet.
pub const OTAP: Layout = Layout { name: "otap", about: "OpenTelemetry metrics as OTAP tables, Parquet", claim, read: self::read };

/// What a table of the star holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Table {
    Metrics,
    NumberAttributes,
    HistogramAttributes,
    Numbers,
    Histograms,
}

impl Table {
    /// By columns; attributes by the file's name too, since both tables of them look alike.
    fn of(schema: &Schema, name: &str) -> Option<Table> {
        let has = |names: &[&str]| names.iter().all(|n| schema.field_with_name(n).is_ok());
        if has(&["id", "parent_id", "time_unix_nano", "bucket_counts", "explicit_bounds"]) {
            return Some(Table::Histograms);
        }
        if has(&["id", "parent_id", "time_unix_nano"]) && (has(&["double_value"]) || has(&["int_value"])) {
            return Some(Table::Numbers);
        }
        if has(&["id", "name", "metric_type"]) {
            return Some(Table::Metrics);
        }
        match name {
            _ if !has(&["parent_id", "key", "type"]) => None,
            _ if name.starts_with("number_dp_attrs") => Some(Table::NumberAttributes),
            _ if name.starts_with("histogram_dp_attrs") => Some(Table::HistogramAttributes),
            _ => None,
        }
    }
}

fn claim(candidates: &[Candidate]) -> Vec<Set> {
    let mut folders: BTreeMap<&str, Vec<(Table, &Candidate)>> = BTreeMap::new();
    for candidate in candidates {
        if let Some(table) = candidate.schema().and_then(|s| Table::of(s, candidate.name())) {
            folders.entry(candidate.folder()).or_default().push((table, candidate));
        }
    }
    let mut sets = Vec::new();
    for (folder, mut tables) in folders {
        let has = |wanted: Table| tables.iter().any(|(t, _)| *t == wanted);
        // The points are the sign; a table of names alone may be anything.
        if !has(Table::Numbers) && !has(Table::Histograms) {
            continue;
        }
        let mut ties = Vec::new();
        if !has(Table::Metrics) {
            ties.push("points without the table univariate_metrics that names them".to_string());
        }
        tables.sort_by(|a, b| (a.0, &a.1.key).cmp(&(b.0, &b.1.key)));
        if let Some(two) = tables.windows(2).find(|w| w[0].0 == w[1].0) {
            ties.push(format!("{} and {} are both {:?}: numbers of one are not those of the other", two[0].1.key, two[1].1.key, two[0].0));
        }
        // The same folder's tables of other signals or of what corr has no place for.
        let beside = candidates
            .iter()
            .filter(|c| c.folder() == folder && c.schema().is_some() && !tables.iter().any(|(_, t)| t.path == c.path))
            .filter(|c| c.schema().is_some_and(|s| s.field_with_name("parent_id").is_ok()))
            .map(|c| (c.part(), "an OTAP table that corr does not read".to_string()))
            .collect();
        let files = tables.iter().map(|(_, c)| c.part()).collect();
        sets.push(Set { files, beside, because: "columns id, parent_id, time_unix_nano: OTAP tables in one folder".into(), ties });
    }
    sets
}

fn read(set: &Set) -> Result<Vec<Capture>, ReadError> {
    if let Some(tie) = set.ties.first() {
        let path = set.files.first().map_or_else(String::new, |p| p.path.display().to_string());
        return Err(ReadError::Declined { path, why: tie.clone(), next: "keep the tables of one export in a folder of their own".into() });
    }
    let part =
        |wanted: Table| set.files.iter().find(|p| look(&p.path, &p.key).schema().and_then(|s| Table::of(s, name(p))) == Some(wanted));
    let mut builder = Builder::new(OTAP.name, Clock::Wall, StampOf::Unknown);
    let mut metrics = BTreeMap::new();
    for (wanted, attributes) in
        [(Table::Metrics, None), (Table::Numbers, Some(Table::NumberAttributes)), (Table::Histograms, Some(Table::HistogramAttributes))]
    {
        let Some(file) = part(wanted) else { continue };
        builder.file(&file.path);
        let Some(attributes) = attributes else {
            metrics = points::metrics(file, &mut builder)?;
            continue;
        };
        let mut known = Attributes::default();
        match part(attributes) {
            Some(of) => {
                builder.file(&of.path);
                each(&of.path, &mut builder, |batch, builder| known.take(batch, builder))?;
            }
            None => builder.note(
                "no_attributes",
                || "points without a table of their attributes: series have no labels".into(),
                || Some(file.key.clone()),
            ),
        }
        let mut points = Points::new(&metrics, &known);
        each(&file.path, &mut builder, |batch, builder| points.take(batch, wanted == Table::Histograms, builder))?;
    }
    for metric in metrics.values() {
        let family = builder.family(&metric.name);
        family.kind = Some(metric.kind).filter(|k| *k != Kind::Unknown);
        family.unit = metric.unit.clone();
        family.help = metric.help.clone();
    }
    Ok(vec![builder.finish()])
}

fn name(part: &Part) -> &str {
    part.key.rsplit_once('/').map_or(&part.key, |(_, name)| name)
}

/// Every batch of a table; damage is noted.
fn each(
    path: &Path,
    builder: &mut Builder,
    mut take: impl FnMut(&RecordBatch, &mut Builder) -> Result<(), String>,
) -> Result<(), ReadError> {
    let roots: Vec<usize> = look(path, "").schema().map_or(Vec::new(), |s| (0..s.fields().len()).collect());
    let mut batches = open(path, &roots)?;
    while let Some(next) = batches.next() {
        let taken = match next {
            Next::Rows(batch) => take(&batch, builder),
            Next::Damage(why) => Err(why),
        };
        if let Err(why) = taken {
            builder.note("damaged_rows", || why, || Some(path.display().to_string()));
        }
    }
    Ok(())
}

/// What `metric_type` says.
fn kind(number: Option<f64>, monotonic: Option<bool>) -> Kind {
    // Numbers of the OTAP schema: gauge, sum, histogram, exponential histogram, summary.
    match number.map(|n| n as i64) {
        Some(1) => Kind::Gauge,
        Some(2) if monotonic == Some(false) => Kind::Gauge,
        Some(2) => Kind::Counter,
        Some(3) => Kind::Histogram,
        Some(5) => Kind::Summary,
        _ => Kind::Unknown,
    }
}
