//! Figures of metrics of two runs: which series stand for the same thing, and what of their difference is shown.
//!
//! A series is one process's. Series are paired, never added or averaged: by the same labels of the same worker, else without labels that name an
//! incarnation, else as the only ones of their role.

use std::collections::{BTreeMap, BTreeSet};

use super::Name;
use super::range::{Range, Shown};

/// What a series, or a histogram of several, did in a run's window.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Canonical name.
    pub family: String,
    /// `name{labels}` as the capture has it.
    pub spelled: String,
    pub labels: BTreeMap<String, String>,
    /// Endpoint.
    pub target: String,
    pub worker: Option<String>,
    pub role: Option<String>,
    /// What shows that the endpoint is that worker.
    pub how: Option<String>,
    /// The capture's name, as cited.
    pub capture: String,
    /// `counter`, `gauge`, `histogram`, `summary`.
    pub kind: &'static str,
    /// In one sentence, with its samples.
    pub says: String,
    pub quantities: Vec<Quantity>,
    /// What the figure does not cover, or what was in its way.
    pub notes: Vec<String>,
    pub resets: usize,
    /// The capture covers the whole window that was asked for.
    pub whole: bool,
    pub citation: Option<String>,
    /// The command that gives it again.
    pub reproduce: String,
    /// Only families that both runs have are compared.
    pub if_both: bool,
}

/// One number of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// `increase`, `per second`, `p50`, `mean`, …
    pub name: String,
    /// As computed between the samples that are named; `None` where nothing is.
    pub value: Option<f64>,
    /// The values that it can have in the window; `None`: nothing bounds it.
    pub range: Option<Range>,
}

/// Labels that name one process or one of its lives, and not what is counted.
const IDENTITY: &[&str] =
    &["worker_id", "router_id", "instance_id", "instance", "pid", "hostname", "host", "node", "pod", "container", "job"];

/// A series of A and the one of B that stands for the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    pub family: String,
    pub a: Option<Figure>,
    pub b: Option<Figure>,
    /// Why these two are one, or why there is but one.
    pub how: String,
    pub quantities: Vec<Difference>,
}

/// One number of both.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub name: String,
    pub a: Option<Quantity>,
    pub b: Option<Quantity>,
    pub shown: Shown,
}

impl Compared {
    /// The figure of one run.
    pub fn of(&self, which: Name) -> Option<&Figure> {
        match which {
            Name::A => self.a.as_ref(),
            Name::B => self.b.as_ref(),
        }
    }

    /// Some number of it is shown to differ.
    pub fn differs(&self) -> bool {
        self.quantities.iter().any(|q| q.shown.differs())
    }

    /// Both are there, and no number of both is known.
    pub fn is_unknown(&self) -> bool {
        self.a.is_some() && self.b.is_some() && self.quantities.iter().all(|q| q.shown == Shown::Unknown)
    }

    /// What it is of, for repetitions: family, labels without those of incarnations, worker.
    pub fn what(&self) -> String {
        let of = self.a.as_ref().or(self.b.as_ref());
        of.map_or(String::new(), |f| format!("{}{} {}", f.family, plain(f), f.whose()))
    }
}

impl Figure {
    /// The worker, else the endpoint.
    pub fn whose(&self) -> &str {
        self.worker.as_deref().unwrap_or(&self.target)
    }

    fn file(&self) -> &str {
        self.capture.trim_end_matches('/').rsplit('/').next().unwrap_or(&self.capture)
    }
}

/// Labels without those that name an incarnation, as text.
fn plain(figure: &Figure) -> String {
    let kept = figure.labels.iter().filter(|(name, _)| !IDENTITY.contains(&name.as_str()));
    let text: Vec<String> = kept.map(|(name, value)| format!("{name}={value:?}")).collect();
    if text.is_empty() { String::new() } else { format!("{{{}}}", text.join(",")) }
}

/// Families that only one run has, of those that are compared only where both have them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alone {
    pub a: BTreeSet<String>,
    pub b: BTreeSet<String>,
}

