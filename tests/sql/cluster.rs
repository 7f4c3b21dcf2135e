//! The same questions on a cluster: a scheduler and two executors, each a process, on loopback. Started here, ended here by their handles.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::ask;
use crate::program::{Place, Ran, copy_tree, finish, fixtures};

/// How long a node may take to be there.
const START: Duration = Duration::from_secs(60);

/// A process that ends with the test.
struct Node(Child);

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A scheduler and its executors.
pub(super) struct Cluster {
    scheduler: Option<Node>,
    executors: Vec<Node>,
    port: u16,
}

impl Cluster {
    pub(super) fn start(place: &Place, executors: usize, environment: &[(&str, String)]) -> Cluster {
        let port = free_port();
        let scheduler = node(place, &["cluster", "scheduler", "--port", &port.to_string()], environment);
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(began.elapsed() < START, "the scheduler does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        let of = format!("127.0.0.1:{port}");
        let one = |_| node(place, &["cluster", "executor", "--scheduler", &of, "--threads", "1", "--memory", "512MiB"], environment);
        Cluster { scheduler: Some(scheduler), executors: (0..executors).map(one).collect(), port }
    }

    pub(super) fn url(&self) -> String {
        format!("df://127.0.0.1:{}", self.port)
    }
}

fn node(place: &Place, arguments: &[&str], environment: &[(&str, String)]) -> Node {
    let mut command = place.command(arguments);
    command.envs(environment.iter().map(|(name, value)| (name, value))).stdout(Stdio::null()).stderr(Stdio::null());
    Node(command.spawn().expect("start a node"))
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port()
}

fn ask_cluster(place: &Place, cluster: &Cluster, shards: &str, sql: &str, environment: &[(&str, String)]) -> Ran {
    let mut command = place.command(&["sql", shards, sql, "--format", "json", "--cluster", &cluster.url(), "--patience", "60s"]);
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    finish(command.spawn().expect("start corr"), b"")
}

/// Columns and rows of an answer.
fn answer(sql: &str, ran: &Ran) -> (Vec<String>, Vec<Json>) {
    assert!(matches!(ran.code, Some(0 | 1)), "{sql}: {:?} {}", ran.code, ran.stderr);
    let whole: Json = serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{sql}: {e}: {}", ran.stdout));
    let columns = whole["columns"].as_array().expect("columns").iter().map(|c| c["name"].to_string()).collect();
    (columns, whole["rows"].as_array().expect("rows").clone())
}

/// After an executor was lost: the right answer or an error that says so, never a wrong one.
fn right_or_said(sql: &str, ran: &Ran, local: &(Vec<String>, Vec<Json>)) {
    if ran.code == Some(0) {
        assert_eq!(answer(sql, ran), *local);
        println!("an executor lost: the right answer to {sql}");
        return;
    }
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("executor"), "{}", ran.stderr);
    println!("an executor lost: {sql}: {}", ran.stderr);
}

/// Of the run `direct-run`: each has one order of rows.
const QUESTIONS: &[&str] = &[
    "SELECT kind, count(*) AS n, min(time) AS first, max(time_end) AS last FROM events GROUP BY kind ORDER BY kind",
    "SELECT source, line, byte_offset, citation, time, level, kind, worker, role, text FROM events WHERE level IN ('warn', 'error') ORDER BY source, line",
    "SELECT worker, count(*) AS n FROM events WHERE time >= '2026-11-29T18:54:32Z' AND time < '2026-11-29T18:54:40Z' GROUP BY worker ORDER BY worker",
    "SELECT prefill_worker_id, count(*) AS n, sum(input_tokens) AS i, avg(ttft_ms) AS t FROM request_end GROUP BY 1 ORDER BY 1",
    "SELECT r.request_id, r.line, e.ttft_ms FROM route_decision r JOIN request_end e ON r.request_id = e.request_id ORDER BY r.line, e.line",
    "SELECT source, line, worker_id AS w, fields['overlap_blocks'] AS o, ids FROM events WHERE kind = 'route_decision' ORDER BY line",
    "SELECT count(*) AS n FROM events WHERE text LIKE '%Selected worker%' OR text ILIKE '%ROUTING] best%'",
    "SELECT edge, activity, count, request, session FROM verdicts ORDER BY edge",
    "SELECT s.source, s.role, count(e.line) AS n FROM sources s LEFT JOIN events e ON e.source = s.source GROUP BY 1, 2 ORDER BY 1",
    "SELECT kind, line, row_number() OVER (PARTITION BY kind ORDER BY line) AS k FROM events WHERE source = 'logs/worker-0.log' ORDER BY kind, line LIMIT 50",
];

