//! Rules of the trade: what people take these signals for, said where the run has what they would fall for.

use std::collections::BTreeSet;

use crate::compiled::Edges;
use crate::ledger::{Cite, SourceLedger};
use crate::scope::Scope;
use crate::verdict::{Activity, Verdict};

/// A rule that fires.
#[derive(Clone, Debug, PartialEq)]
pub struct Warning {
    /// Stable name: `write-back-is-not-reuse`.
    pub rule: &'static str,
    /// The edge that it is about, by number.
    pub edge: Option<usize>,
    pub says: String,
    pub cites: Vec<Cite>,
}

/// What is known of the run beside verdicts.
pub struct Known<'a> {
    pub edges: &'a Edges,
    pub ledgers: &'a [SourceLedger],
    pub families: &'a BTreeSet<String>,
    pub scope: &'a Scope,
    /// One session is asked about.
    pub of_session: bool,
    /// Named windows of the run, of which one is a warm-up.
    pub has_warmup: bool,
}

/// The rules that fire, in the order of the pipeline.
pub fn check(known: &Known<'_>, verdicts: &[Verdict]) -> Vec<Warning> {
    let run = Checked { known, verdicts };
    let mut warnings = Vec::new();
    warnings.extend(run.whole_capture());
    warnings.extend(run.prediction());
    warnings.extend(run.ranks());
    warnings.extend(run.lookup());
    warnings.extend(run.occupancy());
    warnings.extend(run.used_tokens());
    warnings.extend(run.load_back());
    warnings.extend(run.prefetch_policy());
    warnings.extend(run.first_value());
    warnings.extend(run.write_back());
    warnings.extend(run.backed_up());
    warnings.extend(run.capacity());
    warnings.extend(run.quantiles());
    warnings.extend(run.storage_of_session());
    warnings
}

struct Checked<'a> {
    known: &'a Known<'a>,
    verdicts: &'a [Verdict],
}