/// A rule that says which series are one.
type Rule = (&'static str, fn(&Figure) -> String);

/// The rules, strictest first.
const RULES: &[Rule] = &[
    ("the same labels and worker, in captures of the same name", |f| format!("{}|{:?}|{}|{}", f.spelled, f.labels, f.whose(), f.file())),
    ("the same labels and worker", |f| format!("{}|{:?}|{}", f.spelled, f.labels, f.whose())),
    ("the same worker, without labels that name an incarnation", |f| format!("{}|{}|{}|{}", f.kind, f.family, plain(f), f.whose())),
    ("the only one of its role in each run", |f| match &f.role {
        Some(role) => format!("{}|{}|{}|{role}", f.kind, f.family, plain(f)),
        None => String::new(),
    }),
];

/// Pairs series and compares them: in the order of families, then of A.
pub fn compare(a: &[Figure], b: &[Figure]) -> (Vec<Compared>, Alone) {
    let families = |of: &[Figure]| of.iter().map(|f| f.family.clone()).collect::<BTreeSet<_>>();
    let (in_a, in_b) = (families(a), families(b));
    let conditional: BTreeSet<String> = a.iter().chain(b).filter(|f| f.if_both).map(|f| f.family.clone()).collect();
    let alone = Alone {
        a: in_a.difference(&in_b).filter(|f| conditional.contains(*f)).cloned().collect(),
        b: in_b.difference(&in_a).filter(|f| conditional.contains(*f)).cloned().collect(),
    };
    let asked = |f: &&Figure| !alone.a.contains(&f.family) && !alone.b.contains(&f.family);
    let (mut left_a, mut left_b): (Vec<&Figure>, Vec<&Figure>) = (a.iter().filter(asked).collect(), b.iter().filter(asked).collect());
    let mut out = Vec::new();
    for (how, key) in RULES {
        let (mine, theirs) = (once(&left_a, *key), once(&left_b, *key));
        let mut paired = BTreeSet::new();
        for (name, one) in &mine {
            let Some(other) = theirs.get(name) else { continue };
            let other_role = one.role.is_some() && other.role.is_some() && one.role != other.role;
            if name.is_empty() || other_role {
                continue;
            }
            paired.insert(name.clone());
            out.push(pair(one, other, how));
        }
        left_a.retain(|f| !paired.contains(&key(f)));
        left_b.retain(|f| !paired.contains(&key(f)));
    }
    for (left, other, in_other) in [(&left_a, &left_b, &in_b), (&left_b, &left_a, &in_a)] {
        for figure in left {
            let how = if !in_other.contains(&figure.family) {
                "the other run's captures do not have this family"
            } else if other.iter().any(|f| f.family == figure.family) {
                "series of the other run have other labels or workers, or several fit"
            } else {
                "the other run has no such series"
            };
            let of_a = std::ptr::eq(left, &left_a);
            let (one, two) = if of_a { (Some((*figure).clone()), None) } else { (None, Some((*figure).clone())) };
            out.push(Compared { family: figure.family.clone(), a: one, b: two, how: how.into(), quantities: Vec::new() });
        }
    }
    let order = |c: &Compared| {
        let of = c.a.as_ref().or(c.b.as_ref());
        (c.family.clone(), of.map(|f| (f.whose().to_string(), f.spelled.clone())), c.a.is_none())
    };
    out.sort_by_cached_key(order);
    (out, alone)
}

/// Figures whose key no other of the run has.
fn once<'f>(figures: &[&'f Figure], key: fn(&Figure) -> String) -> BTreeMap<String, &'f Figure> {
    let mut by_key: BTreeMap<String, Vec<&Figure>> = BTreeMap::new();
    for figure in figures {
        by_key.entry(key(figure)).or_default().push(figure);
    }
    by_key
        .into_iter()
        .filter_map(|(key, of)| match of[..] {
            [only] => Some((key, only)),
            _ => None,
        })
        .collect()
}

fn pair(a: &Figure, b: &Figure, how: &str) -> Compared {
    let find = |of: &Figure, name: &str| of.quantities.iter().find(|q| q.name == name).cloned();
    let only_b = b.quantities.iter().filter(|q| find(a, &q.name).is_none());
    let names: Vec<&str> = a.quantities.iter().chain(only_b).map(|q| q.name.as_str()).collect();
    let quantities = names.into_iter().map(|name| {
        let (a, b) = (find(a, name), find(b, name));
        let range = |q: &Option<Quantity>| q.as_ref().and_then(|q| q.range);
        let shown = Shown::of(range(&a), range(&b));
        Difference { name: name.to_string(), a, b, shown }
    });
    let mut how = how.to_string();
    if a.kind != b.kind {
        how.push_str(&format!("; a {} in A, a {} in B", a.kind, b.kind));
    }
    Compared { family: a.family.clone(), a: Some(a.clone()), b: Some(b.clone()), how, quantities: quantities.collect() }
}

