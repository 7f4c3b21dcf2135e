//! The built-in table of edges is held to the parsers, to the metric table and to the rows of the upstream tables.

#[path = "table/records.rs"]
mod records;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use corr_evidence::builtin::table;
use corr_evidence::definition::{Concerns, Condition, Edge, Instrument, Proves, Signal, System, Table};
use corr_parsers::FORMATS;
use corr_parsers::ids::IdKind;

/// The edges, in the order of the pipeline.
const EDGES: [&str; 22] = [
    "request-router",
    "router-worker",
    "rejection",
    "migration",
    "admission",
    "queue-wait",
    "l1-lookup",
    "l2-lookup",
    "l3-lookup",
    "l3-restore",
    "l2-restore",
    "prefill",
    "kv-transfer",
    "decode",
    "retraction",
    "l1-evict",
    "l2-writeback",
    "l2-evict",
    "writeback-drop",
    "l3-writeback",
    "l3-allocate",
    "l3-evict",
];

/// Our name of a row, the beginning of its first cell upstream, and an edge that it must be found at (none: it must be unmapped).
type Row = (&'static str, &'static str, Option<&'static str>);

const SGLANG: &[Row] = &[
    ("sglang: client to router", "client → router", Some("request-router")),
    ("sglang: worker choice", "router → worker choice", Some("router-worker")),
    ("sglang: admission", "request admitted to engine", Some("admission")),
    ("sglang: waiting queue", "waiting queue", Some("queue-wait")),
    ("sglang: L1 lookup", "L1 lookup hit", Some("l1-lookup")),
    ("sglang: L2 lookup", "L1 miss → L2 lookup hit", Some("l2-lookup")),
    ("sglang: L3 lookup", "L2 miss → L3 lookup", Some("l3-lookup")),
    ("sglang: L3 restore", "L3 → L2 restore (prefetch)", Some("l3-restore")),
    ("sglang: load back", "L2 → L1 load back", Some("l2-restore")),
    ("sglang: prefill", "execution prefill", Some("prefill")),
    ("sglang: decode", "execution decode", Some("decode")),
    ("sglang: retraction", "retract / re-queue", Some("retraction")),
    ("sglang: L1 eviction", "L1 eviction", Some("l1-evict")),
    ("sglang: L2 backup", "L1 → L2 backup", Some("l2-writeback")),
    ("sglang: dropped without backup", "dropped without backup", Some("writeback-drop")),
    ("sglang: L3 backup", "L2 → L3 backup", Some("l3-writeback")),
    ("sglang: L3 allocation and eviction", "L3 allocation / eviction", Some("l3-evict")),
    ("sglang: PD transfer", "PD prefill → transfer → decode", Some("kv-transfer")),
    ("sglang: restart and readiness", "restart / readiness", None),
];

const DYNAMO: &[Row] = &[
    ("dynamo: client to request", "client → request", Some("request-router")),
    ("dynamo: request to routing", "request → routing", Some("router-worker")),
    ("dynamo: L1 hit", "routing → GPU cache hit (L1)", Some("l1-lookup")),
    ("dynamo: L1 store and evict", "L1 store / evict", Some("l1-evict")),
    ("dynamo: L2 write-back", "L1 → L2 write-back", Some("l2-writeback")),
    ("dynamo: L2 lookup", "L2 lookup", Some("l2-lookup")),
    ("dynamo: L2 restore", "L2 → L1 restore", Some("l2-restore")),
    ("dynamo: L3 lookup", "L3 lookup", Some("l3-lookup")),
    ("dynamo: L3 restore", "L3 → L1/L2 restore", Some("l3-restore")),
    ("dynamo: execution", "execution", Some("prefill")),
    ("dynamo: lower eviction and allocation", "L2/L3 eviction, storage allocation", Some("l3-allocate")),
    ("dynamo: preemption", "preemption", Some("retraction")),
    ("dynamo: migration", "migration", Some("migration")),
    ("dynamo: rejection", "rejection / error", Some("rejection")),
];

fn read() -> Table {
    table().unwrap_or_else(|error| panic!("edges.toml: {error}"))
}

fn signals(table: &Table) -> impl Iterator<Item = (&Edge, &Signal)> {
    table.edges.iter().flat_map(|edge| edge.signals.iter().map(move |signal| (edge, signal)))
}

fn instruments(table: &Table) -> BTreeMap<&str, &Instrument> {
    table.instruments.iter().map(|i| (i.id.as_str(), i)).collect()
}

/// The kinds of an instrument's formats, by name.
fn kinds_of(instrument: &Instrument) -> HashSet<&'static str> {
    let formats = FORMATS.iter().filter(|f| instrument.formats.iter().any(|name| name == f.name));
    formats.flat_map(|f| f.kinds.iter().map(|k| k.name)).collect()
}

