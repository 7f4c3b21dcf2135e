//! Names, types, units and meaning of every column that does not depend on the run.

/// What values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Text,
    /// Signed, 64 bits.
    Int,
    /// Unsigned, 64 bits.
    Count,
    /// Double.
    Number,
    Truth,
    /// Nanoseconds since the epoch, UTC.
    Time,
    /// Text to text.
    Map,
}

impl Type {
    /// The word that SQL has for it.
    pub fn word(self) -> &'static str {
        match self {
            Type::Text => "VARCHAR",
            Type::Int => "BIGINT",
            Type::Count => "BIGINT UNSIGNED",
            Type::Number => "DOUBLE",
            Type::Truth => "BOOLEAN",
            Type::Time => "TIMESTAMP(9) UTC",
            Type::Map => "MAP(VARCHAR, VARCHAR)",
        }
    }
}

impl From<crate::store::columns::Type> for Type {
    /// What values of a field's column are.
    fn from(kind: crate::store::columns::Type) -> Type {
        use crate::store::columns::Type as Stored;
        match kind {
            Stored::Int => Type::Int,
            Stored::Float => Type::Number,
            Stored::Bool => Type::Truth,
            Stored::Text => Type::Text,
        }
    }
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub name: &'static str,
    pub kind: Type,
    /// Empty where there is none.
    pub unit: &'static str,
    pub about: &'static str,
}

/// A table.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    pub name: &'static str,
    /// How it is written in a question, where that is not its name.
    pub call: &'static str,
    pub about: &'static str,
    /// What its rows come from.
    pub from: &'static str,
    pub columns: &'static [Column],
}

impl Table {
    /// The table of a name.
    pub fn named(name: &str) -> Option<&'static Table> {
        TABLES.iter().find(|t| t.name == name)
    }
}

/// The columns of a table; none if there is none of that name.
pub fn of(table: &str) -> &'static [Column] {
    Table::named(table).map_or(&[], |t| t.columns)
}

const fn text(name: &'static str, about: &'static str) -> Column {
    Column { name, kind: Type::Text, unit: "", about }
}

const fn time(name: &'static str, about: &'static str) -> Column {
    Column { name, kind: Type::Time, unit: "", about }
}

const fn count(name: &'static str, unit: &'static str, about: &'static str) -> Column {
    Column { name, kind: Type::Count, unit, about }
}

const fn number(name: &'static str, unit: &'static str, about: &'static str) -> Column {
    Column { name, kind: Type::Number, unit, about }
}

const fn truth(name: &'static str, about: &'static str) -> Column {
    Column { name, kind: Type::Truth, unit: "", about }
}

const fn map(name: &'static str, about: &'static str) -> Column {
    Column { name, kind: Type::Map, unit: "", about }
}

/// The columns that `events` and every view of a kind begin with.
pub const EVENT: &[Column] = &[
    text("source", "the file below the run, as `sources` has it"),
    count("line", "", "the record's first line, from 1"),
    count("byte_offset", "bytes", "where the record begins in the (decompressed) source"),
    text("citation", "`path:line`, which `corr show` opens"),
    time("time", "the first instant that its stamp can mean; NULL without a stamp"),
    time("time_end", "the first instant behind what its stamp can mean"),
    time("time_order", "its stamp, or that of the stamped record above it: what `corr query` sorts by"),
    text("level", "trace, debug, info, warn, error, fatal; NULL where the record has none"),
    text("kind", "what the record says happened; docs/kinds.md"),
    text("outcome", "`parsed`, or why it was not: `skipped: …`, `unparsed: …`"),
    text("format", "the commonest format of the source"),
    text("worker", "the process whose source it is"),
    text("role", "prefill, decode, unified, router, frontend, client, infra"),
    text("host", "by its envelope, else its source's"),
    text("unit", "the systemd unit, by its envelope, else its source's"),
    text("rid", "SGLang's id of the request; as all ids in one spelling (no `chatcmpl-`, no dashes, lower case), several between blanks"),
    text("request_id", "Dynamo's id of the request, in that spelling"),
    text("session", "the session as the client named it"),
    text("worker_id", "the serving process, in decimal"),
    map("ids", "every id that the record bears, by what it names: rid, request_id, x_request_id, session, trace_id, span_id, …"),
    text("text", "the message; bodies, header values and credentials are withheld"),
];

/// Every field of an event in one column.
pub const FIELDS: Column =
    map("fields", "every field that the record has, by name, as text; numbers as columns stand in the view of the kind");

const EVENTS: &[Column] = &joined();

const fn joined() -> [Column; EVENT.len() + 1] {
    let mut all = [FIELDS; EVENT.len() + 1];
    let mut at = 0;
    while at < EVENT.len() {
        all[at] = EVENT[at];
        at += 1;
    }
    all
}

const WHOSE: [Column; 3] = [
    text("capture", "the capture: its file, or the folder that holds its files"),
    text("endpoint", "the target that was scraped, by its name or URL"),
    text("worker", "the worker that the endpoint is, where labels or ports show it; NULL where nothing does"),
];

