//! Which column of an unknown table says what.

use std::collections::BTreeSet;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Schema};

use super::keys::Role;
use super::time::{From, Stamp, said};
use crate::layouts::labels::{braces, is_metric, is_name, json, plain, split};
use crate::layouts::numbers::is_number;
use crate::layouts::runs::Nested;
use crate::layouts::texts::{Texts, is_text};
use crate::model::Kind;

/// A table's columns by what they say; places are those of its schema.
#[derive(Clone, Debug)]
pub struct Mapping {
    pub time: usize,
    pub stamp: Stamp,
    pub keys: Vec<(usize, Role)>,
    pub target_label: Option<&'static str>,
    pub values: Values,
    /// Columns that are not read.
    pub unread: Vec<usize>,
}

/// Where values are.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// A sample a row.
    One(usize),
    /// A scrape a row, a series a column.
    Wide(Vec<usize>),
    /// A series a row: lists of times and of values.
    Lists(usize),
}

/// What a table is.
pub enum Verdict {
    /// No samples of metrics, as far as its columns say.
    Not,
    /// Metrics, but these roles could be several columns, or none.
    Tie(Vec<String>),
    Found(Mapping),
}

/// The name column's usual names; the first three are used for metrics alone.
const NAMES: [&str; 5] = ["metric_name", "metric", "__name__", "measurement", "name"];
const VALUES: [&str; 6] = ["value", "v", "metric_value", "val", "double_value", "values"];
/// Columns that hold what was scraped, the surest first.
const TARGETS: [&str; 10] =
    ["scrape_url", "scrape_target", "scrape_endpoint", "endpoint_url", "target", "instance", "endpoint", "url", "address", "host"];
/// Columns of events, spans and log records.
const EVENTS: [&str; 10] = ["message", "msg", "body", "trace_id", "span_id", "traceid", "spanid", "level", "severity", "request_id"];
/// Sets of columns that other readers know, or that are corr's own.
const OTHERS: [&[&str]; 5] = [
    &["scraper_endpoint", "metric_name", "metric_value"],
    &["endpoint_url", "metric_type", "bucket_le"],
    &["s_data_0"],
    &["time_unix_nano", "parent_id"],
    &["_offset", "_line", "_kind"],
];

/// Whether the schema alone rules samples out: no column of times or none of values.
pub fn possible(schema: &Schema) -> bool {
    let has = |name: &&str| schema.fields().iter().any(|f| f.name() == name);
    let numbers = schema.fields().iter().filter(|f| is_time(f.data_type()) || is_number(item(f.data_type()))).count();
    let named = NAMES.iter().any(has) || VALUES.iter().any(has) || schema.fields().iter().any(|f| f.name().ends_with('}'));
    !OTHERS.iter().any(|set| set.iter().all(has)) && numbers >= 1 && named
}

fn is_time(kind: &DataType) -> bool {
    matches!(item(kind), DataType::Timestamp(..) | DataType::Duration(_))
}

/// The type of a list's items, or the type itself.
fn item(kind: &DataType) -> &DataType {
    match kind {
        DataType::List(field) | DataType::LargeList(field) => field.data_type(),
        other => other,
    }
}

fn is_list(kind: &DataType) -> bool {
    matches!(kind, DataType::List(_) | DataType::LargeList(_))
}

/// All items of a list column, or the column itself.
fn items(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::List(_) => column.as_list_opt::<i32>().map_or_else(|| column.clone(), |l| l.values().clone()),
        DataType::LargeList(_) => column.as_list_opt::<i64>().map_or_else(|| column.clone(), |l| l.values().clone()),
        _ => column.clone(),
    }
}