fn families() -> HashSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../metrics/src/known/families.tsv");
    let text = std::fs::read_to_string(path).expect("the metric table");
    text.lines().filter_map(|line| line.split_once('\t')).map(|(name, _)| name.to_owned()).collect()
}

fn is_name(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

/// Ids in the order given, each once.
fn unique<'a>(ids: impl Iterator<Item = &'a str>, of: &str) {
    let mut seen = BTreeSet::new();
    for id in ids {
        assert!(is_name(id), "{of}: {id:?}");
        assert!(seen.insert(id), "{of}: {id} stands twice");
    }
}

#[test]
fn the_edges_are_those_of_the_pipeline() {
    let table = read();
    assert_eq!(table.edges.iter().map(|e| e.id.as_str()).collect::<Vec<_>>(), EDGES);
    unique(table.instruments.iter().map(|i| i.id.as_str()), "instruments");
    for edge in &table.edges {
        unique(edge.signals.iter().map(|s| s.id.as_str()), &edge.id);
        let concerns = match edge.id.as_str() {
            "request-router" | "router-worker" => Concerns::RouterRequests,
            "admission" | "queue-wait" | "l1-lookup" | "l2-lookup" | "l3-lookup" | "l3-restore" | "l2-restore" | "prefill"
            | "kv-transfer" | "decode" => Concerns::EngineRequests,
            _ => Concerns::Occurrences,
        };
        assert_eq!(edge.concerns, concerns, "{}", edge.id);
        assert!(!edge.title.is_empty() && !edge.unit.is_empty(), "{}", edge.id);
        assert!(edge.beware.iter().all(|b| b.ends_with('.')), "{}", edge.id);
    }
}

#[test]
fn every_signal_is_something_that_is_read() {
    let table = read();
    let (instruments, families) = (instruments(&table), families());
    let mut used = BTreeSet::new();
    for (edge, signal) in signals(&table) {
        let of = format!("{} {}", edge.id, signal.id);
        let instrument = instruments.get(signal.instrument.as_str()).unwrap_or_else(|| panic!("{of}: no instrument {}", signal.instrument));
        used.insert(instrument.id.as_str());
        match &signal.metric {
            Some(metric) => {
                assert!(signal.kinds.is_empty() && signal.conditions.is_empty() && signal.amount.is_none(), "{of}: kinds and a metric");
                assert!(families.contains(metric), "{of}: {metric} is no family of the metric table");
                assert!(instrument.families.iter().any(|start| metric.starts_with(start)), "{of}: {metric} is none of {}", instrument.id);
            }
            None => {
                assert!(!signal.kinds.is_empty(), "{of}: neither kinds nor a metric");
                assert!(signal.labels.is_empty() && !signal.lazy_label, "{of}: labels of an event");
                let known = kinds_of(instrument);
                for kind in &signal.kinds {
                    assert!(known.contains(kind.as_str()), "{of}: {kind} is no kind of {:?}", instrument.formats);
                }
            }
        }
        assert!(!signal.lazy_label || !signal.labels.is_empty(), "{of}: a lazy label without a label");
    }
    for id in instruments.keys() {
        assert!(used.contains(id), "{id} has no signal");
    }
}

