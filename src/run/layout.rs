//! The run directories of srt-slurm: which of the two a run is, and what its plan says of the processes.

use std::collections::BTreeMap;
use std::path::Path;

use corr_metrics::layouts::unpacked;

use super::source::Source;

/// The largest plan or configuration that is read.
const MAX_CONFIG: u64 = 4 << 20;

/// How a run directory is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// `srtctl apply --bash`: `direct-plan.json`, `logs/worker-N.log`.
    Direct,
    /// A SLURM job: `logs/<node>_<mode>_w<i>.out`, `logs/sweep_<job>.log`.
    Slurm,
    /// Neither.
    #[default]
    Plain,
}

impl Kind {
    /// For output.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Direct => "direct",
            Kind::Slurm => "slurm",
            Kind::Plain => "none",
        }
    }

    /// For people: the layout and what it was known by.
    pub fn about(self) -> &'static str {
        match self {
            Kind::Direct => "srt-slurm, direct (direct-plan.json)",
            Kind::Slurm => "srt-slurm, SLURM job (logs/<node>_<mode>_w<i>.out)",
            Kind::Plain => "no known run layout",
        }
    }
}

/// What a run's plan says of one serving process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// `prefill`, `decode`, `unified`, `router`.
    pub role: String,
    pub index: Option<u32>,
    pub host: Option<String>,
    /// Port of its `/metrics`.
    pub port: Option<u16>,
    /// The file that says so.
    pub from: String,
}

/// Layout and topology of a run.
#[derive(Clone, Debug, Default)]
pub struct RunLayout {
    pub kind: Kind,
    /// Processes that a `tachometer.toml`, `tachometer_config.toml` or `direct-plan.json` names.
    pub processes: Vec<Process>,
    /// `TZ` that a recorded environment sets, by the log it belongs to (a key, or empty for the whole run), with the file that says so.
    pub recorded_tz: BTreeMap<String, (String, String)>,
}

impl RunLayout {
    /// Looks at names and at the small configuration files of a run.
    pub fn read(sources: &[Source]) -> RunLayout {
        let mut layout = RunLayout { kind: kind(sources), ..RunLayout::default() };
        for source in sources {
            let base = base_name(&source.key);
            let folder = source.key.strip_suffix(base).unwrap_or("");
            match base {
                "tachometer.toml" | "tachometer_config.toml" => {
                    if let Some(text) = small_text(&source.path) {
                        layout.processes.extend(processes(&text, &source.key));
                    }
                }
                "direct-plan.json" => layout.plan(&source.path, &source.key),
                "command.json" => layout.command_json(&source.path, &source.key, folder),
                "commands.txt" => layout.commands_txt(&source.path, &source.key, folder),
                _ => {
                    if let Some(log) = source.key.strip_suffix(".command")
                        && let Some(zone) = small_text(&source.path).as_deref().and_then(assigned_tz)
                    {
                        layout.recorded_tz.insert(log.to_string(), (zone, source.key.clone()));
                    }
                }
            }
        }
        // The plan repeats the configuration that stands beside it.
        let mut unique: Vec<Process> = Vec::new();
        for process in layout.processes {
            let same = |p: &Process| (&p.role, p.index, &p.host, p.port) == (&process.role, process.index, &process.host, process.port);
            if !unique.iter().any(same) {
                unique.push(process);
            }
        }
        layout.processes = unique;
        layout
    }

    fn plan(&mut self, path: &Path, key: &str) {
        let Some(plan) = small_text(path).and_then(|t| serde_json::from_str::<serde_json::Value>(&t).ok()) else { return };
        if self.processes.is_empty()
            && let Some(config) = plan.get("tachometer_config").and_then(|v| v.as_str())
        {
            self.processes = processes(config, key);
        }
        let environment = plan.get("global_environment").and_then(|v| v.as_array());
        for entry in environment.into_iter().flatten() {
            let zone = match entry {
                serde_json::Value::String(text) => assigned_tz(text),
                // Pairs: ["TZ", "Asia/Tokyo"].
                serde_json::Value::Array(pair) if pair.first().and_then(|v| v.as_str()) == Some("TZ") => {
                    pair.get(1).and_then(|v| v.as_str()).map(String::from)
                }
                _ => None,
            };
            if let Some(zone) = zone {
                self.recorded_tz.insert(String::new(), (zone, key.to_string()));
            }
        }
    }

    /// `{"server_env": {"TZ": …}}`, or `TZ` in any object whose name ends in `env`.
    fn command_json(&mut self, path: &Path, key: &str, folder: &str) {
        let Some(value) = small_text(path).and_then(|t| serde_json::from_str::<serde_json::Value>(&t).ok()) else { return };
        let Some(object) = value.as_object() else { return };
        for (name, part) in object {
            if name.to_ascii_lowercase().ends_with("env")
                && let Some(zone) = part.get("TZ").and_then(|v| v.as_str())
            {
                self.recorded_tz.insert(folder.to_string(), (zone.to_string(), key.to_string()));
            }
        }
    }

