//! Facts that a run's records say, read in one pass over its sources.

use std::collections::HashMap;
use std::ops::ControlFlow;

use corr_parsers::event::{Event, Value};
use corr_parsers::record::Record;
use corr_parsers::stamp::Stamp;
use corr_parsers::{json, secret};
use rayon::prelude::*;

use super::ends::{self, End};
use super::whose::{self, Whose};
use super::{Basis, Cite, Fact, Who, command, files, leaves, masked};
use crate::query::extent;
use crate::query::sources::{Asked, Sources};
use crate::run::events::{self, Start};
use crate::run::source::NotRead;
use crate::run::versions::{self, Hint};

/// What the records of a run say.
#[derive(Default)]
pub struct Said {
    pub facts: Vec<Fact>,
    pub starts: Vec<Begun>,
    /// What the records' looks say of their programs' versions.
    pub hints: Vec<(&'static Hint, Cite)>,
    /// What drivers and load generators say of the end of a benchmark.
    pub ends: Vec<End>,
    /// A part of a source says more than is kept.
    pub cut: bool,
}

/// The start of a process: whose it is, the kind of the record that shows it, and when that was.
#[derive(Clone, Debug)]
pub struct Begun {
    pub who: Who,
    pub kind: &'static str,
    pub cite: Cite,
    pub stamp: Option<Stamp>,
}

/// Different values of one fact that one part of a source says: more are no configuration.
const MAX_VALUES: usize = 16;
/// Names of facts, starts and ends that a part of a source says: more are no log of a run.
const MAX_SAID: usize = 20_000;
/// Records of a kind of which the version is asked, a part of a source.
const MAX_HINTS: u32 = 8;

/// Reads all sources.
pub fn read(sources: &Sources, whose: &Whose<'_>) -> (Said, Vec<NotRead>) {
    let of = |source: &Asked| match source.bytes() {
        Ok(bytes) => Ok(of_source(source, bytes, whose)),
        Err(why) => Err(NotRead { name: source.name.clone(), why: why.to_string(), next: String::new(), failure: true }),
    };
    let all: Vec<Result<Said, NotRead>> = sources.sources.par_iter().map(of).collect();
    let mut said = Said::default();
    let mut not_read = Vec::new();
    for (source, one) in sources.sources.iter().zip(all) {
        match one {
            Ok(one) => {
                if one.cut {
                    let why = format!("says more than {MAX_SAID} facts, starts or ends in a part of it; the rest is not kept");
                    not_read.push(NotRead { name: source.name.clone(), why, next: String::new(), failure: true });
                }
                said.facts.extend(one.facts);
                said.starts.extend(one.starts);
                said.ends.extend(one.ends);
                said.hints.extend(one.hints);
            }
            Err(why) => not_read.push(why),
        }
    }
    for source in &sources.sources {
        if let Some(damage) = source.damage() {
            not_read.push(NotRead { name: source.name.clone(), why: damage.to_string(), next: String::new(), failure: true });
        }
    }
    (said, not_read)
}

fn of_source(source: &Asked, bytes: &[u8], whose: &Whose<'_>) -> Said {
    let part = |(from, to): (usize, usize)| {
        let mut part = Part::new(source, whose);
        events::each(bytes, &source.layout, source.timing(), Start { offset: from, line: 1, order: None }, to, |record, event, facts| {
            part.take(record, event, facts);
            ControlFlow::Continue(())
        });
        (part, events::count_lines(bytes.get(from..to).unwrap_or_default()))
    };
    let parts: Vec<(Part<'_>, u64)> = extent::parts(bytes, 0, source).into_par_iter().map(part).collect();
    let mut out = Said::default();
    let mut lines = 0;
    for (part, has) in parts {
        let Said { facts, starts, ends, hints, cut } = part.said;
        out.cut |= cut;
        let moved = |mut cite: Cite| {
            cite.line += lines;
            cite
        };
        for mut fact in facts {
            fact.cites = fact.cites.into_iter().map(moved).collect();
            // Another part of the source has said so.
            if !out.facts.iter().any(|f| (&f.name, &f.value, &f.worker) == (&fact.name, &fact.value, &fact.worker)) {
                out.facts.push(fact);
            }
        }
        out.starts.extend(starts.into_iter().map(|start| Begun { cite: moved(start.cite), ..start }));
        out.hints.extend(hints.into_iter().map(|(hint, cite)| (hint, moved(cite))));
        out.ends.extend(ends.into_iter().map(|end| End { cite: moved(end.cite), ..end }));
        lines += has;
    }
    out
}

struct Part<'s> {
    source: &'s Asked,
    whose: &'s Whose<'s>,
    said: Said,
    /// Of the record that is read.
    stamp: Option<Stamp>,
    /// Values of a fact that were seen.
    seen: HashMap<(String, Option<String>), Vec<Value<'static>>>,
    asked: HashMap<&'static str, u32>,
    /// The driver's `Env:` and `Command:` lines, whose `Log:` line comes last.
    launch: Vec<(String, u64)>,
}

impl<'s> Part<'s> {
    fn new(source: &'s Asked, whose: &'s Whose<'s>) -> Part<'s> {
        Part { source, whose, said: Said::default(), stamp: None, seen: HashMap::new(), asked: HashMap::new(), launch: Vec::new() }
    }

    fn who(&self, record: &Record<'_>) -> Who {
        let mut who = whose::of_source(self.source);
        if self.source.owner.worker.is_none()
            && let Some(meta) = record.meta.filter(|m| !m.unit.is_empty())
        {
            who.worker = Some(meta.unit.clone());
        }
        who
    }

    fn cite(&self, line: u64) -> Cite {
        Cite { name: self.source.name.clone(), line, key: None }
    }

    fn start(&mut self, who: &Who, kind: &'static str, cite: Cite) {
        if self.said.starts.len() < MAX_SAID {
            self.said.starts.push(Begun { who: who.clone(), kind, cite, stamp: self.stamp });
        } else {
            self.said.cut = true;
        }
    }

    fn add(&mut self, fact: Fact) {
        if self.said.facts.len() >= MAX_SAID {
            self.said.cut = true;
            return;
        }
        let seen = self.seen.entry((fact.name.clone(), fact.worker.clone())).or_default();
        if seen.len() < MAX_VALUES && !seen.contains(&fact.value) {
            seen.push(fact.value.clone());
            self.said.facts.push(fact);
        }
    }

    fn put(&mut self, name: &str, value: Value<'static>, who: &Who, line: u64) {
        if !matches!(&value, Value::Str(text) if matches!(text.as_ref(), "" | "None")) {
            let cite = self.cite(line);
            self.add(Fact::new(name, value, who, Basis::Record, cite));
        }
    }

    /// A field of the event, under the name of a fact.
    fn field(&mut self, event: &Event<'_>, field: &str, name: &str, who: &Who, line: u64) {
        if let Some(value) = event.get(field) {
            self.put(name, value.clone().into_owned(), who, line);
        }
    }

    fn take(&mut self, record: &Record<'_>, event: &Event<'_>, facts: &events::Facts) {
        let kind = event.kind.name;
        self.stamp = facts.stamp;
        let asked = self.asked.entry(kind).or_default();
        if *asked < MAX_HINTS {
            *asked += 1;
            if let Some(hint) = versions::of(record, event)
                && !self.said.hints.iter().any(|(known, _)| std::ptr::eq(*known, hint))
            {
                let cite = self.cite(facts.line);
                self.said.hints.push((hint, cite));
            }
        }
        if let Some(end) = ends::of(event, facts, &self.source.name) {
            if self.said.ends.len() < MAX_SAID {
                self.said.ends.push(end);
            } else {
                self.said.cut = true;
            }
        }
        match kind {
            "server_args" | "scheduler_sized" | "kv_cache_allocated" | "hicache_allocated" | "hicache_storage" | "tree_cache" => {
                self.sglang(record, event, facts.line);
            }
            "runtime_config" | "config_dump" | "trace_config" | "router_config" | "migration_config" | "rejection_config"
            | "worker_startup" | "worker_set" | "worker_selected" | "routing_input" => self.dynamo(record, event, facts.line),
            "request_end" => {
                let who = self.who(record);
                self.field(event, "trace_block_size", "block_size", &who, facts.line);
                self.field(event, "model", "model", &Who::default(), facts.line);
            }
            "gateway_start" | "gateway_policy" => self.gateway(record, event, facts.line),
            "run_fact" | "run_started" | "driver_log" => self.driver(record, event, facts.line),
            "bench_result" => self.result(event, facts.line),
            _ => {}
        }
    }

    fn sglang(&mut self, record: &Record<'_>, event: &Event<'_>, line: u64) {
        let who = self.who(record);
        match event.kind.name {
            "server_args" => {
                let cite = self.cite(line);
                self.start(&who, event.kind.name, cite.clone());
                let mut found = Vec::new();
                for field in &event.fields {
                    files::argument(&field.name, field.value.clone().into_owned(), &who, Basis::Record, cite.clone(), &mut found);
                }
                // Not among the parser's fields: free JSON inside of the line.
                if let Some(threshold) = prefetch_threshold(record.payload) {
                    let mut fact = Fact::new("hicache_prefetch_threshold", threshold, &who, Basis::Record, cite);
                    fact.note = Some("in hicache_storage_backend_extra_config".into());
                    found.push(fact);
                }
                found.into_iter().for_each(|fact| self.add(fact));
            }
            "scheduler_sized" => {
                self.field(event, "max_total_num_tokens", "kv_pool_tokens", &who, line);
                self.field(event, "context_len", "context_length", &who, line);
            }
            // Of a hybrid model it says one pool of several.
            "kv_cache_allocated" => self.field(event, "tokens", "kv_pool_tokens", &who, line),
            "hicache_allocated" => self.field(event, "tokens", "hicache_host_pool_tokens", &who, line),
            "hicache_storage" if event.get("class").is_some() => {
                self.field(event, "storage_backend", "hicache_storage_backend", &who, line);
            }
            "tree_cache" => {
                self.field(event, "impl", "tree_cache", &who, line);
                // Earlier versions call it `hierarchical`. A decode server attaches a host pool with the switch off.
                self.field(event, "hicache_attached", "hicache_attached", &who, line);
                self.field(event, "hierarchical", "hicache_attached", &who, line);
            }
            _ => {}
        }
    }

    fn dynamo(&mut self, record: &Record<'_>, event: &Event<'_>, line: u64) {
        let who = self.who(record);
        let said = message(record, event);
        let text = said.as_str();
        match event.kind.name {
            "runtime_config" => {
                if let Some(rest) = text.strip_prefix("dynamo runtime configuration:") {
                    let cite = self.cite(line);
                    self.start(&who, event.kind.name, cite);
                    match after(rest, "system_port=") {
                        Some(port) => self.put("system_port", leaves::typed(port), &who, line),
                        None => self.field(event, "system_port", "system_port", &who, line),
                    }
                }
                if let Some(rest) = text.strip_prefix("OpenTelemetry OTLP export ") {
                    self.put("otlp_export", Value::Bool(rest.starts_with("enabled")), &who, line);
                }
            }
            "config_dump" => self.dump(text, &who, line),
            "trace_config" => self.traces(event, text, &who, line),
            "router_config" => {
                for (field, name) in [
                    ("queue_policy", "router_queue_policy"),
                    ("prefill_busy_threshold", "router_prefill_busy_threshold"),
                    ("prefill_busy_threshold_frac", "router_prefill_busy_threshold_frac"),
                ] {
                    self.field(event, field, name, &who, line);
                }
            }
            "migration_config" => {
                if let Some(limit) = text.strip_prefix("Request migration ").and_then(|t| after(t, "(limit: ")) {
                    self.put("migration_limit", leaves::typed(limit), &who, line);
                }
            }
            "rejection_config" => {
                if let Some(rest) = text.strip_prefix("busy-worker rejection ") {
                    let on = rest.split([':', ' ']).next().unwrap_or("").to_string();
                    self.put("busy_rejection", Value::Str(on.into()), &who, line);
                }
            }
            "worker_startup" => self.worker(event, text, &who, line),
            "worker_set" => {
                // `Adding worker set to model` is of the model that is served.
                self.field(event, "model", "model", &Who::default(), line);
            }
            "worker_selected" => self.field(event, "router_mode", "router_mode", &who, line),
            "routing_input" => self.field(event, "block_size", "block_size", &who, line),
            _ => {}
        }
    }

    /// The configuration of a Dynamo process as it prints it at debug level, with its environment and its packages.
    fn dump(&mut self, text: &str, who: &Who, line: u64) {
        let Some(dump) = text.strip_prefix("CONFIG_DUMP: ") else { return };
        let all = leaves::of_json(dump);
        let mut found = Vec::new();
        for leaf in &all.all {
            let cite = Cite { key: Some(leaf.path.clone()), ..self.cite(line) };
            match leaf.path.split_once('.') {
                None if leaf.path == "dynamo_version" => {
                    found.push(Fact::new("dynamo_version", leaf.value.clone(), who, Basis::Record, cite));
                }
                Some(("config", name)) => files::argument(name, leaf.value.clone(), who, Basis::Record, cite, &mut found),
                Some(("environment", name)) => files::variable(name, &leaf.value.to_string(), who, Basis::Record, cite, &mut found),
                Some(("installed_packages", "sglang")) => {
                    found.push(Fact::new("sglang_version", leaf.value.clone(), who, Basis::Record, cite));
                }
                _ => {}
            }
        }
        found.into_iter().for_each(|fact| self.add(fact));
    }

    fn traces(&mut self, event: &Event<'_>, text: &str, who: &Who, line: u64) {
        let name = if text.starts_with("Request trace initialized") || text.starts_with("Agent trace initialized") {
            "request_trace"
        } else if text.starts_with("Audit initialized") {
            "audit"
        } else {
            return;
        };
        // From 1.4 on an audit is the payload rows of the request trace, which may be all that it has.
        match event.get("records") {
            Some(Value::Str(records)) if name == "request_trace" => {
                self.put("request_trace", Value::Bool(records.contains("request_end")), who, line);
                self.put("audit", Value::Bool(records.contains("request_payload")), who, line);
            }
            _ => self.put(name, Value::Bool(true), who, line),
        }
        for field in ["records", "sinks", "file_format", "capacity"] {
            self.field(event, field, &format!("{name}_{field}"), who, line);
        }
    }

    fn worker(&mut self, event: &Event<'_>, text: &str, who: &Who, line: u64) {
        if let Some(path) = text.strip_prefix("Using local model path: ") {
            self.put("model_path", Value::Str(path.trim_end().to_string().into()), who, line);
        }
        if text.starts_with("Creating mocker engine with config: ") || text.starts_with("MockEngineArgs: ") {
            self.put("engine", Value::Str("mocker".into()), who, line);
            for (key, name) in [
                ("num_gpu_blocks", "kv_pool_blocks"),
                ("block_size", "block_size"),
                ("max_num_seqs", "max_running_requests"),
                ("max_num_batched_tokens", "max_num_batched_tokens"),
                ("num_host_blocks", "host_blocks"),
                ("dp_size", "dp_size"),
                ("backend", "engine_type"),
            ] {
                if let Some(value) = debug_value(text, key) {
                    let value = if key == "backend" { snake(value) } else { value.to_string() };
                    self.put(name, leaves::typed(&value), who, line);
                }
            }
        }
        if text.starts_with("Initializing KV event publisher") {
            self.put("use_kv_events", Value::Bool(true), who, line);
            if let Some(size) = after(text, "block_size ") {
                self.put("block_size", leaves::typed(size), who, line);
            }
            self.field(event, "block_size", "block_size", who, line);
        }
    }

    fn gateway(&mut self, record: &Record<'_>, event: &Event<'_>, line: u64) {
        let who = self.who(record);
        let text = message(record, event);
        if text.starts_with("Starting router on ") {
            let cite = self.cite(line);
            self.start(&who, event.kind.name, cite);
            if let Some(Value::Str(mode)) = event.get("mode") {
                let mode = mode.split([' ', '{']).next().unwrap_or("").to_string();
                self.put("router_deployment", Value::Str(mode.into()), &who, line);
            }
        }
        let Some(Value::Str(policy)) = event.get("policy") else { return };
        let (name, inner) = policy.split_once('{').unwrap_or((policy, ""));
        self.put("router_policy", Value::Str(snake(name.trim()).into()), &who, line);
        for (key, value) in inner.trim_end_matches(['}', ' ']).split(',').filter_map(|pair| pair.split_once(':')) {
            self.put(key.trim(), leaves::typed(value.trim()), &who, line);
        }
    }

    fn driver(&mut self, record: &Record<'_>, event: &Event<'_>, line: u64) {
        let nobody = Who::default();
        self.field(event, "job_id", "job_id", &nobody, line);
        self.field(event, "run_name", "run_name", &nobody, line);
        let text = message(record, event);
        if let Some(environment) = text.strip_prefix("Env: ") {
            self.launch.push((environment.to_string(), line));
        } else if let Some(command) = text.strip_prefix("Command: ") {
            self.launch.push((command.to_string(), line));
        } else if let Some(log) = text.strip_prefix("Log: ") {
            let who = self.whose.of_file(log.trim_end()).unwrap_or_default();
            let mut found = Vec::new();
            for (text, line) in std::mem::take(&mut self.launch) {
                let command = command::of_text(&masked(&text));
                files::launched(&command, &who, Basis::Launch, &|_| self.cite(line), &mut found);
            }
            found.into_iter().for_each(|fact| self.add(fact));
        }
    }

    fn result(&mut self, event: &Event<'_>, line: u64) {
        let nobody = Who::default();
        for (field, name) in [
            ("max_concurrency", "load_concurrency"),
            ("request_rate", "load_request_rate"),
            ("random_input_len", "load_isl"),
            ("random_output_len", "load_osl"),
            ("num_prompts", "load_requests"),
            ("dataset_name", "load_dataset"),
            ("model", "model"),
        ] {
            self.field(event, field, name, &nobody, line);
        }
    }
}

/// A record's message as the program meant it: of a JSON record its `message`, unescaped; credentials are masked.
fn message(record: &Record<'_>, event: &Event<'_>) -> String {
    let inner = (record.payload.first() == Some(&b'{')).then(|| json::find(record.payload, b"message")).flatten();
    let text = match inner.and_then(|m| json::text(m.value)) {
        Some(text) => text.into_owned(),
        None => String::from_utf8_lossy(record.payload.get(event.message.clone()).unwrap_or_default()).into_owned(),
    };
    if secret::find(text.as_bytes()).is_empty() { text } else { masked(&text) }
}

/// What stands behind a word, to the next blank, comma or bracket.
fn after<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let rest = text.get(text.find(word)? + word.len()..)?;
    let end = rest.find([' ', ',', ')', '}', ']']).unwrap_or(rest.len());
    rest.get(..end).filter(|value| !value.is_empty())
}

/// The value of a key in a structure as Rust or Python prints it: `num_gpu_blocks: 512`, `'num_gpu_blocks': 256`, `Some(32)`.
fn debug_value<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let mut from = 0;
    while let Some(found) = text.get(from..)?.find(key) {
        let at = from + found;
        from = at + key.len();
        let before = text.get(..at)?.chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = text.get(from..)?.trim_start_matches(['\'', '"']);
        let Some(rest) = rest.strip_prefix(": ") else { continue };
        let rest = rest.strip_prefix("Some(").unwrap_or(rest);
        let end = rest.find([',', ')', '}', ' ']).unwrap_or(rest.len());
        return rest.get(..end).filter(|v| !v.is_empty() && *v != "None");
    }
    None
}

