//! What is a credential and what is none, and what that costs.

use proptest::prelude::*;

use super::*;
use crate::format::Content;
use crate::record::Record;
use crate::{FORMATS, record, text};

/// The line with every credential replaced by `‹›`.
fn scrubbed(line: &str) -> String {
    let mut out = String::new();
    let mut at = 0;
    for span in find(line.as_bytes()) {
        out.push_str(&line[at..span.start]);
        out.push('‹');
        out.push('›');
        at = span.end;
    }
    out + &line[at..]
}

#[test]
fn credentials_by_name() {
    for (line, want) in [
        ("api_key='s3cr et', port=1", "api_key='‹›', port=1"),
        ("api_key=abc, admin_api_key=def)", "api_key=‹›, admin_api_key=‹›)"),
        (r#"{"api_key": "abc", "x": 1}"#, r#"{"api_key": "‹›", "x": 1}"#),
        (r#"{'api-key': 'abc', 'x': 1}"#, r#"{'api-key': '‹›', 'x': 1}"#),
        (r#"{"message":"{\"api_key\":\"a\\\\b\",\"x\":1}"}"#, r#"{"message":"{\"api_key\":\"‹›\",\"x\":1}"}"#),
        ("python -m sglang --api-key abc --port 30000", "python -m sglang --api-key ‹› --port 30000"),
        ("python -m sglang --api-key=abc --port 30000", "python -m sglang --api-key=‹› --port 30000"),
        ("['--api-key', 'abc', '--port', '30000']", "['--api-key', '‹›', '--port', '30000']"),
        ("api_key: Some(\"abc\"), port", "api_key: Some(\"‹›\"), port"),
        ("api_key=SecretStr('abc')", "api_key=SecretStr('‹›')"),
        ("api_keys=['abc']  api_key=['abc', 'd']", "api_keys=['abc']  api_key=[‹›]"),
        ("export OPENAI_API_KEY=abc HF_TOKEN=def;", "export OPENAI_API_KEY=‹› HF_TOKEN=‹›;"),
        ("hf_token: abc", "hf_token: ‹›"),
        ("AWS_SECRET_ACCESS_KEY=a/b+c=", "AWS_SECRET_ACCESS_KEY=‹›"),
        ("Password: hunter2", "Password: ‹›"),
        ("redis passwd = 'x'", "redis passwd = '‹›'"),
        ("the password hunter2abc was wrong", "the password ‹› was wrong"),
        ("client secret: 'abc'", "client secret: '‹›'"),
        ("GET /v1?api_key=abc&model=m HTTP/1.1", "GET /v1?api_key=‹›&model=m HTTP/1.1"),
        ("accessToken: \"abc\", authToken=abc", "accessToken: \"‹›\", authToken=‹›"),
        ("token=0123456789abcdef0", "token=‹›"),
        (r#"{"token": "0123456789abcdef0"}"#, r#"{"token": "‹›"}"#),
        ("password='it\\'s' x", "password='‹›' x"),
        ("password='no end", "password='‹›"),
    ] {
        assert_eq!(scrubbed(line), want);
    }
}

#[test]
fn credentials_by_scheme_and_shape() {
    for (line, want) in [
        ("Authorization: Bearer abc", "Authorization: Bearer ‹›"),
        ("authorization: Basic dXNlcjpwYXNz, x", "authorization: Basic ‹›, x"),
        ("'Authorization': 'Bearer a b'", "'Authorization': 'Bearer ‹›'"),
        ("(b'authorization', b'Bearer abc'), (b'host', b'x')", "(b'authorization', b'Bearer ‹›'), (b'host', b'x')"),
        ("authorization: abc", "authorization: ‹›"),
        ("sent Bearer abc.DEF-123 to", "sent Bearer ‹› to"),
        ("login with hf_abcdefghijklmnopqrstUVWX failed", "login with ‹› failed"),
        ("key sk-proj-abcdefghijklmnop_123 used", "key ‹› used"),
        ("nvapi-abcdefghijklmnopqrst", "‹›"),
        ("id AKIAIOSFODNN7EXAMPLE.", "id ‹›."),
        ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN x", "jwt ‹› x"),
        ("redis://user:pa:ss@host:6379/0", "redis://user:‹›@host:6379/0"),
        ("redis://:pass@host", "redis://:‹›@host"),
        ("https://0123456789abcdef0123@github.com/x", "https://‹›@github.com/x"),
    ] {
        assert_eq!(scrubbed(line), want);
    }
}

#[test]
fn credentials_in_headers() {
    for (line, want) in [
        (
            "headers={'authorization': 'Bearer a', 'cookie': 'sid=Z; a=b', 'host': 'h'}",
            "headers={'authorization': 'Bearer ‹›', 'cookie': '‹›', 'host': 'h'}",
        ),
        (r#"{\"Set-Cookie\":\"sid=Z; Path=/\",\"host\":\"h\"}"#, r#"{\"Set-Cookie\":\"‹›\",\"host\":\"h\"}"#),
        ("Cookie: sid=Z; theme=dark, host: h", "Cookie: ‹›, host: h"),
        ("set-cookie: sid=Z; Path=/; HttpOnly\nhost: h", "set-cookie: ‹›\nhost: h"),
        ("(b'cookie', b'sid=Z'), (b'host', b'x')", "(b'cookie', b'‹›'), (b'host', b'x')"),
        ("cookies={'sid': 'Z'}, timeout=3", "cookies={‹›}, timeout=3"),
        ("'proxy-authorization': 'Basic abc='", "'proxy-authorization': 'Basic ‹›'"),
        ("'x-auth-token': 'Z', 'X-Auth-Token': 'Z'", "'x-auth-token': '‹›', 'X-Auth-Token': '‹›'"),
        ("'x-csrf-token': 'Z', \"x-vault-token\": \"Z\"", "'x-csrf-token': '‹›', \"x-vault-token\": \"‹›\""),
        (r#"{\"x-vault-token\":\"Z\"}"#, r#"{\"x-vault-token\":\"‹›\"}"#),
        ("x-api-key: Z1, x-goog-api-key: Z2", "x-api-key: ‹›, x-goog-api-key: ‹›"),
    ] {
        assert_eq!(scrubbed(line), want);
    }
}

#[test]
fn what_is_no_credential() {
    for line in [
        "Prefill batch, #new-token: 12, #cached-token: 12, token usage: 0.1, #running-req: 1",
        "max_total_num_tokens=12345, max_new_tokens: 7, completion_tokens=9, eos_token='<|endoftext|>', pad_token: 'x'",
        "api_key=None, admin_api_key=None, api_key='', api_key=\"\", api_key: null, 'api_key': None",
        "api_key='***', password=******, hf_token: [REDACTED], token=None",
        "Authorization: Bearer ***",
        "the api_key is missing; password for user is wrong; a bearer token is needed",
        "Bearer authentication is off",
        "secret::find, class Secret(Base)",
        "task-abcdefghijklmnopqrstuvwxyz disk-abcdefghijklmnopqrstuvwxyz sk-short hf_hub_download hf_config",
        "http://127.0.0.1:30000/generate, tcp://10.0.0.1:5000, file:///a@b, see https://a.b/c:d@e",
        "token='Hello' tokens=[1, 2] token: 42",
        "tokenizer_path='Qwen/Qwen3-8B', password_file=/run/x, use_api_key=True",
        "AKIAshort",
        "Got message type=method_call sender=n/a cookie=2 reply_cookie=0 error-name=n/a",
        "the cookie is missing; http.cookies.CookieError: Illegal key; cookie=None, cookies={}",
    ] {
        assert_eq!(scrubbed(line), line);
    }
}

fn record(payload: &[u8]) -> Record<'_> {
    let format = record::head_format(payload, FORMATS);
    let (offset, len) = (0, payload.len());
    Record { offset, len, payload, payload_at: Some(0), meta: None, content: Content::Payload, format, rest: None }
}

#[test]
fn every_record_is_scrubbed() {
    for line in [
        "a line of no program with api_key=topsecret1 in it",
        "[2026-11-29 18:49:33] server_args=ServerArgs(model_path='m', api_key='topsecret1', port=1)",
        "[2026-11-29 18:49:33] launch: python -m sglang.launch_server --api-key topsecret1 --port 1",
        "[2026-11-29 18:49:33] INFO:     127.0.0.1:42878 - \"POST /generate?api_key=topsecret1 HTTP/1.1\" 200 OK",
        "2026-11-29T19:10:21.220197Z  INFO dynamo_llm::http: config api_key=\"topsecret1\" port=8000",
        "2026-11-29T19:10:21.220197Z  INFO dynamo_llm::http: connected to redis://user:topsecret1@host:6379/0",
        r#"{"time":"2026-11-01T09:40:01.5Z","level":"INFO","target":"dynamo","message":"x","api_key":"topsecret1"}"#,
    ] {
        let mut event = Event::new(&text::kinds::TEXT);
        record(line.as_bytes()).parse(&mut event);
        let at = line.find("topsecret1").unwrap();
        let hidden = event.withheld.iter().any(|w| w.span.start <= at && at + 10 <= w.span.end);
        assert!(hidden, "{line}: {:?}", event.withheld);
        assert!(!format!("{:?}{:?}", event.fields, event.ids).contains("topsecret1"), "{line}: {:?}", event.fields);
        assert!(!event.columnar, "{line}");
    }
}

#[test]
fn what_is_withheld_already_stays_as_it_is() {
    let line = b"api_key='abc' text='password: x' api_key='def ghi'";
    let mut event = Event::new(&text::kinds::TEXT);
    event.withhold(19..33, Secret::Body, "text");
    event.withhold(9..12, Secret::Credential, "mine");
    event.withhold(45..50, Secret::Body, "tail");
    scrub(line, &mut event);
    let spans: Vec<_> = event.withheld.iter().map(|w| (w.span.clone(), w.name)).collect();
    assert_eq!(spans, [(19..33, "text"), (9..12, "mine"), (45..50, "tail"), (42..45, "credential")]);
}

#[test]
fn every_trigger_is_found() {
    for (trigger, _) in TRIGGERS {
        assert!(SEARCH.find(trigger).is_some_and(|hit| hit.start() == 0), "{trigger}");
    }
}

/// Bytes made of triggers and what stands around them.
fn suspicious() -> impl Strategy<Value = Vec<u8>> {
    let trigger = (0..TRIGGERS.len()).prop_map(|i| TRIGGERS[i].0.as_bytes().to_vec());
    let glue = prop::sample::select(vec![
        "=",
        ": ",
        "'",
        "\"",
        "\\\"",
        " ",
        "[",
        "]",
        "Some(",
        "b'",
        "@",
        "\n",
        ",",
        "None",
        "a1b2c3d4e5f6g7h8i9j0k",
    ]);
    let piece = prop_oneof![3 => trigger, 4 => glue.prop_map(|g| g.as_bytes().to_vec()), 1 => any::<Vec<u8>>()];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn spans_are_sound(bytes in suspicious(), spans in prop::collection::vec((any::<prop::sample::Index>(), 0usize..30), 0..5)) {
        let mut end = 0;
        for span in find(&bytes) {
            prop_assert!(end <= span.start && span.start < span.end && span.end <= bytes.len());
            end = span.end;
        }
        let mut event = Event::new(&text::kinds::TEXT);
        for (at, len) in spans {
            let at = at.index(bytes.len() + 1);
            event.withhold(at..(at + len).min(bytes.len()), Secret::Body, "text");
        }
        let before = event.withheld.clone();
        scrub(&bytes, &mut event);
        prop_assert_eq!(&event.withheld[..before.len()], &before[..]);
        let added = &event.withheld[before.len()..];
        for (i, new) in added.iter().enumerate() {
            prop_assert!(!new.span.is_empty() && new.span.end <= bytes.len());
            for other in before.iter().chain(&added[..i]).filter(|w| !w.span.is_empty()) {
                prop_assert!(new.span.end <= other.span.start || other.span.end <= new.span.start, "{new:?} {other:?}");
            }
        }
    }

    #[test]
    fn any_bytes(bytes: Vec<u8>) {
        let mut event = Event::new(&text::kinds::TEXT);
        record(&bytes).parse(&mut event);
        prop_assert!(event.withheld.iter().all(|w| w.span.end <= bytes.len()));
    }
}

/// Bytes that make every look fail as late as it can still cost a bounded time a byte.
#[test]
fn no_bytes_are_slow() {
    for unit in [
        "password",
        "token=",
        "secret ",
        "api_key=\\'",
        "api_key='***",
        "://",
        "sk-",
        "eyJ.",
        "Bearer ",
        "authorization:bearer:",
        "password a",
        "cookie:a;",
        "cookies={",
    ] {
        let bytes = unit.repeat((1 << 20) / unit.len());
        let start = std::time::Instant::now();
        find(bytes.as_bytes());
        assert!(start.elapsed().as_secs() < 5, "{unit}: {:?}", start.elapsed());
    }
}
