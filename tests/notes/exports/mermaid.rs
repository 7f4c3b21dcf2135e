//! The chart against the grammar of Gantt charts, as far as it is written, with names that try to leave their place.

use corr::export::mermaid::{MOST, What, Window, write};
use proptest::prelude::*;
use regex::Regex;

use crate::gfm;
use crate::hostile::hostile;

/// The chart's lines and the text below it; every line is one of those that are written.
fn valid(text: &str) -> (Vec<String>, String) {
    let Some(rest) = text.strip_prefix("```mermaid\n") else { return (Vec::new(), text.to_string()) };
    let (chart, below) = rest.split_once("```\n").expect("an end of the fence");
    let head = ["gantt", "    title Restart windows (UTC, whole seconds)", "    dateFormat YYYY-MM-DDTHH:mm:ss", "    axisFormat %H:%M:%S"];
    let lines: Vec<String> = chart.lines().map(String::from).collect();
    assert_eq!(lines.iter().take(4).collect::<Vec<_>>(), head);
    let section = Regex::new(r"^    section [A-Za-z0-9._/@-]{1,43}$").expect("a pattern");
    let time = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d";
    let task = Regex::new(&format!(r"^    (ready|outage) \d+ :(crit, )?w\d+, {time}, {time}$")).expect("a pattern");
    for line in lines.iter().skip(4) {
        assert!(section.is_match(line) || task.is_match(line), "{line}");
    }
    let bars = lines.iter().filter(|l| task.is_match(l)).count();
    assert!((1..=MOST).contains(&bars), "{bars} bars");
    (lines, below.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn names_cannot_leave_their_place(
        rows in prop::collection::vec((hostile(), any::<bool>(), 1usize..9, 0i64..9_000_000_000, prop::option::of(1i64..90_000_000_000)), 1..40),
        how in hostile(), remark in hostile()
    ) {
        let windows: Vec<Window> = rows
            .iter()
            .map(|(unit, away, number, since, length)| Window {
                unit: unit.clone(),
                what: if *away { What::Outage } else { What::Ready },
                number: *number,
                since: 1_795_979_600_000_000_000 + since,
                until: length.map(|length| 1_795_979_600_000_000_000 + since + length),
                length: (number % 2 == 0).then(|| how.clone()),
                how: how.clone(),
                cites: vec![format!("{unit}:3")],
            })
            .collect();
        let text = write(&windows, &[remark]).expect("windows");
        let (lines, below) = valid(&text);
        let bars = lines.iter().filter(|l| l.contains(" :")).count();
        let closed = windows.iter().filter(|w| w.until.is_some()).count();
        prop_assert_eq!(bars, closed.min(MOST));
        // Outages are not left out while something that was ready is drawn.
        let away = windows.iter().filter(|w| w.until.is_some() && w.what == What::Outage).count();
        prop_assert_eq!(lines.iter().filter(|l| l.starts_with("    outage")).count(), away.min(MOST));
        let tables = gfm::cells(&below);
        prop_assert_eq!(tables.len(), 1);
        prop_assert_eq!(tables[0].len(), windows.len() + 1, "every window has a row");
        for row in &tables[0] {
            prop_assert_eq!(row.len(), 6);
            prop_assert!(row.iter().all(|cell| cell.markup.is_empty()));
        }
        prop_assert_eq!(closed > MOST, below.contains("are left out of it"));
        prop_assert!(!below.chars().any(|c| c.is_control() && c != '\n'));
    }
}

#[test]
fn an_end_that_was_not_seen_has_no_bar() {
    let window = Window {
        unit: "u".into(),
        what: What::Ready,
        number: 1,
        since: 0,
        until: None,
        length: None,
        how: String::new(),
        cites: Vec::new(),
    };
    let text = write(&[window], &[]).expect("a window");
    assert!(!text.contains("mermaid") && text.contains("| not seen | unknown |") && text.contains("1 have no end that was seen"), "{text}");
    assert!(write(&[], &[]).is_none());
}
