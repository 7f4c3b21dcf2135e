//! Whose artifact is each source: host, unit, worker, role.
//!
//! Best first: what `corr.toml` declares, what the records themselves say (the server's arguments, the envelope), what the run's plan says,
//! what the file is called. Each part keeps the best answer; `how` names where every part came from.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use corr_parsers::event::Value;

use super::Run;
use super::layout::{RunLayout, base_name};
use super::sample::Sample;
use super::source::{Class, Owner, Source};

/// Sets the owner of every source.
pub fn assign(run: &mut Run) {
    let layout = RunLayout::read(&run.sources);
    let mut open: Vec<(usize, bool)> = Vec::new();
    let mut engines: Vec<usize> = Vec::new();
    for i in 0..run.sources.len() {
        let source = &run.sources[i];
        if matches!(source.class, Class::Config(_)) {
            continue;
        }
        let said = run.declared.source(&source.key);
        let mut owner = Builder::default();
        owner.take("corr.toml", said.worker, said.role, said.host, said.unit);
        let content = of_content(source);
        let name = of_name(&source.key);
        owner.take("its records", None, content.role, content.host, content.unit);
        if let Some(name) = name.as_ref().filter(|n| n.worker.is_some()) {
            let process = layout.processes.iter().find(|p| named(name, &p.role, p.index)).or_else(|| {
                // `worker-1.log` with server arguments: the metrics port decides.
                content.port.and_then(|port| layout.processes.iter().find(|p| p.port == Some(port)))
            });
            if let Some(process) = process {
                owner.take(&process.from, None, Some(process.role.clone()), process.host.clone(), None);
            }
        }
        if let Some(name) = name {
            owner.take("its file name", name.worker, name.role, name.host, None);
        }
        open.push((i, content.role_is_open));
        if content.is_engine && owner.owner.role.is_none() {
            engines.push(i);
        }
        owner.owner.port = content.port;
        run.sources[i].owner = owner.finish(content.note);
    }
    let split = run.sources.iter().any(|s| s.owner.role.as_deref() == Some("prefill"));
    if split {
        for (i, _) in open.iter().filter(|(_, is_open)| *is_open) {
            let owner = &mut run.sources[*i].owner;
            if owner.role.as_deref() == Some("unified") {
                owner.role = Some("decode".into());
                owner.how.push_str(", decode as the run has prefill workers");
            }
        }
    }
    like_siblings(run);
    for i in engines {
        let owner = &mut run.sources[i].owner;
        if owner.role.is_none() && !split {
            owner.role = Some("unified".into());
            owner.how.push_str(", role by its records");
        }
    }
}

/// Files of one process share its role: a restarted worker's short log takes that of the log before.
fn like_siblings(run: &mut Run) {
    let folder = |key: &str| key.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_string());
    for i in 0..run.sources.len() {
        let own = &run.sources[i].owner;
        if own.role.is_some() || own.worker.is_none() {
            continue;
        }
        let mine = folder(&run.sources[i].key);
        let sibling = run
            .sources
            .iter()
            .find(|s| s.owner.worker == own.worker && s.owner.host == own.host && s.owner.role.is_some() && folder(&s.key) == mine);
        let Some((role, key)) = sibling.map(|s| (s.owner.role.clone(), s.key.clone())) else { continue };
        run.sources[i].owner.role = role;
        run.sources[i].owner.how.push_str(&format!(", role as {key}"));
    }
}

#[derive(Default)]
struct Builder {
    owner: Owner,
    parts: Vec<(&'static str, String)>,
}

impl Builder {
    /// Fills what is still open.
    fn take(&mut self, from: &str, worker: Option<String>, role: Option<String>, host: Option<String>, unit: Option<String>) {
        let owner = &mut self.owner;
        let slots = [
            ("worker", &mut owner.worker, worker),
            ("role", &mut owner.role, role),
            ("host", &mut owner.host, host),
            ("unit", &mut owner.unit, unit),
        ];
        for (part, slot, found) in slots {
            if slot.is_none() && found.is_some() {
                *slot = found;
                self.parts.push((part, from.to_string()));
            }
        }
    }

