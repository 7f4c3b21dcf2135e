//! What else may be behind a difference: each other explanation that applies, or that nothing captured excludes.

use std::collections::BTreeSet;

use super::facts::{Compared, State, by_nature};
use super::{Name, Side};

/// One explanation that was not measured away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Stable name: `warm-up`.
    pub id: &'static str,
    /// It is so; else nothing excludes it.
    pub applies: bool,
    pub says: String,
    /// Records and files that say so.
    pub cites: Vec<String>,
}

/// All that are left, what applies first.
pub fn of(a: &Side, b: &Side, facts: &[Compared], repeated: bool) -> Vec<Alternative> {
    let runs = Runs { both: [(Name::A, a), (Name::B, b)], facts };
    let mut out: Vec<Alternative> = [
        runs.not_read(),
        runs.finished(),
        runs.warm_up(),
        runs.restarts(),
        runs.load(),
        runs.length(),
        runs.versions(),
        runs.settings(),
        runs.not_said(),
        runs.coverage(),
        runs.cache_at_start(),
        runs.hosts(),
        runs.clocks(),
        runs.order(repeated),
        runs.tenants(),
    ]
    .into_iter()
    .flatten()
    .collect();
    for one in &mut out {
        let mut seen = BTreeSet::new();
        one.cites.retain(|cite| seen.insert(cite.clone()));
    }
    out.sort_by_key(|one| !one.applies);
    out
}

