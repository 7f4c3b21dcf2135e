//! A table of edges made ready: signals found by the kind of an event, instruments by name.

use std::collections::{BTreeSet, HashMap};

use corr_parsers::event::{Field, Value};

use crate::compare::{CompareOf, ShareOf, signal};
use crate::definition::{Condition, Edge, Flag, Instrument, Literal, Signal, Table, Unmapped};

/// Where a signal stands in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SignalRef {
    pub edge: u16,
    pub signal: u16,
}

/// Why tables do not fit together.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    #[error("edge `{edge}`: signal `{signal}` names the instrument `{instrument}`, which there is not")]
    Instrument { edge: String, signal: String, instrument: String },
    #[error("edge `{edge}`: signal `{signal}` needs either `kinds` or `metric`")]
    Source { edge: String, signal: String },
    #[error("edge `{edge}`: signal `{signal}` asks for the flag `{flag}`, which there is not")]
    Flag { edge: String, signal: String, flag: String },
    #[error("signal `{signal}` names the edge `{edge}`, which there is not")]
    Edge { edge: String, signal: String },
    #[error("`{0}` is no edge/signal of the table")]
    Path(String),
    #[error("the {what} `{id}` is declared twice")]
    Twice { what: &'static str, id: String },
    #[error("too many edges or signals")]
    Many,
}

/// Edges, signals and instruments, ready to be looked up.
#[derive(Debug)]
pub struct Edges {
    edges: Vec<Edge>,
    instruments: Vec<Instrument>,
    unmapped: Vec<Unmapped>,
    by_kind: HashMap<String, Vec<SignalRef>>,
    instrument_of: HashMap<String, usize>,
    off_kinds: HashMap<String, Vec<usize>>,
    flags: Vec<Flag>,
    flag_kinds: HashMap<String, Vec<usize>>,
    shares: Vec<ShareOf>,
    comparisons: Vec<CompareOf>,
}

impl Edges {
    /// Puts tables together: a later one may add edges and instruments, and signals to edges of earlier ones.
    ///
    /// # Errors
    /// If a signal names no instrument of any table, is neither event nor metric, or a name stands twice.
    pub fn new(tables: impl IntoIterator<Item = Table>) -> Result<Edges, TableError> {
        let mut edges: Vec<Edge> = Vec::new();
        let mut instruments: Vec<Instrument> = Vec::new();
        let mut unmapped = Vec::new();
        let mut flags: Vec<Flag> = Vec::new();
        let (mut shares, mut comparisons) = (Vec::new(), Vec::new());
        for table in tables {
            let mut own = BTreeSet::new();
            for edge in table.edges {
                if !own.insert(edge.id.clone()) {
                    return Err(TableError::Twice { what: "edge", id: edge.id });
                }
                match edges.iter_mut().find(|e| e.id == edge.id) {
                    Some(known) => {
                        known.signals.extend(edge.signals);
                        known.beware.extend(edge.beware);
                    }
                    None => edges.push(edge),
                }
            }
            for signal in table.signals {
                let edge = signal.edge.clone().unwrap_or_default();
                match edges.iter_mut().find(|e| e.id == edge) {
                    Some(known) => known.signals.push(signal),
                    None => return Err(TableError::Edge { edge, signal: signal.id }),
                }
            }
            instruments.extend(table.instruments);
            unmapped.extend(table.unmapped);
            flags.extend(table.flags);
            shares.extend(table.shares);
            comparisons.extend(table.comparisons);
        }
        let mut instrument_of = HashMap::new();
        let mut off_kinds: HashMap<String, Vec<usize>> = HashMap::new();
        for (i, instrument) in instruments.iter().enumerate() {
            if instrument_of.insert(instrument.id.clone(), i).is_some() {
                return Err(TableError::Twice { what: "instrument", id: instrument.id.clone() });
            }
            for off in &instrument.off_by {
                off_kinds.entry(off.kind.clone()).or_default().push(i);
            }
        }
        let mut flag_kinds: HashMap<String, Vec<usize>> = HashMap::new();
        for (i, flag) in flags.iter().enumerate() {
            if flags.iter().skip(i + 1).any(|other| other.id == flag.id) {
                return Err(TableError::Twice { what: "flag", id: flag.id.clone() });
            }
            for kind in flag.shown_by.iter().flat_map(|by| &by.kinds) {
                let flags = flag_kinds.entry(kind.clone()).or_default();
                if !flags.contains(&i) {
                    flags.push(i);
                }
            }
        }
        let mut by_kind: HashMap<String, Vec<SignalRef>> = HashMap::new();
        for (e, edge) in edges.iter().enumerate() {
            let mut own = BTreeSet::new();
            for (s, signal) in edge.signals.iter().enumerate() {
                let (edge_id, signal_id) = (edge.id.clone(), signal.id.clone());
                if !own.insert(&signal.id) {
                    return Err(TableError::Twice { what: "signal", id: format!("{edge_id}/{signal_id}") });
                }
                if !instrument_of.contains_key(&signal.instrument) {
                    return Err(TableError::Instrument { edge: edge_id, signal: signal_id, instrument: signal.instrument.clone() });
                }
                if signal.kinds.is_empty() != signal.metric.is_some() {
                    return Err(TableError::Source { edge: edge_id, signal: signal_id });
                }
                for wanted in signal.only_if.iter().chain(&signal.unless).chain(&signal.zeros_only_if) {
                    if !flags.iter().any(|f| f.id == *wanted) {
                        return Err(TableError::Flag { edge: edge_id, signal: signal_id, flag: wanted.clone() });
                    }
                }
                let at = SignalRef {
                    edge: u16::try_from(e).map_err(|_| TableError::Many)?,
                    signal: u16::try_from(s).map_err(|_| TableError::Many)?,
                };
                for kind in &signal.kinds {
                    by_kind.entry(kind.clone()).or_default().push(at);
                }
            }
        }
        let made = Edges { edges, instruments, unmapped, by_kind, instrument_of, off_kinds, flags, flag_kinds, shares, comparisons };
        let of_shares = made.shares.iter().flat_map(|s| [&s.above, &s.below]);
        let of_comparisons =
            made.comparisons.iter().flat_map(|c| [Some(&c.left), Some(&c.right), c.left_times.as_ref()].into_iter().flatten());
        if let Some(path) = of_shares.chain(of_comparisons).find(|path| signal(&made, path).is_none()) {
            return Err(TableError::Path(path.clone()));
        }
        Ok(made)
    }

