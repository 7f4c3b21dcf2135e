//! Declared repetitions: what design they make, and whether a difference is the same in all of them.
//!
//! What a user declares is checked as far as files show it: runs exist, orders are unique and not contradicted by stamps, loads of a matched replay are
//! alike. That the order was drawn at random is the user's word.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::range::{Range, Shown};
use super::{Name, Side, facts, figures};

/// `--reps FILE.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default, rename = "rep")]
    reps: Vec<Declared>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Declared {
    run: String,
    arm: String,
    order: u64,
    matched_replay: Option<String>,
}

/// One repetition.
#[derive(Clone, Debug, PartialEq)]
pub struct Rep {
    /// As declared.
    pub run: String,
    /// From the file's folder.
    pub path: PathBuf,
    pub arm: Name,
    pub order: u64,
    pub matched: Option<String>,
}

/// Why declared repetitions cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RepsError {
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    #[error("no [[rep]] in it; write one a run, with run, arm and order")]
    None,
    #[error("rep {number} ({run}): arm = \"{arm}\": an arm is \"A\" or \"B\"")]
    Arm { number: usize, run: String, arm: String },
    #[error("rep {number} ({run}): order = {order} is that of {other} too; each run has a place of its own")]
    Order { number: usize, run: String, order: u64, other: String },
    #[error("rep {number} ({run}): there is no {}; paths count from the folder of the file", path.display())]
    Missing { number: usize, run: String, path: PathBuf },
    #[error("rep {number} ({run}): {other} is the same run; each repetition is a run of its own")]
    Twice { number: usize, run: String, other: String },
    #[error("no repetition of arm {0} is declared")]
    OneArm(&'static str),
}

/// Reads the file; repetitions in their order. `folder` is the file's, from which paths count.
///
/// # Errors
/// If it is no such TOML, an arm is unknown, an order stands twice, a run is not there or stands twice, or an arm has none.
pub fn read(text: &str, folder: &Path) -> Result<Vec<Rep>, RepsError> {
    let file: File = toml::from_str(text)?;
    if file.reps.is_empty() {
        return Err(RepsError::None);
    }
    let mut reps: Vec<Rep> = Vec::new();
    for (i, declared) in file.reps.into_iter().enumerate() {
        let (number, run) = (i + 1, declared.run);
        let arm = match declared.arm.as_str() {
            "A" => Name::A,
            "B" => Name::B,
            _ => return Err(RepsError::Arm { number, run, arm: declared.arm }),
        };
        if let Some(other) = reps.iter().find(|r| r.order == declared.order) {
            return Err(RepsError::Order { number, run, order: declared.order, other: other.run.clone() });
        }
        let path = folder.join(&run);
        if !path.exists() {
            return Err(RepsError::Missing { number, run, path });
        }
        if let Some(other) = reps.iter().find(|r| same_path(&r.path, &path)) {
            return Err(RepsError::Twice { number, run, other: other.run.clone() });
        }
        reps.push(Rep { run, path, arm, order: declared.order, matched: declared.matched_replay });
    }
    for arm in Name::BOTH {
        if !reps.iter().any(|r| r.arm == arm) {
            return Err(RepsError::OneArm(arm.letter()));
        }
    }
    reps.sort_by_key(|r| r.order);
    Ok(reps)
}

/// Do two paths lead to the same place?
pub fn same_path(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

/// A run of A and one of B that are compared, by their place in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    pub a: usize,
    pub b: usize,
    /// A ran first.
    pub a_first: bool,
}

/// What repetitions make of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    pub pairs: Vec<Pair>,
    /// The pairs replay the same load, as declared.
    pub matched: bool,
    /// Some pairs ran A first and some B.
    pub both_orders: bool,
}

impl Design {
    /// `4 repetitions in both orders`.
    pub fn words(&self) -> String {
        let n = self.pairs.len();
        let orders = if self.both_orders { " in both orders" } else { "" };
        match (self.matched, n) {
            (true, 1) => "the one matched replay, which was not repeated".into(),
            (true, _) => format!("{n} matched replays{orders}"),
            (false, _) => format!("{n} repetitions{orders}"),
        }
    }
}

