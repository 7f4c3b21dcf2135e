use super::*;

fn found<'o>(all: &'o [Objection], name: &str) -> &'o Objection {
    all.iter().find(|o| o.name == name).unwrap_or_else(|| panic!("{name} objected to nothing"))
}

const LINE: &str = "[2026-05-20 08:30:01 TP0] Init torch distributed begin.\n";

#[test]
fn every_candidate_is_chosen_or_objects() {
    let cri: String = (0..30).map(|i| format!("2026-05-20T06:30:01.5Z stderr F {i:02}: {LINE}")).collect();
    let journal = "{\"__REALTIME_TIMESTAMP\":\"1795978473250000\",\"MESSAGE\":\"x\"}\n";
    for sample in [LINE, &cri, journal, "", "\n\n", "-- No entries --\n", "\u{0}\u{1}\n", "{\"a\":1}\n", "words\n"] {
        let detection = detect(sample.as_bytes(), true);
        let all = objections(sample.as_bytes(), true, &[], &detection);
        let envelopes = all.iter().filter(|o| o.what == "envelope").count();
        assert_eq!(envelopes + detection.layout.envelopes.len(), ENVELOPES.len(), "{sample}");
        assert_eq!(all.len() - envelopes + detection.formats.len(), FORMATS.len(), "{sample}");
        for objection in &all {
            assert!(objection.not_taken <= objection.of && !objection.shape.is_empty(), "{objection:?}");
            assert!(objection.not_taken == objection.of || !objection.reason.is_empty(), "{objection:?}");
            assert_eq!(objection.first.is_some(), objection.not_taken > 0, "{objection:?}");
            assert!(objection.first.is_none_or(|at| at < sample.len()), "{objection:?}");
        }
    }
}

#[test]
fn the_first_line_that_is_not_taken_is_named() {
    let sample = format!("0: {LINE}1: {LINE}no label\n2: {LINE}");
    let all = objections(sample.as_bytes(), true, &[], &detect(sample.as_bytes(), true));
    // Three of four lines have labels, and what is inside is known: it is srun's.
    assert!(!all.iter().any(|o| o.name == "srun"));
    let sample = "0: a\n1: b\nno label\nnor this\n2: c\n";
    let all = objections(sample.as_bytes(), true, &[], &detect(sample.as_bytes(), true));
    let srun = found(&all, "srun");
    assert_eq!((srun.of, srun.not_taken, srun.first), (5, 2, Some(10)));
    let sglang = found(&all, "sglang");
    assert_eq!((sglang.of, sglang.not_taken, sglang.first, sglang.reason), (5, 5, Some(0), ""));
    assert_eq!(first_unknown(sample.as_bytes(), true, &Layout { formats: FORMATS.to_vec(), ..Layout::default() }), Some(0));
}

#[test]
fn what_objects_inside_an_envelope_is_placed_in_the_source() {
    let sample: String = ["0: a", "1: b", "bare", "2: c"].iter().map(|text| format!("2026-05-20T06:30:01.5Z stderr F {text}\n")).collect();
    let detection = detect(sample.as_bytes(), true);
    assert_eq!(detection.layout.wrapped_in().as_deref(), Some("cri"));
    let all = objections(sample.as_bytes(), true, &[], &detection);
    let srun = found(&all, "srun");
    let third = sample.match_indices('\n').nth(1).unwrap().0 + 1;
    assert_eq!((srun.depth, srun.of, srun.not_taken, srun.first), (1, 4, 1, Some(third)));
    // Outside it explains nothing either, and that is what is said.
    assert_eq!((found(&all, "ray").depth, found(&all, "ray").first), (0, Some(0)));
}

#[test]
fn a_mark_that_is_missing_is_said() {
    let sample = "Nov 29 18:41:23 vm python3[2101]: a\nNov 29 18:41:24 vm python3[2101]: b\n";
    let all = objections(sample.as_bytes(), true, &[], &detect(sample.as_bytes(), true));
    let syslog = found(&all, "syslog");
    assert_eq!((syslog.not_taken, syslog.reason), (0, "nothing that only it writes"));
}

#[test]
fn markers_that_several_envelopes_have_are_no_envelope() {
    let detection = detect(b"-- No entries --\n", true);
    assert!(detection.layout.envelopes.is_empty() && detection.envelopes.is_empty(), "{detection:?}");
    // An entry without a message is one all the same.
    let detection = detect(b"{\"__REALTIME_TIMESTAMP\":\"1795978473250000\",\"_PID\":\"1\"}\n", true);
    assert_eq!(detection.layout.wrapped_in().as_deref(), Some("journald-json"));
}

#[test]
fn an_envelope_that_begins_late_is_found() {
    // Only part of the lines is looked at first; of 400 that are tried, 240 are labelled.
    for block in [1, 2, 7, 160] {
        let line = |i: usize| if i / block % 5 < 2 { format!("line {i} of a script\n") } else { format!("{}: {LINE}", i % 8) };
        let mut lines: Vec<String> = (0..400).map(line).collect();
        if block == 160 {
            lines = (0..400).map(|i| if i < 160 { format!("line {i} of a script\n") } else { format!("{}: {LINE}", i % 8) }).collect();
        }
        let detection = detect(lines.concat().as_bytes(), true);
        assert_eq!(detection.layout.wrapped_in().as_deref(), Some("srun"), "{block}: {:?}", detection.envelopes);
        let taken = lines.iter().filter(|l| l.contains(": [")).count();
        assert!(detection.envelopes[0].reason.starts_with(&format!("{taken} of 400 entries")), "{:?}", detection.envelopes);
    }
}
