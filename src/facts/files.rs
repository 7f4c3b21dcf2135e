//! Facts of a run's plans, recipes, configuration files and launch commands.

use corr_parsers::event::Value;

use super::command::{self, Command};
use super::leaves::{self, Leaf, Leaves};
use super::whose::{self, Whose};
use super::{Basis, Cite, Fact, Who, known, masked};
use crate::run::layout::base_name;

/// A small file of a run, whole.
pub struct File<'a> {
    /// As printed.
    pub name: &'a str,
    /// Below the run's root.
    pub key: &'a str,
    pub text: String,
}

/// Is this a file that may say facts? By its name alone.
pub fn is_asked(key: &str) -> bool {
    let base = base_name(key);
    let extension = base.rsplit_once('.').map_or("", |(_, e)| e);
    matches!(base, "direct-plan.json" | "command.json" | "commands.txt") || matches!(extension, "command" | "toml" | "yaml" | "yml")
}

/// Reads a file's facts. Gives what of it could not be understood.
pub fn read(file: &File<'_>, whose: &Whose<'_>, out: &mut Vec<Fact>) -> Option<String> {
    let text = masked(&file.text);
    let reader = Reader { name: file.name, key: file.key, whose };
    let base = base_name(file.key);
    if let Some(log) = file.key.strip_suffix(".command") {
        let who = whose.of_key(log).or_else(|| whose.of_file(log)).unwrap_or_default();
        reader.launch(&text, 1, None, &who, Basis::Launch, out);
        return None;
    }
    let leaves = match base.rsplit_once('.').map_or("", |(_, e)| e) {
        "json" => leaves::of_json(&text),
        "toml" => leaves::of_toml(&text),
        "yaml" | "yml" => leaves::of_yaml(&text),
        _ => {
            reader.commands_txt(&text, out);
            return None;
        }
    };
    match base {
        "direct-plan.json" => reader.plan(&leaves, out),
        "command.json" => reader.command_json(&leaves, out),
        _ if base.ends_with(".toml") && leaves.has("endpoints") => reader.tachometer(&leaves, out),
        _ if leaves.has("scrape_configs") => reader.prometheus(&leaves, out),
        _ if is_recipe(&leaves) => reader.recipe(&leaves, out),
        // A file of something else: its damage is no loss.
        _ if base != "direct-plan.json" && leaves.all.is_empty() => return None,
        _ => {}
    }
    leaves.damage
}

fn is_recipe(leaves: &Leaves) -> bool {
    ["model", "backend", "resources", "benchmark", "frontend"].iter().filter(|key| leaves.has(key)).count() >= 2
}

/// What a command says: of a server its options and environment, of a load generator the load.
pub fn launched(command: &Command, who: &Who, basis: Basis, cite: &dyn Fn(u64) -> Cite, out: &mut Vec<Fact>) {
    if who.role.as_deref() == Some("client") {
        return load(command, basis, cite, out);
    }
    if who.role.as_deref() == Some("infra") {
        return;
    }
    let role = who.role.clone().or_else(|| whose::role_of(&command.program).map(String::from)).or_else(|| {
        let mode = command.options.iter().find(|o| o.name == "disaggregation-mode")?;
        mode.value.clone().filter(|m| matches!(m.as_str(), "prefill" | "decode"))
    });
    let who = Who { worker: who.worker.clone(), role };
    for part in &command.environment {
        variable(&part.name, part.value.as_deref().unwrap_or(""), &who, basis, cite(part.line), out);
    }
    for part in &command.options {
        option(&part.name, part.value.as_deref(), &who, basis, cite(part.line), out);
    }
}

