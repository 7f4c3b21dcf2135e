//! Which worker of the run an endpoint is, and what shows it.

use corr_metrics::model::Endpoint;

use super::asked::title;
use crate::run::owners;
use crate::run::source::Owner;

/// A worker that logs of the run belong to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worker {
    pub name: String,
    pub role: Option<String>,
    pub host: Option<String>,
    /// Port that its own records name.
    pub port: Option<u16>,
}

/// An endpoint's worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    pub worker: String,
    /// What shows it, in words.
    pub how: String,
}

/// The workers that owners name, each once.
pub fn workers<'o>(owners: impl Iterator<Item = &'o Owner>) -> Vec<Worker> {
    let mut out: Vec<Worker> = Vec::new();
    for owner in owners {
        let Some(name) = &owner.worker else { continue };
        let known = match out.iter_mut().find(|w| w.name == *name && (w.host == owner.host || w.host.is_none() || owner.host.is_none())) {
            Some(known) => known,
            None => {
                out.push(Worker { name: name.clone(), ..Worker::default() });
                let Some(last) = out.last_mut() else { continue };
                last
            }
        };
        known.role = known.role.take().or_else(|| owner.role.clone());
        known.host = known.host.take().or_else(|| owner.host.clone());
        known.port = known.port.or(owner.port);
    }
    out
}

/// What the user says: `ENDPOINT=WORKER`, the endpoint by its name or URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub endpoint: String,
    pub worker: String,
}

/// The worker of an endpoint: as the user says, by the port that the worker's own records name, by role and index, by an equal name, or as the
/// only one of its role.
pub fn of(endpoint: &Endpoint, workers: &[Worker], said: &[Said]) -> Option<Mapped> {
    let mapped = |worker: &str, how: String| Some(Mapped { worker: worker.to_string(), how });
    let named = |text: &str| text == endpoint.name || endpoint.url.as_deref() == Some(text);
    if let Some(said) = said.iter().find(|s| named(&s.endpoint)) {
        return mapped(&said.worker, "as declared".into());
    }
    if let Some(worker) = workers.iter().find(|w| w.name == endpoint.name) {
        return mapped(&worker.name, "by the same name".into());
    }
    let place = Place::of(endpoint);
    let here = |w: &&Worker| w.host.is_none() || place.host.is_none() || w.host == place.host;
    if let Some(port) = place.port {
        let mut with_port = workers.iter().filter(|w| w.port == Some(port)).filter(here);
        if let (Some(worker), None) = (with_port.next(), with_port.next()) {
            return mapped(&worker.name, format!("port {port}, which its own records name"));
        }
    }
    let role = place.role.as_deref()?;
    let same = |w: &&Worker| w.role.as_deref().is_some_and(|r| same_role(r, role));
    let of_role: Vec<&Worker> = workers.iter().filter(same).filter(here).collect();
    if let Some(index) = place.index {
        let number = |w: &&&Worker| owners::of_name(&w.name).and_then(|n| n.index()) == Some(index);
        let mut with_index = of_role.iter().filter(number);
        if let (Some(worker), None) = (with_index.next(), with_index.next()) {
            return mapped(&worker.name, format!("role {role} and index {index} of endpoint {}", title(endpoint)));
        }
    }
    match of_role[..] {
        [only] => mapped(&only.name, format!("the only one of role {role}")),
        _ => None,
    }
}

/// A router and a frontend are one process where a run has but one of them.
fn same_role(a: &str, b: &str) -> bool {
    let plain = |role: &str| match role {
        "router" | "frontend" => "frontend".to_string(),
        "agg" | "aggregated" => "unified".to_string(),
        other => other.to_string(),
    };
    plain(a) == plain(b)
}

/// What an endpoint says of the process that it is.
#[derive(Debug, Default)]
struct Place {
    role: Option<String>,
    index: Option<u32>,
    host: Option<String>,
    port: Option<u16>,
}

