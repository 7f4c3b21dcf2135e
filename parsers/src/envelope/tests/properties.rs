//! Any bytes: every one of them is in one record, nothing panics, and a read from anywhere sees the same records.

use proptest::prelude::*;

use crate::detect::detect;
use crate::format::{Cut, Entry, Envelope};
use crate::record::{Layout, Reader, record_start};
use crate::{ENVELOPES, FORMATS};

/// Pieces of every envelope's lines, and of what may stand in them.
fn soup() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        2 => prop::collection::vec(any::<u8>(), 0..24),
        1 => (16_380usize..16_388).prop_map(|n| vec![b'x'; n]),
        9 => prop::sample::select(vec![
            &b"\n"[..], b"\n", b"\n", b"\r\n", b" ", b"\x1b[36m", b"\x1b[0m", b"3: ", b"08: ", b"[rank0]: ", b"[default0]:", b"(f pid=7, ip=1.2) ",
            b"(raylet) ", b" [repeated 3x across cluster]", b"sglang-1  | ", b"[pod/a/b] ", b"2026-06-10T14:00:02.350000000Z ",
            b"2026-06-10T14:00:02.35Z stdout F ", b"2026-06-10T14:00:02.35Z stdout P ", b"2026-06-10T14:00:02.35Z stderr P ",
            b"{\"log\":\"text\\n\",\"stream\":\"stdout\",\"time\":\"2026-06-10T14:00:02Z\"}\n",
            b"{\"log\":\"part\",\"stream\":\"stdout\",\"time\":\"2026-06-10T14:00:02Z\"}\n", b"{\"log\":\"", b"\",\"stream\":\"stderr\",",
            b"{\"line\":\"3: x\",\"timestamp\":\"1781100002350000000\",\"fields\":{\"pod\":\"p\"}}", b"[", b",", b"]", b"{\"line\":\"",
            b"1781100002350\t2026-06-10T14:00:02.350Z\t", b"<30>", b"<30>Nov 29 18:41:23 vm a[7]: ", b"<30>1 2026-11-29T18:41:23Z vm a 7 - - ",
            b"60 <30>1 2026-11-29T18:41:23Z vm a 7 - - ", b"9 <30>", b"Nov  9 18:41:23 vm a[7]: ", b"2026-11-29T18:41:23.000001+00:00 vm a: ",
            b"#012", b"#0", b"[a b=\"]\\\"\"]", b"[2026-05-20 08:30:00 TP0] Decode batch, ", b"Receive: obj=GenerateReqInput(text='",
            b"{\"__REALTIME_TIMESTAMP\":\"1\",\"MESSAGE\":\"3: x\"}\n",
        ]).prop_map(<[u8]>::to_vec),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

type Told = Vec<(usize, usize, Vec<u8>, Option<usize>, Option<&'static str>)>;

fn read_from(bytes: &[u8], at: usize, layout: &Layout) -> Told {
    let mut reader = Reader::new(bytes, at, layout);
    let mut all = Vec::new();
    while let Some(record) = reader.next() {
        all.push((record.offset, record.len, record.payload.to_vec(), record.rest, record.format.map(|f| f.name)));
    }
    all
}

fn check(bytes: &[u8], layout: &Layout) -> Result<(), TestCaseError> {
    let all = read_from(bytes, 0, layout);
    let mut at = 0;
    for (i, (offset, len, ..)) in all.iter().enumerate() {
        prop_assert_eq!(*offset, at);
        prop_assert!(*len > 0);
        at += len;
        for inside in [*offset, offset + len / 2, at - 1] {
            prop_assert_eq!(record_start(bytes, inside, layout), *offset, "{:?} at {}", layout.wrapped_in(), inside);
        }
        prop_assert_eq!(&read_from(bytes, *offset, layout)[..], &all[i..], "{:?} from {}", layout.wrapped_in(), offset);
    }
    prop_assert_eq!(at, bytes.len());
    Ok(())
}

/// All but journald's, whose own tests do the same.
fn own() -> impl Iterator<Item = &'static Envelope> {
    ENVELOPES.iter().copied().filter(|e| !e.name.starts_with("journald"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn any_bytes(bytes in soup(), outer in any::<prop::sample::Index>(), inner in prop::collection::vec(any::<prop::sample::Index>(), 0..3)) {
        let all: Vec<&'static Envelope> = own().collect();
        for envelope in &all {
            let mut entry = Entry::default();
            let mut at = 0;
            while at < bytes.len() {
                entry.clear();
                let len = (envelope.read)(&bytes, at, &mut entry);
                prop_assert!(len > 0 && at + len <= bytes.len(), "{} at {}", envelope.name, at);
                // A text is no longer than what it was read from: no escape of any of them makes more of less.
                prop_assert!(entry.text.len() <= len, "{} at {}", envelope.name, at);
                prop_assert!(envelope.cuts || entry.meta.cut == Cut::No, "{} at {}", envelope.name, at);
                at += len;
            }
        }
        let mut envelopes = vec![*outer.get(&all)];
        for index in inner {
            let envelope = *index.get(ENVELOPES);
            if !envelopes.iter().any(|e| e.name == envelope.name) {
                envelopes.push(envelope);
            }
        }
        check(&bytes, &Layout { envelopes, formats: FORMATS.to_vec(), document: false })?;
        check(&bytes, &detect(&bytes, true).layout)?;
    }
}

/// Only what says so cuts lines: nothing is looked for in front of the others' entries.
#[test]
fn what_cuts_says_so() {
    let sources = [
        "2026-06-10T14:00:02.35Z stdout P part\n",
        "{\"log\":\"part\",\"stream\":\"stdout\",\"time\":\"2026-06-10T14:00:02Z\"}\n",
        "{\"log\":\"torn",
        "3: x\n",
    ];
    for source in sources {
        for envelope in own() {
            let mut entry = Entry::default();
            (envelope.read)(source.as_bytes(), 0, &mut entry);
            assert!(envelope.cuts || entry.meta.cut == Cut::No, "{}", envelope.name);
        }
    }
}
