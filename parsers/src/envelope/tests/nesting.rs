//! Envelopes inside envelopes, composed here from a bare log.

use super::{Seen, more, seen};
use crate::detect::detect;
use crate::record::{Layout, Reader, record_start};
use crate::{ENVELOPES, FORMATS};

/// A few lines as SGLang 0.5.12 prints them, and one that is not SGLang's.
static LINES: &[&str] = &[
    "[2026-05-20 08:30:03] INFO:     Started server process [7]",
    "[2026-05-20 08:30:04 TP0] Load weight begin. avail mem=77.52 GB",
    "[2026-05-20 08:30:05 TP1] Load weight begin. avail mem=77.49 GB",
    "[2026-05-20 08:30:09 TP0] Prefill batch, #new-seq: 1, #new-token: 512, #cached-token: 0, token usage: 0.00, #running-req: 0, #queue-req: 0",
    "[2026-05-20 08:30:10 TP0] Decode batch, #running-req: 1, #token: 7602, token usage: 0.91, gen throughput (token/s): 12.5, #queue-req: 0",
    "a line of another library",
    "[2026-05-20 08:30:11] The server is fired up and ready to roll!",
];

/// Puts one envelope around a line; `i` is the line's number.
type Wrap = fn(usize, &str) -> String;

fn quote(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

static WRAPS: &[(&str, Wrap)] = &[
    ("srun", |i, line| format!("{:02}: {line}", i % 12)),
    ("torchrun", |i, line| format!("[rank{}]: {line}", i % 4)),
    ("ray", |i, line| format!("\x1b[36m(SGLangEngine pid=3102{}, ip=10.42.0.7)\x1b[0m {line}", i % 2)),
    ("docker-compose", |i, line| format!("sglang-{}  | {line}", i % 2 + 1)),
    ("kubectl", |_, line| format!("[pod/sglang-0/server] {line}")),
    ("docker-timestamps", |i, line| format!("2026-05-20T08:31:{i:02}.177707631Z {line}")),
    ("docker-json", |i, line| {
        format!("{{\"log\":{},\"stream\":\"stderr\",\"time\":\"2026-05-20T08:31:{i:02}.5Z\"}}", quote(&format!("{line}\n")))
    }),
    ("cri", |i, line| format!("2026-05-20T08:31:{i:02}.066013223Z stderr F {line}")),
    ("loki-jsonl", |i, line| {
        format!("{{\"labels\":{{\"pod\":\"p-0\"}},\"line\":{},\"timestamp\":\"2026-05-20T08:31:{i:02}.4Z\"}}", quote(line))
    }),
    ("journald-json", |i, line| {
        let time = 1_779_265_801_266_456u64 + i as u64;
        let head =
            format!("{{\"__REALTIME_TIMESTAMP\":\"{time}\",\"_HOSTNAME\":\"node-7\",\"SYSLOG_IDENTIFIER\":\"podman\",\"_PID\":\"99\"");
        format!("{head},\"_SYSTEMD_UNIT\":\"run.service\",\"MESSAGE\":{}}}", quote(line))
    }),
    ("journald-short-iso-precise", |i, line| format!("2026-05-20T08:31:{i:02}.484456+00:00 node-7 podman[99]: {line}")),
];

/// Of a weak mark some lines are needed.
fn lines() -> impl Iterator<Item = &'static str> {
    LINES.iter().copied().cycle().take(3 * LINES.len())
}

fn bare() -> Vec<Seen> {
    let layout = Layout { formats: FORMATS.to_vec(), ..Layout::default() };
    lines().flat_map(|line| seen(line.as_bytes(), &layout)).collect()
}

fn compose(wraps: &[&(&str, Wrap)]) -> String {
    let wrap = |i: usize, line: &str| wraps.iter().rev().fold(line.to_owned(), |line, (_, wrap)| wrap(i, &line));
    lines().enumerate().map(|(i, line)| wrap(i, line) + "\n").collect()
}

fn check(wraps: &[&(&str, Wrap)]) {
    let source = compose(wraps);
    let names = wraps.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" > ");
    let detection = detect(source.as_bytes(), true);
    assert_eq!(detection.layout.wrapped_in().as_deref(), Some(names.as_str()), "{source}{:?}", detection.envelopes);
    assert_eq!(seen(source.as_bytes(), &detection.layout), bare(), "{names}");
    for at in (0..source.len()).step_by(101) {
        let line = source[..at].rfind('\n').map_or(0, |i| i + 1);
        assert_eq!(record_start(source.as_bytes(), at, &detection.layout), line, "{names} at {at}");
    }
}

#[test]
fn every_envelope_inside_every_other() {
    let mut pairs = 0;
    for wrap in WRAPS {
        check(&[wrap]);
        for inner in WRAPS.iter().filter(|inner| inner.0 != wrap.0) {
            // What stands before stamps of nine digits is one envelope with them.
            if matches!((wrap.0, inner.0), ("kubectl" | "docker-compose", "docker-timestamps" | "cri")) {
                continue;
            }
            check(&[wrap, inner]);
            pairs += 1;
        }
    }
    println!("nesting: {} envelopes, {pairs} pairs", WRAPS.len());
}