    /// Blocks of `# NAME … log=FILE` and the command with its environment.
    fn commands_txt(&mut self, path: &Path, key: &str, folder: &str) {
        let Some(text) = small_text(path) else { return };
        let mut log: Option<&str> = None;
        for line in text.lines() {
            if let Some(header) = line.strip_prefix("# ") {
                log = header.split_ascii_whitespace().find_map(|word| word.strip_prefix("log="));
            } else if let (Some(log), Some(zone)) = (log, assigned_tz(line)) {
                self.recorded_tz.insert(format!("{folder}{log}"), (zone, key.to_string()));
            }
        }
    }

    /// The `TZ` recorded for a source: its own command's, else its folder's or a folder above, else the run's.
    pub fn tz_of(&self, key: &str) -> Option<&(String, String)> {
        if let Some(found) = self.recorded_tz.get(unpacked(key)) {
            return Some(found);
        }
        let mut folder = key;
        while let Some(end) = folder.trim_end_matches('/').rfind('/') {
            folder = &folder[..=end];
            if let Some(found) = self.recorded_tz.get(folder) {
                return Some(found);
            }
        }
        self.recorded_tz.get("")
    }
}

fn kind(sources: &[Source]) -> Kind {
    let has = |test: &dyn Fn(&str) -> bool| sources.iter().any(|s| test(&s.key));
    if has(&|key| base_name(key) == "direct-plan.json") {
        return Kind::Direct;
    }
    let sweep = |key: &str| {
        let base = base_name(key);
        base.starts_with("sweep_") && base.ends_with(".log")
    };
    if has(&sweep) || has(&|key| super::owners::slurm_name(base_name(key)).is_some()) {
        return Kind::Slurm;
    }
    Kind::Plain
}

/// The last part of a key.
pub fn base_name(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

/// The text of a file that is small enough to be a plan or a configuration.
pub fn small_text(path: &Path) -> Option<String> {
    if std::fs::metadata(path).ok()?.len() > MAX_CONFIG {
        return None;
    }
    Some(String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned())
}

/// The value of `TZ=` in a command line or an environment entry, quotes removed.
fn assigned_tz(text: &str) -> Option<String> {
    let mut rest = text;
    while let Some(at) = rest.find("TZ=") {
        let before = rest[..at].chars().next_back();
        let value = &rest[at + 3..];
        if before.is_none_or(|c| c.is_ascii_whitespace() || matches!(c, '"' | '\'' | ';')) {
            let value = value.trim_start_matches(['"', '\'', ':']);
            let end = value.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '+' | '-' | ':'))).unwrap_or(value.len());
            if end > 0 {
                return Some(value[..end].to_string());
            }
        }
        rest = value;
    }
    None
}

/// Endpoints of a Tachometer configuration.
fn processes(text: &str, from: &str) -> Vec<Process> {
    let Ok(config) = text.parse::<toml::Table>() else { return Vec::new() };
    let Some(endpoints) = config.get("endpoints").and_then(|v| v.as_array()) else { return Vec::new() };
    let mut found = Vec::new();
    for endpoint in endpoints {
        let meta = endpoint.get("node_metadata");
        let text = |name: &str| meta.and_then(|m| m.get(name)).and_then(|v| v.as_str()).filter(|v| !v.is_empty());
        let url = endpoint.get("url").and_then(|v| v.as_str()).unwrap_or("");
        let name = endpoint.get("name").and_then(|v| v.as_str()).unwrap_or("");
        let role = match text("worker_role") {
            Some("agg") => "unified",
            Some(role @ ("prefill" | "decode")) => role,
            _ if text("router").is_some() || name == "router" => "router",
            _ if name.starts_with("frontend") => "frontend",
            _ => continue,
        };
        let index = text("worker_index").or_else(|| text("frontend_index")).and_then(|t| t.parse().ok());
        // A loopback address names no host.
        let host = text("hostname").filter(|h| !h.starts_with("127.") && *h != "localhost" && *h != "::1").map(String::from);
        found.push(Process { role: role.into(), index, host, port: port(url), from: from.into() });
    }
    found
}

fn port(url: &str) -> Option<u16> {
    let after = url.split_once("://").map_or(url, |(_, rest)| rest);
    after.split('/').next()?.rsplit_once(':')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tz_is_read_where_it_is_assigned() {
        assert_eq!(assigned_tz("env A=\"1\" TZ=\"America/New_York\" \\").as_deref(), Some("America/New_York"));
        assert_eq!(assigned_tz("bash -lc 'TZ=Asia/Tokyo python'").as_deref(), Some("Asia/Tokyo"));
        assert_eq!(assigned_tz("DYN_LOG_USE_LOCAL_TZ=1 x"), None);
        assert_eq!(assigned_tz("TZ="), None);
    }

    #[test]
    fn endpoints_give_the_topology() {
        let text = "[[endpoints]]\nname=\"router\"\nurl=\"http://h:8000/metrics\"\n[endpoints.node_metadata]\nrouter=\"dynamo\"\n[[endpoints]]\nname=\"worker_agg_1_0\"\nurl=\"http://h:7501/metrics\"\n[endpoints.node_metadata]\nworker_index=\"1\"\nworker_role=\"agg\"\nhostname=\"h\"\n";
        let found = processes(text, "tachometer.toml");
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].role.as_str(), found[0].port), ("router", Some(8000)));
        assert_eq!((found[1].role.as_str(), found[1].index, found[1].port), ("unified", Some(1), Some(7501)));
        assert!(processes("not toml [", "x").is_empty());
    }
}