/// The roles of a table's columns, from its first rows (all columns of the schema) and the largest number that statistics tell of a column.
pub fn roles(rows: &RecordBatch, largest: impl Fn(usize) -> Option<f64>) -> Verdict {
    let schema = rows.schema();
    let field = |i: usize| schema.field(i);
    let lower = |i: usize| field(i).name().to_ascii_lowercase();
    let all = 0..rows.num_columns();
    let texts = texts_of(rows);

    // Columns whose own names are series.
    let braced = |i: usize| split(field(i).name()).1.is_some_and(|b| braces(b).is_some()) && is_metric(field(i).name());
    let wide: Vec<usize> = all.clone().filter(|&i| is_number(field(i).data_type()) && braced(i)).collect();

    // The name.
    let mut names: Vec<&(usize, Texts)> =
        texts.iter().filter(|(i, t)| NAMES.contains(&lower(*i).as_str()) && every(t, &is_metric)).collect();
    names.sort_by_key(|(i, _)| NAMES.iter().position(|n| *n == lower(*i)));
    let sure = |i: usize| NAMES.iter().position(|n| *n == lower(i)).is_some_and(|at| at < 3);
    let sure_names = names.iter().filter(|(i, _)| sure(*i)).count();
    let inline = |t: &Texts| (0..t.len()).filter_map(|row| t.get(row)).any(|t| split(t).1.is_some_and(|b| braces(b).is_some()));
    let by_content: Vec<&(usize, Texts)> = texts
        .iter()
        .filter(|(i, t)| {
            !TARGETS.contains(&lower(*i).as_str()) && every(t, &is_metric) && every(t, &|t: &str| t.contains(['_', ':', '{', '.']))
        })
        .collect();
    let series: Vec<&&(usize, Texts)> = by_content.iter().filter(|(_, t)| inline(t)).collect();
    let (name, name_ties): (Option<usize>, Vec<usize>) = match (names.as_slice(), series.as_slice(), by_content.as_slice()) {
        ([first, ..], _, _) if sure_names >= 2 => {
            (None, names.iter().filter(|(i, _)| sure(*i)).map(|(i, _)| *i).chain([first.0]).collect())
        }
        ([first, ..], _, _) if sure(first.0) => (Some(first.0), Vec::new()),
        (_, [one], _) => (Some(one.0), Vec::new()),
        ([one], _, _) => (Some(one.0), Vec::new()),
        ([_, _, ..], _, _) => (None, names.iter().map(|(i, _)| *i).collect()),
        (_, [], [one]) => (Some(one.0), Vec::new()),
        (_, _, several) => (None, several.iter().map(|(i, _)| *i).collect()),
    };

    // Values that their name settles.
    let numeric: Vec<usize> = all.clone().filter(|&i| is_number(item(field(i).data_type())) && !braced(i)).collect();
    let named_values: Vec<usize> = numeric.iter().copied().filter(|&i| VALUES.contains(&lower(i).as_str())).collect();
    let events = all.clone().any(|i| EVENTS.contains(&lower(i).as_str()));
    let labelled = all.clone().any(|i| container(rows, i))
        || texts
            .iter()
            .any(|(i, t)| said_labels(&lower(*i)) && every(t, &|t| json(t).is_some() || braces(t).is_some() || plain(t, false).is_some()));
    let by_name = name.is_some_and(|i| NAMES.contains(&lower(i).as_str()));
    let strong = !wide.is_empty()
        || sure_names > 0
        || name.is_some_and(|i| texts.iter().any(|(j, t)| i == *j && inline(t)))
        || (by_name && !named_values.is_empty() && !events)
        || (name.is_some() && !named_values.is_empty() && labelled && !events);
    let weak = name.is_some() && !named_values.is_empty() && !events;
    if !strong && !weak {
        return Verdict::Not;
    }

    // Time.
    let mut times: Vec<(usize, Stamp, u8)> = all
        .clone()
        .filter(|&i| !wide.contains(&i) && !named_values.contains(&i))
        .filter_map(|i| {
            let rank = said(field(i).name());
            let of_type = is_time(field(i).data_type());
            let stamp = Stamp::of(field(i).name(), &items(rows.column(i)), largest(i))?;
            if rank == 0 && !of_type && stamp.from == From::Start {
                return None;
            }
            Some((i, stamp, rank))
        })
        .collect();
    let order = |t: &(usize, Stamp, u8)| (t.1.from != From::Start, t.2, is_time(field(t.0).data_type()));
    times.sort_by_key(|t| std::cmp::Reverse(order(t)));
    let mut ties = Vec::new();
    let spell = |places: &[usize]| {
        let places: BTreeSet<&usize> = places.iter().collect();
        places.iter().map(|i| format!("{} ({})", field(**i).name(), kind_word(field(**i).data_type()))).collect::<Vec<_>>().join(", ")
    };
    let time = match times.as_slice() {
        [] => {
            // Without any time these are results of an evaluation, or anything else.
            if wide.is_empty() && !all.clone().any(|i| said(field(i).name()) > 0) {
                return Verdict::Not;
            }
            ties.push("time: no column holds stamps of one unit since the epoch, or elapsed time under a name that says so".to_string());
            None
        }
        [one] => Some(one.clone()),
        [first, second, ..] if order(first) == order(second) => {
            let best: Vec<usize> = times.iter().filter(|t| order(t) == order(first)).map(|t| t.0).collect();
            ties.push(format!("time: could be {}", spell(&best)));
            None
        }
        [first, ..] => Some(first.clone()),
    };
    let stamp_places: Vec<usize> = times.iter().map(|t| t.0).collect();

    // Values.
    let left: Vec<usize> = numeric.iter().copied().filter(|i| !stamp_places.contains(i)).collect();
    let float = |i: &usize| !item(field(*i).data_type()).is_integer();
    let floats: Vec<usize> = left.iter().copied().filter(float).collect();
    let values = if !wide.is_empty() {
        // Series without labels stand beside those that have some.
        Some(Values::Wide(all.clone().filter(|i| wide.contains(i) || (left.contains(i) && is_name(field(*i).name(), b"."))).collect()))
    } else {
        let value = match (named_values.as_slice(), floats.as_slice(), left.as_slice()) {
            ([one], _, _) | ([], [one], _) | ([], [], [one]) => Some(*one),
            ([], [], []) => {
                ties.push("value: no column holds numbers".to_string());
                None
            }
            ([], _, _) => {
                ties.push(format!("value: could be {}", spell(if floats.is_empty() { &left } else { &floats })));
                None
            }
            (several, _, _) => {
                ties.push(format!("value: could be {}", spell(several)));
                None
            }
        };
        value.map(|v| if is_list(field(v).data_type()) { Values::Lists(v) } else { Values::One(v) })
    };
    if wide.is_empty() {
        match (name, name_ties.as_slice()) {
            (Some(_), _) => {}
            (None, []) => ties.push("name: no column holds names of metrics".to_string()),
            (None, several) => ties.push(format!("name: could be {}", spell(several))),
        }
    }
    let lists = matches!(values, Some(Values::Lists(_)));
    if let Some((i, ..)) = &time
        && lists != is_list(field(*i).data_type())
        && values.is_some()
    {
        ties.push(format!("time and value: one is a list and the other is not ({})", field(*i).name()));
    }
    if !ties.is_empty() {
        // What a stronger sign does not call metrics is left alone.
        return if strong { Verdict::Tie(ties) } else { Verdict::Not };
    }
    let (Some((time, stamp, _)), Some(values)) = (time, values) else { return Verdict::Not };

    // A column of names stays a label where series stand in columns.
    let name = name.filter(|_| wide.is_empty());
    let taken = |i: usize| {
        i == time
            || Some(i) == name
            || match &values {
                Values::One(v) | Values::Lists(v) => i == *v,
                Values::Wide(columns) => columns.contains(&i),
            }
    };
    let no_label = |i: usize| stamp_places.contains(&i);
    let (keys, target_label, unread) = key_of(rows, name, taken, no_label);
    Verdict::Found(Mapping { time, stamp, keys, target_label, values, unread })
}

