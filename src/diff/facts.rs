//! Facts of two runs side by side: which differ, and which only one run says.

use std::collections::{BTreeMap, BTreeSet};

use corr_parsers::event::Value;

use super::Name;
use crate::facts::table::{Cited, Row, Table};
use crate::facts::{Basis, known};

/// How a fact of two runs compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    Differs,
    /// Only A says it.
    OnlyA,
    OnlyB,
    /// A side only bounds it: whether they differ is not known.
    Bounds,
    /// They differ as two runs always do: names, instants, ports.
    ByNature,
    Equal,
}

impl State {
    /// For output.
    pub fn name(self) -> &'static str {
        match self {
            State::Differs => "differs",
            State::OnlyA => "not said in B",
            State::OnlyB => "not said in A",
            State::Bounds => "only bounds",
            State::ByNature => "differs by nature",
            State::Equal => "equal",
        }
    }
}

/// One value of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Valued {
    pub value: Value<'static>,
    /// The best basis on which it is known.
    pub basis: Basis,
    /// Who has it, where somebody is named.
    pub workers: BTreeSet<String>,
    pub cites: Vec<Cited>,
}

/// One fact of one role, or of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    pub name: String,
    pub group: &'static str,
    /// Whose it is; `None`: the run's. Empty: of processes whose role nothing says.
    pub role: Option<String>,
    pub state: State,
    pub a: Vec<Valued>,
    pub b: Vec<Valued>,
    /// Where the run that does not say it would.
    pub needs: Option<String>,
}

impl Compared {
    /// The values of one run.
    pub fn of(&self, which: Name) -> &[Valued] {
        match which {
            Name::A => &self.a,
            Name::B => &self.b,
        }
    }
}

/// Facts by role; what is said of the whole run stands under `None`.
type ByRole = BTreeMap<Option<String>, Vec<Valued>>;

/// All facts of both runs, in the order of `corr facts`.
pub fn compare(a: &Table, b: &Table) -> Vec<Compared> {
    let (roles_a, roles_b) = (roles(a), roles(b));
    let names: BTreeSet<&str> = a.rows.iter().chain(&b.rows).map(|r| r.name.as_str()).collect();
    let mut out = Vec::new();
    for name in names {
        let (of_a, of_b) = (by_role(a, name, &roles_a, &roles_b), by_role(b, name, &roles_b, &roles_a));
        let named: BTreeSet<&Option<String>> = of_a.keys().chain(of_b.keys()).filter(|role| role.is_some()).collect();
        // What is said of the run holds for each role of it.
        let mut used = (false, false);
        let of = |side: &ByRole, role: &Option<String>, used: &mut bool| match side.get(role) {
            Some(values) => values.clone(),
            None => {
                *used = true;
                side.get(&None).cloned().unwrap_or_default()
            }
        };
        for role in named {
            let (values_a, values_b) = (of(&of_a, role, &mut used.0), of(&of_b, role, &mut used.1));
            out.push(one(name, role.clone(), values_a, values_b, (a, b)));
        }
        let (run_a, run_b) = (of_a.get(&None).filter(|_| !used.0), of_b.get(&None).filter(|_| !used.1));
        // Of a run alone, where the other says it of its processes, it has been compared.
        let both = of_a.contains_key(&None) && of_b.contains_key(&None);
        if both {
            let all = |side: &ByRole| side.get(&None).cloned().unwrap_or_default();
            out.push(one(name, None, all(&of_a), all(&of_b), (a, b)));
        } else if run_a.is_some() || run_b.is_some() {
            out.push(one(name, None, run_a.cloned().unwrap_or_default(), run_b.cloned().unwrap_or_default(), (a, b)));
        }
    }
    out.sort_by(|x, y| (known::place_of(&x.name), &x.name, &x.role).cmp(&(known::place_of(&y.name), &y.name, &y.role)));
    out
}

fn one(name: &str, role: Option<String>, a: Vec<Valued>, b: Vec<Valued>, (table_a, table_b): (&Table, &Table)) -> Compared {
    let state = state(name, &a, &b);
    let needs = match state {
        State::OnlyA => needs(table_b, name),
        State::OnlyB => needs(table_a, name),
        _ => None,
    };
    Compared { name: name.to_string(), group: known::group_of(name), role, state, a, b, needs }
}

fn needs(table: &Table, name: &str) -> Option<String> {
    table.unknown.iter().find(|u| u.name == name).map(|u| u.needs.clone())
}

fn state(name: &str, a: &[Valued], b: &[Valued]) -> State {
    if a.is_empty() {
        return State::OnlyB;
    }
    if b.is_empty() {
        return State::OnlyA;
    }
    let values = |of: &[Valued]| of.iter().map(|v| v.value.to_string()).collect::<BTreeSet<_>>();
    let of_worker = |of: &[Valued], worker: &str| {
        of.iter().filter(|v| v.workers.contains(worker)).map(|v| v.value.to_string()).collect::<BTreeSet<_>>()
    };
    let workers = |of: &[Valued]| of.iter().flat_map(|v| v.workers.iter().cloned()).collect::<BTreeSet<_>>();
    let (workers_a, workers_b) = (workers(a), workers(b));
    let moved = workers_a.intersection(&workers_b).any(|w| of_worker(a, w) != of_worker(b, w));
    let differs = values(a) != values(b) || moved;
    if a.iter().chain(b).any(|v| v.basis == Basis::Bounds) {
        return State::Bounds;
    }
    match differs {
        true if by_nature(name) => State::ByNature,
        true => State::Differs,
        false => State::Equal,
    }
}

