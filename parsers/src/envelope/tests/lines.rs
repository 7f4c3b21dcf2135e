//! Single lines: each variant that an upstream writes, and what is not taken for one. Forms: README.md.

use serde_json::Value;

use super::more;
use crate::envelope::{compose, cri, docker, kubectl, loki, ray, srun, torchrun};
use crate::format::{Content, Cut, Entry, Envelope};

fn read(envelope: &Envelope, line: &str) -> Entry {
    let mut entry = Entry::default();
    let bytes = format!("{line}\n");
    assert_eq!((envelope.read)(bytes.as_bytes(), 0, &mut entry), bytes.len(), "{line}");
    entry
}

/// Text, and facts by name, of a line that is an entry.
fn check(envelope: &Envelope, line: &str, text: &str, facts: &[(&str, &str)]) {
    let entry = read(envelope, line);
    assert_eq!(entry.content, Content::Payload, "{line}");
    assert_eq!(String::from_utf8_lossy(&entry.text), text, "{line}");
    let meta = &entry.meta;
    for (name, want) in facts {
        let pid = meta.pid.map(|pid| pid.to_string());
        let time = meta.stamp.map(|stamp| stamp.ns.to_string());
        let got = match *name {
            "unit" => Some(meta.unit.as_str()),
            "ident" => Some(meta.ident.as_str()),
            "host" => Some(meta.host.as_str()),
            "stream" => Some(meta.stream),
            "pid" => pid.as_deref(),
            "ns" => time.as_deref(),
            name => more(meta, name),
        };
        assert_eq!(got, Some(*want), "{name} of {line}");
    }
    if !facts.iter().any(|(name, _)| *name == "ns") {
        assert_eq!(meta.stamp, None, "{line}");
    }
}

fn bare(envelope: &Envelope, line: &str) {
    let entry = read(envelope, line);
    assert_ne!(entry.content, Content::Payload, "{} takes {line}", envelope.name);
    if entry.content == Content::Bare {
        assert_eq!(String::from_utf8_lossy(&entry.text), line);
    }
}

#[test]
fn srun_labels() {
    check(&srun::SRUN, "0: [2026-05-20 08:30:03] text", "[2026-05-20 08:30:03] text", &[("task", "0")]);
    check(&srun::SRUN, "008:   File \"a.py\"", "  File \"a.py\"", &[("task", "8")]);
    check(&srun::SRUN, " 3: text", "text", &[("task", "3")]);
    check(&srun::SRUN, "15: ", "", &[("task", "15")]);
    check(&srun::SRUN, "15:", "", &[("task", "15")]);
    for line in ["12:30:01 text", "12:text", ": text", "-1: text", "1234567: text", "[0]: text", "srun: error: x", "1.5: text"] {
        bare(&srun::SRUN, line);
    }
}

#[test]
fn torchrun_labels() {
    check(&torchrun::TORCHRUN, "[rank0]: Traceback", "Traceback", &[("rank", "0")]);
    check(&torchrun::TORCHRUN, "[rank12]:   File \"a.py\"", "  File \"a.py\"", &[("rank", "12")]);
    check(&torchrun::TORCHRUN, "[rank0]:[W520 08:30:03.1 x.cpp:1] text", "[W520 08:30:03.1 x.cpp:1] text", &[("rank", "0")]);
    check(&torchrun::TORCHRUN, "[default3]:text", "text", &[("role", "default"), ("local_rank", "3")]);
    check(&torchrun::TORCHRUN, "[default3]:  File \"a.py\"", "  File \"a.py\"", &[("local_rank", "3")]);
    check(&torchrun::TORCHRUN, "[trainer0]: text", "text", &[("role", "trainer"), ("local_rank", "0")]);
    for line in ["[rank0] text", "[rank]: text", "[2026-05-20 08:30:03]: text", "[0]: text", "[TP0 EP1]: x", "rank0: text", "[rank0:1]: x"]
    {
        bare(&torchrun::TORCHRUN, line);
    }
}