/// What says which series a row is of: name, target, labels, and what the family's TYPE, HELP and unit are. Columns that are `taken` say something
/// else, numbers of `no_label` too. Then the label that holds the target, and the columns that are not read.
pub fn key_of(
    rows: &RecordBatch,
    name: Option<usize>,
    taken: impl Fn(usize) -> bool,
    no_label: impl Fn(usize) -> bool,
) -> (Vec<(usize, Role)>, Option<&'static str>, Vec<usize>) {
    let schema = rows.schema();
    let field = |i: usize| schema.field(i);
    let lower = |i: usize| field(i).name().to_ascii_lowercase();
    let texts = texts_of(rows);
    let mut keys: Vec<(usize, Role)> = name.map(|i| (i, Role::Name)).into_iter().collect();
    let full = |t: &Texts| (0..t.len()).all(|row| t.get(row).is_some_and(|t| !t.is_empty()));
    let target = TARGETS.iter().enumerate().find_map(|(order, target)| {
        let (i, t) = texts.iter().find(|(i, _)| lower(*i) == *target && !taken(*i))?;
        // The first five say that they are the target, and so does `instance`; the others may be labels.
        (full(t) && (order < 6 || every(t, &is_address))).then_some(*i)
    });
    let kinds = texts.iter().find(|(i, t)| {
        ["metric_type", "type", "kind"].contains(&lower(*i).as_str()) && every(t, &|t| Kind::from_word(&t.to_ascii_lowercase()).is_some())
    });
    let mut unread = Vec::new();
    for i in (0..rows.num_columns()).filter(|&i| !taken(i) && Some(i) != name) {
        let name = lower(i);
        let role = match texts.iter().find(|(j, _)| *j == i) {
            _ if target == Some(i) => Some(Role::Target),
            Some(_) if kinds.is_some_and(|(j, _)| *j == i) => Some(Role::Kind),
            Some(_) if ["help", "description"].contains(&name.as_str()) => Some(Role::Help),
            Some(_) if name == "unit" && kinds.is_some() => Some(Role::Unit),
            Some((_, t)) if every(t, &|t| json(t).is_some()) => Some(Role::Json),
            Some((_, t)) if every(t, &|t| braces(t).is_some()) => Some(Role::Braces),
            Some((_, t)) if said_labels(&name) && every(t, &|t| plain(t, false).is_some()) => Some(Role::Plain { sorted: in_order(t) }),
            Some(_) => Some(Role::Label(field(i).name().clone())),
            None if container(rows, i) => Some(Role::Nested),
            // Ranks and indices are whole numbers; counts and ids of rows are no labels.
            None if field(i).data_type().is_integer() && !no_label(i) && few(rows.column(i)) => Some(Role::Label(field(i).name().clone())),
            None => None,
        };
        match role {
            Some(role) => keys.push((i, role)),
            None => unread.push(i),
        }
    }
    let target_label = (target.is_none() && instances(rows, &keys)).then_some("instance");
    (keys, target_label, unread)
}