#[test]
fn three_deep_and_no_deeper() {
    let named = |name: &str| WRAPS.iter().find(|w| w.0 == name).unwrap();
    check(&[named("loki-jsonl"), named("cri"), named("srun")]);
    check(&[named("journald-json"), named("docker-compose"), named("ray")]);
    let four = compose(&[named("loki-jsonl"), named("cri"), named("srun"), named("torchrun")]);
    assert_eq!(detect(four.as_bytes(), true).layout.wrapped_in().as_deref(), Some("loki-jsonl > cri > srun"));
}

#[test]
fn what_the_inner_envelope_says_goes_before() {
    let named = |name: &str| WRAPS.iter().find(|w| w.0 == name).unwrap();
    let source = compose(&[named("journald-json"), named("kubectl"), named("docker-timestamps"), named("ray")]);
    let layout = detect(source.as_bytes(), true).layout;
    assert_eq!(layout.wrapped_in().as_deref(), Some("journald-json > kubectl > ray"));
    let mut reader = Reader::new(source.as_bytes(), 0, &layout);
    let record = reader.next().unwrap();
    let meta = record.meta.unwrap();
    assert_eq!(meta.stamp.unwrap().ns, 1_779_265_860_177_707_631);
    assert_eq!(meta.received.unwrap().ns, 1_779_265_801_266_456_000);
    assert_eq!((meta.host.as_str(), meta.unit.as_str(), meta.unit_source), ("node-7", "sglang-0", "pod"));
    assert_eq!((meta.ident.as_str(), meta.pid), ("SGLangEngine", Some(31020)));
    assert_eq!((more(meta, "container"), more(meta, "ip")), (Some("server"), Some("10.42.0.7")));
}

/// One unit's lines in a journal of many, and lines of the script around srun.
#[test]
fn a_line_without_the_inner_mark_is_one_of_the_outer() {
    let named = |name: &str| WRAPS.iter().find(|w| w.0 == name).unwrap();
    let journal = named("journald-json").1;
    let mut lines: Vec<String> = (0..40).map(|i| journal(i, &format!("usb {i}: new device"))).collect();
    lines.extend(compose(&[named("journald-json"), named("docker-compose")]).lines().map(str::to_owned));
    lines.push(journal(50, "Started sglang.service - SGLang."));
    let source = lines.join("\n") + "\n";
    let layout = detect(source.as_bytes(), true).layout;
    assert_eq!(layout.wrapped_in().as_deref(), Some("journald-json > docker-compose"));
    let all = seen(source.as_bytes(), &layout);
    assert_eq!(all[0].payload, "usb 0: new device");
    assert_eq!(all[40..40 + bare().len()], bare());
    assert_eq!(all.last().unwrap().payload, "Started sglang.service - SGLang.");
}

/// A line that an inner envelope cut is joined, and withheld where its beginning is parted from it, from wherever one reads.
#[test]
fn lines_that_an_inner_envelope_cut() {
    let loki = |i: usize, line: &str| WRAPS.iter().find(|w| w.0 == "loki-jsonl").unwrap().1(i, line) + "\n";
    let head = "2026-05-20T08:31:00.066013223Z stdout";
    let begin = format!("{head} P Receive: obj=GenerateReqInput(rid='r1', text='confidential one");
    let end = format!("{head} F confidential two', input_ids=None, stream=False)");
    let other = format!("{} F {}", head.replace("stdout", "stderr"), LINES[1]);
    let layout = {
        let source: String = LINES.iter().enumerate().map(|(i, line)| loki(i, &format!("{head} F {line}"))).collect();
        detect(source.as_bytes(), true).layout
    };
    assert_eq!(layout.wrapped_in().as_deref(), Some("loki-jsonl > cri"));
    let joined = loki(0, &begin) + &loki(1, &end) + &loki(2, &other);
    let all = seen(joined.as_bytes(), &layout);
    assert_eq!(all.iter().map(|s| s.kind).collect::<Vec<_>>(), ["request_received", "weights_begin"]);
    let parted = loki(0, &begin) + &loki(1, &other) + &loki(2, &end);
    let all = seen(parted.as_bytes(), &layout);
    assert_eq!(all.len(), 3);
    assert!(all[2].rest.contains("rest of a line that its envelope cut"), "{:?}", all[2]);
    let third = parted.rmatch_indices('\n').nth(1).unwrap().0 + 1;
    let mut reader = Reader::new(parted.as_bytes(), third, &layout);
    assert_eq!(reader.next().unwrap().rest, Some(0));
    for source in [&joined, &parted] {
        let mut reader = Reader::new(source.as_bytes(), 0, &layout);
        while let Some((offset, len)) = reader.next().map(|r| (r.offset, r.len)) {
            for at in offset..offset + len {
                assert_eq!(record_start(source.as_bytes(), at, &layout), offset);
            }
        }
    }
}

