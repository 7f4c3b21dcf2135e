//! Which process of a run a command or a plan's entry speaks of.

use corr_metrics::layouts::unpacked;

use super::Who;
use crate::query::sources::Asked;
use crate::run::layout::base_name;
use crate::run::owners;
use crate::run::source::Owner;

/// The owners of a run's logs.
pub struct Whose<'r> {
    logs: &'r [Asked],
}

impl<'r> Whose<'r> {
    pub fn new(sources: &'r [Asked]) -> Whose<'r> {
        Whose { logs: sources }
    }

    /// The owner of the log of this key, packed or not.
    pub fn of_key(&self, key: &str) -> Option<Who> {
        self.find(|log, _| unpacked(log) == key).or_else(|| by_name(key))
    }

    /// The owner of the log of this file name, wherever it stands; `None` if several have it.
    pub fn of_file(&self, name: &str) -> Option<Who> {
        let base = base_name(name);
        self.find(|log, _| unpacked(base_name(log)) == base).or_else(|| by_name(base))
    }

    /// The server that says of itself that it listens on this port.
    pub fn of_port(&self, port: u16) -> Option<Who> {
        self.find(|_, owner| owner.port == Some(port))
    }

    /// The process of this name, by its logs' names or as corr calls it.
    pub fn of_name(&self, name: &str) -> Option<Who> {
        self.find(|log, owner| owner.worker.as_deref() == Some(name) || owners::stem(base_name(log)) == name)
    }

    fn find(&self, fits: impl Fn(&str, &Owner) -> bool) -> Option<Who> {
        let mut found: Option<Who> = None;
        for source in self.logs.iter().filter(|s| fits(&s.key, &s.owner)) {
            let who = of_source(source);
            match &found {
                Some(known) if known.worker != who.worker => return None,
                Some(known) if known.role.is_some() => {}
                _ => found = Some(who),
            }
        }
        found
    }
}

/// A log that is not there, or is empty, is of the process that its name says.
fn by_name(key: &str) -> Option<Who> {
    let named = owners::of_name(key)?;
    Some(Who { worker: named.worker, role: named.role })
}

/// Formats of a serving process's own log, which may be called by its file where nothing else names it.
const LOGS: &[&str] = &["sglang", "sglang-json", "dynamo-text", "dynamo-jsonl", "gateway", "gateway-json"];

/// Whom a source's records are of: its worker, else its unit, else what its file is called if it is the log of a serving process.
pub fn of_source(source: &Asked) -> Who {
    let owner = &source.owner;
    let serves = LOGS.contains(&source.format) && owner.role.as_deref().is_some_and(|r| !matches!(r, "client" | "infra"));
    let worker = owner.worker.clone().or_else(|| owner.unit.clone());
    let worker = worker.or_else(|| serves.then(|| owners::stem(base_name(&source.key)).to_string()).filter(|s| !s.is_empty()));
    Who { worker, role: owner.role.clone() }
}

/// What kind of process a program is: its role where it says, and whether it serves at all.
pub fn role_of(program: &str) -> Option<&'static str> {
    let base = base_name(program);
    if base.ends_with("dynamo.frontend") {
        Some("frontend")
    } else if base.contains("launch_router") || base == "smg" || base == "sgl-router" || base == "amg" {
        Some("router")
    } else {
        None
    }
}
