//! The modes besides the common ones, and what must not be taken for them.

use super::*;

#[test]
fn stamps_without_a_date_are_no_stamps() {
    let monotonic = one(b"[    5.011790] h a[1]: x\n", &SHORT_MONOTONIC);
    assert_eq!((monotonic.meta.stamp, monotonic.meta.monotonic), (None, Some(5_011_790_000)));
    let long = one(b"[1234567.000001] h a[1]: x\n", &SHORT_MONOTONIC);
    assert_eq!(long.meta.monotonic, Some(1_234_567_000_001_000));
    for (line, ns) in [
        ("[    3.000000                ] h a[1]: x", 3_000_000_000),
        ("[    3.012000 <    0.012000 >] h a[1]: x", 3_012_000_000),
        ("[    7.000000 <5738336.763050*>] h a[1]: x", 7_000_000_000),
        ("[100007.000000 <    0.000001 >] h kernel: x", 100_007_000_000_000),
    ] {
        let delta = one(line.as_bytes(), &SHORT_DELTA);
        assert_eq!((delta.meta.stamp, delta.meta.monotonic, text(&delta)), (None, Some(ns), "x"), "{line}");
        assert!(!(SHORT_MONOTONIC.begins)(line.as_bytes()), "{line}");
    }
    for line in ["[    5.011790] h a[1]: x", "[   5.011790 <    0.1 >] h a[1]: x", "[    5.011790 <    0.012000 ] h a[1]: x", "[5.011790]"]
    {
        assert!(!(SHORT_DELTA.begins)(line.as_bytes()), "{line}");
    }
}

#[test]
fn stamps_since_1970() {
    let stamp = |line: &str| one(line.as_bytes(), &SHORT_UNIX).meta.stamp.map(|s| (s.ns, s.width, s.zone, s.len));
    assert_eq!(stamp("1767225462.011790 h a[1]: x"), Some((1_767_225_462_011_790_000, 1_000, Zone::Utc, 17)));
    // A clock that was never set.
    assert_eq!(stamp("        12.000001 h a[1]: x"), Some((12_000_001_000, 1_000, Zone::Utc, 17)));
    assert!(!(SHORT_UNIX.begins)(b"1767225462.0117 h a[1]: x"));
    assert!(!(SHORT_UNIX.begins)(b"17672254 2.011790 h a[1]: x"));
}

/// Lines of other programs that begin with the same stamps.
#[test]
fn other_programs_stamps() {
    for line in [
        "[    0.000000] Linux version 6.8.0-60-generic (buildd@lcy02)",
        "[    1.201932] usb 1-1: new high-speed USB device number 2 using xhci_hcd",
        "[    1.301932] ACPI: PM: Registering ACPI NVS region",
        "[    1.401932] audit: type=2000 audit(1767225462.011:1): state=initialized",
        "[   49.498500] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>",
        "1767225462.011790 IP 10.0.0.1.22 > 10.0.0.2.33: Flags [P.], seq 1",
        "1767225462.011790 openat(AT_FDCWD, \"/etc/ld.so.cache\", O_RDONLY) = 3",
        "Wed 2025-12-31 15:57:42.011790 PST h a[1]: x",
    ] {
        for (envelope, _) in SAMPLES {
            assert!(!(envelope.begins)(line.as_bytes()), "{} takes {line}", envelope.name);
        }
    }
    let dmesg = b"[    0.000000] Linux version 6.8.0\n[    1.201932] usb 1-1: new device\n[    2.1] x\n[    3.101932] systemd[1]: Detected kvm.\n[    3.201932] usb 1-2: x\n";
    assert_eq!(detect(dmesg, true).layout.envelopes.first().map(|e| e.name), None);
}

