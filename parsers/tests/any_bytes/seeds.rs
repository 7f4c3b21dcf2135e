//! Bytes that each target knows: what changed inputs are made from.

use corr_parsers::declared::{Definition, OneOrMany, Sample};
use corr_parsers::format::Envelope;
use corr_parsers::{ENVELOPES, FORMATS};

use super::check::{NAMED, Target};

/// Sources of a target. An envelope has none if nobody wrote down how its entries look: see [`wrap`].
pub fn of(target: Target) -> Vec<Vec<u8>> {
    match target {
        Target::Envelope(envelope) => wrapped(envelope, &lines()),
        Target::Format(format) => {
            let records = || format.samples.iter().map(|(text, _)| format!("{text}\n").into_bytes());
            let coloured = format.samples.iter().map(|(text, _)| format!("\x1b[2m\x1b[32m{text}\x1b[0m\r\n").into_bytes());
            records().chain(coloured.take(2)).chain([records().collect::<Vec<_>>().concat()]).collect()
        }
        Target::Nested => nested(),
        Target::Declared => {
            let samples = definitions().into_iter().flat_map(|d| d.samples).map(|s| format!("{}\n", s.text).into_bytes());
            let mut all: Vec<Vec<u8>> = samples.collect();
            all.push(all.concat());
            all
        }
        Target::Detection => {
            let mut all: Vec<Vec<u8>> = ENVELOPES.iter().flat_map(|e| wrapped(e, &lines()).pop()).collect();
            all.extend(FORMATS.iter().flat_map(|f| of(Target::Format(f)).pop()));
            let byte = |source: Vec<u8>| [b"\0".to_vec(), source].concat();
            all.into_iter().map(byte).collect()
        }
    }
}

/// Lines of several programs, as they may stand in any envelope.
fn lines() -> Vec<&'static str> {
    let mut lines: Vec<&'static str> = FORMATS.iter().flat_map(|f| f.samples.iter().map(|s| s.0)).collect();
    lines.retain(|line| line.len() < 600);
    let step = (lines.len() / 24).max(1);
    let mut some: Vec<&'static str> = lines.into_iter().step_by(step).collect();
    some.extend(["", "Traceback (most recent call last):", "  File \"a.py\", line 1, in f", "\x1b[33mwarning\x1b[0m: text", "\tindented"]);
    some
}

/// These lines in an envelope: a few short sources, and one of all of them.
fn wrapped(envelope: &Envelope, lines: &[&str]) -> Vec<Vec<u8>> {
    if let Some(sample) = journald(envelope.name) {
        let mut all: Vec<Vec<u8>> = sample.chunks(2_000).map(<[u8]>::to_vec).collect();
        all.push(sample.to_vec());
        all.extend(in_pieces(envelope.name, sample));
        all.extend((envelope.name == "journald-export").then(lengths));
        return all;
    }
    let mut all: Vec<Vec<u8>> = lines.chunks(4).filter_map(|some| wrap(envelope.name, some)).collect();
    all.extend(wrap(envelope.name, lines));
    all
}

/// A request line in two pieces of the size at which the first versions of journald cut.
fn in_pieces(envelope: &str, sample: &[u8]) -> Option<Vec<u8>> {
    let whole = format!("Receive: obj=GenerateReqInput(rid='r1', text='{}', input_ids=None)", "words ".repeat(400));
    let (first, second) = whole.split_at(2_048);
    let sample = String::from_utf8_lossy(sample);
    let entry = |text: &str| match envelope {
        "journald-json" => Some(format!("{{\"__REALTIME_TIMESTAMP\":\"1795978173100001\",\"_PID\":\"7\",\"MESSAGE\":\"{text}\"}}\n")),
        "journald-export" => Some(format!("__CURSOR=s=1\n__REALTIME_TIMESTAMP=1795978173100001\n_PID=7\nMESSAGE={text}\n\n")),
        _ => Some(format!("{}]: {text}\n", sample.lines().next()?.split_once("]: ")?.0)),
    };
    Some((entry(first)? + &entry(second)?).into_bytes())
}

/// Fields of an export that claim to be longer and shorter than they are: into the entries behind, and behind them all.
fn lengths() -> Vec<u8> {
    let entry = |claimed: u64| {
        let data = b"two\n\nlines\n\n";
        [b"__CURSOR=s=1\n_PID=7\nMESSAGE\n", &claimed.to_le_bytes()[..], data].concat()
    };
    [10, 3, 11, 24, 60, 300, 1_000, 70_000, u64::MAX, 10].map(entry).concat()
}