/// One variable of a process's environment.
pub fn variable(name: &str, value: &str, who: &Who, basis: Basis, cite: Cite, out: &mut Vec<Fact>) {
    if !known::is_variable(name) || value.is_empty() {
        return;
    }
    if name == "DYN_REQUEST_TRACE" {
        let on = matches!(value.to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on");
        let mut fact = Fact::new("request_trace", Value::Bool(on), who, basis, cite.clone());
        fact.note = Some(format!("DYN_REQUEST_TRACE={}", masked(value)));
        out.push(fact);
    }
    out.push(Fact::new(name, leaves::typed(value), who, basis, cite));
}

/// One option or argument of a process; `None` is a switch that is set.
pub fn option(raw: &str, value: Option<&str>, who: &Who, basis: Basis, cite: Cite, out: &mut Vec<Fact>) {
    let (name, value) = match (raw.strip_prefix("no-"), value) {
        (Some(off), None) if known::of_process(off).is_some() => (off, Value::Bool(false)),
        (_, None) => (raw, Value::Bool(true)),
        (_, Some(value)) => (raw, leaves::typed(value)),
    };
    argument(name, value, who, basis, cite, out);
}

/// The same with its value read. What stands inside of HiCache's free configuration is a fact of its own.
pub fn argument(raw: &str, value: Value<'static>, who: &Who, basis: Basis, cite: Cite, out: &mut Vec<Fact>) {
    let Some((name, _)) = known::of_process(raw) else { return };
    if let Value::Str(text) = &value {
        // `disaggregation_mode='null'` is SGLang's word for a server that does both.
        if matches!(text.as_ref(), "" | "None") || (text == "null" && name != "disaggregation_mode") {
            return;
        }
        if name == "hicache_storage_backend_extra_config"
            && let Some(inner) = leaves::of_json(text).get("prefetch_threshold")
        {
            let mut fact = Fact::new("hicache_prefetch_threshold", inner.value.clone(), who, basis, cite.clone());
            fact.note = Some("in hicache_storage_backend_extra_config".into());
            out.push(fact);
        }
    }
    out.push(Fact::new(name, value, who, basis, cite));
}

fn load(command: &Command, basis: Basis, cite: &dyn Fn(u64) -> Cite, out: &mut Vec<Fact>) {
    let nobody = Who::default();
    out.push(Fact::new("load_command", Value::Str(command.text.clone().into()), &nobody, basis, cite(0)));
    for part in &command.options {
        let Some(value) = part.value.as_deref().map(leaves::typed) else { continue };
        let number = !matches!(value, Value::Str(_) | Value::Bool(_));
        if let Some(name) = known::of_load(&part.name, number) {
            out.push(Fact::new(name, value, &nobody, basis, cite(part.line)));
        }
    }
}

struct Reader<'a> {
    name: &'a str,
    key: &'a str,
    whose: &'a Whose<'a>,
}

