//! The runs in `fixtures/`, so that something is asked where no cases are. What they hold was counted with grep in their files.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::{copy, corr, edge, json, spelled};

/// A run of its own, so that nothing is written beside the fixture.
fn fixture(name: &str) -> (tempfile::TempDir, String) {
    let temp = tempfile::tempdir().unwrap();
    let run = temp.path().join("run");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name), &run);
    let path = run.to_str().unwrap().to_string();
    (temp, path)
}

/// Four rids have a Finish; one of them (`warm-p0`) says device 0, host 256, storage 192, the others 0 cached tokens. No session key anywhere.
#[test]
fn sglang_run_says_tiers_of_each_request() {
    let (_temp, run) = fixture("sglang-run");
    let answer = json(&["edges", &run]);
    assert_eq!(answer["schema"], "corr.edges.v1");
    assert_eq!(answer["requests"]["engine"], 4);
    assert_eq!(answer["requests"]["router"], 0);
    assert_eq!(answer["requests"]["with_session"], 0);
    let says = |id: &str| {
        let edge = edge(&answer, id);
        (edge["activity"].as_str().unwrap().to_string(), spelled(&edge["request"]), edge["count"].as_u64(), edge["amount"].as_f64())
    };
    assert_eq!(says("admission"), ("proven".into(), "4 of 4".into(), Some(4), None));
    assert_eq!(says("l1-lookup"), ("absent".into(), "4 of 4".into(), None, Some(0.0)));
    assert_eq!(says("l2-lookup"), ("proven".into(), "4 of 4".into(), Some(1), Some(256.0)));
    assert_eq!(says("l3-restore"), ("proven".into(), "4 of 4".into(), Some(1), Some(192.0)));
    assert_eq!(says("l2-restore"), ("proven".into(), "4 of 4".into(), Some(1), Some(448.0)));
    for edge in answer["edges"].as_array().unwrap() {
        let session = edge["session"]["verdict"].as_str().unwrap();
        let wanted = if edge["activity"] == "absent" && edge["request"]["verdict"] == "none" { "none" } else { "UNPROVABLE" };
        assert_eq!(session, wanted, "{}", edge["edge"]);
    }
}

/// 40 requests at the router, 24 and 16 at the workers, 39 trace rows of which 15 bear a session.
#[test]
fn direct_run_counts_requests_and_sessions() {
    let (_temp, run) = fixture("direct-run");
    let answer = json(&["edges", &run]);
    let head = &answer["requests"];
    assert_eq!((head["router"].as_u64(), head["engine"].as_u64()), (Some(40), Some(40)));
    assert_eq!((head["with_session"].as_u64(), head["without_session"].as_u64()), (Some(15), Some(25)));
    let says = |id: &str| {
        let edge = edge(&answer, id);
        (edge["activity"].as_str().unwrap(), spelled(&edge["request"]), spelled(&edge["session"]))
    };
    for id in ["request-router", "router-worker", "admission"] {
        assert_eq!(says(id), ("proven", "40 of 40".into(), "15 of 40".into()), "{id}");
    }
    // One was in flight where the logs were cut.
    assert_eq!(says("decode"), ("proven", "39 of 40".into(), "15 of 40".into()));
    assert_eq!(says("rejection"), ("absent", "none".into(), "none".into()));
    // Trace rows predict reuse; nothing of the engine speaks of it.
    assert_eq!(says("l1-lookup"), ("no-signal", "UNPROVABLE".into(), "UNPROVABLE".into()));
    assert!(edge(&answer, "l1-lookup")["hints"].as_array().unwrap().iter().any(|h| h["signal"] == "trace-predicted"));
    let one = edge(&answer, "decode");
    assert_eq!(one["session"]["rest"]["count"], 25);
    assert_eq!(one["session"]["rest"]["verdict"], "UNPROVABLE");
    assert!(one["session"]["needs"].as_str().unwrap().contains("DYN_REQUEST_TRACE=1"));
}

