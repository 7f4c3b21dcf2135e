//! Fields by length, damaged lengths, and what is behind the entry that they reach into.

use super::super::export::NO_END;
use super::*;

#[test]
fn export_fields_by_length() {
    let mut bytes = b"__CURSOR=s=1\n__REALTIME_TIMESTAMP=1767225460000000\nMESSAGE\n".to_vec();
    let value = b"a\n\n__REALTIME_TIMESTAMP=2\nb";
    bytes.extend_from_slice(&(value.len() as u64).to_le_bytes());
    bytes.extend_from_slice(value);
    bytes.extend_from_slice(b"\nOBJECT_SYSTEMD_INVOCATION_ID==0371\n_LINE_BREAK=line-max\n\n");
    let entry = one(&bytes, &EXPORT);
    assert_eq!(entry.text, value);
    assert_eq!(more(&entry.meta, "OBJECT_SYSTEMD_INVOCATION_ID"), Some("0371"));
    assert!(entry.meta.loss.unwrap().contains("LineMax"));
    assert_eq!((entry.meta.stamp.unwrap().at, entry.meta.stamp.unwrap().len), (34, 16));
}

#[test]
fn a_claimed_length_is_not_believed() {
    for claimed in [u64::MAX, u64::MAX - 8, 1 << 40, 1] {
        let mut bytes = b"__CURSOR=s=1\nMESSAGE\n".to_vec();
        bytes.extend_from_slice(&claimed.to_le_bytes());
        bytes.extend_from_slice(b"ab\n\n__CURSOR=s=2\nMESSAGE=whole\n\n");
        let entries = read_all(&bytes, &EXPORT);
        assert!(matches!(entries[0].content, Content::Broken(_)), "{claimed}");
        assert_eq!(entries.last().unwrap().text, b"whole", "{claimed}");
        assert!(entries[0].text.capacity() < 1024);
    }
}

#[test]
fn an_entry_in_the_data_of_an_entry_is_seen_from_everywhere() {
    let mut bytes = b"__CURSOR=a\n__REALTIME_TIMESTAMP=1793529196415151\nMESSAGE\n".to_vec();
    let data = b"quoted\n__CURSOR=b\nMESSAGE=inner";
    bytes.extend_from_slice(&(data.len() as u64).to_le_bytes());
    bytes.extend_from_slice(data);
    bytes.extend_from_slice(b"\n\n");
    let inner = bytes.windows(11).position(|w| w == b"\n__CURSOR=b").unwrap() + 1;
    let entries = read_all(&bytes, &EXPORT);
    assert_eq!(entries[0].content, Content::Broken(NO_END));
    assert_eq!(text(&entries[1]), "inner");
    let layout = Layout { envelopes: vec![&EXPORT], ..detect(&bytes, true).layout };
    assert_eq!(record_start(&bytes, inner + 3, &layout), inner);
    // A tail that is read on from here must not depend on what the field's length claims.
    let mut entry = Entry::default();
    assert_eq!((EXPORT.read)(&bytes, 0, &mut entry), inner);
}

/// An entry whose MESSAGE claims to be of `claimed` bytes, and where its data begins.
fn claiming(claimed: u64, data: &[u8]) -> (Vec<u8>, usize) {
    let mut bytes = b"__CURSOR=s=1\n__REALTIME_TIMESTAMP=1767225460000000\nMESSAGE\n".to_vec();
    bytes.extend_from_slice(&claimed.to_le_bytes());
    let at = bytes.len();
    bytes.extend_from_slice(data);
    bytes.extend_from_slice(b"\n\n");
    (bytes, at)
}

/// Content, length and text of each entry.
fn told(bytes: &[u8]) -> Vec<(Content, usize, Vec<u8>)> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let mut entry = Entry::default();
        let len = (EXPORT.read)(bytes, at, &mut entry);
        all.push((entry.content, len, entry.text));
        at += len;
    }
    all
}

