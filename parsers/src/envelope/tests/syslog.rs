//! The 13 messages that rsyslog wrote in four templates (`cases/journald/syslog`), and the datagrams of `logger`. Expectations are read from
//! the bytes: see `MESSAGES`.

use super::more;
use crate::cases::cases;
use crate::detect::detect;
use crate::envelope::syslog::{FILE_FORMAT, RFC3164, RFC5424, TRADITIONAL};
use crate::format::{Content, Entry, Envelope};

/// Identifier, pid, microsecond within 18:41:23, priority, text. The tenth text is 8061 times `x`, where rsyslog cut at 8 KiB.
type Message = (&'static str, Option<u32>, i64, u8, &'static [u8]);
static MESSAGES: &[Message] = &[
    ("python3", Some(2101), 972_134, 6, b"The server is fired up and ready to roll!"),
    ("python3", Some(2101), 972_169, 6, b"[2026-06-10 07:00:12] INFO:     10.0.0.5:40112 - \"POST /generate HTTP/1.1\" 200 OK"),
    ("python3", Some(2101), 972_171, 6, b"Traceback (most recent call last):\n  File \"a.py\", line 1\n    raise X\nX: y"),
    ("python3", Some(2101), 972_173, 6, b"tab\there"),
    ("python3", Some(2101), 972_174, 6, b"\x1b[32mINFO\x1b[0m:     Application startup complete."),
    ("python3", Some(2101), 972_176, 6, b"latin1 caf\xe9 bytes"),
    ("python3", Some(2101), 972_177, 6, "utf8 café 模型 🚀".as_bytes()),
    ("python3", Some(2101), 972_180, 6, b"   leading spaces"),
    ("python3", Some(2101), 972_181, 6, b""),
    ("python3", Some(2101), 972_190, 6, b"x8061"),
    ("sglang-decode", None, 972_192, 6, b"no pid here"),
    ("systemd", Some(1), 989_419, 6, b"Started sglang-prefill.service - SGLang prefill worker (Qwen3-32B TP2)."),
    ("kernel", None, 989_491, 4, b"NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."),
];

/// 2026-11-29T18:41:23Z; and the same time of the leap year 1972, in which stamps without a year stand.
const SECOND: i64 = 1_795_977_683;
const SECOND_1972: i64 = 91_910_483;

fn read_all(bytes: &[u8], envelope: &Envelope) -> Vec<Entry> {
    let (mut all, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let mut entry = Entry::default();
        let len = (envelope.read)(bytes, at, &mut entry);
        assert!(len > 0 && at + len <= bytes.len());
        at += len;
        all.push(entry);
    }
    all
}

#[test]
fn thirteen_messages_in_four_templates() {
    let Some(root) = cases("") else { return };
    let (mut compared, mut different) = (0, 0);
    for (name, envelope) in [("traditional", &TRADITIONAL), ("fileformat", &FILE_FORMAT), ("protocol23", &RFC5424), ("forward", &RFC3164)] {
        let bytes = std::fs::read(root.join(format!("journald/syslog/{name}.log"))).unwrap();
        let detection = detect(&bytes, true);
        assert_eq!(detection.layout.wrapped_in().as_deref(), Some(envelope.name), "{name}: {:?}", detection.envelopes);
        let entries = read_all(&bytes, envelope);
        assert_eq!(entries.len(), MESSAGES.len(), "{name}");
        let with_priority = matches!(name, "protocol23" | "forward");
        let precise = matches!(name, "protocol23" | "fileformat");
        for (i, (entry, (ident, pid, micros, priority, text))) in entries.iter().zip(MESSAGES).enumerate() {
            let long = vec![b'x'; 8061];
            let text = if *text == b"x8061" { &long[..] } else { text };
            let ns = if precise { SECOND * 1_000_000_000 + micros * 1_000 } else { SECOND_1972 * 1_000_000_000 };
            let meta = &entry.meta;
            let unit = if *ident == "systemd" { "sglang-prefill.service" } else { "" };
            for (what, ok) in [
                ("content", entry.content == Content::Payload),
                ("text", entry.text == text),
                ("stamp", meta.stamp.map(|s| (s.ns, s.width)) == Some((ns, if precise { 1_000 } else { 1_000_000_000 }))),
                ("stamp's place", meta.stamp.is_some_and(|s| s.len == if precise { 32 } else { 15 })),
                ("host", meta.host == "vm"),
                ("ident", meta.ident == *ident),
                ("pid", meta.pid == *pid),
                ("priority", meta.priority == with_priority.then_some(*priority)),
                ("unit", meta.unit == unit),
                ("loss", meta.loss.is_some() == (text.len() == 8061)),
            ] {
                compared += 1;
                if !ok {
                    different += 1;
                    println!(
                        "{name}: message {}: {what}: {meta:?} {:?}",
                        i + 1,
                        String::from_utf8_lossy(&entry.text[..entry.text.len().min(99)])
                    );
                }
            }
        }
    }
    println!("syslog: 4 templates of {} messages, {compared} facts compared, {different} differences", MESSAGES.len());
    assert_eq!((compared, different), (4 * 13 * 10, 0));
}

/// The bytes literals of `logger.txt`, which quotes every datagram as Python prints it.
fn datagrams(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.split_once("b'")?.1.strip_suffix('\'')).collect()
}