/// Every spelling of an answer says the same of every edge, in the same order.
#[test]
fn spellings_of_an_answer_agree() {
    for name in ["sglang-run", "direct-run"] {
        let (_temp, run) = fixture(name);
        let answer = json(&["edges", &run]);
        let all = answer["edges"].as_array().unwrap();
        assert_eq!(all.len(), 22, "{name}");
        let whom = |of: &serde_json::Value| match of["verdict"].as_str().unwrap() {
            "proven" if of["k"] == of["n"] => format!("proven {} of {}", of["k"], of["n"]),
            "proven" => {
                format!("proven {} of {}, {} UNPROVABLE", of["k"], of["n"], of["n"].as_u64().unwrap() - of["k"].as_u64().unwrap())
            }
            other => other.to_string(),
        };
        let (code, csv, _) = corr(&["edges", &run, "--format", "csv"]);
        assert_eq!(code, 0);
        let mut csv = csv.lines();
        assert_eq!(csv.next(), Some("edge,activity,count,amount,unit,amount_of,request,session"));
        let (_, markdown, _) = corr(&["edges", &run, "--format", "markdown"]);
        let markdown: Vec<&str> = markdown.lines().filter(|l| l.starts_with('|')).collect();
        assert!(markdown[0].starts_with("| edge | activity |"));
        let (_, text, _) = corr(&["edges", &run]);
        let (_, jsonl, _) = corr(&["edges", &run, "--format", "jsonl"]);
        let jsonl: Vec<serde_json::Value> = jsonl.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!(jsonl.last().unwrap()["type"], "summary");
        assert_eq!(jsonl.len(), 23);
        for (i, edge) in all.iter().enumerate() {
            let (id, activity) = (edge["edge"].as_str().unwrap(), edge["activity"].as_str().unwrap());
            let (request, session) = (whom(&edge["request"]), whom(&edge["session"]));
            let row = csv.next().unwrap().replace('"', "");
            assert!(row.starts_with(&format!("{id},{activity},")), "{row}");
            assert!(row.ends_with(&format!(",{request},{session}")), "{row}: {request}, {session}");
            let row = markdown[i + 2];
            assert!(row.starts_with(&format!("| {id} | {activity} |")) && row.ends_with(&format!("| {request} | {session} |")), "{row}");
            let row = text.lines().find(|l| l.starts_with(&format!("{id} "))).unwrap();
            assert!(row.contains(activity) && row.contains(&request) && row.ends_with(&session), "{row}");
            assert_eq!(
                (&jsonl[i]["edge"], &jsonl[i]["activity"], &jsonl[i]["request"]),
                (&edge["edge"], &edge["activity"], &edge["request"])
            );
        }
        assert_eq!(csv.next(), None);
    }
}

/// 0 holds, 1 does not hold and an instrument says so, 4 cannot be said; what cannot be said wins.
#[test]
fn requirements_exit_by_the_verdict() {
    let (_temp, sglang) = fixture("sglang-run");
    let (_other, direct) = fixture("direct-run");
    let required = |run: &str, required: &[&str]| {
        let mut arguments = vec!["edges", run, "--format", "csv"];
        required.iter().for_each(|r| arguments.extend(["--require", r]));
        let (code, out, err) = corr(&arguments);
        assert!(out.starts_with("edge,"), "the answer is written, whatever the gate says");
        (code, err)
    };
    assert_eq!(required(&sglang, &["l3-restore"]).0, 0);
    assert_eq!(required(&sglang, &["l3-restore=proven", "admission=active"]).0, 0);
    let (code, err) = required(&sglang, &["retraction"]);
    assert!(code == 1 && err.contains("required retraction=active"), "{code} {err}");
    // It happened, and of three of four requests nothing says whether it did.
    let (code, err) = required(&sglang, &["l3-lookup=proven"]);
    assert!(code == 4 && err.contains("UNPROVABLE"), "{code} {err}");
    assert_eq!(required(&sglang, &["l3-lookup=active"]).0, 0);
    assert_eq!(required(&sglang, &["l1-evict"]).0, 4);
    assert_eq!(required(&sglang, &["retraction", "l1-evict", "admission"]).0, 4);
    assert_eq!(required(&sglang, &["admission", "retraction"]).0, 1);
    assert_eq!(required(&direct, &["migration"]).0, 1);
    assert_eq!(required(&direct, &["decode=proven"]).0, 4);
    assert_eq!(required(&direct, &["kv-transfer=proven"]).0, 4);
}

#[test]
fn what_there_is_not_is_said() {
    let (_temp, run) = fixture("direct-run");
    for arguments in [["--edge", "l1-lokup"], ["--require", "l1-lokup=proven"]] {
        let (code, out, err) = corr(&["edges", &run, arguments[0], arguments[1]]);
        assert_eq!((code, out.as_str()), (2, ""));
        assert!(err.contains("there is no edge `l1-lokup`; did you mean `l1-lookup`?"), "{err}");
    }
    assert_eq!(corr(&["edges", &run, "--require", "admission=maybe"]).0, 2);
    for (flag, word) in [("--session", "session nobody"), ("--request", "request nobody"), ("--worker", "worker nobody")] {
        let (code, out, err) = corr(&["edges", &run, flag, "nobody"]);
        assert_eq!((code, out.as_str()), (1, ""), "{flag}");
        assert!(err.contains(word), "{err}");
    }
    let (code, _, err) = corr(&["trace", &run, "nobody"]);
    assert!(code == 1 && err.contains("no record bears the id nobody"), "{code} {err}");
    assert_eq!(corr(&["edges", &format!("{run}/nothing")]).0, 2);
}