#[test]
fn a_length_that_leads_out_of_its_entry_is_one_damage_whatever_is_there() {
    let next = b"__CURSOR=s=2\nMESSAGE=next\n\n";
    // Into the middle of the data; to the line ends of the next entry's first, second and last line; into the middle of that entry; to
    // the end of what follows in some of the sources and behind it in others; behind any source.
    for claimed in [3, 6 + 12, 6 + 25, 6 + 26, 6 + 20, 6 + 30, 6 + 27 + 9_999, u64::MAX - 8, u64::MAX] {
        let (entry, _) = claiming(claimed, b"data");
        for behind in [&b""[..], b"x", b"\n\n", &[b'x'; 20_000], &[b'\n'; 20_000]] {
            let bytes = [&entry, &next[..], behind].concat();
            let all = told(&bytes);
            assert_eq!(all[0], (Content::Broken(NO_END), entry.len(), Vec::new()), "{claimed} and {} bytes", behind.len());
            assert_eq!(all[1], (Content::Payload, next.len(), b"next".to_vec()), "{claimed} and {} bytes", behind.len());
        }
    }
}

/// Lengths that are right, too short, or lead behind their entry, in entries that follow each other.
#[test]
fn a_source_that_grew_keeps_its_entries() {
    let mut bytes = Vec::new();
    let mut starts = Vec::new();
    for claimed in [9, 4, 9 + 2 + 12, 80, 200, 1 << 40, u64::MAX, 9] {
        starts.push(bytes.len());
        bytes.extend_from_slice(&claiming(claimed, b"a\n\nb=c\nde").0);
    }
    let whole = told(&bytes);
    let texts: Vec<_> = whole.iter().filter(|e| e.0 == Content::Payload).map(|e| &e.2[..]).collect();
    assert_eq!(texts, [&b"a\n\nb=c\nde"[..]; 2]);
    assert_eq!(whole.iter().filter(|e| e.0 == Content::Broken(NO_END)).count(), 6);
    for size in 1..bytes.len() {
        let line = last_start(&bytes[..size]);
        let old = told(&bytes[..size]);
        let before = |all: &[(Content, usize, Vec<u8>)]| {
            let mut at = 0;
            let ends = all.iter().take_while(|e| {
                at += e.1;
                at <= line
            });
            ends.cloned().collect::<Vec<_>>()
        };
        assert_eq!(before(&old), before(&whole), "{size}");
        assert_eq!(line, starts.iter().copied().filter(|s| s + 9 <= size).max().unwrap_or(0), "{size}");
    }
}

/// The last line with which an entry begins.
fn last_start(bytes: &[u8]) -> usize {
    bytes.windows(10).rposition(|w| w == b"\n__CURSOR=").map_or(0, |i| i + 1)
}

/// Damage is handed on in pieces of 64 KiB from the field on: an entry that begins where one ends is whole, and what stands behind changes none.
#[test]
fn damage_of_several_pieces() {
    const PIECE: usize = 64 << 10;
    let next = b"__CURSOR=s=2\nMESSAGE=next\n\n";
    let (head, _) = claiming(300_000, b"");
    let field = head.len() - 2 - 8 - b"MESSAGE\n".len();
    for before_limit in [0, 1, 5, 9, 12] {
        let mut bytes = head.clone();
        bytes.resize(field + PIECE - before_limit - 1, b'x');
        bytes.push(b'\n');
        let start = bytes.len();
        bytes.extend_from_slice(next);
        let all = told(&bytes);
        assert_eq!(all[0], (Content::Broken(NO_END), start, Vec::new()), "{before_limit}");
        assert_eq!(all[1], (Content::Payload, next.len(), b"next".to_vec()), "{before_limit}");
        let layout = Layout { envelopes: vec![&EXPORT], formats: FORMATS.to_vec(), document: false };
        assert_eq!(record_start(&bytes, start + 7, &layout), start);
    }
    // In the middle of a line begins no entry, even if a piece begins there.
    let mut bytes = head.clone();
    bytes.resize(field + PIECE, b'x');
    bytes.extend_from_slice(next);
    let all = told(&bytes);
    assert_eq!(all[0], (Content::Broken(NO_END), field + PIECE, Vec::new()));
    assert_eq!(all[1], (Content::Broken("not the start of an entry"), next.len(), Vec::new()));
    // The pieces before the last are what they were, whether the source ends there or goes on, and whatever stands where the length leads.
    bytes.resize(head.len() - 2 + 200_000, b'x');
    let old = told(&bytes);
    assert_eq!(old.len(), 4);
    for behind in [[&b"\n"[..], next, &[b'\n'; 200_000]].concat(), vec![b'x'; 200_000], [&b"\n"[..], next].concat()] {
        let whole = told(&[&bytes[..], &behind].concat());
        assert_eq!(whole[..3], old[..3]);
    }
}