#[test]
fn datagrams_of_logger() {
    let text = "The server is fired up and ready to roll!";
    let Some(folder) = cases("journald/syslog") else { return };
    let all = std::fs::read_to_string(folder.join("logger.txt")).unwrap();
    let all = datagrams(&all);
    assert_eq!(all.len(), 5);
    let sent = [
        (&RFC3164, "vm", None),
        (&RFC5424, "vm", Some(346_827)),
        (&RFC5424, "vm", Some(350_491)),
        (&RFC5424, "", Some(352_120)),
        (&RFC3164, "", None),
    ];
    for (datagram, (envelope, host, micros)) in all.iter().zip(sent) {
        // Alone, and several without anything between.
        let stream = datagram.repeat(3);
        for bytes in [datagram.as_bytes(), stream.as_bytes()] {
            let detection = detect(bytes, true);
            assert_eq!(detection.layout.wrapped_in().as_deref(), Some(envelope.name), "{datagram}");
            let entries = read_all(bytes, envelope);
            assert_eq!(entries.len(), bytes.len() / datagram.len(), "{datagram}");
            for entry in &entries {
                assert_eq!((std::str::from_utf8(&entry.text).unwrap(), entry.content), (text, Content::Payload), "{datagram}");
                let meta = &entry.meta;
                assert_eq!((meta.host.as_str(), meta.ident.as_str(), meta.pid, meta.priority), (host, "python3", Some(2101), Some(6)));
                assert_eq!(more(meta, "facility"), Some("3"));
                let ns = micros.map(|us| 1_795_977_700_000_000_000i64 + us * 1_000);
                assert_eq!(meta.stamp.unwrap().absolute().map(|s| s.start), ns, "{datagram}");
            }
        }
    }
    assert_eq!(more(&read_all(all[1].as_bytes(), &RFC5424)[0].meta, "structured_data"), Some("[timeQuality tzKnown=\"1\" isSynced=\"0\"]"));
}

/// Messages of several lines, counted; and a wrong count.
#[test]
fn octet_counts() {
    let frame = |text: &str| format!("{} {text}", text.len());
    let bytes = [
        frame("<30>1 2026-11-29T18:41:40.350491+00:00 vm python3 2101 - - one\ntwo\n137 <30>1 no head"),
        frame("<30>1 2026-11-29T18:41:40.350491Z vm python3 2101 ID7 [a x=\"]\\\"\"][b] \u{feff}three"),
        frame("<30>Nov  9 18:41:40 vm python3[2101]: four"),
    ]
    .concat();
    let texts: Vec<String> = read_all(bytes.as_bytes(), &RFC5424).iter().map(|e| String::from_utf8(e.text.clone()).unwrap()).collect();
    assert_eq!(texts, ["one\ntwo\n137 <30>1 no head", "three", "42 <30>Nov  9 18:41:40 vm python3[2101]: four"]);
    assert_eq!(read_all(bytes.as_bytes(), &RFC3164)[2].text, b"four");
    // Some count the line end too.
    let ended = frame("<30>1 2026-11-29T18:41:40Z vm app - - - one\ntwo\n").repeat(2);
    assert_eq!(read_all(ended.as_bytes(), &RFC5424).iter().map(|e| &e.text[..]).collect::<Vec<_>>(), [b"one\ntwo"; 2]);
    let wrong = "99 <30>1 2026-11-29T18:41:40Z vm app - - - text\n9 <30>1 2026-11-29T18:41:40Z vm app - - - more\n";
    let entries = read_all(wrong.as_bytes(), &RFC5424);
    assert_eq!(entries.iter().map(|e| &e.text[..]).collect::<Vec<_>>(), [&b"text"[..], b"more"]);
}

#[test]
fn many_datagrams_of_a_line_cost_one_read() {
    // What looks to the line's end for each of them would not end within the test's time; nor what believes a count before a head is seen.
    let entries = read_all("<30>Jun 10 14:00:00 vm a: x".repeat(150_000).as_bytes(), &RFC3164);
    assert!(entries.len() == 150_000 && entries.iter().all(|e| e.text == b"x" && e.content == Content::Payload));
    let (lines, width) = (80_000, 11);
    let counts: String = (1..=lines).map(|i| format!("{:07} <x\n", (lines - i) * width + 3)).collect();
    let entries = read_all(counts.as_bytes(), &RFC5424);
    assert!(entries.len() == lines && entries.iter().all(|e| e.text.ends_with(b" <x") && e.content == Content::Bare));
}

#[test]
fn rsyslogs_files_and_journalctls_are_told_apart() {
    let lines = |text: &str| detect(text.as_bytes(), true).layout.wrapped_in();
    let plain = "Nov 29 18:41:23 vm python3[2101]: one\nNov 29 18:41:24 vm python3[2101]: two\n";
    assert_eq!(lines(plain).as_deref(), Some("journald-short"));
    assert_eq!(lines(&plain.replace("two", "two#012  three")).as_deref(), Some("syslog"));
    assert_eq!(lines(&plain.replace("Nov 29", "Nov  9")).as_deref(), Some("syslog"));
    assert_eq!(lines(&plain.replace("two", "see issue #712")).as_deref(), Some("journald-short"));
    let indented = plain.replace("two", "two#012\n                                  three");
    assert_eq!(lines(&indented).as_deref(), Some("journald-short"));
    let iso =
        plain.replace("Nov 29 18:41:2", "2026-11-29T18:41:2").replace("3 vm", "3.972134+00:00 vm").replace("4 vm", "4.000001+00:00 vm");
    assert_eq!(lines(&iso).as_deref(), Some("journald-short-iso-precise"));
    assert_eq!(lines(&iso.replace("two", "a#011b")).as_deref(), Some("syslog-iso"));
}