    fn finish(self, note: Option<String>) -> Owner {
        let mut owner = self.owner;
        let mut by_origin: Vec<(String, Vec<&str>)> = Vec::new();
        for (part, from) in self.parts {
            match by_origin.iter_mut().find(|(f, _)| *f == from) {
                Some((_, parts)) => parts.push(part),
                None => by_origin.push((from, vec![part])),
            }
        }
        let mut words: Vec<String> = by_origin.iter().map(|(from, parts)| format!("{} by {from}", parts.join(" and "))).collect();
        words.extend(note);
        owner.how = if words.is_empty() { "nothing names an owner".into() } else { words.join(", ") };
        owner
    }
}

/// What a file's name says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    pub worker: Option<String>,
    pub role: Option<String>,
    pub host: Option<String>,
    index: Option<u32>,
}

impl Named {
    /// Which one of its role.
    pub fn index(&self) -> Option<u32> {
        self.index
    }
}

fn named(name: &Named, role: &str, index: Option<u32>) -> bool {
    let same_role = name.role.as_deref() == Some(role) || (role == "router" && name.role.as_deref() == Some("frontend"));
    same_role && (index.is_none() || name.index == index)
}

/// The stem of a log's name: without packing, rotation and restart marks, so that all files of one process have one stem.
///
/// `w2.restart.log` → `w2`, `worker-0.log.1` → `worker-0`, `dynamo-request-trace.000000.jsonl.gz` → `dynamo-request-trace`.
pub fn stem(base: &str) -> &str {
    let mut stem = base;
    loop {
        let before = stem;
        for suffix in [
            ".gz",
            ".zst",
            ".log",
            ".out",
            ".err",
            ".txt",
            ".jsonl",
            ".json",
            ".restart",
            ".restarted",
            ".old",
            ".prev",
            ".stdout",
            ".stderr",
        ] {
            stem = stem.strip_suffix(suffix).filter(|s| !s.is_empty()).unwrap_or(stem);
        }
        // `.1`, `.000123`, `-000123`, `.2026-11-29`, `.2026-11-29_18`, `-20261129`.
        if let Some(at) = stem.rfind(['.', '-']) {
            let tail = &stem[at + 1..];
            let digits = tail.bytes().all(|b| b.is_ascii_digit() || b == b'_') && tail.bytes().next().is_some_and(|b| b.is_ascii_digit());
            if digits && at > 0 && (stem.as_bytes()[at] == b'.' || tail.len() >= 6) {
                stem = &stem[..at];
            } else if let Some(date) = stem.len().checked_sub(11).and_then(|at| stem.get(at..)).filter(|s| is_date(s)) {
                stem = stem.strip_suffix(date).filter(|s| !s.is_empty()).unwrap_or(stem);
            } else if let Some(date) = stem.len().checked_sub(14).and_then(|at| stem.get(at..)).filter(|s| s.get(..11).is_some_and(is_date))
            {
                stem = stem.strip_suffix(date).filter(|s| !s.is_empty()).unwrap_or(stem);
            }
        }
        if stem == before {
            return stem;
        }
    }
}

/// `.2026-11-29` or `-2026-11-29`.
fn is_date(text: &str) -> bool {
    let shape = b"-dddd-dd-dd";
    text.len() == shape.len()
        && text.bytes().zip(shape).all(|(b, s)| match s {
            b'd' => b.is_ascii_digit(),
            _ => b == *s || b == b'.',
        })
}

/// `<node>_<mode>_w<i>` and `<node>_frontend_<i>`, `<node>_router_<i>` of a SLURM run's `.out` and `.err` files.
pub fn slurm_name(base: &str) -> Option<Named> {
    if !base.contains(".out") && !base.contains(".err") {
        return None;
    }
    let (rest, last) = stem(base).rsplit_once('_')?;
    let (node, mode) = rest.rsplit_once('_')?;
    let role = match mode {
        "agg" => "unified",
        "prefill" | "decode" | "frontend" | "router" => mode,
        _ => return None,
    };
    let index: u32 = last.strip_prefix('w').unwrap_or(last).parse().ok()?;
    let worker = if role == "unified" { format!("worker-{index}") } else { format!("{role}-{index}") };
    Some(Named { worker: Some(worker), role: Some(role.into()), host: Some(node.into()), index: Some(index) })
}