/// `prefetch_threshold` of the free JSON in a server's arguments.
fn prefetch_threshold(payload: &[u8]) -> Option<Value<'static>> {
    let at = memchr::memmem::find(payload, b"hicache_storage_backend_extra_config")?;
    let near = payload.get(at..payload.len().min(at + 4096))?;
    let key = memchr::memmem::find(near, b"\"prefetch_threshold\"")?;
    // It must be in this argument, which ends before the next one begins.
    if memchr::memmem::find(near, b", 'hicache").or_else(|| memchr::memmem::find(near, b", hicache")).is_some_and(|next| next < key) {
        return None;
    }
    let rest = near.get(key + b"\"prefetch_threshold\"".len()..)?;
    let rest = rest.iter().position(|b| !matches!(b, b':' | b' ')).and_then(|n| rest.get(n..))?;
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let text = std::str::from_utf8(rest.get(..digits)?).ok()?;
    text.parse().ok().map(Value::Int)
}

/// `CacheAware` → `cache_aware`, as the option spells it.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_printed_structures() {
        let rust =
            "EngineConfig { max_num_seqs: 16, x_block_size: 9, block_size: 16, l: None, m: Some(32), n: Some(H { num_host_blocks: 512 }) }";
        assert_eq!(debug_value(rust, "block_size"), Some("16"));
        assert_eq!(debug_value(rust, "m"), Some("32"));
        assert_eq!(debug_value(rust, "num_host_blocks"), Some("512"));
        assert_eq!(debug_value(rust, "l"), None);
        assert_eq!(debug_value("{'num_gpu_blocks': 256, 'a': 1}", "num_gpu_blocks"), Some("256"));
        assert_eq!(after("enabled (limit: 3)", "(limit: "), Some("3"));
        assert_eq!((snake("CacheAware").as_str(), snake("cache_aware").as_str()), ("cache_aware", "cache_aware"));
    }

    #[test]
    fn a_threshold_is_read_from_its_own_argument_alone() {
        let line = br#"{'hicache_storage_backend_extra_config': '{"prefetch_threshold": 32}', 'hicache_x': 1}"#;
        assert_eq!(prefetch_threshold(line), Some(Value::Int(32)));
        let other = br#"{'hicache_storage_backend_extra_config': None, 'hicache_x': '{"prefetch_threshold": 32}'}"#;
        assert_eq!(prefetch_threshold(other), None);
    }
}