#[test]
fn instruments_are_known_to_the_parsers() {
    let table = read();
    let formats: HashSet<&str> = FORMATS.iter().map(|f| f.name).collect();
    let families = families();
    let every: HashSet<&str> = FORMATS.iter().flat_map(|f| f.kinds.iter().map(|k| k.name)).collect();
    for instrument in &table.instruments {
        let of = &instrument.id;
        assert!(instrument.formats.is_empty() != instrument.families.is_empty(), "{of}: formats or families, not both");
        assert!(!instrument.title.is_empty() && !instrument.switch.is_empty(), "{of}");
        for format in &instrument.formats {
            assert!(formats.contains(format.as_str()), "{of}: {format}");
        }
        let known = kinds_of(instrument);
        for kind in &instrument.shown_by {
            assert!(known.contains(kind.as_str()), "{of}: {kind}");
        }
        for start in &instrument.families {
            assert!(families.iter().any(|family| family.starts_with(start)), "{of}: no family begins with {start}");
        }
        for off in &instrument.off_by {
            assert!(every.contains(off.kind.as_str()) && !off.field.is_empty(), "{of}: {off:?}");
        }
        assert!(instrument.level.as_deref().is_none_or(is_level), "{of}");
    }
}

fn is_level(level: &str) -> bool {
    ["debug", "info", "warn", "error"].contains(&level)
}

#[test]
fn what_a_signal_proves_is_of_one_piece() {
    let ids = [
        IdKind::Rid,
        IdKind::RequestId,
        IdKind::XRequestId,
        IdKind::Session,
        IdKind::BootstrapRoom,
        IdKind::WorkerId,
        IdKind::TraceId,
        IdKind::RoutingKey,
    ];
    let ids: Vec<&str> = ids.iter().map(|id| id.field()).chain(["block_hash"]).collect();
    let counts = ["requests", "tokens", "pages", "blocks", "bytes", "megabytes", "events", "seconds", "milliseconds"];
    for (edge, signal) in signals(&read()) {
        let of = format!("{} {}", edge.id, signal.id);
        assert!(counts.contains(&signal.counts.as_str()), "{of}: {}", signal.counts);
        // A hint is never the thing itself, and what is the thing itself proves more than nothing.
        assert!(signal.proves != Proves::Hint || !signal.direct, "{of}: a direct hint");
        assert!(!signal.silence_is_zero || signal.proves != Proves::Hint, "{of}: silence of a hint");
        // An amount of zero says that nothing came of it, which a failure cannot say.
        assert!(signal.zero_when.is_none() || signal.amount.is_some(), "{of}: zero of no amount");
        assert!(signal.does_not_prove.len() > 10, "{of}: {:?}", signal.does_not_prove);
        for id in &signal.identity {
            assert!(ids.contains(&id.as_str()), "{of}: {id}");
        }
        assert!(signal.metric.is_none() || signal.identity.is_empty(), "{of}: a metric has no request's id");
        for condition in signal.conditions.iter().chain(&signal.zero_when) {
            assert_eq!(says(condition), 1, "{of}: {condition:?}");
        }
        assert!(signal.level.as_deref().is_none_or(is_level), "{of}");
        assert!(signal.versions.as_deref().is_none_or(is_range), "{of}: {:?}", signal.versions);
    }
}

/// How many things a condition asks of its field.
fn says(c: &Condition) -> usize {
    [c.is.is_some(), c.is_not.is_some(), !c.one_of.is_empty(), c.above.is_some(), c.present.is_some()].iter().filter(|s| **s).count()
}

/// `>=1.2,<1.3`.
fn is_range(versions: &str) -> bool {
    versions.split(',').all(|part| {
        let number = [">=", "<=", "==", "<", ">"].iter().find_map(|sign| part.strip_prefix(sign));
        number.is_some_and(|n| n.split('.').count() > 1 && n.starts_with(|c: char| c.is_ascii_digit()))
    })
}