/// Repetitions that were read.
#[derive(Debug)]
pub struct Repeated {
    pub reps: Vec<Rep>,
    /// What was read of each.
    pub sides: Vec<Side>,
}

/// What a comparison supports.
#[derive(Debug)]
pub struct Support {
    /// `one run`, `directional only`, `repeated`.
    pub label: &'static str,
    pub says: String,
    /// What would be needed to say more; of a design that was recognised, what speaks against it.
    pub lacks: Vec<String>,
    /// A design that was recognised, with what is consistent in it.
    pub repeated: Option<Found>,
}

/// A design with the figures of its pairs.
#[derive(Debug)]
pub struct Found {
    pub design: Design,
    pub reps: Vec<Rep>,
    pub rows: Vec<Row>,
}

/// One number over all pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub family: String,
    pub whose: String,
    pub what: String,
    pub quantity: String,
    /// In the order of pairs; a pair in which the series are not both there says nothing.
    pub pairs: Vec<Compared>,
    pub verdict: Verdict,
}

/// One number of one pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    pub a: Option<Range>,
    pub b: Option<Range>,
    pub shown: Shown,
    /// The commands that give both again.
    pub reproduce: [Option<String>; 2],
}

/// What all pairs say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// B is more in every pair.
    More,
    /// B is less in every pair.
    Less,
    /// Pairs of one sign, of the other, and those that show no difference or say nothing.
    Mixed { more: usize, less: usize, none: usize, unknown: usize },
}

/// What the comparison of A and B supports.
pub fn support((a, b): (&Side, &Side), one_run: bool, reps: Option<Repeated>) -> Support {
    if one_run {
        let says = "A and B are one run: there is nothing to compare with".to_string();
        return Support { label: "one run", says, lacks: Vec::new(), repeated: None };
    }
    let directional = |lacks: Vec<String>| Support {
        label: "directional only",
        says: format!("directional only: one ordered pair A → B{}; what differs is shown, not why", when(a, b)),
        lacks,
        repeated: None,
    };
    let Some(reps) = reps else {
        return directional(vec![
            "randomised A/B and B/A repetitions, or a matched replay of one load in both arms, declared with --reps FILE.toml".into(),
        ]);
    };
    match design(&reps.reps, &reps.sides) {
        Err(lacks) => directional(lacks),
        Ok((design, mut lacks)) => {
            lacks.extend(unlike(&reps));
            let rows = rows(&design, &reps.sides);
            let says = format!(
                "{}, as declared: a difference that is consistent over them goes with the arm; what else goes with it stands below",
                design.words()
            );
            Support { label: "repeated", says, lacks, repeated: Some(Found { design, reps: reps.reps, rows }) }
        }
    }
}

/// Arms whose repetitions are said to run with different settings.
fn unlike(reps: &Repeated) -> Vec<String> {
    let mut out = Vec::new();
    for arm in Name::BOTH {
        let mut of = reps.reps.iter().zip(&reps.sides).filter(|(rep, _)| rep.arm == arm).map(|(_, side)| side);
        let Some(first) = of.next() else { continue };
        let mut names = BTreeSet::new();
        for other in of {
            let differ = facts::compare(&first.facts, &other.facts).into_iter();
            names.extend(differ.filter(|f| f.state == facts::State::Differs && f.name != "load_command").map(|f| f.name));
        }
        if !names.is_empty() {
            let list: Vec<String> = names.into_iter().collect();
            out.push(format!("repetitions of arm {} are not alike: {} differ between them", arm.letter(), list.join(", ")));
        }
    }
    out
}

/// Which of the two ran first, by stamps of their records.
fn when(a: &Side, b: &Side) -> String {
    match (a.extent, b.extent) {
        (Some(a), Some(b)) if a.1 <= b.0 => " (by their stamps A ran first)".into(),
        (Some(a), Some(b)) if b.1 <= a.0 => " (by their stamps B ran first)".into(),
        (Some(_), Some(_)) => " (by their stamps they ran at the same time)".into(),
        _ => " (no stamps say which ran first)".into(),
    }
}

