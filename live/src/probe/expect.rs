//! Whether an expected metric is there, and where it is not, the reasons that the evidence allows.

use std::fmt;

use corr_metrics::model::canonical;

use super::known::{self, Appears, Fact, Place, Version};
use super::seen::{Endpoint, Exposes, exporter};
use super::spelling;

/// What is said of one expected name.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Expected {
    /// As typed.
    pub name: String,
    pub canonical: String,
    pub verdict: Verdict,
    pub found: Vec<Found>,
    pub missing: Vec<Missing>,
}

/// Where it is.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Found {
    pub url: String,
    pub family: String,
    /// Spellings served, where they differ from the canonical one.
    pub seen_as: Vec<String>,
    pub series: usize,
}

/// Where it is not.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Missing {
    pub url: String,
    pub verdict: Verdict,
    pub reasons: Vec<Reason>,
}

/// What the evidence allows to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Found,
    /// The endpoint answers, and it is not there.
    Absent,
    /// It is not there now, and would not be before its first use.
    CannotKnow,
    /// The endpoint could not be read.
    Unreachable,
}

/// Why a metric may be missing. Several can hold: what would tell them apart is not exposed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Reason {
    /// Nobody answers.
    EndpointDown { kind: &'static str, what: String },
    /// Somebody answers, but not with what could be read to its end.
    Unreadable { kind: &'static str, what: String },
    /// 404.
    NotEnabled { server: Option<String> },
    /// An answer that is no exposition.
    NoMetrics { kind: &'static str, what: String },
    /// A name that means the same, or did in another version, is there.
    OtherSpelling { there: Vec<String> },
    /// Servers of another role have it.
    OtherRole { here: Vec<String>, wants: &'static str },
    /// It is exposed at another port.
    OtherPort { here: Vec<&'static str>, wants: &'static str },
    /// It appears with its first use.
    Lazy { until: &'static str },
    /// It exists only if this is on.
    Needs { what: &'static str },
    /// This server may be older.
    Since { version: &'static str },
    /// Versions after this have it no more; other families prove a later one.
    Gone { last: &'static str, proven_by: String },
    /// By all that is known it would be there.
    NotExported,
    /// corr does not know the name; known ones that are like it.
    UnknownName { like: Vec<&'static str> },
}

/// Judges one name over all endpoints.
pub fn judge(name: &str, endpoints: &[Endpoint]) -> Expected {
    let name = name.trim();
    let canonical = canonical(name).into_owned();
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for endpoint in endpoints {
        match there(&canonical, endpoint) {
            Some(one) => found.push(one),
            None => missing.push(why(&canonical, endpoint)),
        }
    }
    let any = |verdict| missing.iter().any(|m: &Missing| m.verdict == verdict);
    let verdict = match () {
        () if !found.is_empty() => Verdict::Found,
        () if missing.iter().all(|m| m.verdict == Verdict::Unreachable) => Verdict::Unreachable,
        // That it is nowhere needs to have looked everywhere.
        () if any(Verdict::CannotKnow) || any(Verdict::Unreachable) => Verdict::CannotKnow,
        () => Verdict::Absent,
    };
    Expected { name: name.to_string(), canonical, verdict, found, missing }
}

/// A name means its family, or a series of one (`_bucket`).
fn there(canonical: &str, endpoint: &Endpoint) -> Option<Found> {
    let families = &endpoint.exposes.as_ref()?.families;
    let family = families.iter().find(|f| f.name == canonical || f.names.contains(canonical))?;
    Some(Found { url: endpoint.url.clone(), family: family.name.clone(), seen_as: family.seen_as.clone(), series: family.series })
}

fn why(canonical: &str, endpoint: &Endpoint) -> Missing {
    let mut reasons = Vec::new();
    let verdict = match (&endpoint.exposes, &endpoint.failure) {
        (Some(exposes), _) => absent(canonical, exposes, &mut reasons),
        (None, Some(failure)) => {
            let (kind, what) = (failure.kind, failure.what.clone());
            let (reason, verdict) = match kind {
                "http_status" if endpoint.status == Some(404) => (Reason::NotEnabled { server: endpoint.server.clone() }, Verdict::Absent),
                _ if failure.answered => (Reason::NoMetrics { kind, what }, Verdict::Absent),
                // Somebody is there.
                "cut" | "too_large" | "tls" | "protocol" | "no_answer" => (Reason::Unreadable { kind, what }, Verdict::Unreachable),
                _ => (Reason::EndpointDown { kind, what }, Verdict::Unreachable),
            };
            reasons.push(reason);
            verdict
        }
        (None, None) => Verdict::Unreachable,
    };
    Missing { url: endpoint.url.clone(), verdict, reasons }
}

/// An exposition without it.
fn absent(canonical: &str, exposes: &Exposes, reasons: &mut Vec<Reason>) -> Verdict {
    let there = spelling::like(canonical, exposes.families.iter().map(|f| f.name.as_str()));
    let spelled_otherwise = !there.is_empty();
    if spelled_otherwise {
        reasons.push(Reason::OtherSpelling { there: there.into_iter().map(str::to_string).collect() });
    }
    let meant = known::of(spelling::family(canonical));
    let Some(fact) = meant else {
        if !spelled_otherwise {
            reasons.push(
                elsewhere(canonical, exposes).unwrap_or_else(|| Reason::UnknownName { like: spelling::like(canonical, known::names()) }),
            );
        }
        return Verdict::Absent;
    };
    if let Some(reason) = other_place(fact, exposes) {
        reasons.push(reason);
        return Verdict::Absent;
    }
    let proven = proven(exposes);
    if let (Some(last), Some((at_least, family))) = (fact.last, proven)
        && last < at_least
    {
        reasons.push(Reason::Gone { last: fact.last_text, proven_by: family.to_string() });
        return Verdict::Absent;
    }
    if fact.first.is_some_and(|first| proven.is_none_or(|(at_least, _)| first > at_least)) {
        reasons.push(Reason::Since { version: fact.first_text });
    }
    let lazy = lazy(fact, exposes);
    reasons.extend(fact.needs.map(|what| Reason::Needs { what }));
    reasons.extend(lazy.map(|until| Reason::Lazy { until }));
    if reasons.is_empty() {
        reasons.push(Reason::NotExported);
    }
    // With the newer or older name there, waiting for this one is of no use.
    if lazy.is_some() && !spelled_otherwise { Verdict::CannotKnow } else { Verdict::Absent }
}

/// What a labelled family waits for: not any request, but the one that it counts.
pub(crate) const FIRST_USE: &str = "its first use";

/// What it waits for, unless something that comes with it is there already.
fn lazy(fact: &Fact, exposes: &Exposes) -> Option<&'static str> {
    let has = |appears: Appears| exposes.families.iter().filter_map(|f| known::of(&f.name)).any(|f| f.appears == appears);
    match fact.appears {
        Appears::Report | Appears::Constant if has(Appears::Report) => None,
        Appears::Report | Appears::Constant => Some("the scheduler's first report (a prefill or decode batch, or 30 s of idling)"),
        Appears::Request if has(Appears::Request) => None,
        Appears::Request => Some("the first request"),
        Appears::Event => Some(FIRST_USE),
    }
}

/// The newest first version of the SGLang families that are there: this server is at least of that version.
fn proven(exposes: &Exposes) -> Option<(Version, &str)> {
    exposes.families.iter().filter_map(|f| Some((known::of(&f.name)?.first?, f.name.as_str()))).max_by_key(|(version, _)| *version)
}

/// `engine_type` tells prefill and decode servers apart from this version on; before it all say `unified`.
const ROLES_SINCE: &str = "0.5.7";

/// A server that has other families than this one's.
fn other_place(fact: &Fact, exposes: &Exposes) -> Option<Reason> {
    let wanted = exporter(fact.family);
    let has = |names: &[&str]| exposes.exporters.iter().any(|e| names.contains(&e.name));
    if wanted == "sglang" && has(&["sglang"]) {
        let wants = match fact.place {
            Place::Prefill => "prefill",
            Place::Decode => "decode",
            Place::Pd => "prefill or decode",
            Place::Any | Place::Frontend | Place::Worker => return None,
        };
        let here: Vec<String> = exposes.exporters.iter().filter(|e| e.name == "sglang").flat_map(|e| e.roles.clone()).collect();
        let tells = here.iter().any(|r| r == "prefill" || r == "decode")
            || (!here.is_empty() && proven(exposes).map(|(v, _)| v) >= Version::parse(ROLES_SINCE) && !here.iter().any(|r| r == "dynamic"));
        let fits = here.iter().any(|r| wants.split(" or ").any(|w| w == r));
        return (tells && !fits).then_some(Reason::OtherRole { here, wants });
    }
    let frontend = has(&["dynamo frontend", "dynamo router"]);
    let worker = has(&["dynamo component"]);
    match fact.place {
        Place::Frontend if frontend => None,
        Place::Worker if worker || has(&[wanted]) => None,
        Place::Any if has(&[wanted]) => None,
        _ => elsewhere(fact.family, exposes),
    }
}

/// Where families of this kind are exposed, if nothing of their exporter is here.
fn elsewhere(canonical: &str, exposes: &Exposes) -> Option<Reason> {
    let wanted = exporter(canonical);
    let wants = match wanted {
        "sglang" => "an SGLang server (its --port, 30000 unless set, with --enable-metrics), or a Dynamo worker's DYN_SYSTEM_PORT",
        "vllm" => "a vLLM server, or a Dynamo worker's DYN_SYSTEM_PORT",
        "dynamo frontend" | "dynamo router" => "the Dynamo frontend (--http-port, 8000 unless set)",
        "dynamo component" | "dynamo runtime" => "a Dynamo worker (DYN_SYSTEM_PORT; off unless set)",
        "dynamo kvbm" => "a KVBM worker (DYN_KVBM_METRICS=1; DYN_KVBM_METRICS_PORT, 6880 unless set)",
        "sglang gateway" => "the SGLang gateway's metrics port",
        "dcgm" => "the DCGM exporter",
        "node exporter" => "the node exporter",
        _ => return None,
    };
    let fits = match known::of(canonical).map(|f| f.place) {
        // Frontend and worker share some beginnings of names.
        Some(Place::Frontend) => exposes.exporters.iter().any(|e| e.name == "dynamo frontend"),
        _ => exposes.exporters.iter().any(|e| e.name == wanted),
    };
    (!fits).then(|| Reason::OtherPort { here: exposes.exporters.iter().map(|e| e.name).collect(), wants })
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::EndpointDown { what, .. } => write!(f, "endpoint down: {what}"),
            Reason::Unreadable { what, .. } => write!(f, "the answer could not be read: {what}"),
            Reason::NotEnabled { server } => {
                let server = server.as_ref().map_or_else(String::new, |s| format!(" (server: {s})"));
                write!(
                    f,
                    "HTTP 404{server}: metrics are not enabled, or not at this port or path; SGLang serves them with --enable-metrics, a Dynamo worker \
                     at DYN_SYSTEM_PORT"
                )
            }
            Reason::NoMetrics { what, .. } => write!(f, "the answer is no exposition: {what}"),
            Reason::OtherSpelling { there } => write!(f, "other spelling: {} is there", there.join(", ")),
            Reason::OtherRole { here, wants } => write!(f, "other role: {wants} servers have it, this is {}", here.join(", ")),
            Reason::OtherPort { here, wants } => {
                let here = if here.is_empty() { "nothing".to_string() } else { here.join(", ") };
                write!(f, "other port: it is exposed by {wants}; here is {here}")
            }
            Reason::Lazy { until } => write!(f, "lazy: the family does not exist before {until}"),
            Reason::Needs { what } => write!(f, "not switched on: it needs {what}"),
            Reason::Since { version } => write!(f, "version: it is there since SGLang {version}, and nothing here proves one so new"),
            Reason::Gone { last, proven_by } => {
                write!(f, "version: SGLang {last} was the last to have it, and {proven_by} proves a later one")
            }
            Reason::NotExported => f.write_str("it would be there by all that corr knows: another build, or a metric that was removed"),
            Reason::UnknownName { like } if like.is_empty() => f.write_str("corr knows no metric of this name, and none that is like it"),
            Reason::UnknownName { like } => write!(f, "corr knows no metric of this name; {} is like it", like.join(", ")),
        }
    }
}

impl Verdict {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Found => "there",
            Verdict::Absent => "not there",
            Verdict::CannotKnow => "cannot be known",
            Verdict::Unreachable => "endpoint not readable",
        }
    }
}