impl Reader<'_> {
    fn cite(&self, line: u64, key: Option<&str>) -> Cite {
        Cite { name: self.name.to_string(), line, key: key.map(String::from) }
    }

    fn push(&self, name: &str, leaf: &Leaf, who: &Who, out: &mut Vec<Fact>) {
        out.push(Fact::new(name, leaf.value.clone(), who, Basis::Plan, self.cite(leaf.line, Some(&leaf.path))));
    }

    /// A command that begins at a line. Of a value of a file (`key`) all lines are the value's.
    fn launch(&self, text: &str, line: u64, key: Option<&str>, who: &Who, basis: Basis, out: &mut Vec<Fact>) {
        let cite = |below: u64| self.cite(if key.is_some() { line } else { line + below }, key);
        launched(&command::of_text(text), who, basis, &cite, out);
    }

    fn client() -> Who {
        Who { worker: None, role: Some("client".into()) }
    }

    fn plan(&self, leaves: &Leaves, out: &mut Vec<Fact>) {
        for leaf in &leaves.all {
            let Value::Str(text) = &leaf.value else {
                let name = match leaf.path.as_str() {
                    "expected_prefill" => "expected_prefill_workers",
                    "expected_decode" => "expected_decode_workers",
                    name @ ("dynamo_top_of_tree" | "tachometer_enabled" | "tachometer_sync_interval_secs" | "ruter_enabled") => name,
                    _ => continue,
                };
                self.push(name, leaf, &Who::default(), out);
                continue;
            };
            match leaf.path.as_str() {
                "name" => self.push("run_name", leaf, &Who::default(), out),
                "model_name" => self.push("model", leaf, &Who::default(), out),
                "dynamo_source_hash" => self.push("dynamo_source_hash", leaf, &Who::default(), out),
                "benchmark_command" => self.launch(text, leaf.line, Some(&leaf.path), &Self::client(), Basis::Plan, out),
                "router_command" => {
                    let who = self.whose.of_file("router.log").unwrap_or(Who { worker: None, role: Some("router".into()) });
                    self.launch(text, leaf.line, Some(&leaf.path), &who, Basis::Plan, out);
                }
                path if path.starts_with("worker_processes[") && path.ends_with("].command") => {
                    let stem = path.strip_suffix("command").unwrap_or("");
                    let log = leaves.get(&format!("{stem}log_name")).map(|l| l.value.to_string());
                    let label = leaves.get(&format!("{stem}label")).map(|l| l.value.to_string());
                    let who = log.and_then(|log| self.whose.of_file(&log)).unwrap_or(Who { worker: label, role: None });
                    self.launch(text, leaf.line, Some(path), &who, Basis::Plan, out);
                }
                _ => {}
            }
        }
    }

    /// `{"server_argv": ["--model-path", …], "workers": [[…], […]], "env": {…}}`
    fn command_json(&self, leaves: &Leaves, out: &mut Vec<Fact>) {
        let mut rest = leaves.all.as_slice();
        while let Some(first) = rest.first() {
            let list = list_of(&first.path);
            let n = rest.iter().take_while(|l| list.is_some() && list_of(&l.path) == list).count().max(1);
            let (words, after) = rest.split_at(n);
            rest = after;
            if let Some(list) = list {
                self.list(list, words, out);
            } else if let Some((object, name)) = first.path.rsplit_once('.')
                && object.to_ascii_lowercase().ends_with("env")
            {
                let who = Who::default();
                variable(name, &first.value.to_string(), &who, Basis::Launch, self.cite(first.line, Some(&first.path)), out);
            }
        }
    }

    fn list(&self, list: &str, words: &[Leaf], out: &mut Vec<Fact>) {
        let texts: Vec<String> = words.iter().map(|w| w.value.to_string()).collect();
        if !texts.iter().any(|t| t.starts_with("--")) {
            return;
        }
        let command = command::of_list(texts.iter().map(String::as_str));
        let port = command.options.iter().find(|o| o.name == "port").and_then(|o| o.value.as_ref()?.parse().ok());
        let who = port.and_then(|port| self.whose.of_port(port)).or_else(|| self.named(list)).unwrap_or_default();
        let cite = |word: u64| {
            let leaf = usize::try_from(word).ok().and_then(|i| words.get(i));
            self.cite(leaf.map_or(0, |l| l.line), Some(leaf.map_or(list, |l| l.path.as_str())))
        };
        launched(&command, &who, Basis::Launch, &cite, out);
    }

    /// `router` → router; `server_argv` → server; `workers[0]` → worker0, worker-0.
    fn named(&self, list: &str) -> Option<Who> {
        let plain = list.strip_suffix("_argv").or_else(|| list.strip_suffix("_command")).unwrap_or(list);
        let Some((many, index)) = plain.strip_suffix(']').and_then(|p| p.split_once('[')) else { return self.whose.of_name(plain) };
        let one = many.strip_suffix('s').unwrap_or(many);
        self.whose.of_name(&format!("{one}{index}")).or_else(|| self.whose.of_name(&format!("{one}-{index}")))
    }

    /// Blocks of `# NAME … log=FILE` and the command with its environment.
    fn commands_txt(&self, text: &str, out: &mut Vec<Fact>) {
        let folder = self.key.strip_suffix(base_name(self.key)).unwrap_or("");
        let mut block: Option<(Who, u64, String)> = None;
        let flush = |block: &mut Option<(Who, u64, String)>, out: &mut Vec<Fact>| {
            if let Some((who, line, command)) = block.take() {
                self.launch(&command, line, None, &who, Basis::Launch, out);
            }
        };
        for (n, line) in text.lines().enumerate() {
            if let Some(header) = line.strip_prefix("# ") {
                flush(&mut block, out);
                let name = header.split(' ').next().unwrap_or("");
                let log = header.split_ascii_whitespace().find_map(|word| word.strip_prefix("log="));
                let of_log = log.and_then(|log| self.whose.of_key(&format!("{folder}{log}")).or_else(|| self.whose.of_file(log)));
                let who = match of_log {
                    _ if name == "client" => Self::client(),
                    Some(who) => who,
                    None => self.whose.of_name(name).unwrap_or(Who { worker: None, role: Some("infra".into()) }),
                };
                block = Some((who, n as u64 + 2, String::new()));
            } else if let Some((_, _, command)) = &mut block {
                command.push_str(line);
                command.push('\n');
            }
        }
        flush(&mut block, out);
    }

    fn tachometer(&self, leaves: &Leaves, out: &mut Vec<Fact>) {
        let nobody = Who::default();
        let names: Vec<&Leaf> = leaves.all.iter().filter(|l| l.path.starts_with("endpoints[") && l.path.ends_with("].url")).collect();
        if let Some(first) = names.first() {
            let n = i64::try_from(names.len()).unwrap_or(i64::MAX);
            let cite = self.cite(first.line, Some("endpoints"));
            out.push(Fact::new("scrape_endpoints", Value::Int(n), &nobody, Basis::Plan, cite));
        }
        for leaf in &leaves.all {
            let name = match leaf.path.as_str() {
                path if path.starts_with("endpoints[") && path.ends_with("].frequency") => "scrape_frequency_hz",
                "save_interval_secs" => "scrape_save_interval_secs",
                _ => continue,
            };
            self.push(name, leaf, &nobody, out);
        }
    }

    fn prometheus(&self, leaves: &Leaves, out: &mut Vec<Fact>) {
        let nobody = Who::default();
        for leaf in leaves.all.iter().filter(|l| l.path.rsplit('.').next() == Some("scrape_interval")) {
            self.push("scrape_interval", leaf, &nobody, out);
        }
        let jobs: Vec<&Leaf> =
            leaves.all.iter().filter(|l| l.path.starts_with("scrape_configs[") && l.path.ends_with("].job_name")).collect();
        for job in jobs {
            self.push("scrape_job", job, &nobody, out);
        }
    }

    fn recipe(&self, leaves: &Leaves, out: &mut Vec<Fact>) {
        for leaf in &leaves.all {
            let Some((top, rest)) = leaf.path.split_once('.') else {
                if leaf.path == "name" {
                    self.push("run_name", leaf, &Who::default(), out);
                }
                continue;
            };
            let cite = self.cite(leaf.line, Some(&leaf.path));
            let text = leaf.value.to_string();
            match top {
                "model" if rest == "path" => self.push("model_path", leaf, &Who::default(), out),
                "model" if rest == "name" => self.push("model", leaf, &Who::default(), out),
                "model" if matches!(rest, "precision" | "container") => self.push(&format!("model_{rest}"), leaf, &Who::default(), out),
                "dynamo" if rest == "version" => self.push("dynamo_version", leaf, &Who::default(), out),
                "resources" => self.push(rest, leaf, &Who::default(), out),
                "slurm" if rest == "job_id" => self.push("job_id", leaf, &Who::default(), out),
                "observability" => self.push(&format!("observability_{}", rest.replace('.', "_")), leaf, &Who::default(), out),
                "benchmark" if rest == "type" => self.push("load_type", leaf, &Who::default(), out),
                "benchmark" if rest == "command" => self.launch(&text, leaf.line, Some(&leaf.path), &Self::client(), Basis::Plan, out),
                "benchmark" => {
                    let number = !matches!(leaf.value, Value::Str(_) | Value::Bool(_));
                    if let Some(name) = known::of_load(rest, number) {
                        self.push(&name, leaf, &Who::default(), out);
                    }
                }
                "frontend" | "backend" => self.process(top, rest, leaf, cite, out),
                _ => {}
            }
        }
    }

    /// `backend.sglang_config.prefill.tp-size`, `backend.decode_environment.DYN_LOG`, `frontend.args.router-mode`.
    fn process(&self, top: &str, rest: &str, leaf: &Leaf, cite: Cite, out: &mut Vec<Fact>) {
        let (before, name) = rest.rsplit_once('.').unwrap_or(("", rest));
        let role = match (top, before) {
            ("frontend", _) => Some("frontend"),
            (_, b) if b.contains("prefill") => Some("prefill"),
            (_, b) if b.contains("decode") => Some("decode"),
            (_, b) if b.contains("agg") => Some("unified"),
            _ => None,
        };
        let who = Who { worker: None, role: role.map(String::from) };
        if before.ends_with("env") || before.ends_with("environment") {
            return variable(name, &leaf.value.to_string(), &who, Basis::Plan, cite, out);
        }
        // `type` is of the frontend or of the engine.
        let name = if (top, rest) == ("backend", "type") { "backend_type" } else { name };
        if before.is_empty() || before == "args" || before.contains("config") {
            argument(name, leaf.value.clone(), &who, Basis::Plan, cite, out);
        }
    }
}

/// The list of an item's path: `workers[0][3]` → `workers[0]`.
fn list_of(path: &str) -> Option<&str> {
    path.strip_suffix(']')?.rsplit_once('[').map(|(list, _)| list).filter(|list| !list.is_empty())
}