#[test]
fn debug_lines_are_those_of_debug_instruments() {
    let table = read();
    let instruments = instruments(&table);
    for (edge, signal) in signals(&table) {
        let debug = signal.instrument.ends_with("debug-log") || signal.instrument == "dynamo-kvbm-log";
        if signal.level.as_deref() == Some("debug") {
            assert!(debug, "{} {}: a debug line of {}", edge.id, signal.id, signal.instrument);
        } else if debug {
            assert!(signal.kinds == ["migration"], "{} {}: no level", edge.id, signal.id);
        }
    }
    // SGLang prints no level on its lines: debug is shown by what only debug prints.
    assert!(instruments["sglang-debug-log"].level.is_none() && !instruments["sglang-debug-log"].shown_by.is_empty());
}

#[test]
fn every_edge_names_the_measurement_that_is_missing() {
    for edge in read().edges {
        for (what, needs) in [("request", &edge.needs.request), ("session", &edge.needs.session)] {
            for system in [System::Sglang, System::Dynamo] {
                let text = needs.get(&system).or_else(|| needs.get(&System::Any));
                let text = text.unwrap_or_else(|| panic!("{}: {what} of {system:?}", edge.id));
                assert!(text.len() > 20 && !text.contains('\n'), "{}: {what} of {system:?}: {text:?}", edge.id);
            }
        }
    }
}

#[test]
fn every_row_of_the_upstream_tables_is_mapped() {
    let table = read();
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (edge, signal) in signals(&table) {
        for row in &signal.rows {
            found.entry(row).or_default().insert(&edge.id);
        }
    }
    let unmapped: BTreeMap<&str, &str> = table.unmapped.iter().map(|u| (u.row.as_str(), u.reason.as_str())).collect();
    let known: BTreeSet<&str> = SGLANG.iter().chain(DYNAMO).map(|row| row.0).collect();
    for (row, _, edge) in SGLANG.iter().chain(DYNAMO) {
        match edge {
            Some(edge) => assert!(found.get(row).is_some_and(|edges| edges.contains(edge)), "{row}: no signal at {edge}"),
            None => assert!(unmapped.get(row).is_some_and(|reason| reason.len() > 20), "{row}: no reason"),
        }
    }
    for row in found.keys().chain(unmapped.keys()) {
        assert!(known.contains(row), "{row} is no row of the upstream tables");
    }
}

/// The first cells of the table under a heading of a Markdown file.
fn first_cells(path: &Path, heading: &str) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(path).ok()?;
    let mut cells = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("## ") {
            inside = line.starts_with(heading);
        } else if inside && let Some(row) = line.strip_prefix("| ") {
            let cell = row.split(" | ").next().unwrap_or_default().trim();
            if cell != "edge" {
                cells.push(cell.to_owned());
            }
        }
    }
    Some(cells)
}

/// The folder of the upstream catalogues, where this machine has it: beside the cases.
fn catalogues() -> PathBuf {
    let cases = std::env::var_os("CORR_CASES").map(PathBuf::from);
    let shared = cases.and_then(|cases| cases.parent().map(Path::to_owned));
    shared.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared")).join("formats")
}

#[test]
fn the_rows_are_those_of_the_catalogues() {
    let folder = catalogues();
    for (file, heading, rows) in [("sglang.md", "## 9.", SGLANG), ("dynamo.md", "## 7.", DYNAMO)] {
        match first_cells(&folder.join(file), heading) {
            Some(cells) => {
                assert_eq!(cells, rows.iter().map(|row| row.1).collect::<Vec<_>>(), "{file}");
                println!("{file}: {} rows compared", cells.len());
            }
            None => println!("skipped: no {} (set CORR_CASES)", folder.join(file).display()),
        }
    }
}