/// Columns of text with their places.
fn texts_of(rows: &RecordBatch) -> Vec<(usize, Texts)> {
    let text = |i: &usize| is_text(rows.schema().field(*i).data_type());
    (0..rows.num_columns()).filter(text).filter_map(|i| Some((i, Texts::of(rows.column(i))?))).collect()
}

/// There is text, and all of it passes.
fn every(texts: &Texts, test: &dyn Fn(&str) -> bool) -> bool {
    let mut some = false;
    (0..texts.len()).filter_map(|row| texts.get(row)).filter(|t| !t.is_empty()).all(|t| {
        some = true;
        test(t)
    }) && some
}

/// A map, a list of pairs or a struct of texts.
fn container(rows: &RecordBatch, i: usize) -> bool {
    match rows.column(i).data_type() {
        DataType::Map(..) | DataType::List(_) | DataType::LargeList(_) | DataType::Struct(_) => Nested::of(rows.column(i)).is_some(),
        _ => false,
    }
}

/// A column that its name and all its texts make the one of metrics' names.
pub fn name_of(rows: &RecordBatch) -> Option<usize> {
    let schema = rows.schema();
    let names = texts_of(rows).into_iter().filter(|(_, t)| every(t, &is_metric));
    let order = |i: usize| NAMES.iter().position(|n| schema.field(i).name().eq_ignore_ascii_case(n));
    names.filter_map(|(i, _)| Some((order(i)?, i))).min().map(|(_, i)| i)
}

/// The column of values: by its name, or the only one of floats.
pub fn value_of(rows: &RecordBatch, taken: &[usize]) -> Option<usize> {
    let schema = rows.schema();
    let numbers: Vec<usize> = (0..rows.num_columns()).filter(|i| !taken.contains(i) && is_number(schema.field(*i).data_type())).collect();
    let named = |i: &&usize| VALUES.contains(&schema.field(**i).name().to_ascii_lowercase().as_str());
    let float = |i: &&usize| !schema.field(**i).data_type().is_integer();
    let one = |found: Vec<&usize>| match found.as_slice() {
        [one] => Some(**one),
        _ => None,
    };
    one(numbers.iter().filter(named).collect()).or_else(|| one(numbers.iter().filter(float).collect()))
}

fn said_labels(name: &str) -> bool {
    ["labels", "label", "tags", "attributes", "dimensions", "label_set", "labelset", "metric_labels"].contains(&name)
}

fn in_order(texts: &Texts) -> bool {
    (0..texts.len()).filter_map(|row| texts.get(row)).all(|t| plain(t, true).is_some_and(|p| !p.doubtful))
}

/// A URL, or a host with a port.
fn is_address(text: &str) -> bool {
    text.contains("://") || text.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

/// At most 64 values among the first rows, each oftener than once in the mean.
fn few(column: &ArrayRef) -> bool {
    let Some(texts) = Texts::of(column) else { return false };
    let values: BTreeSet<&str> = (0..texts.len()).filter_map(|row| texts.get(row)).collect();
    values.len() <= 64 && values.len() * 2 <= texts.len().max(2)
}

/// Every row has a label `instance` that is an address, as what Prometheus kept has.
fn instances(rows: &RecordBatch, keys: &[(usize, Role)]) -> bool {
    let mut keys = super::keys::Keys::new(keys.iter().cloned());
    keys.target_label = None;
    let mut spans = Vec::new();
    keys.spans(rows, &mut spans).is_ok()
        && !keys.identities.is_empty()
        && keys.identities.iter().all(|i| i.labels.get("instance").is_some_and(is_address))
}

/// An Arrow type in a few words.
pub fn kind_word(kind: &DataType) -> String {
    match kind {
        DataType::Dictionary(_, values) => kind_word(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text".into(),
        DataType::Map(..) => "map".into(),
        DataType::Struct(fields) => format!("struct of {}", fields.len()),
        DataType::List(item) | DataType::LargeList(item) => format!("list of {}", kind_word(item.data_type())),
        DataType::Timestamp(unit, zone) => {
            let unit = match super::super::numbers::nanoseconds(*unit) {
                1 => "ns",
                1_000 => "us",
                1_000_000 => "ms",
                _ => "s",
            };
            format!("timestamp {unit}{}", zone.as_ref().map_or(String::new(), |z| format!(" {z}")))
        }
        other => other.to_string().to_ascii_lowercase(),
    }
}
