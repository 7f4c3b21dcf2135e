//! Facts brought together: one row a value, who disagrees, what nobody says.

use std::collections::{BTreeMap, BTreeSet};

use corr_parsers::event::Value;

use super::known::{self, KNOWN, Of};
use super::{Basis, Cite, Fact, Who};

/// One value of one fact, with all who have it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub name: String,
    pub group: &'static str,
    pub value: Value<'static>,
    /// The best basis on which it is known.
    pub basis: Basis,
    pub note: Option<String>,
    pub who: Vec<Who>,
    pub cites: Vec<Cited>,
    /// It is one side of a disagreement.
    pub disputed: bool,
}

/// Where a value stands, whose it is there, and on what basis.
#[derive(Clone, Debug, PartialEq)]
pub struct Cited {
    pub cite: Cite,
    pub basis: Basis,
    pub worker: Option<String>,
}

impl Row {
    /// All bases on which it is known, best first.
    pub fn bases(&self) -> Vec<&'static str> {
        let all: BTreeSet<Basis> = self.cites.iter().map(|c| c.basis).collect();
        all.into_iter().map(Basis::name).collect()
    }
}

/// A fact that no source says.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    pub name: &'static str,
    pub group: &'static str,
    /// Of whom it is unknown; empty: of the run.
    pub who: Vec<Who>,
    /// Where it would be found.
    pub needs: String,
}

/// How two values of one fact contradict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// Workers of one role run with different values.
    Workers,
    /// One process had different values: after a restart, or at the same time.
    Process,
    /// What was asked for is not what the process says that it runs with.
    Asked,
}

impl Sort {
    /// For output.
    pub fn about(self) -> &'static str {
        match self {
            Sort::Workers => "workers of one role disagree",
            Sort::Process => "one process has more than one value",
            Sort::Asked => "a process runs with another value than was asked for",
        }
    }

    /// For programs.
    pub fn name(self) -> &'static str {
        match self {
            Sort::Workers => "workers",
            Sort::Process => "process",
            Sort::Asked => "asked",
        }
    }
}

/// One value of a disagreement.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    pub value: Value<'static>,
    pub basis: Basis,
    pub workers: Vec<String>,
    pub cites: Vec<Cite>,
}

/// Values that contradict each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Disagreement {
    pub name: String,
    pub sort: Sort,
    pub role: Option<String>,
    pub sides: Vec<Side>,
}

/// Whom facts are asked of.
#[derive(Debug, Default)]
pub struct Asked {
    pub who: BTreeMap<Of, Vec<Who>>,
    /// Why the end of the benchmark is not known, where something can be said of that.
    pub of_the_end: Option<String>,
}

/// Settings that someone may take for what a server does while HiCache is off.
const HICACHE: &[&str] =
    &["hicache_write_policy", "hicache_storage_backend", "hicache_storage_prefetch_policy", "hicache_prefetch_threshold"];

/// All of a run.
#[derive(Debug, Default)]
pub struct Table {
    pub rows: Vec<Row>,
    pub unknown: Vec<Unknown>,
    pub disagreements: Vec<Disagreement>,
}

impl Table {
    /// Sorts facts into rows, and finds who disagrees and what is not said.
    pub fn new(mut facts: Vec<Fact>, asked: &Asked) -> Table {
        facts.sort_by(|a, b| (a.basis, &a.cites, &a.worker).cmp(&(b.basis, &b.cites, &b.worker)));
        let disagreements = disagreements(&facts);
        let unknown = unknown(&facts, asked);
        let switched_off: BTreeSet<String> = off(&facts);
        let mut rows = rows(facts);
        for row in rows.iter_mut().filter(|r| HICACHE.contains(&r.name.as_str()) && r.note.is_none()) {
            let off: Vec<&str> = row.who.iter().filter_map(|w| w.worker.as_deref()).filter(|w| switched_off.contains(*w)).collect();
            if !off.is_empty() {
                row.note = Some(format!("HiCache is off on {} (enable_hierarchical_cache is false)", off.join(", ")));
            }
        }
        for row in &mut rows {
            let disputes = |d: &Disagreement| d.name == row.name && d.sides.iter().any(|s| same(&s.value, &row.value));
            row.disputed = disagreements.iter().any(disputes);
        }
        Table { rows, unknown, disagreements }
    }

