//! `corr sources --explain FILE` end to end: the choice, and what every other envelope and format objected to.

mod program;

use program::Place;
use serde_json::Value;

fn explained(place: &Place, run: &str, file: &str) -> (String, Value) {
    let text = place.corr(&["sources", run, "--explain", file]);
    assert_eq!(text.code, Some(0), "{}", text.stderr);
    let json = place.corr(&["sources", run, "--explain", file, "--format", "json"]);
    (text.stdout, serde_json::from_str(&json.stdout).unwrap())
}

fn rejected<'v>(json: &'v Value, name: &str) -> &'v Value {
    let all = json["rejected"].as_array().unwrap();
    all.iter().find(|r| r["name"] == name).unwrap_or_else(|| panic!("{name} is not among the rejected"))
}

#[test]
fn every_envelope_and_format_is_chosen_or_says_why_not() {
    let place = Place::with("sglang-run");
    let (text, json) = explained(&place, "sglang-run", "logs/sglang.journal.jsonl");
    assert!(text.contains("  envelope   journald-json: "), "{text}");
    assert!(text.contains("best sglang 0.900: 18 of 20 records begin with "), "{text}");
    let all = json["rejected"].as_array().unwrap();
    let names = |what: &str| all.iter().filter(|r| r["what"] == what).count();
    // One envelope and one format were chosen.
    assert_eq!(names("envelope"), corr_parsers::ENVELOPES.len() - 1);
    assert_eq!(names("format"), corr_parsers::FORMATS.len() - 1);
    for r in all {
        // Each stands on a line of its own.
        let line = format!("    {:<8} {:<27}", r["what"].as_str().unwrap(), r["name"].as_str().unwrap());
        assert_eq!(text.lines().filter(|l| l.starts_with(&line)).count(), 1, "{line}");
    }
    let docker = rejected(&json, "docker-json");
    assert_eq!(
        (&docker["of"], &docker["not_taken"], &docker["first_line"], &docker["depth"]),
        (&20.into(), &20.into(), &1.into(), &0.into())
    );
    let syslog = rejected(&json, "syslog");
    assert_eq!(syslog["reason"], "nothing that only it writes");
    // jq -r .MESSAGE | sed -n 2p: a progress bar, which no format has.
    assert!(
        json["objections"]
            .as_array()
            .unwrap()
            .iter()
            .any(|o| o.as_str().unwrap().starts_with("line 2 is the first that begins like no known format: Loading safetensors"))
    );
}

#[test]
fn the_first_line_that_is_not_taken_is_quoted_harmless_and_without_bodies() {
    let place = Place::new();
    let log = "[2026-05-20 08:30:01] one\n[2026-05-20 08:30:02] two\nReceive: obj=GenerateReqInput(text='SECRET-PROMPT', stream=True)\n\
               odd \u{1b}[31m\u{202e}line api_key=sk-abcdefghijklmnopqrstuvwxyz123456\n";
    place.write("run/a.log", log.as_bytes());
    place.write("run/b.log", log.split_once("two\n").unwrap().1.as_bytes());
    let (text, json) = explained(&place, "run", "a.log");
    assert!(text.contains("    format   dynamo-text                4 of 4 records from line 1; "), "{text}");
    assert!(text.contains("    line 1: [2026-05-20 08:30:01] one\n"), "{text}");
    assert!(text.contains("objection  line 4 is the first that begins like no known format: odd "), "{text}");
    for (text, json) in [(text, json), explained(&place, "run", "b.log")] {
        let json = json.to_string();
        for answer in [&text, &json] {
            assert!(!answer.contains("SECRET-PROMPT") && !answer.contains("abcdefghijklm"), "{answer}");
        }
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
    }
    let (text, json) = explained(&place, "run", "b.log");
    assert!(
        rejected(&json, "gateway")["first_text"].as_str().unwrap().starts_with("Receive: obj=GenerateReqInput(text=‹text: 15 bytes"),
        "{text}"
    );
}

#[test]
fn an_objection_inside_an_envelope_names_the_source_s_line() {
    let place = Place::new();
    let log: String = ["0: a", "1: b", "bare", "2: c"].iter().map(|text| format!("2026-05-20T06:30:01.5Z stderr F {text}\n")).collect();
    place.write("run/0.log", log.as_bytes());
    let (text, json) = explained(&place, "run", "0.log");
    let srun = rejected(&json, "srun");
    assert_eq!((&srun["depth"], &srun["not_taken"], &srun["first_line"]), (&1.into(), &1.into(), &3.into()));
    assert_eq!(srun["first_text"], "bare");
    assert!(
        text.contains("    envelope srun                       1 of 4 entries from line 3 inside cri; `TASK: ` and the line\n"),
        "{text}"
    );
    assert!(text.contains("    line 3: holds bare\n"), "{text}");
}

#[test]
fn files_without_events_have_no_candidates() {
    let place = Place::with("direct-run");
    let (text, json) = explained(&place, "direct-run", "tachometer.toml");
    assert!(text.contains("holds no events") && !text.contains("not chosen"), "{text}");
    assert_eq!(json["rejected"], serde_json::json!([]));
}

#[test]
fn what_is_forced_is_read_so_and_said() {
    let place = Place::with("sglang-run");
    // 20 entries, of which SGLang wrote 18 (jq -r .MESSAGE | grep -c '^\[20'); with another format none begins like it.
    let ask = |names: &str| {
        let option = format!("logs/sglang.journal.jsonl={names}");
        let ran = place.corr(&["sources", "sglang-run", "--format", "json", "--format-of", &option]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        report["sources"].as_array().unwrap().iter().find(|s| s["key"] == "logs/sglang.journal.jsonl").unwrap().clone()
    };
    let source = ask("journald-json+sglang");
    assert_eq!((&source["envelope"], &source["format"]), (&"journald-json".into(), &"sglang".into()));
    assert_eq!(source["accounting"]["records"], 20);
    let source = ask("journald-json>srun+systemd");
    assert_eq!((&source["envelope"], &source["format"]), (&"journald-json > srun".into(), &"systemd".into()));
    let source = ask("json");
    assert_eq!((&source["envelope"], &source["format"], &source["kinds"]["json_record"]), (&Value::Null, &"json".into(), &20.into()));
    assert_eq!(ask("text")["format"], "text");
    for (option, says) in [
        ("logs/sglang.journal.jsonl=cri>srum+sglang", "no envelope is called `srum`; did you mean `srun`?"),
        ("logs/sglang.journal.jsonl=sglnag", "did you mean `sglang`?"),
        ("logs/sglang.journal.json=sglang", "no source is called `logs/sglang.journal.json`; did you mean `logs/sglang.journal.jsonl`?"),
        ("sglang", "write it as SOURCE=FORMAT"),
    ] {
        for command in [&["sources", "sglang-run"][..], &["query", "sglang-run", "x"], &["index", "sglang-run"]] {
            let ran = place.corr(&[command, &["--format-of", option]].concat());
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{option}: {}", ran.stderr);
            assert!(ran.stderr.contains(says), "{option}: {}", ran.stderr);
        }
    }
    // By the path as it is printed, too.
    let ran = place.corr(&["sources", "sglang-run", "--explain", "logs/server.log", "--format-of", "sglang-run/logs/server.log=gateway"]);
    assert!(
        ran.stdout.contains("  format     gateway: ") && ran.stdout.contains("no record begins like it; it was asked for"),
        "{}",
        ran.stdout
    );
}