impl Place {
    fn of(endpoint: &Endpoint) -> Place {
        let fact = |names: &[&str]| names.iter().find_map(|name| endpoint.facts.get(*name)).map(String::as_str).filter(|v| !v.is_empty());
        let (role, index) = by_name(&endpoint.name);
        let local = |host: &&str| !host.starts_with("127.") && *host != "localhost" && *host != "::1" && *host != "0.0.0.0";
        let frontend = || fact(&["frontend_index"]).map(|_| "frontend".to_string());
        let url = endpoint.url.as_deref().or_else(|| endpoint.name.contains(':').then_some(endpoint.name.as_str()));
        Place {
            role: fact(&["worker_role", "role"]).map(String::from).or(role).or_else(frontend),
            index: fact(&["worker_index", "frontend_index"]).and_then(|t| t.parse().ok()).or(index),
            host: fact(&["hostname", "host"]).filter(local).map(String::from),
            port: url.and_then(port),
        }
    }
}

/// Role and index that an endpoint's name says: `worker_agg_1_0`, `backend_decode0_rank0`, `frontend0`, `router`, `worker-1`.
fn by_name(name: &str) -> (Option<String>, Option<u32>) {
    let role = |word: &str| match word {
        "agg" => Some("unified".to_string()),
        "prefill" | "decode" | "frontend" | "router" => Some(word.to_string()),
        _ => None,
    };
    if let Some(rest) = name.strip_prefix("worker_") {
        let mut parts = rest.split('_');
        if let (Some(word), Some(index)) = (parts.next().and_then(role), parts.next().and_then(|i| i.parse().ok())) {
            return (Some(word), Some(index));
        }
    }
    if let Some((mode, _)) = name.strip_prefix("backend_").and_then(|rest| rest.split_once("_rank")) {
        let digits = mode.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        return (mode.get(..digits).and_then(role), mode.get(digits..).and_then(|i| i.parse().ok()));
    }
    match owners::of_name(name) {
        Some(named) => {
            let index = named.index();
            (named.role, index)
        }
        None => (None, None),
    }
}

fn port(url: &str) -> Option<u16> {
    let after = url.split_once("://").map_or(url, |(_, rest)| rest);
    after.split('/').next()?.rsplit_once(':')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(name: &str, url: &str, facts: &[(&str, &str)]) -> Endpoint {
        let facts = facts.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        Endpoint { name: name.into(), url: (!url.is_empty()).then(|| url.into()), facts, scrapes: Vec::new() }
    }

    fn worker(name: &str, role: &str, port: Option<u16>) -> Worker {
        Worker { name: name.into(), role: Some(role.into()), host: None, port }
    }

    #[test]
    fn endpoints_find_their_worker() {
        let workers = [worker("worker-0", "unified", Some(30000)), worker("worker-1", "unified", None), worker("router", "router", None)];
        let of = |e: Endpoint| super::of(&e, &workers, &[]).map(|m| m.worker);
        assert_eq!(of(endpoint("", "http://127.0.0.1:30000/metrics", &[])).as_deref(), Some("worker-0"), "by the port of its records");
        assert_eq!(of(endpoint("worker_agg_1_0", "http://h:7501/metrics", &[])).as_deref(), Some("worker-1"), "by its name");
        assert_eq!(of(endpoint("x", "", &[("worker_role", "agg"), ("worker_index", "1")])).as_deref(), Some("worker-1"), "by its facts");
        assert_eq!(of(endpoint("frontend0", "", &[])).as_deref(), Some("router"), "the only one of its role");
        assert_eq!(of(endpoint("x", "", &[("worker_role", "agg")])), None, "two have the role");
        assert_eq!(of(endpoint("dcgm_node1", "http://h:9400/metrics", &[])), None);
        let said = [Said { endpoint: "x".into(), worker: "worker-0".into() }];
        assert_eq!(super::of(&endpoint("x", "", &[]), &workers, &said).unwrap().how, "as declared");
    }

    #[test]
    fn names_say_role_and_index() {
        assert_eq!(by_name("backend_decode3_rank0"), (Some("decode".into()), Some(3)));
        assert_eq!(by_name("worker_prefill_0_0"), (Some("prefill".into()), Some(0)));
        assert_eq!(by_name("frontend1"), (Some("frontend".into()), Some(1)));
        assert_eq!(by_name("node_exporter_n1"), (None, None));
    }
}