    /// Keeps what passes a test on names, and of one worker if one is given.
    pub fn only(&mut self, name: &dyn Fn(&str) -> bool, worker: Option<&str>) {
        let of = |who: &[Who]| worker.is_none_or(|w| who.iter().any(|who| who.worker.as_deref() == Some(w)));
        self.rows.retain(|r| name(&r.name) && of(&r.who));
        self.unknown.retain(|u| name(u.name) && of(&u.who));
        let side = |s: &Side| worker.is_none_or(|w| s.workers.iter().any(|of| of == w));
        self.disagreements.retain(|d| name(&d.name) && d.sides.iter().any(side));
        if let Some(worker) = worker {
            let own = |of: &Option<String>| of.as_deref() == Some(worker);
            for row in &mut self.rows {
                row.who.retain(|w| own(&w.worker));
                row.cites.retain(|c| own(&c.worker));
            }
            self.unknown.iter_mut().for_each(|u| u.who.retain(|w| own(&w.worker)));
        }
    }

    /// The names of all processes that have a fact.
    pub fn workers(&self) -> BTreeSet<&str> {
        self.rows.iter().flat_map(|r| &r.who).filter_map(|who| who.worker.as_deref()).collect()
    }
}

/// The servers that say that HiCache is off.
fn off(facts: &[Fact]) -> BTreeSet<String> {
    let of = |f: &&Fact| f.name == "hicache" && f.basis == Basis::Record;
    let on: BTreeSet<&str> =
        facts.iter().filter(of).filter(|f| f.value != Value::Bool(false)).filter_map(|f| f.worker.as_deref()).collect();
    facts.iter().filter(of).filter_map(|f| f.worker.clone()).filter(|w| !on.contains(w.as_str())).collect()
}

/// Are two values one, however their sources spell them?
fn same(a: &Value<'_>, b: &Value<'_>) -> bool {
    a == b || a.to_string() == b.to_string()
}

fn rows(facts: Vec<Fact>) -> Vec<Row> {
    let mut rows: BTreeMap<(String, String), Row> = BTreeMap::new();
    for fact in facts {
        let who = Who { worker: fact.worker, role: fact.role };
        let group = known::group_of(&fact.name);
        let row = rows.entry((fact.name.clone(), fact.value.to_string())).or_insert_with(|| Row {
            name: fact.name,
            group,
            value: fact.value,
            basis: fact.basis,
            note: None,
            who: Vec::new(),
            cites: Vec::new(),
            disputed: false,
        });
        // Facts come by basis, best first.
        if row.note.is_none() && row.basis == fact.basis {
            row.note = fact.note;
        }
        if !row.who.contains(&who) {
            row.who.push(who.clone());
        }
        for cite in fact.cites {
            let worker = who.worker.clone();
            if !row.cites.iter().any(|c| c.cite == cite && c.worker == worker) {
                row.cites.push(Cited { cite, basis: fact.basis, worker });
            }
        }
    }
    let mut rows: Vec<Row> = rows.into_values().collect();
    for row in &mut rows {
        // Whom nothing names is told apart no further once somebody is named.
        if row.who.iter().any(|w| w.worker.is_some()) {
            row.who.retain(|w| w.worker.is_some());
        }
        row.who.sort();
        // One process, of which only some sources say the role.
        row.who.reverse();
        row.who.dedup_by(|a, b| a.worker.is_some() && a.worker == b.worker && (a.role == b.role || a.role.is_none()));
        row.who.reverse();
    }
    rows.sort_by(|a, b| (known::place_of(&a.name), &a.name, a.basis).cmp(&(known::place_of(&b.name), &b.name, b.basis)));
    rows
}