/// The design that repetitions make, with what they lack for a better one; or what they lack for any.
pub fn design(reps: &[Rep], sides: &[Side]) -> Result<(Design, Vec<String>), Vec<String>> {
    let mut lacks = disordered(reps, sides);
    if !lacks.is_empty() {
        return Err(lacks);
    }
    if reps.iter().any(|r| r.matched.is_some()) {
        match matched(reps, sides) {
            Ok(pairs) => return Ok((Design { both_orders: both_orders(&pairs), pairs, matched: true }, lacks)),
            Err(why) => lacks.extend(why),
        }
    }
    match alternating(reps) {
        Ok(pairs) => Ok((Design { pairs, matched: false, both_orders: true }, lacks)),
        Err(why) => {
            lacks.push(why);
            Err(lacks)
        }
    }
}

/// Where the declared order and the stamps contradict.
fn disordered(reps: &[Rep], sides: &[Side]) -> Vec<String> {
    let mut out = Vec::new();
    for ((one, side), (next, next_side)) in reps.iter().zip(sides).zip(reps.iter().zip(sides).skip(1)) {
        match (side.extent, next_side.extent) {
            (Some(first), Some(second)) if second.0 < first.0 => {
                out.push(format!(
                    "order {} ({}) began before order {} ({}), by the stamps of their records",
                    next.order, next.run, one.order, one.run
                ));
            }
            _ => {}
        }
    }
    out
}

fn both_orders(pairs: &[Pair]) -> bool {
    pairs.iter().any(|p| p.a_first) && pairs.iter().any(|p| !p.a_first)
}

/// Pairs that follow each other: A/B and B/A, both present.
fn alternating(reps: &[Rep]) -> Result<Vec<Pair>, String> {
    let mut pairs = Vec::new();
    let chunks: Vec<&[Rep]> = reps.chunks(2).collect();
    for (i, chunk) in chunks.iter().enumerate() {
        let [first, second] = chunk else {
            return Err("an even number of runs: each repetition is one run of A and one of B, one after the other".into());
        };
        if first.arm == second.arm {
            return Err(format!(
                "one run of each arm in every repetition: orders {} and {} are both of arm {}",
                first.order,
                second.order,
                first.arm.letter()
            ));
        }
        let a_first = first.arm == Name::A;
        let (a, b) = if a_first { (2 * i, 2 * i + 1) } else { (2 * i + 1, 2 * i) };
        pairs.push(Pair { a, b, a_first });
    }
    if !both_orders(&pairs) {
        let (has, lacks) = if pairs.iter().any(|p| p.a_first) { ("A/B", "B/A") } else { ("B/A", "A/B") };
        return Err(format!(
            "a repetition in the order {lacks}: all {} are {has}, so that the arm cannot be told from the order",
            pairs.len()
        ));
    }
    Ok(pairs)
}

/// Each run of A with the run of B that replays the same, and none left over.
fn matched(reps: &[Rep], sides: &[Side]) -> Result<Vec<Pair>, Vec<String>> {
    let mut lacks = Vec::new();
    let mut by_id: BTreeMap<&str, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for (i, rep) in reps.iter().enumerate() {
        let Some(id) = &rep.matched else {
            lacks.push(format!("a matched_replay id of {} (arm {})", rep.run, rep.arm.letter()));
            continue;
        };
        let of = by_id.entry(id).or_default();
        if rep.arm == Name::A { of.0.push(i) } else { of.1.push(i) }
    }
    let mut pairs = Vec::new();
    for (id, (of_a, of_b)) in by_id {
        let ([a], [b]) = (&of_a[..], &of_b[..]) else {
            lacks.push(format!("one run of each arm for matched replay \"{id}\": there are {} of A and {} of B", of_a.len(), of_b.len()));
            continue;
        };
        let other: Vec<String> = match (sides.get(*a), sides.get(*b)) {
            (Some(a), Some(b)) => load_differs(a, b).into_iter().collect(),
            _ => Vec::new(),
        };
        if !other.is_empty() {
            lacks.push(format!("one load in both runs of matched replay \"{id}\": {} differ", other.join(", ")));
        }
        pairs.push(Pair { a: *a, b: *b, a_first: a < b });
    }
    pairs.sort_by_key(|p| p.a.min(p.b));
    if lacks.is_empty() { Ok(pairs) } else { Err(lacks) }
}

