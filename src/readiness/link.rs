//! Which unit do the words of a client, a poll or a scraper mean?

use corr_metrics::model::Endpoint;
use corr_readiness::History;

use super::polls::Target;
use crate::metrics::workers::{self, Worker};
use crate::run::owners;

/// A process of which a log is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    pub host: String,
    pub name: String,
    pub role: Option<String>,
    /// Port that its configuration names.
    pub port: Option<u16>,
}

/// A configuration that a record shows: of a unit by name, or by process id where the rendering names none.
#[derive(Clone, Debug)]
pub struct Configured {
    pub host: String,
    pub unit: String,
    pub pid: Option<u32>,
    pub port: Option<u16>,
    pub disaggregation: Option<String>,
}

/// What a target was taken for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    /// Place in the list of units; `None`: none of them, or it is not known which.
    pub unit: Option<usize>,
    pub how: String,
}

/// The units of a history, with what their configurations say.
pub fn units(history: &History, configured: &[Configured], roles: &dyn Fn(&str, &str) -> Option<String>) -> Vec<Unit> {
    let of = |unit: &corr_readiness::UnitHistory| {
        let mine = |said: &&Configured| {
            said.host == unit.host
                && (said.unit == unit.unit
                    || (said.unit.is_empty() && said.pid.is_some_and(|pid| unit.invocations.iter().any(|run| run.pids.contains(&pid)))))
        };
        let said = configured.iter().filter(mine);
        let mut found = Unit { host: unit.host.clone(), name: unit.unit.clone(), role: roles(&unit.host, &unit.unit), port: None };
        let mut ports: Vec<u16> = said.clone().filter_map(|said| said.port).collect();
        ports.sort_unstable();
        ports.dedup();
        // A unit that changed its port is told by none of them.
        if let [port] = ports[..] {
            found.port = Some(port);
        }
        if let Some(mode) = said.filter_map(|said| said.disaggregation.clone()).find(|mode| mode == "prefill" || mode == "decode") {
            found.role = Some(mode);
        }
        found
    };
    history.units.iter().map(of).collect()
}

/// `worker-0`, `worker0`, `worker_0` and `worker0.service` are one name.
fn plain(name: &str) -> String {
    let name = name.rsplit_once('/').map_or(name, |(_, last)| last);
    let name = name.strip_suffix(".service").unwrap_or(name);
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// A router or a frontend: what clients talk to.
fn is_entry(unit: &Unit) -> bool {
    let role = unit.role.clone().or_else(|| owners::of_name(&unit.name).and_then(|named| named.role));
    matches!(role.as_deref(), Some("router" | "frontend"))
}

/// The unit that an endpoint of a capture is.
pub fn endpoint(endpoint: &Endpoint, units: &[Unit]) -> Linked {
    let name = plain(&endpoint.name);
    let mut same = units.iter().enumerate().filter(|(_, unit)| !name.is_empty() && plain(&unit.name) == name);
    if let (Some((at, _)), None) = (same.next(), same.next()) {
        return Linked { unit: Some(at), how: "by the same name".into() };
    }
    let workers: Vec<Worker> = units
        .iter()
        .enumerate()
        .map(|(at, unit)| Worker {
            name: at.to_string(),
            role: unit.role.clone(),
            host: Some(unit.host.clone()).filter(|host| !host.is_empty()),
            port: unit.port,
        })
        .collect();
    match workers::of(endpoint, &workers, &[]).and_then(|mapped| Some((mapped.worker.parse::<usize>().ok()?, mapped.how))) {
        Some((at, how)) if at < units.len() => Linked { unit: Some(at), how },
        _ => Linked { unit: None, how: "no name, port or role of a unit is its".into() },
    }
}

/// The unit that a client's or a poll's target is.
pub fn target(target: &Target, units: &[Unit]) -> Linked {
    if !target.name.is_empty() || !target.url.is_empty() {
        let asked =
            Endpoint { name: target.name.clone(), url: Some(target.url.clone()).filter(|url| !url.is_empty()), ..Endpoint::default() };
        let found = endpoint(&asked, units);
        if found.unit.is_some() || !target.name.is_empty() || !is_local_only(units) {
            return found;
        }
    }
    let mut entries = units.iter().enumerate().filter(|(_, unit)| is_entry(unit));
    if let (Some((at, _)), None) = (entries.next(), entries.next()) {
        return Linked { unit: Some(at), how: "its records name no target; the only router or frontend".into() };
    }
    if let [_] = units {
        return Linked { unit: Some(0), how: "its records name no target; the only unit".into() };
    }
    Linked { unit: None, how: format!("its records name no target, and there are {} units", units.len()) }
}

/// There is one server, and nothing says on which port.
fn is_local_only(units: &[Unit]) -> bool {
    matches!(units, [unit] if unit.port.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(name: &str, role: &str, port: Option<u16>) -> Unit {
        Unit { host: String::new(), name: name.into(), role: Some(role.into()), port }
    }

    #[test]
    fn targets_find_their_unit() {
        let units = [unit("worker-0", "unified", Some(30000)), unit("worker-1", "unified", Some(30001)), unit("router", "router", None)];
        let of = |name: &str, url: &str| target(&Target { name: name.into(), url: url.into() }, &units).unit;
        assert_eq!(of("worker1", ""), Some(1));
        assert_eq!(of("worker_0", ""), Some(0));
        assert_eq!(of("", "http://127.0.0.1:30001/health"), Some(1));
        assert_eq!(of("", ""), Some(2), "clients talk to the router");
        assert_eq!(of("worker7", ""), None);
        assert_eq!(of("", "http://127.0.0.1:9999/health"), None, "a port that no unit has");
        assert_eq!(target(&Target::default(), &units[..2]).unit, None);
        assert_eq!(target(&Target::default(), &units[..1]).unit, Some(0));
    }
}