#[test]
fn ray_labels() {
    let full = "(SGLangEngine pid=31021, ip=10.42.0.7) text";
    check(&ray::RAY, full, "text", &[("ident", "SGLangEngine"), ("pid", "31021"), ("ip", "10.42.0.7")]);
    check(&ray::RAY, "(f pid=7) ", "", &[("ident", "f"), ("pid", "7")]);
    check(&ray::RAY, "\x1b[36m(f pid=7)\x1b[0m text", "text", &[("ident", "f")]);
    check(&ray::RAY, "(ServeReplica:llm:Decode pid=7) text", "text", &[("ident", "ServeReplica:llm:Decode")]);
    check(&ray::RAY, "(Worker(rank=0) pid=7, ip=fe80::1) text", "text", &[("ident", "Worker(rank=0)"), ("ip", "fe80::1")]);
    check(&ray::RAY, "(raylet) Spilled 2 MiB", "Spilled 2 MiB", &[("ident", "raylet")]);
    check(&ray::RAY, "(raylet, ip=10.0.0.2) text", "text", &[("ident", "raylet"), ("ip", "10.0.0.2")]);
    check(&ray::RAY, "(autoscaler +3m5s) Adding 1 node", "Adding 1 node", &[("ident", "autoscaler")]);
    let repeated = "(f pid=7) Load weight begin. [repeated 3x across cluster]";
    check(&ray::RAY, repeated, "Load weight begin.", &[("repeated", "3")]);
    let explained = " (Ray deduplicates logs by default. Set RAY_DEDUP_LOGS=0 to disable log deduplication.)";
    check(&ray::RAY, &format!("{repeated}{explained}"), "Load weight begin.", &[("repeated", "3")]);
    let coloured = "\x1b[36m(f pid=7)\x1b[0m Load.\x1b[32m [repeated 12x across cluster]\x1b[0m";
    check(&ray::RAY, coloured, "Load.", &[("repeated", "12")]);
    check(&ray::RAY, "(f pid=7) a [repeated 3x across cluster] b", "a [repeated 3x across cluster] b", &[("pid", "7")]);
    for line in ["(note) text", "(f pid=x) text", "(f pid=7 text", "(f pid=7)text", "f pid=7) text", "(EngineCore_0 pid 7) text"] {
        bare(&ray::RAY, line);
    }
}

#[test]
fn compose_names() {
    let line = "sglang-decode-2    | [2026-06-10 07:00:02] text";
    check(
        &compose::COMPOSE,
        line,
        "[2026-06-10 07:00:02] text",
        &[("unit", "sglang-decode-2"), ("service", "sglang-decode"), ("replica", "2")],
    );
    check(&compose::COMPOSE, "router_1  | a | b", "a | b", &[("service", "router"), ("replica", "1")]);
    check(&compose::COMPOSE, "my.router  |", "", &[("unit", "my.router"), ("service", "my.router")]);
    // v2 and v1, as on a terminal.
    check(&compose::COMPOSE, "\x1b[36msglang-1  | \x1b[0mtext", "text", &[("unit", "sglang-1")]);
    check(&compose::COMPOSE, "\x1b[33msglang_1  |\x1b[0m \x1b[32mINFO\x1b[0m: x", "\x1b[32mINFO\x1b[0m: x", &[("unit", "sglang_1")]);
    let stamped = "sglang-1  | 2026-06-10T14:00:02.350000000Z text";
    check(&compose::COMPOSE, stamped, "text", &[("ns", "1781100002350000000")]);
    let parts = format!("sglang-1  | 2026-06-10T14:00:02.350000000Z {}2026-06-10T14:00:02.350000001Z tail", "x".repeat(16_384));
    check(&compose::COMPOSE, &parts, &format!("{}tail", "x".repeat(16_384)), &[("ns", "1781100002350000000")]);
    for line in ["Attaching to sglang-1", "| GPU  Name |", "a| b", "a b | c", "sglang-1 exited with code 137", "[2026] | x"] {
        bare(&compose::COMPOSE, line);
    }
    check(&compose::NO_PREFIX, "   File", "  File", &[]);
}

#[test]
fn kubernetes_lines() {
    let facts = [("unit", "sglang-0"), ("pod", "sglang-0"), ("ident", "server"), ("container", "server")];
    check(&kubectl::PREFIX, "[pod/sglang-0/server] text", "text", &facts);
    check(&kubectl::PREFIX, "[pod/sglang-0/server] 2026-06-10T14:00:02.350000000Z text", "text", &[("ns", "1781100002350000000")]);
    check(&kubectl::PREFIX, "[pod/a/b] 2026-06-10T14:00:02.350000Z  INFO dynamo", "2026-06-10T14:00:02.350000Z  INFO dynamo", &[]);
    bare(&kubectl::PREFIX, "[pod/sglang-0] text");
    let line = "2026-06-10T14:00:02.35Z stderr F text";
    check(&cri::CRI, line, "text", &[("stream", "stderr"), ("ns", "1781100002350000000")]);
    check(&cri::CRI, "2026-06-10T16:00:02+02:00 stdout F:x ", "", &[("stream", "stdout"), ("ns", "1781100002000000000")]);
    assert_eq!(read(&cri::CRI, "2026-06-10T16:00:02+02:00 stdout P part").meta.cut, Cut::Certain);
    for line in ["2026-06-10T14:00:02.35 stderr F text", "2026-06-10T14:00:02.35Z stdin F x", "2026-06-10T14:00:02.35Z stdout Full x"] {
        bare(&cri::CRI, line);
    }
}