/// Every table that is not of one kind of record.
pub const TABLES: &[Table] = &[
    Table {
        name: "events",
        call: "events",
        about: "every record of every log and trace",
        from: "the store's columns.parquet; of what is not indexed, columns made for this question; `text` and ids from the sources themselves",
        columns: EVENTS,
    },
    Table {
        name: "samples",
        call: "samples",
        about: "every sample of every metric capture",
        from: "the captures",
        columns: &[
            WHOSE[0],
            WHOSE[1],
            WHOSE[2],
            text("name", "the series' name as it was seen"),
            map("labels", "every label"),
            time("time", "when it was scraped, by the capture's clock; NULL where that counts from an unknown start"),
            number("elapsed", "seconds", "since the capture's start, for a clock that counts from there"),
            number("value", "the family's", "as it was kept"),
        ],
    },
    Table {
        name: "series",
        call: "series",
        about: "every series of every metric capture",
        from: "the captures",
        columns: &[
            WHOSE[0],
            WHOSE[1],
            WHOSE[2],
            text("name", "the series' name as it was seen"),
            map("labels", "every label"),
            text("family", "canonical name, without `_bucket`, `_sum`, `_count`"),
            text("type", "counter, gauge, histogram, summary, …"),
            text("type_origin", "who says the type: declared, known, from another capture, by its name, inferred"),
            text("unit", "as the capture says"),
            text("layout", "how the capture is laid out"),
            count("samples", "", "how many there are"),
            time("first_time", "of its first sample"),
            time("last_time", "of its last sample"),
        ],
    },
    Table {
        name: "deltas",
        call: "deltas('WINDOW'), deltas('SINCE', 'UNTIL'), deltas()",
        about: "what each series did in a window, as `corr metrics` says it: never extrapolated",
        from: "the captures",
        columns: &[
            text("capture", "the capture"),
            text("endpoint", "the target that was scraped"),
            text("series", "`name{labels}`"),
            text("type", "counter, gauge, histogram, summary, …"),
            text("type_origin", "who says so"),
            text("status", "`answered`, or why there is no figure: no_samples, one_sample, refused"),
            number("least", "the family's", "a counter counted at least this in the window"),
            number("most", "the family's", "and at most this; NULL where nothing bounds it"),
            count("samples", "", "in the window"),
            number("observations", "", "of a histogram"),
            text("first_time", "of the first sample in the window, on the capture's clock"),
            number("first_value", "the family's", "its value"),
            text("last_time", "of the last sample in the window"),
            number("last_value", "the family's", "its value"),
            count("resets", "", "falls of a counter between the two"),
            text("start_grade", "how well the first sample stands for the window's start: exact, within one scrape, approximate"),
            text("end_grade", "how well the last one stands for its end"),
            number("per_second", "the family's per second", "between the two samples"),
            number("min", "the family's", "of a gauge"),
            number("median", "the family's", "of a gauge"),
            number("max", "the family's", "of a gauge"),
            number("time_weighted_mean", "the family's", "of a gauge, over what is covered"),
            number("coverage", "share", "of the window for which a gauge's value is known"),
            text("quantiles", "of a histogram, with their bounds"),
            number("mean", "the family's", "of a histogram or a summary"),
            text("citation", "the samples that it rests on"),
        ],
    },
    Table {
        name: "readiness",
        call: "readiness",
        about: "each instant of each run of each server, and how well it is known; as `corr ready`",
        from: "logs, journals, polls and captures, by the state machine of `corr ready`",
        columns: &[
            text("host", "where it ran; empty where nothing says"),
            text("unit", "the unit, or what stands for one"),
            truth("server", "its records show that it serves"),
            count("run", "", "of the unit, from 1"),
            text("verdict", "how the run fared"),
            text("cause", "why it began"),
            text("instant", "started, exec'd, loading, loaded, listening, metrics live, ready, first served, …, ended"),
            text("known", "exact, upper bound, lower bound, interval, never, unknown"),
            time("earliest", "it did not happen before; NULL where nothing bounds it"),
            time("latest", "it had happened by then; NULL where nothing bounds it"),
            text("why", "of a bound, of never and of unknown"),
            text("citation", "the records that say so"),
        ],
    },
    Table {
        name: "verdicts",
        call: "verdicts",
        about: "what is proven of each edge of the cache pipeline over the whole run; as `corr edges`",
        from: "all records and captures, by the table of edges",
        columns: &[
            text("edge", "its id"),
            text("title", "what it is"),
            text("activity", "proven, active, absent, partial, conflict, no-signal"),
            text("why", "of that"),
            count("count", "", "occurrences, requests or records that prove it; NULL where it cannot be said"),
            number("amount", "as `unit` says", "sum over requests or records, where signals give amounts"),
            text("unit", "of the amount"),
            text("request", "to which requests: `proven k of n`, UNPROVABLE, none"),
            count("request_proven", "requests", "of how many it is proven; NULL where UNPROVABLE"),
            count("request_all", "requests", "of how many it is asked"),
            text("session", "to which sessions"),
            count("session_proven", "requests", "of how many it is proven"),
            count("session_all", "requests", "of how many it is asked"),
            text("needs", "the one measurement that would prove more"),
        ],
    },
    Table {
        name: "sources",
        call: "sources",
        about: "every file of the run; as `corr sources`",
        from: "the run's files",
        columns: &[
            text("source", "the file below the run"),
            text("path", "as corr prints it"),
            text("class", "events, metrics, config, empty, duplicate, not read"),
            text("format", "of events the commonest format, of metrics the layout, of others what it is"),
            text("envelopes", "outermost first, between `>`"),
            text("worker", "the process that wrote it"),
            text("role", "prefill, decode, unified, router, frontend, client, infra"),
            text("host", "where it ran"),
            text("unit", "the systemd unit"),
            text("owner_by", "how the owner was found"),
            text("clock", "the zone of stamps that name none"),
            text("clock_by", "how it was found: declared, zoned, envelope, id, recorded, assumed"),
            text("clock_evidence", "what says so"),
            count("bytes", "bytes", "on disk"),
            text("damage", "what is wrong with the bytes, or why it was not read"),
        ],
    },
];
