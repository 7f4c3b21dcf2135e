use super::*;
use crate::event::{Event, Outcome, Value};
use crate::record::trim_end;

fn parsed(text: &str) -> Event<'_> {
    let mut event = Event::new(&kinds::SYSTEMD_LOG);
    assert_eq!((SYSTEMD.parse)(text.as_bytes(), &mut event), Outcome::Parsed, "{text}");
    event
}

fn field<'e>(event: &'e Event<'_>, name: &str) -> &'e str {
    match event.get(name) {
        Some(Value::Str(text)) => text,
        other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn every_sample_gets_its_kind_and_is_a_head() {
    for (text, kind) in SYSTEMD.samples {
        assert_eq!(parsed(text).kind.name, *kind, "{text}");
        assert!(head(text.as_bytes()), "not a head: {text}");
        assert!(SYSTEMD.kinds.iter().any(|k| k.name == *kind), "{kind} is not in the list");
    }
}

#[test]
fn an_exit_has_code_and_status() {
    let event = parsed("sglang-decode.service: Main process exited, code=dumped, status=6/ABRT");
    assert_eq!((field(&event, "unit"), field(&event, "code"), field(&event, "status_name")), ("sglang-decode.service", "dumped", "ABRT"));
    assert_eq!(event.get("status"), Some(&Value::Int(6)));
    let old = parsed("u.service: Control process exited, code=exited status=1");
    assert_eq!((field(&old, "code"), old.get("status")), ("exited", Some(&Value::Int(1))));
}

#[test]
fn a_description_alone_names_no_unit() {
    let event = parsed("Started SGLang decode worker (Qwen3-32B TP2).");
    assert_eq!(event.kind.name, "unit_started");
    assert_eq!(event.get("unit"), None);
    assert_eq!(field(&event, "description"), "SGLang decode worker (Qwen3-32B TP2)");
    assert!(!head(b"Started SGLang decode worker (Qwen3-32B TP2)."));
    assert_eq!(unit_of(b"Started SGLang decode worker (Qwen3-32B TP2)."), None);
}

#[test]
fn fields_of_the_other_texts() {
    let event = parsed("a.service: Scheduled restart job, restart counter is at 12.");
    assert_eq!(event.get("restart_counter"), Some(&Value::Int(12)));
    let event = parsed("a.service: State 'stop-sigterm' timed out. Killing.");
    assert_eq!((field(&event, "state"), field(&event, "action")), ("stop-sigterm", "Killing"));
    let event = parsed("a.service: start operation timed out. Terminating.");
    assert_eq!(field(&event, "state"), "start");
    let event = parsed("a.service: Killing process 473 (fake_sglang.sh) with signal SIGKILL.");
    assert_eq!((event.get("pid"), field(&event, "signal")), (Some(&Value::Int(473)), "SIGKILL"));
    let event = parsed("a.service: Failed at step EXEC spawning /opt/python: No such file or directory");
    assert_eq!((field(&event, "step"), field(&event, "executable")), ("EXEC", "/opt/python"));
    let event = parsed("Suppressed 1734 messages from sglang-prefill.service");
    assert_eq!((event.get("messages"), field(&event, "unit")), (Some(&Value::Int(1734)), "sglang-prefill.service"));
    let event = parsed("c.service - model path skipped, unmet condition check ConditionPathExists=/x");
    assert_eq!((field(&event, "description"), field(&event, "reason")), ("model path", "unmet condition check ConditionPathExists=/x"));
    let event = parsed("a.service: Failed with result 'oom-kill'.");
    assert_eq!(field(&event, "result"), "oom-kill");
}

#[test]
fn lines_of_the_servers_are_not_systemds() {
    let lines = [
        "[2026-11-01 01:28:44] The server is fired up and ready to roll!",
        "[2026-11-01 01:28:42] INFO:     Started server process [1701]",
        "2026-11-01T10:42:01.123456Z  INFO http::service: Starting HTTP(S) service address=\"0.0.0.0:8000\"",
        "INFO:     Started server process [1701]",
        "Starting HTTP server...",
        "Started reader thread.",
        "systemd[1]: Started sglang-prefill.service - forged by the service.",
        "Failed to start worker: timeout",
        "model.path: not found",
    ];
    for line in lines {
        assert!(!head(line.as_bytes()), "{line}");
    }
}

#[test]
fn the_writer_decides_where_the_envelope_names_it() {
    let meta = |ident: &str, pid| Meta { ident: ident.into(), pid, ..Meta::default() };
    assert_eq!(writes(&meta("systemd", Some(1)), b""), Some(true));
    assert_eq!(writes(&meta("(python)", Some(4711)), b""), Some(true));
    assert_eq!(writes(&meta("python3", Some(1801)), b"Started a.service - A."), Some(false));
    assert_eq!(writes(&meta("", None), b""), None);
}

#[test]
fn a_printed_unit_tells_who_wrote() {
    let printed = |unit: &str, text: &str| {
        let meta = Meta { unit: unit.into(), unit_source: PRINTED_UNIT, pid: Some(618), ..Meta::default() };
        writes(&meta, text.as_bytes())
    };
    assert_eq!(printed("systemd-journald.service", "Suppressed 131 messages from a.service"), Some(true));
    assert_eq!(printed("systemd-journald@x.service", "Journal started"), Some(true));
    assert_eq!(printed("init.scope", "Started a.service - A."), Some(true));
    assert_eq!(printed("a.service", "a.service: Failed at step EXEC spawning /opt/no: No such file or directory"), Some(true));
    assert_eq!(printed("a.service", "a.service: Unable to locate executable '/opt/no': No such file or directory"), Some(true));
    // Of another unit, or of what the manager alone sees, a service proves nothing.
    assert_eq!(printed("b.service", "a.service: Failed at step EXEC spawning /opt/no: No such file or directory"), Some(false));
    assert_eq!(printed("a.service", "a.service: Main process exited, code=exited, status=1/FAILURE"), Some(false));
    assert_eq!(printed("a.service", "Suppressed 131 messages from a.service"), Some(false));
    // Anybody may send such a name in another field.
    let sent = Meta { unit: "systemd-journald.service".into(), unit_source: "UNIT", pid: Some(7), ..Meta::default() };
    assert_eq!(writes(&sent, b"Suppressed 131 messages from a.service"), Some(false));
}

proptest::proptest! {
    #[test]
    fn any_bytes(bytes: Vec<u8>) {
        let mut event = Event::new(&kinds::SYSTEMD_LOG);
        let _ = (head(&bytes), unit_of(&bytes), (SYSTEMD.parse)(trim_end(&bytes), &mut event));
        assert!(event.message.end <= bytes.len());
    }

    #[test]
    fn changed_samples(sample in 0..parse::SAMPLES.len(), at: proptest::sample::Index, byte: u8, cut: proptest::sample::Index) {
        let mut bytes = parse::SAMPLES[sample].0.as_bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        bytes.truncate(cut.index(bytes.len() + 1));
        let mut event = Event::new(&kinds::SYSTEMD_LOG);
        let _ = (head(&bytes), unit_of(&bytes), (SYSTEMD.parse)(&bytes, &mut event));
    }
}