fn journald(envelope: &str) -> Option<&'static [u8]> {
    Some(match envelope {
        "journald-export" => include_bytes!("../../src/envelope/journald/samples/export.bin"),
        "journald-json" => include_bytes!("../../src/envelope/journald/samples/json.txt"),
        "journald-json-pretty" => include_bytes!("../../src/envelope/journald/samples/json-pretty.txt"),
        "journald-verbose" => include_bytes!("../../src/envelope/journald/samples/verbose.txt"),
        "journald-short-iso-precise" => include_bytes!("../../src/envelope/journald/samples/short-iso-precise.txt"),
        "journald-short-iso" => include_bytes!("../../src/envelope/journald/samples/short-iso.txt"),
        "journald-short-full" => include_bytes!("../../src/envelope/journald/samples/short-full.txt"),
        "journald-with-unit" => include_bytes!("../../src/envelope/journald/samples/with-unit.txt"),
        "journald-short-precise" => include_bytes!("../../src/envelope/journald/samples/short-precise.txt"),
        "journald-short-unix" => include_bytes!("../../src/envelope/journald/samples/short-unix.txt"),
        "journald-short-monotonic" => include_bytes!("../../src/envelope/journald/samples/short-monotonic.txt"),
        "journald-short-delta" => include_bytes!("../../src/envelope/journald/samples/short-delta.txt"),
        "journald-short" => include_bytes!("../../src/envelope/journald/samples/short.txt"),
        _ => return None,
    })
}

/// Lines as an envelope holds them.
fn wrap(envelope: &str, lines: &[&str]) -> Option<Vec<u8>> {
    let json = |line: &str| serde_json::Value::from(line).to_string();
    let stamp = "2026-06-10T14:00:02.35";
    let entry: &dyn Fn(usize, &str) -> String = match envelope {
        "docker-json" => &|i, line| {
            let end = if i % 3 == 2 { "" } else { "\n" };
            format!("{{\"log\":{},\"stream\":\"stderr\",\"time\":\"{stamp}{i:07}Z\"}}", json(&format!("{line}{end}")))
        },
        "docker-timestamps" => &|i, line| format!("{stamp}{i:07}Z {line}"),
        "cri" => &|i, line| format!("{stamp}{i:07}Z stdout {} {line}", if i % 3 == 2 { "P" } else { "F" }),
        "kubectl" => &|i, line| format!("[pod/sglang-{}/server] {stamp}{i:07}Z {line}", i % 2),
        "docker-compose" => &|i, line| format!("sglang-{}  | {line}", i % 2),
        "docker-compose-no-prefix" => &|_, line| format!(" {line}"),
        "syslog" => &|i, line| format!("Jun 10 14:00:{:02} vm sglang[7]: {}", i % 60, line.replace('\t', "#011")),
        "syslog-iso" => &|i, line| format!("{stamp}{i:04}+00:00 vm sglang[7]: {}", line.replace('\x1b', "#033")),
        "syslog-3164" => &|i, line| format!("<30>Jun 10 14:00:{:02} vm sglang[7]: {line}", i % 60),
        "syslog-5424" => &|i, line| {
            let message = format!("<30>1 {stamp}{i:04}Z vm sglang 7 - [a@1 b=\"c\\\"d\"] {line}");
            if i % 2 == 0 { message } else { format!("{} {message}", message.len()) }
        },
        "srun" => &|i, line| format!("{}: {line}", i % 4),
        "torchrun" => &|i, line| if i % 2 == 0 { format!("[rank{i}]: {line}") } else { format!("[default{i}]:{line}") },
        "ray" => &|i, line| format!("\x1b[36m(Engine pid={i}, ip=10.0.0.7)\x1b[0m {line} [repeated 3x across cluster]"),
        "loki-jsonl" => {
            &|i, line| format!("{{\"labels\":{{\"pod\":\"p\"}},\"line\":{},\"timestamp\":\"2026-06-10T14:00:02.35{i:07}Z\"}}", json(line))
        }
        "grafana-json" => &|i, line| {
            format!("{{\"line\":{},\"timestamp\":\"178110000235{i:07}\",\"date\":\"\",\"fields\":{{\"pod\":\"p\"}}}}", json(line))
        },
        "grafana-text" => &|i, line| format!("178110000235{}\t{stamp}{}Z\t{line}", i % 10, i % 10),
        _ => return None,
    };
    let mut entries = lines.iter().enumerate().map(|(i, line)| entry(i, line));
    if envelope == "grafana-json" {
        return Some(format!("[{}]", entries.collect::<Vec<_>>().join(",")).into_bytes());
    }
    Some(entries.by_ref().fold(String::new(), |text, entry| text + &entry + "\n").into_bytes())
}