struct Runs<'a> {
    both: [(Name, &'a Side); 2],
    facts: &'a [Compared],
}

/// `A` or `A and B`.
fn letters(of: &[Name]) -> String {
    of.iter().map(|n| n.letter()).collect::<Vec<_>>().join(" and ")
}

fn applies(id: &'static str, says: String, cites: Vec<String>) -> Option<Alternative> {
    Some(Alternative { id, applies: true, says, cites })
}

fn open(id: &'static str, says: String) -> Option<Alternative> {
    Some(Alternative { id, applies: false, says, cites: Vec::new() })
}

impl Runs<'_> {
    fn named(&self, name: &str) -> impl Iterator<Item = &Compared> {
        self.facts.iter().filter(move |f| f.name == name)
    }

    /// Facts of a group that are said to differ; what is not one setting is left out.
    fn differing(&self, of: impl Fn(&Compared) -> bool) -> Vec<&Compared> {
        self.facts.iter().filter(|f| f.state == State::Differs && of(f)).collect()
    }

    /// Those of the two of which something holds.
    fn which(&self, test: impl Fn(&Side) -> bool) -> Vec<Name> {
        self.both.iter().filter(|(_, side)| test(side)).map(|(name, _)| *name).collect()
    }

    fn not_read(&self) -> Option<Alternative> {
        let which = self.which(|s| s.not_read.iter().any(|n| n.failure));
        let files = self.both.iter().flat_map(|(_, s)| s.not_read.iter().filter(|n| n.failure).map(|n| n.name.clone())).collect();
        if which.is_empty() { None } else { applies("not-read", format!("files of {} could not be read", letters(&which)), files) }
    }

    fn finished(&self) -> Option<Alternative> {
        let value = |side: &Side| side.facts.rows.iter().find(|r| r.name == "benchmark_state").map(|r| (r.value.to_string(), cites(r)));
        let broken: Vec<(Name, Vec<String>)> = self
            .both
            .iter()
            .filter_map(|(name, side)| value(side).filter(|(v, _)| v != "finished").map(|(_, cites)| (*name, cites)))
            .collect();
        if !broken.is_empty() {
            let names: Vec<Name> = broken.iter().map(|b| b.0).collect();
            let says = format!("the benchmark of {} did not finish", letters(&names));
            return applies("benchmark-end", says, broken.into_iter().flat_map(|b| b.1).collect());
        }
        let unknown = self.which(|s| value(s).is_none());
        (!unknown.is_empty())
            .then(|| open("benchmark-end", format!("no record of {} says whether its benchmark finished", letters(&unknown))))?
    }

    fn warm_up(&self) -> Option<Alternative> {
        let warm = |side: &Side| side.phases.iter().find(|p| p.name == "warmup").cloned();
        let inside = |side: &Side| {
            let (Some(phase), Some((from, to))) = (warm(side), side.window.span) else { return false };
            phase.since < to && phase.until.is_none_or(|until| until > from)
        };
        let which = self.which(inside);
        if !which.is_empty() {
            let ends = self.both.iter().filter(|(n, _)| which.contains(n)).filter_map(|(_, s)| warm(s)).flat_map(|p| p.ends);
            let says = format!("the warm-up lies in the window of {}; `--window measured` leaves it out", letters(&which));
            return applies("warm-up", says, ends.map(|(source, line)| format!("{source}:{line}")).collect());
        }
        let unknown = self.which(|s| warm(s).is_none());
        (!unknown.is_empty()).then(|| {
            open(
                "warm-up",
                format!("no record of {} says whether there was a warm-up, and whether it lies in the window", letters(&unknown)),
            )
        })?
    }

    fn restarts(&self) -> Option<Alternative> {
        let several = |side: &Side| {
            let rows = side.facts.rows.iter().filter(|r| r.name == "incarnations" && r.value.to_string() != "1");
            rows.flat_map(cites).collect::<Vec<_>>()
        };
        let resets = |side: &Side| side.figures.iter().filter(|f| f.resets > 0).filter_map(|f| f.citation.clone()).collect::<Vec<_>>();
        let which = self.which(|s| !several(s).is_empty() || !resets(s).is_empty());
        if !which.is_empty() {
            let all = self.both.iter().flat_map(|(_, s)| several(s).into_iter().chain(resets(s).into_iter().take(2)));
            let says =
                format!("processes of {} started more than once: what caches held was lost, and counters began anew", letters(&which));
            return applies("restart", says, all.collect());
        }
        let unknown = self.which(|s| s.facts.unknown.iter().any(|u| u.name == "incarnations") || no_fact(s, "incarnations"));
        (!unknown.is_empty()).then(|| open("restart", format!("no record of {} says how often its engines started", letters(&unknown))))?
    }

    fn load(&self) -> Option<Alternative> {
        // A command names folders and hosts as well; what it asks for are facts of their own.
        let shape = |f: &Compared| f.group == "load" || matches!(f.name.as_str(), "measured_requests" | "warmup_requests");
        let other = self.differing(|f| shape(f) && f.name != "load_command");
        let requests: Vec<usize> = self.both.iter().map(|(_, s)| s.window.router.max(s.window.engine.unwrap_or(0))).collect();
        let names: BTreeSet<&str> = other.iter().map(|f| f.name.as_str()).collect();
        let mut parts: Vec<String> = Vec::new();
        if !names.is_empty() {
            parts.push(format!("{} differ", names.into_iter().collect::<Vec<_>>().join(", ")));
        }
        if let [a, b] = requests[..]
            && a != b
        {
            parts.push(format!("{a} requests in the window of A, {b} in that of B"));
        }
        if !parts.is_empty() {
            return applies("load", format!("the load is another: {}", parts.join("; ")), other.iter().flat_map(|f| both(f)).collect());
        }
        let said = |name: &&&str| self.named(name).any(|f| f.state == State::Equal);
        const SHAPE: &[&str] = &["load_concurrency", "load_request_rate", "load_isl", "load_osl"];
        let unknown: Vec<&str> = SHAPE.iter().filter(|n| !said(n)).copied().collect();
        let command = self.named("load_command").find(|f| f.state == State::Differs);
        let mut parts = Vec::new();
        parts.extend(command.map(|_| "the commands of the load are other words, and no number in them differs".to_string()));
        if !unknown.is_empty() {
            parts.push(format!("not both runs say the load's shape: {}", unknown.join(", ")));
        }
        let cites = command.map(both).unwrap_or_default();
        (!parts.is_empty()).then(|| Alternative { id: "load", applies: false, says: parts.join("; "), cites })
    }

    fn length(&self) -> Option<Alternative> {
        let [a, b] = self.both.map(|(_, s)| s.window.length());
        let (a, b) = a.zip(b)?;
        // More than a hundredth apart.
        let apart = a.abs_diff(b) > a.max(b).unsigned_abs() / 100;
        let seconds = |ns: i64| ns as f64 / 1e9;
        let says = format!(
            "the windows are {:.1} s and {:.1} s long: compare rates, not increases; caches had other times to fill",
            seconds(a),
            seconds(b)
        );
        if apart { applies("window-length", says, Vec::new()) } else { None }
    }

    fn versions(&self) -> Option<Alternative> {
        const NAMES: &[&str] = &["engine", "engine_type", "sglang_version", "dynamo_version"];
        let other = self.differing(|f| NAMES.contains(&f.name.as_str()));
        if !other.is_empty() {
            let names: BTreeSet<&str> = other.iter().map(|f| f.name.as_str()).collect();
            let says = format!("the programs are others: {}", names.into_iter().collect::<Vec<_>>().join(", "));
            return applies("versions", says, other.iter().flat_map(|f| both(f)).collect());
        }
        let versions: Vec<&Compared> = self.facts.iter().filter(|f| f.name.ends_with("_version")).collect();
        if !versions.is_empty() && versions.iter().all(|f| f.state == State::Equal) {
            return None;
        }
        open("versions", "not both runs name the versions of their programs; what records look like only bounds them".into())
    }

    fn settings(&self) -> Option<Alternative> {
        let other = self.differing(|f| !matches!(f.group, "load" | "windows" | "run" | "scrape") && !f.name.ends_with("_version"));
        let names: BTreeSet<&str> = other.iter().map(|f| f.name.as_str()).collect();
        if names.len() < 2 {
            return None;
        }
        let list = names.iter().copied().collect::<Vec<_>>().join(", ");
        applies(
            "several-settings",
            format!("{} settings differ at once ({list}): nothing tells one's part from another's", names.len()),
            other.iter().flat_map(|f| both(f)).collect(),
        )
    }

    fn not_said(&self) -> Option<Alternative> {
        let alone = |state: State| {
            let of = self.facts.iter().filter(|f| f.state == state && !matches!(f.group, "windows" | "run") && !by_nature(&f.name));
            of.map(|f| f.name.as_str()).collect::<BTreeSet<_>>().len()
        };
        let (in_b, in_a) = (alone(State::OnlyA), alone(State::OnlyB));
        (in_a + in_b > 0).then(|| {
            open(
                "settings-not-said",
                format!("{in_b} facts that A says are not said in B, {in_a} that B says are not said in A: they may differ"),
            )
        })?
    }

    fn coverage(&self) -> Option<Alternative> {
        let short = |side: &Side| side.window.scraped.iter().any(|s| s.fraction.is_none_or(|f| f < 1.0));
        let which = self.which(short);
        if !which.is_empty() {
            let says = format!(
                "endpoints of {} were not scraped over the whole window: what happened in the gaps is in no figure",
                letters(&which)
            );
            return applies("coverage", says, Vec::new());
        }
        let none = self.which(|s| s.window.scraped.is_empty());
        (!none.is_empty()).then(|| open("coverage", format!("no metrics of {} were captured", letters(&none))))?
    }

    fn cache_at_start(&self) -> Option<Alternative> {
        let known = |side: &Side| {
            let whole = side.window.flags.is_empty();
            let starts = !no_fact(side, "incarnations") && !side.facts.unknown.iter().any(|u| u.name == "incarnations");
            whole && starts && storage(side).is_none()
        };
        let which = self.which(|s| !known(s));
        if which.is_empty() {
            return None;
        }
        let mut why: Vec<String> = Vec::new();
        for (name, side) in self.both.iter().filter(|(n, _)| which.contains(n)) {
            let letter = name.letter();
            why.push(match storage(side) {
                Some(backend) => format!("{letter} has a storage tier ({backend}), which outlives processes"),
                None if !side.window.flags.is_empty() => format!("the window of {letter} begins after its engines had started"),
                None => format!("no record shows the starts of all engines of {letter}"),
            });
        }
        open("cache-at-start", format!("what caches held when the window began is not known: {}", why.join("; ")))
    }

    fn hosts(&self) -> Option<Alternative> {
        let [(_, a), (_, b)] = self.both;
        let list = |s: &Side| s.hosts.iter().cloned().collect::<Vec<_>>().join(", ");
        if !a.hosts.is_empty() && !b.hosts.is_empty() {
            let says = format!("the hosts are others: {} in A, {} in B", list(a), list(b));
            return if a.hosts == b.hosts { None } else { applies("hosts", says, Vec::new()) };
        }
        let unknown = self.which(|s| s.hosts.is_empty());
        open("hosts", format!("no source of {} names its host: the machines may be others", letters(&unknown)))
    }

    fn clocks(&self) -> Option<Alternative> {
        let mut parts = Vec::new();
        for (name, side) in self.both {
            let letter = name.letter();
            if side.hosts.len() > 1 {
                parts.push(format!("{letter} has sources of {} hosts, whose clocks may be apart", side.hosts.len()));
            } else if side.hosts.is_empty() {
                parts.push(format!("no source of {letter} names its host, so that its sources may have several clocks"));
            }
            if side.assumed_utc > 0 {
                parts.push(format!("{} sources of {letter} name no zone and were taken for UTC", side.assumed_utc));
            }
        }
        (!parts.is_empty()).then(|| open("clocks", format!("{}; `corr sources` says how each clock was found", parts.join("; "))))?
    }

    fn order(&self, repeated: bool) -> Option<Alternative> {
        let [(_, a), (_, b)] = self.both;
        if let Some((a, b)) = a.extent.zip(b.extent)
            && a.0 < b.1
            && b.0 < a.1
        {
            return applies("same-time", "both ran at the same time by their stamps: they may have shared machines".into(), Vec::new());
        }
        let says = "what changed with time alone: one run came before the other, and nothing repeats them in the other order";
        if repeated { None } else { open("order", says.into()) }
    }

    fn tenants(&self) -> Option<Alternative> {
        let [(_, a), (_, b)] = self.both;
        let says = match (a.of_hosts.is_empty(), b.of_hosts.is_empty()) {
            (false, false) => {
                let families: BTreeSet<&String> = a.of_hosts.union(&b.of_hosts).collect();
                let list = families.into_iter().cloned().collect::<Vec<_>>().join(", ");
                format!(
                    "other load on the hosts: families of the hosts are captured ({list}…) and not judged here; ask for them with --metrics"
                )
            }
            _ => {
                let none = self.which(|s| s.of_hosts.is_empty());
                format!("other load on the hosts: nothing that was captured of {} shows it", letters(&none))
            }
        };
        open("other-tenants", says)
    }
}

