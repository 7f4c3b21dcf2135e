//! Formats that users declare: the document's examples as they stand, errors, precedence, and the index when a definition changes.

mod program;

use program::{Place, words};

/// A block of the document: what stands behind the fence, and its lines.
fn blocks(section: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in section.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some((info.to_string(), String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some((_, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks
}

#[test]
fn the_document_s_examples_answer_as_it_says() {
    let document = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/user-formats.md")).unwrap();
    let mut ran = 0;
    for section in document.split("\n## ") {
        let place = Place::new();
        for (info, text) in blocks(section) {
            if let Some((_, path)) = info.split_once(' ') {
                place.write(path, text.as_bytes());
            }
            if info == "console" {
                let (command, answer) = text.split_once('\n').unwrap();
                let arguments = words(command.strip_prefix("$ corr ").unwrap());
                for indexed in [false, true] {
                    if indexed {
                        assert_eq!(place.corr(&["index", "run"]).code, Some(0));
                    }
                    let result = place.corr(&arguments);
                    assert_eq!((result.code, result.stdout.as_str()), (Some(0), answer), "{command}\n{}", result.stderr);
                    // What is withheld in the examples is in no answer.
                    let all = place.corr(&["query", "run", "--format", "jsonl"]);
                    assert!(all.stdout.lines().count() >= 2 && !all.stdout.contains("secret"), "{}", all.stdout);
                }
                ran += 1;
            }
        }
    }
    assert_eq!(ran, 2);
}

#[test]
fn the_definition_of_the_readme_holds() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let (_, definition) = blocks(&readme).into_iter().find(|(info, _)| info == "toml").unwrap();
    let place = Place::new();
    place.write("run/corr.toml", definition.as_bytes());
    place.write("run/a.log", b"2026-11-29T18:54:33.001Z gateway 503 7ms r-1\n");
    let ran = place.corr(&["query", "run", "latency_ms:<10", "--format", "csv", "--fields", "time,status,request_id"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "time,status,request_id\n2026-11-29T18:54:33.001Z,503,r-1\n"), "{}", ran.stderr);
}

const FORMAT: &str = "[[format]]\nname = \"site\"\nmatch = '(?<t>\\d{10}) (?<what>\\w+) n=(?<n>\\d+)'\nstamp = \"t\"\nstamp_unit = \"s\"\n";
const SAMPLE: &str = "[[format.samples]]\ntext = \"1795978472 done n=4\"\nfields = { n = 4 }\nstamp = \"2026-11-29T18:54:32Z\"\n";

#[test]
fn a_broken_definition_says_where_and_what_and_ends_with_2() {
    for (text, line, said) in [
        (
            format!("{FORMAT}[[format.samples]]\ntext = \"1795978472 done n=4\"\nfields = {{ n = 5 }}\n"),
            8,
            "format `site`: sample 1: field `n`: expected 5, read 4; correct the sample or the definition",
        ),
        (
            format!("{FORMAT}{SAMPLE}[[format.samples]]\ntext = \"1795978472 done n=4\"\nstamp = \"2026-11-29T18:54:33Z\"\n"),
            12,
            "format `site`: sample 2: stamp: expected 2026-11-29T18:54:33Z, read 2026-11-29T18:54:32Z; correct the sample or the definition",
        ),
        (
            format!("{FORMAT}[[format.samples]]\ntext = \"a line of another program\"\n"),
            7,
            "format `site`: sample 1: expected to be taken, but `match` does not; correct `match` or the sample, or write `taken = false` in it",
        ),
        (FORMAT.into(), 2, "format `site`: it has no sample; add `[[format.samples]]` with a record as `text` and what is read from it"),
        (
            "\n[[format]]\nname = \"site\"\nmatch = '(?<t>['\n".into(),
            4,
            "format `site`: `match` is no regular expression: regex parse error:",
        ),
        (format!("{FORMAT}colour = 1\n{SAMPLE}"), 6, "unknown field `colour`"),
        (
            "[[format]]\nname = \"site\"\nmatch = 'x(?<t>\\d+)'\nlevel = \"severity\"\n".into(),
            4,
            "format `site`: `match` has no group `(?<severity>…)`; it has t",
        ),
    ] {
        let place = Place::new();
        place.write("run/a.log", b"1795978472 done n=4\n");
        place.write("run/corr.toml", text.as_bytes());
        let ran = place.corr(&["query", "run"]);
        let wanted = format!("run/corr.toml:{line}: {said}");
        assert_eq!(ran.code, Some(2), "{wanted}\n{}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(&wanted), "{wanted}\nis not in\n{}", ran.stderr);
        assert_eq!(ran.stdout, "");
        // The same in the user's own directory.
        place.write("run/corr.toml", b"");
        place.write("home/.config/corr/formats/site.toml", text.as_bytes());
        let ran = place.corr(&["query", "run"]);
        let wanted = format!("home/.config/corr/formats/site.toml:{line}: {said}");
        assert!(ran.code == Some(2) && ran.stderr.contains(&wanted), "{wanted}\nis not in\n{}", ran.stderr);
    }
}

#[test]
fn a_user_s_format_joins_the_time_axis_of_a_real_run() {
    let place = Place::with("direct-run");
    // The id stands in the run's router log, worker log, trace and smoke answer too.
    place.write("direct-run/logs/site.log", b"1795978472 sent n=41 rid=edf9ed01-3219-4585-a510-233214f462c1\nan odd line\n");
    let text = FORMAT.replace("(?<n>\\d+)", "(?<n>\\d+) rid=(?<rid>\\S+)")
        + "ids.rid = \"rid\"\n[[format.samples]]\ntext = \"1795978472 sent n=4 rid=x\"\nids.rid = \"x\"\n";
    place.write("home/.config/corr/formats/site.toml", text.as_bytes());
    let ask = ["query", "direct-run", "chatcmpl-edf9ed01-3219-4585-a510-233214f462c1", "--format", "csv", "--fields", "time,source,kind"];
    let scanned = place.corr(&ask);
    let lines: Vec<&str> = scanned.stdout.lines().collect();
    assert!(lines.contains(&"2026-11-29T18:54:32Z,direct-run/logs/site.log,site"), "{}", scanned.stdout);
    assert!(lines.iter().any(|l| l.contains("router.log,request_received")), "{}", scanned.stdout);
    assert_eq!(place.corr(&["index", "direct-run"]).code, Some(0));
    assert_eq!(place.corr(&ask).stdout, scanned.stdout);
    let listed = place.corr(&["sources", "direct-run", "--explain", "direct-run/logs/site.log"]);
    assert!(listed.stdout.contains("1 of 2 records begin with what `match` of the user format site says"), "{}", listed.stdout);
    assert!(!place.corr(&["sources", "direct-run"]).stdout.contains("the declared format"));
    place.write("direct-run/logs/site.log", b"an odd line\n");
    assert!(place.corr(&["sources", "direct-run"]).stdout.contains("the declared format `site` has no record at the head of any source"));
    let misspelled = place.corr(&["query", "direct-run", "kind:sites"]);
    assert!(misspelled.stderr.contains("did you mean site?"), "{}", misspelled.stderr);
}

#[test]
fn a_user_s_lines_are_found_inside_an_envelope() {
    let place = Place::new();
    let entry = r#"{"__REALTIME_TIMESTAMP":"1795978473250000","_HOSTNAME":"h1","_SYSTEMD_UNIT":"site.service","SYSLOG_IDENTIFIER":"site","_PID":"7","MESSAGE":"1795978472 done n=4"}"#;
    place.write("run/site.journal.jsonl", format!("{entry}\n").as_bytes());
    place.write("run/corr.toml", format!("{FORMAT}{SAMPLE}").as_bytes());
    let ran = place.corr(&["query", "run", "kind:site unit:site.service n:4", "--format", "csv", "--fields", "time,kind,n"]);
    // Of two stamps that name their zone the narrower is shown: the journal's microsecond, not the record's second.
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "time,kind,n\n2026-11-29T18:54:33.250000Z,site,4\n"), "{}", ran.stderr);
}

#[test]
fn an_index_follows_a_changed_definition() {
    let place = Place::new();
    place.write("run/a.log", b"1795978472 done n=4\n1795978473 done n=5\n");
    place.write("run/other.log", b"2026-11-29T18:54:32Z a line\n");
    let with = |field: &str| format!("{FORMAT}fields.{field} = \"n\"\n{}", SAMPLE.replace("{ n", &format!("{{ {field}")));
    let count = |query: &str| {
        let ran = place.corr(&["query", "run", query, "--format", "jsonl"]);
        ran.stdout.lines().filter(|l| l.contains("\"kind\"")).count()
    };
    place.write("run/corr.toml", with("items").as_bytes());
    assert_eq!(place.corr(&["index", "run"]).code, Some(0));
    assert_eq!((count("items:>3"), count("pieces:>3")), (2, 0));
    place.write("run/corr.toml", with("pieces").as_bytes());
    assert_eq!((count("items:>3"), count("pieces:>3")), (0, 2), "an old index is not used");
    let again = place.corr(&["index", "run"]);
    assert_eq!((again.code, count("items:>3"), count("pieces:>3")), (Some(0), 0, 2), "{}", again.stderr);
    place.write("run/corr.toml", b"");
    assert_eq!((count("items:>3"), count("pieces:>3"), count("kind:site")), (0, 0, 0));
    // The user's own directory counts as well.
    place.write("home/.config/corr/formats/site.toml", with("items").as_bytes());
    assert_eq!((count("items:>3"), count("pieces:>3")), (2, 0));
    assert_eq!(place.corr(&["index", "run", "--embed-text"]).code, Some(0));
    // A store that was moved away from its run still knows the format.
    std::fs::rename(place.path("run/.corr"), place.path("moved")).unwrap();
    std::fs::remove_dir_all(place.path("run")).unwrap();
    std::fs::remove_dir_all(place.path("home")).unwrap();
    let ran = place.corr(&["query", "run", "items:>4", "--store", "moved"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("n=5"), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_built_in_format_keeps_its_lines_unless_the_user_says_so() {
    let sglang = "[2026-11-29 18:54:32] The server is fired up and ready to roll!";
    let text = |over: &str| {
        format!(
            "[[format]]\nname = \"mine\"\nmatch = '\\[(?<t>[^\\]]+)\\] (?<rest>.*)'\nstamp = \"t\"\n{over}[[format.samples]]\ntext = \"{sglang}\"\nstamp = \"2026-11-29T18:54:32\"\n"
        )
    };
    let place = Place::new();
    place.write("run/server.log", format!("{sglang}\n").as_bytes());
    place.write("run/corr.toml", text("").as_bytes());
    let ran = place.corr(&["query", "run"]);
    assert!(
        ran.code == Some(2)
            && ran.stderr.contains("corr.toml:6: format `mine`: sample 1: it is a record of sglang already; write `over = [\"sglang\"]`"),
        "{}",
        ran.stderr
    );
    place.write("run/corr.toml", text("over = [\"sglang\"]\n").as_bytes());
    let ran = place.corr(&["query", "run", "kind:mine"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("fired up"), "{}{}", ran.stdout, ran.stderr);
    // A forced format is what it is called.
    place.write("run/other.log", b"[2026-11-29 18:54:33] no line of SGLang, or is it\n");
    let ran = place.corr(&["query", "run", "format:mine", "--format-of", "other.log=mine", "--format", "csv", "--fields", "source,kind"]);
    assert!(ran.stdout.lines().any(|l| l == "run/other.log,mine"), "{}{}", ran.stdout, ran.stderr);
}
