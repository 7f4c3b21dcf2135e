//! A note is refreshed in place, and what is the user's stays.

use crate::gfm;
use crate::program::{Place, Ran};

fn note(place: &Place, args: &[&str]) -> Ran {
    place.corr(&[&["note", "incident.md", "sglang-run", "--limit", "20"], args].concat())
}

fn read(place: &Place) -> Vec<u8> {
    std::fs::read(place.path("incident.md")).expect("the note")
}

#[test]
fn a_note_refreshed_twice_is_the_same_bytes_and_the_rest_is_untouched() {
    let place = Place::with("sglang-run");
    // Not UTF-8, no line end at its end, and an example of a mark that is none.
    let before: &[u8] = b"# Incident 7\r\n\r\nText with \xff\xfe bytes, `<!-- corr:begin x -->`.\r\nno line end";
    place.write("incident.md", before);
    let first = note(&place, &[]);
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    let written = read(&place);
    assert!(written.starts_with(before));
    assert!(!String::from_utf8_lossy(&written[before.len()..]).replace("\r\n", "").contains('\n'), "the file's line ends are used");
    let second = note(&place, &[]);
    assert_eq!(second.code, Some(0), "{}", second.stderr);
    assert!(second.stderr.contains("is as it was"), "{}", second.stderr);
    assert_eq!(read(&place), written);
    // An index makes no difference.
    assert_eq!(place.corr(&["index", "sglang-run"]).code, Some(0));
    note(&place, &[]);
    assert_eq!(String::from_utf8_lossy(&read(&place)), String::from_utf8_lossy(&written));

    // The user writes below, a second block comes, the first changes: all else stays.
    place.append("incident.md", b"\r\nbelow\r\n");
    let other = note(&place, &["--name", "second", "kind:exception"]);
    assert_eq!(other.code, Some(0), "{}", other.stderr);
    let two = read(&place);
    let text = String::from_utf8_lossy(&two).into_owned();
    assert_eq!(text.matches("<!-- corr:begin ").count(), 3);
    let third = note(&place, &["kind:server_ready"]);
    assert_eq!(third.code, Some(0), "{}", third.stderr);
    let now = read(&place);
    let rest = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let start = text.find("\r\n<!-- corr:begin sglang-run ").expect("the block");
        let end = text.find("<!-- corr:end sglang-run -->").expect("its end");
        format!("{}{}", &text[..start], &text[end..])
    };
    assert_ne!(now, two, "the block was refreshed");
    assert_eq!(rest(&now), rest(&two));
    assert!(now.starts_with(before));
}

#[test]
fn a_block_that_was_edited_is_left_and_the_difference_shown() {
    let place = Place::with("sglang-run");
    assert_eq!(note(&place, &[]).code, Some(0));
    let written = String::from_utf8(read(&place)).expect("UTF-8");
    let edited = written.replace("| window | the whole run |", "| window | the whole run, see ticket 12 |");
    assert_ne!(edited, written);
    place.write("incident.md", edited.as_bytes());
    let refused = note(&place, &[]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
    assert!(refused.stdout.contains("-| window | the whole run, see ticket 12 |\n+| window | the whole run |"), "{}", refused.stdout);
    assert_eq!(read(&place), edited.as_bytes());
    let forced = note(&place, &["--force"]);
    assert_eq!(forced.code, Some(0), "{}", forced.stderr);
    assert_eq!(read(&place), written.as_bytes());
    // Text beside the block is no edit of it.
    place.append("incident.md", b"\nmore\n");
    assert_eq!(note(&place, &[]).code, Some(0));
}

#[test]
fn a_block_without_its_end_is_refused() {
    let place = Place::with("sglang-run");
    assert_eq!(note(&place, &[]).code, Some(0));
    let written = String::from_utf8(read(&place)).expect("UTF-8");
    let open = written.replace("<!-- corr:end sglang-run -->\n", "");
    place.write("incident.md", open.as_bytes());
    let refused = note(&place, &[]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("line 1: the block sglang-run has no end"), "{}", refused.stderr);
    assert_eq!(read(&place), open.as_bytes());
}

#[test]
fn only_the_printed_block_of_stdout_and_no_file() {
    let place = Place::with("sglang-run");
    let printed = note(&place, &["--stdout"]);
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    assert!(!place.path("incident.md").exists());
    gfm::whole(&printed.stdout);
    assert_eq!(note(&place, &[]).code, Some(0));
    assert_eq!(read(&place), printed.stdout.as_bytes(), "what is printed is what is written");
    for (args, code) in [(["--name", "a b"], 2), (["--request", "nobody"], 1)] {
        let ran = note(&place, &args);
        assert_eq!(ran.code, Some(code), "{}", ran.stderr);
    }
    let nowhere = place.corr(&["note", "none/incident.md", "sglang-run"]);
    assert_eq!(nowhere.code, Some(2), "{}", nowhere.stderr);
}

/// The commands of a note give what stands in it.
#[test]
fn the_commands_of_a_note_work() {
    let place = Place::with("sglang-run");
    let flags = ["--since", "2026-11-29T19:13:28Z", "--until", "end", "--request", "warm-p0"];
    assert_eq!(note(&place, &flags).code, Some(0));
    let text = String::from_utf8(read(&place)).expect("UTF-8");
    let block = text.split("```sh\n").nth(1).and_then(|b| b.split("```").next()).expect("commands");
    let mut ran = 0;
    for line in block.lines().filter(|l| !l.contains("PATH:LINE")) {
        let words = crate::program::words(line);
        let answer = place.corr(&words[1..]);
        assert_eq!(answer.code, Some(0), "{line}: {}", answer.stderr);
        ran += 1;
    }
    assert_eq!(ran, 3);
    assert_eq!(read(&place), text.as_bytes(), "the note's own command makes it again");
}

#[cfg(unix)]
#[test]
fn a_note_keeps_its_mode_and_a_link_stays_a_link() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with("sglang-run");
    place.write("real.md", b"# x\n");
    std::fs::set_permissions(place.path("real.md"), std::fs::Permissions::from_mode(0o640)).expect("a mode");
    std::os::unix::fs::symlink(place.path("real.md"), place.path("incident.md")).expect("a link");
    assert_eq!(note(&place, &[]).code, Some(0));
    assert!(std::fs::symlink_metadata(place.path("incident.md")).expect("the link").is_symlink());
    let mode = std::fs::metadata(place.path("real.md")).expect("the note").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert!(std::fs::read(place.path("real.md")).expect("the note").len() > 1000);
}