/// Scopes are parts: each worker has its own requests, and a request has the session that its row bears.
#[test]
fn scopes_are_parts_of_the_run() {
    let (_temp, run) = fixture("direct-run");
    let mut served: BTreeMap<&str, u64> = BTreeMap::new();
    for worker in ["worker-0", "worker-1"] {
        let answer = json(&["edges", &run, "--worker", worker, "--edge", "admission"]);
        assert_eq!(answer["edges"].as_array().unwrap().len(), 1);
        served.insert(worker, edge(&answer, "admission")["count"].as_u64().unwrap());
    }
    assert_eq!(served, BTreeMap::from([("worker-0", 24), ("worker-1", 16)]));
    // The first row of the trace: the smoke request, without a session.
    let id = "edf9ed01-3219-4585-a510-233214f462c1";
    let answer = json(&["edges", &run, "--request", id]);
    assert_eq!(spelled(&edge(&answer, "decode")["request"]), "1 of 1");
    assert_eq!(spelled(&edge(&answer, "decode")["session"]), "UNPROVABLE");
    // Of one request its logs' silence says nothing.
    assert_eq!(edge(&answer, "rejection")["activity"], "no-signal");
    let traced = json(&["trace", &run, id, "--stages"]);
    assert_eq!((traced["schema"].as_str(), traced["found"].as_u64()), (Some("corr.trace.v1"), Some(1)));
    assert_eq!(traced["requests"][0]["sessions"], "UNPROVABLE");
    assert_eq!(traced["requests"][0]["stages"].as_array().unwrap().len(), 22);
}

/// 40 lines of the router say `Selected worker`, each of another request (grep). A site that takes them for its storage's evictions is believed.
#[test]
fn a_sites_own_signals_and_edges_join_the_table() {
    let (_temp, run) = fixture("direct-run");
    let toml = Path::new(&run).join("corr.toml");
    let signal = |edge: &str, kind: &str| {
        format!(
            "[[evidence.signal]]\nedge = \"{edge}\"\nid = \"site\"\ninstrument = \"dynamo-frontend-log\"\nkinds = [\"{kind}\"]\ncounts = \"requests\"\n\
             proves = \"transition\"\ndirect = true\nidentity = [\"request_id\"]\ndoes_not_prove = \"whose the blocks were\"\n"
        )
    };
    let own_edge = "[[evidence.edge]]\nid = \"site-edge\"\ntitle = \"a site's own\"\nconcerns = \"occurrences\"\nunit = \"events\"\n\
                    needs = { request = { any = \"the site's log\" }, session = { any = \"the site's log\" } }\n";
    std::fs::write(&toml, format!("{own_edge}{}{}", signal("l3-evict", "worker_selected"), signal("site-edge", "route_decision"))).unwrap();
    let answer = json(&["edges", &run]);
    let evict = edge(&answer, "l3-evict");
    assert_eq!((evict["activity"].as_str(), evict["count"].as_u64()), (Some("proven"), Some(40)));
    assert_eq!(evict["proofs"][0]["signal"], "site");
    assert_eq!(edge(&answer, "site-edge")["title"], "a site's own");

    // A text with what a query would take for an escape is asked for as it stands.
    let odd = signal("l3-evict", "worker_selected").replace("counts =", "where = [{ field = \"target\", is = 'a\\b\"c' }]\ncounts =");
    let odd = odd.replace("id = \"site\"", "id = \"odd\"").replace("is = 'a", "is_not = 'a");
    std::fs::write(&toml, odd).unwrap();
    let reproduce = edge(&json(&["edges", &run]), "l3-evict")["proofs"][0]["reproduce"].as_str().unwrap().to_string();
    assert!(reproduce.contains(r#"NOT target:"a\\b\"c""#), "{reproduce}");

    for (wrong, said) in [
        (signal("l3-evict", "worker_selectd"), "did you mean `worker_selected`?"),
        (signal("no-such-edge", "worker_selected"), "names the edge `no-such-edge`, which there is not"),
        (
            signal("l3-evict", "worker_selected").replace("dynamo-frontend-log", "nothing"),
            "names the instrument `nothing`, which there is not",
        ),
    ] {
        std::fs::write(&toml, wrong).unwrap();
        let (code, _, err) = corr(&["edges", &run]);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains(said) && err.contains("corr.toml:1"), "{err}");
    }
}