#[test]
fn docker_lines() {
    let line = r#"{"log":"caf\u00e9\r\n","stream":"stdout","attrs":{"tag":"decode"},"time":"2026-06-10T14:00:02.35Z"}"#;
    check(&docker::JSON_FILE, line, "café", &[("stream", "stdout"), ("tag", "decode"), ("ident", "decode"), ("ns", "1781100002350000000")]);
    assert_eq!(read(&docker::JSON_FILE, &line.replace("\\r\\n", "")).meta.cut, Cut::Certain);
    for line in [
        r#"{"log":"x\n","stream":"stdout"}"#,
        r#"{"log":"x\n","stream":"both","time":"2026-06-10T14:00:02.35Z"}"#,
        r#"{"log":"x\n","stream":"stdout","time":"today"}"#,
        r#"{"time":"2026-06-10T14:00:02.350000Z","level":"INFO","message":"\"log\""}"#,
    ] {
        bare(&docker::JSON_FILE, line);
    }
    // What is left of a torn object, also in the middle of an escape.
    for (torn, text) in
        [(r#"{"log":"a\tb\n","stream":"stdout","time":"2026-06-10T14:"#, "a\tb\n"), (r#"{"log":"a\tb\u00"#, "a\tb"), (r#"{"log":""#, "")]
    {
        let entry = read(&docker::JSON_FILE, torn);
        assert_eq!((std::str::from_utf8(&entry.text).unwrap(), entry.meta.loss), (text, Some("the object ends early")), "{torn}");
    }
    let secret = line.replace(r#""tag":"decode""#, r#""HF_TOKEN":"hf_abcdefghijklmnopqrstuvwxyz0123""#);
    check(&docker::JSON_FILE, &secret, "café", &[("HF_TOKEN", "‹credential withheld›"), ("ns", "1781100002350000000")]);
    let stamped = "2026-06-10T14:00:02.350000000Z ";
    check(&docker::TIMESTAMPS, stamped, "", &[("ns", "1781100002350000000")]);
    check(&docker::TIMESTAMPS, &format!("{stamped}  a"), "  a", &[("ns", "1781100002350000000")]);
    check(&docker::TIMESTAMPS, &format!(" {stamped}a"), "a", &[("ns", "1781100002350000000")]);
    for line in [
        "2026-06-10T14:00:02.350000Z  INFO dynamo_runtime: x",
        "2026-06-10T14:00:02.350000000 text",
        "2026-06-10T14:00:02.3500000001Z text",
        "2026-06-10T14:00:02.350000000Zx",
        "2026-06-10 14:00:02.350000000Z text",
    ] {
        bare(&docker::TIMESTAMPS, line);
    }
}

#[test]
fn loki_rows() {
    let line = r#"{"labels":{"pod":"p-0","container":"c","node_name":"n7","stream":"stderr","app":"sglang"},"line":"a\tb","timestamp":"2026-06-10T14:00:02.35Z"}"#;
    let facts = [("unit", "p-0"), ("ident", "c"), ("host", "n7"), ("stream", "stderr"), ("app", "sglang"), ("ns", "1781100002350000000")];
    check(&loki::JSON_LINES, line, "a\tb", &facts);
    let row = r#"{"line":"text","timestamp":"1781100002350000000","date":"2026-06-10T14:00:02.350Z","fields":{"app":"sglang","n":3}}"#;
    check(&loki::JSON_LINES, row, "text", &[("app", "sglang"), ("n", "3"), ("ns", "1781100002350000000")]);
    for line in
        [r#"{"line":"x"}"#, r#"{"line":"x","timestamp":17}"#, r#"{"line":3,"timestamp":"1781100002350000000"}"#, r#"{"msg":"\"line\""}"#]
    {
        bare(&loki::JSON_LINES, line);
    }
    check(&loki::EXPLORE_TEXT, "1781100002350\t2026-06-10T14:00:02.350Z\ta\tb", "a\tb", &[("ns", "1781100002350000000")]);
    bare(&loki::EXPLORE_TEXT, "Common labels: {\"app\":\"sglang\"}");
    // The array of a download, read row by row.
    let rows: Vec<Value> = (0..3).map(|i| serde_json::from_str(&row.replace("text", &format!("text {i}"))).unwrap()).collect();
    let download = format!("[{row},{}]\n", rows.iter().map(Value::to_string).collect::<Vec<_>>().join(","));
    let mut entry = Entry::default();
    assert_eq!(((loki::EXPLORE_JSON.read)(format!("\n{download}").as_bytes(), 0, &mut entry), entry.content), (1, Content::Bare));
    let (mut at, mut texts) = (0, Vec::new());
    while at < download.len() {
        let mut entry = Entry::default();
        at += (loki::EXPLORE_JSON.read)(download.as_bytes(), at, &mut entry);
        texts.push(String::from_utf8(entry.text).unwrap());
    }
    assert_eq!((at, texts), (download.len(), ["text", "text 0", "text 1", "text 2"].map(String::from).to_vec()));
}