/// Pairs that are found in practice, and each envelope in one of another kind.
fn nested() -> Vec<Vec<u8>> {
    let place = |name: &str| ENVELOPES.iter().position(|e| e.name == name);
    let pairs = [
        ("cri", "srun"),
        ("docker-json", "torchrun"),
        ("journald-json", "docker-json"),
        ("kubectl", "ray"),
        ("docker-timestamps", "docker-compose"),
        ("syslog", "srun"),
        ("loki-jsonl", "cri"),
        ("srun", "docker-timestamps"),
        ("docker-compose", "syslog-5424"),
        ("ray", "srun"),
    ];
    let mut all = Vec::new();
    for (outer, inner) in pairs {
        let (Some(first), Some(second)) = (place(outer), place(inner)) else { continue };
        let Some(inside) = wrap(inner, &lines()) else { continue };
        let inside = String::from_utf8_lossy(&inside).into_owned();
        let inside: Vec<&str> = inside.lines().collect();
        let names: [u8; NAMED] = [first as u8, second as u8, 1];
        let source = match journald(outer) {
            Some(sample) => Some(sample.to_vec()),
            None => wrap(outer, &inside),
        };
        all.extend(source.map(|source| [&names[..], &source].concat()));
    }
    all
}

/// A line pattern with a body, one with several records a stamp, and two forms of JSON.
pub fn definitions() -> Vec<Definition> {
    let sample = |text: &str| Sample { text: text.into(), taken: true, ..Sample::default() };
    let one = |part: &str| OneOrMany::One(part.into());
    let text = |text: &str| Some(String::from(text));
    vec![
        Definition {
            name: "any-gateway".into(),
            pattern: text(concat!(
                r"(?<time>\d{2}/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}) (?<sev>[A-Z]+) (?<status>\d{3}) ",
                r#"(?<took>\d+)ms req=(?<req>\S+) q="(?<prompt>.*)"$"#
            )),
            stamp: text("time"),
            stamp_format: text("%d/%b/%Y:%H:%M:%S %z"),
            level: text("sev"),
            withheld: vec!["prompt".into()],
            fields: [("latency_ms".into(), "took".into())].into(),
            ids: [("request_id".into(), one("req"))].into(),
            samples: vec![sample(
                r#"29/Nov/2026:18:54:32 +0000 INFO 200 512ms req=chatcmpl-edf9ed01-3219-4585-a510-233214f462c1 q="a secret""#,
            )],
            ..Definition::default()
        },
        Definition {
            name: "any-tool".into(),
            pattern: text(r"T (?<t>\S+) (?<level>\w*)(?: (?<key>[a-z]+)=(?<value>[^ ]*))* (?<body>.*)"),
            stamp: text("t"),
            level: text("level"),
            message: text("body"),
            withheld: vec!["value".into()],
            samples: vec![sample("T 1795978471.5 warn a=1 b=2 and what it says\n  and more"), sample("T 2026-11-29T18:54:32,5+01:00  x")],
            ..Definition::default()
        },
        Definition {
            name: "any-client".into(),
            json: true,
            keys: vec!["sent_ms".into(), "usage.prompt_tokens".into()],
            only: [("type".into(), "request".into())].into(),
            stamp: text("sent_ms"),
            stamp_unit: text("ms"),
            withheld: vec!["said".into(), "usage.detail".into()],
            fields: [("input_tokens".into(), "usage.prompt_tokens".into())].into(),
            ids: [("session".into(), OneOrMany::Many(vec!["s".into(), "user.session".into()]))].into(),
            samples: vec![sample(
                r#"{"type":"request","sent_ms":1795978471160,"s":"s1","user":{"session":"s2"},"usage":{"prompt_tokens":7,"detail":[1,"x"]},"said":"a secret"}"#,
            )],
            ..Definition::default()
        },
        Definition {
            name: "any-json".into(),
            json: true,
            stamp: text("at"),
            stamp_format: text("%b %d %H:%M:%S%.f"),
            level: text("l"),
            message: text("m"),
            samples: vec![sample(r#"{"at":"Nov 29 18:54:32.25","l":"INFO","m":"ab","n":-1.5e3,"k":18446744073709551615}"#)],
            ..Definition::default()
        },
    ]
}