/// What a key says by its name alone; `None` if nothing.
pub fn of_name(key: &str) -> Option<Named> {
    let base = base_name(key);
    if let Some(named) = slurm_name(base) {
        return Some(named);
    }
    let stem = stem(base);
    let role_only = |role: &str| Some(Named { role: Some(role.into()), ..Named::default() });
    let (word, index) = split_index(stem);
    let worker = |worker: String, role: Option<&str>| Some(Named { worker: Some(worker), role: role.map(String::from), host: None, index });
    let numbered = |name: &str| match index {
        Some(i) => format!("{name}-{i}"),
        None => name.to_string(),
    };
    match word {
        "worker" | "worker-agg" => worker(numbered("worker"), Some("unified")),
        "worker-prefill" | "prefill" => worker(numbered("prefill"), Some("prefill")),
        "worker-decode" | "decode" => worker(numbered("decode"), Some("decode")),
        "router" | "frontend" => worker(numbered(word), Some(word)),
        "smg" => worker("router".into(), Some("router")),
        // Short names say which process it is; what it does, only its records or the plan.
        "w" | "p" | "d" if index.is_some() => worker(stem.into(), None),
        "server" => worker(numbered("server"), None),
        "dynamo-request-trace" | "request-trace" | "dynamo-agent-trace" | "agent-trace" | "dynamo-audit" | "audit" => role_only("frontend"),
        "aiperf" | "benchmark" | "client" => role_only("client"),
        "nats" | "etcd" | "setup" | "install-sglang" | "install-dynamo" | "mooncake-master" | "mooncake_master" | "infra"
        | "tachometer" | "ruter" | "readiness" | "scrape" | "kvsub" => role_only("infra"),
        _ if stem.starts_with("sweep_") => role_only("infra"),
        _ => None,
    }
}

/// `worker-prefill-3` → (`worker-prefill`, 3); `w2` → (`w`, 2); `router` → (`router`, none).
fn split_index(stem: &str) -> (&str, Option<u32>) {
    let digits = stem.bytes().rev().take_while(u8::is_ascii_digit).count();
    let word = &stem[..stem.len() - digits];
    match stem[word.len()..].parse() {
        Ok(index) => (word.strip_suffix(['-', '_']).unwrap_or(word), Some(index)),
        Err(_) => (stem, None),
    }
}

#[derive(Default)]
struct Content {
    role: Option<String>,
    host: Option<String>,
    unit: Option<String>,
    port: Option<u16>,
    note: Option<String>,
    /// Its records say `backend`: decode if the run has prefill workers, else the whole engine.
    role_is_open: bool,
    /// It is an engine, of a role that its records do not say.
    is_engine: bool,
}

