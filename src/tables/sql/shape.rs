//! What records are like over all files: the columns below the views, and the views as questions. The same where files are the store's and where they
//! are shards of a cluster.

use std::collections::{BTreeMap, BTreeSet};

use arrow::datatypes::Field;
use corr_sql::{Engine, Table};

use super::sheet::data_type;
use crate::store::columns::{Type, column_name};
use crate::tables::columns::{EVENT, FIELDS, TABLES};
use crate::tables::{Type as Sql, fields};

/// The table below every view of records.
pub const RAW: &str = "_records";
/// The facts of a record that are no field of it, as the store has them.
const FACTS: [(&str, Sql); 8] = [
    ("_offset", Sql::Count),
    ("_line", Sql::Count),
    ("_order", Sql::Time),
    ("_start", Sql::Time),
    ("_end", Sql::Time),
    ("_level", Sql::Text),
    ("_kind", Sql::Text),
    ("_outcome", Sql::Text),
];
/// What each file says of all its rows.
pub const CONSTANTS: [&str; 7] = ["_source", "_path", "_format", "_worker", "_role", "_host", "_unit"];
/// Columns that shards have beside those of the store: the message, the ids, and the map of fields.
pub const WRITTEN: [&str; 3] = ["_text", "_ids", "_fields"];
/// Fields that stand in a column of every event.
const SHARED: [&str; 2] = ["host", "unit"];

/// Fields with their types, and which of them each kind has.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    pub fields: BTreeMap<String, Type>,
    pub kinds: BTreeMap<String, BTreeSet<String>>,
    /// Messages and maps of fields stand in the files, as do the constants.
    pub written: bool,
}

impl Shape {
    /// The columns of the files.
    pub fn columns(&self) -> Vec<Field> {
        let column = |name: &str, kind| Field::new(name, data_type(kind), true);
        let mut columns: Vec<Field> = FACTS.iter().map(|(name, kind)| column(name, *kind)).collect();
        columns.extend(self.fields.iter().map(|(name, kind)| column(&column_name(name), (*kind).into())));
        if self.written {
            columns.extend(CONSTANTS.iter().map(|name| column(name, Sql::Text)));
            columns.extend(WRITTEN.iter().zip([Sql::Text, Sql::Map, Sql::Map]).map(|(name, kind)| column(name, kind)));
            #[cfg(feature = "cluster")]
            columns.push(Field::new(crate::tables::shard::question::WHOLE, arrow::datatypes::DataType::Binary, true));
        }
        columns
    }

    /// Makes `events` and a view for every kind known to an engine.
    pub fn add_views(&self, engine: &mut Engine) {
        engine.add("events", Table::View(self.events()));
        let mut kinds: BTreeSet<&str> = corr_parsers::kinds().map(|kind| kind.name).collect();
        kinds.extend(self.kinds.keys().map(String::as_str));
        for kind in kinds.into_iter().filter(|kind| !TABLES.iter().any(|t| t.name == *kind)) {
            engine.add(kind, Table::View(self.of_kind(kind)));
        }
    }

    /// The message of a record.
    pub fn text(&self) -> &'static str {
        if self.written { WRITTEN[0] } else { "record_text(_source, _offset)" }
    }

    /// Its ids as one map.
    pub fn ids(&self) -> &'static str {
        if self.written { WRITTEN[1] } else { "record_ids(_source, _offset)" }
    }

    /// Its fields as one map.
    pub fn map(&self) -> String {
        if self.written {
            return WRITTEN[2].into();
        }
        // The kind, which every record has, says how many maps there are where there is no field.
        let columns: String = self.fields.keys().map(|name| format!(", {}", quoted(&column_name(name)))).collect();
        format!("record_fields(_kind{columns})")
    }

    fn events(&self) -> String {
        format!("SELECT {}, {} AS {} FROM {RAW}", self.fixed(), self.map(), FIELDS.name)
    }

    fn of_kind(&self, kind: &str) -> String {
        let none = BTreeSet::new();
        let names = self.kinds.get(kind).unwrap_or(&none);
        let one = |name: &String| format!(", {} AS {}", quoted(&column_name(name)), quoted(&fields::column(name)));
        let columns: String = names.iter().filter(|name| !SHARED.contains(&name.as_str())).map(one).collect();
        format!("SELECT {}{columns} FROM {RAW} WHERE _kind = '{}'", self.fixed(), kind.replace('\'', "''"))
    }

    /// What every record has, in the order of [`EVENT`].
    fn fixed(&self) -> String {
        let or_own = |name: &str, own: &str| match self.fields.get(name) {
            Some(Type::Text) => format!("coalesce({}, {own})", quoted(name)),
            Some(_) => format!("coalesce(arrow_cast({}, 'Utf8'), {own})", quoted(name)),
            None => own.to_string(),
        };
        let one = |name: &str| match name {
            "source" => "_source".to_string(),
            "line" => "_line".into(),
            "byte_offset" => "_offset".into(),
            "citation" => "concat(_path, ':', arrow_cast(_line, 'Utf8'))".into(),
            "time" => "_start".into(),
            "time_end" => "_end".into(),
            "time_order" => "_order".into(),
            "level" => "_level".into(),
            "kind" => "_kind".into(),
            "outcome" => "coalesce(_outcome, 'parsed')".into(),
            "format" => "_format".into(),
            "worker" => "_worker".into(),
            "role" => "_role".into(),
            "host" => or_own("host", "_host"),
            "unit" => or_own("unit", "_unit"),
            "ids" => self.ids().into(),
            id @ ("rid" | "request_id" | "session" | "worker_id") => format!("{}['{id}']", self.ids()),
            _ => self.text().into(),
        };
        let columns: Vec<String> = EVENT.iter().map(|c| format!("{} AS \"{}\"", one(c.name), c.name)).collect();
        columns.join(", ")
    }
}

/// A name as SQL takes it letter by letter.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
