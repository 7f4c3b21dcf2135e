//! What the texts of systemd give, against the ids and fields that it sent beside them.

use super::*;

/// MESSAGE_ID of systemd (formats of all versions agree) and the kinds that its texts may get.
static MESSAGE_IDS: &[(&str, &[&str])] = &[
    ("7d4958e842da4a758f6c1cdc7b36dcc5", &["unit_starting"]),
    ("39f53479d3a045ac8e11786248231fbf", &["unit_started", "unit_finished", "unit_skipped"]),
    ("be02cf6855d2428ba40df7e9d022f03d", &["unit_start_failed", "unit_dependency_failed"]),
    ("de5b426a63be47a7b6ac3eaac82e2f6f", &["unit_stopping"]),
    ("9d1aaa27d60140bd96365438aad20286", &["unit_stopped"]),
    ("d34d037fff1847e6ae669a370e694725", &["unit_reloading"]),
    ("7b05ebc668384222baa8881179cfda54", &["unit_reloaded"]),
    ("98e322203f7a4ed290d09fe03c09fe15", &["unit_main_exited", "unit_control_exited"]),
    ("d9b373ed55a64feb8242e02dbe79a49c", &["unit_failed"]),
    ("7ad2d189f7e94e70a38c781354912448", &["unit_deactivated"]),
    ("5eb03494b6584870a536b337290809b3", &["unit_restart_scheduled"]),
    ("641257651c1b4ec9a8624d7a40a9e1e7", &["unit_exec_failed"]),
    ("fe6faa94e7774663a0da52717891d8ef", &["unit_oom_killed"]),
    ("ae8f7b866b0347b9af31fe1c80b127c0", &["unit_consumed"]),
    ("a596d6fe7bfa4994828e72309e95d61e", &["journal_suppressed"]),
    ("e9bf28e6e834481bb6f48f548ad13606", &["journal_missed"]),
    ("c7a787079b354eaaa9e77b371893cd27", &["clock_changed"]),
    ("f77379a8490b408bbe5f6940505a777b", &["journal_started"]),
    ("b07a249cd024414a82dd00cd181378ff", &["startup_finished"]),
];

/// The kinds and fields that the text gives, against the ids and fields that systemd sent beside it.
#[test]
fn systemds_texts_agree_with_its_fields() {
    let Some(root) = cases("journald") else { return };
    let mut found = Vec::new();
    for folder in ["synthetic", "real", "cases"] {
        files(&root.join(folder), &mut found);
    }
    let (mut checked, mut compared, mut wrong) = (0, 0, 0);
    for path in found.iter().filter(|path| path.file_name().is_some_and(|name| name == "json.txt")) {
        let bytes = std::fs::read(path).unwrap();
        let layout = crate::record::Layout { envelopes: vec![&JSON], formats: crate::FORMATS.to_vec(), document: false };
        let mut reader = crate::record::Reader::new(&bytes, 0, &layout);
        while let Some(record) = reader.next() {
            let mut event = crate::event::Event::new(&crate::text::kinds::TEXT);
            record.parse(&mut event);
            let meta = record.meta.unwrap();
            let more = |name: &str| meta.more.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
            let Some((_, kinds)) = more("MESSAGE_ID").and_then(|id| MESSAGE_IDS.iter().find(|(known, _)| *known == id)) else { continue };
            checked += 1;
            let mut complain = |what: &str| {
                wrong += 1;
                println!("{}: {what}: {}", path.strip_prefix(&root).unwrap().display(), String::from_utf8_lossy(record.payload));
            };
            if !kinds.contains(&event.kind.name) {
                complain(event.kind.name);
            }
            let speaks = matches!(meta.unit_source, "UNIT" | "USER_UNIT");
            let about = more("OBJECT_SYSTEMD_UNIT").or(if speaks { Some(meta.unit.as_str()) } else { None });
            for (field, want) in [
                ("unit", about),
                ("result", more("UNIT_RESULT")),
                ("code", more("EXIT_CODE")),
                ("status", more("EXIT_STATUS")),
                ("restart_counter", more("N_RESTARTS")),
                ("messages", more("N_DROPPED")),
            ] {
                let Some(got) = event.get(field) else { continue };
                let got = match got {
                    crate::event::Value::Str(text) => text.to_string(),
                    crate::event::Value::Int(number) => number.to_string(),
                    other => format!("{other:?}"),
                };
                if let Some(want) = want {
                    compared += 1;
                    if got != want {
                        complain(&format!("{field} is {want} in the journal and {got} in the text"));
                    }
                }
            }
        }
    }
    println!("systemd texts: {checked} messages, {compared} fields compared, {wrong} differences");
    assert!(checked > 400 && compared > 400, "{checked} {compared}");
    assert_eq!(wrong, 0);
}

/// Of one journal every short mode gives the same kinds of systemd's, and how many of each the journal holds is known from its JSON.
#[test]
fn every_short_mode_gives_the_same_kinds() {
    let Some(root) = cases("journald") else { return };
    let (mut compared, mut wrong) = (0, 0);
    for (folder, _) in folders(&root) {
        let count = |mode: &str, envelope: &'static Envelope| {
            let bytes = std::fs::read(root.join(&folder).join(format!("{mode}.txt"))).ok()?;
            let layout = crate::record::Layout { envelopes: vec![envelope], formats: crate::FORMATS.to_vec(), document: false };
            let mut reader = crate::record::Reader::new(&bytes, 0, &layout);
            let mut counts = std::collections::BTreeMap::<&str, usize>::new();
            while let Some(record) = reader.next() {
                let mut event = crate::event::Event::new(&crate::text::kinds::TEXT);
                record.parse(&mut event);
                if record.format.is_some_and(|format| format.name == "systemd") {
                    *counts.entry(event.kind.name).or_default() += 1;
                }
            }
            Some(counts)
        };
        let json = count("json", &JSON).unwrap();
        for (mode, envelope) in MODES.iter().filter(|(mode, _)| mode.starts_with("short") || *mode == "with-unit") {
            let Some(counts) = count(mode, envelope) else { continue };
            compared += counts.len();
            let kinds: std::collections::BTreeSet<&str> = json.keys().chain(counts.keys()).copied().collect();
            for kind in kinds {
                let n = |counts: &std::collections::BTreeMap<&str, usize>| counts.get(kind).copied().unwrap_or(0);
                if n(&json) != n(&counts) {
                    wrong += 1;
                    println!("{folder}/{mode}: {kind} {} of {}", n(&counts), n(&json));
                }
            }
            println!("{folder}/{mode}: {} kinds, {} records of systemd's", counts.len(), counts.values().sum::<usize>());
        }
    }
    println!("systemd in the short modes: {compared} counts compared, {wrong} differences");
    assert!(compared > 400, "{compared}");
    assert_eq!(wrong, 0);
}