/// Does it differ between any two runs?
pub fn by_nature(name: &str) -> bool {
    matches!(name, "run_name" | "job_id") || name.ends_with("_window") || name.ends_with("_port") || name.ends_with("_PORT")
}

/// The role of each process.
fn roles(table: &Table) -> BTreeMap<&str, &str> {
    table.rows.iter().flat_map(|r| &r.who).filter_map(|who| Some((who.worker.as_deref()?, who.role.as_deref()?))).collect()
}

fn by_role(table: &Table, name: &str, own: &BTreeMap<&str, &str>, other: &BTreeMap<&str, &str>) -> ByRole {
    let mut out = ByRole::new();
    for row in table.rows.iter().filter(|r| r.name == name) {
        for who in &row.who {
            let known = |worker: &str| own.get(worker).or_else(|| other.get(worker)).map_or("", |role| role);
            let role = match (&who.role, &who.worker) {
                (Some(role), _) => Some(role.clone()),
                (None, Some(worker)) => Some(known(worker).to_string()),
                (None, None) => None,
            };
            add(out.entry(role).or_default(), row, who.worker.as_deref());
        }
    }
    out
}

fn add(values: &mut Vec<Valued>, row: &Row, worker: Option<&str>) {
    let text = row.value.to_string();
    let at = values.iter().position(|v| v.value.to_string() == text).unwrap_or_else(|| {
        values.push(Valued { value: row.value.clone(), basis: row.basis, workers: BTreeSet::new(), cites: Vec::new() });
        values.len() - 1
    });
    let Some(valued) = values.get_mut(at) else { return };
    valued.workers.extend(worker.map(String::from));
    let mine = |c: &&Cited| c.worker.is_none() || worker.is_none() || c.worker.as_deref() == worker;
    for cite in row.cites.iter().filter(mine) {
        if !valued.cites.contains(cite) {
            valued.cites.push(cite.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::table::Asked;
    use crate::facts::{Cite, Fact, Who};

    /// Name, value, worker, role, basis.
    type Given<'g> = (&'g str, i64, Option<&'g str>, Option<&'g str>, Basis);

    fn table(facts: &[Given<'_>]) -> Table {
        let fact = |(name, value, worker, role, basis): &Given<'_>| {
            let who = Who { worker: worker.map(String::from), role: role.map(String::from) };
            Fact::new(*name, Value::Int(*value), &who, *basis, Cite { name: "f.log".into(), line: 7, key: None })
        };
        Table::new(facts.iter().map(fact).collect(), &Asked::default())
    }

    fn states(a: &Table, b: &Table) -> Vec<String> {
        compare(a, b).iter().map(|c| format!("{}({}) {}", c.name, c.role.as_deref().unwrap_or("run"), c.state.name())).collect()
    }

    const R: Basis = Basis::Record;

    #[test]
    fn workers_of_other_names_are_compared_by_role() {
        let a = table(&[("page_size", 16, Some("w1"), Some("decode"), R)]);
        let b = table(&[("page_size", 16, Some("d0"), Some("decode"), R), ("page_size", 16, Some("d1"), Some("decode"), R)]);
        assert_eq!(states(&a, &b), ["page_size(decode) equal"]);
        let c = table(&[("page_size", 64, Some("d0"), Some("decode"), R)]);
        assert_eq!(states(&a, &c), ["page_size(decode) differs"]);
    }

    #[test]
    fn workers_that_changed_places_differ() {
        let of =
            |one, other| table(&[("page_size", one, Some("w1"), Some("decode"), R), ("page_size", other, Some("w2"), Some("decode"), R)]);
        assert_eq!(states(&of(16, 64), &of(64, 16)), ["page_size(decode) differs"]);
        assert_eq!(states(&of(16, 64), &of(16, 64)), ["page_size(decode) equal"]);
    }

    #[test]
    fn what_one_run_does_not_say_is_not_a_default() {
        let a = table(&[("page_size", 1, Some("w1"), Some("decode"), R)]);
        let found = compare(&a, &table(&[]));
        assert_eq!((found[0].state, found[0].b.len()), (State::OnlyA, 0));
        assert_eq!(found[0].a[0].cites[0].cite.at(), "f.log:7");
        assert_eq!(states(&table(&[]), &a), ["page_size(decode) not said in A"]);
    }

    #[test]
    fn what_is_said_of_the_run_holds_for_its_roles() {
        let a = table(&[("page_size", 16, None, None, Basis::Plan)]);
        let b = table(&[("page_size", 16, Some("w1"), Some("decode"), R)]);
        assert_eq!(states(&a, &b), ["page_size(decode) equal"]);
        assert_eq!(states(&b, &a), ["page_size(decode) equal"]);
    }

    #[test]
    fn bounds_neither_equal_nor_differ() {
        let a = table(&[("sglang_version", 5, None, None, Basis::Bounds)]);
        assert_eq!(states(&a, &a), ["sglang_version(run) only bounds"]);
        let windows = |at| table(&[("measured_window", at, None, None, R)]);
        assert_eq!(states(&windows(1), &windows(2)), ["measured_window(run) differs by nature"]);
    }
}