fn disagreements(facts: &[Fact]) -> Vec<Disagreement> {
    let mut by_name: BTreeMap<&str, Vec<&Fact>> = BTreeMap::new();
    for fact in facts.iter().filter(|f| f.basis != Basis::Bounds && !known::differs_by_nature(&f.name)) {
        by_name.entry(&fact.name).or_default().push(fact);
    }
    let mut out = Vec::new();
    for (name, facts) in by_name {
        // Of each process what is known best; facts come in that order.
        let mut best: BTreeMap<&str, Vec<&Fact>> = BTreeMap::new();
        for fact in &facts {
            let Some(worker) = fact.worker.as_deref() else { continue };
            let of = best.entry(worker).or_default();
            if of.first().is_none_or(|first| first.basis == fact.basis) && !of.iter().any(|f| same(&f.value, &fact.value)) {
                of.push(fact);
            }
        }
        let mut by_role: BTreeMap<&str, Vec<&Fact>> = BTreeMap::new();
        for (worker, of) in &best {
            if of.len() > 1 {
                let role = of.first().and_then(|f| f.role.clone());
                out.push(Disagreement { name: name.into(), sort: Sort::Process, role, sides: sides(of, &facts, &[worker]) });
            }
            for fact in of {
                by_role.entry(fact.role.as_deref().unwrap_or("")).or_default().push(fact);
            }
        }
        for (role, of) in by_role {
            let workers: BTreeSet<&str> = of.iter().filter_map(|f| f.worker.as_deref()).collect();
            let values: BTreeSet<String> = of.iter().map(|f| f.value.to_string()).collect();
            let all_alike = workers.iter().all(|w| best.get(w).is_some_and(|b| b.len() == values.len()));
            if workers.len() > 1 && values.len() > 1 && !all_alike {
                let workers: Vec<&str> = workers.into_iter().collect();
                let role = Some(role.to_string()).filter(|r| !r.is_empty());
                out.push(Disagreement { name: name.into(), sort: Sort::Workers, role, sides: sides(&of, &facts, &workers) });
            }
        }
        for (worker, of) in &best {
            let ran: Vec<&Fact> = of.iter().copied().filter(|f| f.basis == Basis::Record).collect();
            let Some(first) = ran.first() else { continue };
            let concerns = |f: &&&Fact| match &f.worker {
                Some(w) => w == worker,
                None => f.role.is_some() && f.role == first.role,
            };
            let wanted = |f: &&&Fact| matches!(f.basis, Basis::Launch | Basis::Plan) && !ran.iter().any(|r| same(&r.value, &f.value));
            let asked: Vec<&Fact> =
                facts.iter().filter(concerns).filter(wanted).filter(|f| f.value.to_string() != "auto").copied().collect();
            // One that was asked for holds: the other is of another start.
            let met = facts.iter().filter(concerns).any(|f| f.basis != Basis::Record && ran.iter().any(|r| same(&r.value, &f.value)));
            if asked.is_empty() || (met && ran.len() == 1) {
                continue;
            }
            let both: Vec<&Fact> = ran.iter().chain(&asked).copied().collect();
            out.push(Disagreement {
                name: name.into(),
                sort: Sort::Asked,
                role: first.role.clone(),
                sides: sides(&both, &facts, &[worker]),
            });
        }
    }
    out.sort_by(|a, b| (a.sort, known::place_of(&a.name), &a.name).cmp(&(b.sort, known::place_of(&b.name), &b.name)));
    out
}

/// One side a value, with all of these workers that have it on that basis, and where it stands.
fn sides(of: &[&Fact], all: &[&Fact], workers: &[&str]) -> Vec<Side> {
    let mut out: Vec<Side> = Vec::new();
    for fact in of {
        if out.iter().any(|s| same(&s.value, &fact.value)) {
            continue;
        }
        let mut side = Side { value: fact.value.clone(), basis: fact.basis, workers: Vec::new(), cites: Vec::new() };
        let mine =
            |f: &&&Fact| same(&f.value, &fact.value) && f.basis == fact.basis && f.worker.as_deref().is_none_or(|w| workers.contains(&w));
        for fact in all.iter().filter(mine) {
            side.workers.extend(fact.worker.clone().filter(|w| !side.workers.contains(w)));
            for cite in &fact.cites {
                if !side.cites.contains(cite) {
                    side.cites.push(cite.clone());
                }
            }
        }
        out.push(side);
    }
    out
}