/// Facts of the load that are said to differ.
fn load_differs(a: &Side, b: &Side) -> BTreeSet<String> {
    let facts = facts::compare(&a.facts, &b.facts);
    // The command names hosts and folders; what it asks for are facts of their own.
    let load = facts.into_iter().filter(|f| f.group == "load" && f.state == facts::State::Differs && f.name != "load_command");
    load.map(|f| f.name).collect()
}

/// Every number of every series, over all pairs.
fn rows(design: &Design, sides: &[Side]) -> Vec<Row> {
    let mut rows: BTreeMap<(String, String), Row> = BTreeMap::new();
    let empty = || Compared { a: None, b: None, shown: Shown::Unknown, reproduce: [None, None] };
    for (n, pair) in design.pairs.iter().enumerate() {
        let (Some(a), Some(b)) = (sides.get(pair.a), sides.get(pair.b)) else { continue };
        for compared in figures::compare(&a.figures, &b.figures).0 {
            for quantity in &compared.quantities {
                let what = compared.what();
                let row = rows.entry((what.clone(), quantity.name.clone())).or_insert_with(|| Row {
                    family: compared.family.clone(),
                    whose: compared.a.as_ref().map_or(String::new(), |f| f.whose().to_string()),
                    what,
                    quantity: quantity.name.clone(),
                    pairs: vec![empty(); design.pairs.len()],
                    verdict: Verdict::More,
                });
                if let Some(at) = row.pairs.get_mut(n) {
                    let range = |q: &Option<figures::Quantity>| q.as_ref().and_then(|q| q.range);
                    let command = |f: &Option<figures::Figure>| f.as_ref().map(|f| f.reproduce.clone());
                    let reproduce = [command(&compared.a), command(&compared.b)];
                    *at = Compared { a: range(&quantity.a), b: range(&quantity.b), shown: quantity.shown, reproduce };
                }
            }
        }
    }
    let mut rows: Vec<Row> = rows.into_values().collect();
    for row in &mut rows {
        row.verdict = verdict(&row.pairs);
    }
    rows
}