/// No process of the run has this fact.
fn no_fact(side: &Side, name: &str) -> bool {
    !side.facts.rows.iter().any(|r| r.name == name)
}

/// A storage tier that is configured.
fn storage(side: &Side) -> Option<String> {
    let row = side.facts.rows.iter().find(|r| r.name == "hicache_storage_backend")?;
    Some(row.value.to_string()).filter(|v| !v.is_empty() && v != "None" && v != "none")
}

fn cites(row: &crate::facts::table::Row) -> Vec<String> {
    row.cites.iter().take(2).map(|c| c.cite.at()).collect()
}

/// The first place of each side.
fn both(fact: &Compared) -> Vec<String> {
    Name::BOTH.iter().filter_map(|n| fact.of(*n).first()?.cites.first().map(|c| c.cite.at())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::{Windowed, facts};
    use crate::query::phases::Phase;

    fn ids(a: &Side, b: &Side) -> Vec<String> {
        let facts = facts::compare(&a.facts, &b.facts);
        of(a, b, &facts, false).iter().map(|one| format!("{}{}", one.id, if one.applies { "!" } else { "?" })).collect()
    }

    #[test]
    fn of_runs_that_say_nothing_nothing_is_excluded() {
        let (a, b) = (Side::default(), Side::default());
        let found = ids(&a, &b);
        for id in ["warm-up?", "restart?", "load?", "versions?", "cache-at-start?", "hosts?", "clocks?", "order?", "other-tenants?"] {
            assert!(found.contains(&id.to_string()), "{id} in {found:?}");
        }
        assert!(found.iter().all(|id| id.ends_with('?')), "{found:?}");
    }

    #[test]
    fn a_warm_up_applies_where_it_lies_in_the_window() {
        let phase = Phase {
            name: "warmup".into(),
            since: 10,
            until: Some(20),
            how: String::new(),
            requests: Some(3),
            ends: vec![("client.jsonl".into(), 1)],
        };
        let side =
            |span| Side { phases: vec![phase.clone()], window: Windowed { span: Some(span), ..Windowed::default() }, ..Side::default() };
        assert!(ids(&side((0, 100)), &side((20, 120))).contains(&"warm-up!".to_string()));
        let without = ids(&side((20, 100)), &side((20, 100)));
        assert!(!without.iter().any(|id| id.starts_with("warm-up")), "{without:?}");
        assert!(ids(&side((20, 100)), &Side::default()).contains(&"warm-up?".to_string()), "B says nothing of one");
    }

    #[test]
    fn hosts_are_compared_where_both_are_named() {
        let side = |host: &str| Side { hosts: BTreeSet::from([host.to_string()]), ..Side::default() };
        assert!(!ids(&side("n1"), &side("n1")).iter().any(|id| id.starts_with("hosts") || id.starts_with("clocks")));
        assert!(ids(&side("n1"), &side("n2")).contains(&"hosts!".to_string()));
    }
}