/// Takes seconds: long enough to lose an executor on the way.
const LONG: &str = "SELECT a.kind, count(*) AS n, sum(a.line + b.line - c.line) AS s FROM events a JOIN events b ON a.kind = b.kind \
                    JOIN events c ON b.kind = c.kind WHERE a.source = 'logs/router.log' GROUP BY a.kind ORDER BY a.kind";

/// Takes minutes on any machine: 40 records of a kind to the fifth power, of a dozen kinds.
const ENDLESS: &str = "SELECT count(*) AS n, sum(a.line + b.line - c.line + d.line - e.line) AS s FROM events a JOIN events b ON a.kind = b.kind \
                       JOIN events c ON b.kind = c.kind JOIN events d ON c.kind = d.kind JOIN events e ON d.kind = e.kind";

#[test]
fn ten_questions_over_four_shards() {
    let place = Place::with("direct-run");
    let written = place.corr(&["index", "direct-run", "--shards", "shards"]);
    assert_eq!(written.code, Some(0), "{}", written.stderr);
    let folders: Vec<_> = std::fs::read_dir(place.path("shards")).expect("shards").collect();
    assert!(folders.len() >= 5, "four shards of records and one of the whole run: {}", written.stderr);
    assert!(!place.path("direct-run/.corr").exists());
    let mut cluster = Cluster::start(&place, 2, &[]);
    for sql in QUESTIONS {
        let local = answer(sql, &ask(&place, "direct-run", sql));
        assert!(!local.1.is_empty(), "{sql}");
        assert_eq!(answer(sql, &ask_cluster(&place, &cluster, "shards", sql, &[])), local, "{sql}");
    }
    println!("{} questions give the local answer", QUESTIONS.len());
    // What is no table of shards, and what is not allowed, is said.
    for (sql, says) in [
        ("SELECT * FROM deltas('measured')", "deltas"),
        ("CREATE TABLE t AS SELECT 1", "CREATE TABLE"),
        ("SELECT * FROM '/etc/passwd'", "no table"),
        ("SELECT * FROM no_such_table", "no table"),
    ] {
        let ran = ask_cluster(&place, &cluster, "shards", sql, &[]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{sql}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{sql}: {}", ran.stderr);
    }
    let none = ask_cluster(&place, &cluster, "nothing-here", "SELECT 1", &[]);
    assert_eq!(none.code, Some(2));
    assert!(none.stderr.contains("no shard"), "{}", none.stderr);
    // An executor is lost while it works: the right answer, or an error that says so.
    let local = answer(LONG, &ask(&place, "direct-run", LONG));
    let arguments = ["sql", "shards", LONG, "--format", "json", "--cluster", &cluster.url(), "--patience", "60s"];
    let asked = place.command(&arguments).spawn().expect("start corr");
    std::thread::sleep(Duration::from_millis(800));
    drop(cluster.executors.pop());
    let ran = finish(asked, b"");
    right_or_said(LONG, &ran, &local);
    // The one that is left answers, or it is said that it does not: Ballista at times loses what was asked near a loss.
    let sql = QUESTIONS[0];
    right_or_said(sql, &ask_cluster(&place, &cluster, "shards", sql, &[]), &answer(sql, &ask(&place, "direct-run", sql)));
    // No executor is left: an error, soon.
    cluster.executors.clear();
    let began = Instant::now();
    let ran = ask_cluster(&place, &cluster, "shards", LONG, &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("executor"), "{}", ran.stderr);
    assert!(began.elapsed() < Duration::from_secs(90), "{:?}", began.elapsed());
    // No scheduler is left: an error at once, in words of corr.
    drop(cluster.scheduler.take());
    let ran = ask_cluster(&place, &cluster, "shards", sql, &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("no scheduler answers") && !ran.stderr.contains("transport"), "{}", ran.stderr);
}

#[test]
fn a_scheduler_that_dies_is_said() {
    let place = Place::with("direct-run");
    assert_eq!(place.corr(&["index", "direct-run", "--shards", "shards"]).code, Some(0));
    let mut cluster = Cluster::start(&place, 1, &[]);
    let asked = place.command(&["sql", "shards", ENDLESS, "--cluster", &cluster.url()]).spawn().expect("start corr");
    std::thread::sleep(Duration::from_millis(1_500));
    drop(cluster.scheduler.take());
    let ran = finish(asked, b"");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("scheduler"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("h2 protocol") && !ran.stderr.contains("transport error"), "{}", ran.stderr);
}

#[test]
fn up_starts_nodes_and_ends_them() {
    let place = Place::with("metrics-run");
    assert_eq!(place.corr(&["index", "metrics-run", "--shards", "shards"]).code, Some(0));
    let port = free_port();
    let mut up = Node(place.command(&["cluster", "up", "--executors", "2", "--port", &port.to_string()]).spawn().expect("start corr"));
    let mut said = String::new();
    let mut out = up.0.stdout.take().expect("standard output");
    let mut byte = [0];
    while !said.ends_with("df://127.0.0.1:") && out.read(&mut byte).expect("read") > 0 {
        said.push(char::from(byte[0]));
    }
    let sql = "SELECT count(*) AS n, sum(running_reqs) AS s FROM decode_batch";
    let ran = place.corr(&["sql", "shards", sql, "--cluster", &format!("df://127.0.0.1:{port}"), "--format", "csv"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "n,s\n15,455\n"), "{}", ran.stderr);
    let id = up.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill").success());
    assert!(up.0.wait().expect("wait").success(), "ended by a request is no failure");
    let began = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_ok() {
        assert!(began.elapsed() < START, "the scheduler outlives its parent");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Shards of several runs in two places, asked together from a folder beside them. grep over the logs: 15 `Decode batch` and 9 `Prefill batch` in
/// metrics-run, none in direct-run, whose router has 40 `request received`.
#[test]
fn shards_of_several_places() {
    let place = Place::with("metrics-run");
    copy_tree(&fixtures().join("direct-run"), &place.path("direct-run"));
    std::fs::create_dir(place.path("beside")).expect("a directory");
    let beside = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        finish(command.current_dir(place.path("beside")).spawn().expect("start corr"), b"")
    };
    for (run, shards) in [("../metrics-run", "../one"), ("../direct-run", "../two")] {
        let written = beside(&["index", run, "--shards", shards]);
        assert_eq!(written.code, Some(0), "{}", written.stderr);
    }
    let cluster = Cluster::start(&place, 1, &[]);
    let url = cluster.url();
    let ask = |sql: &str, places: [&str; 3]| {
        let [first, second, third] = places;
        let asked = ["sql", first, sql, "--also", second, "--also", third, "--cluster", &url, "--patience", "60s", "--format", "csv"];
        let ran = beside(&asked);
        (ran.code, ran.stdout, ran.stderr)
    };
    let sql = "SELECT kind, count(*) AS n FROM events WHERE kind IN ('decode_batch', 'prefill_batch', 'request_received') GROUP BY kind ORDER BY kind";
    let said = |out: &str| (Some(0), out.to_string(), String::new());
    let all = "kind,n\ndecode_batch,15\nprefill_batch,9\nrequest_received,40\n";
    // A place that is named twice, by another way, counts once.
    assert_eq!(ask(sql, ["../one", "../two", "../beside/../one"]), said(all));
    assert_eq!(ask("SELECT sum(running_reqs) AS s FROM decode_batch", ["../two", "../one", "../two"]), said("s\n455\n"));
}

/// Two runs whose folders are called the same, in one place. As `--also` answers: whole numbers beyond 2^53 stay what they are beside doubles.
#[test]
fn runs_of_one_name() {
    let place = Place::new();
    place.write("a/run/x.jsonl", b"{\"time\":\"2026-11-29T18:00:00Z\",\"y\":9007199254740993}\n".repeat(3).as_slice());
    place.write("b/run/x.jsonl", b"{\"time\":\"2026-11-29T18:00:01Z\",\"y\":2.5}\n".repeat(4).as_slice());
    let write = |run: &str| {
        let written = place.corr(&["index", run, "--shards", "shards"]);
        assert_eq!(written.code, Some(0), "{}", written.stderr);
    };
    write("a/run");
    write("b/run");
    let cluster = Cluster::start(&place, 1, &[]);
    let sql = "SELECT count(*) AS n, max(y) AS most, min(y) AS least FROM json_record";
    let expected = vec![serde_json::json!({"n": 7, "most": "9007199254740993", "least": "2.5"})];
    let local = place.corr(&["sql", "a/run", "--also", "b/run", sql, "--format", "json"]);
    assert_eq!(answer(sql, &local).1, expected);
    let ask = || ask_cluster(&place, &cluster, "shards", sql, &[]);
    assert_eq!(answer(sql, &ask()).1, expected);
    // Written again, a run is there once.
    write("a/run");
    let ran = ask();
    assert_eq!((ran.code, answer(sql, &ran).1, ran.stderr.as_str()), (Some(0), expected, ""));
    // A folder that is gone, and one that was not written to its end, are said.
    let of_run: Vec<_> = std::fs::read_dir(place.path("shards")).expect("shards").map(|e| e.expect("an entry").path()).collect();
    assert_eq!(of_run.len(), 4);
    let of = |end: &str| of_run.iter().find(|path| path.to_string_lossy().ends_with(end)).expect("a folder");
    std::fs::rename(of(".other"), place.path("kept")).expect("rename");
    let ran = ask();
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(ran.stderr.contains("not there itself"), "{}", ran.stderr);
    std::fs::rename(place.path("kept"), of(".other")).expect("rename");
    std::fs::remove_file(of(".whole").join("shard.json")).expect("remove");
    let ran = ask();
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(ran.stderr.contains("not written to the end"), "{}", ran.stderr);
}

/// What a cluster says beside an answer is what the run itself says.
#[test]
fn losses_are_said_as_where_the_run_is() {
    let place = Place::new();
    super::runs::long_values(&place);
    place.write("run/b.log.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03no deflate at all");
    let written = place.corr(&["index", "run", "--shards", "shards"]);
    assert_eq!(written.code, Some(3), "{}", written.stderr);
    let cluster = Cluster::start(&place, 1, &[]);
    for (sql, lossy) in [
        ("SELECT n FROM own_record ORDER BY n", false),
        ("SELECT count(long) AS n FROM own_record", true),
        ("SELECT fields['n'] AS n FROM events ORDER BY line", true),
        ("SELECT class, count(*) AS n FROM sources GROUP BY 1 ORDER BY 1", false),
    ] {
        let local = ask(&place, "run", sql);
        assert_eq!(local.code, Some(3), "{sql}: {}", local.stderr);
        assert!(local.stderr.contains("b.log.gz"), "{sql}: {}", local.stderr);
        assert_eq!(local.stderr.contains("long: 2 values are not whole"), lossy, "{sql}: {}", local.stderr);
        let ran = ask_cluster(&place, &cluster, "shards", sql, &[]);
        assert_eq!((ran.code, ran.stdout, ran.stderr), (local.code, local.stdout, local.stderr), "{sql}");
    }
}

/// Shards in an object store that speaks S3: moto's server, where python has it.
#[test]
fn shards_in_an_object_store() {
    let python = std::env::var("CORR_PYTHON").unwrap_or_else(|_| "python3".into());
    if !Command::new(&python).args(["-c", "import moto.server"]).output().is_ok_and(|o| o.status.success()) {
        println!("skipped: {python} has no module moto.server (set CORR_PYTHON); shards in a folder are asked above");
        return;
    }
    let port = free_port();
    let server = Command::new(&python)
        .args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let _server = Node(server.expect("start moto"));
    let began = Instant::now();
    let mut stream = loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => break stream,
            Err(_) => assert!(began.elapsed() < START, "moto does not listen"),
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    write!(stream, "PUT /shards HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        .expect("ask for a bucket");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("read");
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    let environment = [
        ("AWS_ENDPOINT", format!("http://127.0.0.1:{port}")),
        ("AWS_ALLOW_HTTP", "true".into()),
        ("AWS_ACCESS_KEY_ID", "key".into()),
        ("AWS_SECRET_ACCESS_KEY", "secret".into()),
        ("AWS_REGION", "us-east-1".into()),
    ];
    let place = Place::with("direct-run");
    let mut write = place.command(&["index", "direct-run", "--shards", "s3://shards/runs"]);
    write.envs(environment.iter().map(|(name, value)| (name, value)));
    let written = finish(write.spawn().expect("start corr"), b"");
    assert_eq!(written.code, Some(0), "{}", written.stderr);
    let cluster = Cluster::start(&place, 2, &environment);
    for sql in QUESTIONS.iter().take(4) {
        let local = answer(sql, &ask(&place, "direct-run", sql));
        assert_eq!(answer(sql, &ask_cluster(&place, &cluster, "s3://shards/runs", sql, &environment)), local, "{sql}");
    }
    let query = |more: &[&str]| {
        let mut command = place.command(&[&["query"], more, &["kind:request_end ttft_ms:>10", "--format", "csv"]].concat());
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        finish(command.spawn().expect("start corr"), b"").stdout
    };
    let url = cluster.url();
    assert_eq!(query(&["s3://shards/runs", "--cluster", &url]), query(&["direct-run"]));
    println!("asked over an object store");
}