/// What all pairs say together.
pub fn verdict(pairs: &[Compared]) -> Verdict {
    let count = |test: fn(&Shown) -> bool| pairs.iter().filter(|p| test(&p.shown)).count();
    let more = count(|s| matches!(s, Shown::More { .. }));
    let less = count(|s| matches!(s, Shown::Less { .. }));
    let unknown = count(|s| matches!(s, Shown::Unknown));
    match (more, less) {
        (n, 0) if n > 0 && n == pairs.len() => Verdict::More,
        (0, n) if n > 0 && n == pairs.len() => Verdict::Less,
        _ => Verdict::Mixed { more, less, none: pairs.len() - more - less - unknown, unknown },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reps(text: &str) -> Result<Vec<Rep>, String> {
        let temp = tempfile::tempdir().expect("a folder");
        for run in ["r1", "r2", "r3", "r4"] {
            std::fs::create_dir(temp.path().join(run)).expect("a folder");
        }
        read(text, temp.path()).map_err(|e| e.to_string())
    }

    fn of(arms: &str, ids: &[&str]) -> Vec<Rep> {
        let rep = |(i, arm): (usize, char)| Rep {
            run: format!("r{}", i + 1),
            path: PathBuf::from(format!("r{}", i + 1)),
            arm: if arm == 'A' { Name::A } else { Name::B },
            order: i as u64 + 1,
            matched: ids.get(i).filter(|id| !id.is_empty()).map(|id| id.to_string()),
        };
        arms.chars().enumerate().map(rep).collect()
    }

    fn recognised(arms: &str, ids: &[&str]) -> Result<String, String> {
        let reps = of(arms, ids);
        let sides: Vec<Side> = reps.iter().map(|_| Side::default()).collect();
        design(&reps, &sides).map(|d| d.0.words()).map_err(|lacks| lacks.join("; "))
    }

    #[test]
    fn what_is_declared_wrongly_is_an_error() {
        let rep = |run: &str, arm: &str, order: u32| format!("[[rep]]\nrun = \"{run}\"\narm = \"{arm}\"\norder = {order}\n");
        let fails = |text: String| reps(&text).expect_err("is refused");
        assert!(fails(rep("r1", "A", 1) + &rep("r9", "B", 2)).contains("rep 2 (r9): there is no"));
        assert!(fails(rep("r1", "A", 1) + &rep("r2", "C", 2)).contains("\"A\" or \"B\""));
        assert!(fails(rep("r1", "A", 1) + &rep("r2", "B", 1)).contains("order = 1 is that of r1 too"));
        assert!(fails(rep("r1", "A", 1) + &rep("r1/../r1", "B", 2)).contains("is the same run"));
        assert!(fails(rep("r1", "A", 1) + &rep("r2", "A", 2)).contains("arm B"));
        assert!(fails(String::new()).contains("no [[rep]]"));
        assert!(fails(rep("r1", "A", 1) + "weight = 2\n").contains("weight"));
        let sorted = reps(&(rep("r1", "A", 7) + &rep("r2", "B", 3))).expect("is read");
        assert_eq!(sorted.iter().map(|r| r.order).collect::<Vec<_>>(), [3, 7]);
    }

    #[test]
    fn both_orders_or_a_matched_replay_are_a_design() {
        assert_eq!(recognised("ABBA", &[]), Ok("2 repetitions in both orders".into()));
        assert_eq!(recognised("ABBAAB", &[]), Ok("3 repetitions in both orders".into()));
        assert_eq!(recognised("AB", &["x", "x"]), Ok("the one matched replay, which was not repeated".into()));
        assert_eq!(recognised("ABBA", &["x", "x", "y", "y"]), Ok("2 matched replays in both orders".into()));
        assert_eq!(recognised("ABAB", &["x", "x", "y", "y"]), Ok("2 matched replays".into()));
    }

    #[test]
    fn what_a_design_lacks_is_said() {
        let lacks = |arms, ids: &[&str]| recognised(arms, ids).expect_err("is no design");
        assert!(lacks("ABAB", &[]).contains("a repetition in the order B/A: all 2 are A/B"));
        assert!(lacks("AABB", &[]).contains("orders 1 and 2 are both of arm A"));
        assert!(lacks("ABA", &[]).contains("an even number"));
        assert!(lacks("AB", &["x", "y"]).contains("matched replay \"x\": there are 1 of A and 0 of B"));
        assert!(lacks("AB", &["x", ""]).contains("a matched_replay id of r2"));
        assert_eq!(recognised("ABBA", &["x", "x", "y"]), Ok("2 repetitions in both orders".into()), "the order is enough");
    }

    #[test]
    fn stamps_that_contradict_the_order_are_said() {
        let reps = of("ABBA", &[]);
        let side = |at: i64| Side { extent: Some((at, at + 5)), ..Side::default() };
        assert!(design(&reps, &[side(0), side(10), side(20), side(30)]).is_ok());
        let lacks = design(&reps, &[side(0), side(20), side(10), side(30)]).expect_err("the order is another");
        assert_eq!(lacks, ["order 3 (r3) began before order 2 (r2), by the stamps of their records"]);
    }

    #[test]
    fn consistent_is_every_pair_alike() {
        let more = Shown::More { least: 1.0, most: None };
        let of = |shown: &[Shown]| {
            let one = |s: &Shown| Compared { a: None, b: None, shown: *s, reproduce: [None, None] };
            verdict(&shown.iter().map(one).collect::<Vec<_>>())
        };
        assert_eq!(of(&[more, more]), Verdict::More);
        assert_eq!(of(&[more, Shown::NoDifference]), Verdict::Mixed { more: 1, less: 0, none: 1, unknown: 0 });
        assert_eq!(of(&[more, Shown::Unknown]), Verdict::Mixed { more: 1, less: 0, none: 0, unknown: 1 });
        assert_eq!(of(&[]), Verdict::Mixed { more: 0, less: 0, none: 0, unknown: 0 });
    }
}