#[test]
fn the_column_of_with_unit() {
    let entry = |rest: &str| one(format!("Wed 2025-12-31 15:57:42 UTC h {rest}\n").as_bytes(), &SHORT_FULL);
    let meta = |rest: &str| {
        let meta = entry(rest).meta;
        (meta.unit, meta.unit_source, meta.ident, meta.pid)
    };
    let owned = |unit: &str, source, ident: &str, pid| (unit.to_owned(), source, ident.to_owned(), pid);
    let printed = short::PRINTED_UNIT;
    assert_eq!(meta("sglang@decode\\x2d0.service[5]: x"), owned("sglang@decode\\x2d0.service", printed, "", Some(5)));
    assert_eq!(meta("user@1000.service/a.service[5]: x"), owned("a.service", printed, "", Some(5)));
    assert_eq!(meta("init.scope[1]: x"), owned("init.scope", printed, "", Some(1)));
    let of_pid_1 = owned("a.service", "text of the PID 1 message", "", Some(1));
    assert_eq!(meta("init.scope[1]: a.service: Failed with result 'timeout'."), of_pid_1);
    assert_eq!(more(&entry("init.scope[1]: a.service: Failed with result 'timeout'.").meta, "_SYSTEMD_UNIT"), Some("init.scope"));
    // A user's manager does not speak for the system's units.
    assert_eq!(meta("user@1000.service/init.scope[9]: Started a.service - A."), owned("init.scope", printed, "", Some(9)));
    // What has no unit, in with-unit, and what is short-full.
    assert_eq!(meta("kernel: x"), owned("", "", "kernel", None));
    assert_eq!(meta("python3[5]: x"), owned("", "", "python3", Some(5)));
    // journalctl's indent has the system's unit twice and the user's not at all: `Wed … h ` and `a@1.service/bb.service[5]: `.
    let lines = format!("Wed 2025-12-31 15:57:42 UTC h a@1.service/bb.service[5]: x\n{}y\n", " ".repeat(30 + 11 + 1 + 11 + 5));
    assert_eq!(text(&one(lines.as_bytes(), &SHORT_FULL)), "x\ny");
}

const HEAD: &str = "Wed 2025-12-31 23:57:42.011790 UTC [s=da60;i=3;b=a0000000000040008000000000000001;m=4c7a20;t=647483de6b860;x=d792]";

#[test]
fn verbose_fields_and_cursor() {
    let fields = "    _PID=1\n    UNIT=a.service\n    MESSAGE=one\n            two\n\n              four\n    _SOURCE_REALTIME_TIMESTAMP=1767225462011790\n";
    let entry = one(format!("{HEAD}\n{fields}").as_bytes(), &VERBOSE);
    assert_eq!(text(&entry), "one\ntwo\n\n  four");
    let meta = &entry.meta;
    assert_eq!(meta.stamp.map(|s| (s.ns, s.at, s.len)), Some((1_767_225_462_011_790_000, 0, 34)));
    assert_eq!(meta.received.map(|s| s.ns), Some(1_767_225_462_012_000_000));
    let received = meta.received.unwrap();
    assert_eq!(&HEAD[received.at as usize..][..received.len as usize], "647483de6b860");
    assert_eq!((meta.monotonic, meta.boot.as_str()), (Some(5_012_000_000), "a0000000000040008000000000000001"));
    assert_eq!((meta.unit.as_str(), meta.unit_source, meta.pid), ("a.service", "UNIT", Some(1)));
    let blob = one(format!("{HEAD}\n    MESSAGE=[1.2K blob data]\n").as_bytes(), &VERBOSE);
    assert!(blob.meta.lossy && blob.meta.loss.is_some());
    assert_eq!(one(format!("{HEAD}\n    _PID=1\n").as_bytes(), &VERBOSE).content, Content::Skip("entry without MESSAGE"));
    // A terminal's copy: a colour before the name, its end on the line behind.
    let coloured = format!("\x1b[0m{HEAD}\n    \x1b[0;1;39mMESSAGE=one\n            two\n\x1b[0m    _PID=7\n");
    let entry = one(coloured.as_bytes(), &VERBOSE);
    assert_eq!((text(&entry), entry.meta.pid, entry.meta.stamp.map(|s| s.at)), ("one\ntwo", Some(7), Some(4)));
}

/// The zone's name need not be unique: the cursor says what is meant.
#[test]
fn verbose_in_any_zone() {
    let stamp = |printed: &str, fields: &str| {
        let head = HEAD.replace("Wed 2025-12-31 23:57:42.011790 UTC", printed);
        one(format!("{head}\n    MESSAGE=x\n{fields}").as_bytes(), &VERBOSE).meta.stamp.map(|s| (s.ns, s.zone))
    };
    let utc = 1_767_225_462_012_000_000;
    assert_eq!(stamp("Thu 2026-01-01 05:27:42.012000 IST", ""), Some((utc, Zone::Utc)));
    let source = "    _SOURCE_REALTIME_TIMESTAMP=1767225462011790\n";
    assert_eq!(stamp("Wed 2025-12-31 15:57:42.011790 PST", source), Some((utc - 210_000, Zone::Utc)));
    // With --output-fields the source's stamp is printed and not said: only the digits and the zone's name are left.
    assert_eq!(stamp("Wed 2025-12-31 15:57:42.011790 PST", "").map(|s| s.1), Some(Zone::Abbreviation(*b"PST   ")));
}