    /// Instruments that a record of this kind can say are off.
    pub fn told_off_by(&self, kind: &str) -> impl Iterator<Item = (usize, &Instrument)> {
        let of = self.off_kinds.get(kind).map_or(&[][..], |v| &v[..]);
        of.iter().filter_map(|i| Some((*i, self.instruments.get(*i)?)))
    }

    pub fn shares(&self) -> &[ShareOf] {
        &self.shares
    }

    pub fn comparisons(&self) -> &[CompareOf] {
        &self.comparisons
    }

    pub fn flags(&self) -> &[Flag] {
        &self.flags
    }

    /// Number of a flag.
    pub fn flag(&self, id: &str) -> Option<usize> {
        self.flags.iter().position(|f| f.id == id)
    }

    /// Flags that a record of this kind can show.
    pub fn flagged_by(&self, kind: &str) -> impl Iterator<Item = (usize, &Flag)> {
        let of = self.flag_kinds.get(kind).map_or(&[][..], |v| &v[..]);
        of.iter().filter_map(|i| Some((*i, self.flags.get(*i)?)))
    }

    /// All edges, in the table's order, which is that of the pipeline.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    pub fn instruments(&self) -> &[Instrument] {
        &self.instruments
    }

    pub fn unmapped(&self) -> &[Unmapped] {
        &self.unmapped
    }

    /// The signals of one edge, each with its place.
    pub fn signals(&self, edge: usize) -> impl Iterator<Item = (SignalRef, &Signal)> {
        let signals = self.edges.get(edge).map_or(&[][..], |e| &e.signals[..]);
        signals.iter().enumerate().map(move |(s, signal)| (SignalRef { edge: edge as u16, signal: s as u16 }, signal))
    }

    /// All signals.
    pub fn all(&self) -> impl Iterator<Item = (SignalRef, &Signal)> {
        (0..self.edges.len()).flat_map(|e| self.signals(e))
    }

    pub fn get(&self, at: SignalRef) -> Option<&Signal> {
        self.edges.get(usize::from(at.edge))?.signals.get(usize::from(at.signal))
    }

    /// Number of a signal's instrument.
    pub fn instrument_of(&self, signal: &Signal) -> Option<usize> {
        self.instrument_of.get(&signal.instrument).copied()
    }

    /// Kinds of which a record can say something here beside the ids that it bears.
    pub fn kinds(&self) -> BTreeSet<&str> {
        self.by_kind.keys().chain(self.off_kinds.keys()).chain(self.flag_kinds.keys()).map(String::as_str).collect()
    }

    /// The signals that an event of this kind can be, in a source of this format.
    pub fn of_kind<'a>(&'a self, kind: &str, format: &'a str) -> impl Iterator<Item = (SignalRef, &'a Signal)> {
        self.by_kind.get(kind).map_or(&[][..], |v| &v[..]).iter().filter_map(move |at| {
            let signal = self.get(*at)?;
            let instrument = self.instruments.get(self.instrument_of(signal)?)?;
            let fits = instrument.formats.is_empty() || instrument.formats.iter().any(|f| f == format);
            fits.then_some((*at, signal))
        })
    }
}

/// Whether fields say what a condition asks for. A field that stands several times holds if one of its values does.
pub fn holds(condition: &Condition, fields: &[Field<'_>]) -> bool {
    let values = || fields.iter().filter(|f| f.name == condition.field.as_str()).map(|f| &f.value);
    if let Some(present) = condition.present
        && values().next().is_some() != present
    {
        return false;
    }
    let any = |test: &dyn Fn(&Value<'_>) -> bool| values().any(test);
    if let Some(is) = &condition.is
        && !any(&|v| equal(is, v))
    {
        return false;
    }
    if let Some(is_not) = &condition.is_not
        && any(&|v| equal(is_not, v))
    {
        return false;
    }
    if !condition.one_of.is_empty() && !any(&|v| condition.one_of.iter().any(|l| equal(l, v))) {
        return false;
    }
    if let Some(above) = condition.above
        && !any(&|v| number(v).is_some_and(|n| n > above))
    {
        return false;
    }
    true
}

/// The number that a value is.
pub fn number(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Int(n) => Some(*n as f64),
        Value::UInt(n) => Some(*n as f64),
        Value::Float(n) => Some(*n),
        Value::Bool(_) | Value::Str(_) => None,
    }
}

/// A table's value and a record's are the same.
pub fn equal(literal: &Literal, value: &Value<'_>) -> bool {
    match (literal, value) {
        (Literal::Bool(a), Value::Bool(b)) => a == b,
        (Literal::Text(a), Value::Str(b)) => a == b,
        (Literal::Int(a), v) => number(v) == Some(*a as f64),
        (Literal::Float(a), v) => number(v) == Some(*a),
        _ => false,
    }
}