/// What the first records say.
fn of_content(source: &Source) -> Content {
    let mut found = Content::default();
    let mut hosts: BTreeMap<String, usize> = BTreeMap::new();
    let mut units: BTreeMap<String, usize> = BTreeMap::new();
    let (mut frontend, mut worker) = (0usize, 0usize);
    let mut component: Option<String> = None;
    let mut server_args = false;
    Sample::read(source).each(source, |record, event| {
        if let Some(meta) = record.meta {
            count(&mut hosts, &meta.host);
            count(&mut units, &meta.unit);
        }
        let format = record.format.map_or("", |f| f.name);
        match event.kind.name {
            "server_args" => {
                server_args = true;
                found.role = Some(match text(event.get("disaggregation_mode")) {
                    Some(mode @ ("prefill" | "decode")) => mode.to_string(),
                    _ => "unified".to_string(),
                });
                if let Some(Value::Int(port)) = event.get("port") {
                    found.port = u16::try_from(*port).ok();
                }
            }
            "worker_request_received" if text(event.get("endpoint")) == Some("generate") => {
                worker += 1;
                component = component.take().or_else(|| text(event.get("component")).map(String::from));
            }
            "kv_event_recorded" | "worker_startup" => found.is_engine = true,
            "request_received" | "worker_selected" | "http_response" if format.starts_with("dynamo") => frontend += 1,
            _ => {}
        }
        // One line of arguments settles a server's role; a file of many units is read to the sample's end.
        if server_args && record.meta.is_none() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if found.role.is_none() && worker > frontend {
        found.role = Some(match component.as_deref() {
            Some("prefill") => "prefill".into(),
            Some("decode") => "decode".into(),
            // `backend` is the decode side of a split deployment and the whole of any other: the records do not say which.
            _ => "unified".into(),
        });
        found.role_is_open = component.as_deref() == Some("backend");
    }
    if found.role.is_none() && frontend > 0 {
        found.role = Some("frontend".into());
    }
    found.host = only(&hosts);
    found.unit = only(&units);
    if units.len() > 1 {
        // Several processes share this source; each record's own unit says whose it is.
        found.role = None;
        let names: Vec<&str> = units.keys().take(4).map(String::as_str).collect();
        let more = if units.len() > 4 { ", …" } else { "" };
        found.note = Some(format!("{} units: {}{more}", units.len(), names.join(", ")));
    }
    found
}

fn count(into: &mut BTreeMap<String, usize>, name: &str) {
    if name.is_empty() {
        return;
    }
    if let Some(n) = into.get_mut(name) {
        *n += 1;
    } else if into.len() < 64 {
        into.insert(name.to_string(), 1);
    }
}

fn only(names: &BTreeMap<String, usize>) -> Option<String> {
    if names.len() == 1 { names.keys().next().cloned() } else { None }
}

fn text<'a>(value: Option<&'a Value<'_>>) -> Option<&'a str> {
    match value {
        Some(Value::Str(text)) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_process_have_one_stem() {
        for (base, want) in [
            ("worker-0.log", "worker-0"),
            ("worker-0.log.1", "worker-0"),
            ("worker-0.log.2.gz", "worker-0"),
            ("w2.restart.log", "w2"),
            ("frontend.log.gz", "frontend"),
            ("server.stderr.log", "server"),
            ("dynamo-request-trace.000000.jsonl.gz", "dynamo-request-trace"),
            ("decode-000123.log", "decode"),
            ("smg.2026-11-29", "smg"),
            ("vm_0.log.2026-11-29_18", "vm_0"),
            (".log", ".log"),
            ("1", "1"),
        ] {
            assert_eq!(stem(base), want, "{base}");
        }
    }

    #[test]
    fn names_of_both_layouts() {
        let say = |key: &str| of_name(key).map(|n| (n.worker.unwrap_or_default(), n.role.unwrap_or_default(), n.host.unwrap_or_default()));
        let want = |a: &str, b: &str, c: &str| Some((a.to_string(), b.to_string(), c.to_string()));
        assert_eq!(say("logs/worker-1.log"), want("worker-1", "unified", ""));
        assert_eq!(say("logs/worker-prefill-0.log"), want("prefill-0", "prefill", ""));
        assert_eq!(say("logs/worker-decode-2.log.1"), want("decode-2", "decode", ""));
        assert_eq!(say("logs/node01_agg_w1.out"), want("worker-1", "unified", "node01"));
        assert_eq!(say("logs/gpu-7_decode_w0.err"), want("decode-0", "decode", "gpu-7"));
        assert_eq!(say("logs/node01_frontend_0.out"), want("frontend-0", "frontend", "node01"));
        assert_eq!(say("router.log"), want("router", "router", ""));
        assert_eq!(say("w2.restart.log"), want("w2", "", ""));
        assert_eq!(say("artifacts/dynamo-request-trace.000000.jsonl.gz"), want("", "frontend", ""));
        assert_eq!(say("notes.txt"), None);
    }
    proptest::proptest! {
        #[test]
        fn any_name_is_read(key in ".{0,60}", rest in "[a-z_.0-9-]{0,40}") {
            for key in [key.as_str(), rest.as_str()] {
                let _ = of_name(key);
                proptest::prop_assert!(key.is_empty() || !stem(key).is_empty());
            }
        }
    }
}