/// Does a family say how much was done, or how long it took?
pub fn of_throughput(family: &str, kind: &str) -> bool {
    const TIMES: &[&str] = &["first_token", "inter_token", "per_output_token", "e2e", "latency", "request_duration", "queue_time"];
    const COUNTS: &[&str] = &["prompt_tokens", "generation_tokens", "output_tokens", "num_requests", "requests_total", "sequence_tokens"];
    let has = |of: &[&str]| of.iter().any(|word| family.contains(word));
    match kind {
        "histogram" | "summary" => has(TIMES) || has(&["sequence_tokens"]),
        "counter" => has(COUNTS),
        _ => family.ends_with("gen_throughput"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(family: &str, labels: &[(&str, &str)], worker: &str, role: &str, increase: f64) -> Figure {
        Figure {
            family: family.into(),
            spelled: family.into(),
            labels: labels.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect(),
            target: format!("endpoint-{worker}"),
            worker: Some(worker.into()),
            role: Some(role.into()),
            how: None,
            capture: "run/final.parquet".into(),
            kind: "counter",
            says: String::new(),
            quantities: vec![Quantity { name: "increase".into(), value: Some(increase), range: Some(Range::exactly(increase)) }],
            notes: Vec::new(),
            resets: 0,
            whole: true,
            citation: None,
            reproduce: String::new(),
            if_both: false,
        }
    }

    fn told(a: &[Figure], b: &[Figure]) -> Vec<String> {
        let whose = |f: &Option<Figure>| f.as_ref().map_or("-".to_string(), |f| f.whose().to_string());
        let shown = |c: &Compared| c.quantities.first().map_or("-", |q| q.shown.name());
        compare(a, b).0.iter().map(|c| format!("{} {}:{} {}", c.family, whose(&c.a), whose(&c.b), shown(c))).collect()
    }

    #[test]
    fn workers_are_compared_each_with_itself() {
        let a = [figure("n", &[], "w0", "decode", 5.0), figure("n", &[], "w1", "decode", 7.0)];
        let b = [figure("n", &[], "w0", "decode", 7.0), figure("n", &[], "w1", "decode", 5.0)];
        assert_eq!(told(&a, &b), ["n w0:w0 more", "n w1:w1 less"], "their sums are equal");
    }

    #[test]
    fn ids_of_an_incarnation_do_not_part_series() {
        let a = [figure("n", &[("worker_id", "12"), ("model", "m")], "w0", "decode", 5.0)];
        let b = [figure("n", &[("worker_id", "99"), ("model", "m")], "w0", "decode", 5.0)];
        assert_eq!(told(&a, &b), ["n w0:w0 equal"]);
        let c = [figure("n", &[("worker_id", "99"), ("model", "other")], "w0", "decode", 5.0)];
        assert_eq!(told(&a, &c), ["n w0:- -", "n -:w0 -"]);
    }

    #[test]
    fn several_that_fit_are_not_paired() {
        let a = [figure("n", &[("worker_id", "1")], "w0", "decode", 5.0), figure("n", &[("worker_id", "2")], "w0", "decode", 5.0)];
        let b = [figure("n", &[("worker_id", "3")], "w0", "decode", 5.0)];
        assert_eq!(told(&a, &b), ["n w0:- -", "n w0:- -", "n -:w0 -"]);
    }

    #[test]
    fn the_only_one_of_a_role_is_that_of_the_other_run() {
        let a = [figure("n", &[], "decode-0", "decode", 5.0)];
        assert_eq!(told(&a, &[figure("n", &[], "d0", "decode", 6.0)]), ["n decode-0:d0 more"]);
        assert_eq!(told(&a, &[figure("n", &[], "decode-0", "prefill", 6.0)]), ["n decode-0:- -", "n -:decode-0 -"], "another role");
    }

    #[test]
    fn families_that_one_run_lacks_are_named() {
        let mut one = figure("ttft", &[], "w0", "decode", 5.0);
        one.if_both = true;
        let (rows, alone) = compare(&[one], &[]);
        assert!(rows.is_empty() && alone.a.contains("ttft"));
    }
}