#[test]
fn pretty_objects() {
    let entry = one(b"{\n\t\"__REALTIME_TIMESTAMP\" : \"1767225460000000\",\n\t\"MESSAGE\" : [\n\t\t27,\n\t\t91\n\t]\n}\n", &JSON_PRETTY);
    assert_eq!((entry.content, text(&entry)), (Content::Payload, "\x1b["));
    let cut = b"{\n\t\"__REALTIME_TIMESTAMP\" : \"1\",\n{\n\t\"__REALTIME_TIMESTAMP\" : \"1767225460000000\",\n\t\"MESSAGE\" : \"x\"\n}\n";
    let contents: Vec<Content> = read_all(cut, &JSON_PRETTY).iter().map(|e| e.content).collect();
    assert_eq!(contents, [Content::Broken("JSON ends early"), Content::Payload]);
    // Any other document of several lines.
    assert_eq!(one(b"{\n\t\"a\" : 1\n}\n", &JSON_PRETTY).content, Content::Broken("JSON, but not of journalctl"));
    assert_eq!(detect(b"{\n  \"a\": 1,\n  \"b\": {\n    \"c\": 2\n  }\n}\n", true).layout.envelopes.first().map(|e| e.name), None);
    let coloured = b"{\n\t\"\x1b[0;32m__REALTIME_TIMESTAMP\x1b[0m\" : \"\x1b[0;32m1\x1b[0m\",\n\t\"\x1b[0;32mMESSAGE\x1b[0m\" : \"\x1b[0;32mx\x1b[0m\"\n}\n";
    assert_eq!(text(&one(coloured, &JSON_PRETTY)), "x");
}

/// `--show-cursor` writes its line in every mode, `cat` among them: it names none.
#[test]
fn a_cursor_is_no_sign_of_a_mode() {
    let line = b"-- cursor: s=da6036e9;i=dc;b=c0;m=1;t=2;x=3\n";
    for (envelope, sample) in SAMPLES {
        assert!(!(envelope.begins)(line), "{}", envelope.name);
        let entries = read_all(&[sample, &line[..]].concat(), envelope);
        assert_eq!(entries.last().unwrap().content, Content::Skip("cursor"), "{}", envelope.name);
    }
    assert_eq!(detect(&[b"Started a.\n", &line[..]].concat(), true).layout.envelopes.first().map(|e| e.name), None);
}

/// What a terminal shows around a message hides neither a unit nor a blob.
#[test]
fn colours_and_links() {
    let at = |text: &str| one(format!("Nov 01 10:33:16 h systemd[1]: {text}\n").as_bytes(), &SHORT);
    let failed = at("\x1b[0;1;39m\x1b[0;1;31m\x1b[0;1;39ma.service: Failed with result 'signal'.\x1b[0m");
    assert_eq!(failed.meta.unit, "a.service");
    assert!(at("\x1b[0;1;39m[28B blob data]\x1b[0m").meta.lossy);
    for mark in ["[🡕]", "[LNK]"] {
        let link = format!("\x1b]8;;man:journald.conf(5)\x07{mark}\x1b]8;;\x07 Suppressed 1734 messages from a.service");
        assert_eq!(text(&at(&link)), "Suppressed 1734 messages from a.service");
    }
    assert_eq!(text(&at("\x1b]8;;https://x/\x1b\\link\x1b]8;;\x1b\\ x")), "\x1b]8;;https://x/\x1b\\link\x1b]8;;\x1b\\ x");
    for mark in ["░░", "--"] {
        let explained = format!("\x1b[0;38;5;245m{mark}\x1b[0m \x1b[0;32mDefined-By: systemd\x1b[0m");
        assert_eq!(one(explained.as_bytes(), &SHORT).content, Content::Skip("explanation from the catalog"));
    }
}

/// `journalctl --header` of the same file: `State: ONLINE`, `COMPRESSED-ZSTD KEYED-HASH COMPACT`, `Entry objects: 568`, its machine and both stamps.
#[test]
fn the_head_of_a_journal_file() {
    let head = include_bytes!("../samples/journal-head.bin");
    let journal = binary::read(head).unwrap();
    assert_eq!((journal.entries, journal.first_us, journal.last_us), (568, 0x6616e4da4b9df, 0x6616e51bd4ae6));
    assert_eq!(
        (journal.online, journal.needs, u128::from_be_bytes(journal.machine)),
        (true, 4 + 8 + 16, 0x5a1e0000c0ffee00000000000000097a)
    );
    assert!(binary::is_journal(head));
    assert_eq!(binary::read(&head[..207]), None);
    assert_eq!(binary::read(&[0; 300]), None);
}