fn unknown(facts: &[Fact], asked: &Asked) -> Vec<Unknown> {
    let mut out = Vec::new();
    let switched_off = off(facts);
    for known in KNOWN.iter().filter(|k| k.of != Of::None) {
        let of: Vec<&Fact> = facts.iter().filter(|f| f.name == known.name).collect();
        if known.of == Of::Run {
            if of.is_empty() {
                let needs = match &asked.of_the_end {
                    Some(end) if known.name == "benchmark_state" => format!("{end}; {}", known.needs),
                    _ => known.needs.to_string(),
                };
                out.push(Unknown { name: known.name, group: known.group, who: Vec::new(), needs });
            }
            continue;
        }
        let says = |who: &Who| {
            of.iter().any(|f| match (&f.worker, &f.role) {
                (Some(worker), _) => Some(worker) == who.worker.as_ref(),
                (None, Some(role)) => Some(role) == who.role.as_ref(),
                (None, None) => true,
            })
        };
        let off = |who: &Who| who.worker.as_ref().is_some_and(|w| switched_off.contains(w));
        let all = asked.who.get(&known.of).map_or(&[][..], Vec::as_slice);
        let who: Vec<Who> = all.iter().filter(|w| !(says(w) || (known.of == Of::Hicache && off(w)))).cloned().collect();
        if !who.is_empty() {
            out.push(Unknown { name: known.name, group: known.group, who, needs: known.needs.to_string() });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(name: &str, value: i64, worker: &str, basis: Basis, line: u64) -> Fact {
        let who = Who { worker: Some(worker.into()), role: Some("decode".into()) };
        Fact::new(name, Value::Int(value), &who, basis, Cite { name: format!("{worker}.log"), line, key: None })
    }

    fn told(facts: Vec<Fact>) -> Vec<String> {
        let table = Table::new(facts, &Asked::default());
        let side = |s: &Side| format!("{}:{}@{}", s.value, s.workers.join("+"), s.cites.len());
        table
            .disagreements
            .iter()
            .map(|d| format!("{} {} {}", d.sort.name(), d.name, d.sides.iter().map(side).collect::<Vec<_>>().join(" ")))
            .collect()
    }

    #[test]
    fn workers_of_a_role_that_disagree_are_told() {
        let facts = vec![
            fact("page_size", 16, "d0", Basis::Record, 1),
            fact("page_size", 16, "d1", Basis::Record, 1),
            fact("page_size", 64, "d2", Basis::Record, 1),
        ];
        assert_eq!(told(facts), ["workers page_size 16:d0+d1@2 64:d2@1"]);
    }

    #[test]
    fn a_restart_with_other_arguments_is_told_once() {
        let facts = vec![fact("page_size", 16, "d0", Basis::Record, 1), fact("page_size", 64, "d0", Basis::Record, 90)];
        assert_eq!(told(facts), ["process page_size 16:d0@1 64:d0@1"]);
    }

    #[test]
    fn what_was_asked_and_is_not_so_is_told() {
        let facts = vec![fact("page_size", 64, "d0", Basis::Record, 1), fact("page_size", 1, "d0", Basis::Launch, 3)];
        assert_eq!(told(facts), ["asked page_size 64:d0@1 1:d0@1"]);
        let facts = vec![fact("page_size", 64, "d0", Basis::Record, 1), fact("page_size", 64, "d0", Basis::Launch, 3)];
        assert!(told(facts).is_empty());
    }

    #[test]
    fn incarnations_differ_by_nature() {
        assert!(told(vec![fact("incarnations", 1, "d0", Basis::Record, 1), fact("incarnations", 3, "d1", Basis::Record, 1)]).is_empty());
    }

    #[test]
    fn one_row_a_value_and_nothing_by_default() {
        let asked = Asked {
            who: BTreeMap::from([(Of::Sglang, vec![Who { worker: Some("d0".into()), role: Some("decode".into()) }])]),
            of_the_end: None,
        };
        let table = Table::new(vec![fact("page_size", 16, "d0", Basis::Record, 1), fact("page_size", 16, "d1", Basis::Record, 2)], &asked);
        assert_eq!(table.rows.len(), 1);
        assert_eq!((table.rows[0].who.len(), table.rows[0].cites.len()), (2, 2));
        assert!(!table.unknown.iter().any(|u| u.name == "page_size"));
        let tp = table.unknown.iter().find(|u| u.name == "tp_size").expect("nobody says it");
        assert_eq!(tp.who[0].worker.as_deref(), Some("d0"));
    }
}
