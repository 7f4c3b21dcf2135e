//! `-o cat` is bare text: what it holds agrees with the truth, no envelope is found in it, and every line is in a record.

use super::truth::text_differs;
use super::*;
use crate::record::Reader;

#[test]
fn cat_is_bare_text() {
    let Some(root) = cases("journald") else { return };
    let (mut files, mut total, mut different) = (0, 0, 0);
    for (folder, _) in folders(&root) {
        let expected = read_expected(&root.join("expected").join(&folder), "cat").unwrap();
        let bytes = std::fs::read(root.join(&folder).join("cat.txt")).unwrap();
        let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
        let head = &bytes[..bytes.len().min(crate::detect::SAMPLE)];
        let layout = crate::detect::detect(head, head.len() == bytes.len()).layout;
        assert_eq!(layout.envelopes.first().map(|e| e.name), None, "{folder}");
        let mut starts = Vec::new();
        let mut reader = Reader::new(&bytes, 0, &layout);
        while let Some(record) = reader.next() {
            assert_eq!(record.offset, starts.last().map_or(0, |(_, end)| *end), "{folder}");
            starts.push((record.offset, record.offset + record.len));
        }
        assert_eq!(starts.last().map(|(_, end)| *end), Some(bytes.len()), "{folder}");
        let (mut line, mut at, mut wrong) = (1, 0, 0);
        for expected in &expected {
            let count = expected["nlines"].as_u64().unwrap() as usize;
            let entry = lines[line - 1..line - 1 + count].concat();
            let mut differences = Vec::new();
            if expected["line"] != line {
                differences.push(format!("line: want {}", expected["line"]));
            }
            differences.extend(text_differs(expected, entry.strip_suffix(b"\n").unwrap_or(&entry)));
            // No record begins in the middle of a line.
            let ends: Vec<usize> = lines[line - 1..line - 1 + count].iter().map(|l| l.len()).collect();
            let mut begin = at;
            for len in ends {
                if starts.iter().any(|(start, _)| (begin + 1..begin + len).contains(start)) {
                    differences.push("a record begins inside a line".into());
                }
                begin += len;
            }
            if !differences.is_empty() {
                wrong += 1;
                println!("{folder}/cat:{line}: {}", differences.join("; "));
            }
            (line, at) = (line + count, begin);
        }
        wrong += usize::from(at != bytes.len());
        println!("{folder}/cat: {} entries compared, {wrong} differences, {} records", expected.len(), starts.len());
        (files, total, different) = (files + 1, total + expected.len(), different + wrong);
    }
    println!("journald cat: {files} files, {total} entries, {different} differences");
    assert!(files >= 7);
    assert_eq!(different, 0);
}