/// Parts of a request that another stream's line parts, and one that the end of the file tears: no word of a prompt is left visible.
#[test]
fn no_part_of_a_prompt_is_visible() {
    let docker =
        |stream: &str, text: &str| format!("{{\"log\":{},\"stream\":\"{stream}\",\"time\":\"2026-05-20T08:31:00.5Z\"}}\n", quote(text));
    let cri = |stream: &str, text: &str| {
        let tag = if text.ends_with('\n') { "F" } else { "P" };
        format!("2026-05-20T08:31:00.5Z {stream} {tag} {}\n", text.trim_end())
    };
    let begin = "[2026-05-20 08:30:04] Receive: obj=GenerateReqInput(rid='r1', text='confidential one";
    let other = format!("{}\n", LINES[1]);
    for wrap in [&docker as &dyn Fn(&str, &str) -> String, &cri] {
        let known: String = LINES.iter().map(|line| wrap("stderr", &format!("{line}\n"))).collect();
        let parted =
            [known.clone(), wrap("stdout", begin), wrap("stderr", &other), wrap("stdout", "confidential two', stream=False)\n")].concat();
        let layout = detect(parted.as_bytes(), true).layout;
        let all = seen(parted.as_bytes(), &layout);
        assert_eq!(all.len(), LINES.len() + 3);
        assert!(all[LINES.len() + 2].rest.contains("rest of a line that its envelope cut"), "{:?}", all[LINES.len() + 2]);
        for (i, record) in all.iter().enumerate() {
            let hidden = record.rest.contains("Withheld") || !record.payload.contains("confidential");
            assert!(hidden, "{i}: {record:?}");
        }
        // Torn at every byte.
        let line = wrap("stdout", begin);
        for end in line.find("confidential").unwrap()..line.len() {
            let torn = format!("{known}{}", &line[..end]);
            let all = seen(torn.as_bytes(), &layout);
            let last = all.last().unwrap();
            assert_eq!(last.kind, "request_received", "{last:?}");
            assert!(last.rest.contains("Withheld") || !last.payload.contains("conf"), "{last:?}");
        }
    }
}

/// tqdm ends its bars with a carriage return or with nothing: what another process then writes stands in the same line.
#[test]
fn a_record_behind_a_progress_bar() {
    let bar = "Loading:   0%|          | 0/8 [00:00<?, ?it/s]";
    for (name, wrap) in WRAPS {
        let envelope = *ENVELOPES.iter().find(|e| e.name == *name).unwrap();
        let layout = Layout { envelopes: vec![envelope], formats: FORMATS.to_vec(), document: false };
        let source =
            [format!("{bar}{}", LINES[1]), bar.to_owned(), format!("{bar}\r{}", LINES[0])].map(|line| wrap(0, &line) + "\n").concat();
        let all = seen(source.as_bytes(), &layout);
        let payloads: Vec<&str> = all.iter().map(|s| s.payload.as_str()).collect();
        assert_eq!(payloads, [LINES[1], bar, LINES[0]], "{name}");
        assert_eq!(all[0], bare()[1], "{name}");
        assert_eq!(all[1].kind, "progress");
    }
}

#[test]
fn names_are_unique() {
    let mut names: Vec<&str> = ENVELOPES.iter().map(|e| e.name).chain(FORMATS.iter().map(|f| f.name)).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all);
}

/// Two datagrams in one line, whose texts are parts of one CRI line: the entry before one need not begin a line.
#[test]
fn parts_that_stand_in_one_line() {
    let part = |tag: &str| format!("<30>1 2026-11-29T18:41:23Z vm a 7 - - 2026-06-10T14:00:02.35Z stderr {tag} x");
    let source = format!("\0{}\n{}\n{}", part("P"), part("P"), part("F"));
    let envelopes = ["syslog-5424", "cri"].map(|name| *ENVELOPES.iter().find(|e| e.name == name).unwrap()).to_vec();
    let layout = Layout { envelopes, formats: FORMATS.to_vec(), document: false };
    let all = seen(source.as_bytes(), &layout);
    assert_eq!(all.iter().map(|s| s.payload.as_str()).collect::<Vec<_>>(), ["\0", "xxx"]);
    for at in 1..source.len() {
        assert_eq!(record_start(source.as_bytes(), at, &layout), 1, "{at}");
    }
}

#[test]
fn the_document_names_every_envelope() {
    let document = include_str!("../../../../docs/corr-toml.md");
    let missing: Vec<&str> = ENVELOPES.iter().map(|e| e.name).filter(|name| !document.contains(&format!("`{name}`"))).collect();
    assert_eq!(missing, [""; 0], "docs/corr-toml.md does not name these");
}