impl Checked<'_> {
    fn number(&self, edge: &str) -> Option<usize> {
        self.known.edges.edges().iter().position(|e| e.id == edge)
    }

    fn verdict(&self, edge: &str) -> Option<&Verdict> {
        let number = self.number(edge)?;
        self.verdicts.iter().find(|v| v.edge == number)
    }

    fn happened(&self, edge: &str) -> bool {
        self.verdict(edge).is_some_and(|v| matches!(v.activity, Activity::Proven | Activity::Active))
    }

    fn family(&self, name: &str) -> bool {
        self.known.families.contains(name)
    }

    fn warn(&self, rule: &'static str, edge: &str, says: String, cites: Vec<Cite>) -> Option<Warning> {
        Some(Warning { rule, edge: self.number(edge), says, cites })
    }

    fn flag(&self, id: &str) -> Option<Cite> {
        let flag = self.known.edges.flag(id)?;
        self.known.ledgers.iter().find_map(|l| l.flags.get(&flag).copied())
    }

    fn whole_capture(&self) -> Option<Warning> {
        if self.known.scope.window.is_some() || self.known.scope.by_identity() {
            return None;
        }
        let starts: Vec<(u64, Cite)> = self.known.ledgers.iter().filter_map(|l| l.kinds.get("server_args").copied()).collect();
        let again = starts.iter().find(|(n, _)| *n > 1).copied();
        let resets: usize = self.verdicts.iter().flat_map(|v| &v.counters).map(|c| c.resets).sum();
        let mut parts = Vec::new();
        if self.known.has_warmup {
            parts.push("the warm-up is in it (`--window measured` leaves it out)".to_string());
        }
        if let Some((n, _)) = again {
            parts.push(format!("a server started {n} times in it"));
        } else if resets > 0 {
            parts.push(format!("counters were reset {resets} times in it"));
        }
        if parts.is_empty() {
            return None;
        }
        let cites = again.map(|(_, cite)| cite).into_iter().collect();
        Some(Warning {
            rule: "whole-capture-total",
            edge: None,
            says: format!("these are totals of the whole capture: {}", parts.join(", ")),
            cites,
        })
    }

    fn prediction(&self) -> Option<Warning> {
        let lookup = self.verdict("l1-lookup")?;
        let predicted = |s: &&crate::verdict::Proof| {
            self.known.edges.get(s.signal).is_some_and(|s| s.instrument.starts_with("dynamo-frontend") || s.instrument.contains("trace"))
        };
        let hint = lookup.hints.iter().find(predicted)?;
        let engine = if lookup.proofs.is_empty() { "; no engine's figure was captured" } else { "" };
        let says = format!(
            "what the router's records say of cached tokens, hit rate and overlap is its prediction and not the engine's reuse{engine}"
        );
        self.warn("prediction-is-not-reuse", "l1-lookup", says, hint.cites.clone())
    }

    fn ranks(&self) -> Option<Warning> {
        let several = |v: &&Verdict| {
            let per_rank = |c: &&crate::verdict::Counter| self.known.edges.get(c.signal).is_some_and(|s| s.each_rank);
            let mut groups: std::collections::BTreeMap<(&str, &str, u16), usize> = std::collections::BTreeMap::new();
            for counter in v.counters.iter().filter(per_rank) {
                *groups.entry((&counter.endpoint, &counter.rankless, counter.signal.signal)).or_default() += 1;
            }
            groups.values().any(|n| *n > 1)
        };
        let verdict = self.verdicts.iter().find(several)?;
        Some(Warning {
            rule: "ranks-are-replicas",
            edge: Some(verdict.edge),
            says: "every tensor-parallel rank exports the same counter: one of them is the number, not their sum".into(),
            cites: Vec::new(),
        })
    }

    fn lookup(&self) -> Option<Warning> {
        let lookup = self.verdict("l3-lookup").filter(|_| self.happened("l3-lookup") && !self.happened("l3-restore"))?;
        let cites = lookup.proofs.iter().flat_map(|p| p.cites.first().copied()).collect();
        self.warn(
            "lookup-is-not-hit",
            "l3-lookup",
            "L3 was looked up and nothing shows that tokens came from it: a lookup is not a hit".into(),
            cites,
        )
    }

    fn occupancy(&self) -> Option<Warning> {
        let occupied = self.family("sglang:hicache_host_used_tokens");
        if !occupied || self.happened("l2-lookup") || self.happened("l2-restore") {
            return None;
        }
        let says =
            "host memory is occupied (`hicache_host_used_tokens`) and nothing shows that any of it was used: occupancy is not usefulness";
        self.warn("occupancy-is-not-usefulness", "l2-lookup", says.into(), Vec::new())
    }

    fn used_tokens(&self) -> Option<Warning> {
        self.family("sglang:kv_used_tokens").then_some(())?;
        let says = "`sglang:kv_used_tokens` is what running requests hold, not what the cache holds: occupied is `max_total_num_tokens` less `kv_available_tokens` of the same scrape";
        self.warn("used-is-not-occupied", "l1-evict", says.into(), Vec::new())
    }

    fn load_back(&self) -> Option<Warning> {
        if !self.happened("l2-restore") || self.happened("l3-restore") {
            return None;
        }
        let says = "tokens were loaded back from host memory: that makes them present on the device and is no prefetch from storage";
        self.warn("load-back-is-not-prefetch", "l2-restore", says.into(), Vec::new())
    }

    fn prefetch_policy(&self) -> Option<Warning> {
        let cite = self.flag("prefetch-policy").filter(|_| !self.happened("l3-restore"))?;
        let restore = self.verdict("l3-restore")?;
        let says = match restore.activity {
            Activity::Absent | Activity::Partial => {
                "a prefetch policy is configured, and what would count prefetches shows none: a policy name is no prefetch"
            }
            _ => "a prefetch policy is configured, and nothing captured shows a prefetch: a policy name is no prefetch",
        };
        self.warn("policy-is-not-prefetch", "l3-restore", says.into(), vec![cite])
    }

    fn first_value(&self) -> Option<Warning> {
        let storage = ["l3-lookup", "l3-restore", "l3-writeback", "l3-evict"];
        let of = storage.iter().filter_map(|e| self.verdict(e)).flat_map(|v| v.counters.iter().map(move |c| (v.edge, c)));
        let direct = |c: &crate::verdict::Counter| self.known.edges.get(c.signal).is_some_and(|s| s.direct);
        let (edge, counter) = of.filter(|(_, c)| c.base > 0.0 && direct(c)).max_by(|a, b| a.1.base.total_cmp(&b.1.base))?;
        let says = format!(
            "`{}` has {} at its first sample: storage series begin at their first event, so that much was counted before it was seen and is in no difference",
            counter.series, counter.base
        );
        Some(Warning { rule: "first-value-is-not-zero", edge: Some(edge), says, cites: Vec::new() })
    }

    fn write_back(&self) -> Option<Warning> {
        let edge = ["l2-writeback", "l3-writeback"].into_iter().find(|e| self.happened(e))?;
        let used = self.happened("l2-restore") || self.happened("l3-restore");
        let seen = if used { "reuse is what `l2-restore` and `l3-restore` say" } else { "nothing shows that any of it was used again" };
        self.warn("write-back-is-not-reuse", edge, format!("blocks were written back: a write-back is not reuse; {seen}"), Vec::new())
    }

    fn backed_up(&self) -> Option<Warning> {
        self.family("sglang:backuped_tokens_total").then_some(())?;
        self.happened("l3-writeback").then_some(())?;
        let says = "`backuped_tokens_total` counts tokens written to storage: backed up is no future hit, and does not say that they are still there";
        self.warn("backed-up-is-not-a-hit", "l3-writeback", says.into(), Vec::new())
    }

    fn capacity(&self) -> Option<Warning> {
        (self.family("sglang:max_total_num_tokens") && self.family("sglang:kv_available_tokens")).then_some(())?;
        let says = "capacity and free tokens are of one scrape or of none: `corr metrics RUN sglang:kv_available_tokens --since start --until end` pairs them; never a maximum of one and a minimum of another";
        self.warn("capacity-of-one-scrape", "l1-evict", says.into(), Vec::new())
    }

    fn quantiles(&self) -> Option<Warning> {
        let workers: BTreeSet<&str> =
            self.known.ledgers.iter().filter(|l| l.role.as_deref() != Some("frontend")).filter_map(|l| l.worker.as_deref()).collect();
        (workers.len() > 1 && self.family("sglang:time_to_first_token_seconds")).then_some(())?;
        let says = "quantiles of several workers are not averaged: `corr metrics RUN FAMILY --by model_name` adds their buckets and takes the quantile of the sum";
        self.warn("quantiles-are-not-averaged", "prefill", says.into(), Vec::new())
    }

    fn storage_of_session(&self) -> Option<Warning> {
        self.known.of_session.then_some(())?;
        let says = "a miss or an eviction in storage is nobody's without a trace of keys: what is not proven for this session is UNPROVABLE, not absent";
        self.warn("storage-misses-are-nobodys", "l3-evict", says.into(), Vec::new())
    }
}
